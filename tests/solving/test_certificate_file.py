"""Certificates in files: what is claimed is proven again from the data, and no edit makes a false claim hold."""

import io
import itertools
import json
import warnings

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_iris

from hostile import damaged, forge, members_of, npy
from sknomad import (
    CertifiedKMeans,
    FormatError,
    Gram,
    KMeansSDP,
    certify_kmeans,
    cli,
    kmeans_objective,
    solve,
    verify_certificate,
)
from sknomad._certificate.cuts import Multipliers, clustering_upper_bound
from sknomad._kmeans.certificate_file import write_kmeans_certificate
from sknomad._kmeans.inertia import inertia_bound
from sknomad._solving.triangles import pack, unpack

LINE = b"sknomad-certificate-1\n"


def best_inertia(X, K):
    return min(kmeans_objective(X, [0, *rest]) for rest in itertools.product(range(K), repeat=len(X) - 1))


def edited(path, **arrays):
    """The file with some arrays replaced and a right digest."""
    new = {f"{name}.npy": npy(array) for name, array in arrays.items()}
    members = [(name, new.get(name, data)) for name, data in members_of(path.read_bytes())]
    path.write_bytes(forge(members, LINE))


def with_header(path, change):
    (_, text), *rest = members_of(path.read_bytes())
    header = json.loads(text)
    change(header)
    path.write_bytes(forge([("header.json", json.dumps(header)), *rest], LINE))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("grade", ["eigen", "verified"])
def test_kmeans_certificate_is_proven_again(tmp_path, grade):
    X, path = load_iris().data, tmp_path / "iris.cert"
    proof = CertifiedKMeans(3, random_state=0, grade=grade).fit(X).certificate_
    proof.save(path)
    result = verify_certificate(path, X)
    assert result.holds
    assert result.same_data
    assert result.grade == grade
    assert result.claimed == {"inertia": proof.inertia, "lower_bound": proof.lower_bound}
    assert result.proven["lower_bound"] == pytest.approx(proof.lower_bound, rel=1e-10)
    assert result.proven["inertia"] == pytest.approx(78.851441, rel=1e-7)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("seed", range(4))
def test_what_steps_in_single_precision_prove_is_proven_again(tmp_path, seed):
    """Their state is symmetric to seven digits only, and a proof reads one triangle of it."""
    X, path = np.random.default_rng(seed).standard_normal((120, 4)), tmp_path / "noise.cert"
    CertifiedKMeans(3, random_state=0, grade="verified").fit(X).certificate_.save(path)
    assert verify_certificate(path, X).holds


@pytest.mark.parametrize("metric", ["euclidean", "precomputed", "precomputed_distance"])
@pytest.mark.parametrize("solver", ["auto", "soft", "burer_monteiro"])
def test_certificate_of_a_solution_is_proven_again(tmp_path, rng, metric, solver):
    X, path = rng.standard_normal((20, 3)), tmp_path / "nomad.cert"
    distances = np.linalg.norm(X[:, None] - X[None], axis=-1)
    data = {"euclidean": X, "precomputed": X @ X.T, "precomputed_distance": distances}[metric]
    make = {"euclidean": Gram.from_data, "precomputed": Gram.from_kernel, "precomputed_distance": Gram.from_distances}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        solution = solve(KMeansSDP(make[metric](data), 3.5), solver, tol=1e-5, max_iter=300)
    solution.save_certificate(path)
    result = verify_certificate(path, data, metric=metric)
    assert result.holds
    assert result.same_data
    assert result.K == 3.5
    assert result.proven["lower"] == pytest.approx(solution.certificate.lower, rel=1e-9)
    if solver == "auto":
        assert result.proven["upper"] == pytest.approx(solution.certificate.upper, rel=1e-4)
    else:
        assert result.proven["upper"] == np.inf
    assert not verify_certificate(path, data[:19, : None if metric == "euclidean" else 19], metric=metric).holds


EDITS = [
    "labels", "N scaled", "N negative", "N noise", "N nan", "weights", "negative weights", "cuts", "claims", "K",
    "data",
    "none",
]  # fmt: skip


