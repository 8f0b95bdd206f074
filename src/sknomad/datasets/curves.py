"""Curves that shapes are made of, by their parameter."""

from __future__ import annotations

from math import pi

import numpy as np
from numpy.typing import NDArray

Points = NDArray[np.float64]


def even_angles(size: int) -> Points:
    """Angles at equal steps around the circle, from 0."""
    return 2 * pi * np.arange(size) / size


def circle(angle: Points) -> Points:
    """Points of the unit circle."""
    return np.stack([np.cos(angle), np.sin(angle)], axis=1)


def knot(t: Points) -> Points:
    """Points of the trefoil knot."""
    return np.stack([np.sin(t) + 2 * np.sin(2 * t), np.cos(t) - 2 * np.cos(2 * t), -np.sin(3 * t)], axis=1)


def rotation(angle: float, plane: tuple[int, int]) -> Points:
    """The matrix that turns rows in space by `angle` from the first axis of `plane` to the second."""
    matrix = np.eye(3)
    matrix[np.ix_(plane, plane)] = [[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]]
    return matrix


def spiral(t: Points) -> Points:
    """Points of the planar spiral ``(t cos t, t sin t)``."""
    return t[:, None] * circle(t)


def even_spiral_parameter(size: int, start: float, stop: float) -> Points:
    """Invert the arc length: ``t`` from ``start >= 0`` to ``stop``, both included, at equal steps of it."""
    s = np.linspace(_spiral_length(start), _spiral_length(stop), size)
    # The length s(t) is convex and at least t^2 / 2, so Newton from here comes down on the root and never
    # passes it. Five steps reach rounding; the rest are spare.
    t = np.sqrt(2 * s)
    for _ in range(8):
        t = t - (_spiral_length(t) - s) / np.sqrt(1 + t * t)
    return t


def _spiral_length(t: Points | float) -> Points:
    """Arc length of ``(t cos t, t sin t)`` from 0."""
    return (t * np.sqrt(1 + np.square(t)) + np.arcsinh(t)) / 2
