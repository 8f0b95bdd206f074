"""Saving: round trips equal to the bit, and a corpus of damaged and hostile files, every one refused."""

import json
import math
import os
import sys
import zipfile

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import sknomad
from hostile import constructions, damaged, forge, members_of
from sknomad import NOMAD, CertifiedKMeans, FormatError, Gram, Status, datasets, load
from sknomad._files.archive import Kind, read_archive, write_archive
from sknomad._files.models import ESTIMATORS
from sknomad._files.records import Decoder, Encoder
from sknomad.solvers import ADMM, Auto, SoftAssignment


def same(a, b):
    """Equal in type and to the bit, however deep."""
    if type(a) is not type(b):
        return False
    if isinstance(a, np.ndarray) and a.dtype != object:
        return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
    if isinstance(a, np.ndarray):
        return a.tolist() == b.tolist()
    if sp.issparse(a):
        return a.shape == b.shape and all(same(getattr(a, p), getattr(b, p)) for p in ("data", "indices", "indptr"))
    if isinstance(a, dict):
        return list(a) == list(b) and all(same(a[key], b[key]) for key in a)
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, float):
        return a == b or (math.isnan(a) and math.isnan(b))
    if isinstance(a, Gram):
        return all(same(value, vars(b)[name]) for name, value in vars(a).items() if name != "_copies")
    if hasattr(a, "__dict__") and not isinstance(a, Status | np.generic):
        return same(vars(a), vars(b))
    return a == b


X, _ = datasets.two_rings(60)
SPARSE = sp.csr_matrix(np.round(X, 1))


def fitted(name):
    import pandas as pd

    distances = np.linalg.norm(X[:, None] - X[None], axis=-1)
    makers = {
        "nomad": lambda: NOMAD(K=8).fit(X),
        "nomad sparse": lambda: NOMAD(K=5, solver=SoftAssignment(rank=20)).fit(SPARSE),
        "nomad auto": lambda: NOMAD(K=5, solver=Auto(points_below=10)).fit(X),
        "nomad distances": lambda: NOMAD(K=6, metric="precomputed_distance").fit(distances),
        "nomad frame": lambda: NOMAD(K=6).set_output(transform="pandas").fit(pd.DataFrame(X, columns=["x", "y"])),
        "nomad unfitted": lambda: NOMAD(K=3.5, solver=ADMM(relaxation=1.5)),
        "kmeans": lambda: CertifiedKMeans(4, random_state=0).fit(X),
        "kmeans sparse": lambda: CertifiedKMeans(3, random_state=np.int64(3), max_iter=50).fit(SPARSE),
    }
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return makers[name]()


NAMES = [
    "nomad", "nomad sparse", "nomad auto", "nomad distances", "nomad frame", "nomad unfitted", "kmeans",
    "kmeans sparse",
]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_round_trip_is_equal_to_the_bit(tmp_path, name):
    model = fitted(name)
    model.save(tmp_path / "model")
    again = load(tmp_path / "model")
    assert type(again) is type(model)
    assert list(vars(again)) == list(vars(model))
    for key, value in vars(model).items():
        assert same(value, vars(again)[key]), key
    if name.startswith("kmeans"):
        assert same(again.predict(SPARSE), model.predict(SPARSE))
    again.save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "model").read_bytes()
    assert sorted(os.listdir(tmp_path)) == ["again", "model"]


def test_loaded_models_go_on_working(tmp_path):
    model = fitted("nomad")
    model.save(tmp_path / "model")
    again = load(tmp_path / "model")
    assert np.array_equal(again.fit(X).labels_, model.labels_)
    assert again.solution_.problem.gram.trace == model.solution_.problem.gram.trace


def test_callbacks_are_left_out(tmp_path):
    NOMAD(callback=print).save(tmp_path / "model")
    assert load(tmp_path / "model").callback is None