@given(seed=st.integers(0, 2**32 - 1), edit=st.sampled_from(EDITS))
@example(seed=246, edit="N negative")  # N found without the cuts is worse than none with them
@settings(max_examples=120)
def test_no_edit_makes_a_false_claim_hold(tmp_path_factory, seed, edit):
    """Whatever is done to a certificate, what is reported is true of the data given."""
    rng, path = np.random.default_rng(seed), tmp_path_factory.mktemp("edits") / "cert"
    n, K = int(rng.integers(4, 8)), int(rng.integers(2, 4))
    X = rng.standard_normal((n, 2))
    plain = certify_kmeans(X, rng.integers(0, K, n), n_clusters=K, max_iter=200)
    cuts = np.array([rng.permutation(n)[:3] for _ in range(6)] + [[0, 1, 1]], dtype=np.int32)
    N = np.zeros((n, n)) if plain.multipliers is None else plain.multipliers.N
    weights = rng.random(7) * 0.3
    proof = Multipliers(N, cuts, weights)
    problem = KMeansSDP(Gram.from_data(X), K)
    claimed = {
        "inertia": plain.inertia,
        "lower_bound": inertia_bound(problem.gram, clustering_upper_bound(problem, proof)),
    }
    write_kmeans_certificate(path, plain.data, claimed, K, "eigen", plain.labels, proof)
    size, lower = rng.standard_normal(), pack(N)
    if edit == "labels":
        edited(path, labels=rng.integers(-2, K + 2, n))
    elif edit == "N scaled":
        edited(path, N=lower * 10.0 ** rng.uniform(-3, 6))
    elif edit == "N negative":
        edited(path, N=-abs(lower) - rng.random(lower.shape))
    elif edit == "N noise":
        edited(path, N=lower + size * rng.standard_normal(lower.shape))
    elif edit == "N nan":
        edited(path, N=np.full(lower.shape, rng.choice([np.nan, np.inf, 1e308])))
    elif edit == "weights":
        edited(path, weights=weights * 10.0 ** rng.uniform(-6, 12))
    elif edit == "negative weights":
        edited(path, weights=-weights * 100)
    elif edit == "cuts":
        edited(path, cuts=rng.integers(-1, n + 1, (7, 3)))
    elif edit == "claims":
        numbers = {"inertia": plain.inertia * rng.uniform(0, 1.1), "lower_bound": plain.inertia * rng.uniform(0, 2)}
        with_header(path, lambda h: h.update(claimed=numbers))
    elif edit == "K":
        with_header(path, lambda h: h.update(K=int(rng.choice([0, 1, 2, 3, n + 1]))))
    data = X + 0.3 * rng.standard_normal(X.shape) if edit == "data" else X
    try:
        result = verify_certificate(path, data)
    except FormatError:
        assert edit in ("cuts", "K")
        return
    best, slack = best_inertia(data, int(result.K)), 3e-9 * kmeans_objective(data, np.zeros(n))
    assert result.proven["lower_bound"] <= best + slack
    assert result.proven["inertia"] >= best - slack
    if result.holds:
        assert result.claimed["lower_bound"] <= best + slack
        assert result.claimed["inertia"] >= best - slack
    if edit == "none":
        assert result.holds
    if edit == "N nan":
        assert result.proven["lower_bound"] == 0
    if edit == "N negative":
        without_N = inertia_bound(problem.gram, clustering_upper_bound(problem, Multipliers(0 * N, cuts, weights)))
        assert result.proven["lower_bound"] == pytest.approx(min(without_N, plain.inertia), rel=0, abs=slack)


@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=40)
def test_no_edit_of_a_solution_makes_a_false_claim_hold(tmp_path_factory, seed):
    rng, path = np.random.default_rng(seed), tmp_path_factory.mktemp("edits") / "cert"
    X = rng.standard_normal((8, 2))
    solution = solve(KMeansSDP(Gram.from_data(X), 2.5), tol=1e-6, max_iter=20000)
    true = solution.certificate
    solution.save_certificate(path)
    assert verify_certificate(path, X).holds
    arrays = {name[:-4] for name, _ in members_of(path.read_bytes()) if name.endswith(".npy")}
    name = str(rng.choice(sorted(arrays)))
    with_header(path, lambda h: h["claimed"].update(upper=true.upper - rng.random()) if rng.random() < 0.3 else None)
    old = dict(members_of(path.read_bytes()))[f"{name}.npy"]
    array = np.lib.format.read_array(io.BytesIO(old))
    noise = rng.choice([0, 1]) * rng.standard_normal(array.shape)
    edited(path, **{name: array * rng.choice([-1, 0.5, 3, 1e5]) + noise})
    try:
        result = verify_certificate(path, X)
    except FormatError:
        return
    assert result.proven["lower"] <= true.upper
    assert result.proven["upper"] >= true.lower
    if result.holds:
        assert result.claimed["upper"] >= true.lower - 1e-9


