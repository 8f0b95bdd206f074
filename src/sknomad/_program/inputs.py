"""What an estimator is given, checked and made into a `Gram`."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn import get_config
from sklearn.utils.validation import validate_data

from .._numerics.arrays import Array, Data, Table, device, given_template, namespace, to_numpy
from .._numerics.exact_input import check_exact, exact_table, rows_from
from .._numerics.sparse_input import well_formed
from .._numerics.validation import check_finite, refuse_complex
from .duplicates import Groups
from .gram import Gram

METRICS = ("euclidean", "precomputed", "precomputed_distance")


def read_table(estimator: Any, X: Data, *, reset: bool) -> Table:
    """`X` as a finite float64 table; with `reset` its columns are recorded, otherwise they must be those recorded.

    Whole numbers that float64 cannot hold come relative to the first row of the fit, which the estimator remembers.
    """
    if isinstance(X, str | bytes):
        raise TypeError(f"X must be a table of real numbers, got a {type(X).__name__}. Load the file first.")
    least = 2 if reset else 1
    template = given_template(X)
    given = well_formed(X if template is None else to_numpy(template), "X")
    checks = {"accept_sparse": "csr", "dtype": np.float64, "ensure_all_finite": False, "ensure_min_samples": least}
    try:
        table: Table = validate_data(estimator, given, reset=reset, **checks)
    except (TypeError, ValueError) as error:
        refuse_complex(given, "X")
        refuse_text(X)
        raise type(error)(f"X must be a table of real numbers with at least {least} rows: {error}") from error
    check_finite(table, "X", column_names(X))
    if reset:
        return _read_exactly(estimator, given, table)
    origin = estimator.__dict__.get("_origin")
    return table if origin is None else rows_from(origin, given, table)


def column_names(X: object) -> list[str] | None:
    """Names of the columns of a data frame; None where there are none."""
    columns = getattr(X, "columns", None)
    return None if columns is None else [str(name) for name in columns]


def refuse_text(X: Any) -> None:
    """Name all columns of a data frame that hold no numbers; nothing else is refused."""
    wrong = [name for name in getattr(X, "columns", ()) if not _holds_numbers(X[name])]
    if wrong:
        named = ", ".join(repr(str(name)) for name in wrong)
        raise ValueError(
            f"X must hold real numbers, got other things in the {'column' if len(wrong) == 1 else 'columns'} {named}. "
            "Leave them out, or turn them into numbers."
        )


def _holds_numbers(column: object) -> bool:
    try:
        np.asarray(column, dtype=np.float64)
    except (TypeError, ValueError):
        return False
    return True


def _read_exactly(estimator: Any, given: Data, table: Table) -> Table:
    estimator.__dict__.pop("_origin", None)
    if estimator.metric != METRICS[0]:
        check_exact(given, table, "X")
        return table
    table, origin = exact_table(given, table, "X")
    if origin is not None:
        estimator._origin = origin
    return table


def check_library(estimator: object, X: object, fitted: Array, method: str) -> None:
    """With scikit-learn's array API switched on, refuse points in another library or on another device than the fit."""
    if not get_config()["array_api_dispatch"]:
        return
    mine, given = (_library(array) for array in (fitted, X))
    if mine != given:
        raise ValueError(
            f"Inputs passed to {type(estimator).__name__}.{method}() must use the same namespace and the same device "
            f"as those passed to fit(), {mine}, got {given}. Convert them, or fit again."
        )


def _library(array: object) -> str:
    template = given_template(array)
    return "numpy" if template is None else f"{namespace(template).__name__} on {device(template)}"


def make_gram(X: Data, metric: str, weights: Array | None = None) -> Gram:
    """The Gram matrix of what `metric` says `X` is."""
    if metric == "precomputed":
        return Gram.from_kernel(X, weights=weights)
    if metric == "precomputed_distance":
        return Gram.from_distances(X, weights=weights)
    return Gram.from_data(X, weights=weights)


def check_unweighted(gram: Gram, what: str) -> None:
    """Refuse a Gram with weights where `what` knows none."""
    if gram.roots is not None:
        raise ValueError(f"gram must have no weights for {what}, got one with weights. Pass the points without them.")


def make_merged_gram(X: Table, metric: str, groups: Groups | None) -> Gram:
    """The Gram matrix of the points of the program, equal ones merged where there are `groups`."""
    if groups is None:
        return make_gram(X, metric)
    is_pairwise = metric in METRICS[1:]
    if is_pairwise:
        make_gram(X, metric)  # whatever is wrong with the matrix is wrong with all of it
    return make_gram(groups.merged(X, pairwise=is_pairwise), metric, groups.weights)
