"""Finished parts in a folder: a file each, so that nothing that was computed is lost, and none is believed unseen."""

from __future__ import annotations

import hashlib
import os
import re
from pathlib import Path

import numpy as np

from .._files.archive import FormatError, Kind, read_archive, write_archive
from .._numerics.arrays import Array, Table
from .._solving.checkpoint import CheckpointError
from .part_proof import Triangle, bound_of_part, gram_of_part
from .part_solve import PartBound, cost_of

REMEDY = "Name another folder, or delete this one to start again."
DIVISION = Kind("division", 1, REMEDY, CheckpointError)
PART = Kind("part", 1, REMEDY, CheckpointError)
DIVISION_NAME, PART_NAME = "division.sknomad", re.compile(r"part-([0-9]+)\.sknomad")


class PartFolder:
    """The folder that keeps a bound by parts.

    Parameters
    ----------
    path : path
        Made if it is not there; the folder it is in must be.
    digest : str
        Of the data and the number of clusters.
    codes : array of shape (n,)
        The clustering.
    grade : str
        Of the proofs.
    """

    def __init__(self, path: str | os.PathLike[str], digest: str, codes: Array, grade: str):
        self.path, self.grade = Path(path), grade
        labels = hashlib.sha256(np.ascontiguousarray(codes, dtype=np.int32).tobytes()).hexdigest()
        self.owner = {"data": digest, "labels": labels}
        try:
            self.path.mkdir(exist_ok=True)
        except OSError as error:
            raise CheckpointError(
                f"checkpoint must be a folder, or a place for one in an existing folder, got {str(path)!r}: "
                f"{error.strerror or error}. Make the folder first."
            ) from error

    def numbers(self, wanted: int) -> Array | None:
        """The division into as many parts as `wanted` that was begun here; None where there is none."""
        if not (self.path / DIVISION_NAME).exists():
            return None
        _, header, arrays = read_archive(self.path / DIVISION_NAME, DIVISION)
        numbers = arrays.get("numbers", np.empty(0))
        if {name: header.get(name) for name in self.owner} != self.owner:
            raise self._of_another("problem")
        if numbers.ndim != 1 or numbers.dtype.kind != "i" or int(numbers.max(initial=-1)) + 1 != wanted:
            raise self._of_another("division into parts")
        return numbers

    def begin(self, numbers: Array) -> None:
        """Note which point is in which part; a folder that knows another division is refused."""
        path = self.path / DIVISION_NAME
        if path.exists():
            _, header, arrays = read_archive(path, DIVISION)
            if {name: header.get(name) for name in self.owner} != self.owner:
                raise self._of_another("problem")
            if not np.array_equal(arrays.get("numbers", np.empty(0)), numbers):
                raise self._of_another("division into parts")
        else:
            write_archive(path, DIVISION, self.owner, {"numbers": numbers})

    def _of_another(self, what: str) -> CheckpointError:
        return CheckpointError(
            f"checkpoint must belong to this {what}, got {str(self.path)!r} of another one. {REMEDY}"
        )

    def finished(self) -> list[int]:
        """Parts that have a file."""
        found = (PART_NAME.fullmatch(path.name) for path in self.path.iterdir())
        return sorted(int(match[1]) for match in found if match)

    def read(
        self, part: int, rows: Table, codes: Array, weights: Array | None, K: int, centres: Array
    ) -> PartBound | None:
        """What the file of a part proves, computed again; None where it is damaged: the part is then done again."""
        try:
            _, header, arrays = read_archive(self._file(part), PART)
            triangle = Triangle(arrays["N"], float(header["scale"])) if "N" in arrays else None
            seconds = float(header["seconds"])
        except (FormatError, KeyError, TypeError, ValueError):
            return None
        bound = bound_of_part(gram_of_part(rows, weights), K, triangle, self.grade)
        return PartBound(bound, triangle, seconds, cost_of(rows, codes, weights, centres))

    def write(self, part: int, found: PartBound) -> None:
        """Keep a finished part that something is proven of."""
        if found.triangle is not None:
            header = {"scale": found.triangle.scale, "seconds": found.seconds}
            write_archive(self._file(part), PART, header, {"N": found.triangle.lower})

    def _file(self, part: int) -> Path:
        return self.path / f"part-{part:06d}.sknomad"
