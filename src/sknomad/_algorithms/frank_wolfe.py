"""Algorithm 1 of the paper: conditional gradient over ``{Z psd, tr Z = s, Z b = 0}``, for any concave function.

The set has one linear optimiser per gradient, ``s v v'`` with ``v`` the leading eigenvector orthogonal to ``b``, so a
step needs no projection, only an eigenvector; and the same eigenvector gives an upper bound on the optimum.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.linalg as la
from numpy.typing import ArrayLike, NDArray
from scipy.sparse.linalg import ArpackError, LinearOperator, eigsh

from .._numerics.validation import check_integer, check_real

Floats = NDArray[np.float64]

# Up to this many rows a full decomposition is cheaper than Lanczos, which needs room for its subspace.
DENSE_BELOW = 30
# Dimension of the Krylov space between restarts.
SUBSPACE_SIZE = 20
# Weight of a fixed vector of full support beside the guess from which Lanczos starts.
SHARE_OF_ALL = 0.1
# Accuracy of Lanczos relative to the eigenvalue where exactness is the point.
EIGENVALUE_ACCURACY = 1e-9


@dataclass(frozen=True, eq=False)
class ConditionalGradientResult:
    """What `conditional_gradient` found, and what it knows about it.

    Examples
    --------
    >>> import numpy as np
    >>> C = np.diag([3.0, 1.0, 2.0])
    >>> result = conditional_gradient(lambda Z: np.sum(C * Z), lambda Z: C, 1.0, np.array([1.0, 0.0, 0.0]))
    >>> round(result.value, 6), len(result.values) == result.n_iter
    (2.0, True)
    """

    Z: Floats  # (n, n) the last point: psd, trace s, Z b = 0
    value: float  # f(Z)
    gap: float  # no point of the set has a value above value + gap, up to the accuracy of Lanczos
    values: Floats  # (n_iter,) f(Z_t) for t = 1, 2, ...
    gaps: Floats  # (n_iter,) the gap at each of them
    n_iter: int  # steps taken


def conditional_gradient(
    f: Callable[[Floats], float],
    gradient: Callable[[Floats], Floats],
    s: float,
    b: ArrayLike,
    *,
    max_iter: int = 1000,
    tol: float = 0.0,
) -> ConditionalGradientResult:
    """Maximise a concave differentiable `f` over the psd matrices ``Z`` with ``tr Z = s`` and ``Z b = 0``.

    From ``Z_0 = 0``, ``Z_{t+1} = (1 - a) Z_t + a s v v'`` with ``a = 2/(t + 2)`` and ``v`` the eigenvector of the
    largest eigenvalue of the gradient among the vectors orthogonal to ``b``. Then ``f* - f(Z_t) <= 8 C/(t + 2)``,
    where ``C`` is the curvature of `f` on the set; and ``<s v v' - Z_t, gradient>``, which costs nothing, is an upper
    bound on ``f* - f(Z_t)``.

    Parameters
    ----------
    f : callable
        Takes an array of shape (n, n), returns a float.
    gradient : callable
        Takes an array of shape (n, n), returns one; its symmetric part is used.
    s : float
        The trace, positive.
    b : array of shape (n,)
        The vector that every ``Z`` maps to zero.
    max_iter : int, default=1000
        Most steps.
    tol : float, default=0
        Stop when the gap, in the units of `f`, is at most this.

    Returns
    -------
    ConditionalGradientResult

    Examples
    --------
    >>> import numpy as np
    >>> A = np.diag([3.0, 2.0, 0.0])
    >>> result = conditional_gradient(lambda Z: float(np.sum(A * Z)), lambda Z: A, s=2.0, b=[1.0, 0.0, 0.0], tol=1e-9)
    >>> result.value, result.n_iter
    (4.0, 1)
    """
    s = check_real(s, "s", np.finfo(float).tiny, np.finfo(float).max, "a positive finite number")
    direction = unit_vector(b)
    check_integer(max_iter, "max_iter", 1)
    check_real(tol, "tol", 0, math.inf, "a real number >= 0")
    n = direction.size
    Z, v = np.zeros((n, n)), None
    values: list[float] = []
    gaps: list[float] = []
    for t in range(max_iter + 1):
        slope = _checked_gradient(gradient(Z), n, t)
        v = smallest_eigenpairs(-slope, direction, start=v)[1][:, 0]
        if t > 0:
            values.append(_checked_value(f(Z), t))
            gaps.append(s * float(v @ slope @ v) - float(np.sum(slope * Z)))
            if gaps[-1] <= tol or t == max_iter:
                break
        a = 2 / (t + 2)
        Z = (1 - a) * Z + (a * s) * np.outer(v, v)
    return ConditionalGradientResult(Z, values[-1], gaps[-1], np.array(values), np.array(gaps), len(values))


def smallest_eigenpairs(
    A: Floats, b: Floats, count: int = 1, *, tol: float = EIGENVALUE_ACCURACY, start: Floats | None = None
) -> tuple[Floats, Floats]:
    """The `count` smallest eigenvalues of ``P A P`` and their vectors, among those orthogonal to the unit vector `b`.

    Lanczos on the operator ``P A P + c b b'``, ``P = I - b b'``, with ``c`` above the smallest eigenvalue: without it
    ``b``, an eigenvector of ``P A P`` for the eigenvalue 0, would be found when all others are positive. The start is
    `start` or a fixed vector, never a random one, so that runs repeat.

    Parameters
    ----------
    A : array of shape (n, n)
        Symmetric; in either memory order.
    b : array of shape (n,)
        Vector of unit length.
    count : int, default=1
    tol : float
        Residual relative to the eigenvalue at which Lanczos stops.
    start : array of shape (n,), optional
        A guess of the first vector.

    Returns
    -------
    (array of shape (count,), array of shape (n, count))
        Values ascending; fewer than asked for if there are not as many directions.
    """
    n = A.shape[0]
    count = min(count, n - 1)
    if n <= max(DENSE_BELOW, 3 * count):
        return _all_eigenpairs(A, b, count)
    x = _start_vector(start, b)
    symmetric = A.T if A.flags.c_contiguous else A
    symv = la.blas.dsymv
    # The Rayleigh quotient of any vector is at least the smallest eigenvalue; b must lie above it.
    lift = abs(float(x @ symv(1.0, symmetric, x)))
    lift = 2 * lift if lift > 0 else 1.0

    def apply(x: Floats) -> Floats:
        share = b @ x
        y = symv(1.0, symmetric, x - share * b)
        y += (lift * share - b @ y) * b
        return y

    operator = LinearOperator((n, n), matvec=apply, dtype=np.float64)
    try:
        values, vectors = eigsh(operator, k=count, which="SA", v0=x, tol=tol, ncv=max(SUBSPACE_SIZE, 2 * count + 1))
    except ArpackError:
        return _all_eigenpairs(A, b, count)
    vectors = vectors - np.outer(b, b @ vectors)
    return values, vectors / la.norm(vectors, axis=0)


def unit_vector(b: ArrayLike) -> Floats:
    """`b` as a float64 vector of length one."""
    vector = np.asarray(b, dtype=np.float64)
    if vector.ndim != 1 or vector.size < 2:
        raise ValueError(f"b must be a vector of at least two numbers, got shape {vector.shape}. Pass np.ones(n).")
    size = float(np.abs(vector).max())
    if not 0 < size < math.inf:
        raise ValueError(f"b must be finite and not zero, got a largest entry of {size}. Pass np.ones(n).")
    return np.asarray(vector / size / la.norm(vector / size))


def _all_eigenpairs(A: Floats, b: Floats, count: int) -> tuple[Floats, Floats]:
    """The same from a full decomposition, on an orthonormal basis of the complement of `b`."""
    basis = la.qr(b[:, None])[0][:, 1:]
    values, vectors = la.eigh(basis.T @ A @ basis, subset_by_index=[0, count - 1])
    return values, basis @ vectors


def _start_vector(guess: Floats | None, b: Floats) -> Floats:
    """A unit vector orthogonal to `b`: the guess with some of every direction added, or a fixed vector.

    From an exact eigenvector, which the last step's often is, Lanczos would see nothing else.
    """
    x = np.random.default_rng(0).standard_normal(b.size)
    x /= la.norm(x)
    if guess is not None and (length := float(la.norm(guess))) > 0:
        x = guess / length + SHARE_OF_ALL * x
    x = x - (b @ x) * b
    return x / la.norm(x)


def _checked_value(value: float, t: int) -> float:
    value = float(value)
    if not math.isfinite(value):
        raise ValueError(f"f must return a finite number, got {value} at step {t}. Check f on psd matrices of trace s.")
    return value


def _checked_gradient(given: ArrayLike, n: int, t: int) -> Floats:
    slope = np.asarray(given, dtype=np.float64)
    if slope.shape != (n, n):
        raise ValueError(f"gradient must return an array of shape {(n, n)}, got {slope.shape}.")
    if not np.isfinite(slope).all():
        raise ValueError(f"gradient must return finite numbers, got NaN or inf at step {t}. Check gradient at Z = 0.")
    return (slope + slope.T) / 2
