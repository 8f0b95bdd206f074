"""Files that mean harm or were harmed: the corpus of the tests of saving. Digests are right unless said otherwise."""

import hashlib
import io
import json
import os
import pickle
import zipfile

import numpy as np


class Payload:
    """Unpickling this makes a folder."""

    def __init__(self, canary):
        self.canary = str(canary)

    def __reduce__(self):
        return os.mkdir, (self.canary,)


def forge(members, line=b"sknomad-model-1\n", *, compress=zipfile.ZIP_STORED, change=None):
    """A file with any members and a right digest; `change` edits the bytes of the archive first."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compress) as archive:
        for name, data in members:
            archive.writestr(zipfile.ZipInfo(name), data, compress_type=compress)
    payload = buffer.getvalue() if change is None else change(buffer.getvalue())
    return line + hashlib.sha256(line + payload).digest() + payload


def members_of(data):
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return [(info.filename, archive.read(info)) for info in archive.infolist()]


def npy(array, *, allow_pickle=False):
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, np.asanyarray(array), allow_pickle=allow_pickle)
    return buffer.getvalue()


def claimed(descr, shape, body=b""):
    """An array that says anything of itself."""
    header = f"{{'descr': {descr!r}, 'fortran_order': False, 'shape': {shape!r}, }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode() + body


def damaged(intact, count, rng):
    """Bit flips, truncations, zeroed, inserted and swapped stretches."""
    for trial in range(count):
        data = bytearray(intact)
        place = int(rng.integers(len(data)))
        if trial % 5 < 2:
            data[place] ^= 1 << int(rng.integers(8))
        elif trial % 5 == 2:
            data = data[:place]
        elif trial % 5 == 3:
            data[place:place] = rng.bytes(int(rng.integers(1, 40)))
        else:
            data[place : place + 40] = rng.bytes(len(data[place : place + 40]))
        yield "damaged", bytes(data)


def constructions(intact, canary, rng):
    """Whatever an attacker may put into a file."""
    members = members_of(intact)
    contents = dict(members)
    header = json.loads(contents["header.json"])
    arrays = [(name, data) for name, data in members if name != "header.json"]
    name = arrays[int(rng.integers(len(arrays)))][0]
    evil = pickle.dumps(Payload(canary))

    def with_header(**changes):
        return forge([("header.json", json.dumps({**header, **changes})), *arrays])

    def with_attribute(key, node):
        return with_header(attributes={**header["attributes"], key: node})

    def with_array(data):
        return forge([(n, data if n == name else d) for n, d in members])

    yield "pickle", evil
    yield "pickle behind the first line", b"sknomad-model-1\n" + hashlib.sha256(evil).digest() + evil
    yield "pickle as payload", b"sknomad-model-1\n" + hashlib.sha256(b"sknomad-model-1\n" + evil).digest() + evil
    yield "pickle as array", with_array(evil)
    yield "pickle as member", forge([*members, ("data.pkl", evil)])
    yield "object array", with_array(npy(np.array([Payload(canary)], dtype=object), allow_pickle=True))
    yield "structured", with_array(claimed([("a", "<f8"), ("b", "|O")], (1,), bytes(16)))
    yield "big-endian", with_array(claimed(">f8", (2,), bytes(16)))
    yield "void", with_array(claimed("|V8", (2,), bytes(16)))
    yield "complex", with_array(claimed("<c16", (1,), bytes(16)))
    yield "empty text", with_array(claimed("<U0", (10**12,)))
    yield "huge shape", with_array(claimed("<f8", (int(rng.integers(10**9, 10**12)),), bytes(64)))
    yield "overflowing shape", with_array(claimed("<f8", (2**32, 2**32, 2**32), bytes(64)))
    yield "negative shape", with_array(claimed("<f8", (-1, -8), bytes(64)))
    yield "short array", with_array(claimed("<f8", (9,), bytes(64)))
    yield "long array", with_array(claimed("<f8", (7,), bytes(64)))
    yield "shape of floats", with_array(claimed("<f8", (8.0,), bytes(64)))
    yield "code as dtype", with_array(claimed("__import__('os').mkdir('x')", (1,), bytes(8)))
    yield "code as header", with_array(b"\x93NUMPY\x01\x00\x2a\x00" + b"__import__('os').mkdir('canary') or {}    \n")
    yield "unknown npy", with_array(b"\x93NUMPY\x09\x00" + bytes(20))
    yield "no array", forge([member for member in members if member[0] != name])
    yield "bomb", forge([("header.json", b"{}"), ("a.npy", bytes(2**26))], compress=zipfile.ZIP_DEFLATED)
    yield "compressed", forge(members, compress=zipfile.ZIP_BZIP2)
    yield "claims of size", forge(members, change=lambda data: _inflate_claims(data))
    yield "not a zip", forge(members, change=lambda data: rng.bytes(500))
    yield "twice", forge(members, change=lambda data: data.replace(b"array_1.npy", b"array_0.npy"))
    for bad in (
        "../evil.npy",
        "/tmp/evil.npy",
        "a/../../b.npy",
        "C:\\evil.npy",
        "a\x00.npy",
        "x" * 300 + ".npy",
        "sub/",
    ):
        yield f"member {bad!r:.20}", forge([*members, (bad, npy(np.zeros(2)))])
    yield "future", forge(members, f"sknomad-model-{int(rng.integers(2, 9999))}\n".encode())
    yield "format 0", forge(members, b"sknomad-model-0\n")
    yield "checkpoint", forge(members, b"sknomad-checkpoint-2\n")
    yield "other kind", forge(members, b"sknomad-pickle-1\n")
    yield "long line", forge(members, b"sknomad-" + b"m" * 5000 + b"-1\n")
    yield "no header", forge(arrays)
    yield "not JSON", forge([("header.json", rng.bytes(50)), *arrays])
    yield "deep JSON", forge([("header.json", b"[" * 100_000), *arrays])
    yield "deep but valid JSON", with_attribute("deep_", json.loads("[" * 900 + "]" * 900))
    yield "JSON list", forge([("header.json", b"[]"), *arrays])
    yield "number too long", forge([("header.json", b"1" * 10_000), *arrays])
    for cls in (
        "os.system",
        "builtins.eval",
        "Popen",
        "__class__",
        "BaseEstimator",
        "Saveable",
        "Status",
        7,
        None,
        ["NOMAD"],
    ):
        yield f"class {cls}", with_header(**{"class": cls})
    for key in ("predict", "fit", "save", "__class__", "__dict__", "__reduce__", "not a name", "_not_saved", ""):
        yield f"attribute {key}", with_attribute(key, 1)
    yield "unknown parameter", with_header(parameters={**header["parameters"], "command": "ls"})
    yield "parameters as list", with_header(parameters=[1, 2])
    yield "no parameters", with_header(parameters=None)
    short = json.dumps(
        {**header, "attributes": {**header["attributes"], "labels_": {"type": "array", "name": "short"}}}
    )
    yield "labels too short", forge([("header.json", short), *arrays, ("short.npy", npy(np.zeros((3, 1))))])
    for node in (
        {"type": "object", "class": "os.system"},
        {"type": "record", "class": "Popen", "fields": {"args": "ls"}},
        {"type": "record", "class": "Certificate", "fields": {"lower": 2.0, "upper": 1.0}},
        {"type": "record", "class": "Certificate", "fields": {"command": "ls"}},
        {"type": "record", "class": "Gram", "fields": {}},
        {"type": "record", "class": "ADMM", "fields": {"relaxation": 7.0}},
        {"type": "status", "name": "HACKED"},
        {"type": "array", "name": "../../etc/passwd"},
        {"type": "array", "name": ["array_0"]},
        {"type": "scalar", "name": "nothing"},
        {"type": "float", "value": "1e9"},
        {"type": "dict", "keys": [1], "values": []},
        {"type": "dict", "keys": [[1]], "values": [1]},
        {"type": "sparse", "class": "csr_matrix", "shape": [2, 2], "data": [1.0], "indices": [7], "indptr": [0, 1, 1]},
        {"type": "sparse", "class": "dia_matrix", "shape": [2, 2]},
        {"type": "text", "shape": [3], "items": ["a"]},
        {"type": "text", "shape": [1], "items": [{}]},
        {"type": "__init__"},
        {"kind": "array"},
    ):
        yield f"node {node!s:.40}", with_attribute("extra_", node)


def forged_array(array, rng, *, portable=False):
    """`array` with wrong values, a wrong shape or a wrong type; only types that a file can hold if `portable`."""
    array = np.asarray(array)
    whole = np.nan_to_num(array.astype(float)).clip(-100, 100).astype(np.int8) if array.dtype.kind in "fiub" else array
    numbers = array.astype(float) if array.dtype.kind in "fiub" else np.zeros(array.shape)
    spoiled = numbers.copy()
    if spoiled.size:
        spoiled.flat[rng.integers(spoiled.size)] = rng.choice([np.nan, np.inf, -np.inf, 1e308, -1e308, 1e-310, -1])
    choices = [
        spoiled, -numbers, numbers * 10.0 ** rng.uniform(-300, 300), numbers + rng.standard_normal(numbers.shape),
        np.zeros_like(numbers), np.full_like(numbers, np.nan), numbers[..., None], numbers[None], numbers.ravel(),
        numbers[:-1], numbers[..., :-1], numbers[..., :0], numbers[:0], np.ones((*numbers.shape, 1)), np.float64(3.0),
        np.concatenate([numbers, numbers]), numbers.T, numbers.astype(np.float32), whole,
        np.asfortranarray(numbers), numbers > 0, numbers.astype("<U8"), rng.standard_normal((3, 3)),
    ]  # fmt: skip
    if not portable:
        choices += [
            numbers + 1j,
            numbers.astype(object),
            numbers.tolist(),
            None,
            "array",
            numbers.astype(np.longdouble),
        ]
        choices += [numbers.astype(np.float16), np.ma.masked_array(numbers), numbers[::-1]]
    return choices[rng.integers(len(choices))]


def _inflate_claims(data):
    """The central directory says that the first member is larger than the file."""
    place = data.rindex(b"PK\x01\x02")
    changed = bytearray(data)
    changed[place + 20 : place + 28] = (2**31 - 1).to_bytes(4, "little") * 2
    return bytes(changed)
