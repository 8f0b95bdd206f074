"""Files and folders that appear whole or not at all: written beside their place, then renamed."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO


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
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise


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
            os.rename(staging, out)
        else:
            for path in staging.iterdir():
                os.replace(path, out / path.name)
    finally:
        shutil.rmtree(staging, ignore_errors=True)
