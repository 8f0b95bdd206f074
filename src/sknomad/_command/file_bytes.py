"""The bytes of a file, or of standard input, unpacked if they are compressed."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import sys
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from .raw_table import TableError

STANDARD_INPUT = "-"
# First bytes of compressed files, and what unpacks them; names may lie.
UNPACKERS: dict[bytes, Callable[[bytes], bytes]] = {
    b"\x1f\x8b": gzip.decompress,
    b"BZh": bz2.decompress,
    b"\xfd7zXZ\x00": lzma.decompress,
}
COMPRESSED = (".gz", ".bz2", ".xz", ".zip")
ZIP = b"PK\x03\x04"


class FileBytes(NamedTuple):
    """A file's name without what only says that it is compressed, and its contents."""

    name: str
    data: bytes

    @property
    def suffix(self) -> str:
        """The end of the name from its last dot on, in small letters."""
        return Path(self.name).suffix.lower()


def read_bytes(path: Path) -> FileBytes:
    """The contents of `path`, or of standard input where it is ``-``."""
    if str(path) == STANDARD_INPUT:
        return unpack("standard input", sys.stdin.buffer.read())
    if not path.is_file():
        raise TableError(f"FILE must be an existing file or a folder of images, got {str(path)!r}. Check the path.")
    try:
        return unpack(path.name, path.read_bytes())
    except OSError as error:
        raise TableError(f"FILE must be readable, got {str(path)!r}: {error.strerror or error}.") from error


def unpack(name: str, data: bytes) -> FileBytes:
    """The same where nothing is compressed; of a zip archive, its only file.

    Examples
    --------
    >>> import gzip
    >>> unpack("table.csv.gz", gzip.compress(b"1,2"))
    FileBytes(name='table.csv', data=b'1,2')
    """
    try:
        for start, decompress in UNPACKERS.items():
            if data.startswith(start):
                return FileBytes(_plain_name(name), decompress(data))
        if data.startswith(ZIP) and not name.lower().endswith(".npz"):
            return _only_member(name, data)
    except (OSError, EOFError, lzma.LZMAError, zlib.error, zipfile.BadZipFile, RuntimeError) as error:
        raise TableError(f"FILE must be intact, got {name!r}, which cannot be unpacked: {error}.") from error
    return FileBytes(name, data)


def _only_member(name: str, data: bytes) -> FileBytes:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = [info for info in archive.namelist() if not info.endswith("/") and not info.startswith("__MACOSX/")]
        if any(member.endswith(".npy") for member in members):
            return FileBytes(f"{name}.npz", data)
        if "[Content_Types].xml" in members:
            raise TableError(f"FILE must be a table that can be read here, got the workbook {name!r}. Save it as CSV.")
        if len(members) != 1:
            raise TableError(f"FILE must hold one table, got {len(members)} files in {name!r}. Unpack one.")
        return FileBytes(Path(members[0]).name, archive.read(members[0]))


def _plain_name(name: str) -> str:
    """`name` without the suffix of a compressed file."""
    return name.removesuffix(Path(name).suffix) if Path(name).suffix.lower() in COMPRESSED else name
