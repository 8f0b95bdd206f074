"""What a fit can be told: warm starts, callbacks, devices, seeds, array libraries, names of columns."""

import importlib.util
import warnings

import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sknomad import NOMAD, CertifiedKMeans, MultiLayerNOMAD, SoftPoint, datasets
from sknomad._numerics.arrays import CAN_DISPATCH
from sknomad.solvers import ADMM, SOLVERS, configured

HAS_CALLBACKS = importlib.util.find_spec("sklearn.callback") is not None


def test_warm_start_continues():
    X, _ = datasets.moons(80, noise=0.1, random_state=0)
    model = NOMAD(K=6, tol=1e-4, warm_start=True).fit(X)
    assert model.fit(X).n_iter_ == 0
    assert model.certificate_.gap <= 1e-4
    alone = NOMAD(K=6.2, tol=1e-4).fit(X).n_iter_
    assert model.set_params(K=6.2).fit(X).n_iter_ <= alone
    assert model.fit(X[:70]).embedding_.shape == (70, 2)
    assert clone(model).set_params(warm_start=False).fit(X).n_iter_ > 0


def test_a_line_for_every_bound_that_moves(capsys):
    X, _ = datasets.ring(40)
    NOMAD(K=5).fit(X)
    assert capsys.readouterr() == ("", "")
    NOMAD(K=5, verbose=1).fit(X)
    out, err = capsys.readouterr()
    lines = err.splitlines()
    assert out == ""
    assert lines
    assert all(line.startswith("[NOMAD] step ") and "<= optimum <=" in line for line in lines)
    assert len({line.split("s: ")[1] for line in lines}) == len(lines)


def test_own_callback_and_verbose_are_both_heard(capsys):
    seen = []
    NOMAD(K=5, tol=0, verbose=1, callback=lambda progress: seen.append(progress) or len(seen) == 12).fit(
        datasets.ring(40)[0]
    )
    assert len(seen) == 12
    assert "step 11" in capsys.readouterr().err


@pytest.mark.skipif(not HAS_CALLBACKS, reason="scikit-learn before 1.9 has no callbacks")
def test_scikit_learn_callbacks_see_every_step():
    class Recorder:
        def __init__(self, stop_after=None):
            self.events, self.stop_after = [], stop_after

        def setup(self, estimator, context):
            self.events.append("setup")

        def teardown(self, estimator, context):
            self.events.append("teardown")

        def on_fit_task_begin(self, estimator, context):
            self.events.append(("begin", context.task_name))

        def on_fit_task_end(self, estimator, context, *, metadata=None):
            self.events.append(("end", context.task_name))
            return self.events.count(("end", "step")) == self.stop_after

    X, _ = datasets.ring(40)
    recorder = Recorder()
    model = NOMAD(K=5).set_callbacks(recorder).fit(X)
    steps = recorder.events.count(("end", "step"))
    assert recorder.events[:2] == ["setup", ("begin", "fit")]
    assert recorder.events[-2:] == [("end", "fit"), "teardown"]
    assert recorder.events.count(("begin", "step")) == steps >= model.n_iter_ - 1 > 0
    stopping = Recorder(stop_after=3)
    assert NOMAD(K=5, tol=0).set_callbacks(stopping).fit(X).n_iter_ == 3


def test_settings_reach_the_solver():
    auto = configured("auto", 1e-3, "cpu", 5)
    assert auto.soft.random_state == 5
    assert auto.soft.device == "cpu32"
    assert configured("auto", 1e-6, "cpu", 0).admm.device == "cpu"
    assert configured("admm", 1e-3, "cpu", 5) == ADMM(device="cpu")
    own = ADMM(relaxation=1.5)
    assert configured(own, 1e-3, "cpu", 5) is own
    assert configured("burer_monteiro", 1e-3, "cpu", np.random.RandomState(0)).__class__ is SOLVERS["burer_monteiro"]


def test_devices_are_checked():
    X, _ = datasets.ring(20)
    with pytest.raises(ValueError, match="device must be one of 'auto', 'cpu', 'cuda'"):
        NOMAD(K=3, device="tpu").fit(X)
    with pytest.raises(ValueError, match="random_state must be"):
        NOMAD(K=3, solver="soft", random_state="x").fit(X)


