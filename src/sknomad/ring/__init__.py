"""NOMAD on the ring, the flat torus and the sphere, solved exactly: the paper's analysis, and an oracle for solvers.

On equally spaced points of a circle an optimal ``Q`` is circulant, so the semidefinite program is a linear program in
the Fourier basis. Everything here is for centred Gram matrices (the mean of the points is 0) and any real ``K``.
"""

from .optimum import (
    RingSolution,
    TorusSolution,
    cone_half_angle,
    ring_closed_form,
    ring_optimum,
    ring_points,
    torus_optimum,
    torus_points,
)
from .path import InactiveK, RingPath, diagonal_path, inactive_K, ring_path
from .positivity import (
    CompletelyPositiveOptimum,
    best_completely_positive,
    best_completely_positive_value,
    completely_positive_factor,
)
from .sphere import SphereSolution, sphere_completely_positive_value, sphere_design, sphere_optimum

__all__ = [
    "CompletelyPositiveOptimum",
    "InactiveK",
    "RingPath",
    "RingSolution",
    "SphereSolution",
    "TorusSolution",
    "best_completely_positive",
    "best_completely_positive_value",
    "completely_positive_factor",
    "cone_half_angle",
    "diagonal_path",
    "inactive_K",
    "ring_closed_form",
    "ring_optimum",
    "ring_path",
    "ring_points",
    "sphere_completely_positive_value",
    "sphere_design",
    "sphere_optimum",
    "torus_optimum",
    "torus_points",
]
