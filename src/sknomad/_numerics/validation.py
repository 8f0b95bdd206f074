"""Checks at the door. Every error says what must hold, what was given, and what to do."""

from __future__ import annotations

import numbers
from collections.abc import Collection, Sequence
from typing import Literal, TypeAlias, overload

import numpy as np
import scipy.linalg as la
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_array

from .arrays import Array, Data, Table, all_finite, is_array, is_sparse, namespace
from .exact_input import check_exact, exact_table, is_equal
from .sparse_input import well_formed

# What users of estimators pass as `random_state`.
Seed: TypeAlias = int | np.random.RandomState | None

# Asymmetry and negative curvature of a kernel up to these shares of its size count as rounding.
SYMMETRY_TOLERANCE = 1e-8
DEFINITE_TOLERANCE = 1e-8
# Below this half of a number may be rounded by more than one in 10^16 of the largest.
SMALLEST_TO_HALVE = 1e-290
# Beyond this whole numbers are not all float64 numbers, and nobody has counted as far.
LARGEST_COUNT = 2**53


def check_real(value: object, name: str, low: float, high: float, rule: str) -> float:
    """`value` as a float in ``[low, high]``, or an error that quotes `rule`."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, numbers.Real):
        raise TypeError(f"{name} must be {rule}, got {value!r} of type {type(value).__name__}.")
    try:
        number = float(value)
    except OverflowError as error:
        raise ValueError(f"{name} must be {rule}, got a whole number beyond float64.") from error
    if not low <= number <= high:
        raise ValueError(f"{name} must be {rule}, got {value!r}.")
    return number


def check_integer(value: object, name: str, low: int) -> int:
    """`value` as an int of at least `low`."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, numbers.Integral):
        raise TypeError(f"{name} must be an integer >= {low}, got {value!r} of type {type(value).__name__}.")
    if value < low:
        raise ValueError(f"{name} must be an integer >= {low}, got {value!r}.")
    return int(value)


def check_count(value: object, name: str) -> int:
    """`value` as an int that may count something: not negative, and not beyond what float64 counts."""
    count = check_integer(value, name, 0)
    if count > LARGEST_COUNT:
        raise ValueError(f"{name} must be an integer of at most 2**53, got a larger one.")
    return count


def check_numbers(array: Array, name: str, shape: tuple[int | None, ...], *, finite: bool = False) -> Array:
    """`array` if it is one of real numbers, in any library, of the given shape; None stands for any size.

    Parameters
    ----------
    array : array
    name : str
        What the error calls it.
    shape : tuple of int or None
    finite : bool, default=False
        Whether NaN and infinity are refused too, which needs a look at every entry.
    """
    # Sums over a masked array leave entries out, and products of a matrix are others than those of an array.
    if not is_array(array) or isinstance(array, np.ma.MaskedArray | np.matrix):
        raise TypeError(f"{name} must be an array of real numbers, got {type(array).__name__}.")
    if isinstance(array, np.ndarray):
        array = np.asarray(array)  # of classes derived from it NumPy's own view, with NumPy's own operators
    if not namespace(array).isdtype(array.dtype, ("real floating", "integral")):
        raise TypeError(f"{name} must hold real numbers, got {array.dtype}.")
    if len(array.shape) != len(shape) or any(w not in (None, f) for w, f in zip(shape, array.shape, strict=True)):
        wanted = ", ".join("any" if size is None else str(size) for size in shape)
        raise ValueError(f"{name} must have shape ({wanted}), got {tuple(array.shape)}.")
    if finite and not all_finite(array):
        raise ValueError(f"{name} must hold finite numbers, got NaN or inf.")
    return array


def check_moderate(array: Array, name: str, shape: tuple[int | None, ...], largest: float) -> Array:
    """As `check_numbers`, and no number is beyond `largest` or NaN; without a copy of the array."""
    array = check_numbers(array, name, shape)
    xp = namespace(array)
    if 0 in array.shape or (float(xp.min(array)) >= -largest and float(xp.max(array)) <= largest):
        return array
    raise ValueError(f"{name} must hold numbers of at most {largest:.1e}, got larger ones or NaN.")


def check_indices(array: Array, name: str, size: int | None = None) -> Array:
    """`array` if it is a vector of whole numbers >= 0, of the given size unless that is None."""
    array = check_numbers(array, name, (size,))
    if array.dtype.kind not in "iu" or (array.size and int(array.min()) < 0):
        raise ValueError(f"{name} must be whole numbers >= 0, got others.")
    return array


def check_K(K: object, n_samples: int) -> float:
    """The trace of Q, a real number between 1 and the number of points, which float64 holds as it is."""
    number = check_real(K, "K", 1, n_samples, f"a real number in [1, n_samples={n_samples}]")
    if not is_equal(K, number):
        raise ValueError(f"K must be a number that float64 can represent, got {K!r}. Pass float(K) to have it rounded.")
    return number


