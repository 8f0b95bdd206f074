"""Values of this library as JSON and arrays, and back: only types on a list, so that reading cannot run anything.

JSON's own values stand for themselves. Everything else is an object with a ``type``: ``float`` (not a finite number),
``tuple``, ``dict``, ``array`` and ``scalar`` (NumPy's, by the name of an array), ``text`` (an array of Python strings),
``sparse``, ``status``, and ``record`` (one of the classes below, by its fields).
"""

from __future__ import annotations

import dataclasses
import enum
import math
from collections.abc import Collection, Mapping
from typing import Any, TypeAlias, TypeVar, cast

import numpy as np
import scipy.sparse as sp
from array_api_compat import is_array_api_obj

from .._certificate.certificate import Certificate
from .._certificate.cuts import Multipliers
from .._certificate.iterate import Iterate, NegativePart
from .._numerics.arrays import Array, Sparse, is_sparse
from .._numerics.fixed_vector import Ones, Weighted
from .._numerics.validation import check_integer, check_numbers, check_real
from .._points.forms import DensePoint, FactorPoint, SoftPoint, SpectralPoint
from .._points.mixed import MixedPoint
from .._program.centring import Frame
from .._program.duplicates import Groups
from .._program.gram import Gram
from .._program.problem import KMeansSDP
from .archive import FormatError, Header, portable

# What `json` writes and reads.
JSON: TypeAlias = "bool | int | float | str | list[JSON] | dict[str, JSON] | None"
# How many lists and objects may lie in each other: more than any model has, fewer than Python's stack holds.
DEEPEST = 100

Class = TypeVar("Class", bound=type[object])

# Dataclasses that may be written and read: those of earlier rooms; later rooms decorate theirs with `saved`.
RECORDS: dict[str, type[Any]] = {
    cls.__name__: cls
    for cls in (
        Certificate, DensePoint, FactorPoint, Frame, Groups, Iterate, KMeansSDP, MixedPoint, Multipliers, NegativePart,
        SoftPoint, SpectralPoint,
    )
}  # fmt: skip
# Enumerations that may be, by what ``type`` calls them.
ENUMERATIONS: dict[str, type[enum.Enum]] = {}
# What determines a Gram, and what it measures.
GRAM_FIELDS = ("_factor", "_kernel", "unit", "frame", "_spread", "n", "trace", "norm", "forming_error")
# Only with weights; files written before there were any do not have them.
WEIGHT_FIELDS = ("roots", "fixed", "_given")
# What files call `fixed`, the vector itself or nothing for that of ones.
FIXED_NAMES = {"Gram": "direction", "SpectralPoint": "u", "SoftPoint": "u", "MixedPoint": "u"}
# Fields of earlier versions: the state of a solver, from which nothing but a warm start would come.
DROPPED_FIELDS = {"Iterate": ("extra",)}
# A spread beyond this is none.
LARGEST_SPREAD = 1e150
SPARSE: dict[str, Any] = {cls.__name__: cls for cls in (sp.csr_matrix, sp.csr_array, sp.csc_matrix, sp.csc_array)}


def saved(cls: Class) -> Class:
    """Class decorator: a dataclass or an enumeration that may be part of what is saved."""
    if issubclass(cls, enum.Enum):
        ENUMERATIONS[cls.__name__.lower()] = cls
        return cls
    known = RECORDS.setdefault(cls.__name__, cls)
    if known is not cls:
        raise TypeError(
            f"classes to be saved must have different names, got two {cls.__name__}: in files it names one."
        )
    return cls


def _plain(value: bool | int | float | str | None) -> JSON:
    """What JSON holds itself; numbers that are not finite by their names."""
    if isinstance(value, float) and not math.isfinite(value):
        return {"type": "float", "value": repr(value)}
    return int(value) if isinstance(value, int) and not isinstance(value, bool) else value


