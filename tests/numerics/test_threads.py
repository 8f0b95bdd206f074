"""Threads and processes: fits side by side give the serial answer, limits are restored, memory does not grow."""

import threading
import tracemalloc
from concurrent.futures import ThreadPoolExecutor

import joblib
import numpy as np
import pytest
from threadpoolctl import threadpool_info

from sknomad import NOMAD, Gram, KMeansSDP, datasets, solve
from sknomad._numerics import threads as threads_module
from sknomad._numerics.sizes import ONE_THREAD
from sknomad._numerics.threads import count_of_jobs, limited_threads, side_by_side, suitable_threads, threads_now
from sknomad.solvers import SoftAssignment


def problems():
    """Eight small data sets with the settings to fit them by."""
    for seed in range(4):
        yield datasets.moons(60, noise=0.1, random_state=seed)[0], {"K": 6, "tol": 1e-2}
        yield datasets.moons(60, noise=0.1, random_state=seed)[0], {"K": 6, "solver": "soft", "random_state": seed}


def answers(problem):
    """What a fit says, and where it places new points."""
    X, parameters = problem
    model = NOMAD(**parameters).fit(X)
    return model.embedding_, model.labels_, model.order_, model.transform(X[::3] + 0.01), model.certificate_.lower


def agree(found, expected):
    return all(
        np.allclose(a, b, rtol=0, atol=1e-12, equal_nan=True)
        for one, other in zip(found, expected, strict=True)
        for a, b in zip(one, other, strict=True)
    )


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_threads_agree_with_serial_fits():
    """Four threads, eight fits each, all at once."""
    jobs = list(problems())
    serial = [answers(job) for job in jobs]
    gate = threading.Barrier(4)

    def work(shift):
        gate.wait()
        order = [(i + shift) % 8 for i in range(8)]
        found = {i: answers(jobs[i]) for i in order}
        return [found[i] for i in range(8)]

    with ThreadPoolExecutor(4) as pool:
        for found in pool.map(work, range(0, 8, 2)):
            assert agree(found, serial)


@pytest.mark.parametrize("backend", ["loky", "threading"])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_joblib_agrees_with_serial_fits(backend):
    jobs = list(problems())[:4]
    found = joblib.Parallel(n_jobs=2, backend=backend)(joblib.delayed(answers)(job) for job in jobs)
    assert agree(found, [answers(job) for job in jobs])


def test_one_model_serves_many_threads(rng):
    X, _ = datasets.two_rings(80)
    model = NOMAD(K=12, tol=1e-2).fit(X)
    new = X + 0.01 * rng.standard_normal(X.shape)
    expected = model.transform(new)
    with ThreadPoolExecutor(4) as pool:
        for found in pool.map(lambda _: model.transform(new), range(16)):
            assert np.array_equal(found, expected)


def blas_threads():
    return {info["filepath"]: info["num_threads"] for info in threadpool_info() if info["user_api"] == "blas"}


class StoppedError(Exception):
    """Raised by a callback."""


def test_blas_threads_are_limited_and_restored():
    X, _ = datasets.ring(30)
    before, during = blas_threads(), []
    assert before
    NOMAD(K=4, n_threads=1, callback=lambda _: during.append(blas_threads())).fit(X)
    assert all(set(seen.values()) == {1} for seen in during)
    assert blas_threads() == before

    def fail(_):
        raise StoppedError

    with pytest.raises(StoppedError):
        NOMAD(K=4, n_threads=1, callback=fail).fit(X)
    assert blas_threads() == before


@pytest.mark.parametrize("value", [0, -1, 1.5, "two", True])
def test_number_of_threads_is_checked(value):
    with pytest.raises((TypeError, ValueError), match="n_threads must be an integer >= 1"):
        NOMAD(K=2, n_threads=value).fit(datasets.ring(10)[0])


