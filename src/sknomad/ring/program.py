"""The NOMAD problem on equally spaced points of a circle or a flat torus, as a small linear program.

Rotations leave the problem unchanged, so averaging an optimum over them gives an optimum that depends only on
the lag between two points. Such matrices share the Fourier basis: ``Q`` is its first row ``row[t]`` over lags
``t``, its eigenvalues are ``q[p] = sum_t row[t] cos(2 pi p.t)``, and the semidefinite constraint is ``q >= 0``.
Reflections (and the swap of the circles of a square torus) tie lags together in orbits, and modes in the same way.
"""

import math
import sys
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import OptimizeResult, linprog

from .._numerics.validation import check_real

Array = NDArray[np.float64]

# The smallest HiGHS accepts. Its default, 1e-7, leaves eigenvalues of -6e-10 and the tenth digit wrong (n=1000, K=3).
TOLERANCE = 1e-10
INFEASIBLE = 2  # linprog's status code


def check_radius(radius: float) -> float:
    """`radius` as a positive float, or an error that says why it is not one."""
    return check_real(radius, "radius", math.nextafter(0, 1), sys.float_info.max, "a positive real number")


@dataclass(frozen=True, eq=False)
class Orbits:
    """Lags, or Fourier modes, that symmetry makes interchangeable; number 0 is lag 0, or the constant mode."""

    label: NDArray[np.intp]  # orbit of each lag, in the shape of the group: (n,) or (n1, n2)
    first: NDArray[np.intp]  # flat position of one lag of each orbit
    size: Array  # number of lags in each orbit
    cosine: Array  # [p, t]: sum of cos(2 pi p.s) over the lags s of orbit t, so that q = cosine @ row


def ring_kernel(n: int) -> Array:
    """Inner products of two points of the unit circle, by the lag ``0..n//2`` between them."""
    return np.cos(2 * np.pi * np.arange(n // 2 + 1) / n)


def ring_orbits(n: int) -> Orbits:
    """Orbits ``{t, n - t}`` of the cyclic group, numbered by the lag ``0..n//2``."""
    lag = np.arange(n)
    return _orbits(np.minimum(lag, n - lag))


def torus_orbits(n1: int, n2: int) -> Orbits:
    """Orbits of the lags of an ``n1 x n2`` torus under both reflections, and the swap when ``n1 == n2``."""
    lag1, lag2 = np.indices((n1, n2))
    near1, near2 = np.minimum(lag1, n1 - lag1), np.minimum(lag2, n2 - lag2)
    if n1 == n2:
        near1, near2 = np.minimum(near1, near2), np.maximum(near1, near2)
    return _orbits(near1 * (n1 + n2) + near2)


def _orbits(key: NDArray[np.intp]) -> Orbits:
    _, first, inverse = np.unique(key, return_index=True, return_inverse=True)
    label = inverse.reshape(key.shape)
    size = np.bincount(label.ravel()).astype(np.float64)
    # The Fourier transform of an orbit's indicator, read at one mode of each orbit, is that orbit's cosine sum.
    columns = [np.fft.fftn(label == orbit).real.ravel()[first] for orbit in range(size.size)]
    return Orbits(label, first, size, np.stack(columns, axis=1))


def best_row(kernel: Array, orbits: Orbits, K: float) -> Array:
    """Optimal row of ``Q`` over lag orbits, for the Gram matrix whose entry at each lag orbit is ``kernel``.

    Long lags carry little, so the program starts with the nearest ``3 n/K`` lags, and admits those whose reduced cost
    is positive and twice as many nearest ones until none is left: then the multipliers prove the optimum over all
    lags. (n=2000, K=40: 0.8 s; with all lags or all modes at once, 28 s.)
    """
    n = orbits.label.size
    nearest_first = np.argsort(-kernel, kind="stable")
    count = int(np.searchsorted(np.cumsum(orbits.size[nearest_first]), 3 * n / K)) + 2
    active = np.sort(nearest_first[:count])
    while True:
        result = solve_lags(kernel, orbits, active, diagonal=(K, K))
        if result.status != INFEASIBLE:  # near lags alone may not make a semidefinite matrix; all lags do
            missing = np.setdiff1d(np.flatnonzero(_reduced_cost(kernel, orbits, result) > TOLERANCE), active)
            if missing.size == 0:
                break
            active = np.union1d(active, missing)
        count *= 2
        active = np.union1d(active, nearest_first[:count])
    row = np.zeros(orbits.size.size)
    row[active] = np.maximum(result.x, 0.0) / n
    return row


def solve_lags(
    kernel: Array, orbits: Orbits, active: NDArray[np.intp], diagonal: tuple[float, float]
) -> OptimizeResult:
    """Solve the linear program for ``x = n row`` on the ``active`` lag orbits.

    Maximise ``<D, Q> = sum_t size[t] kernel[t] x[t]`` subject to ``x >= 0``, ``sum_t size[t] x[t] = n`` (unit row
    sums), ``cosine @ x >= 0`` (semidefinite; mode 0 is the row sum) and ``x[0]``, the trace, within ``diagonal``.
    """
    bounds = [diagonal if orbit == 0 else (0.0, None) for orbit in active]
    result = linprog(
        -(orbits.size * kernel)[active],
        A_ub=-orbits.cosine[1:, active],
        b_ub=np.zeros(orbits.size.size - 1),
        A_eq=orbits.size[None, active],
        b_eq=[float(orbits.label.size)],
        bounds=bounds,
        method="highs",
        options={"primal_feasibility_tolerance": TOLERANCE, "dual_feasibility_tolerance": TOLERANCE},
    )
    if result.status not in (0, INFEASIBLE) or (result.status and active.size == orbits.size.size):
        # The program always has an optimum, so this is the solver giving up, not bad input.
        raise RuntimeError(f"HiGHS stopped without an optimum: {result.message}")
    return result


def _reduced_cost(kernel: Array, orbits: Orbits, result: OptimizeResult) -> Array:
    """Gain per unit of row sum from admitting each lag orbit at the multipliers of a solved program."""
    psd, row_sum = -result.ineqlin.marginals, -result.eqlin.marginals[0]
    return kernel + (psd @ orbits.cosine[1:]) / orbits.size - row_sum
