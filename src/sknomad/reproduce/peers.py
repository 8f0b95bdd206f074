"""Other methods that map points to the plane, all called alike: NOMAD's geodesics are compared with theirs."""

from __future__ import annotations

import contextlib
import io
import logging
import warnings
from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.util import find_spec
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Points = NDArray[np.float64]


class Embedder(Protocol):
    """An estimator that maps points to the plane."""

    def fit_transform(self, X: Points) -> Points:
        """Coordinates of the points."""
        ...


# What makes an estimator, from a number of neighbours and a seed.
Maker = Callable[[int, int], Embedder]


def _locally_linear(method: str) -> Maker:
    def make(n_neighbors: int, seed: int) -> Embedder:
        from sklearn.manifold import LocallyLinearEmbedding

        # Dense: the sparse solver does not converge where the graph falls apart.
        return LocallyLinearEmbedding(
            n_neighbors=n_neighbors, method=method, eigen_solver="dense", random_state=seed
        )  # fmt: skip

    return make


def _isomap(n_neighbors: int, seed: int) -> Embedder:
    from sklearn.manifold import Isomap

    return Isomap(n_neighbors=n_neighbors, eigen_solver="dense")


def _spectral(n_neighbors: int, seed: int) -> Embedder:
    from sklearn.manifold import SpectralEmbedding

    return SpectralEmbedding(affinity="nearest_neighbors", n_neighbors=n_neighbors, random_state=seed)


def _tsne(n_neighbors: int, seed: int) -> Embedder:
    from sklearn.manifold import TSNE

    return TSNE(perplexity=n_neighbors, init="pca", random_state=seed)


def _umap(n_neighbors: int, seed: int) -> Embedder:
    return import_module("umap").UMAP(n_neighbors=n_neighbors, random_state=seed, n_jobs=1)


def _pacmap(n_neighbors: int, seed: int) -> Embedder:
    return import_module("pacmap").PaCMAP(n_neighbors=n_neighbors, random_state=seed, apply_pca=False)


PEERS: dict[str, Maker] = {
    "Isomap": _isomap,
    "LLE": _locally_linear("standard"),
    "modified LLE": _locally_linear("modified"),
    "LTSA": _locally_linear("ltsa"),
    "spectral": _spectral,
    "t-SNE": _tsne,
    "UMAP": _umap,
    "PaCMAP": _pacmap,
}
# Methods that need a package of their own, and its name.
OPTIONAL = {"UMAP": "umap", "PaCMAP": "pacmap"}


def available(names: list[str]) -> list[str]:
    """Those of `names` whose packages are installed.

    Examples
    --------
    >>> available(["LLE", "Isomap"])
    ['LLE', 'Isomap']
    """
    return [name for name in names if find_spec(OPTIONAL.get(name, "sklearn")) is not None]


def plane(name: str, X: Points, n_neighbors: int, seed: int = 0) -> Points:
    """Coordinates in the plane that the method `name` finds; what it prints and warns of is dropped.

    Examples
    --------
    >>> from sknomad.datasets import ring
    >>> plane("Isomap", ring(20)[0], 4).shape
    (20, 2)
    """
    with _silence():
        return np.asarray(PEERS[name](n_neighbors, seed).fit_transform(X), dtype=np.float64)


@contextlib.contextmanager
def _silence() -> Iterator[None]:
    """Drop warnings, log messages and prints: with graphs in parts these methods have much to say."""
    threshold = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        with (
            warnings.catch_warnings(),
            contextlib.redirect_stdout(io.StringIO()),
            contextlib.redirect_stderr(io.StringIO()),
        ):
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(threshold)
