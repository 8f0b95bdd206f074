"""Projection on the spectraplex from whichever end of the spectrum has fewer eigenvectors to follow."""

from __future__ import annotations

from .._numerics.arrays import Array
from .._numerics.projections import lift
from .._points.forms import DensePoint, SpectralPoint
from ._trailing_block import TrailingBlock, project_by_complement, trailing_pays, trailing_size
from ._warm_eigenspace import LeadingProjector, WarmBlock


class ThinEndProjector(LeadingProjector):
    """Points of ``J + {W psd, W u = 0, tr W = total}`` for a sequence of similar matrices, each an array.

    Low ranks are followed by their eigenvectors, nearly full ones by those that are missing; those between are
    decomposed in full. The point is factored or dense accordingly.
    """

    _trailing: TrailingBlock | None = None  # the missing eigenvectors of the last matrix, where they are few

    def carried(self) -> WarmBlock | TrailingBlock | None:
        """What `carry_on` needs to go on exactly as this object would; None before there is a block."""
        return self.state() if self._trailing is None else self._trailing

    def carry_on(self, block: WarmBlock | TrailingBlock | None, template: Array) -> None:
        """Take over the block of an earlier run, if it had one."""
        if isinstance(block, TrailingBlock):
            self._trailing = block.like(template) if block.fits(self.fixed.n) else None
        else:
            self.restore(block, template)

    def nearest(self, A: Array) -> tuple[SpectralPoint | DensePoint, int]:
        """The point nearest to the symmetric `A`, and the rank of its ``W``."""
        if self._trailing is not None:
            full = project_by_complement(A, self.total, self.fixed, self._trailing)
            self._trailing = full.block if full is not None and trailing_pays(self.fixed.n, full.rank) else None
            if full is not None:
                return DensePoint(full.Q), full.rank
        U, weights = self.project(A)
        return SpectralPoint(U, weights, self.fixed), weights.shape[0]

    def _keep(self, values: Array, Z: Array, rank: int) -> None:
        super()._keep(values, Z, rank)
        if self._warm is None and trailing_pays(self.fixed.n, rank):
            size = trailing_size(self.fixed.n, rank)
            self._trailing = TrailingBlock(lift(Z[:, :size], self.fixed), values[:size], float(values[-1]), 0)
