"""Pictures of the cones on which the vectors of a ring lie."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .figure_parts import MUTED

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# A circle seen from the side: its height over its width.
TILT = 0.28


def draw_cone(
    ax: Axes,
    half_angle: float,
    colour: str,
    *,
    turn: float = 90.0,
    length: float = 1.0,
    rays: int = 24,
    text: str = "",
    text_side: float = -0.6,
) -> None:
    """A right circular cone with its tip at the origin, in slant view.

    Parameters
    ----------
    ax : Axes
    half_angle : float
        Degrees between axis and side.
    colour : colour of rays and rim
    turn : float
        Direction of the axis in degrees; 90 points up.
    length : float
        Length of the sides.
    rays : int
        Number of vectors drawn.
    text, text_side : str, float
        Written beyond the rim, at this share of its half width from the axis.
    """
    radius, height = length * np.sin(np.radians(half_angle)), length * np.cos(np.radians(half_angle))
    angle = np.linspace(0, 2 * np.pi, 181)
    rim = _turned(height + radius * TILT * np.sin(angle), radius * np.cos(angle), turn)
    around = 2 * np.pi * np.arange(rays) / rays
    ends = _turned(height + radius * TILT * np.sin(around), radius * np.cos(around), turn)
    for x, y in ends.T:
        ax.plot([0, x], [0, y], color=colour, linewidth=0.5, alpha=0.55, zorder=1)
    ax.plot(*rim, color=colour, linewidth=1.1, zorder=2)
    ax.scatter(ends[0], ends[1], s=6, color=colour, linewidths=0, zorder=3)
    axis = _turned(np.array([0.0, length * 1.15]), np.zeros(2), turn)
    ax.plot(*axis, color=MUTED, linewidth=0.7, linestyle=(0, (3, 2)), zorder=0)
    if text:
        place = _turned(np.array([height + radius * TILT + 0.13]), np.array([text_side * radius]), turn)
        ax.text(float(place[0, 0]), float(place[1, 0]), text, color=colour, ha="center", va="center", size=7)


def _turned(along: np.ndarray, across: np.ndarray, turn: float) -> np.ndarray:
    """Points given along and across an axis that makes an angle of `turn` degrees with the horizontal."""
    c, s = np.cos(np.radians(turn)), np.sin(np.radians(turn))
    return np.array([along * c + across * s, along * s - across * c])
