"""Made-up points, multipliers, certificates, checkpoints and models: refused with a sentence, or their bounds are true.

The optimum is known as a fraction, so that a false bound is one in the last digit too.
"""

import io
import json
import math
import warnings
from fractions import Fraction

import numpy as np
import pytest

from hostile import damaged, forge, forged_array, members_of, npy
from oracles import exact_squares, nearly_all
from sknomad import (
    NOMAD,
    CertifiedKMeans,
    FormatError,
    Gram,
    Iterate,
    KMeansSDP,
    certify,
    certify_kmeans,
    cli,
    load,
    repair,
    solve,
    upper_bound,
    verify_certificate,
)
from sknomad._certificate.certificate import Certificate
from sknomad._certificate.cuts import Multipliers, clustering_upper_bound
from sknomad._certificate.iterate import NegativePart
from sknomad._points.forms import DensePoint, FactorPoint, SoftPoint, SpectralPoint
from sknomad._points.mixed import MixedPoint
from sknomad._solving import certificate_file

N, K = 6, 5.25
X = np.random.default_rng(5).standard_normal((N, 2))
WEIGHTS = np.array([1.0, 2.0, 0.5, 3.0, 1.0, 0.1])
TRUTH = {None: nearly_all(exact_squares(X, "data"), K), "weighted": nearly_all(exact_squares(X, "data"), K, WEIGHTS)}
LEAST_INERTIA = TRUTH[None].least  # of five clusters
REFUSALS = (ValueError, TypeError)


def problem_of(kind):
    return KMeansSDP(Gram.from_data(X, weights=None if kind is None else WEIGHTS), K)


def forged_point(rng):
    """A point in any form with one array made up."""
    U, _ = np.linalg.qr(rng.standard_normal((N, 4)))
    arrays = {
        DensePoint: [np.eye(N)], SoftPoint: [np.eye(N), np.ones(N)], FactorPoint: [np.eye(N)],
        SpectralPoint: [U, np.ones(4), np.ones(N)],
    }  # fmt: skip
    form = list(arrays)[rng.integers(4)]
    given = arrays[form]
    place = int(rng.integers(len(given)))
    given[place] = forged_array(given[place], rng)
    if rng.random() < 0.2:
        return MixedPoint(form(*given), *rng.choice([0, 0.5, 3, -1, math.nan, math.inf], 2))
    return form(*given) if rng.random() < 0.9 else given[0]


def forged_multiplier(rng):
    N_ = forged_array(TRUTH[None].N, rng)
    if rng.random() < 0.4:
        return NegativePart(N_, float(rng.choice([1, -1, 0, math.nan, math.inf, 1e300])))
    return N_


