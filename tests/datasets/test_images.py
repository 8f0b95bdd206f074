"""Data sets of others: where they are looked for, what is checked, and what is said when they cannot be had."""

import functools
import gzip
import hashlib
import http.server
import io
import os
import socket
import sys
import threading
import zipfile
from pathlib import Path

import numpy as np
import pytest

from sknomad import datasets
from sknomad.datasets import DataDamagedError, DataUnavailableError
from sknomad.datasets import download as _download
from sknomad.datasets import images as _fetch
from sknomad.datasets.download import RemoteFile

Image = pytest.importorskip("PIL.Image")
pytest.importorskip("pooch")


@pytest.fixture(autouse=True)
def alone(tmp_path, monkeypatch):
    """No data of this machine, no network: only what a test puts there."""
    monkeypatch.delenv("SKNOMAD_DATA", raising=False)
    monkeypatch.setenv("SKNOMAD_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(_download, "_unreachable", {})
    for name in ("TEAPOTS", "YALE", "COIL20", "COIL100"):
        file = getattr(_fetch, name)
        monkeypatch.setattr(_fetch, name, RemoteFile(file.names, (), file.sha256))
    mnist = {name: RemoteFile(file.names, (), file.sha256) for name, file in _fetch.MNIST.items()}
    monkeypatch.setattr(_fetch, "MNIST", mnist)


@pytest.fixture
def server(tmp_path):
    """A web server for a folder, and the requests it got."""
    folder, requests = tmp_path / "site", []
    folder.mkdir()

    class Handler(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *arguments):
            requests.append(self.path)

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=folder)) as httpd:
        thread = threading.Thread(target=httpd.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{httpd.server_port}", folder, requests
        httpd.shutdown()
        thread.join()


def png(pixels):
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, format="PNG")
    return buffer.getvalue()


def coil_archive(path, objects, rng, views=3):
    path.parent.mkdir(parents=True, exist_ok=True)
    pixels = {}
    with zipfile.ZipFile(path, "w") as archive:
        for number in objects:
            for view in reversed(range(views)):  # never in order
                pixels[number, 5 * view] = rng.integers(0, 256, (4, 4, 3), dtype=np.uint8)
                archive.writestr(f"deep/obj{number}__{5 * view}.png", png(pixels[number, 5 * view]))
        archive.writestr("deep/readme.txt", "not an image")
    return pixels


def own_mnist(folder, monkeypatch, rng, sizes=(30, 12)):
    """Small idx files in place of the real ones, with their checksums."""
    (folder / "mnist").mkdir(parents=True)
    files, labels, images = {}, [], []
    for part, size in zip(("train", "t10k"), sizes, strict=True):
        labels.append(rng.integers(0, 3, size, dtype=np.uint8))
        images.append(rng.integers(0, 256, (size, 28, 28), dtype=np.uint8))
        for name, header, content in (
            (f"{part}-images-idx3-ubyte.gz", 16, images[-1]),
            (f"{part}-labels-idx1-ubyte.gz", 8, labels[-1]),
        ):
            packed = gzip.compress(bytes(header) + content.tobytes())
            (folder / "mnist" / name).write_bytes(packed)
            files[name] = RemoteFile((f"mnist/{name}",), (), hashlib.sha256(packed).hexdigest())
    monkeypatch.setattr(_fetch, "MNIST", files)
    monkeypatch.setenv("SKNOMAD_DATA", str(folder))
    return np.concatenate(images), np.concatenate(labels)


def test_digits_come_from_own_files_in_order(tmp_path, monkeypatch, rng):
    images, labels = own_mnist(tmp_path / "data", monkeypatch, rng)
    everything = datasets.fetch_mnist()
    assert np.array_equal(everything.images, images)
    assert np.array_equal(everything.target, labels)
    assert np.array_equal(everything.data, images.reshape(len(images), -1) / 255)
    assert np.array_equal(datasets.fetch_mnist(split="test").images, images[30:])
    twos = datasets.fetch_mnist(2, 4)
    assert np.array_equal(twos.images, images[labels == 2][:4])
    assert len(twos) == 4