@pytest.mark.parametrize(("coordinates", "disparity"), [("spectral", 1e-3), ("isometric", 1e-2)])
@pytest.mark.parametrize("change", ["order", "seed"])
def test_neither_order_nor_seed_matter(change, coordinates, disparity, rng):
    """Above 400 points soft assignments start from random cells; the picture is the same to a disparity.

    Isometric coordinates see which links count, and a link at the threshold may or may not.
    """
    from scipy.spatial import procrustes
    from sklearn.datasets import load_digits

    X = load_digits().data[:420]
    rows = rng.permutation(420) if change == "order" else np.arange(420)
    first = NOMAD(K=8, coordinates=coordinates, random_state=0).fit(X)
    other = NOMAD(K=8, coordinates=coordinates, random_state=int(change == "seed")).fit(X[rows])
    assert isinstance(first.solution_.point.base, SoftPoint)
    assert procrustes(first.embedding_[rows], other.embedding_)[2] <= disparity


@pytest.mark.skipif(not CAN_DISPATCH, reason="scikit-learn's array API needs SciPy 1.14")
def test_torch_in_torch_out(monkeypatch):
    torch = pytest.importorskip("torch")
    monkeypatch.setenv("SCIPY_ARRAY_API", "1")
    X, _ = datasets.two_rings(60)
    expected = NOMAD(K=10).fit(X)
    with sklearn.config_context(array_api_dispatch=True):
        given = torch.asarray(X)
        model = NOMAD(K=10).fit(given)
        results = {
            name: getattr(model, name)
            for name in ("labels_", "embedding_", "order_", "circular_coordinates_", "affinity_", "memberships_")
        }
        results["geodesics"], results["transform"] = model.geodesic_distances(), model.transform(given)
        assert all(isinstance(value, torch.Tensor) for value in results.values())
        assert np.allclose(results["transform"].numpy(), expected.embedding_, atol=1e-12)
        assert np.array_equal(model.predict(given).numpy(), expected.labels_)
        with pytest.raises(ValueError, match="must use the same namespace"):
            model.transform(X)
    assert isinstance(NOMAD(K=10).fit(torch.asarray(X)).embedding_, np.ndarray)


def test_pipelines_frames_and_names():
    import pandas as pd

    X, _ = datasets.two_rings(60)
    frame = pd.DataFrame(X, columns=["x", "y"])
    pipeline = make_pipeline(StandardScaler(), NOMAD(K=10, n_components=1)).set_output(transform="pandas")
    placed = pipeline.fit(frame).transform(frame)
    assert placed.columns.tolist() == ["nomad0"]
    assert pipeline.get_feature_names_out().tolist() == ["nomad0"]
    assert np.allclose(placed.to_numpy(), pipeline[-1].embedding_)
    with pytest.raises(ValueError, match="feature names"):
        pipeline[-1].fit(frame).predict(frame.rename(columns={"x": "z"}))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"affinity": "csr"}, "affinity must be one of 'dense', 'sparse'"),
        ({"min_component_size": 0}, "min_component_size must be an integer >= 1"),
    ],
)
def test_bad_options_are_named(parameters, message):
    with pytest.raises(ValueError, match=message):
        NOMAD(K=2, **parameters).fit(datasets.ring(10)[0])


@pytest.mark.parametrize("model", [NOMAD(2), MultiLayerNOMAD([2]), CertifiedKMeans(2)])
def test_columns_of_frames_are_named_in_errors(model):
    frame = pytest.importorskip("pandas").DataFrame
    table = {"length": [1.0, 2, 3], "kind": ["a", "b", "c"], "place": ["x", "y", "x"], "mass": [1.0, np.nan, 3]}
    with pytest.raises(ValueError, match="in the columns 'kind', 'place'"):
        model.fit(frame(table))
    with pytest.raises(ValueError, match="row 1, column 'mass'"):
        model.fit(frame(table).drop(columns=["kind", "place"]))


def test_score_chooses_a_neighbourhood(rng):
    X = datasets.ring(90)[0] + 0.1 * rng.standard_normal((90, 2))
    search = GridSearchCV(NOMAD(tol=1e-2), {"K": [2, 12, 60]}, cv=3).fit(X[rng.permutation(90)])
    assert search.best_params_ == {"K": 12}  # K = 2 misses the curvature, K = 60 follows the noise
    assert all(score < 0 for score in search.cv_results_["mean_test_score"])


@pytest.mark.parametrize("make", [lambda: NOMAD(8), lambda: NOMAD(8, solver="soft"), lambda: MultiLayerNOMAD([8, 4])])
def test_score_is_in_units_of_the_data(make):
    X = datasets.ring(40)[0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # soft assignments prove nothing
        small, large = make().fit(X), make().fit(1000 * X + 1e6)
    assert large.score(1000 * X + 1e6) == pytest.approx(1e6 * small.score(X), rel=0.1)
    assert -0.2 < small.score(X) < 0


def test_score_needs_points():
    X = datasets.ring(20)[0]
    with pytest.raises(ValueError, match="dense points"):
        NOMAD(4, metric="precomputed").fit(X @ X.T).score(X @ X.T)
