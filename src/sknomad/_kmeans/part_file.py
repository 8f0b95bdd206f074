"""Certificates by parts as files: claims, labels, part numbers, bounds, and the multipliers where they were kept."""

from __future__ import annotations

import os

from .._files.archive import Header
from .._numerics.arrays import Array
from .._solving.certificate_file import write_certificate
from .part_proof import PartProofs

CLAIM = "kmeans_parts"


def write_part_certificate(path: str | os.PathLike[str], header: Header, labels: Array, proofs: PartProofs) -> None:
    """Write a file that `verify_certificate` reads."""
    arrays = {"labels": labels, "numbers": proofs.numbers, "bounds": proofs.bounds, "scales": proofs.scales}
    arrays |= {f"N{part}": lower for part, lower in enumerate(proofs.triangles) if lower is not None}
    write_certificate(path, {**header, "claim": CLAIM, "point": None}, arrays)