def test_random_digits_are_drawn_without_replacement(tmp_path, monkeypatch, rng):
    images, labels = own_mnist(tmp_path / "data", monkeypatch, rng)
    ones = images[labels == 1]
    drawn = datasets.fetch_mnist(1, len(ones), random_state=0)
    assert np.array_equal(drawn.images, ones)  # all of them, each once
    half = [datasets.fetch_mnist(1, len(ones) // 2, random_state=seed).images for seed in (0, 0, 1)]
    assert np.array_equal(half[0], half[1])
    assert not np.array_equal(half[0], half[2])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"digit": 9}, "digit must be an integer from 0 to 9, got 9"),
        ({"digit": 1, "n": 10**6}, "n must be at most"),
        ({"n": 0}, "n must be"),
        ({"split": "half"}, "split must be"),
    ],
)
def test_bad_choices_are_named(tmp_path, monkeypatch, rng, options, message):
    own_mnist(tmp_path / "data", monkeypatch, rng)
    with pytest.raises(ValueError, match=message):
        datasets.fetch_mnist(**options)


def test_a_damaged_file_is_named(tmp_path, monkeypatch, rng):
    own_mnist(tmp_path / "data", monkeypatch, rng)
    victim = tmp_path / "data" / "mnist" / "t10k-labels-idx1-ubyte.gz"
    victim.write_bytes(victim.read_bytes()[:-3])
    with pytest.raises(DataDamagedError, match=r"t10k-labels-idx1-ubyte\.gz.*Delete or replace it") as caught:
        datasets.fetch_mnist()
    assert "\n" not in str(caught.value)
    datasets.fetch_mnist(split="train")  # the other files are none the worse


def test_objects_are_sorted_by_number_and_angle(tmp_path, monkeypatch, rng):
    pixels = coil_archive(tmp_path / "data" / "coil100" / "coil-100.zip", (3, 11), rng)
    monkeypatch.setenv("SKNOMAD_DATA", str(tmp_path / "data"))
    views = datasets.fetch_coil100((11, 3))
    assert views.target.tolist() == [11] * 3 + [3] * 3
    assert views.angle.tolist() == [0.0, 5.0, 10.0] * 2
    for image, target, angle in zip(views.images, views.target, views.angle, strict=True):
        assert np.array_equal(image, pixels[target, int(angle)])
    assert views.elevation.size == 0


def test_own_folder_comes_before_the_cache_and_what_it_lacks_from_the_cache(tmp_path, monkeypatch, rng):
    monkeypatch.setenv("SKNOMAD_DATA", str(tmp_path / "data"))
    own = coil_archive(tmp_path / "data" / "coil100" / "coil-100_objects_14_17_52_74.zip", (3,), rng)
    cached = coil_archive(tmp_path / "cache" / "coil100" / "coil-100.zip", (3, 4), rng)
    assert np.array_equal(datasets.fetch_coil100((3,)).images[0], own[3, 0])
    assert np.array_equal(datasets.fetch_coil100((4,)).images[0], cached[4, 0])


def test_known_pixels_are_checked_whatever_the_archive(tmp_path, monkeypatch, rng):
    monkeypatch.setenv("SKNOMAD_DATA", str(tmp_path))
    coil_archive(tmp_path / "coil100" / "coil-100.zip", (14,), rng)
    with pytest.raises(DataDamagedError, match=r"coil-100\.zip.*pixels of 14"):
        datasets.fetch_coil100((14,))
    (tmp_path / "yaleb").mkdir()
    (tmp_path / "yaleb" / "CroppedYale.zip").write_bytes(b"no archive")
    with pytest.raises(DataDamagedError, match=r"CroppedYale\.zip"):
        datasets.fetch_yale_faces()


def test_a_broken_image_in_an_archive_is_named(tmp_path, monkeypatch, rng):
    monkeypatch.setenv("SKNOMAD_DATA", str(tmp_path))
    path = tmp_path / "coil100" / "coil-100.zip"
    path.parent.mkdir()
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("obj5__0.png", png(np.zeros((4, 4, 3), np.uint8))[:-30])
    with pytest.raises(DataDamagedError, match=r"coil-100\.zip.*obj5__0\.png"):
        datasets.fetch_coil100((5,))


def test_without_data_the_sentence_says_where_it_was_looked_for(tmp_path, monkeypatch):
    with pytest.raises(DataUnavailableError, match=r"teapots/teapots100\.mat.*Set SKNOMAD_DATA") as caught:
        datasets.fetch_teapots()
    assert str(tmp_path / "cache") in str(caught.value)
    assert "\n" not in str(caught.value)
    monkeypatch.setenv("SKNOMAD_DATA", str(tmp_path / "mine"))
    with pytest.raises(DataUnavailableError, match="mine"):
        datasets.fetch_coil20()


