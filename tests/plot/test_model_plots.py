"""Pictures of fitted models are read back, and wrong arguments are refused by a sentence."""

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from drawn import drawn_texts
from sknomad import NOMAD, MultiLayerNOMAD, datasets, nomad_path, plot

X, TRUTH = datasets.two_rings(80, noise=0.01, random_state=0)
OF_NOMAD = ["map", "embedding", "affinity", "spectrum", "bounds", "certificate", "tree"]


@pytest.fixture(scope="module")
def model():
    return NOMAD(K=16, tol=1e-2).fit(X)


@pytest.fixture(scope="module")
def layered():
    return MultiLayerNOMAD([16, 8, 2], tol=1e-2).fit(X)


@pytest.fixture(scope="module")
def solved_path():
    return nomad_path(X[::2], [3, 12], tol=1e-2)


@pytest.mark.parametrize("name", [*OF_NOMAD, "layers", "path"])
def test_every_panel_takes_a_model_and_axes_and_returns_them(name, model, layered, solved_path):
    argument = {"layers": layered, "path": solved_path}.get(name, model)
    ax = Figure().add_subplot()
    assert getattr(plot, name)(argument, ax=ax) is ax
    assert ax.has_data()
    other = getattr(plot, name)(argument)
    assert isinstance(other, Axes)
    FigureCanvasAgg(other.figure).draw()


@pytest.mark.parametrize("name", [*OF_NOMAD, "layers"])
def test_unfitted_models_are_refused(name):
    with pytest.raises(ValueError, match=r"model must be fitted, got NOMAD before fit\. Call model\.fit\(X\) first"):
        getattr(plot, name)(NOMAD())


@pytest.mark.parametrize("name", ["map", "tree", "layers", "certificate", "bounds"])
def test_what_is_no_model_is_refused(name):
    with pytest.raises(TypeError, match=r"model must be a fitted \w+, got list"):
        getattr(plot, name)([1, 2, 3])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda m: plot.map(m, "size"), r"colour must be one of manifold, order or an array of values, got 'size'"),
        (lambda m: plot.map(m, [1.0, 2.0]), r"colour must hold one value for each of 80 points, got shape \(2,\)"),
        (lambda m: plot.map(m, given=[1]), r"given must hold one value for each of 80 points"),
        (lambda m: plot.embedding(m, manifold=7), r"manifold must be one of 0 to 1, the labels found, got 7"),
        (lambda m: plot.embedding(m, [0, 1]), r"labels must hold one value for each of 80 points"),
        (lambda m: plot.affinity(m, order=m.order_), r"order must hold each index from 0 to 79 once.*numpy\.argsort"),
        (lambda m: plot.affinity(m.affinity_, m.labels_, order=m.order_), r"order must hold each index from 0 to 79"),
        (lambda m: plot.overview(m, X[:5]), r"X must hold the 80 points that the model was fitted to"),
        (lambda m: plot.spectrum(np.ones((2, 3))), r"Q must be a square matrix"),
    ],
)
def test_wrong_arguments_are_refused_by_a_sentence(call, message, model):
    with pytest.raises(ValueError, match=message):
        call(model)


def test_models_of_another_kind_are_refused(model, layered):
    with pytest.raises(TypeError, match="model must be a fitted MultiLayerNOMAD, which has layers_; got NOMAD"):
        plot.layers(model)
    for of_one_program in (plot.bounds, plot.certificate):
        with pytest.raises(TypeError, match=r"model must be a fitted NOMAD, which has \w+; got MultiLayerNOMAD"):
            of_one_program(layered)
    with pytest.raises(TypeError, match=r"path must be a NOMADPath, got NOMAD\. Pass nomad_path"):
        plot.path(model)
    with pytest.raises(TypeError, match=r"overview must get a fitted model, or the arrays"):
        plot.overview(X)


