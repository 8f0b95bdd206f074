"""Files that others published: looked for in a folder and a cache, else downloaded with their checksum."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from urllib.parse import urlsplit

# Seconds to wait for a server to answer, and for the next piece of a file: a closed network may hang.
TIMEOUTS = (5.0, 30.0)
# Hosts that did not answer, and the error instead: this process does not ask them again.
_unreachable: dict[str, str] = {}


class DataUnavailableError(OSError):
    """A data set is neither on this machine nor to be downloaded; the message says where it was looked for.

    Examples
    --------
    >>> issubclass(DataUnavailableError, OSError)
    True
    """


class DataDamagedError(ValueError):
    """A file of a data set is not what it should be; the message names it.

    Examples
    --------
    >>> issubclass(DataDamagedError, ValueError)
    True
    """


@dataclass(frozen=True)
class RemoteFile:
    """A file, where it may lie and where it comes from."""

    names: tuple[str, ...]  # under the folder; the first is that of the download
    urls: tuple[str, ...]
    sha256: str | None  # of the file; None where it is packed in different ways and its pixels are checked


def locate(file: RemoteFile, what: str) -> Path:
    """The file on this machine, downloaded if need be, and intact."""
    path = next(iter(present(file)), None) or download(file, what)
    if file.sha256 is not None and hashlib.sha256(path.read_bytes()).hexdigest() != file.sha256:
        raise damaged(path, "its SHA-256 differs from the published one")
    return path


def present(file: RemoteFile) -> list[Path]:
    """All copies of the file on this machine, the folder's before the cache's."""
    paths = [folder / name for folder in _folders() for name in file.names]
    return [path for path in paths if path.is_file()]


def cache_folder() -> Path:
    """Where downloads are kept."""
    if "SKNOMAD_CACHE" in os.environ:
        return Path(os.environ["SKNOMAD_CACHE"])
    try:
        import pooch
    except ImportError:
        return Path.home() / ".cache" / "sknomad"
    return Path(pooch.os_cache("sknomad"))


def _folders() -> list[Path]:
    own = os.environ.get("SKNOMAD_DATA")
    return [*([Path(own)] if own else []), cache_folder()]


def download(file: RemoteFile, what: str) -> Path:
    """The file, fetched into the cache from the first of its sources that has it."""
    try:
        import pooch
    except ImportError:
        raise _unavailable(file, what, "downloading needs pooch: pip install 'sknomad[data]'") from None
    target = cache_folder() / file.names[0]
    reasons = []
    for url in file.urls:
        host = urlsplit(url).netloc
        if host in _unreachable:
            reasons.append(_unreachable[host])
            continue
        try:
            with _quiet(pooch):
                pooch.retrieve(
                    url,
                    f"sha256:{file.sha256}" if file.sha256 else None,
                    target.name,
                    target.parent,
                    downloader=pooch.HTTPDownloader(timeout=TIMEOUTS),
                )
            return target
        except (OSError, ValueError) as error:  # no network, no such file; not the file expected
            if getattr(error, "errno", None) is not None:  # trouble of this machine, such as a full disk
                raise
            reasons.append(f"{host}: {type(error).__name__}")
            if isinstance(error, OSError) and getattr(error, "response", None) is None:
                _unreachable[host] = reasons[-1]
    raise _unavailable(file, what, f"the download failed ({', '.join(reasons)})")


@contextmanager
def _quiet(pooch: ModuleType) -> Iterator[None]:
    """Context in which pooch logs nothing: this library never prints."""
    logger = pooch.get_logger()
    before, logger.disabled = logger.disabled, True
    try:
        yield
    finally:
        logger.disabled = before


def _unavailable(file: RemoteFile, what: str, why: str) -> DataUnavailableError:
    folders = " or ".join(str(folder) for folder in _folders())
    hint = "" if os.environ.get("SKNOMAD_DATA") else " Set SKNOMAD_DATA to a folder that has it."
    return DataUnavailableError(f"{what} must be at hand, got no {file.names[0]} in {folders}, and {why}.{hint}")


def damaged(path: Path, why: str) -> DataDamagedError:
    """The error to raise for a file that is not what it should be."""
    return DataDamagedError(f"data file must be intact, got {str(path)!r}, which is not: {why}. Delete or replace it.")
