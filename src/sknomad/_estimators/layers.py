"""The layers of `MultiLayerNOMAD`, and what its first one says about the points: coordinates, map, order, outliers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from .._certificate.certificate import Certificate
from .._files.records import saved
from .._manifolds.division_tree import DivisionTree, division_tree
from .._manifolds.frames import make_frames
from .._manifolds.linkage import LinkageTree
from .._manifolds.new_points import mean_between
from .._manifolds.order import find_order
from .._manifolds.outliers import outlier_scores
from .._numerics.arrays import Array
from .._numerics.validation import check_groups
from .._solving.solution import Solution
from .fitted import PlacesNewPoints

# Points of one component of a layer are linked by similarities above a hundredth.
LINKED = 2.0
# Ways lead over entries of the first layer's Q above this share of the largest: the default of `NOMAD`.
THRESHOLD = 0.1


@saved
@dataclass(frozen=True)
class Layer:
    """One layer: the program it solved and what it found.

    Examples
    --------
    >>> from sknomad import MultiLayerNOMAD
    >>> from sknomad.datasets import two_rings
    >>> model = MultiLayerNOMAD([16, 8, 4, 2]).fit(two_rings(60)[0])
    >>> [layer.K for layer in model.layers_]
    [16.0, 8.0, 4.0, 2.0]
    """

    K: float  # trace of Q
    Q: Array  # (n, n), the feasible affinity, which is the next layer's Gram matrix
    certificate: Certificate  # bounds on this layer's optimum
    labels: Array  # (n,) its components
    n_components_found: int  # their number


def make_layer(solution: Solution, tree: LinkageTree) -> Layer:
    """What is kept of a layer that was solved."""
    labels = tree.components(LINKED)
    return Layer(solution.problem.K, solution.Q, solution.certificate, labels, int(labels.max()) + 1)


@dataclass
class _Asked:
    """What is asked of the frames of clusters."""

    metric: str
    coordinates: str
    n_components: int
    threshold: float = THRESHOLD


class FittedLayers(PlacesNewPoints):
    """Questions to a model of layers; its `fit` calls `_read_first_layer`."""

    layers_: list[Layer]
    coordinates: str
    n_components: int
    _divisions: DivisionTree

    def _read_first_layer(self, first: Solution, tree: LinkageTree, labels: Array, outliers_from: float) -> None:
        """Set the attributes that have an entry for each point, given the clusters."""
        base = first.point.unmixed
        frames = make_frames(base, first, labels, _Asked(self.metric, self.coordinates, self.n_components))
        self.outlier_scores_ = outlier_scores(base.diagonal(), labels)
        self.labels_ = np.where(self.outlier_scores_ > outliers_from, -1, labels)
        found = find_order(
            base, frames.spectral, self.labels_, THRESHOLD, along=frames.along, is_opened=frames.is_opened
        )
        self.order_, self.is_closed_ = found.order, found.is_closed
        self.embedding_ = frames.coordinates[:, : self.n_components]
        self.map_ = frames.atlas.place(labels, frames.coordinates)
        self._extension, self._atlas, self._n_features_out = frames.extension, frames.atlas, self.n_components
        self._divisions = division_tree(tree, self.labels_)

    def division_tree(self) -> DivisionTree:
        """Which sets of points come together at which similarity in the first layer, over all thresholds.

        Returns
        -------
        DivisionTree
            Branches of at least 2 % of the points, as of `NOMAD`.
        """
        check_is_fitted(self)
        return self._divisions

    def mean_affinity(self, groups: ArrayLike) -> Array:
        """Mean entry of the first layer's ``Q`` between groups of points.

        Parameters
        ----------
        groups : array-like of int, shape (n_samples,)
            The group of each point, counted from 0; negative numbers belong to none.

        Returns
        -------
        array of shape (n_groups, n_groups)
        """
        check_is_fitted(self)
        return mean_between(check_groups(groups, len(self.labels_)), lambda columns: self.layers_[0].Q @ columns)