DTYPES = st.sampled_from([np.float64, np.float32, np.int64, np.uint8, np.bool_, "<U3"])
NAMES_OF_COLUMNS = np.array(["a", "b"], dtype=object)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)
    | hnp.arrays(DTYPES, hnp.array_shapes(min_side=0))
    | st.sampled_from([np.float32(0.1), np.int8(-3), np.bool_(True), NAMES_OF_COLUMNS, Status.STOPPED]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3) | st.integers(), inner, max_size=3)
    | st.tuples(inner, inner),
    max_leaves=6,
)  # fmt: skip
KIND = Kind("model", 1, "Write it again.")


@given(value=VALUES)
@settings(max_examples=100)
def test_any_value_comes_back(tmp_path_factory, value):
    path = tmp_path_factory.mktemp("values") / "file"
    encoder = Encoder()
    write_archive(path, KIND, encoder.encode(value, "value"), encoder.arrays)
    _, header, arrays = read_archive(path, KIND)
    again = Decoder(arrays).decode(header)
    assert same(value, again)


def test_numbers_of_other_machines_become_little_endian():
    encoder = Encoder()
    node = encoder.encode(np.array([1.5, -2.0], dtype=">f8"), "value")
    again = Decoder(encoder.arrays).decode(node)
    assert again.dtype == np.dtype("<f8")
    assert again.tolist() == [1.5, -2.0]


def test_arrays_shared_stay_shared(tmp_path):
    model = fitted("nomad")
    model.save(tmp_path / "model")
    iterate = load(tmp_path / "model").solution_.iterate
    assert iterate.N.T is iterate.state.T
    assert iterate.N.T.flags.writeable


FORBIDDEN = (
    "exec", "pickle.find_class", "os.system", "subprocess.Popen", "os.exec", "os.mkdir", "os.rename", "os.remove",
    "marshal.loads", "ctypes.dlopen", "socket.connect", "shutil.unpack_archive",
)  # fmt: skip
seen: list = []
watching = False


def _watch(event, arguments):
    if watching and (event in FORBIDDEN or (event == "open" and set(str(arguments[1])) & set("wax+"))):
        seen.append((event, arguments))


@pytest.fixture
def watched():
    """Whatever is run, written or unpickled while a file is read."""
    if not hasattr(sys, "_sknomad_watch"):
        sys.addaudithook(_watch)
        sys._sknomad_watch = True
    seen.clear()
    return seen


def test_five_hundred_damaged_and_hostile_files_are_refused(tmp_path, watched):
    global watching
    canary, path, count, told = tmp_path / "canary", tmp_path / "model", 0, set()
    for seed, name in enumerate(["nomad", "kmeans", "nomad frame"]):
        fitted(name).save(path)
        intact, rng = path.read_bytes(), np.random.default_rng(seed)
        load(path)  # whatever is imported on the way is imported now
        for what, data in [*damaged(intact, 100, rng), *constructions(intact, canary, rng)]:
            path.write_bytes(data)
            watching = True
            try:
                load(path)
            except FormatError as error:
                sentence = str(error)
            else:
                pytest.fail(f"not refused: {what}")
            finally:
                watching = False
            assert sentence.startswith("model must be"), what
            assert "\n" not in sentence, what
            told.add(sentence.replace(str(path), ""))
            count += 1
    assert count >= 500
    assert len(told) > 40  # not one sentence for everything
    assert not watched
    assert sorted(os.listdir(tmp_path)) == ["model"]


def test_edited_headers_with_a_right_digest_load_or_are_refused(tmp_path):
    """Someone who can compute a checksum gets numbers changed, never anything run."""
    path, rng = tmp_path / "model", np.random.default_rng(0)
    fitted("kmeans").save(path)
    members = members_of(path.read_bytes())
    text = dict(members)["header.json"]
    refused = 0
    for _ in range(300):
        data = bytearray(text)
        for place in rng.integers(len(data), size=int(rng.integers(1, 4))):
            data[place] = int(rng.choice(list(b'0123456789"{}[],:.-abcdefn_')))
        path.write_bytes(forge([("header.json", bytes(data)), *members[1:]]))
        try:
            assert isinstance(load(path), CertifiedKMeans)
        except FormatError:
            refused += 1
    assert refused > 100