def test_the_map_shows_the_points_names_and_a_scale(model):
    ax = plot.map(model)
    np.testing.assert_array_equal(ax.collections[0].get_offsets(), model.map_)
    np.testing.assert_allclose(ax.collections[0].get_facecolors(), plot.point_colours(model.labels_))
    assert sorted(text.get_text() for text in ax.texts)[:2] == ["0 (40)", "1"]
    bar = ax.lines[0].get_xdata()
    assert bar[1] - bar[0] == pytest.approx(1)
    numbers = plot.map(model, X[:, 0])
    np.testing.assert_array_equal(numbers.collections[0].get_array(), X[:, 0])


def test_points_given_otherwise_are_ringed(model):
    given = np.where(np.arange(80) < 3, "odd", np.array(["in", "out"])[TRUTH])
    ax = plot.map(model, given=given)
    np.testing.assert_array_equal(ax.collections[1].get_offsets(), model.map_[:3])
    assert ax.get_legend().get_texts()[0].get_text() == "given otherwise"
    assert plot.map(model, given=TRUTH).get_legend() is None


def test_affinity_of_a_model_is_sorted_by_manifold_and_along_it(model):
    order = np.lexsort((model.order_, model.labels_))
    drawn = np.asarray(plot.affinity(model).images[0].get_array())
    np.testing.assert_allclose(drawn, model.affinity_[np.ix_(order, order)], atol=1e-12)


def test_large_matrices_are_drawn_as_means_of_blocks():
    Q = np.kron(np.eye(2), np.full((1500, 1500), 1 / 1500))
    drawn = np.asarray(plot.affinity(Q).images[0].get_array())
    assert drawn.shape == (1000, 1000)
    np.testing.assert_allclose(drawn.sum(axis=1), 1000 / 3000)


def test_mean_affinity_is_that_of_the_matrix():
    weights = np.where(np.arange(80) % 3 == 0, 2.0, 1.0)
    repeated = np.vstack([X, X[:4]])
    for model in (NOMAD(K=8, tol=1e-2).fit(X, sample_weight=weights), NOMAD(K=8, tol=1e-2).fit(repeated)):
        groups = np.arange(len(model.labels_)) % 5 - 1
        Q = model.affinity_
        expected = [[Q[np.ix_(groups == a, groups == b)].mean() for b in range(4)] for a in range(4)]
        np.testing.assert_allclose(model.mean_affinity(groups), expected, atol=1e-12)
        with pytest.raises(ValueError, match="groups must be one whole number for each of"):
            model.mean_affinity([0.5])


def test_embedding_draws_the_manifold_asked_for(model):
    ax = plot.embedding(model, manifold=1)
    np.testing.assert_array_equal(ax.collections[0].get_offsets(), model.embedding_[model.labels_ == 1])
    assert ax.get_title(loc="left") == "Manifold 1 of 2, 40 points"


def test_spectrum_and_bounds_show_numbers_of_the_model(model):
    values = plot.spectrum(model).lines[1].get_ydata()
    np.testing.assert_allclose(values, np.linalg.eigvalsh(model.affinity_)[::-1][:60], atol=1e-9)
    texts = {text.get_text() for text in plot.bounds(model).texts}
    (found,) = (float(text.split()[1]) for text in texts if text.startswith("found: "))
    (best,) = (float(text.split()[-1]) for text in texts if text.startswith("none is better than "))
    assert found <= model.certificate_.lower < model.certificate_.upper <= best
    assert best - found == pytest.approx(model.certificate_.upper - model.certificate_.lower, rel=1e-3)
    assert plot.bounds(model).get_title(loc="right") == f"gap {model.certificate_.gap:.1e}"
    bottom, top = plot.bounds(model).get_ylim()
    assert bottom < model.certificate_.lower < model.certificate_.upper < top


def test_the_tree_has_a_branch_for_each_ring(model):
    found = model.division_tree()
    joined = found.ends >= 1
    assert sorted(found.labels[joined & (found.labels >= 0)].tolist()) == [0, 1]
    assert found.sizes.max() == 80
    assert (found.born <= found.ends).all()
    above = found.parent >= 0
    np.testing.assert_array_equal(found.ends[above], found.born[found.parent[above]])


