"""The unit vector ``u`` with ``Q u = u``, and ``J = u u'``: where weights enter the program, and the only place.

Without weights ``u`` is the vector of ones over ``sqrt(n)``, given as None: then nothing is multiplied by it. With
weights ``w`` it is ``sqrt(w)`` over its norm. All that solvers and judge need of it is here.
"""

from __future__ import annotations

import math

from .arrays import Array, device, double, like, namespace


def direction_like(u: Array, model: Array) -> Array:
    """`u` in the library, on the device and in the precision of `model`; None stays None."""
    return None if u is None else like(u, model)


def unit_vector(u: Array, n: int, model: Array) -> Array:
    """``u`` itself, a new vector like `model`."""
    xp = namespace(model)
    if u is None:
        return xp.full((n,), 1 / math.sqrt(n), dtype=model.dtype, device=device(model))
    return xp.asarray(like(u, model), copy=True)


def mean_rows(u: Array, n: int, block: slice = slice(None), weight: float = 1.0) -> Array:
    """Rows of ``weight * J``: the number ``weight/n`` without weights, an array otherwise."""
    return weight / n if u is None else weight * (u[block, None] * u[None, :])


def centred(V: Array, u: Array = None) -> Array:
    """Columns of `V`, or the vector `V`, without their part along ``u``."""
    if u is None:
        return V - namespace(V).mean(V, axis=0)
    u = like(u, V)
    return V - (u * (u @ V) if V.ndim == 1 else u[:, None] * (u @ V)[None, :])


def mean_value(N: Array, u: Array) -> float:
    """``<N, J>``."""
    xp = namespace(N)
    if u is None:
        return float(xp.sum(N)) / N.shape[0]
    u = like(u, N)
    return float(u @ (N @ u))


def relative(Q: Array, u: Array) -> Array:
    """Entries of `Q` in units of those of ``n J``: the matrix itself without weights."""
    if u is None:
        return Q
    u = like(u, Q)
    return Q / (Q.shape[0] * mean_rows(u, Q.shape[0]))


def shares(u: Array, model: Array) -> Array:
    """Each point's share of all weight, ``u**2``, in float64 and in the library of `model`."""
    xp = namespace(model)
    return double(like(u, model, dtype=xp.float64)) ** 2
