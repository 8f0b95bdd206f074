"""Checkpoints edited by a stranger, with right sums: bounds are proven again, and nothing in the file is believed."""

import io
import json
import warnings

import numpy as np
import pytest

from hostile import forge, members_of, npy
from sknomad import Gram, KMeansSDP, solve
from sknomad._solving.checkpoint import CHECKPOINT, CheckpointError
from sknomad.solvers import ADMM, SoftAssignment

PROBLEM = KMeansSDP(Gram.from_data(np.random.default_rng(0).standard_normal((8, 3))), 3)
LINE = f"sknomad-checkpoint-{CHECKPOINT.newest}\n".encode()


@pytest.fixture(scope="module")
def optimum():
    return solve(PROBLEM, "admm", tol=1e-9, max_iter=20_000).certificate


def stopped_run(path, solver, stop=12):
    solve(PROBLEM, solver, tol=0.0, checkpoint=path, callback=lambda progress: progress.iteration == stop)
    return members_of(path.read_bytes())


def edited(members, change_header=lambda state: None, change_array=lambda name, array: array):
    """The file with its state and its arrays changed, and a right sum."""
    changed = []
    for name, data in members:
        if name == "header.json":
            header = json.loads(data)
            change_header(header["state"]["fields"])
            changed.append((name, json.dumps(header)))
        else:
            array = np.load(io.BytesIO(data), allow_pickle=False)
            changed.append((name, npy(change_array(name, array))))
    return forge(changed, LINE)


