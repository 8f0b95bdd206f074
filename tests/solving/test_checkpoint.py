"""Checkpoints: a killed run goes on to the same answer; anything but an intact file is refused. Memory likewise."""

import dataclasses
import errno
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from sknomad import Gram, KMeansSDP, datasets, solve
from sknomad._certificate.iterate import Iterate
from sknomad._certificate.upper import upper_bound
from sknomad._numerics.memory import free_memory, total_memory
from sknomad._solving import checkpoint, memory_check
from sknomad._solving.checkpoint import CheckpointError, CheckpointFile, RunRecord
from sknomad._solving.judging import ProgramJudge
from sknomad._solving.memory_check import forecast
from sknomad._solving.run_state import Run
from sknomad.solvers import ADMM, Auto, SoftAssignment, Solver

SOLVER = Auto(SoftAssignment(), ADMM(exact_below=60), points_below=10)


def make_problem(n=120, K=10):
    return KMeansSDP(Gram.from_data(datasets.moons(n, random_state=0)[0]), K)


@pytest.fixture
def often(monkeypatch):
    monkeypatch.setattr(checkpoint, "CHECKPOINT_SECONDS", 0.0)


@pytest.mark.parametrize(
    "solver", [SOLVER, ADMM(), ADMM(anchor_from=10), SoftAssignment()], ids=["auto", "admm", "anchored", "soft"]
)
@pytest.mark.parametrize("stop", [3, 12, 25, 47])
def test_stopped_run_goes_on_as_if_it_had_never_stopped(tmp_path, solver, stop, often):
    problem, path = make_problem(), tmp_path / "run.ckpt"

    def run(**options):
        import warnings

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return solve(problem, solver, tol=1e-4, max_iter=90, **options)

    whole = run()
    first = run(checkpoint=path, callback=lambda progress: progress.iteration == stop)
    rest = run(checkpoint=path)
    assert first.n_iter == min(stop, whole.n_iter)
    assert rest.n_iter == whole.n_iter
    assert rest.certificate.lower == pytest.approx(whole.certificate.lower, rel=1e-10)
    assert rest.certificate.upper == pytest.approx(whole.certificate.upper, rel=1e-10)


def test_finished_run_is_read_back(tmp_path):
    problem, path = make_problem(), tmp_path / "run.ckpt"
    solution = solve(problem, SOLVER, tol=1e-3, checkpoint=path)
    again = solve(problem, SOLVER, tol=1e-3, checkpoint=path)
    assert again.is_certified
    assert again.n_iter == solution.n_iter
    assert again.certificate == solution.certificate
    assert np.abs(again.Q - solution.Q).max() <= 1e-15  # made feasible anew: the last bits may differ


CHILD = """
import sys
sys.path.insert(0, sys.argv[2])
from test_checkpoint import SOLVER, make_problem
from sknomad import solve
from sknomad._solving import checkpoint
checkpoint.CHECKPOINT_SECONDS = 0.0
solution = solve(make_problem(), SOLVER, tol=2e-5, checkpoint=sys.argv[1])
print(repr(solution.certificate.lower), repr(solution.certificate.upper))
"""


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="POSIX signals")
def test_twenty_kills_at_random_moments(tmp_path):
    expected = solve(make_problem(), SOLVER, tol=2e-5).certificate
    generator, kills, runs = np.random.default_rng(0), 0, 0
    while kills < 20:
        path = tmp_path / f"run{runs}.ckpt"
        runs += 1
        while True:
            command = [sys.executable, "-c", CHILD, str(path), os.path.dirname(__file__)]
            process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
            time.sleep(1.0 + 2.5 * generator.random())
            if process.poll() is not None or kills >= 20:
                break
            process.send_signal(signal.SIGKILL)
            process.wait()
            process.stdout.close()
            kills += 1
        lower, upper = map(float, process.communicate()[0].split())
        assert lower == pytest.approx(expected.lower, rel=1e-10)
        assert upper == pytest.approx(expected.upper, rel=1e-10)


def test_hundred_damaged_files_are_refused(tmp_path):
    problem, path = make_problem(40, 5), tmp_path / "run.ckpt"
    solve(problem, "admm", tol=1e-2, checkpoint=path)
    intact, generator = path.read_bytes(), np.random.default_rng(0)
    for trial in range(100):
        data = bytearray(intact)
        if trial % 2:
            data = data[: generator.integers(0, len(data))]
        else:
            data[generator.integers(len(data))] ^= 1 << generator.integers(8)
        path.write_bytes(data)
        with pytest.raises(CheckpointError, match="checkpoint must be an intact file"):
            solve(problem, "admm", tol=1e-2, checkpoint=path)


def test_checkpoint_of_another_question_is_refused(tmp_path):
    path = tmp_path / "run.ckpt"
    solve(make_problem(40, 5), "admm", tol=1e-2, checkpoint=path)
    for problem, solver in [
        (make_problem(40, 6), "admm"),
        (make_problem(41, 5), "admm"),
        (make_problem(40, 5), SOLVER),
    ]:
        with pytest.raises(CheckpointError, match="checkpoint must belong to this"):
            solve(problem, solver, tol=1e-2, checkpoint=path)


def test_pickles_are_refused(tmp_path):
    import pickle

    path = tmp_path / "run.ckpt"
    path.write_bytes(pickle.dumps({"a": 1}))
    with pytest.raises(CheckpointError, match="damaged or"):
        solve(make_problem(40, 5), "admm", checkpoint=path)


def test_checkpoints_of_earlier_versions_say_so(tmp_path):
    path = tmp_path / "run.ckpt"
    path.write_bytes(b"sknomad-checkpoint-1\n" + bytes(32) + b"PK whatever it held")
    with pytest.raises(CheckpointError, match=r"which has format 1; this version reads from 7 on\. Delete it"):
        solve(make_problem(40, 5), "admm", checkpoint=path)


