"""The commands beside ``fit``: what each finds, writes, prints as JSON, and refuses."""

import csv
import json
import os
import subprocess
import sys

import numpy as np
import pytest

import sknomad
from running import run
from sknomad._command import shared_options
from sknomad.datasets import blobs, two_rings


def write_csv(path, X, **columns):
    names = [*"abcdefgh"[: X.shape[1]], *columns]
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(names)
        writer.writerows(zip(*X.T.tolist(), *columns.values(), strict=True))
    return path


@pytest.fixture
def rings(tmp_path):
    X, truth = two_rings(60)
    return write_csv(tmp_path / "rings.csv", X, ring=truth)


@pytest.fixture
def clouds(tmp_path):
    X, truth = blobs(60, random_state=0)
    return write_csv(tmp_path / "clouds.csv", X, cloud=truth)


def columns_of(path):
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    return {name: [row[name] for row in rows] for name in rows[0]}


def test_cluster_finds_the_number(capsys, tmp_path):
    out, (X, truth) = tmp_path / "out", two_rings(100)
    rings = write_csv(tmp_path / "rings.csv", X, ring=truth)
    code, text, _ = run(capsys, "cluster", rings, "--label-column", "ring", "--out", out)
    assert code == 0
    assert "clusters      2 (points: 50, 50), confidence" in text
    assert "in the search for K" in text
    found = columns_of(out / "points.csv")
    assert set(found) == {"row", "cluster", "order", "embedding_1", "embedding_2", "map_x", "map_y"}
    assert len(set(zip(found["cluster"], columns_of(rings)["ring"], strict=True))) == 2
    assert json.loads((out / "summary.json").read_text())["n_clusters"] == 2


def test_cluster_by_kmeans_with_a_proof(capsys, clouds, tmp_path):
    proof, model = tmp_path / "clouds.cert", tmp_path / "clouds.sknomad"
    arguments = ["cluster", clouds, "--drop", "cloud", "--method", "kmeans", "-k", 6, "--certificate", proof]
    code, text, _ = run(capsys, *arguments, "--save", model, "--json", "--seed", 3, "--device", "cpu")
    summary = json.loads(text)
    assert code == 0
    assert summary["gap"] <= 1e-3
    assert summary["is_certified"] is True
    code, text, _ = run(capsys, "verify", proof, clouds, "--drop", "cloud", "--json")
    assert code == 0
    assert json.loads(text)["proven"]["lower_bound"] == pytest.approx(summary["lower_bound"])
    code, text, _ = run(capsys, "transform", model, clouds)
    assert code == 0
    assert text.splitlines()[0] == "row,cluster," + ",".join(f"distance_{j}" for j in range(1, 7))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--method", "kmeans"], "Pass -k N"),
        (["--cuts"], "--method kmeans"),
        (["--method", "kmeans", "-k", 2, "--metric", "precomputed"], "must have points"),
        (["-k", 99], "n_samples=60"),
    ],
)
def test_cluster_refuses(capsys, rings, options, message):
    code, text, err = run(capsys, "cluster", rings, *options)
    assert (code, text) == (1, "")
    assert message in err


def test_certify_labels_of_a_column_or_a_file(capsys, clouds, tmp_path):
    code, text, _ = run(capsys, "certify", clouds, "--label-column", "cloud", "--json")
    summary = json.loads(text)
    assert code == 0
    assert summary["n_clusters"] == 6
    assert summary["gap"] <= 1e-3
    labels = tmp_path / "labels.txt"
    labels.write_text("\n".join(columns_of(clouds)["cloud"]))
    code, text, _ = run(capsys, "certify", clouds, "--drop", "cloud", "--labels", labels)
    assert code == 0
    assert "no clustering into 6 groups has one below" in text
    labels.write_text("\n".join(columns_of(clouds)["cloud"][:-1]))
    code, _, err = run(capsys, "certify", clouds, "--drop", "cloud", "--labels", labels)
    assert code == 1
    assert "60 rows of FILE, got 59" in err
    for options in ([], ["--label-column", "cloud", "--labels", labels]):
        assert run(capsys, "certify", clouds, *options)[0] == 1


