"""Small pictures of all points in one PNG, for those who hover over the map."""

from __future__ import annotations

import math
import struct
import zlib

import numpy as np
from numpy.typing import ArrayLike

from .._numerics.arrays import Array

# Pixels of all pictures together: what a page of two thousand points has room for.
ALL_PIXELS = 1_000_000
SMALLEST_SIDE, LARGEST_SIDE = 12, 48
# Pictures side by side in a row of the sheet.
COLUMNS = 50


def sprite_sheet(images: ArrayLike, n: int) -> tuple[bytes, int]:
    r"""All images shrunk to one size, in rows of fifty, as a PNG, and the side of one in pixels.

    Examples
    --------
    >>> sheet, side = sprite_sheet(np.zeros((3, 8, 8)), 3)
    >>> sheet[:8] == b"\x89PNG\r\n\x1a\n", side
    (True, 8)
    """
    pictures = _check(images, n)
    colours = 1 if pictures.ndim == 3 else 3
    fair = math.isqrt(ALL_PIXELS // (n * colours))
    side = min(max(SMALLEST_SIDE, min(fair, LARGEST_SIDE)), max(pictures.shape[1:3]))
    pictures = _as_bytes(pictures)
    columns = min(COLUMNS, n)
    sheet = np.zeros((math.ceil(n / columns) * side, columns * side, colours), dtype=np.uint8)
    for k, picture in enumerate(pictures):
        top, left = (k // columns) * side, (k % columns) * side
        sheet[top : top + side, left : left + side] = _shrunk(picture.reshape(*picture.shape[:2], colours), side)
    return png(sheet), side


def _check(images: ArrayLike, n: int) -> Array:
    pictures = np.asarray(images)
    is_grey, is_coloured = pictures.ndim == 3, pictures.ndim == 4 and pictures.shape[-1] == 3
    if len(pictures) != n or not (is_grey or is_coloured) or 0 in pictures.shape or pictures.dtype.kind not in "buif":
        raise ValueError(
            f"images must have shape ({n}, height, width) or ({n}, height, width, 3), got {pictures.shape} of "
            f"{pictures.dtype}. Reshape the rows of X to pictures."
        )
    if not np.isfinite(pictures).all():
        raise ValueError("images must hold finite numbers, got NaN or inf. Fill them in.")
    return pictures


def _as_bytes(pictures: Array) -> Array:
    """From black, the least value of all, to white, the largest; bytes as they are."""
    if pictures.dtype == np.uint8:
        return pictures
    values = pictures.astype(np.float64)
    low, span = values.min(), float(np.ptp(values)) or 1.0
    return np.asarray(np.round(255 * (values - low) / span), dtype=np.uint8)


def _shrunk(picture: Array, side: int) -> Array:
    """A picture fitted into a square: means of blocks where it is larger, centred on black where it is not square."""
    height, width = picture.shape[:2]
    scale = side / max(height, width)
    new = max(1, round(height * scale)), max(1, round(width * scale))
    for axis, (old, wanted) in enumerate(zip((height, width), new, strict=True)):
        edges = np.arange(wanted) * old // wanted
        sizes = np.maximum(np.diff(np.append(edges, old)), 1)
        shape = [1, 1, 1]
        shape[axis] = wanted
        picture = np.add.reduceat(picture.astype(np.float64), edges, axis=axis) / sizes.reshape(shape)
    result = np.zeros((side, side, picture.shape[2]), dtype=np.uint8)
    top, left = (side - new[0]) // 2, (side - new[1]) // 2
    result[top : top + new[0], left : left + new[1]] = np.round(picture)
    return result


def png(pixels: Array) -> bytes:
    """A PNG file of bytes (height, width, 1 or 3)."""
    height, width, colours = pixels.shape
    rows = np.hstack([np.zeros((height, 1), dtype=np.uint8), pixels.reshape(height, -1)])  # no filter in any row
    header = struct.pack(">IIBBBBB", width, height, 8, 0 if colours == 1 else 2, 0, 0, 0)
    chunks = [(b"IHDR", header), (b"IDAT", zlib.compress(rows.tobytes(), 9)), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in chunks
    )
