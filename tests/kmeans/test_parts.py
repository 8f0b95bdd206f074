"""Bounds by parts: equal to what they should equal, below every clustering whatever the division, and never lost."""

import itertools
import math

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from divided_data import clustered, hostile_division
from sknomad import (
    Certificate,
    CertificateError,
    Gram,
    KMeansSDP,
    PartsProgress,
    Status,
    certify_kmeans,
    kmeans_objective,
    load,
    solve,
    verify_certificate,
)
from sknomad._kmeans.division import automatic_count
from sknomad._kmeans.part_proof import in_units, joint_bound, members, sum_down
from sknomad._solving.checkpoint import CheckpointError


def best_inertia(X, K):
    """By trying every clustering into at most K groups, the first point always in the first."""
    X = X - X.mean(axis=0)
    best = math.inf
    for rest in itertools.product(range(K), repeat=len(X) - 1):
        codes = np.array([0, *rest])
        sums = np.zeros((K, X.shape[1]))
        np.add.at(sums, codes, X)
        sizes = np.maximum(np.bincount(codes, minlength=K), 1)
        best = min(best, float(np.sum(X**2) - np.sum(sums**2 / sizes[:, None])))
    return best


def check_division_is_harmless(seed):
    rng = np.random.default_rng(seed)
    n, K = int(rng.integers(4, 9)), int(rng.integers(1, 4))
    X = rng.standard_normal((n, 2)) * 10.0 ** rng.integers(-3, 4) + rng.choice([0.0, 1e3])
    labels = rng.integers(0, K, n)
    division = hostile_division(X, labels, K, rng)
    proof = certify_kmeans(
        X, labels, n_clusters=K, parts=division, max_iter=int(rng.choice([1, 20, 200])),
        grade=str(rng.choice(["eigen", "verified"])),
    )  # fmt: skip
    spread = kmeans_objective(X, np.zeros(n))
    assert 0 <= proof.lower_bound <= best_inertia(X, K) + 1e-9 * spread
    return proof


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=25)
def test_no_division_proves_more_than_is_true(seed):
    check_division_is_harmless(seed)


@pytest.mark.slow
def test_five_hundred_divisions():
    found = [check_division_is_harmless(10_000 + seed) for seed in range(500)]
    assert sum(proof.lower_bound > 0 for proof in found) > 100


@pytest.mark.parametrize("grade", ["eigen", "verified"])
def test_one_part_is_the_dense_bound_to_the_bit(grade):
    X, labels = clustered(120, 3, 4, seed=1)
    dense = certify_kmeans(X, labels, grade=grade)
    for parts in (1, [0] * 120):
        whole = certify_kmeans(X, labels, grade=grade, parts=parts)
        assert whole.lower_bound == dense.lower_bound
        assert whole.inertia == pytest.approx(dense.inertia, rel=1e-14)
        assert whole.grade == grade


@pytest.mark.slow
def test_one_part_is_the_dense_bound_at_1500_points():
    X, labels = clustered(1500, 4, 5, seed=2)
    assert certify_kmeans(X, labels, parts=1).lower_bound == certify_kmeans(X, labels).lower_bound


def test_copies_have_as_many_times_the_bound():
    X, labels = clustered(120, 3, 3, seed=3)
    one = certify_kmeans(X, labels)
    for copies in (2, 3, 4):
        many = certify_kmeans(np.tile(X, (copies, 1)), np.tile(labels, copies), parts=np.repeat(np.arange(copies), 120))
        assert many.lower_bound == pytest.approx(copies * one.lower_bound, rel=1e-15)
        assert many.gap == pytest.approx(one.gap)
        if copies in (2, 4):
            assert many.lower_bound == copies * one.lower_bound
    halves = certify_kmeans(X, labels, parts=np.full((120, 2), 0.5))
    assert halves.lower_bound == pytest.approx(one.lower_bound, rel=2e-3)


