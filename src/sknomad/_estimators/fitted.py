"""What a fitted model can be asked: the place of points, distances along manifolds, ``Q`` itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import TransformerMixin
from sklearn.utils.validation import check_is_fitted

from .._manifolds.atlas import Atlas
from .._manifolds.cell_reading import CellReading
from .._manifolds.division_tree import DivisionTree, division_tree
from .._manifolds.geodesics import geodesics, support
from .._manifolds.linkage import linkage_tree
from .._manifolds.new_points import Extension, indicator, mean_between
from .._manifolds.remoteness import remoteness
from .._numerics.arrays import Array, Data, SameTable, Sparse, Table, given_template, is_sparse, like_given, to_numpy
from .._numerics.dask_blocks import DaskBlocks, is_dask
from .._numerics.threads import limited_threads
from .._numerics.validation import check_distances, check_groups
from .._points.mixed import MixedPoint
from .._points.point import Point
from .._points.unweighted import PlainPoint
from .._program.duplicates import Groups
from .._program.inputs import METRICS, check_library, read_table
from .missing_matrix import SaysWhyQIsMissing

if TYPE_CHECKING:
    from sklearn.utils import Tags


def _transformed(block: Array, model: PlacesNewPoints) -> Array:
    return model.transform(block)


def _predicted(block: Array, model: PlacesNewPoints) -> Array:
    return model.predict(block)


class PlacesNewPoints(TransformerMixin):
    """`transform` and `predict` of a model whose `fit` has set what is named here."""

    labels_: Array
    embedding_: Array
    metric: str
    _n_features_out: int
    _takes_other_arrays = False  # than NumPy's
    _atlas: Atlas  # where each component lies on the map
    _extension: Extension | CellReading  # how new points are placed

    def transform(self, X: Data) -> Array:
        """Coordinates of points, each by itself: those of training points are their `embedding_`.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_points, n_features) or (n_points, n_samples)
            Points, or their kernel values or distances to the training points, as `metric` says.

        Returns
        -------
        array of shape (n_points, n_components)
            In the coordinate system of the manifold, or cluster, that `predict` names.
        """
        if is_dask(X):
            return DaskBlocks(X).per_row(_transformed, self, width=self._n_features_out, dtype=float)
        _, coordinates = self._place(X, "transform")
        return like_given(coordinates[:, : self._n_features_out], given_template(X))

    def predict(self, X: Data) -> Array:
        """Manifold, or cluster, of each point, as in `labels_`: the one with most of the weight of its row of ``Q``.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_points, n_features) or (n_points, n_samples)
            As for `transform`.

        Returns
        -------
        array of shape (n_points,)
        """
        if is_dask(X):
            return DaskBlocks(X).per_row(_predicted, self, width=None, dtype=np.int64)
        labels, _ = self._place(X, "predict")
        return like_given(labels, given_template(X))

    def transform_to_map(self, X: Data) -> Array:
        """Places of points on the map, each by itself: those of training points are their `map_`.

        Parameters
        ----------
        X : array-like or sparse matrix
            Points, as `transform` takes them.

        Returns
        -------
        array of shape (n_points, 2)
            A row for each.
        """
        parts, coordinates = self._place_parts(X, "transform_to_map")
        return like_given(self._atlas.place(parts, coordinates), given_template(X))

    def score(self, X: Data, y: object = None) -> float:
        """How well the model describes points it has not seen, for choosing parameters; higher is better.

        Minus the mean squared distance of each point to the mean of the training points that its row of ``Q`` rests
        on: neighbourhoods that are too wide miss the curvature, those that are too narrow follow the noise.

        Parameters
        ----------
        X : array-like of shape (n_points, n_features)
            Points, with ``metric="euclidean"``.
        y : ignored

        Returns
        -------
        float
            In units of `X` squared.
        """
        table = self._dense_points(X, "score", "Compare certificates or labels instead.")
        return -float(np.mean(self._extension.misfit(table)))

    def remoteness(self, X: Data) -> Array:
        """How far points lie from everything the model was fitted to: 0 as near as training points, 1 at infinity.

        ``1 - r/d``, with ``d`` the distance to the nearest training point, and ``r`` the distance to the nearest other
        one that 95 % of the training points of its manifold do not exceed. `predict` names a manifold for every point;
        where this is far above 1/2, several times as far as training points from each other, the name says little.

        Parameters
        ----------
        X : array-like of shape (n_points, n_features)
            Points, with ``metric="euclidean"``.

        Returns
        -------
        array of shape (n_points,)
        """
        table = self._dense_points(X, "remoteness", "Look at the kernel values or distances themselves.")
        return like_given(remoteness(self._extension, table), given_template(X))

    def _dense_points(self, X: Data, method: str, remedy: str) -> Table:
        """The points that a `method` is given which measures distances to means."""
        check_is_fitted(self)
        table = read_table(self, X, reset=False)
        if self.metric != METRICS[0] or is_sparse(table):
            raise ValueError(
                f'{method} must be given dense points of a model with metric="euclidean", got metric={self.metric!r} '
                f"and {type(table).__name__}. {remedy}"
            )
        return table

    @property
    def _is_pairwise(self) -> bool:
        return self.metric in METRICS[1:]

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = self._is_pairwise
        tags.array_api_support = self._takes_other_arrays
        return tags

    def _place(self, X: Data, method: str) -> tuple[Array, Array]:
        """Label and coordinates of points, for the `method` that asks."""
        return self._place_parts(X, method)

    def _place_parts(self, X: Data, method: str) -> tuple[Array, Array]:
        """Connected component and coordinates of points, for the `method` that asks."""
        check_is_fitted(self)
        table = read_table(self, X, reset=False)
        if self.metric == "precomputed_distance":
            check_distances(table)
        return self._extension.place(table)


class FittedManifolds(SaysWhyQIsMissing, PlacesNewPoints):
    """Questions to a model that has found manifolds; `fit` sets what is named here, all results come from it."""

    n_manifolds_: int
    threshold: float
    affinity: str
    n_threads: int | None
    K_: float
    _point: MixedPoint  # the feasible Q
    _names: list[int]  # label of each connected component
    _groups: Groups | None  # where points have weights or are equal

    def geodesic_distances(self, indices: int | Sequence[int] | Array | None = None) -> Array:
        """Lengths of shortest paths over the entries of ``Q`` that connect points.

        An edge is ``sqrt(Q_ii + Q_jj - 2 Q_ij)`` long, the distance of two rows of a root of ``Q``. Lengths count in
        neighbourhoods, not in units of the data: where points lie densely a step along the manifold is longer.

        Parameters
        ----------
        indices : int or array-like of int, optional
            Points to start from; None is all of them.

        Returns
        -------
        array of shape (n_samples, n_samples), or a row for each of `indices`
            Infinite between manifolds.
        """
        check_is_fitted(self)
        distances = geodesics(self._support(), indices)
        return like_given(distances, given_template(self.labels_))

    def division_tree(self) -> DivisionTree:
        """Which sets of points come together at which similarity ``Q_ij / sqrt(Q_ii Q_jj)``, over all thresholds.

        Returns
        -------
        DivisionTree
            Branches of at least 2 % of the points: `parent`, `born` and `ends` (in decades), `sizes`, `labels`.
        """
        check_is_fitted(self)
        labels = np.asarray(to_numpy(self.labels_))
        return division_tree(linkage_tree(self._point.unmixed), self._of_program(labels))

    def mean_affinity(self, groups: ArrayLike) -> Array:
        """Mean entry of ``Q`` between groups of points, without an n x n array.

        Parameters
        ----------
        groups : array-like of int, shape (n_samples,)
            The group of each point, counted from 0; negative numbers belong to none.

        Returns
        -------
        array of shape (n_groups, n_groups)
        """
        check_is_fitted(self)
        given = check_groups(groups, len(self.labels_))
        return mean_between(given, self._product)

    def _product(self, columns: Array) -> Array:
        """``Q`` of the points given times some columns."""
        if self._groups is None:
            return self._point.product(columns)
        present, of = self._groups.present, self._groups.of[self._groups.present]
        merged = np.zeros((len(self._groups.first), columns.shape[1]))
        np.add.at(merged, of, columns[present])
        roots = self._groups.roots[:, None]
        return self._groups.given(self._point.product(merged / roots) / roots, 0.0)

    @property
    def affinity_(self) -> Table:
        """The feasible ``Q``, dense, or the entries of ``Q`` that connect points as a CSR matrix."""
        check_is_fitted(self)
        if self.affinity == "sparse":
            return self._support()
        return like_given(self._given(self._plain(self._point).dense()), given_template(self.labels_))

    @property
    def memberships_(self) -> Array:
        """Share of each point's row of ``Q`` on every manifold, (n_samples, n_manifolds)."""
        check_is_fitted(self)
        labels = self._of_program(np.asarray(to_numpy(self.labels_)))
        # Points labelled -1 belong to a last column that is left out.
        columns = indicator(np.where(labels < 0, self.n_manifolds_, labels)).toarray()[:, : self.n_manifolds_]
        if self._groups is None:
            return like_given(self._point.product(columns), given_template(self.labels_))
        roots = self._groups.roots[:, None]
        shares = self._point.product(roots * columns) / roots
        return like_given(self._groups.given(shares, 0.0), given_template(self.labels_))

    def _of_program(self, values: Array) -> Array:
        """Values of the points of the program from those of the points given."""
        return values if self._groups is None else values[self._groups.first]

    def _support(self) -> Sparse:
        """The entries of ``Q`` that connect points."""
        return self._given(support(self._plain(self._point.unmixed), self.threshold))

    def _plain(self, point: Point) -> Point:
        """``Q`` of single points."""
        return point if self._groups is None else PlainPoint(point, self._groups.roots)

    def _given(self, Q: SameTable) -> SameTable:
        """A square matrix of the points given from one of the points of the program."""
        return Q if self._groups is None else self._groups.square(Q, self.K_)

    def _place(self, X: Data, method: str) -> tuple[Array, Array]:
        parts, coordinates = self._place_parts(X, method)
        return np.array(self._names)[parts], coordinates

    def _place_parts(self, X: Data, method: str) -> tuple[Array, Array]:
        """Connected component and coordinates of points, for the `method` that asks."""
        check_is_fitted(self)
        check_library(self, X, self.embedding_, method)
        with limited_threads(self.n_threads):
            table = read_table(self, X, reset=False)
            if self.metric == "precomputed_distance":
                check_distances(table)
            if self._groups is not None:
                table = self._groups.columns(table, pairwise=self._is_pairwise)
            return self._extension.place(table)