class Encoder:
    """Turns values into what JSON can hold, and gathers their arrays, each once."""

    def __init__(self) -> None:
        self.arrays: dict[str, Array] = {}
        self._names: dict[int, str] = {}
        self._alive: list[object] = []  # so that no identity is used twice

    def encode(self, value: object, where: str) -> JSON:
        """`value` for JSON; `where` names it in the error for what cannot be saved."""
        if value is None or (isinstance(value, bool | int | float | str) and not isinstance(value, np.generic)):
            return _plain(value)
        if isinstance(value, Ones | Weighted):
            return self.encode(value.q if isinstance(value, Weighted) else None, where)
        if isinstance(value, enum.Enum) and type(value) in ENUMERATIONS.values():
            return {"type": type(value).__name__.lower(), "name": value.name}
        # A named tuple would come back as a plain one.
        if isinstance(value, Mapping) or type(value) in (list, tuple):
            return self._encode_container(value, where)
        if isinstance(value, np.generic) or is_sparse(value) or is_array_api_obj(value):
            return self._encode_numbers(value, where)
        return self._encode_object(value, where)

    def _encode_container(self, value: object, where: str) -> JSON:
        """Lists, tuples and mappings, with what they hold."""
        if isinstance(value, Mapping):
            keys = [self.encode(key, f"a key of {where}") for key in value]
            values = [self.encode(item, f"{where}[{key!r}]") for key, item in value.items()]
            return {"type": "dict", "keys": keys, "values": values}
        assert isinstance(value, list | tuple)
        items = [self.encode(item, f"{where}[{i}]") for i, item in enumerate(value)]
        return items if isinstance(value, list) else {"type": "tuple", "items": items}

    def _encode_numbers(self, value: object, where: str) -> JSON:
        """Scalars of NumPy, arrays of any library, text in arrays, sparse matrices."""
        if isinstance(value, np.generic):
            return {"type": "scalar", "name": self._store(np.asarray(value), value, where)}
        if is_sparse(value):
            name = type(value).__name__
            if name not in SPARSE:
                raise TypeError(
                    f"{where} must be a CSR or CSC matrix to be saved, got {name}. Convert it with tocsr()."
                )
            parts = {part: self.encode(getattr(value, part), where) for part in ("data", "indices", "indptr")}
            return {"type": "sparse", "class": name, "shape": list(map(int, cast("Sparse", value).shape)), **parts}
        if isinstance(value, np.ndarray) and value.dtype == object and all(isinstance(x, str) for x in value.flat):
            return {"type": "text", "shape": list(value.shape), "items": list(value.flat)}
        return {"type": "array", "name": self._store(cast("Array", value), value, where)}

    def _encode_object(self, value: object, where: str) -> JSON:
        """One of this library's own objects, by its fields."""
        name = type(value).__name__
        if type(value) is Gram:
            return self._record(
                "Gram", {field: getattr(value, field) for field in (*GRAM_FIELDS, *WEIGHT_FIELDS)}, where
            )
        if dataclasses.is_dataclass(value) and RECORDS.get(name) is type(value):
            fields = [field.name for field in dataclasses.fields(value) if field.init]
            return self._record(name, {field: getattr(value, field) for field in fields}, where)
        raise TypeError(
            f"{where} must be a number, text, an array, a list or dictionary of these, or one of sknomad's own objects "
            f"to be saved, got {name}. Set it to something else first."
        )

    def _record(self, name: str, fields: Mapping[str, object], where: str) -> JSON:
        in_file = {"fixed": FIXED_NAMES.get(name, "fixed")}
        encoded = {in_file.get(f, f): self.encode(value, f"{where}.{f}") for f, value in fields.items()}
        return {"type": "record", "class": name, "fields": encoded}

    def _store(self, array: Array, owner: object, where: str) -> str:
        if id(owner) not in self._names:
            try:
                stored = portable(array)
            except TypeError as error:
                raise TypeError(f"{where}: {error}") from error
            name = f"array_{len(self.arrays)}"
            self.arrays[name], self._names[id(owner)] = stored, name
            self._alive.append(owner)
        return self._names[id(owner)]


