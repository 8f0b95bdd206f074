"""The report as a file: what it holds, how large it is, that users' text stays text, and what is refused."""

import base64
import io
import json
import re
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from PIL import Image

from sknomad import NOMAD, MultiLayerNOMAD, datasets, nomad_path, report
from sknomad._report.proof import percent, verdict
from sknomad._report.thumbnails import sprite_sheet

X, TRUTH = datasets.two_rings(60)
EVIL = '</script><script>alert(1)</script><img src=x onerror=alert(2)> {{script}} & "quoted" \u2028 \ud83d'


@pytest.fixture(scope="module")
def model():
    return NOMAD(K=12, tol=1e-2).fit(X)


def written(tmp_path, *arguments, **options):
    path = tmp_path / "report.html"
    report(*arguments, path, **options)
    return path.read_text(encoding="utf-8")


def contents(text):
    return json.loads(re.search(r'<script type="application/json" id="contents">(.*?)</script>', text, re.DOTALL)[1])


def decoded(packed):
    values = np.frombuffer(base64.b64decode(packed["base64"]), dtype=packed["type"])
    return values.astype(np.float64) * packed["unit"] if "unit" in packed else values


class Tags(HTMLParser):
    """Tags of a page and their attributes, as a browser would see them."""

    def __init__(self, text):
        super().__init__()
        self.found = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))


def test_the_page_holds_the_numbers_of_the_model(model, tmp_path):
    page = contents(written(tmp_path, model, X, labels=TRUTH))
    np.testing.assert_array_equal(decoded(page["labels"]), model.labels_)
    np.testing.assert_allclose(decoded(page["map"]).reshape(-1, 2), model.map_, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(decoded(page["order"]), model.order_, rtol=1e-6)
    np.testing.assert_allclose(decoded(page["columns"][1]["values"]), X[:, 1], rtol=1e-6)
    assert page["manifolds"] == [30, 30]
    assert page["closed"] == [True, True]
    assert page["given"] == [str(label) for label in TRUTH]
    assert page["proof"]["upper"] == model.certificate_.upper
    np.testing.assert_allclose(page["spectrum"], np.linalg.eigvalsh(model.affinity_)[::-1][:40], atol=1e-9)
    order = np.lexsort((model.order_, model.labels_))
    Q = model.affinity_[np.ix_(order, order)]
    pixels = decoded(page["affinity"]["pixels"]).reshape(60, 60)
    np.testing.assert_allclose((pixels / 255) ** 2, Q / Q.max(), atol=5e-3)
    assert page["made"]["python"].endswith("NOMAD(K=12, tol=0.01).fit(X)")


def test_the_verdict_says_no_more_than_is_proven(model):
    sentence = verdict(model)
    said = float(re.search(r"proven within ([\d.]+) %", sentence)[1]) / 100
    assert sentence.startswith("2 manifolds, 60 points; proven within ")
    assert model.certificate_.gap <= said <= 1.2 * model.certificate_.gap
    for share in (1e-12, 3.14159e-4, 0.0999999, 0.5, 1.0):
        assert float(percent(share).rstrip(" %")) / 100 >= share * (1 - 1e-9)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_without_a_bound_nothing_is_called_proven(tmp_path):
    model = NOMAD(K=12, solver="soft", max_iter=20).fit(X)
    assert "is not known" in verdict(model)
    assert contents(written(tmp_path, model, X))["proof"]["upper"] is None


def test_users_text_is_inert_and_nothing_is_loaded(model, tmp_path):
    text = written(
        tmp_path, model, X, names=[EVIL] * 60, labels=[EVIL] * 60, columns=[EVIL, "y"], command=f"fit {EVIL}"
    )
    assert contents(text)["names"][0].startswith("</script><script>alert(1)")
    tags = Tags(text).found
    assert sum(tag == "script" for tag, _ in tags) == 2
    assert not any(tag in ("img", "iframe", "object", "embed") for tag, _ in tags)
    for _, attributes in tags:
        assert not any(name.startswith("on") for name in attributes)
        assert attributes.get("src") is None
        assert not str(attributes.get("href", "#")).startswith(("http", "//"))
    assert "default-src 'none'" in text
    assert not re.search(r"(https?:)?//(?!www\.w3\.org/2000/svg)[a-z0-9-]+\.[a-z]", text.split('id="contents"')[0])


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_two_thousand_points_with_pictures_stay_below_two_megabytes(tmp_path, rng):
    angle = rng.uniform(0, 2 * np.pi, 2000)
    points = np.column_stack([np.cos(angle), np.sin(angle), *rng.standard_normal((10, 2000))])
    model = NOMAD(K=12, solver="soft", max_iter=3, tol=1.0)
    model.fit(points)
    names = [f"a name of thirty characters {i:04d}" for i in range(2000)]
    images = rng.integers(0, 256, (2000, 32, 32), dtype=np.uint8)  # noise, which no format makes smaller
    text = written(tmp_path, model, points, images=images, names=names)
    assert len(text.encode("utf-8")) < 2_000_000


def test_frames_sparse_data_and_kernels(model, tmp_path):
    frame = pd.DataFrame(X, columns=["east", "north"])
    assert [column["name"] for column in contents(written(tmp_path, model, frame))["columns"]] == ["east", "north"]
    assert len(contents(written(tmp_path, model, sp.csr_matrix(X)))["columns"]) == 2
    kernel = NOMAD(K=12, metric="precomputed", tol=1e-2).fit(X @ X.T)
    assert contents(written(tmp_path, kernel, None))["columns"] == []
    wide = NOMAD(K=6, tol=1e-2).fit(np.hstack([X] * 20))
    assert len(contents(written(tmp_path, wide, np.hstack([X] * 20)))["columns"]) == 12


def test_pictures_are_shrunk_into_one_sheet():
    images = np.zeros((3, 10, 20, 3))
    images[1] = [1.0, 0.0, 0.5]
    sheet, side = sprite_sheet(images, 3)
    pixels = np.asarray(Image.open(io.BytesIO(sheet)))
    assert side == 20
    assert pixels.shape == (20, 60, 3)
    np.testing.assert_array_equal(pixels[10, 30], [255, 0, 128])
    assert pixels[2, 30].max() == 0  # above a picture that is wider than high
    assert pixels[10, 10].max() == 0


@pytest.mark.parametrize("scale", [1e-60, 1e60])
def test_numbers_of_any_size_reach_the_page(scale, tmp_path):
    model = NOMAD(K=12, tol=1e-2).fit(scale * X)
    page = contents(written(tmp_path, model, scale * X))
    np.testing.assert_allclose(decoded(page["map"]).reshape(-1, 2), model.map_, atol=1e-6 * scale)
    np.testing.assert_allclose(decoded(page["columns"][0]["values"]), scale * X[:, 0], atol=1e-6 * scale)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda m, p: report("model", X, p), TypeError, "model must be a fitted NOMAD or MultiLayerNOMAD, got str"),
        (lambda m, p: report(m, X[:5], p), ValueError, r"X must hold the 60 points.*got shape \(5, 2\)"),
        (
            lambda m, p: report(m, X, p, names=["a"]),
            ValueError,
            "names must hold one text for each of 60 points, got 1",
        ),
        (lambda m, p: report(m, X, p, names="a" * 60), ValueError, "got a single string"),
        (lambda m, p: report(m, X, p, labels=[1, 2]), ValueError, "labels must hold one text for each of 60 points"),
        (lambda m, p: report(m, X, p, columns=["a"]), ValueError, "columns must name the 2 columns of X, got 1"),
        (lambda m, p: report(m, X, p, np.ones((60, 4))), ValueError, r"images must have shape \(60, height, width\)"),
        (lambda m, p: report(m, X, p, np.full((60, 4, 4), np.nan)), ValueError, "images must hold finite numbers"),
        (lambda m, p: report(NOMAD(), X, p), ValueError, "not fitted yet"),
        (lambda m, p: report(m, X, p, K_path=[4, 8]), TypeError, "K_path must be a NOMADPath, got list"),
        (
            lambda m, p: report(m, X, p, K_path=nomad_path(X[:20], [3], tol=0.1)),
            ValueError,
            "K_path must be of the 60 points of the model, got one of 20",
        ),
    ],
)
def test_wrong_arguments_are_refused_and_nothing_is_written(call, error, message, model, tmp_path):
    with pytest.raises(error, match=message):
        call(model, tmp_path / "report.html")
    assert list(tmp_path.iterdir()) == []