def test_certify_by_parts_and_verify(capsys, clouds, tmp_path):
    table, cert = (clouds, "--label-column", "cloud"), tmp_path / "parts.cert"
    options = ("--parts", "2", "--checkpoint", tmp_path / "kept", "--certificate", cert)
    code, text, _ = run(capsys, "certify", *table, *options, "--json")
    assert code in (0, 3)
    assert json.loads(text)["parts"] == {"done": 2, "total": 2}
    assert len(list((tmp_path / "kept").glob("part-*"))) == 2
    assert run(capsys, "verify", cert, *table)[0] == 0
    assert "2 of 2 proven" in run(capsys, "certify", *table, *options)[1]
    # All at once the proof takes a checkpoint as well: a file, not a folder.
    assert run(capsys, "certify", *table, "--checkpoint", tmp_path / "other")[0] in (0, 3)
    assert (tmp_path / "other").is_file()


def test_certify_bad_labels_is_3(capsys, clouds):
    code, text, _ = run(capsys, "certify", clouds, "--label-column", "a", "-k", 60, "--tol", 0)
    assert code in (0, 3)
    X = write_csv(clouds, blobs(60, random_state=0)[0], cloud=np.arange(60) % 6)
    code, text, _ = run(capsys, "certify", X, "--label-column", "cloud")
    assert code == 3
    assert "--cuts often" in text


def test_noise_is_refused_or_set_apart(capsys, clouds):
    X, truth = blobs(60, random_state=0)
    noisy = truth.copy()
    noisy[:4] = -1
    write_csv(clouds, X, cloud=noisy)
    code, _, err = run(capsys, "certify", clouds, "--label-column", "cloud")
    assert code == 1
    assert "4 points with none" in err
    assert "--noise drop" in err
    code, text, _ = run(capsys, "certify", clouds, "--label-column", "cloud", "--noise", "drop", "--json")
    summary = json.loads(text)
    assert code == 0
    assert (summary["n_noise"], summary["n_samples"]) == (4, 56)
    with pytest.raises(ValueError, match="-1, which marks noise, for 4 of 60"):
        sknomad.certify_kmeans(X, noisy)
    assert sknomad.certify_kmeans([[0.0], [1.0], [9.0]], [-1, -1, 1]).n_clusters == 2  # signs


def test_path_is_a_table(capsys, rings, tmp_path):
    out = tmp_path / "out"
    code, text, _ = run(capsys, "path", rings, "--drop", "ring", "-K", 4, 16, "--json", "--out", out, "--quiet")
    rows = json.loads(text)["path"]
    assert code == 0
    assert [row["parts"] for row in rows] == [1, 2]
    assert columns_of(out / "path.csv")["K"] == ["4", "16"]
    assert (out / "path.png").exists()
    code, text, _ = run(capsys, "path", rings, "--drop", "ring", "--tol", 1e-2)
    assert code == 0
    assert len(text.splitlines()) == 6


def test_transform_finds_its_columns(capsys, rings, tmp_path):
    model = tmp_path / "rings.sknomad"
    fitted = ["fit", rings, "-K", 16, "--label-column", "ring", "--standardize", "--save", model]
    assert run(capsys, *fitted)[0] == 0
    table = columns_of(rings)
    swapped = tmp_path / "new.csv"
    with swapped.open("w", newline="") as file:
        csv.writer(file).writerows([["note", "b", "a"], *zip(["x"] * 60, table["b"], table["a"], strict=True)])
    out = tmp_path / "placed.csv"
    code, text, err = run(capsys, "transform", model, swapped, "--out", out)
    assert (code, text) == (0, "")
    assert "Wrote" in err
    placed, embedding = columns_of(out), sknomad.load(model).embedding_
    assert np.allclose([float(v) for v in placed["embedding_1"]], embedding[:, 0], atol=1e-8)
    assert len(set(zip(placed["manifold"], table["ring"], strict=True))) == 2
    assert max(map(float, placed["remoteness"])) <= 1e-6
    assert run(capsys, "transform", model, swapped, "--out", out)[0] == 1
    assert run(capsys, "transform", model, swapped, "--out", out, "--overwrite", "--quiet")[2] == ""
    swapped.write_text("a,c\n1,2\n")
    code, _, err = run(capsys, "transform", model, swapped, "--drop", "c")
    assert code == 1
    assert "2 columns that the model was fitted to, got 1, and no b" in err
    code, _, err = run(capsys, "transform", model, rings, "--standardize")
    assert (code, "whose scale the model keeps" in err) == (1, True)


def test_verify_says_other_data(capsys, tmp_path):
    doubled = np.repeat(two_rings(20)[0], 2, axis=0)
    proof = tmp_path / "a.cert"
    write_csv(tmp_path / "a.csv", doubled)
    write_csv(tmp_path / "b.csv", two_rings(40)[0])
    assert run(capsys, "fit", tmp_path / "a.csv", "-K", 5, "--certificate", proof)[0] == 0
    code, text, err = run(capsys, "verify", proof, tmp_path / "b.csv")
    assert code == 3
    assert "other data" in text
    assert "weight" not in text + err


