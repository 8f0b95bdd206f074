"""Image data sets that others published: read from a folder or a cache, else downloaded, and always checked.

`SKNOMAD_DATA` names a folder of your own with the files as listed at each function. What it lacks is looked for in the
cache (`SKNOMAD_CACHE`, else the usual place of this system), and what that lacks is downloaded into it.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import re
import zipfile
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from .._numerics.validation import check_choice, check_integer
from .download import DataDamagedError, DataUnavailableError, RemoteFile, damaged, download, locate, present
from .sampler import RandomState
from .shapes import generator_of
from .sources import COIL20, COIL20_PIXELS, COIL100, MNIST, PIXELS, TEAPOTS, YALE

__all__ = [
    "DataDamagedError", "DataUnavailableError", "Images", "fetch_coil20", "fetch_coil100", "fetch_mnist",
    "fetch_teapots", "fetch_yale_faces",
]  # fmt: skip


def _none() -> NDArray[np.float64]:
    return np.empty(0)


@dataclass(frozen=True, eq=False)
class Images:
    """Images and what is known about each of them; fields that do not apply are empty.

    Examples
    --------
    >>> pictures = Images(np.full((2, 3, 3), 255, dtype=np.uint8), np.array([0, 1]))
    >>> len(pictures), pictures.data.shape, float(pictures.data.max())
    (2, (2, 9), 1.0)
    """

    images: NDArray[np.uint8]  # (n, height, width) or (n, height, width, 3)
    target: NDArray[np.int64]  # (n,): what it shows: digit, subject or object
    angle: NDArray[np.float64] = field(default_factory=_none)  # (n,): degrees of the view, or azimuth of the light
    elevation: NDArray[np.float64] = field(default_factory=_none)  # (n,): degrees of the light above the horizon

    @property
    def data(self) -> NDArray[np.float64]:
        """Images as rows, grey levels or colours from 0 to 1; made anew at each call."""
        return self.images.reshape(len(self.images), -1) / 255.0

    def __len__(self) -> int:
        return len(self.images)


def fetch_mnist(
    digit: int | None = None, n: int | None = None, *, split: str = "all", random_state: RandomState = None
) -> Images:
    """Images of handwritten digits, 28 x 28, white on black: 60,000 to train and 10,000 to test.

    Files: ``mnist/{train,t10k}-{images-idx3,labels-idx1}-ubyte.gz``.

    Parameters
    ----------
    digit : int, optional
        Only images of this digit.
    n : int, optional
        Number of images; by default all.
    split : {"all", "train", "test"}
        Which part; "all" has the training images first, then the test images.
    random_state : int, RandomState, Generator or None
        None takes the first `n`; anything else draws them at random without replacement.

    Returns
    -------
    Images
        ``target`` is the digit.

    Examples
    --------
    >>> fetch_mnist(digit=1, n=500).images.shape  # doctest: +SKIP
    (500, 28, 28)
    """
    check_choice(split, "split", ("all", "train", "test"))
    parts = {"all": ("train", "t10k"), "train": ("train",), "test": ("t10k",)}[split]
    images = np.concatenate([_read_idx(f"{part}-images-idx3-ubyte.gz", 16).reshape(-1, 28, 28) for part in parts])
    target = np.concatenate([_read_idx(f"{part}-labels-idx1-ubyte.gz", 8) for part in parts]).astype(np.int64)
    chosen = np.arange(len(target)) if digit is None else np.flatnonzero(target == digit)
    if not chosen.size:
        raise ValueError(f"digit must be an integer from 0 to 9, got {digit!r}.")
    if n is not None:
        chosen = _choose(chosen, n, random_state)
    return Images(images[chosen], target[chosen])


def fetch_teapots() -> Images:
    """A teapot from all sides: 100 views in order around the full circle, 76 x 101 in colour.

    File: ``teapots/teapots100.mat``.

    Returns
    -------
    Images
        ``angle`` is that of the view.

    Examples
    --------
    >>> fetch_teapots().images.shape  # doctest: +SKIP
    (100, 76, 101, 3)
    """
    path = locate(TEAPOTS, "the teapots")
    columns = _read_mat(path, "teapots")
    images = np.stack([column.reshape(76, 101, 3, order="F") for column in columns.T])
    return Images(images, np.zeros(100, dtype=np.int64), 3.6 * np.arange(100.0))


def fetch_yale_faces(subjects: Sequence[int] = (1, 4, 5, 27)) -> Images:
    """Frontal faces of the Extended Yale Face Database B, cropped: 64 lightings each, 192 x 168.

    File: ``yaleb/CroppedYale.zip``, or one of the same layout with only some subjects.

    Parameters
    ----------
    subjects : sequence of int
        Numbers of the subjects, 1 to 39.

    Returns
    -------
    Images
        By subject, then azimuth and elevation. ``target`` is the subject, ``angle`` the azimuth of the light.

    Examples
    --------
    >>> fetch_yale_faces([1]).images.shape  # doctest: +SKIP
    (64, 192, 168)
    """
    pattern = re.compile(r"yaleB(?P<target>\d+)_P00A(?P<angle>[+-]\d+)E(?P<elevation>[+-]\d+)\.pgm$")
    return _read_archive(YALE, "the Yale faces", pattern, subjects, "subjects")


def fetch_coil20() -> Images:
    """Twenty objects on a turntable, grey: 72 views each, 32 x 32.

    File: ``coil20/COIL20_32x32.mat``.

    Returns
    -------
    Images
        By object (``target``, from 1), then ``angle``.

    Examples
    --------
    >>> fetch_coil20().images.shape  # doctest: +SKIP
    (1440, 32, 32)
    """
    path = locate(COIL20, "COIL-20")
    rows = np.asarray(_read_mat(path, "X"), dtype=np.float64)
    levels = np.rint(rows * (255 if rows.max() <= 1 else 1)).astype(np.uint8)
    images = levels.reshape(-1, 32, 32).transpose(0, 2, 1)  # stored by columns
    _check_pixels(path, "all", images, COIL20_PIXELS)
    return Images(images, np.repeat(np.arange(1, 21), 72), np.tile(np.arange(72) * 5.0, 20))


def fetch_coil100(objects: Sequence[int] = (14, 17, 52, 74)) -> Images:
    """Objects of the Columbia library on a turntable, in colour: 72 views each, 128 x 128.

    File: ``coil100/coil-100.zip``, or one of the same layout with only some objects.

    Parameters
    ----------
    objects : sequence of int
        Numbers of the objects, 1 to 100.

    Returns
    -------
    Images
        By object (``target``), then ``angle``.

    Examples
    --------
    >>> fetch_coil100([14]).images.shape  # doctest: +SKIP
    (72, 128, 128, 3)
    """
    pattern = re.compile(r"obj(?P<target>\d+)__(?P<angle>\d+)\.png$")
    return _read_archive(COIL100, "COIL-100", pattern, objects, "objects")


def _choose(indices: NDArray[np.intp], n: int, random_state: RandomState) -> NDArray[np.intp]:
    check_integer(n, "n", 1)
    if n > len(indices):
        raise ValueError(f"n must be at most {len(indices)}, the number of images, got {n}.")
    if random_state is None:
        return indices[:n]
    return np.sort(generator_of(random_state).permutation(indices)[:n])


def _read_idx(name: str, header: int) -> NDArray[np.uint8]:
    path = locate(MNIST[name], "MNIST")
    try:
        return np.frombuffer(gzip.decompress(path.read_bytes()), np.uint8, offset=header)
    except (OSError, EOFError, zlib.error) as error:
        raise damaged(path, str(error)) from error


def _read_mat(path: Path, name: str) -> NDArray[np.float64] | NDArray[np.uint8]:
    from scipy.io import loadmat

    try:
        return loadmat(path)[name]
    except (ValueError, KeyError, TypeError, NotImplementedError, OSError, zlib.error) as error:
        raise damaged(path, f"no MATLAB file with {name!r}") from error


def _read_archive(
    file: RemoteFile, what: str, pattern: re.Pattern[str], wanted: Sequence[int], parameter: str
) -> Images:
    """Images of some targets out of a zip archive whose file names tell target and angles."""
    wanted = [check_integer(target, parameter, 1) for target in wanted]
    if not wanted:
        raise ValueError(f"{parameter} must name at least one, got none.")
    path, entries = _archive_with(file, what, pattern, wanted, parameter)
    images, facts = [], []
    with zipfile.ZipFile(path) as archive:
        for target in wanted:
            found = sorted(
                (int(match["angle"]), int(match.groupdict().get("elevation") or 0), name)
                for name, match in entries.items()
                if int(match["target"]) == target
            )
            pictures = np.stack([_decode(path, archive, name) for *_, name in found])
            _check_pixels(path, str(target), pictures, PIXELS[parameter])
            images.append(pictures)
            facts += [(target, angle, elevation) for angle, elevation, _ in found]
    target, angle, elevation = np.array(facts).T
    has_elevation = "elevation" in pattern.groupindex
    return Images(
        np.concatenate(images), target.astype(np.int64), angle * 1.0, elevation * 1.0 if has_elevation else _none()
    )


def _archive_with(
    file: RemoteFile, what: str, pattern: re.Pattern[str], wanted: Sequence[int], parameter: str
) -> tuple[Path, dict[str, re.Match[str]]]:
    """The first archive at hand that holds all of `wanted`, or a downloaded one, and its entries."""
    for path in [*present(file), None]:
        path = path or download(file, what)
        try:
            with zipfile.ZipFile(path) as archive:
                entries = {name: match for name in archive.namelist() if (match := pattern.search(name))}
        except zipfile.BadZipFile as error:
            raise damaged(path, str(error)) from error
        lacking = set(wanted) - {int(match["target"]) for match in entries.values()}
        if not lacking:
            return path, entries
    raise ValueError(f"{parameter} must be among those of {what}, got {sorted(lacking)}.")


def _decode(path: Path, archive: zipfile.ZipFile, name: str) -> NDArray[np.uint8]:
    try:
        from PIL import Image
    except ImportError as error:
        raise ImportError("reading images needs Pillow: pip install 'sknomad[data]'.") from error
    try:
        return np.asarray(Image.open(io.BytesIO(archive.read(name))))
    except (OSError, SyntaxError, zipfile.BadZipFile, zlib.error) as error:
        raise damaged(path, f"{name}: {error}") from error


def _check_pixels(path: Path, part: str, images: NDArray[np.uint8], known: dict[str, str]) -> None:
    """Compare with the pixels as they are known; parts that are not known pass."""
    if part in known and pixel_digest(images) != known[part]:
        raise damaged(path, f"the pixels of {part} differ from the published ones")


def pixel_digest(images: NDArray[np.uint8]) -> str:
    """Digest of decoded images, whatever archive they came in."""
    return hashlib.sha256(repr(images.shape).encode() + np.ascontiguousarray(images).tobytes()).hexdigest()[:32]
