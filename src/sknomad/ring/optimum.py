"""Optimal ``Q`` of the ring and of the flat torus, from the linear program and in closed form."""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import circulant

from .._numerics.validation import check_integer, check_K, check_real
from .program import Array, best_row, check_radius, ring_kernel, ring_orbits, torus_orbits


@dataclass(frozen=True, eq=False)
class RingSolution:
    """An optimal circulant ``Q`` for points on a circle.

    Examples
    --------
    >>> solution = ring_optimum(12, 3)
    >>> solution.Q.shape, solution.half_width
    ((12, 12), 3)
    """

    n: int  # number of points
    K: float  # trace of Q
    value: float  # <D, Q>
    row: Array  # (n,): first row of Q, by lag
    eigenvalues: Array  # (n,): of Q, by Fourier mode; number 0 belongs to the constant vector

    @property
    def Q(self) -> Array:
        """Dense ``Q`` of shape (n, n)."""
        return circulant(self.row)

    @property
    def half_width(self) -> int:
        """Number of entries of a row above half the diagonal; about ``n/K``."""
        # Neighbours that are exactly half the diagonal (K = n/2) must not count, whichever way they are rounded.
        return int(np.count_nonzero(self.row > 0.5 * self.row[0] * (1 + 1e-9)))

    @property
    def support_size(self) -> int:
        """Number of entries of a row above 1e-9; about ``2.3 n/K`` while ``K`` is well inside ``[2, n/2]``."""
        return int(np.count_nonzero(self.row > 1e-9))

    def n_active_modes(self, threshold: float | None = None) -> int:
        """Number of eigenvalues, out of ``n``, that reach ``threshold``; by default a tenth of their mean ``K/n``."""
        if threshold is None:
            threshold = self.K / (10 * self.n)
        return int(np.count_nonzero(self.eigenvalues >= threshold))

    def cone_vectors(self) -> Array:
        """Vectors ``y_i`` with ``<y_i, y_j> = Q_ij``, as columns; row 0 is along the cone's axis."""
        mode = np.arange(self.n)
        angle = 2 * np.pi * (np.outer(mode, mode) % self.n) / self.n
        # Modes p and n - p share an eigenvalue, so a cosine and a sine replace the two complex waves.
        basis = np.where(2 * mode[:, None] <= self.n, np.cos(angle), np.sin(angle))
        norm = np.where((mode == 0) | (2 * mode == self.n), np.sqrt(self.n), np.sqrt(self.n / 2))
        return (np.sqrt(np.maximum(self.eigenvalues, 0.0)) / norm)[:, None] * basis


@dataclass(frozen=True, eq=False)
class TorusSolution:
    """An optimal doubly circulant ``Q`` for a grid of points on a flat torus.

    Examples
    --------
    >>> solution = torus_optimum(6, 6, 5)
    >>> solution.Q.shape, round(solution.value, 6)
    ((36, 36), 41.0)
    """

    shape: tuple[int, int]  # number of points on each circle
    K: float  # trace of Q
    value: float  # <D, Q>
    kernel: Array  # (n1, n2): entry of Q by lag on each circle
    eigenvalues: Array  # (n1, n2): of Q, by Fourier mode on each circle

    @property
    def Q(self) -> Array:
        """Dense ``Q`` of shape (n1 n2, n1 n2), points in the order of `torus_points`."""
        n1, n2 = self.shape
        first, second = np.divmod(np.arange(n1 * n2), n2)
        return self.kernel[(first[:, None] - first) % n1, (second[:, None] - second) % n2]


def ring_points(n: int, *, radius: float = 1.0) -> Array:
    """Equally spaced points on a circle around the origin.

    Parameters
    ----------
    n : int
        Number of points, at least 2.
    radius : float
        Radius of the circle.

    Returns
    -------
    array of shape (n, 2)

    Examples
    --------
    >>> ring_points(4).round(12) + 0.0
    array([[ 1.,  0.],
           [ 0.,  1.],
           [-1.,  0.],
           [ 0., -1.]])
    """
    angle = 2 * np.pi * np.arange(check_integer(n, "n", 2)) / n
    return check_radius(radius) * np.column_stack([np.cos(angle), np.sin(angle)])


def torus_points(n1: int, n2: int) -> Array:
    """Grid on the flat torus, the product of two unit circles; the second angle runs fastest.

    Parameters
    ----------
    n1, n2 : int
        Number of points on each circle, at least 2.

    Returns
    -------
    array of shape (n1 n2, 4)

    Examples
    --------
    >>> torus_points(3, 5).shape
    (15, 4)
    """
    n1, n2 = check_integer(n1, "n1", 2), check_integer(n2, "n2", 2)
    return np.hstack([np.repeat(ring_points(n1), n2, axis=0), np.tile(ring_points(n2), (n1, 1))])


def ring_optimum(n: int, K: float, *, radius: float = 1.0) -> RingSolution:
    """Optimum of the semidefinite program on a circle, through its linear program.

    Maximise ``n radius^2 q_1`` over eigenvalues ``q >= 0`` with ``q_0 = 1``, ``sum q = K`` and
    ``sum_p q_p cos(2 pi p t/n) >= 0`` for every lag ``t``.

    The value is accurate to about 1e-11 relative. ``Q`` need not be unique when n is even: it is not, for n of at
    least 8, for ``2 < K < 2 + 2/(1 + 2 cos(2 pi/n))``, where `ring_closed_form` gives the smoothest, and on a few more
    intervals for some n (n=30: 8.50 to 10.35). No such interval was found for odd n up to 41.

    Parameters
    ----------
    n : int
        Number of points, at least 2.
    K : float
        Trace of ``Q``, in ``[1, n]``.
    radius : float
        Radius of the circle; it scales the value and leaves ``Q`` alone.

    Returns
    -------
    RingSolution

    Examples
    --------
    >>> solution = ring_optimum(40, 4)
    >>> round(solution.value, 9)
    33.464298427
    >>> solution.n_active_modes(), solution.half_width
    (11, 9)
    """
    n = check_integer(n, "n", 2)
    orbits = ring_orbits(n)
    row = best_row(ring_kernel(n), orbits, check_K(K, n))[orbits.label]
    return _ring_solution(row, K, radius)


