"""Files and folders that appear whole or not at all: written beside their place, then renamed."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO

# Seconds to wait before a rename is tried again that Windows refuses while somebody has the file open.
WAITS: tuple[float, ...] = (0.05, 0.2, 0.5) if os.name == "nt" else ()


@contextlib.contextmanager
def written_whole(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Context with a file to write, which takes the place of `path` in the end; an error leaves what was there.

    Examples
    --------
    >>> import os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with written_whole(os.path.join(folder, "greeting")) as file:
    ...         _ = file.write(b"hello")
    ...     os.listdir(folder)
    ['greeting']
    """
    path = Path(path)
    if not path.parent.is_dir():
        reason = "the folder of a file to be written must exist; make it first"
        raise FileNotFoundError(errno.ENOENT, reason, str(path.parent))
    temporary = path.with_name(f".{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
    try:
        with temporary.open("w+b") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        _take_place(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise


def _take_place(source: Path, target: Path) -> None:
    """Rename, replacing a file that is there."""
    for wait in WAITS:
        try:
            os.replace(source, target)
        except PermissionError:  # of a virus scanner or an indexer, most likely, which is soon done
            time.sleep(wait)
        else:
            return
    os.replace(source, target)


@contextlib.contextmanager
def folder_written_whole(out: Path) -> Iterator[Path]:
    """Context with a folder to fill, which takes the place of `out` in the end.

    A new folder appears by one rename. Into one that is there already the files are moved one by one, each whole.
    """
    out.parent.mkdir(parents=True, exist_ok=True)
    staging = Path(tempfile.mkdtemp(prefix=f".{out.name}.", dir=out.parent))
    try:
        yield staging
        staging.chmod(0o755)
        if not out.exists():
            _take_place(staging, out)
        else:
            for path in staging.iterdir():
                _take_place(path, out / path.name)
    finally:
        shutil.rmtree(staging, ignore_errors=True)