def test_newer_versions_say_so(tmp_path):
    path = tmp_path / "model"
    fitted("nomad unfitted").save(path)
    members = members_of(path.read_bytes())
    path.write_bytes(forge(members, b"sknomad-model-2\n"))
    with pytest.raises(FormatError, match=r"which has format 2; this version reads up to 1\. Upgrade sknomad"):
        load(path)
    path.write_bytes(forge(members, b"sknomad-certificate-1\n"))
    with pytest.raises(FormatError, match="which is a certificate"):
        load(path)


def test_missing_parameters_take_their_defaults(tmp_path):
    """A file of an older version, which had fewer parameters."""
    path = tmp_path / "model"
    NOMAD(K=5, threshold=0.3).save(path)
    (_, text), *arrays = members_of(path.read_bytes())
    header = json.loads(text)
    del header["parameters"]["threshold"]
    path.write_bytes(forge([("header.json", json.dumps(header)), *arrays]))
    assert load(path).threshold == NOMAD().threshold
    assert load(path).K == 5


def test_the_format_is_as_described(tmp_path):
    """docs/saving.md tells others how to read a file without this library."""
    path = tmp_path / "model"
    model = fitted("kmeans")
    model.save(path)
    assert path.read_bytes().startswith(b"sknomad-model-1\n")
    with zipfile.ZipFile(path) as archive:
        header = json.loads(archive.read("header.json"))
        with archive.open(header["attributes"]["cluster_centers_"]["name"] + ".npy") as member:
            centres = np.lib.format.read_array(member)
    assert header["sknomad"] == sknomad.__version__
    assert header["class"] == "CertifiedKMeans"
    assert header["parameters"]["n_clusters"] == 4
    assert np.array_equal(centres, model.cluster_centers_)


def test_a_full_disk_leaves_the_old_file(tmp_path):
    resource = pytest.importorskip("resource")
    path, model = tmp_path / "model", fitted("kmeans")
    fitted("nomad unfitted").save(path)
    intact, limits = path.read_bytes(), resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (5000, limits[1]))
    try:
        with pytest.raises(OSError, match="File too large"):
            model.save(path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert path.read_bytes() == intact
    assert os.listdir(tmp_path) == ["model"]


def test_an_error_on_the_way_leaves_nothing_behind(tmp_path, monkeypatch):
    path = tmp_path / "model"
    fitted("nomad unfitted").save(path)
    intact = path.read_bytes()

    def full(*arguments, **options):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np.lib.format, "write_array", full)
    with pytest.raises(OSError, match="No space left"):
        fitted("kmeans").save(path)
    assert path.read_bytes() == intact
    assert os.listdir(tmp_path) == ["model"]


def test_what_cannot_be_saved_is_named(tmp_path):
    class Mine(NOMAD):
        pass

    with pytest.raises(TypeError, match="must be one of sknomad's own, got Mine"):
        Mine().save(tmp_path / "model")
    with pytest.raises(TypeError, match=r"random_state must be a number, text.* got RandomState"):
        CertifiedKMeans(random_state=np.random.RandomState(0)).save(tmp_path / "model")
    model = NOMAD()
    model.extra_ = np.zeros(2, dtype=complex)
    with pytest.raises(TypeError, match=r"extra_: arrays to be saved must hold .* got complex128"):
        model.save(tmp_path / "model")
    assert "Mine" not in ESTIMATORS
    with pytest.raises(FormatError, match="model must be a readable file"):
        load(tmp_path / "nothing")
    assert not os.listdir(tmp_path)