def test_decagon_shows_why_no_bound_by_parts_is_one_of_the_program():
    angles = 2 * np.pi * np.arange(10) / 10
    X, K = np.column_stack([np.cos(angles), np.sin(angles)]), 3
    labels = np.array([0, 0, 0, 1, 1, 1, 1, 2, 2, 2])
    solution = solve(KMeansSDP(Gram.from_data(X), K), tol=1e-6)
    relaxed = 10 - solution.certificate.lower  # the least "inertia" of the program, from above
    # Two pentagons: no clustering is below the sum of their bounds, and yet the program's value is.
    best = certify_kmeans(X, labels, parts=np.arange(10) % 2, tol=1e-5)
    assert relaxed == pytest.approx(2.66309, abs=1e-4)
    assert best.lower_bound == pytest.approx(2.76389, abs=1e-3)
    assert best.lower_bound <= best_inertia(X, K)
    # As an upper bound of the program it would contradict a feasible point.
    with pytest.raises(CertificateError, match="one of them is false"):
        Certificate(solution.certificate.lower, 10 - best.lower_bound)
    assert best.multipliers is None
    assert not hasattr(best, "upper")


def test_balanced_parts_lose_little_and_random_ones_much():
    X, labels = clustered(600, 3, 3, seed=4, noise=1.3)
    random = np.random.default_rng(0).permutation(np.arange(600) % 6)
    balanced, plain = (certify_kmeans(X, labels, parts=parts) for parts in (6, random))
    assert balanced.parts.count == plain.parts.count == 6
    assert np.ptp(np.bincount(balanced.parts.numbers)) <= 1
    dense = certify_kmeans(X, labels)
    assert balanced.gap - dense.gap < 0.3 * (plain.gap - dense.gap)


def test_progress_tells_bound_parts_and_an_estimate():
    X, labels = clustered(200, 3, 3, seed=5)
    told = []
    proof = certify_kmeans(X, labels, parts=4, callback=told.append)
    assert all(isinstance(progress, PartsProgress) for progress in told)
    assert [progress.parts_done for progress in told] == [1, 2, 3, 4]
    assert {progress.parts_total for progress in told} == {4}
    lowers = [progress.lower for progress in told]
    assert lowers == sorted(lowers)
    assert lowers[-1] == proof.lower_bound
    assert told[1].estimated_gap == pytest.approx(proof.gap, abs=0.02)
    stopped = certify_kmeans(X, labels, parts=4, callback=lambda progress: progress.parts_done == 2)
    assert stopped.status is Status.STOPPED
    assert 0 < stopped.lower_bound <= proof.lower_bound
    assert stopped.parts.done == 2


def test_no_time_leaves_the_bound_of_principal_components(tmp_path):
    X, labels = clustered(200, 6, 3, seed=6)
    proof = certify_kmeans(X, labels, parts=3, max_seconds=0, checkpoint=tmp_path / "parts")
    assert (proof.status, proof.parts.done, proof.parts.n_rough) == (Status.MAX_SECONDS, 0, 3)
    assert proof.inertia == pytest.approx(kmeans_objective(X, labels))
    by_hand = 0.0
    for part in range(3):
        rows = X[proof.parts.numbers == part]
        spread = np.linalg.svd(rows - rows.mean(axis=0), compute_uv=False) ** 2
        by_hand += spread[2:].sum()
    assert by_hand * (1 - 1e-9) <= proof.lower_bound <= by_hand
    proof.save(tmp_path / "proof")
    assert verify_certificate(tmp_path / "proof", X).holds
    complete = certify_kmeans(X, labels, parts=3, checkpoint=tmp_path / "parts")
    assert complete.parts.done == 3
    assert complete.lower_bound > proof.lower_bound


