"""Two rings as a solver would return them, and what a figure of them shows."""

from types import SimpleNamespace

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg

from sknomad import plot


def circulant(n):
    """A doubly stochastic local kernel on n points of a circle."""
    row = np.maximum(np.cos(2 * np.pi * np.arange(n) / n) - 0.5, 0)
    return np.array([np.roll(row, k) for k in range(n)]) / row.sum()


def two_rings_solved(n=20, seed=0):
    """What a solver would return for two rings whose points come shuffled."""
    circle = np.stack([np.cos(2 * np.pi * np.arange(n) / n), np.sin(2 * np.pi * np.arange(n) / n)], axis=1)
    shuffle = np.random.default_rng(seed).permutation(2 * n)
    Q = np.kron(np.eye(2), circulant(n))
    return SimpleNamespace(
        X=np.vstack([circle, circle / 2])[shuffle] + 5.0,
        Q=Q[np.ix_(shuffle, shuffle)],
        labels=np.repeat([0, 1], n)[shuffle],
        embedding=np.vstack([circle, circle])[shuffle] / np.sqrt(n),
        trace={
            "iteration": np.arange(1, 7),
            "seconds": np.array([0.01, 0.1, 0.5, 1.0, 1.5, 2.0]),
            "lower": np.array([-np.inf, 10.0, 80.0, 90.0, 95.0, 99.0]),
            "upper": np.array([np.inf, np.inf, 900.0, 102.0, 101.0, 100.0]),
        },
    )


def overview_of(solved, text="99 <= optimum <= 100", trace=None):
    return plot.overview(solved.X, solved.Q, solved.labels, solved.embedding, text, trace)


def titled(figure, start):
    """The panels whose title starts so."""
    return [ax for ax in figure.axes if ax.get_title(loc="left").startswith(start)]


def drawn_points(ax):
    (points,) = ax.collections
    return np.asarray(points.get_offsets()), points.get_facecolors()


def drawn_matrix(ax):
    (image,) = ax.images
    return np.asarray(image.get_array())


def drawn_texts(figure):
    """Every text that is on the page, with its box in pixels."""
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    texts = list(figure.texts)
    for ax in [*figure.axes, *(child for parent in figure.axes for child in parent.child_axes)]:
        if not ax.axison:
            continue
        texts += [ax.title, ax._left_title, ax._right_title, ax.xaxis.label, ax.yaxis.label]
        for axis, view in ((ax.xaxis, ax.get_xlim()), (ax.yaxis, ax.get_ylim())):
            low, high = sorted(view)
            ticks = [*axis.get_major_ticks(), *axis.get_minor_ticks()]
            texts += [tick.label1 for tick in ticks if low <= tick.get_loc() <= high]
    return [(text.get_text(), text.get_window_extent(canvas.get_renderer())) for text in texts if text.get_text()]
