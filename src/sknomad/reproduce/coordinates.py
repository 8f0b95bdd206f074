"""Points in as few dimensions as their number allows: the experiments depend on distances only."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray


def in_few_dimensions(points: ArrayLike) -> NDArray[np.float64]:
    """Points with the distances of the rows of `points`, about their mean, in at most n dimensions.

    Images have many more pixels than there are images, and every product with them costs accordingly.

    Examples
    --------
    >>> from scipy.spatial.distance import pdist
    >>> X = np.random.default_rng(0).standard_normal((4, 50))
    >>> Y = in_few_dimensions(X)
    >>> Y.shape, bool(np.allclose(pdist(X), pdist(Y)))
    ((4, 4), True)
    """
    X = np.asarray(points, dtype=np.float64)
    X = X - X.mean(axis=0)
    if X.shape[1] <= X.shape[0]:
        return X
    values, vectors = np.linalg.eigh(X @ X.T)
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0)))