def test_overview_of_a_model_has_six_panels_and_no_text_over_another(model):
    figure = plot.overview(model, X, TRUTH)
    assert figure.texts[0].get_text() == "2 manifolds in 80 points"
    assert "100.0% of the points" in figure.texts[1].get_text()
    titles = [ax.get_title(loc="left") for ax in figure.axes if ax.get_title(loc="left")]
    assert titles[0] == "Data"
    assert len(titles) == 6
    figure.set_dpi(60)
    assert len(drawn_texts(figure)) > 8
    assert len(plot.overview(model).axes[0].collections) == 0


@pytest.mark.parametrize("name", ["map", "embedding", "affinity", "spectrum", "tree", "layers"])
def test_clusters_of_layers_are_drawn_too(name, layered):
    ax = getattr(plot, name)(layered)
    assert ax.has_data()
    FigureCanvasAgg(ax.figure).draw()


def test_rows_of_layers_are_sorted_along_the_clusters(layered):
    first = np.asarray(plot.layers(layered).images[0].get_array())
    rows = np.lexsort((layered.order_, layered.labels_))
    Q = layered.layers_[0].Q[np.ix_(rows, rows)]
    assert first.shape == Q.shape
    np.testing.assert_allclose(first, Q / Q.max(), atol=1e-12)


def test_pictures_of_layers_are_of_the_first_one(layered):
    Q = layered.layers_[0].Q
    np.testing.assert_allclose(plot.spectrum(layered).lines[1].get_ydata(), np.linalg.eigvalsh(Q)[::-1][:60], atol=1e-9)
    order = np.lexsort((layered.order_, layered.labels_))
    np.testing.assert_allclose(np.asarray(plot.affinity(layered).images[0].get_array()), Q[np.ix_(order, order)])
    figure = plot.overview(layered, X, TRUTH)
    assert figure.texts[0].get_text() == "2 clusters in 80 points"
    assert "most frequent in their cluster" in " ".join(figure.texts[1].get_text().split())


def test_the_spectrum_of_many_points_is_that_of_all_eigenvalues(rng):
    root = rng.standard_normal((1200, 80)) / np.sqrt(1200)
    Q = root @ root.T / 3
    values = plot.spectrum(Q).lines[1].get_ydata()
    np.testing.assert_allclose(values, np.linalg.eigvalsh(Q)[::-1][:60], atol=1e-9)


def test_the_tree_of_an_automatic_choice_counts_parts_over_K_and_thresholds():
    model = NOMAD(tol=1e-1).fit(X)
    search = model.search_
    assert search.n_parts.shape == (5, len(search.prominences)) == search.agreement.shape
    assert (search.agreement[search.n_parts == 1] == 0).all()  # two rings are not one
    assert search.agreement.max() == 1
    ax = plot.tree(model)
    written = [text.get_text() for text in ax.texts]
    for K, counts in zip(search.K_values, search.n_parts, strict=True):
        row = [*(str(count) for count in counts), f"{K:.3g}"]
        assert row in [written[at : at + len(row)] for at in range(len(written))]
    assert ax.get_xlabel().startswith("strength +")
    assert "parts at K =" not in [text.get_text() for text in plot.tree(NOMAD(K=8, tol=1e-1).fit(X)).texts]


def test_a_single_manifold_and_points_in_none_are_drawn():
    line = np.linspace(0, 1, 30)[:, None] * [1.0, 2.0]
    model = NOMAD(K=4, tol=1e-2, min_component_size=3).fit(np.vstack([line, [[50.0, 50.0]]]))
    assert model.labels_[-1] == -1
    figure = plot.overview(model)
    assert figure.texts[0].get_text().endswith("manifold in 31 points, 1 of them in none") or model.n_manifolds_ > 1
    FigureCanvasAgg(figure).draw()
