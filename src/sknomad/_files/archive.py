"""The one file format of this library: arrays and JSON that are either complete and intact, or refused.

A file is a line ``sknomad-KIND-FORMAT``, the SHA-256 of that line and of all that follows, and a zip archive of
``header.json`` and of NumPy's ``.npy`` arrays, little-endian and stored without compression: nothing can unpack to more
than the file's own length. There is no pickle in it and none is ever read. It is written beside its place and renamed,
so whatever happens on the way leaves the old file as it was.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
import os
import re
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, Any, NamedTuple, TypeAlias, cast

import numpy as np

from .._numerics.arrays import Array, to_numpy
from .atomic import written_whole

FIRST_LINE = re.compile(rb"sknomad-([a-z]{1,20})-([0-9]{1,6})\n")
LONGEST_LINE = 40
DIGEST_SIZE = hashlib.sha256().digest_size
CHUNK = 2**20

HEADER = "header.json"
MEMBER = re.compile(r"[A-Za-z0-9_.\-]{1,200}")
# Python's values take many times the bytes of their JSON, an empty list twenty times: bytes and values are counted
# before any is made. Arrays, histories among them, are not in the header.
LARGEST_HEADER, MOST_NODES = 2**23, 2**18
LARGEST_ARRAY_HEADER = 4096
# Kinds of numbers that mean the same everywhere: truth values, integers, floats of up to 64 bits, text.
KINDS, LARGEST_ITEM = "biufU", 8
EARLIEST_DATE = (1980, 1, 1, 0, 0, 0)


# A JSON object that was read: anything may be in it, and whoever uses it checks what he finds.
Header: TypeAlias = Mapping[str, Any]


class FormatError(ValueError):
    """The file is not what it should be; the message is one sentence for the user.

    Examples
    --------
    >>> from sknomad import load
    >>> try:
    ...     load(__file__)
    ... except FormatError as error:
    ...     print(str(error).partition(",")[0])
    model must be an intact file that sknomad wrote
    """


class Archive(NamedTuple):
    """An intact file, read."""

    format: int
    header: Header
    arrays: dict[str, Array]


class Kind(NamedTuple):
    """What a file is, in its first line and in messages, and what to do about one that is not."""

    name: str
    newest: int  # format that is written
    remedy: str
    error: type[FormatError] = FormatError
    oldest: int = 1  # format that is still read


def write_archive(
    path: str | os.PathLike[str], kind: Kind, header: Mapping[str, object], arrays: Mapping[str, Array]
) -> None:
    """Write a file, atomically; an error leaves what was there.

    Parameters
    ----------
    path : path
    kind : Kind
    header : what JSON can hold
    arrays : mapping of str to array
        Of truth values, integers, floats or text.
    """
    line = f"sknomad-{kind.name}-{kind.newest}\n".encode()
    with written_whole(path) as file:
        file.write(line + bytes(DIGEST_SIZE))
        _write_zip(file, header, arrays)
        digest = _digest(file, line)
        file.seek(len(line))
        file.write(digest)


def _write_zip(file: IO[bytes], header: Mapping[str, object], arrays: Mapping[str, Array]) -> None:
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        text = json.dumps(header, allow_nan=False).encode()
        if not _is_moderate(text):
            raise ValueError(
                f"a header must have at most {LARGEST_HEADER} bytes and {MOST_NODES} values, got {len(text)} bytes. "
                "Shorten names and texts."
            )
        archive.writestr(zipfile.ZipInfo(HEADER, EARLIEST_DATE), text)
        for name, array in arrays.items():
            array = portable(array)
            with archive.open(zipfile.ZipInfo(f"{name}.npy", EARLIEST_DATE), "w", force_zip64=True) as member:
                np.lib.format.write_array(member, array, version=(1, 0), allow_pickle=False)


def _is_moderate(header: bytes) -> bool:
    """Whether JSON can be read at little cost: every value beyond the first follows one of these characters."""
    return len(header) <= LARGEST_HEADER and sum(map(header.count, (b",", b"[", b"{", b":"))) <= MOST_NODES


def portable(array: Array) -> Array:
    """The array as NumPy's, little-endian; a TypeError for numbers that do not mean the same everywhere."""
    array = np.asarray(to_numpy(array))
    if not is_portable(array.dtype):
        raise TypeError(f"arrays to be saved must hold truth values, integers, floats or text, got {array.dtype}.")
    return array.astype(array.dtype.newbyteorder("<"), copy=False)


def is_portable(dtype: np.dtype[np.generic]) -> bool:
    """Whether a dtype is one of those that a file may hold."""
    return dtype.kind in KINDS and dtype.itemsize > 0 and (dtype.kind == "U" or dtype.itemsize <= LARGEST_ITEM)


def read_archive(path: str | os.PathLike[str], kind: Kind) -> Archive:
    """Read a file that `write_archive` wrote, or raise the error of its kind."""

    def refuse(reason: str) -> FormatError:
        return kind.error(f"{kind.name} must be an intact file that sknomad wrote, got {str(path)!r}, {reason}.")

    try:
        with Path(path).open("rb") as file:
            format_number = _check_first_line(file, kind, refuse)
            return Archive(format_number, *_read_zip(file, refuse))
    except OSError as error:
        raise kind.error(
            f"{kind.name} must be a readable file, got {str(path)!r}: {error.strerror or error}."
        ) from error


