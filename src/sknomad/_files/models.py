"""Fitted estimators as files: `Saveable.save` and `load`, arrays plus JSON, no pickle."""

from __future__ import annotations

import inspect
import os
import re
from typing import Any, ClassVar

from .._numerics.arrays import is_sparse
from .._numerics.validation import check_integer, check_numbers
from .._version import __version__
from .archive import FormatError, Header, Kind, read_archive, write_archive
from .records import Decoder, Encoder

FITTED = re.compile(r"[A-Za-z]\w*_|_[A-Za-z]\w*")
MODEL = Kind("model", 1, "Pass a file that model.save(path) wrote.")

# Estimators that can be loaded: this library's own, each entered when its class is made.
ESTIMATORS: dict[str, type[Saveable]] = {}
# Attributes that must fit together, where there are any: n is the number of labels, None any number.
SHAPES: dict[str, tuple[str | None, ...]] = {
    "labels_": ("n",),
    "embedding_": ("n", None),
    "map_": ("n", None),
    "affinity_": ("n", "n"),
    "cluster_centers_": (None, "n_features_in_"),
    "feature_names_in_": ("n_features_in_",),
}
# Of these, tables that new points are compared with.
FINITE = ("cluster_centers_",)
# And numbers of groups.
WHOLE = ("labels_",)


class Saveable:
    """Mixin of estimators that can be written to a file and read again, equal to the bit."""

    # Parameters that are functions or places of this machine: written as None.
    _not_saved: ClassVar[tuple[str, ...]] = ("callback", "checkpoint")

    def __init_subclass__(cls, **options: object) -> None:
        super().__init_subclass__(**options)
        if cls.__module__.split(".")[0] == __name__.split(".")[0]:
            ESTIMATORS[cls.__name__] = cls

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the estimator, parameters and fitted attributes, to one file for `sknomad.load`.

        A callback is not saved. The file appears complete or not at all.

        Parameters
        ----------
        path : path
            Its folder must exist; a file that is there is replaced. The usual suffix is ``.sknomad``.
        """
        cls = type(self)
        if ESTIMATORS.get(cls.__name__) is not cls:
            raise TypeError(f"an estimator to be saved must be one of sknomad's own, got {cls.__name__}.")
        names = list(inspect.signature(cls).parameters)
        encoder = Encoder()
        parameters = {name: None if name in self._not_saved else getattr(self, name) for name in names}
        attributes = {name: value for name, value in vars(self).items() if name not in names}
        header = {
            "sknomad": __version__,
            "class": cls.__name__,
            "parameters": {name: encoder.encode(value, name) for name, value in parameters.items()},
            "attributes": {name: encoder.encode(value, name) for name, value in attributes.items()},
        }
        write_archive(path, MODEL, header, encoder.arrays)


def load(path: str | os.PathLike[str]) -> Any:
    """The estimator that ``model.save(path)`` wrote.

    Nothing in the file is executed: it holds numbers and text only, and whatever is not on this library's list, damaged
    or from a newer version is refused with a `FormatError`, a ValueError.

    Parameters
    ----------
    path : path

    Returns
    -------
    estimator

    Examples
    --------
    >>> import os, tempfile
    >>> from sknomad import CertifiedKMeans, load
    >>> model = CertifiedKMeans(2, random_state=0).fit([[0.0], [1.0], [10.0], [11.0]])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     model.save(os.path.join(folder, "model.sknomad"))
    ...     load(os.path.join(folder, "model.sknomad")).predict([[9.0]])
    array([1], dtype=int32)
    """
    _, header, arrays = read_archive(path, MODEL)
    try:
        return _rebuild(header, Decoder(arrays))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        reason = " ".join(str(error).split())[:300]
        raise FormatError(f"model must be a file that sknomad can read, got {str(path)!r}: {reason}") from error


def _rebuild(header: Header, decoder: Decoder) -> Saveable:
    cls = ESTIMATORS.get(header["class"])
    if cls is None:
        known = ", ".join(sorted(ESTIMATORS))
        raise FormatError(f"its class must be one of {known}, got {str(header['class'])[:80]!r}.")
    unknown = set(header["parameters"]) - set(inspect.signature(cls).parameters)
    if unknown:
        written = str(header.get("sknomad"))[:40]
        raise FormatError(
            f"{cls.__name__} must know its parameters, got {sorted(unknown)} of version {written}. Upgrade sknomad."
        )
    model = cls(**{name: decoder.decode(node) for name, node in header["parameters"].items()})
    for name, node in header["attributes"].items():
        # Fitted attributes look like that; one that covers a method would not be one.
        if not FITTED.fullmatch(name) or hasattr(cls, name):
            raise FormatError(f"an attribute must have the name of a fitted one, got {name[:80]!r}.")
        setattr(model, name, decoder.decode(node))
    _check_shapes(model)
    return model


def _check_shapes(model: Saveable) -> None:
    sizes = dict(vars(model))
    _check_numbers_of(sizes)
    sizes["n"] = len(model.labels_) if hasattr(model, "labels_") else None
    for name, expected in SHAPES.items():
        value: Any = getattr(model, name, None)
        if hasattr(value, "shape") or is_sparse(value):
            _check_array(name, value, [None if size is None else sizes.get(size) for size in expected])


def _check_numbers_of(sizes: dict[str, Any]) -> None:
    if "n_features_in_" in sizes:
        check_integer(sizes["n_features_in_"], "n_features_in_", 1)
    for label in sizes.get("_names", ()):
        check_integer(label, "a label", -1)
    if "_names" in sizes and sizes.get("_extension") is not None and sizes["_extension"].n_parts > len(sizes["_names"]):
        raise FormatError("new points must be placed on manifolds that have a name, got others.")


def _check_array(name: str, value: Any, wanted: list[Any]) -> None:
    found = tuple(value.shape)
    fits = len(found) == len(wanted) and all(w is None or w == f for w, f in zip(wanted, found, strict=True))
    if not fits or 0 in found:
        raise FormatError(f"{name} must have as many entries as the rest of the model says, got shape {found}.")
    if name in FINITE:
        check_numbers(value, name, (None, None), finite=True)
    if name in WHOLE and value.dtype.kind not in "iu":
        raise FormatError(f"{name} must be whole numbers, got {value.dtype}.")
