"""How little a point belongs to its manifold, from the diagonal of ``Q``.

``Q_ii`` is the share of its row that a point keeps for itself: about one over the number of its neighbours, and one for
a point without any. So ``1 - m / Q_ii``, with the median ``m`` of its manifold, is the share of the neighbours of a
typical point there that this one lacks. No dimension, no distance, no number of neighbours to choose.
"""

from __future__ import annotations

import numpy as np

from .._numerics.arrays import Array

# Smallest entry of the diagonal that is told from zero.
SMALLEST_DIAGONAL = 1e-12
# Manifolds of fewer points, or of a smaller share of all, have no typical points of their own.
FEWEST_TYPICAL, SHARE_TYPICAL = 5, 0.02


def outlier_scores(diagonal: Array, labels: Array) -> Array:
    """Scores in [0, 1) of points with a `diagonal` of ``Q`` and `labels`, 0 for at least half of every large manifold.

    Points of manifolds too small to have typical points, and those labelled -1, are compared with all others.

    Examples
    --------
    >>> outlier_scores(np.array([0.1, 0.1, 0.1, 0.1, 0.4]), np.zeros(5, dtype=int)).round(2).tolist()
    [0.0, 0.0, 0.0, 0.0, 0.75]
    """
    kept = np.maximum(diagonal, SMALLEST_DIAGONAL)
    sizes = np.bincount(labels[labels >= 0], minlength=1)
    large = np.flatnonzero(sizes >= max(FEWEST_TYPICAL, SHARE_TYPICAL * len(labels)))
    belongs = np.isin(labels, large)
    typical = np.full(len(labels), np.median(kept[belongs] if belongs.any() else kept))
    for label in large:
        members = labels == label
        typical[members] = np.median(kept[members])
    return np.maximum(0.0, 1.0 - typical / kept)
