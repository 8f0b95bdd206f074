"""`Gram`: the matrix of inner products, kept in the cheapest form that determines it."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import cast

import numpy as np
import scipy.linalg as la
from numpy.typing import ArrayLike

from .._numerics.arrays import UNIT_ROUNDOFF, Array, Data, Sparse, Table, device, freeze, gamma, is_sparse, like
from .._numerics.fixed_vector import FixedVector, Ones, Weighted
from .._numerics.validation import (
    DEFINITE_TOLERANCE,
    check_definite,
    check_diagonal,
    check_distances,
    check_square,
    check_table,
)
from .centring import (
    CentringError,
    Frame,
    centring_error,
    differences,
    kernel_roots,
    mean_of_rows,
    origin_of,
    scaled_rows,
    weighted_size,
)
from .float_range import matched_roots, power_of_two, roots_of, tame, warn_of_scale, within_range


class Gram:
    """The centred Gram matrix ``D = P X X' P`` of `n` points, ``P = I - 11'/n``.

    With weights ``w`` it is that of the weighted program, ``D = P diag(q) X X' diag(q) P`` with ``q = sqrt(w)`` and
    ``P = I - qq'/q'q``: points are centred on their weighted mean, then scaled. See ``docs/weights.md``.

    Make one with `from_data`, `from_kernel` or `from_distances`. From data, ``D`` is never formed unless asked
    for: products go through ``X``. All values are in the units of the input. Only where its squares would leave
    float64 (numbers above 1e70, or all below 1e-70) the input is divided by a power of two, a warning says so,
    and `unit` is the factor that brings values back.

    Attributes
    ----------
    n : int
        Number of points.
    trace, norm : float
        Trace and Frobenius norm of ``D``.
    unit : float
        Values are in multiples of this; 1 except for extreme scales.
    magnitude : float
        Bound on the spectral norm of `formed` with all its entries made positive.
    forming_error : float
        Bound on the spectral norm of the rounding error in `formed`.
    roots : array of shape (n,) or None
        The roots ``q`` of the weights; None without weights.
    fixed : FixedVector
        The unit vector ``u`` with ``Q u = u``: ``q/|q|``, without weights that of ones.

    Examples
    --------
    >>> import numpy as np
    >>> gram = Gram.from_data([[0.0, 0.0], [2.0, 0.0], [1.0, 3.0]])
    >>> gram.trace
    8.0
    >>> bool(np.allclose(gram.dense().sum(axis=0), 0))
    True
    """

    def __init__(
        self,
        *,
        factor: Table | None = None,
        kernel: Array | None = None,
        unit: float = 1.0,
        spread: float = 0.0,
        frame: Frame | None = None,
        roots: Array | None = None,
    ):
        given = factor if factor is not None else kernel
        if given is None:
            raise TypeError("Gram must have a factor or a kernel, got neither. Make one with Gram.from_data(X).")
        self.n, self.unit, self.roots = int(given.shape[0]), unit, roots
        # With weights also the table before scaling: new points are compared with that.
        self._given = None if roots is None else given
        self._factor = factor if roots is None or factor is None else scaled_rows(factor, roots)
        self._kernel = kernel if roots is None or kernel is None else kernel * np.outer(roots, roots)
        self.frame = frame or Frame()
        self._spread = spread  # norm of the data before the mean was subtracted
        self._copies: dict[tuple[str, ...], Array] = {}
        self.fixed: FixedVector = Ones(self.n) if roots is None else Weighted(roots / la.norm(roots))
        self.trace, self.norm, self.magnitude, self.forming_error = self._measure()
        freeze(self.contents())  # its measures are those of these numbers

    @classmethod
    def from_data(cls, X: Data, *, weights: ArrayLike | None = None) -> Gram:
        """Inner products of the rows of `X` (array, data frame or sparse matrix), about their (weighted) mean.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
        weights : array-like of shape (n,), optional
            Positive; a weight of three is three equal points, and only ratios matter to the solution.
        """
        table = check_table(X, of_points=True)
        roots, scale = roots_of(weights, table.shape[0])
        if is_sparse(table):
            table, exponent = tame(table, "X")
            roots, scale = matched_roots(roots, scale, weighted_size(table, roots))
            return cls(factor=table, unit=power_of_two(2 * (exponent + scale)), frame=Frame(exponent), roots=roots)
        # Differences to one row first: a large common mean then costs no digits, and equal points become exactly zero.
        rows, origin, first = differences(table, origin_of(roots))
        del table  # where it is a converted copy, it need not outlive the differences
        rows, second = within_range(rows)
        if first + second:
            warn_of_scale("X", first + second)
        roots, scale = matched_roots(roots, scale, weighted_size(rows, roots))
        spread = float(la.norm(rows if roots is None else scaled_rows(rows, roots)))
        mean = mean_of_rows(rows, roots)
        frame, unit = Frame(first, origin, second, mean), power_of_two(2 * (first + second + scale))
        return cls(factor=rows - mean, unit=unit, spread=spread, frame=frame, roots=roots)

    @classmethod
    def from_kernel(cls, D: Data, *, weights: ArrayLike | None = None, allow_indefinite: bool = False) -> Gram:
        """A symmetric positive semidefinite kernel matrix, centred on the fly; `weights` as for `from_data`.

        With `allow_indefinite` any symmetric matrix is taken: the problem and its certificate stay meaningful
        (adding ``c I`` moves every value by exactly ``c K``), only the picture of points in space is lost.
        """
        kernel, exponent = tame(check_square(D, "kernel"), "kernel")
        roots, scale = kernel_roots(kernel, weights)
        gram = cls(kernel=kernel, unit=power_of_two(exponent + 2 * scale), frame=Frame(exponent), roots=roots)
        if not allow_indefinite:
            rounding = 8 * gram.n * UNIT_ROUNDOFF * float(np.abs(gram.formed()).max())
            check_definite(gram.dense(), DEFINITE_TOLERANCE * gram.norm + max(rounding, np.finfo(float).tiny))
        return gram

    @classmethod
    def from_distances(cls, distances: Data, *, weights: ArrayLike | None = None) -> Gram:
        """Inner products that belong to a symmetric matrix of distances: ``-d^2/2``, centred.

        Distances need not be Euclidean; an indefinite result is allowed. They must be zero on the diagonal. `weights`
        as for `from_data`.
        """
        lengths = check_square(distances, "distances")
        check_distances(lengths)
        check_diagonal(lengths)
        lengths, exponent = tame(lengths, "distances")
        kernel = -(lengths**2) / 2
        roots, scale = kernel_roots(kernel, weights)
        return cls(kernel=kernel, unit=power_of_two(2 * (exponent + scale)), frame=Frame(exponent), roots=roots)

    def __repr__(self) -> str:
        form = ("factored" if self.is_factored else "dense") + ("" if self.roots is None else ", weighted")
        return f"Gram(n={self.n}, trace={self.trace:.6g}, {form})"

    @property
    def is_factored(self) -> bool:
        """Whether ``D`` is known as ``X X'`` with a dense centred ``X``."""
        return self._factor is not None and not is_sparse(self._factor)

    @property
    def factor(self) -> Array | None:
        """The centred (and scaled) ``X`` with ``D = X X'``; None for kernels and sparse data."""
        return None if is_sparse(self._factor) else self._factor

    @property
    def kernel(self) -> Array | None:
        """The kernel matrix as given, up to `unit` and weights and not centred; None for data."""
        return self._kernel

    @property
    def sparse(self) -> Sparse | None:
        """The sparse, uncentred (but scaled) ``X``, or None."""
        return self._factor if is_sparse(self._factor) else None

    @property
    def table(self) -> Table:
        """The points without their weights: centred rows, uncentred sparse rows, or the kernel matrix."""
        return self._held if self._given is None else self._given

    @property
    def _held(self) -> Table:
        """The one matrix that determines ``D``: the rows or, without them, the kernel."""
        return cast("Table", self._kernel if self._factor is None else self._factor)

    def contents(self) -> list[Array]:
        """The arrays that determine ``D`` and the program."""
        held, weights = self._held, [] if self.roots is None else [self.roots]
        return [held.data, held.indices, held.indptr, *weights] if is_sparse(held) else [held, *weights]

    def __matmul__(self, V: Array) -> Array:
        """``D V`` for a NumPy vector or matrix ``V``."""
        held = self._held
        if self.is_factored:
            return held @ (held.T @ V)
        V = self.fixed.centre(V)
        DV = held @ V if self._factor is None else held @ (held.T @ V)
        return self.fixed.centre(DV)

    def formed(self) -> Array:
        """A new n x n NumPy matrix that equals ``D`` on the complement of the `fixed` vector.

        Enough for bounds and eigenvalues there, and free of the rounding that centring a kernel would add.
        """
        held = self._held
        if is_sparse(held):
            return np.asarray((held @ held.T).toarray())
        return held.copy() if self._factor is None else held @ held.T

    def factor_like(self, template: Array) -> Array | None:
        """The centred ``X`` in the library, on the device and in the precision of `template`; None if there is none."""
        X = self.factor
        return None if X is None else self._kept("factor", lambda: X, template)

    def formed_like(self, template: Array) -> Array:
        """`formed` of a kernel or of sparse data, in the library, on the device and in the precision of `template`."""
        return self._kept("formed", self.formed, template)

    def _kept(self, name: str, make: Callable[[], Array], template: Array) -> Array:
        """One converted copy per name, library, device and precision: conversions are not repeated at every look."""
        key = (name, type(template).__module__, str(device(template)), str(template.dtype))
        if key not in self._copies:
            self._copies[key] = like(make(), template)
        return self._copies[key]

    def __getstate__(self) -> dict[str, object]:
        return {**self.__dict__, "_copies": {}}

    def dense(self) -> Array:
        """``D`` itself, n x n: rows and columns sum to zero, with weights after multiplication by their roots."""
        D = self.formed()
        if not self.is_factored:
            D = self.fixed.centre_both(D)
        return (D + D.T) / 2

    def diagonal(self) -> Array:
        """Squared distances of the points from their mean, without their weights."""
        if self.is_factored:
            return np.sum(np.asarray(self.table) ** 2, axis=1)
        squares = np.diagonal(self.dense())
        return squares if self.roots is None else squares / self.roots**2

    def inner(self, Q: Array) -> float:
        """``<D, Q>`` for a dense symmetric NumPy ``Q``."""
        X = self.factor
        if X is not None:
            return float(np.sum((Q @ X) * X))
        return float(np.sum(self.dense() * Q))

    @property
    def centring_error(self) -> float:
        """Bound on how far centring in float64 can have moved any ``<D, Q - J>``."""
        return self._centring.off_mean

    @property
    def value_error(self) -> float:
        """Bound on how far centring in float64 can have moved any value ``<D, Q>``, an error of the mean included."""
        return self._centring.of_value

    @property
    def _centring(self) -> CentringError:
        """Kernels and sparse data are not centred before use."""
        norm = math.sqrt(self.trace) if self.is_factored else 0.0
        return centring_error(norm, self._spread, self.n, is_weighted=self.fixed.is_weighted)

    @property
    def trace_error(self) -> float:
        """Bound on the error of `trace`.

        Sums of n terms and, for kernels and sparse data, the centring of `formed`, which costs less than ``16 n``
        roundings of its `magnitude`; `forming_error` has at least nine of them.
        """
        rounding = 4 * self.n * UNIT_ROUNDOFF * abs(self.trace) + 4 * self.n * self.forming_error
        return rounding + self.value_error

    @property
    def is_of_points(self) -> bool:
        """Whether it was made of points: no value ``<D, Q>`` and no inertia is then negative."""
        return self._factor is not None

    def _measure(self) -> tuple[float, float, float, float]:
        X = self.factor
        if X is not None:
            trace = float(np.sum(X * X))
            small = X.T @ X if X.shape[1] < self.n else X @ X.T
            return trace, float(la.norm(small)), trace, gamma(X.shape[1] + 9) * trace
        D = self.formed()
        row_sums = np.abs(D).sum(axis=0)
        inner = self.fixed.centre(self.fixed.centre(D).T)
        depth = 9 if self._factor is None else self._factor.shape[1] + 9
        # Four more roundings where weights scale rows and columns: of both roots and of both products.
        depth += 0 if self.roots is None else 4
        size = float(np.abs(D).trace()) if self._factor is not None else float(row_sums.max())
        return float(inner.trace()), float(la.norm(inner)), size, gamma(depth) * size
