"""The unit vector ``u`` with ``Q u = u``, and ``J = u u'``: where weights enter the program, and the only place.

Without weights it is `Ones`, the vector of ones over ``sqrt(n)``: nothing is multiplied by it. With weights ``w`` it is
`Weighted`, ``sqrt(w)`` over its norm. Both have the same methods, which are all that solvers and judge need of it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

import scipy.sparse as sp

from .arrays import Array, Sparse, device, like, namespace, to_numpy
from .validation import check_numbers

ALL = slice(None)


@dataclass(frozen=True)
class Ones:
    """The vector of ones over ``sqrt(n)``."""

    n: int
    is_weighted: ClassVar[bool] = False

    def like(self, template: Array) -> Ones:
        """The same for the library, device and precision of `template`."""
        return self

    def vector(self, template: Array) -> Array:
        """``u`` itself, a new vector like `template`."""
        value = 1 / math.sqrt(self.n)
        return namespace(template).full((self.n,), value, dtype=template.dtype, device=device(template))

    def ones(self, template: Array) -> Array:
        """``sqrt(n) u``, which has the place of the vector of ones."""
        return namespace(template).ones(self.n, dtype=template.dtype, device=device(template))

    def first_entry(self, template: Array) -> float:
        """``u_1``."""
        return 1 / math.sqrt(self.n)

    def centre(self, V: Array) -> Array:
        """Columns of `V`, or the vector `V`, without their part along ``u``."""
        return V - namespace(V).mean(V, axis=0)

    def centre_both(self, D: Array) -> Array:
        """The symmetric `D` without its rows' and its columns' part along ``u``."""
        means = D.mean(axis=0)
        return D - means - means[:, None] + means.mean()

    def rows(self, block: slice = ALL, weight: float = 1.0) -> float:
        """Rows of ``weight * J``: one number, as all entries are equal."""
        return weight / self.n

    def entries(self, i: Array, j: Array, weight: float = 1.0) -> float:
        """The entries ``[i, j]`` of ``weight * J``: one number, as all are equal."""
        return weight / self.n

    def times(self, columns: Array) -> Array:
        """``J`` times NumPy columns: one row, as all are equal."""
        return columns.mean(axis=0)

    def sums(self, columns: Array) -> Array:
        """``u'`` times NumPy columns, up to a factor."""
        return columns.sum(axis=0)

    def share_sums(self, rows: Array, block: slice) -> Array:
        """Sums over some points of their rows, each counted once."""
        return namespace(rows).sum(rows, axis=0)

    def scale_rows(self, V: Array) -> Array:
        """``diag(u) V``, up to a factor: `V` itself."""
        return V

    def scale_sparse_rows(self, V: Sparse) -> Sparse:
        """The same for a SciPy matrix."""
        return V

    def scale_pairs(self, rows: Array, block: slice) -> Array:
        """Rows of ``diag(u) Q diag(u)`` from those of ``Q``, up to a factor: `rows` themselves."""
        return rows

    def mean_value(self, N: Array) -> float:
        """``<N, J>``."""
        return float(namespace(N).sum(N)) / N.shape[0]

    def relative(self, Q: Array) -> Array:
        """Entries of `Q` in units of those of ``n J``: the matrix itself."""
        return Q

    def raise_entries(self, Q: Array, least: float) -> Array:
        """`Q` with every entry at least `least`, in units of those of ``n J``."""
        return namespace(Q).clip(Q, min=least)


@dataclass(frozen=True)
class Weighted:
    """The roots of weights over their norm."""

    q: Array  # (n,), in any array library
    is_weighted: ClassVar[bool] = True

    @property
    def n(self) -> int:
        """Number of points."""
        return int(self.q.shape[0])

    def like(self, template: Array) -> Weighted:
        """The same in the library, on the device and in the precision of `template`."""
        return Weighted(like(self.q, template))

    def vector(self, template: Array) -> Array:
        """``u`` itself, a new vector like `template`."""
        return namespace(template).asarray(like(self.q, template), copy=True)

    def ones(self, template: Array) -> Array:
        """``sqrt(n) u``, which has the place of the vector of ones."""
        return like(self.q, template) * math.sqrt(self.n)

    def first_entry(self, template: Array) -> float:
        """``u_1`` in the precision of `template`."""
        return float(like(self.q, template)[0])

    def centre(self, V: Array) -> Array:
        """Columns of `V`, or the vector `V`, without their part along ``u``."""
        q = like(self.q, V)
        return V - (q * (q @ V) if V.ndim == 1 else q[:, None] * (q @ V)[None, :])

    def centre_both(self, D: Array) -> Array:
        """The symmetric `D` without its rows' and its columns' part along ``u``."""
        return self.centre(self.centre(D).T)

    def rows(self, block: slice = ALL, weight: float = 1.0) -> Array:
        """Rows of ``weight * J``."""
        return weight * (self.q[block, None] * self.q[None, :])

    def entries(self, i: Array, j: Array, weight: float = 1.0) -> Array:
        """The entries ``[i, j]`` of ``weight * J``, NumPy."""
        q = to_numpy(self.q)
        return weight * (q[i] * q[j])

    def times(self, columns: Array) -> Array:
        """``J`` times NumPy columns."""
        q = to_numpy(self.q)
        return q[:, None] * (q @ columns)

    def sums(self, columns: Array) -> Array:
        """``u'`` times NumPy columns."""
        return to_numpy(self.q) @ columns

    def share_sums(self, rows: Array, block: slice) -> Array:
        """Sums over some points of their float64 rows, each times its share ``u_i^2`` of all weight."""
        q = like(self.q, rows, dtype=namespace(rows).float64)
        return q[block] ** 2 @ rows

    def scale_rows(self, V: Array) -> Array:
        """``diag(u) V``."""
        return V * like(self.q, V)[:, None]

    def scale_sparse_rows(self, V: Sparse) -> Sparse:
        """The same for a SciPy matrix."""
        return (sp.diags(to_numpy(self.q)) @ V).tocsr()

    def scale_pairs(self, rows: Array, block: slice) -> Array:
        """Rows of ``diag(u) Q diag(u)`` from those of ``Q``."""
        return rows * self.like(rows).rows(block)

    def mean_value(self, N: Array) -> float:
        """``<N, J>``."""
        q = like(self.q, N)
        return float(q @ (N @ q))

    def relative(self, Q: Array) -> Array:
        """Entries of `Q` in units of those of ``n J``."""
        return Q / (self.n * self.like(Q).rows())

    def raise_entries(self, Q: Array, least: float) -> Array:
        """`Q` with every entry at least `least`, in units of those of ``n J``."""
        return namespace(Q).maximum(Q, self.like(Q).rows(weight=least * self.n))


FixedVector: TypeAlias = Ones | Weighted

# Default of the points' constructors: the vector of ones, as long as the point turns out to be.
UNWEIGHTED: Any = None


def fixed_vector(given: FixedVector | Array | None, n: int) -> FixedVector:
    """What a constructor was given for ``u``: a `FixedVector`, the vector itself, or None for that of ones."""
    if given is None:
        return Ones(n)
    if not isinstance(given, Ones | Weighted):
        given = Weighted(check_numbers(given, "the fixed vector", (n,), finite=True))
    if given.n != n:
        raise ValueError(f"the fixed vector must have {n} entries, one per point, got {given.n}.")
    return given
