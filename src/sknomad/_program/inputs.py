"""What an estimator is given, checked and made into a `Gram`."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn import get_config
from sklearn.utils.validation import validate_data

from .._numerics.arrays import Array, device, given_model, namespace, to_numpy
from .._numerics.exact_input import check_exact, exact_table, rows_from
from .._numerics.validation import check_finite
from .gram import Gram

METRICS = ("euclidean", "precomputed", "precomputed_distance")


def read_table(estimator: Any, X: Any, *, reset: bool) -> Array:
    """`X` as a finite float64 table; with `reset` its columns are recorded, otherwise they must be those recorded.

    Whole numbers that float64 cannot hold come relative to the first row of the fit, which the estimator remembers.
    """
    if isinstance(X, str | bytes):
        raise TypeError(f"X must be a table of real numbers, got a {type(X).__name__}. Load the file first.")
    least = 2 if reset else 1
    X = X if given_model(X) is None else to_numpy(X)
    checks = {"accept_sparse": "csr", "dtype": np.float64, "ensure_all_finite": False, "ensure_min_samples": least}
    try:
        table = validate_data(estimator, X, reset=reset, **checks)
    except (TypeError, ValueError) as error:
        raise type(error)(f"X must be a table of real numbers with at least {least} rows: {error}") from error
    check_finite(table, "X")
    if reset:
        vars(estimator).pop("_origin", None)
        if estimator.metric != METRICS[0]:
            check_exact(X, table, "X")
            return table
        table, origin = exact_table(X, table, "X")
        if origin is not None:
            estimator._origin = origin
        return table
    origin = vars(estimator).get("_origin")
    return table if origin is None else rows_from(origin, X, table)


def check_library(estimator: Any, X: Any, fitted: Array, method: str) -> None:
    """With scikit-learn's array API switched on, refuse points in another library or on another device than the fit."""
    if not get_config()["array_api_dispatch"]:
        return
    mine, given = (_library(array) for array in (fitted, X))
    if mine != given:
        raise ValueError(
            f"Inputs passed to {type(estimator).__name__}.{method}() must use the same namespace and the same device "
            f"as those passed to fit(), {mine}, got {given}. Convert them, or fit again."
        )


def _library(array: Any) -> str:
    model = given_model(array)
    return "numpy" if model is None else f"{namespace(model).__name__} on {device(model)}"


def make_gram(X: Array, metric: str, weights: Array = None) -> Gram:
    """The Gram matrix of what `metric` says `X` is."""
    if metric == "precomputed":
        return Gram.from_kernel(X, weights=weights)
    if metric == "precomputed_distance":
        return Gram.from_distances(X, weights=weights)
    return Gram.from_data(X, weights=weights)