def ring_closed_form(n: int, K: float, *, radius: float = 1.0) -> RingSolution:
    """Optimum on a circle for small and for large ``K``, where it has a formula.

    With ``u = cos(2 pi t/n)`` at lag ``t`` and ``c = cos(2 pi/n)``:

    * one mode, up to ``K = 2`` (n odd: ``1 + 1/cos(pi/n)``): ``n Q_t = 1 + (K-1) u``, of value ``n (K-1)/2``;
    * two modes, n even, up to ``K = 2 + 2/(1 + 2 c)``: ``n Q_t = (1 + u) (1 - d/2 + d u)`` with ``d = K - 2``, of value
      ``n K/4``, which no ``Q`` exceeds, as nonnegativity at the antipode leaves the odd modes half the budget;
    * two neighbours, n even, from ``K = n (1 + 2 c)/(4 + 4 c)``: ``Q_1 = 1/4``, ``Q_2 = 1/4 - K/(2n)``, the best under
      ``q_{n/2} >= 0``, which leaves the odd lags half of each row;
    * one neighbour, from ``K = n/2`` (n odd: ``n/(1 + 1/cos(pi/n))``): ``Q_1 = (1 - K/n)/2``, of value ``K + (n-K) c``.

    Parameters
    ----------
    n, K, radius : int, float, float
        As for `ring_optimum`.

    Returns
    -------
    RingSolution

    Raises
    ------
    ValueError
        If ``K`` lies between the ranges above.

    Examples
    --------
    >>> ring_closed_form(100, 2).value
    50.0
    """
    n = check_integer(n, "n", 2)
    K = check_K(K, n)
    u = np.cos(2 * np.pi * np.arange(n) / n)
    one_mode, two_modes, neighbours = _closed_form_ranges(n)
    if one_mode >= K:
        row = (1 + (K - 1) * u) / n
    elif two_modes >= K:
        row = (1 + u) * (1 - (K - 2) / 2 + (K - 2) * u) / n
    elif neighbours <= K:
        beside = (1 - K / n) / 2
        row = np.zeros(n)
        row[0] = K / n
        row[[1, -1]] = beside if n % 2 else min(beside, 0.25)
        row[[2, -2]] = beside - row[1]
    else:
        raise ValueError(
            f"K must be at most {two_modes:.6g} or at least {neighbours:.6g} for a closed form with n={n}, "
            f"got {K:.6g}. Use ring_optimum."
        )
    return _ring_solution(np.maximum(row, 0.0), K, radius)


def torus_optimum(n1: int, n2: int, K: float) -> TorusSolution:
    """Optimum of the semidefinite program on a flat torus of two unit circles, through its linear program.

    Parameters
    ----------
    n1, n2 : int
        Number of points on each circle, at least 2.
    K : float
        Trace of ``Q``, in ``[1, n1 n2]``.

    Returns
    -------
    TorusSolution

    Examples
    --------
    >>> round(torus_optimum(6, 6, 5).value, 9)
    41.0
    """
    n1, n2 = check_integer(n1, "n1", 2), check_integer(n2, "n2", 2)
    K = check_K(K, n1 * n2)
    gram = np.add.outer(np.cos(2 * np.pi * np.arange(n1) / n1), np.cos(2 * np.pi * np.arange(n2) / n2))
    orbits = torus_orbits(n1, n2)
    kernel = best_row(gram.ravel()[orbits.first], orbits, K)[orbits.label]
    return TorusSolution(
        shape=(n1, n2),
        K=K,
        value=float(gram.size * np.sum(gram * kernel)),
        kernel=kernel,
        eigenvalues=np.fft.fft2(kernel).real,
    )


def cone_half_angle(K: float) -> float:
    """Angle, in radians, between each column of ``Y`` (``Q = Y'Y``) and the axis of their cone: ``arccos(1/sqrt(K))``.

    Parameters
    ----------
    K : float
        Trace of ``Q``, at least 1.

    Returns
    -------
    float

    Examples
    --------
    >>> round(cone_half_angle(2) / np.pi, 12)
    0.25
    """
    return float(np.arccos(1 / np.sqrt(check_real(K, "K", 1, np.inf, "a real number >= 1"))))


def _closed_form_ranges(n: int) -> tuple[float, float, float]:
    """Largest ``K`` with one mode, largest with two, and smallest with one or two neighbours."""
    if n == 2:
        return 2.0, 2.0, 1.0
    if n % 2:
        one_mode = 1 + 1 / np.cos(np.pi / n)
        return one_mode, one_mode, n / one_mode
    c = np.cos(2 * np.pi / n)
    return 2.0, 2 + 2 / (1 + 2 * c), n * (1 + 2 * c) / (4 + 4 * c)


def _ring_solution(row: Array, K: float, radius: float) -> RingSolution:
    n, q = row.size, np.fft.fft(row).real
    value = check_radius(radius) ** 2 * n * float(np.cos(2 * np.pi * np.arange(n) / n) @ row)
    return RingSolution(n=n, K=float(K), value=value, row=row, eigenvalues=q)