def test_download_goes_through_the_cache_once(tmp_path, monkeypatch, rng, server, capfd):
    url, site, requests = server
    coil_archive(site / "some.zip", (3,), rng)
    monkeypatch.setattr(_fetch, "COIL100", RemoteFile(("coil100/coil-100.zip",), (f"{url}/some.zip",), None))
    first = datasets.fetch_coil100((3,))
    assert (tmp_path / "cache" / "coil100" / "coil-100.zip").is_file()
    again = datasets.fetch_coil100((3,))
    assert np.array_equal(first.images, again.images)
    assert len(requests) == 1
    assert capfd.readouterr() == ("", "")


def test_download_with_another_checksum_is_refused_and_not_kept(tmp_path, monkeypatch, server):
    url, site, _ = server
    (site / "pots.mat").write_bytes(b"something else")
    file = RemoteFile(("teapots/teapots100.mat",), (f"{url}/pots.mat",), "0" * 64)
    monkeypatch.setattr(_fetch, "TEAPOTS", file)
    with pytest.raises(DataUnavailableError, match="the download failed"):
        datasets.fetch_teapots()
    assert not (tmp_path / "cache" / "teapots" / "teapots100.mat").exists()


def test_second_source_is_tried_and_a_dead_host_only_once(tmp_path, monkeypatch, rng, server):
    url, site, requests = server
    coil_archive(site / "b.zip", (3,), rng)
    with socket.socket() as closed:  # bound, never listening: connections are refused
        closed.bind(("127.0.0.1", 0))
        dead = f"127.0.0.1:{closed.getsockname()[1]}"
        sources = (f"http://{dead}/a.zip", f"{url}/missing.zip", f"{url}/b.zip")
        monkeypatch.setattr(_fetch, "COIL100", RemoteFile(("coil100/coil-100.zip",), sources, None))
        assert len(datasets.fetch_coil100((3,))) == 3
    assert [path for path in requests if "zip" in path][-1] == "/b.zip"
    assert list(_download._unreachable) == [dead]


def test_without_pooch_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "pooch", None)
    with pytest.raises(DataUnavailableError, match=r"pip install 'sknomad\[data\]'"):
        datasets.fetch_teapots()


REAL = os.environ.get("SKNOMAD_DATA", "nowhere")


def need(name):
    if not (Path(REAL) / name).is_dir():
        pytest.skip(f"SKNOMAD_DATA is not set to a folder with {name}/")


@pytest.mark.data
def test_real_mnist(monkeypatch):
    need("mnist")
    monkeypatch.setenv("SKNOMAD_DATA", REAL)
    digits = datasets.fetch_mnist()
    assert digits.images.shape == (70000, 28, 28)
    assert np.count_nonzero(digits.target == 0) == 6903


@pytest.mark.data
@pytest.mark.parametrize(
    ("fetch", "folder", "shape", "targets"),
    [
        (datasets.fetch_teapots, "teapots", (100, 76, 101, 3), 1),
        (datasets.fetch_yale_faces, "yaleb", (256, 192, 168), 4),
        (datasets.fetch_coil20, "coil20", (1440, 32, 32), 20),
        (datasets.fetch_coil100, "coil100", (288, 128, 128, 3), 4),
    ],
)
def test_real_images(monkeypatch, fetch, folder, shape, targets):
    need(folder)
    monkeypatch.setenv("SKNOMAD_DATA", REAL)
    images = fetch()
    assert images.images.shape == shape
    assert images.images.dtype == np.uint8
    assert len(np.unique(images.target)) == targets
    # Views, or lights, next to each other look more alike than those far apart.
    first = images.data[images.target == images.target[0]]
    near = np.linalg.norm(first[1:] - first[:-1], axis=1).mean()
    far = np.linalg.norm(first - np.roll(first, len(first) // 2, axis=0), axis=1).mean()
    assert near < far


@pytest.mark.data
def test_pixels_of_a_repacked_archive_are_recognised(monkeypatch, tmp_path):
    need("yaleb")
    source = next((Path(REAL) / "yaleb").glob("*.zip"))
    target = tmp_path / "yaleb" / "CroppedYale.zip"
    target.parent.mkdir()
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as new:
        for name in reversed([name for name in old.namelist() if "yaleB05" in name]):
            new.writestr(f"elsewhere/{Path(name).name}", old.read(name))
    monkeypatch.setenv("SKNOMAD_DATA", str(tmp_path))
    assert len(datasets.fetch_yale_faces((5,))) == 64