def test_interruption_keeps_what_is_proven():
    X, labels = clustered(200, 3, 3, seed=7)

    def interrupt(progress):
        if progress.parts_done == 2:
            raise KeyboardInterrupt

    proof = certify_kmeans(X, labels, parts=3, callback=interrupt)
    assert proof.status is Status.INTERRUPTED
    assert proof.parts.done == 2
    assert proof.lower_bound > 0


@pytest.mark.slow
def test_several_processes_prove_the_same():
    X, labels = clustered(120, 3, 3, seed=8)
    one, two = (certify_kmeans(X, labels, parts=2, n_jobs=jobs) for jobs in (None, 2))
    assert one.lower_bound == two.lower_bound
    assert np.array_equal(one.parts.numbers, two.parts.numbers)


def test_a_folder_keeps_finished_parts(tmp_path):
    X, labels = clustered(150, 3, 3, seed=9)
    whole = certify_kmeans(X, labels, parts=3)
    folder = tmp_path / "kept"
    certify_kmeans(X, labels, parts=3, checkpoint=folder, callback=lambda progress: progress.parts_done == 2)
    assert len(list(folder.glob("part-*"))) == 2
    told = []
    again = certify_kmeans(X, labels, parts=3, checkpoint=folder, callback=told.append)
    assert again.lower_bound == pytest.approx(whole.lower_bound, rel=1e-12)
    assert [progress.parts_done for progress in told] == [1, 2, 3]
    # A damaged part is done again; a folder of other labels or another division is refused.
    (folder / "part-000001.sknomad").write_bytes(b"nothing")
    assert certify_kmeans(X, labels, parts=3, checkpoint=folder).lower_bound == pytest.approx(again.lower_bound)
    with pytest.raises(CheckpointError, match="another one"):
        certify_kmeans(X, (labels + (np.arange(150) == 5)) % 3, parts=3, checkpoint=folder)
    with pytest.raises(CheckpointError, match="division"):
        certify_kmeans(X, labels, parts=4, checkpoint=folder)
    with pytest.raises(CheckpointError, match="folder"):
        certify_kmeans(X, labels, parts=3, checkpoint=tmp_path / "no" / "where")


@pytest.mark.parametrize("form", ["sparse", "float32", "memory map", "frame", "integers"])
def test_every_kind_of_table(form, tmp_path):
    X, labels = clustered(100, 3, 3, seed=10)
    X = np.round(X, 1) * 10
    plain = certify_kmeans(X, labels, parts=2)
    if form == "sparse":
        given = sp.csr_matrix(X)
    elif form == "memory map":
        given = np.lib.format.open_memmap(tmp_path / "X.npy", mode="w+", dtype=np.float32, shape=X.shape)
        given[:] = X
    elif form == "frame":
        given = pytest.importorskip("pandas").DataFrame(X)
    else:
        given = X.round().astype({"float32": np.float32, "integers": np.int64}[form])
        plain = certify_kmeans(X.round(), labels, parts=2)
    found = certify_kmeans(given, labels, parts=2)
    assert found.inertia == pytest.approx(plain.inertia, rel=1e-5)
    assert found.lower_bound == pytest.approx(plain.lower_bound, rel=2e-3)


def test_wrong_arguments_are_named():
    X, labels = clustered(60, 2, 3, seed=11)
    for parts, message in [
        ("many", '"auto", a number'),
        (30, "at most 20"),
        (0, "parts must be"),
        (np.r_[np.zeros(58), 1, 1].astype(int), "got 2 in part 1"),
        (np.zeros(59, dtype=int), "shape"),
        (-np.ones(60, dtype=int), "from 0"),
        (-np.ones((60, 2)), "not negative"),
    ]:
        with pytest.raises(ValueError, match=message):
            certify_kmeans(X, labels, parts=parts)
    with pytest.raises(ValueError, match="cuts must be False"):
        certify_kmeans(X, labels, parts=2, cuts=True)
    with pytest.raises(TypeError, match="Gram"):
        certify_kmeans(Gram.from_data(X), labels, parts=2)
    with pytest.raises(ValueError, match="n_jobs"):
        certify_kmeans(X, labels, parts=2, n_jobs=0)
    with pytest.raises(ValueError, match="Rescale"):
        certify_kmeans(X * 1e200, labels, parts=2)
    X[17, 1] = np.nan
    with pytest.raises(ValueError, match="block 0 of 1, the first at row 17, column 1"):
        certify_kmeans(X, labels, parts=2)