def assert_true_or_refused(path, solver, optimum, **options):
    """The run goes on to true bounds, or the file is refused in one sentence."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = solve(PROBLEM, solver, checkpoint=path, **{"tol": 1e-3, "max_iter": 400, **options}).certificate
    except CheckpointError as error:
        refusal = str(error)
    else:
        refusal = None
    if refusal is not None:
        assert len(refusal.splitlines()) == 1
        return
    slack = 1e-9 * abs(optimum.upper)
    assert found.lower <= optimum.upper + slack
    assert found.upper >= optimum.lower - slack


@pytest.mark.parametrize("grade", ["eigen", "verified"])
def test_claimed_bounds_are_not_believed(tmp_path, optimum, grade):
    path = tmp_path / "run.ckpt"
    members = stopped_run(path, "admm")

    def claim(state):
        state.update(lower=20.0, upper=20.0, grade="verified")

    path.write_bytes(edited(members, claim))
    assert_true_or_refused(path, "admm", optimum, grade=grade)


@pytest.mark.parametrize("solver", [ADMM(), SoftAssignment()], ids=["admm", "soft"])
@pytest.mark.parametrize("factor", [3.0, -1.0, 0.0, 1e200, np.nan])
def test_points_and_multipliers_are_judged_anew(tmp_path, optimum, solver, factor):
    path = tmp_path / "run.ckpt"
    members = stopped_run(path, solver, stop=3)

    def blow_up(name, array):
        return array * factor if array.dtype.kind == "f" else array

    path.write_bytes(edited(members, change_array=blow_up))
    assert_true_or_refused(path, solver, optimum)


@pytest.mark.parametrize(("identity", "mean"), [(0.9, 0.0), (-3.0, 0.0), (0.0, -2.0), (0.5, 0.6), ("a", None)])
def test_shares_of_the_kept_point_are_found_anew(tmp_path, optimum, identity, mean):
    path = tmp_path / "run.ckpt"
    members = stopped_run(path, "admm")

    def mix(state):
        state["point"]["fields"].update(identity=identity, mean=mean)

    path.write_bytes(edited(members, mix))
    assert_true_or_refused(path, "admm", optimum, max_iter=13)


@pytest.mark.parametrize("shape", [(7, 7), (8,), (8, 1), (0,), (64,)])
def test_arrays_of_other_shapes_are_refused_in_a_sentence(tmp_path, optimum, shape):
    path = tmp_path / "run.ckpt"
    members = stopped_run(path, "admm")
    names = [name for name, _ in members if name != "header.json"]
    for chosen in names:

        def reshape(name, array, chosen=chosen):
            return np.resize(array, shape) if name == chosen else array

        path.write_bytes(edited(members, change_array=reshape))
        assert_true_or_refused(path, "admm", optimum)


@pytest.mark.parametrize("value", [None, -1, "many", 1e300, [], {"type": "float", "value": "nan"}])
def test_numbers_of_other_kinds_are_refused_in_a_sentence(tmp_path, optimum, value):
    path = tmp_path / "run.ckpt"
    members = stopped_run(path, "admm")
    state = json.loads(dict(members)["header.json"])["state"]["fields"]
    for chosen in state:

        def replace(fields, chosen=chosen):
            fields[chosen] = value

        path.write_bytes(edited(members, replace))
        assert_true_or_refused(path, "admm", optimum)


LARGE = 10**400
NOT_A_NUMBER, BELOW_ALL = {"type": "float", "value": "nan"}, {"type": "float", "value": "-inf"}


def assert_refused_clearly(path, solver):
    """One sentence that says what must hold, with nothing of what a library says to nonsense."""
    with pytest.raises(
        CheckpointError, match=r"checkpoint must hold .* must .*\. Delete it to start again\.$"
    ) as caught:
        solve(PROBLEM, solver, tol=0.0, max_iter=20, checkpoint=path)
    text = str(caught.value)
    assert len(text.splitlines()) == 1
    assert ".." not in text.split(path.name)[1]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("iteration", LARGE),
        ("seconds_before", LARGE),
        ("trace", []),
        ("trace", {"type": "dict", "keys": [1], "values": [2]}),
    ],
    ids=lambda value: str(value)[:20],
)
def test_numbers_and_histories_of_no_run_are_refused(tmp_path, name, value):
    path = tmp_path / "run.ckpt"
    path.write_bytes(edited(stopped_run(path, "admm"), lambda state: state.update({name: value})))
    assert_refused_clearly(path, "admm")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *[("optimism", value) for value in (None, "much", [], -1.0, LARGE, NOT_A_NUMBER)],
        *[("screen", value) for value in (BELOW_ALL, LARGE)],
        *[("vectors", value) for value in (3, "some", {"type": "array", "name": "array_0"})],
        *[(name, LARGE) for name in ("next_look", "first_multiplier", "last_repair", "last_look")],
    ],
    ids=lambda value: str(value)[:20],
)
def test_plans_of_no_judge_are_refused(tmp_path, name, value):
    path = tmp_path / "run.ckpt"

    def change(state):
        state["judge"]["fields"][name] = value

    # The first array holds the eigenvectors of Q, with an entry that no unit vector has.
    members = stopped_run(path, "admm")
    path.write_bytes(edited(members, change, lambda name, array: array * 1e3 if name == "array_0.npy" else array))
    assert_refused_clearly(path, "admm")


@pytest.mark.parametrize("solver", ["admm", "soft"])
@pytest.mark.parametrize("value", [-1, True, "many", [1, 2]])
def test_multipliers_that_are_none_are_refused(tmp_path, solver, value):
    path = tmp_path / "run.ckpt"
    members = stopped_run(path, solver, stop=3)
    path.write_bytes(edited(members, lambda state: state["iterate"]["fields"].update(N=value)))
    assert_refused_clearly(path, solver)


def test_residuals_beyond_all_numbers_are_refused(tmp_path):
    path = tmp_path / "run.ckpt"
    members = stopped_run(path, "soft", stop=3)

    def change(state):
        state["iterate"]["fields"]["residuals"]["values"][0] = LARGE

    path.write_bytes(edited(members, change))
    with pytest.raises(CheckpointError, match=r"^checkpoint must hold the state of a run"):
        solve(PROBLEM, "soft", checkpoint=path)


@pytest.mark.parametrize("value", [np.nan, 0.0, -1.0])
@pytest.mark.parametrize("solver", ["soft", "admm", "auto"])
def test_soft_assignments_to_no_cell_are_no_error_of_a_kernel(tmp_path, optimum, solver, value):
    path = tmp_path / "run.ckpt"
    members = stopped_run(path, "soft" if solver == "soft" else solver, stop=2)

    def fill(name, array):
        return np.full_like(array, value) if array.ndim == 2 and array.shape[0] == PROBLEM.n else array

    path.write_bytes(edited(members, change_array=fill))
    assert_true_or_refused(path, solver, optimum)