def test_datasets(capsys, tmp_path):
    code, text, _ = run(capsys, "datasets", "--json")
    assert code == 0
    assert {"two_rings", "mnist", "swiss_roll"} <= set(json.loads(text))
    code, text, _ = run(capsys, "datasets", "swiss_roll", "-n", 5)
    assert text.splitlines()[0] == "x,y,parameter"
    assert len(text.splitlines()) == 6
    out = tmp_path / "blobs.csv"
    assert run(capsys, "datasets", "blobs", "--out", out, "--quiet") == (0, "", "")
    first = out.read_text()
    assert run(capsys, "datasets", "blobs", "--out", out)[0] == 1
    assert run(capsys, "datasets", "blobs", "--out", out, "--overwrite", "--seed", 1)[0] == 0
    assert out.read_text() != first
    code, _, err = run(capsys, "datasets", "blob")
    assert code == 1
    assert "two_rings" in err


def test_limits_reach_the_solver(capsys, rings):
    code, _, err = run(capsys, "fit", rings, "--drop", "ring", "--max-memory", "1M", "--threads", 1, "-K", 8)
    assert code == 1
    assert "are free" in err
    for wrong in (["--max-memory", "lots"], ["--threads", "0"], ["--image-size", "3"]):
        assert run(capsys, "fit", rings, *wrong)[0] == 2


def test_checkpoint_goes_on(capsys, rings, tmp_path):
    keep = tmp_path / "run.ckpt"
    arguments = ["fit", rings, "--drop", "ring", "-K", 16, "--checkpoint", keep, "--json", "--quiet"]
    run(capsys, *arguments, "--tol", 1e-2)
    assert keep.exists()
    first = json.loads(run(capsys, *arguments, "--tol", 1e-3)[1])
    again = json.loads(run(capsys, *arguments, "--tol", 1e-3)[1])
    assert first["status"] == again["status"] == "certified"
    assert again["iterations"] == first["iterations"]


def test_quiet_says_nothing_but_errors(capsys, rings):
    code, text, err = run(capsys, "fit", rings, "--drop", "ring", "-K", 16, "--max-seconds", 0, "--quiet")
    assert (code, err) == (3, "")
    assert "max_seconds" in text
    assert run(capsys, "fit", rings, "-K", 61, "--quiet", "--drop", "ring")[2] != ""


def test_advice_speaks_of_options(capsys, clouds):
    write_csv(clouds, np.random.default_rng(0).standard_normal((40, 2)))
    code, _, err = run(capsys, "cluster", clouds, "--method", "kmeans", "-k", 3)
    assert code == 3
    assert "Pass --cuts" in err
    assert "cuts=True" not in err


def test_lists_of_choices_are_those_of_the_library():
    from sknomad._certificate.upper import GRADES
    from sknomad._estimators.parameters import DEVICES
    from sknomad._program.inputs import METRICS
    from sknomad.solvers import SOLVERS

    assert tuple(METRICS) == shared_options.METRICS
    assert set(shared_options.SOLVERS) == set(SOLVERS)
    assert shared_options.DEVICES == DEVICES
    assert set(shared_options.GRADES) == set(GRADES)


@pytest.mark.skipif(os.name == "nt", reason="bash")
def test_completion_completes(capsys, tmp_path):
    for shell in ("bash", "zsh", "fish"):
        code, text, _ = run(capsys, "completion", shell)
        assert code == 0
        assert "label-column" in text
    script = tmp_path / "sknomad.bash"
    script.write_text(run(capsys, "completion", "bash")[1])
    ask = f"source {script}; COMP_WORDS=(sknomad {{}}); COMP_CWORD={{}}; _sknomad; echo ${{COMPREPLY[@]}}"
    for words, position, answer in (("ver", 1, "verify"), ("fit --stand", 2, "--standardize")):
        command = [
            "bash",
            "-c",
            ask.replace("{}", words, 1).replace("{}", str(position), 1).replace("{{", "{").replace("}}", "}"),
        ]
        assert subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip() == answer


def test_help_needs_no_library():
    code = "import sys; from sknomad.cli import main\ntry: main(['fit', '--help'])\nexcept SystemExit: pass\n"
    code += "print([m for m in ('numpy', 'scipy', 'sklearn') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
