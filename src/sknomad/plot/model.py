"""What pictures read off a fitted model, whatever its class, and the sentences for what is none."""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .style import Array, Column

Labels = NDArray[np.int64]


def as_bound(value: float, *, upper: bool) -> str:
    """A bound with seven digits, rounded away from the other one, so that what is written is proven.

    Examples
    --------
    >>> as_bound(16646.4491, upper=True), as_bound(16630.0799, upper=False), as_bound(-1e-30, upper=True)
    ('16646.45', '16630.07', '-1e-30')
    """
    if not math.isfinite(value):
        return str(value)
    context = Context(prec=7, rounding=ROUND_CEILING if upper else ROUND_FLOOR)
    rounded = context.create_decimal(Decimal(value)).normalize()
    return f"{rounded:f}" if -5 <= rounded.adjusted() <= 9 else f"{rounded:g}"


def is_model(thing: object) -> bool:
    """Whether something is an estimator, fitted or not."""
    return hasattr(thing, "get_params") and hasattr(thing, "fit")


def fitted(model: Any, attribute: str, of: str = "NOMAD") -> Any:
    """An attribute of a fitted model, or a sentence on what to pass."""
    if not is_model(model):
        raise TypeError(f"model must be a fitted {of}, got {type(model).__name__}. Pass {of}().fit(X).")
    if not hasattr(model, "labels_"):
        raise ValueError(f"model must be fitted, got {type(model).__name__} before fit. Call model.fit(X) first.")
    if not hasattr(model, attribute):
        raise TypeError(f"model must be a fitted {of}, which has {attribute}; got {type(model).__name__}.")
    return getattr(model, attribute)


def first_solved(model: Any) -> tuple[float, Any]:
    """``K`` and ``Q`` that pictures of a fitted model show: of layers the first, which the coordinates come from."""
    layers = getattr(model, "layers_", None)
    if layers:
        return float(layers[0].K), layers[0].Q
    return float(fitted(model, "K_")), None


def word_for(model: Any) -> str:
    """What a model calls the sets that it has found."""
    return "cluster" if hasattr(model, "layers_") else "manifold"


def counted(count: int, word: str) -> str:
    """A number of things.

    Examples
    --------
    >>> counted(1, "manifold"), counted(3, "cluster")
    ('1 manifold', '3 clusters')
    """
    return f"{count} {word}{'' if count == 1 else 's'}"


def found_labels(model: Any) -> Labels:
    """The manifold of each point, -1 for none."""
    return np.asarray(fitted(model, "labels_"), dtype=np.int64)


def position_along(model: Any) -> Array | None:
    """Positions along manifolds, a half where there are none; None where the model knows none."""
    order = getattr(model, "order_", None)
    return None if order is None else np.nan_to_num(np.asarray(order, dtype=np.float64), nan=0.5)


def sorted_points(model: Any) -> NDArray[np.intp]:
    """Points by manifold, then along it; those in none come last."""
    labels, along = found_labels(model), position_along(model)
    along = np.zeros(len(labels)) if along is None else along
    return np.lexsort((along, np.where(labels < 0, labels.max() + 1, labels)))


def check_column(values: Column, name: str, n: int) -> NDArray[Any] | None:
    """One value for each of `n` points, as given, or None."""
    if values is None:
        return None
    column = np.asarray(values)
    if column.shape != (n,):
        raise ValueError(f"{name} must hold one value for each of {n} points, got shape {column.shape}.")
    return column


def codes(values: NDArray[Any]) -> Labels:
    """Whole numbers as they are, anything else numbered in the order of sorting: what colours are chosen by."""
    return np.asarray(
        values if values.dtype.kind in "iu" else np.unique(values, return_inverse=True)[1], dtype=np.int64
    )


def check_permutation(order: Column, n: int) -> NDArray[np.intp] | None:
    """Indices of all points, each once; positions along manifolds are no indices."""
    if order is None:
        return None
    given = np.asarray(order)
    if given.shape != (n,) or not np.array_equal(np.sort(given), np.arange(n)):
        raise ValueError(
            f"order must hold each index from 0 to {n - 1} once, got {given.dtype} of shape {given.shape}. "
            "Pass numpy.argsort of positions, or the fitted model, which knows its order."
        )
    return given.astype(np.intp)