def test_automatic_count_follows_the_rule():
    assert automatic_count(1999, 10, 150) == 1
    assert automatic_count(70_000, 10, 5000) == 70
    assert automatic_count(100_000, 40, 2500) == 50  # 50 points for each cluster
    assert automatic_count(100_000, 10, 1000) == 50  # 20 of the smallest cluster
    assert automatic_count(10**6, 10, 1) == 200  # no part is larger than time allows


@given(st.lists(st.floats(0, 1e300), min_size=1, max_size=50))
def test_sum_is_rounded_down(values):
    from fractions import Fraction

    assert Fraction(sum_down(values)) <= sum(map(Fraction, values), Fraction(0))
    assert sum_down(values[:1]) == values[0]


def test_shares_that_add_up_to_more_than_one_are_divided():
    assert joint_bound([4.0, 2.0], np.array([[1.0, 1.0], [0.5, 0.5]])) == pytest.approx(3.0)
    assert joint_bound([4.0, 2.0], np.array([[1.0, 1.0], [0.5, 0.5]])) <= 3.0
    assert joint_bound([4.0, 2.0], np.array([[0.5, 0.5]])) == 6.0
    assert in_units(3.0, 2.0**-1080) == 0.0
    assert in_units(3.0, math.inf) < math.inf
    assert in_units(0.0, math.inf) == 0.0


def test_members_of_every_part():
    numbered = list(members(np.array([1, 0, 1])))
    assert [points.tolist() for points, _ in numbered] == [[1], [0, 2]]
    shared = list(members(np.array([[0.5, 0.0], [0.25, 1.0]])))
    assert [(points.tolist(), weights.tolist()) for points, weights in shared] == [([0, 1], [0.5, 0.25]), ([1], [1.0])]


def test_estimator_with_parts_can_be_saved(tmp_path):
    from sknomad import CertifiedKMeans

    X, _ = clustered(150, 3, 3, seed=12)
    model = CertifiedKMeans(3, parts=3, random_state=0, tol=0.5).fit(X)
    assert model.certificate_.parts.count == 3
    assert 0 < model.lower_bound_ <= model.inertia_
    model.save(tmp_path / "model.sknomad")
    assert load(tmp_path / "model.sknomad").certificate_ == model.certificate_


@pytest.mark.parametrize("scale", [2.0**-200, 2.0**200])
def test_scale_changes_nothing_but_the_scale(scale):
    X, labels = clustered(120, 3, 3, seed=13)
    plain, scaled = (certify_kmeans(factor * X, labels, parts=2) for factor in (1.0, scale))
    assert np.array_equal(plain.parts.numbers, scaled.parts.numbers)
    assert scaled.lower_bound / scale**2 == pytest.approx(plain.lower_bound, rel=1e-9)


def test_points_that_are_all_equal_cost_nothing():
    labels = np.arange(60) % 3
    assert certify_kmeans(np.ones((60, 2)), labels, parts=2).gap == 0
    half = np.vstack([np.ones((30, 2)), np.random.default_rng(0).standard_normal((30, 2))])
    for parts in (np.repeat([0, 1], 30), np.repeat(np.eye(2), 30, axis=0), np.repeat([7, 2**40], 30)):
        proof = certify_kmeans(half, labels, parts=parts)
        assert proof.parts.bounds[0] == 0
        assert 0 < proof.lower_bound < proof.inertia
    assert certify_kmeans(half, np.zeros(60), parts=2).status is Status.CERTIFIED  # one cluster
