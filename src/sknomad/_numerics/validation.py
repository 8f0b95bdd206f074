"""Checks at the door. Every error says what must hold, what was given, and what to do."""

from __future__ import annotations

import numbers
from collections.abc import Collection
from typing import Literal, TypeAlias, overload

import numpy as np
import scipy.linalg as la
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_array

from .arrays import Array, Data, Table, is_sparse

# What users of estimators pass as `random_state`.
Seed: TypeAlias = int | np.random.RandomState | None

# Asymmetry and negative curvature of a kernel up to these shares of its size count as rounding.
SYMMETRY_TOLERANCE = 1e-8
DEFINITE_TOLERANCE = 1e-8


def check_real(value: object, name: str, low: float, high: float, rule: str) -> float:
    """`value` as a float in ``[low, high]``, or an error that quotes `rule`."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, numbers.Real):
        raise TypeError(f"{name} must be {rule}, got {value!r} of type {type(value).__name__}.")
    if not low <= float(value) <= high:
        raise ValueError(f"{name} must be {rule}, got {value!r}.")
    return float(value)


def check_integer(value: object, name: str, low: int) -> int:
    """`value` as an int of at least `low`."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, numbers.Integral):
        raise TypeError(f"{name} must be an integer >= {low}, got {value!r} of type {type(value).__name__}.")
    if value < low:
        raise ValueError(f"{name} must be an integer >= {low}, got {value!r}.")
    return int(value)


def check_K(K: object, n_samples: int) -> float:
    """The trace of Q, a real number between 1 and the number of points."""
    return check_real(K, "K", 1, n_samples, f"a real number in [1, n_samples={n_samples}]")


def check_choice(value: object, name: str, choices: Collection[str]) -> str:
    """`value` if it is one of `choices`, otherwise an error that lists them."""
    if not isinstance(value, str) or value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, choices))}, got {value!r}.")
    return value


@overload
def check_table(X: Data, name: str = "X", *, accept_sparse: Literal[False]) -> Array: ...
@overload
def check_table(X: Data, name: str = "X", *, accept_sparse: Literal[True] = True) -> Table: ...
def check_table(X: Data, name: str = "X", *, accept_sparse: bool = True) -> Table:
    """`X` as a finite float64 matrix (dense, or CSR if sparse) of at least two rows."""
    if not isinstance(X, str | bytes) and np.iscomplexobj(X):
        raise ValueError(
            f"Complex data not supported: {name} must hold real numbers. Pass {name}.real, or both parts side by side."
        )
    try:
        table: Table = check_array(
            X,
            accept_sparse="csr" if accept_sparse else False,
            dtype=np.float64,
            ensure_all_finite=False,
            ensure_min_samples=2,
            input_name=name,
        )
    except (TypeError, ValueError) as error:
        raise type(error)(f"{name} must be a table of real numbers with at least 2 rows: {error}") from error
    check_finite(table, name)
    return table


def check_finite(X: Table, name: str) -> None:
    """Refuse NaN and infinity, naming the first."""
    values = X.data if is_sparse(X) else X
    if np.isfinite(values).all():
        return
    dense_mask = ~np.isfinite(X.toarray() if is_sparse(X) else X)
    row, column = np.argwhere(dense_mask)[0]
    raise ValueError(
        f"{name} has {dense_mask.sum()} non-finite values (NaN or inf), the first at row {row}, column {column}. "
        "Impute or drop them."
    )


def check_weights(weights: ArrayLike, n: int) -> Array:
    """Positive finite weights of `n` points, as float64."""
    weights = np.asarray(weights, dtype=np.float64)
    if weights.shape != (n,):
        raise ValueError(f"weights must be one number per point, {n} of them, got shape {weights.shape}.")
    wrong = np.flatnonzero(~(np.isfinite(weights) & (weights > 0)))
    if len(wrong):
        raise ValueError(
            f"weights must be positive and finite, got {weights[wrong[0]]} at index {wrong[0]}. "
            "Leave points of weight zero out."
        )
    return weights


def check_distances(distances: Table) -> None:
    """Refuse negative distances."""
    least = float(distances.min())
    if least < 0:
        raise ValueError(f"distances must be nonnegative, got {least:.3g}. Pass similarities as a kernel.")


def check_square(D: Data, name: str) -> Array:
    """`D` as a finite, symmetric float64 matrix; tiny asymmetry is averaged away."""
    table = check_table(D, name, accept_sparse=True)
    if table.shape[0] != table.shape[1]:
        raise ValueError(f"{name} must be square, got shape {table.shape}. Pass raw data without metric={name!r}.")
    square = table.toarray() if is_sparse(table) else table
    asymmetry, size = float(np.abs(square - square.T).max()), float(np.abs(square).max())
    if asymmetry > SYMMETRY_TOLERANCE * size:
        raise ValueError(
            f"{name} must be symmetric: max |D - D.T| is {asymmetry:.1e}, "
            f"allowed {SYMMETRY_TOLERANCE * size:.1e}. Pass (D + D.T) / 2."
        )
    return square / 2 + square.T / 2


def check_definite(D: Array, allowed: float) -> None:
    """Refuse a centred kernel with an eigenvalue below ``-allowed``; one factorisation settles the common case."""
    if la.lapack.dpotrf(D + allowed * np.eye(len(D)), lower=True)[1] == 0:
        return
    smallest = float(la.eigvalsh(D, subset_by_index=[0, 0])[0])
    if smallest < -allowed:
        raise ValueError(
            f"kernel must be positive semidefinite after centring: its smallest eigenvalue is {smallest:.1e}, "
            f"allowed {-allowed:.1e}. Pass distances instead, or Gram.from_kernel(D, allow_indefinite=True)."
        )