def check_choice(value: object, name: str, choices: Collection[str]) -> str:
    """`value` if it is one of `choices`, otherwise an error that lists them."""
    if not isinstance(value, str) or value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, choices))}, got {value!r}.")
    return value


@overload
def check_table(X: Data, name: str = "X", *, accept_sparse: Literal[False], of_points: bool = False) -> Array: ...
@overload
def check_table(X: Data, name: str = "X", *, accept_sparse: Literal[True] = True, of_points: bool = False) -> Table: ...
def check_table(X: Data, name: str = "X", *, accept_sparse: bool = True, of_points: bool = False) -> Table:
    """`X` as a finite float64 matrix (dense, or CSR if sparse) of at least two rows, nothing in it rounded.

    Rows that are points (`of_points`) may come relative to the first one, where that takes whole numbers into float64.
    """
    X = well_formed(X, name)
    refuse_complex(X, name)
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
    if of_points:
        return exact_table(X, table, name)[0]
    check_exact(X, table, name)
    return table


def refuse_complex(X: Data, name: str) -> None:
    """Refuse complex numbers, without the table in the error."""
    if not isinstance(X, str | bytes) and np.iscomplexobj(X):
        raise ValueError(
            f"Complex data not supported: {name} must hold real numbers. Pass {name}.real, or both parts side by side."
        )


def check_finite(X: Table, name: str, columns: Sequence[str] | None = None) -> None:
    """Refuse NaN and infinity, naming the first, by its column where columns have names."""
    values = X.data if is_sparse(X) else X
    if np.isfinite(values).all():
        return
    dense_mask = ~np.isfinite(X.toarray() if is_sparse(X) else X)
    row, column = np.argwhere(dense_mask)[0]
    place = column if columns is None else repr(columns[column])
    raise ValueError(
        f"{name} has {dense_mask.sum()} non-finite values (NaN or inf), the first at row {row}, column {place}. "
        "Impute or drop them."
    )


def check_weights(weights: ArrayLike, n: int) -> Array:
    """Positive finite weights of `n` points, as float64."""
    given, weights = weights, np.asarray(weights, dtype=np.float64)
    if weights.shape != (n,):
        raise ValueError(f"weights must be one number per point, {n} of them, got shape {weights.shape}.")
    wrong = np.flatnonzero(~(np.isfinite(weights) & (weights > 0)))
    if len(wrong):
        raise ValueError(
            f"weights must be positive and finite, got {weights[wrong[0]]} at index {wrong[0]}. "
            "Leave points of weight zero out."
        )
    check_exact(given, weights, "weights")
    return weights


def check_groups(groups: ArrayLike, n: int) -> Array:
    """A whole number for each of `n` points, at least one of them not negative."""
    given = np.asarray(groups)
    if given.shape != (n,) or given.dtype.kind not in "iu" or given.max() < 0:
        raise ValueError(
            f"groups must be one whole number for each of {n} points, counted from 0, got {given.dtype} of shape "
            f"{given.shape}."
        )
    return given.astype(np.int64)


def check_distances(distances: Table) -> None:
    """Refuse negative distances."""
    least = float(distances.min())
    if least < 0:
        raise ValueError(f"distances must be nonnegative, got {least:.3g}. Pass similarities as a kernel.")


def check_diagonal(distances: Array) -> None:
    """Refuse distances of points from themselves."""
    wrong = np.flatnonzero(np.diagonal(distances))
    if len(wrong):
        raise ValueError(
            f"distances must be zero on the diagonal, got {distances[wrong[0], wrong[0]]:.3g} at row {wrong[0]}. "
            "Set it to zero with numpy.fill_diagonal(distances, 0), or pass similarities as a kernel."
        )


def check_square(D: Data, name: str) -> Array:
    """`D` as a finite, symmetric float64 matrix; tiny asymmetry is averaged away."""
    table = check_table(D, name, accept_sparse=True)
    if table.shape[0] != table.shape[1]:
        raise ValueError(f"{name} must be square, got shape {table.shape}. Pass raw data without metric={name!r}.")
    square = table.toarray() if is_sparse(table) else table
    with np.errstate(over="ignore"):
        asymmetry, size = float(np.abs(square - square.T).max()), float(np.abs(square).max())
    # Halves of the smallest numbers are rounded; those have to be symmetric as they are.
    allowed = SYMMETRY_TOLERANCE * size if size > SMALLEST_TO_HALVE else 0.0
    if asymmetry > allowed:
        raise ValueError(
            f"{name} must be symmetric: max |D - D.T| is {asymmetry:.1e}, allowed {allowed:.1e}. Pass (D + D.T) / 2."
        )
    result = symmetric(square)
    # What is proven must not change when the user's matrix does.
    return result.copy() if result is table else result


def symmetric(D: Array) -> Array:
    """``(D + D')/2``; a symmetric matrix as it is, because halves of its smallest numbers would be rounded."""
    return D if np.array_equal(D, D.T) else D / 2 + D.T / 2


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
