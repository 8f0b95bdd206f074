"""A folder of images as a table: a row for each image, a column for each pixel."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from .raw_table import RawTable, TableError, table_of_matrix

IMAGES = (".png", ".jpg", ".jpeg", ".bmp", ".gif", ".tif", ".tiff", ".webp", ".pgm", ".ppm")
# The annotation that holds the folder of each image, where there are several.
FOLDER = "folder"


def read_images(folder: Path, size: tuple[int, int] | None) -> RawTable:
    """Grey levels from 0 to 1 of all images in a folder and those below it, in the order of their names.

    Parameters
    ----------
    folder : Path
    size : (int, int), optional
        Width and height to bring all images to.
    """
    paths = sorted(p for p in folder.rglob("*") if p.suffix.lower() in IMAGES and not p.name.startswith("."))
    if not paths:
        raise TableError(f"FILE must be a table or a folder with images, got no image in {str(folder)!r}.")
    first = _pixels(paths[0], size)
    rows = np.empty((len(paths), first.size))
    for i, path in enumerate(paths):
        pixels = _pixels(path, size)
        if pixels.shape != first.shape:
            raise TableError(
                f"FILE must hold images of one size, got {_shape(first)} in {paths[0].name!r} and {_shape(pixels)} in "
                f"{path.name!r}. Pass --image-size {_shape(first)} to bring all of them to one."
            )
        rows[i] = pixels.ravel()
    annotations = {"file": [str(path.relative_to(folder)) for path in paths]}
    folders = [path.parent.relative_to(folder).as_posix() for path in paths]
    if len(set(folders)) > 1:
        annotations[FOLDER] = folders
    notes = [f"{len(paths)} images of {_shape(first)} grey levels"]
    return table_of_matrix(rows, folder.name, annotations=annotations, notes=notes)


def _pixels(path: Path, size: tuple[int, int] | None) -> np.ndarray:
    try:
        from PIL import Image, UnidentifiedImageError
    except ImportError:
        raise ImportError("Images need Pillow: pip install 'sknomad[files]'.") from None
    try:
        with Image.open(path) as image:
            # Sixteen bits per pixel would be cut off at 255 by the mode of eight.
            grey = image if image.mode.startswith(("I", "F")) else image.convert("L")
            resized = grey if size is None else grey.resize(size)
            levels = np.asarray(resized, dtype=np.float64)
    except (UnidentifiedImageError, OSError, ValueError) as error:
        raise TableError(f"FILE must hold intact images, got {str(path)!r}: {error}.") from error
    return levels / (65535.0 if image.mode.startswith("I") else 1.0 if image.mode == "F" else 255.0)


def _shape(pixels: np.ndarray) -> str:
    return f"{pixels.shape[1]}x{pixels.shape[0]}"