def test_layers_have_a_page_of_their_own_words(tmp_path):
    model = MultiLayerNOMAD([12, 4, 2], tol=1e-2).fit(X)
    page = contents(written(tmp_path, model, X))
    assert page["word"] == "cluster"
    gap = max(layer.certificate.gap for layer in model.layers_)
    said = float(re.search(r"every layer proven within ([\d.]+) %", page["verdict"])[1]) / 100
    assert gap <= said <= 1.2 * gap
    assert [layer["said"].split(",")[0] for layer in page["layers"]] == ["K = 12", "K = 4", "K = 2"]
    order = np.lexsort((model.order_, model.labels_))
    last = model.layers_[-1].Q[np.ix_(order, order)]
    shades = decoded(page["layers"][-1]["pixels"]).reshape(60, 60)
    np.testing.assert_allclose((shades / 255) ** 2, last / last.max(), atol=5e-3)
    assert page["search"] is None
    assert page["path"] is None
    assert page["made"]["python"].startswith("from sknomad import MultiLayerNOMAD")


def test_other_K_come_from_the_search_or_from_a_path(model, tmp_path):
    assert contents(written(tmp_path, model, X))["path"] is None
    chosen = NOMAD(tol=1e-1).fit(X)
    page = contents(written(tmp_path, chosen, X))
    assert page["path"]["K"] == chosen.search_.K_values.tolist()
    assert page["path"]["parts"] == chosen.search_.n_parts[:, chosen.search_.clearest].tolist()
    assert 2 in page["path"]["parts"]
    assert page["search"]["parts"] == chosen.search_.n_parts.tolist()
    assert "anyhow" in page["path"]["said"]
    path = nomad_path(X, [4, 12], tol=1e-2)
    page = contents(written(tmp_path, chosen, X, K_path=path))
    assert page["path"]["K"] == [4.0, 12.0]
    assert page["path"]["parts"] == path.n_components.tolist()
    assert "each proven within" in page["path"]["said"]


def test_points_in_no_manifold_and_a_single_one(tmp_path):
    line = np.vstack([np.linspace(0, 1, 30)[:, None] * [1.0, 2.0], [[50.0, 50.0]]])
    model = NOMAD(K=4, tol=1e-2, min_component_size=3).fit(line)
    page = contents(written(tmp_path, model, line))
    assert page["verdict"].startswith(f"{model.n_manifolds_} manifold")
    assert "(1 in none)" in page["verdict"]
    assert decoded(page["labels"])[-1] == -1