def test_damaged_certificates_are_refused(tmp_path):
    path = tmp_path / "cert"
    certify_kmeans([[0.0], [1.0], [10.0], [11.0]], [0, 0, 1, 1]).save(path)
    intact = path.read_bytes()
    for _, data in damaged(intact, 100, np.random.default_rng(0)):
        path.write_bytes(data)
        with pytest.raises(FormatError, match=r"^certificate must be"):
            verify_certificate(path, [[0.0], [1.0], [10.0], [11.0]])


@pytest.mark.parametrize(
    "change",
    [{"claim": "truth"}, {"grade": "believed"}, {"K": "3"}, {"K": 2.5}, {"K": None}, {"n": None}, {"claimed": {}},
     {"claimed": {"inertia": "1", "lower_bound": 1}}, {"claimed": {"inertia": True, "lower_bound": 1}},
     {"claimed": None}],
    ids=str,
)  # fmt: skip
def test_nonsense_is_refused_with_a_sentence(tmp_path, change):
    path = tmp_path / "cert"
    certify_kmeans([[0.0], [1.0], [10.0], [11.0]], [0, 0, 1, 1]).save(path)
    with_header(path, lambda header: header.update(change))
    with pytest.raises(FormatError, match=r"^certificate must be one that can be checked"):
        verify_certificate(path, [[0.0], [1.0], [10.0], [11.0]])


@pytest.mark.parametrize("n", [1, 2, 5])
def test_multipliers_are_packed_without_loss(rng, n):
    N = np.abs(rng.standard_normal((n, n)))
    N = N + N.T
    assert np.array_equal(unpack(pack(N), n), N)
    single = N.astype(np.float32)
    assert pack(single).dtype == np.float32
    assert np.array_equal(unpack(pack(single), n), single)
    with pytest.raises(FormatError, match="N must be the lower triangle"):
        unpack(pack(N)[1:], n)


def test_command(tmp_path, capsys):
    X = load_iris().data
    data, cert, short = tmp_path / "iris.csv", tmp_path / "iris.cert", tmp_path / "short.csv"
    np.savetxt(data, X, delimiter=",")
    np.savetxt(short, X[:100], delimiter=",")
    certify_kmeans(X, load_iris().target, max_iter=60).save(cert)
    assert cli.main(["verify", str(cert), str(data)]) == 0
    assert "holds: no clustering into 3 groups has an inertia below 7" in capsys.readouterr().out
    assert cli.main(["verify", str(cert), str(data), "--grade", "verified", "--json"]) in (0, 3)
    summary = json.loads(capsys.readouterr().out)
    assert summary["grade"] == "verified"
    assert summary["proven"]["lower_bound"] == pytest.approx(summary["claimed"]["lower_bound"], rel=1e-8)
    assert cli.main(["verify", str(cert), str(short)]) == 3
    assert "other data than those it was made for: 100 points" in capsys.readouterr().out
    with_header(cert, lambda header: header["claimed"].update(lower_bound=88.0))
    assert cli.main(["verify", str(cert), str(data)]) == 3
    assert "does not hold" in capsys.readouterr().out
    assert cli.main(["verify", str(data), str(data)]) == 1
    assert "certificate must be an intact file" in capsys.readouterr().err


def test_fit_writes_certificate_and_model(tmp_path, capsys):
    from sknomad import load

    data = tmp_path / "iris.csv"
    np.savetxt(data, load_iris().data[::3], delimiter=",")
    paths = [tmp_path / "fit.cert", tmp_path / "fit.model"]
    arguments = ["fit", str(data), "-K", "5", "--certificate", str(paths[0]), "--save", str(paths[1])]
    assert cli.main(arguments) == 0
    assert load(paths[1]).K_ == 5
    assert cli.main(["verify", str(paths[0]), str(data)]) == 0
    assert "holds: " in capsys.readouterr().out
    assert cli.main([*arguments[:-1], str(tmp_path / "no" / "where")]) == 1
    assert "--save must name a file in an existing folder" in capsys.readouterr().err
