"""Checkpoints: the whole state of a run in one file that is either complete and intact, or refused.

A file is a magic word, the SHA-256 of what follows, and an npz archive of plain arrays with a JSON header: no pickle.
It is written beside its place and renamed, so a run killed at any moment leaves the last complete one.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np

from ._arrays import Array, to_numpy
from ._points import DensePoint, FactorPoint, MixedPoint, Point, SoftPoint, SpectralPoint
from ._problem import KMeansSDP
from ._solution import Iterate, NegativePart

MAGIC = b"sknomad-checkpoint-1\n"
DIGEST_SIZE = hashlib.sha256().digest_size

POINT_TYPES: dict[str, Any] = {
    "dense": (DensePoint, ("Q",)),
    "spectral": (SpectralPoint, ("U", "l")),
    "soft": (SoftPoint, ("V",)),
    "factor": (FactorPoint, ("Y",)),
}


class CheckpointError(ValueError):
    """The file is not an intact checkpoint of this problem; the message is one sentence for the user."""


def save_checkpoint(path: Path, problem: KMeansSDP, solver: Any, iterate: Iterate, numbers: dict[str, Any],
                    arrays: dict[str, Array], point: MixedPoint | None) -> None:  # fmt: skip
    """Write the state of a run: the solver's last iterate, the best point, numbers and arrays of the loop."""
    stored: dict[str, Array] = {f"loop.{name}": array for name, array in arrays.items() if array is not None}
    header = {
        "problem": fingerprint(problem),
        "solver": repr(solver),
        "numbers": numbers,
        "iterate": _pack_iterate(iterate, stored),
        "point": None if point is None else _pack_point(point, "best", stored),
    }
    buffer = io.BytesIO()
    contents: dict[str, Any] = {name: np.asarray(to_numpy(array)) for name, array in stored.items()}
    np.savez(buffer, header=np.array(json.dumps(header)), **contents)
    payload = buffer.getbuffer()
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    with temporary.open("wb") as file:
        file.write(MAGIC + hashlib.sha256(payload).digest())
        file.write(payload)
        file.flush()
        os.fsync(file.fileno())
    os.replace(temporary, path)


class Checkpoint:
    """An intact file, read: numbers, arrays, the iterate to continue from and the best point so far."""

    def __init__(self, path: Path, problem: KMeansSDP, solver: Any):
        header, stored = _read(path)
        for name, here in (("problem", fingerprint(problem)), ("solver", repr(solver))):
            if header[name] != here:
                raise CheckpointError(
                    f"checkpoint must belong to this {name}, got {str(path)!r} of another one. "
                    "Name another file, or delete this one to start again."
                )
        self.numbers: dict[str, Any] = header["numbers"]
        self.arrays = {name[5:]: array for name, array in stored.items() if name.startswith("loop.")}
        self.iterate = _unpack_iterate(header["iterate"], stored)
        self.point = None if header["point"] is None else _unpack_point(header["point"], "best", stored)


def fingerprint(problem: KMeansSDP) -> str:
    """A digest of the question: K and the data."""
    digest = hashlib.sha256(f"{problem.K!r} {problem.n}".encode())
    for part in problem.gram.contents():
        digest.update(np.ascontiguousarray(part).tobytes())
    return digest.hexdigest()


def _read(path: Path) -> tuple[dict[str, Any], dict[str, Array]]:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise CheckpointError(f"checkpoint must be a readable file, got {str(path)!r}: {error.strerror}.") from error
    start = len(MAGIC) + DIGEST_SIZE
    payload = memoryview(data)[start:]
    if data[: len(MAGIC)] != MAGIC or hashlib.sha256(payload).digest() != data[len(MAGIC) : start]:
        raise CheckpointError(
            f"checkpoint must be an intact file written by this version, got {str(path)!r}, which is damaged or "
            "something else. Delete it to start again."
        )
    try:
        with np.load(io.BytesIO(payload), allow_pickle=False) as archive:
            stored = {name: archive[name] for name in archive.files}
        return json.loads(str(stored.pop("header"))), stored
    except (ValueError, KeyError, BadZipFile, EOFError) as error:
        raise CheckpointError(f"checkpoint must hold a run, got {str(path)!r}: {error}. Delete it.") from error


def _pack_iterate(iterate: Iterate, stored: dict[str, Array]) -> dict[str, Any]:
    scalars = {}
    for name, value in iterate.extra.items():
        if hasattr(value, "shape"):
            stored[f"extra.{name}"] = value
        else:
            scalars[name] = value
    weight = None
    if isinstance(iterate.N, NegativePart):
        weight = iterate.N.weight  # its array is the state "T", stored already
    elif iterate.N is not None:
        stored["N"] = iterate.N
    return {
        "point": _pack_point(iterate.point, "iterate", stored),
        "scalars": scalars,
        "weight": weight,
        "residuals": dict(iterate.residuals),
    }


def _unpack_iterate(header: dict[str, Any], stored: dict[str, Array]) -> Iterate:
    extra = {name[6:]: array for name, array in stored.items() if name.startswith("extra.")} | header["scalars"]
    N: Any = stored.get("N")
    if header["weight"] is not None:
        N = NegativePart(extra["T"], header["weight"])
    return Iterate(_unpack_point(header["point"], "iterate", stored), N, header["residuals"], extra)


def _pack_point(point: Point, name: str, stored: dict[str, Array]) -> dict[str, Any]:
    if isinstance(point, MixedPoint):
        return {"identity": point.identity, "mean": point.mean, "base": _pack_point(point.base, name, stored)}
    kind = next(key for key, (cls, _) in POINT_TYPES.items() if isinstance(point, cls))
    for attribute in POINT_TYPES[kind][1]:
        stored[f"{name}.{attribute}"] = getattr(point, attribute)
    return {"kind": kind}


def _unpack_point(header: dict[str, Any], name: str, stored: dict[str, Array]) -> Any:
    if "base" in header:
        return MixedPoint(_unpack_point(header["base"], name, stored), header["identity"], header["mean"])
    cls, attributes = POINT_TYPES[header["kind"]]
    return cls(*(stored[f"{name}.{attribute}"] for attribute in attributes))
