"""``D`` and ``N`` as a proof needs them: in float64, row block by row block, with their sums along the fixed vector."""

from __future__ import annotations

from typing import NamedTuple

from .._numerics.arrays import Array, device, double, namespace, row_slices
from .._program.gram import Gram
from .iterate import Multiplier, NegativePart

BLOCK_ROWS = 2048


class Terms(NamedTuple):
    """``D`` and ``N`` in float64, row block by row block; ``N`` is what its lower triangle says."""

    gram: Gram
    N: Multiplier  # (n, n)
    template: Array  # an empty float64 array of the library to compute in

    @property
    def state_template(self) -> Array:
        """An empty array in the precision of ``N``: enough for suggestions."""
        state = self.N.T if isinstance(self.N, NegativePart) else self.N
        return state[0, :0]

    @property
    def n(self) -> int:
        return self.gram.n

    @property
    def ones(self) -> Array:
        """The vector of ones, with weights ``sqrt(n) u``."""
        return self.gram.fixed.ones(self.template)

    def blocks(self) -> list[slice]:
        return row_slices(self.n, BLOCK_ROWS)

    def gram_rows(self, block: slice, stop: int) -> Array:
        """Rows of a matrix that equals ``D`` on the complement of the ones vector, up to column `stop`."""
        X = self.gram.factor_like(self.template)
        if X is not None:
            return X[block, :] @ X[:stop, :].T
        return self.gram.formed_like(self.template)[block, :stop]

    def plus_ones_times(self, rows: Array, a: Array, block: slice, stop: int) -> Array:
        """Rows of a matrix plus those of ``1 a' + a 1'``, up to column `stop`."""
        if not self.gram.fixed.is_weighted:  # no products, and none of their roundings
            return rows + a[block][:, None] + a[:stop][None, :]
        ones = self.ones
        return rows + ones[block][:, None] * a[:stop][None, :] + a[block][:, None] * ones[:stop][None, :]

    def multiplier_rows(self, block: slice, stop: int) -> Array:
        """Rows of the lower triangle of ``N``, zero above the diagonal."""
        xp = namespace(self.template)
        return lower_part(xp.clip(double(self._given_rows(block, stop)), min=0.0), block)

    def _given_rows(self, block: slice, stop: int) -> Array:
        """Rows of ``N`` as they are."""
        return self.N.rows(block, stop) if isinstance(self.N, NegativePart) else self.N[block, :stop]

    def apply(self, V: Array) -> Array:
        """``(D + N) V``, for a suggestion of eigenvectors only."""
        xp = namespace(V)
        X = self.gram.factor_like(V)
        product = X @ (X.T @ V) if X is not None else self.gram.formed_like(V) @ V
        if isinstance(self.N, NegativePart) and self.N.T.dtype == V.dtype:
            return product + self.N.times(V, self.blocks())
        rows = (self._given_rows(block, self.n) for block in self.blocks())
        return product + xp.concat([xp.astype(xp.clip(part, min=0.0), V.dtype) @ V for part in rows], axis=0)


class MultiplierSize(NamedTuple):
    """Sums over the symmetric ``N`` that its lower triangle stands for."""

    row_sums: Array  # (n,) N 1, with weights N times sqrt(n) u
    total: float  # 1'N1, with weights n u'Nu
    largest: float  # row sum, without weights
    is_finite: bool


def multiplier_size(terms: Terms) -> MultiplierSize:
    """Row sums of ``N``, from its lower triangle."""
    xp = namespace(terms.template)
    plain = _row_sums(terms, None)
    if not terms.gram.fixed.is_weighted:
        return MultiplierSize(plain, float(xp.sum(plain)), float(xp.max(plain)), bool(xp.all(xp.isfinite(plain))))
    row_sums = _row_sums(terms, terms.ones)
    is_finite = bool(xp.all(xp.isfinite(plain + row_sums)))
    return MultiplierSize(row_sums, float(terms.ones @ row_sums), float(xp.max(plain)), is_finite)


def _row_sums(terms: Terms, vector: Array | None) -> Array:
    """``N`` times a vector, from the lower triangle of ``N``; None is the vector of ones."""
    xp = namespace(terms.template)
    by_column = xp.zeros(terms.n, dtype=xp.float64, device=device(terms.template))
    by_row = []
    for block in terms.blocks():
        rows = terms.multiplier_rows(block, block.stop)
        diagonal = xp.linalg.diagonal(rows[:, block.start :])
        by_row.append(xp.sum(rows, axis=1) if vector is None else rows @ vector[: block.stop])
        by_column[: block.stop] += xp.sum(rows, axis=0) if vector is None else vector[block] @ rows
        # The diagonal was counted in both.
        by_column[block] -= diagonal if vector is None else diagonal * vector[block]
    return xp.concat(by_row) + by_column


def lower_part(rows: Array, block: slice) -> Array:
    """`rows` (of a matrix, up to some column) with everything above the diagonal set to zero."""
    return namespace(rows).tril(rows, k=block.start)