@pytest.mark.parametrize("solver", ["admm", "soft"])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_repeated_transforms_keep_no_memory(solver, rng):
    X, _ = datasets.two_rings(100)
    model = NOMAD(K=12, tol=1e-2, solver=solver).fit(X)
    new = X[:5] + 0.01 * rng.standard_normal((5, 2))
    for _ in range(20):
        model.transform(new)
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        for _ in range(1000):
            model.transform(new)
        after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert after - before < 5 * 2**20


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_soft_assignments_need_no_square_array(rng):
    """20,000 points on two rings: a tenth of the memory of one n x n array, for everything that is read off."""
    n = 20_000
    angle = rng.uniform(0, 2 * np.pi, n)
    X = np.column_stack([np.cos(angle), np.sin(angle)]) + 0.01 * rng.standard_normal((n, 2))
    X[n // 2 :] += [4, 0]
    tracemalloc.start()
    try:
        model = NOMAD(K=12, solver=SoftAssignment(rank=48, sweeps=4), max_iter=4).fit(X)
        model.transform(X[:1000] + 0.01)
        shares = model.memberships_
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 0.1 * 8 * n**2
    assert shares.shape == (n, 2)
    assert model.is_closed_.tolist() == [True, True]
    assert np.abs(model.transform(X[:500]) - model.embedding_[:500]).max() <= 1e-12


def test_small_work_has_one_thread_and_the_number_comes_back():
    with limited_threads(2):
        with suitable_threads(ONE_THREAD):
            assert threads_now() == 1
        assert threads_now() == 2
        with suitable_threads(ONE_THREAD + 1):
            assert threads_now() == 2
        with pytest.raises(ValueError, match="inside"), suitable_threads(10):
            raise ValueError("inside")
        assert threads_now() == 2


def test_of_contexts_that_overlap_the_last_restores_the_number():
    with limited_threads(2):
        first, second = suitable_threads(10), suitable_threads(20)
        first.__enter__()
        second.__enter__()
        first.__exit__(None, None, None)
        assert threads_now() == 1
        second.__exit__(None, None, None)
        assert threads_now() == 2


def test_a_small_solve_runs_in_one_thread():
    seen = []
    problem = KMeansSDP(Gram.from_data(datasets.ring(12)[0]), 3)
    with limited_threads(2):
        solve(problem, solver="admm", callback=lambda progress: seen.append(threads_now()))
    assert set(seen) == {1}


def test_two_items_are_worked_on_at_a_time_and_come_in_order():
    gate, seen = threading.Barrier(2), []

    def work(item):
        gate.wait(timeout=30)  # breaks where the other one has not begun
        seen.append(threads_now())
        return -item

    with limited_threads(2):
        assert list(side_by_side(work, range(6))) == [0, -1, -2, -3, -4, -5]
        assert threads_now() == 2
    assert set(seen) == {1}


@pytest.mark.parametrize("count", [1, 3])
def test_items_are_taken_when_there_is_room_for_them(count):
    taken = []

    def items():
        for item in range(50):
            taken.append(item)
            yield item

    with limited_threads(count):
        results = side_by_side(abs, items())
        assert next(results) == 0
        assert len(taken) <= count + 1
        results.close()
        assert threads_now() == count


@pytest.mark.parametrize("count", [1, 2])
def test_what_an_item_raises_reaches_the_caller(count):
    with limited_threads(count):
        with pytest.raises(ZeroDivisionError):
            list(side_by_side(lambda item: 1 // item, [2, 1, 0, 3]))
        assert threads_now() == count


@pytest.mark.parametrize(("n_jobs", "count"), [(None, 1), (1, 1), (3, 3)])
def test_numbers_of_processes(n_jobs, count):
    assert count_of_jobs(n_jobs) == count


def test_cores_are_counted_where_the_system_does_not_say_which(monkeypatch):
    monkeypatch.setattr(threads_module.os, "cpu_count", lambda: 5)
    monkeypatch.setattr(threads_module.os, "sched_getaffinity", lambda process: {0, 3}, raising=False)
    assert count_of_jobs(-1) == 2
    monkeypatch.delattr(threads_module.os, "sched_getaffinity")
    assert count_of_jobs(-1) == 5
    monkeypatch.setattr(threads_module.os, "cpu_count", lambda: None)
    assert count_of_jobs(-1) == 1