def attempt(task):
    """What a task returns; None where it is refused, with one sentence."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return task()
    except REFUSALS as error:
        sentence = str(error)
    if " must " not in sentence or "\n" in sentence:  # what NumPy says when it stumbles is no refusal
        pytest.fail(f"no sentence of ours: {sentence}")
    return None


def assert_true(proof, kind):
    value = TRUTH[kind].value
    assert proof.lower == -math.inf or Fraction(proof.lower) <= value
    assert proof.upper == math.inf or value <= Fraction(proof.upper)


def forge_an_iterate(rng):
    kind = rng.choice([None, "weighted"])
    grade, problem = str(rng.choice(["eigen", "verified"])), problem_of(kind)
    good = attempt(lambda: Iterate(np.eye(N), N=TRUTH[kind].N))
    iterate = attempt(lambda: Iterate(forged_point(rng), N=forged_multiplier(rng) if rng.random() < 0.7 else None))
    if iterate is None:
        return
    what = rng.integers(4)
    if what == 0 and (proof := attempt(lambda: certify(problem, iterate, grade=grade, repair_steps=2))) is not None:
        assert_true(proof, kind)
    elif what == 1 and (upper := attempt(lambda: upper_bound(problem, iterate.N, grade=grade))) is not None:
        assert_true(Certificate(-math.inf, upper), kind)
    elif what == 2 and (Q := attempt(lambda: repair(problem, iterate.Q, steps=2))) is not None:
        assert abs(np.trace(Q) - K) < 1e-9
        assert_true(certify(problem, Iterate(Q, N=good.N)), kind)
    elif (found := attempt(lambda: solve(problem, start=iterate, grade=grade, max_iter=5))) is not None:
        assert_true(found.certificate, kind)


def forge_multipliers_of_cuts(rng):
    arrays = [TRUTH[None].N, np.array([[0, 1, 2], [3, 4, 4]]), np.array([0.3, 0.1])]
    place = int(rng.integers(3))
    arrays[place] = forged_array(arrays[place], rng)
    grade, problem = str(rng.choice(["eigen", "verified"])), KMeansSDP(Gram.from_data(X), N - 1)
    upper = attempt(lambda: clustering_upper_bound(problem, Multipliers(*arrays), grade=grade))
    if upper is not None:
        assert upper == math.inf or Fraction(upper) >= TRUTH[None].trace - LEAST_INERTIA


def edited(data, rng, line):
    """A file with one array or one number of its header made up, and a right digest."""
    members = members_of(data)
    header = json.loads(dict(members)["header.json"])
    arrays = [name for name, _ in members if name.endswith(".npy")]
    if rng.random() < 0.7 and arrays:
        name = arrays[rng.integers(len(arrays))]
        array = np.lib.format.read_array(io.BytesIO(dict(members)[name]))
        new = npy(forged_array(array, rng, portable=True))
        members = [(n, new if n == name else d) for n, d in members]
    else:
        _spoil(header, rng)
        members = [(n, json.dumps(header) if n == "header.json" else d) for n, d in members]
    return forge(members, line)


def _spoil(node, rng):
    """Replace one number somewhere in a tree of JSON."""
    places = []

    def walk(node):
        for key, value in node.items() if isinstance(node, dict) else enumerate(node):
            if isinstance(value, dict | list):
                walk(value)
            elif isinstance(value, int | float) and not isinstance(value, bool):
                places.append((node, key))

    walk(node)
    where, key = places[rng.integers(len(places))]
    number = where[key]
    where[key] = [number * 1.5, number - 0.1, -number, 0, 10**6, 1e-300, None, "3", [number], 2.5, 3][rng.integers(11)]


def write_certificate(rng, path):
    """A certificate, and the weights it was made with."""
    kind = rng.choice(["plain", "weighted", "kmeans"])
    if kind == "kmeans":
        certify_kmeans(X, [0, 1, 2, 3, 4, 4], max_iter=30, grade="verified").save(path)
        return None
    weights = WEIGHTS if kind == "weighted" else None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = NOMAD(K, max_iter=30, grade="verified").fit(X, sample_weight=weights)
    model.solution_.save_certificate(path)
    return weights


def write_model(rng, path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = NOMAD(K).fit(X) if rng.random() < 0.7 else CertifiedKMeans(5, n_init=1, random_state=0).fit(X)
    model.save(path)


def write_checkpoint(rng, path):
    path.unlink(missing_ok=True)
    stop = int(rng.integers(3, 15))
    solve(problem_of(None), "admm", tol=0.0, checkpoint=path, callback=lambda progress: progress.iteration == stop)


def go_on(path, grade="verified"):
    return solve(problem_of(None), "admm", tol=1e-9, grade=grade, max_iter=16, checkpoint=path)


def forge_a_checkpoint(rng, path):
    write_checkpoint(rng, path)
    path.write_bytes(edited(path.read_bytes(), rng, b"sknomad-checkpoint-4\n"))
    found = attempt(lambda: go_on(path, str(rng.choice(["eigen", "verified"]))))
    if found is not None:
        assert_true(found.certificate, None)


def damage_a_file(rng, path):
    """Bits, stretches or the end of a file are others than its checksum says."""
    write, read = [
        (write_certificate, lambda: verify_certificate(path, X)), (write_model, lambda: load(path)),
        (write_checkpoint, lambda: go_on(path)),
    ][rng.integers(3)]  # fmt: skip
    write(rng, path)
    intact = path.read_bytes()
    _, data = list(damaged(intact, 5, rng))[rng.integers(5)]
    path.write_bytes(data)
    assert data == intact or attempt(read) is None


def forge_a_certificate(rng, path):
    weights = write_certificate(rng, path)
    path.write_bytes(edited(path.read_bytes(), rng, b"sknomad-certificate-1\n"))
    result = attempt(lambda: verify_certificate(path, X, sample_weight=weights))
    if result is None:
        return
    claims = [result.proven, result.claimed] if result.holds else [result.proven]
    exact = nearly_all(exact_squares(X, "data"), max(result.K, N - 1), weights)
    slack = 1e-9 * float(exact.trace)  # a claim may be one of another machine, which rounds otherwise
    for claim, error in zip(claims, (0, slack), strict=False):
        if result.claim == "kmeans" and result.K == N - 1:
            assert claim["lower_bound"] == -math.inf or Fraction(claim["lower_bound"] - error) <= exact.least
            assert claim["inertia"] >= float(exact.least) * (1 - 1e-14) - error
        if result.claim == "nomad" and result.K >= N - 1:
            assert claim["lower"] - error <= exact.value
            assert claim["upper"] + error >= exact.value
    if result.holds and result.claim == "nomad":
        assert result.proven["lower"] <= result.proven["upper"]


def forge_a_model(rng, path):
    write_model(rng, path)
    path.write_bytes(edited(path.read_bytes(), rng, b"sknomad-model-1\n"))
    again = attempt(lambda: load(path))
    if again is None:
        return
    attempt(lambda: again.predict(X))
    if not isinstance(again, NOMAD):
        return
    problem = again.solution_.problem
    if problem.K == K and np.array_equal(problem.gram.table, Gram.from_data(X).table):
        proof = attempt(lambda: certify(problem, again.solution_.iterate, grade="verified"))
        if proof is not None:
            assert_true(proof, None)
    if attempt(lambda: again.solution_.save_certificate(path) or True):
        result = attempt(lambda: verify_certificate(path, X))
        if result is not None and result.K == K:
            assert_true(Certificate(result.proven["lower"], result.proven["upper"]), None)


FORGERIES = [
    lambda rng, path: forge_an_iterate(rng), lambda rng, path: forge_multipliers_of_cuts(rng),
    forge_a_certificate, forge_a_model, forge_a_checkpoint, damage_a_file,
]  # fmt: skip


def run(seeds, folder):
    for seed in seeds:
        FORGERIES[seed % len(FORGERIES)](np.random.default_rng([13, seed]), folder / "file")


@pytest.mark.parametrize("part", range(2))
def test_no_forgery_makes_a_false_claim(part, tmp_path):
    run(range(part * 78, (part + 1) * 78), tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(4))
def test_none_of_a_thousand_forgeries_makes_a_false_claim(part, tmp_path):
    run(range(200 + part * 250, 200 + (part + 1) * 250), tmp_path)


@pytest.mark.parametrize("seed", [549, 1006], ids=["parts that are not whole", "a list as a residual"])
def test_what_once_ended_in_no_sentence(seed, tmp_path):
    run([seed], tmp_path)


def test_values_of_the_wrong_shape_are_refused(rng):
    U = np.linalg.qr(rng.standard_normal((8, 1)))[0]
    with pytest.raises(ValueError, match=r"l must have shape \(1\), got \(8, 1\)"):
        SpectralPoint(U, np.ones((8, 1)))


def test_a_forged_point_in_a_file_is_refused(tmp_path, capsys):
    path, data = tmp_path / "cert", tmp_path / "data.npy"
    np.save(data, X)
    solve(problem_of(None), "admm").save_certificate(path)
    members = members_of(path.read_bytes())
    shapes = {name: np.lib.format.read_array(io.BytesIO(d)).shape for name, d in members if name.endswith(".npy")}
    l = next(name for name, shape in shapes.items() if len(shape) == 1 and name.startswith("array_"))  # noqa: E741
    path.write_bytes(
        forge([(n, npy(np.ones((N, 1))) if n == l else d) for n, d in members], b"sknomad-certificate-1\n")
    )
    with pytest.raises(FormatError, match="l must have shape"):
        verify_certificate(path, X)
    assert cli.main(["verify", str(path), str(data)]) == 1
    assert "holds" not in capsys.readouterr().out


def test_nothing_holds_with_bounds_that_contradict_each_other(tmp_path, monkeypatch, capsys):
    path, data = tmp_path / "cert", tmp_path / "data.npy"
    np.save(data, X)
    solve(problem_of(None)).save_certificate(path)
    lower, upper = 16.4, 13.2
    monkeypatch.setattr(certificate_file, "_solution_bounds", lambda *_: {"lower": lower, "upper": upper})
    result = verify_certificate(path, X)
    assert not result.holds
    assert result.reason == "its lower lies above its upper, so one of them is false"
    assert cli.main(["verify", str(path), str(data)]) == 3
    assert "does not hold: its lower lies above its upper" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("task", "message"),
    [
        (lambda: certify(problem_of(None), np.eye(N)), "iterate must be an Iterate, got ndarray"),
        (lambda: certify(None, Iterate(np.eye(N))), "problem must be a KMeansSDP, got NoneType"),
        (lambda: certify(problem_of(None), Iterate(np.eye(N) * 1j)), "Q must hold real numbers, got complex128"),
        (lambda: certify(problem_of(None), Iterate(np.eye(N).astype(object))), "Q must hold real numbers, got object"),
        (lambda: certify(problem_of(None), Iterate(np.eye(5))), "Q must have 6 rows, got 5"),
        (lambda: upper_bound(problem_of(None), np.eye(N).tolist()), "N must be an array of real numbers, got list"),
        (lambda: upper_bound(problem_of(None), NegativePart(np.eye(5), 1.0)), r"N must have shape \(6, 6\), got"),
        (lambda: solve(problem_of(None), start=Iterate(np.eye(N), N=np.eye(3))), r"N must have shape \(6, 6\), got"),
        (lambda: Iterate(np.eye(N), residuals={"gap": [1.0]}), "residuals must be real numbers, got list for 'gap'"),
        (lambda: SoftPoint(np.empty((N, 0))), "V must have at least one column"),
        (lambda: SoftPoint(np.eye(N), np.full(N, np.nan)), "the fixed vector must hold finite numbers"),
        (lambda: MixedPoint(np.eye(N)), "base must be a point such as DensePoint"),
        (lambda: Multipliers(np.eye(N), np.zeros((1, 3)), np.zeros(1, dtype=complex)), "must hold real numbers"),
    ],
)
def test_each_refusal_is_one_sentence(task, message):
    with pytest.raises(REFUSALS, match=message):
        task()