def _check_first_line(file: IO[bytes], kind: Kind, refuse: Callable[[str], FormatError]) -> int:
    """The number of the format, after the digest has proven the file intact."""
    first = file.read(LONGEST_LINE)
    found = FIRST_LINE.match(first)
    damaged = f"which is damaged or something else. {kind.remedy}".rstrip(".")
    if found is None:
        raise refuse(damaged)
    line, name, number = found[0], found[1].decode(), int(found[2])
    if name == kind.name and number < kind.oldest:  # such a file may have had its sum elsewhere
        raise refuse(f"which has format {number}; this version reads from {kind.oldest} on. {kind.remedy}".rstrip("."))
    file.seek(len(line))
    if file.read(DIGEST_SIZE) != _digest(file, line):
        raise refuse(damaged)
    if name != kind.name:
        raise refuse(f"which is a {name}. {kind.remedy}".rstrip("."))
    if number > kind.newest:
        raise refuse(f"which has format {number}; this version reads up to {kind.newest}. Upgrade sknomad")
    return number


def _digest(file: IO[bytes], line: bytes) -> bytes:
    """SHA-256 of the first line and of all that follows the digest."""
    digest = hashlib.sha256(line)
    file.seek(len(line) + DIGEST_SIZE)
    while chunk := file.read(CHUNK):
        digest.update(chunk)
    return digest.digest()


def _read_zip(file: IO[bytes], refuse: Callable[[str], FormatError]) -> tuple[Header, dict[str, Array]]:
    size = file.seek(0, io.SEEK_END)
    try:
        with zipfile.ZipFile(file) as archive:
            members = archive.infolist()
            _check_members(members, size, refuse)
            arrays = {}
            for member in members:
                if member.filename != HEADER:
                    arrays[member.filename.removesuffix(".npy")] = _read_array(archive, member, refuse)
            if archive.getinfo(HEADER).file_size > LARGEST_HEADER:
                raise refuse("whose header is too long")
            header = archive.read(HEADER)
            if not _is_moderate(header):
                raise refuse("whose header is too long")
            return json.loads(header.decode()), arrays
    except FormatError:
        raise
    # NotImplementedError and RuntimeError: what zipfile says to odd versions and to encryption.
    except (zipfile.BadZipFile, ValueError, KeyError, EOFError, RecursionError, NotImplementedError,
            RuntimeError, OverflowError, SyntaxError, TypeError) as error:  # fmt: skip
        raise refuse(f"whose contents are not what they should be: {str(error).splitlines()[0][:200]}") from error


def _check_members(members: list[zipfile.ZipInfo], size: int, refuse: Callable[[str], FormatError]) -> None:
    """Plain names, each once, nothing compressed or encrypted, and no more bytes than the file has."""
    names = [member.filename for member in members]
    for member in members:
        plain = member.filename == HEADER or member.filename.endswith(".npy")
        if not plain or MEMBER.fullmatch(member.filename) is None or names.count(member.filename) > 1:
            raise refuse(f"which has a member {member.filename[:80]!r} that does not belong there")
        if member.compress_type != zipfile.ZIP_STORED or member.flag_bits & 1:
            raise refuse(f"whose member {member.filename!r} is compressed or encrypted")
        if member.file_size != member.compress_size:
            raise refuse(f"whose member {member.filename!r} claims another size than it has")
    if sum(member.file_size for member in members) > size:
        raise refuse("whose members claim more bytes than the file has")


def _read_array(archive: zipfile.ZipFile, info: zipfile.ZipInfo, refuse: Callable[[str], FormatError]) -> Array:
    """One array, its claims about itself checked before anything is allocated."""
    with cast("zipfile.ZipExtFile", archive.open(info)) as member:
        version = np.lib.format.read_magic(member)
        if version not in ((1, 0), (2, 0)):
            raise refuse(f"whose array {info.filename!r} is of a version unknown here")
        read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        shape, fortran_order, dtype = read(member, max_header_size=LARGEST_ARRAY_HEADER)
        if not is_portable(dtype) or dtype.byteorder == ">":
            raise refuse(f"whose array {info.filename!r} holds {dtype!s:.40}, which is never loaded")
        length = info.file_size - member.tell()
        if min(shape, default=0) < 0 or math.prod(shape) * dtype.itemsize != length:
            raise refuse(f"whose array {info.filename!r} has another shape than it claims")
        data = bytearray(length)
        view, position = memoryview(data), 0
        while position < length and (count := member.readinto(view[position : position + CHUNK])):
            position += count
        if position != length or member.read(1):
            raise refuse(f"whose array {info.filename!r} ends too soon")
    flat = np.frombuffer(data, dtype=dtype)
    return flat.reshape(shape, order="F" if fortran_order else "C")
