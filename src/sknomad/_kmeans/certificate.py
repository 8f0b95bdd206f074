"""`KMeansCertificate`: what is proven of a clustering."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass, field

from .._certificate.cuts import Multipliers
from .._files.records import saved
from .._numerics.arrays import Array
from .._numerics.validation import check_numbers
from .._solving.solution import Status
from .certificate_file import write_kmeans_certificate
from .part_proof import PartProofs, check_division


@saved
@dataclass(frozen=True)
class KMeansCertificate:
    """What is proven of a clustering: no clustering into `n_clusters` groups has an inertia below `lower_bound`.

    Examples
    --------
    >>> from sknomad import certify_kmeans
    >>> proof = certify_kmeans([[0.0], [1.0], [10.0], [11.0]], [0, 0, 1, 1])
    >>> proof.inertia, proof.gap < 1e-3
    (1.0, True)
    """

    inertia: float  # sum of squared distances to the means, of the clustering
    lower_bound: float  # at least 0; -inf where a kernel with negative squared distances tells nothing
    grade: str  # strength of the proof, see `certify`
    n_clusters: int  # most clusters that a clustering may have
    status: Status  # why the search for a better bound ended
    seconds: float  # spent on the search
    labels: Array = field(repr=False, compare=False)  # (n,) integers, the clustering
    multipliers: Multipliers | None = field(repr=False, compare=False)  # what the bound rests on; None: on nothing
    data: str = field(default="", repr=False, compare=False)  # digest of the data and of `n_clusters`
    parts: PartProofs | None = field(default=None, compare=False)  # what the bound rests on where it is one by parts

    def __post_init__(self) -> None:
        n = len(check_numbers(self.labels, "labels", (None,)))
        if self.multipliers is not None:
            check_numbers(self.multipliers.N, "N", (n, n))
        if self.parts is not None:
            check_division(self.parts.numbers, n, self.parts.count)
        if not self.lower_bound <= self.inertia:
            raise ValueError(f"lower_bound must be at most the inertia {self.inertia!r}, got {self.lower_bound!r}.")

    @property
    def gap(self) -> float:
        """Share of the inertia that a better clustering may save: ``(inertia - lower_bound) / |inertia|``."""
        if self.inertia == self.lower_bound:
            return 0.0
        return (self.inertia - self.lower_bound) / abs(self.inertia) if self.inertia else math.inf

    def __str__(self) -> str:
        by_parts = "" if self.parts is None else f", {self.parts.done} of {self.parts.count} parts"
        return (
            f"inertia {self.inertia:.10g}, no clustering into {self.n_clusters} groups has one below "
            f"{self.lower_bound:.10g} (gap {self.gap:.1e}, grade {self.grade}{by_parts})"
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write claim and proof to a file that others check from the data alone: ``sknomad verify FILE DATA``.

        Parameters
        ----------
        path : path
        """
        claimed = {"inertia": self.inertia, "lower_bound": self.lower_bound}
        write_kmeans_certificate(
            path, self.data, claimed, self.n_clusters, self.grade, self.labels, self.parts or self.multipliers
        )