class Decoder:
    """Turns what `Encoder` made back into values; a `FormatError` for anything else."""

    def __init__(self, arrays: Mapping[str, Array]):
        self.arrays = arrays
        self._sparse: dict[str, Sparse] = {}
        self._depth = 0

    def decode(self, node: JSON) -> Any:
        """The value of one piece of JSON."""
        if node is None or isinstance(node, bool | str | int | float):
            return node
        if self._depth == DEEPEST:
            raise FormatError(f"saved values must lie at most {DEEPEST} deep in each other, got more.")
        self._depth += 1
        try:
            return self._value(node)
        finally:
            self._depth -= 1

    def _value(self, node: list[JSON] | Header) -> Any:
        if isinstance(node, list):
            return [self.decode(item) for item in node]
        try:
            kind = _one_of(node["type"], (*TYPES, *ENUMERATIONS))
            if kind in ENUMERATIONS:
                return ENUMERATIONS[kind][_text(node["name"])]
            return getattr(self, f"_decode_{kind}")(node)
        except (KeyError, TypeError, ValueError, AttributeError, IndexError, ArithmeticError) as error:
            if isinstance(error, FormatError):
                raise
            raise FormatError(f"a saved value must be complete, got {str(node)[:80]}: {error}.") from error

    def _decode_float(self, node: Header) -> float:
        return float(_one_of(node["value"], ("nan", "inf", "-inf")))

    def _decode_tuple(self, node: Header) -> tuple[object, ...]:
        return tuple(self.decode(node["items"]))

    def _decode_dict(self, node: Header) -> dict[object, object]:
        return dict(zip(self.decode(node["keys"]), self.decode(node["values"]), strict=True))

    def _decode_array(self, node: Header) -> Array:
        return self.arrays[node["name"]]

    def _decode_scalar(self, node: Header) -> object:
        return self.arrays[node["name"]].reshape(())[()]

    def _decode_text(self, node: Header) -> Array:
        values = np.empty(len(node["items"]), dtype=object)
        values[:] = [_text(item) for item in node["items"]]
        return values.reshape(node["shape"])

    def _decode_sparse(self, node: Header) -> Sparse:
        # A matrix that several values share stays one.
        key = repr(node)
        if key not in self._sparse:
            parts = tuple(self.decode(node[part]) for part in ("data", "indices", "indptr"))
            matrix = SPARSE[node["class"]](parts, shape=tuple(node["shape"]))
            matrix.check_format(full_check=True)
            self._sparse[key] = matrix
        return self._sparse[key]

    def _decode_record(self, node: Header) -> object:
        name = _one_of(node["class"], ("Gram", *RECORDS))
        in_class, left_out = {FIXED_NAMES.get(name, "fixed"): "fixed"}, DROPPED_FIELDS.get(name, ())
        given = {field: value for field, value in node["fields"].items() if field not in left_out}
        fields = {in_class.get(field, field): self.decode(value) for field, value in given.items()}
        return _make_gram(fields) if name == "Gram" else RECORDS[name](**fields)


TYPES = ("float", "tuple", "dict", "array", "scalar", "text", "sparse", "record")


def _one_of(value: object, allowed: Collection[str]) -> str:
    if not isinstance(value, str) or value not in allowed:
        raise FormatError(f"a saved value must be one of the kinds known here, got {str(value)[:80]!r}.")
    return value


def _text(item: object) -> str:
    if not isinstance(item, str):
        raise FormatError(f"an array of text must hold text, got {type(item).__name__}.")
    return item


def _make_gram(fields: Mapping[str, Any]) -> Gram:
    """A Gram of the tables in a file, measured anew: bounds rest on its sizes, and a file is not believed."""
    n, roots = check_integer(fields["n"], "n of a Gram", 2), fields.get("roots")
    factor, kernel = (_held(fields, name) for name in ("_factor", "_kernel"))
    if (factor is None) == (kernel is None):
        raise FormatError("a saved Gram must have either points or a kernel.")
    table = kernel if factor is None else factor
    _check_held(table, n, is_kernel=factor is None)
    if roots is not None and not np.all(check_numbers(roots, "roots of weights", (n,), finite=True) > 0):
        raise FormatError(f"a saved Gram must have {n} positive weights or none.")
    spread = check_real(fields["_spread"], "the spread of a Gram", 0, LARGEST_SPREAD, "a finite number >= 0")
    unit, frame = fields["unit"], fields["frame"]
    if not isinstance(unit, float) or not isinstance(frame, Frame):
        raise FormatError("a saved Gram must have a unit and a frame.")
    if frame.width not in (None, table.shape[1]):
        raise FormatError(f"a saved Gram must have a frame of {table.shape[1]} columns.")
    gram = Gram(factor=factor, kernel=kernel, unit=unit, spread=spread, frame=frame, roots=roots)
    for name in ("trace", "norm"):
        if not math.isclose(fields[name], vars(gram)[name], rel_tol=1e-9, abs_tol=1e-9 * gram.magnitude):
            raise FormatError(f"a saved Gram must have the {name} of its table, got {str(fields[name])[:40]}.")
    direction: Any = fields.get("fixed")
    if isinstance(gram.fixed, Weighted) and np.array_equal(gram.fixed.q, direction):
        gram.fixed = Weighted(direction)  # the very array that points share with it
    return gram


def _held(fields: Mapping[str, Any], name: str) -> Any:
    """A table of a Gram as it was given, before weights; None where it has none of that name."""
    stored = fields[name]
    return fields.get("_given") if stored is not None and fields.get("roots") is not None else stored


def _check_held(table: Any, n: int, *, is_kernel: bool) -> None:
    if is_sparse(table):
        check_numbers(cast("Sparse", table).data, "a table", (None,), finite=True)
    else:
        check_numbers(table, "a table", (None, None), finite=True)
    if table.shape != (n, n if is_kernel else table.shape[1]):
        raise FormatError(f"a saved Gram must have a table of {n} rows, got shape {table.shape}.")
    if is_kernel and not np.array_equal(table, table.T):
        raise FormatError("a saved Gram must have a symmetric kernel.")