def test_a_million_dense_points_are_refused_before_anything_is_allocated():
    problem = KMeansSDP(Gram.from_data(np.random.default_rng(0).standard_normal((1_000_000, 2))), 10)
    with pytest.raises(MemoryError, match=r'ADMM needs .* GiB for dense .* free. Use solver="soft", which needs'):
        solve(problem, "admm")


def test_no_field_of_a_run_is_lost():
    settings = {"problem", "tol", "keeps_multiplier", "started"}
    proven_again, as_columns = {"lower", "upper", "upper_from", "grade", "landmarks", "left_out"}, {"rows"}
    fields = {field.name for field in dataclasses.fields(Run)} - settings - proven_again - as_columns
    kept = {field.name for field in dataclasses.fields(RunRecord)}
    assert fields | {"judge", "trace", "upper_was_known"} == kept


def test_the_multiplier_of_the_best_bound_is_kept_beside_the_last(tmp_path):
    problem, judge = make_problem(), ProgramJudge()
    good = solve(problem, "admm", tol=1e-3)
    run = Run(problem, 1e-3, "eigen", point=good.point, iterate=good.iterate, keeps_multiplier=True)
    run.enter_upper(upper_bound(problem, good.iterate.N))
    run.iteration, run.iterate = 5, Iterate(good.point, N=np.zeros((problem.n, problem.n)))
    CheckpointFile(tmp_path / "run", SOLVER, judge).save(run)
    again = Run(problem, 1e-3, "eigen", keeps_multiplier=True)
    CheckpointFile(tmp_path / "run", SOLVER, ProgramJudge()).restore(again)
    assert again.upper == pytest.approx(run.upper, rel=1e-12)
    assert again.is_done
    assert again.upper < upper_bound(problem, run.iterate.N)
    np.testing.assert_array_equal(again.multiplier, run.multiplier)


def test_memory_is_compared_where_the_solver_computes(monkeypatch):
    class Elsewhere(Solver):
        device = "cuda"

        def memory(self, problem):
            return 2**40

    asked = []
    monkeypatch.setattr(memory_check, "choose_device", lambda device, n: asked.append(device))
    monkeypatch.setattr(memory_check, "free_memory_of", lambda template: 2**41)
    memory_check.check_memory(make_problem(), Elsewhere())
    monkeypatch.setattr(memory_check, "free_memory_of", lambda template: 2**39)
    with pytest.raises(MemoryError, match=r"Elsewhere needs 1024\.0 GiB .* 512\.0 GiB are free"):
        memory_check.check_memory(make_problem(), Elsewhere())
    assert asked == ["cuda", "cuda"]
    assert Auto.on("cuda").device == "cuda"


def test_forecast_grows_as_it_should():
    small, large = make_problem(1000), make_problem(2000)
    assert forecast(large, ADMM()) == 4 * forecast(small, ADMM())
    assert forecast(large, SoftAssignment()) == 2 * forecast(small, SoftAssignment())
    assert 0 < free_memory() <= total_memory()


class FullDisk:
    """Writes nothing until there is room again."""

    def __init__(self, monkeypatch, failures):
        self.failures, self.calls, self.write = failures, 0, checkpoint.write_archive
        monkeypatch.setattr(checkpoint, "write_archive", self)

    def __call__(self, *arguments):
        self.calls += 1
        if self.calls <= self.failures:
            raise OSError(errno.ENOSPC, "No space left on device")
        self.write(*arguments)


@pytest.mark.parametrize("failures", [2, 10**6])
def test_a_full_disk_is_said_once_and_ends_nothing(tmp_path, monkeypatch, often, failures):
    problem, path = make_problem(40, 5), tmp_path / "run.ckpt"
    expected, disk = solve(problem, "admm", tol=1e-4), FullDisk(monkeypatch, failures)
    with pytest.warns(RuntimeWarning, match=r"checkpoint .*run\.ckpt' could not be written: No space left") as said:
        solution = solve(problem, "admm", tol=1e-4, checkpoint=path)
    assert len(said) == 1
    assert solution.certificate == expected.certificate
    assert disk.calls > 2
    assert path.exists() == (failures == 2)


def test_place_of_a_checkpoint_is_checked_before_the_first_step(tmp_path):
    steps = []
    for path in (tmp_path / "missing" / "run.ckpt", tmp_path):
        with pytest.raises(CheckpointError, match="checkpoint must"):
            solve(make_problem(40, 5), "admm", checkpoint=path, callback=steps.append)
    assert not steps


@pytest.mark.parametrize(("first", "then"), [(1e-2, 1e-3), (1e-3, 1e-5), (1e-5, 1e-2)])
@pytest.mark.parametrize("n", [60, 420])
def test_another_tolerance_goes_on_from_the_same_file(tmp_path, n, first, then):
    problem, path = make_problem(n, 6), tmp_path / "run.ckpt"
    before = solve(
        problem, tol=first, max_iter=300, checkpoint=path, callback=lambda progress: progress.iteration == 30
    )
    after = solve(problem, tol=then, checkpoint=path)
    assert after.is_certified
    assert after.n_iter >= before.n_iter
    assert after.certificate.gap <= then


def test_other_settings_of_the_same_solver_go_on(tmp_path):
    problem, path = make_problem(60, 6), tmp_path / "run.ckpt"
    solve(problem, ADMM(), checkpoint=path, callback=lambda progress: progress.iteration == 12)
    assert solve(problem, ADMM(relaxation=1.2, penalty=2.0), checkpoint=path).n_iter > 12
