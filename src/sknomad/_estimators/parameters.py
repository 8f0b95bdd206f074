"""Checks of the parameters of `NOMAD` and `OnlineNOMAD`, at the head of `fit`."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from .._manifolds.frames import COORDINATES
from .._numerics.validation import check_choice, check_integer, check_real
from .._program.inputs import METRICS

if TYPE_CHECKING:
    from .nomad import NOMAD
    from .online import OnlineNOMAD

DEVICES = ("auto", "cpu", "cuda")
AFFINITIES = ("dense", "sparse")


def check_parameters(model: NOMAD) -> None:
    """Raise an error for the first parameter that cannot be."""
    check_choice(model.metric, "metric", METRICS)
    check_choice(model.coordinates, "coordinates", COORDINATES)
    check_choice(model.affinity, "affinity", AFFINITIES)
    check_choice(model.device, "device", DEVICES)
    check_integer(model.n_components, "n_components", 1)
    if isinstance(model.min_component_size, str):
        check_choice(model.min_component_size, "min_component_size", ("auto",))
    else:
        check_integer(model.min_component_size, "min_component_size", 1)
    check_outlier_threshold(model.outlier_threshold)
    if check_integer(model.consensus, "consensus", 1) % 2 == 0:
        raise ValueError(f"consensus must be an odd number, K and as many to either side, got {model.consensus}.")
    check_integer(model.max_iter, "max_iter", 1)
    check_real(model.tol, "tol", 0, math.inf, "a real number >= 0")
    check_real(model.threshold, "threshold", 0, 1, "a real number in [0, 1]")


def check_outlier_threshold(value: object) -> float:
    """The score from which on a point is an outlier; infinite for None."""
    if value is None:
        return math.inf
    return check_real(value, "outlier_threshold", 0, 1, "a real number in [0, 1] or None")


def check_online_parameters(model: OnlineNOMAD) -> None:
    """Raise an error for the first parameter that cannot be."""
    check_real(model.K, "K", 1, math.inf, "a real number >= 1")
    check_integer(model.n_passes, "n_passes", 1)
    check_integer(model.batch_size, "batch_size", 1)
    check_real(model.decay, "decay", 0.5, 1, "a real number in [0.5, 1]")
    if model.warm_up != "auto":
        check_integer(model.warm_up, "warm_up", 2)
    check_real(model.threshold, "threshold", 0, 1, "a real number in [0, 1]")
    check_integer(model.n_components, "n_components", 1)
    check_integer(model.random_state, "random_state", 0)
