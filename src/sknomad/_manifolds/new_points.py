"""Points that were not there when the model was fitted: which manifold they lie on, and where.

A new point is placed as a weighted mean of anchors. The weights are what the solution's own multipliers say a row of
``Q`` for that point would rest on: its scores against the anchors, projected on the simplex. Anchors are the training
points, or the cells where the solution is a soft assignment. See docs/new_points.md for the derivation.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import cast

import numpy as np
import scipy.sparse as sp

from .._files.records import saved
from .._numerics.arrays import Array, Sparse, Table, is_sparse, row_slices
from .._numerics.validation import check_indices, check_numbers
from .._numerics.weighted_simplex import weighted_rows
from .._program.centring import Frame, mean_of_rows
from .._program.gram import Gram

# Numbers of a block: rows at a time times anchors, or times columns of the data.
BLOCK_ENTRIES = 2**22
# Neighbours that share the correction of a new point.
NEIGHBOURS = 8


@saved
@dataclass(frozen=True)
class Features:
    """How a row given by the user becomes the vector whose products with anchors are its scores."""

    kind: str  # "euclidean", "precomputed" or "precomputed_distance", as the estimator's `metric`
    frame: Frame  # units and centre of the training data

    def of(self, rows: Table) -> Table:
        """The features of some rows, dense, or sparse where the training data were."""
        if is_sparse(rows) and (self.frame.origin is not None or self.kind != "euclidean"):
            rows = rows.toarray()
        placed = self.frame.place(rows)
        return -(np.asarray(placed) ** 2) / 2 if self.kind == "precomputed_distance" else placed


def training_features(gram: Gram) -> Table:
    """The features of the training points themselves."""
    return gram.table


def centre_of(gram: Gram) -> Array | None:
    """The vector whose products with anchors centre the scores of training and new points alike."""
    if gram.is_factored:
        return None
    return mean_of_rows(training_features(gram), gram.roots)


@saved
@dataclass(frozen=True)
class Anchors:
    """What new points are compared with: weights ``w_j max(2 f.a_j + b_j - t, 0)`` that sum to one."""

    columns: (
        Table | None
    )  # a, one column per anchor; None for the unit vectors (anchors are training points, kernel given)
    offsets: Array  # b
    weights: Array  # w
    parts: Array  # component of each anchor
    coordinates: Array  # of each anchor

    def __post_init__(self) -> None:
        m = len(check_numbers(self.offsets, "offsets of anchors", (None,)))
        check_numbers(self.weights, "weights of anchors", (m,))
        check_indices(self.parts, "parts of anchors", m)
        if self.coordinates is not None:  # found later than the rest
            check_numbers(self.coordinates, "coordinates of anchors", (m, None))
        if self.columns is None:
            return
        held = self.columns.data if is_sparse(self.columns) else self.columns
        check_numbers(held, "columns of anchors", (None,) * len(held.shape))
        if self.columns.shape[1:] != (m,):
            raise ValueError(f"columns must be one for each of {m} anchors, got shape {self.columns.shape}.")

    def shares(self, features: Table) -> Array:
        """The weights of every anchor for some points, (points, anchors)."""
        products = np.asarray(features) if self.columns is None else product(features, self.columns)
        scores = 2 * products + self.offsets
        return weighted_rows(scores, self.weights)


@saved
@dataclass(frozen=True)
class Correction:
    """What the weighted mean of anchors misses at the training points, carried over to points near them."""

    features: Table  # of the training points
    parts: Array  # component of each training point
    residuals: Array  # (n, n_components)
    given: bool  # whether the features hold the distances themselves, as -d^2/2

    def __post_init__(self) -> None:
        n = len(check_indices(self.parts, "parts of training points"))
        check_numbers(self.residuals, "residuals of training points", (n, None))
        if self.features.shape[:1] != (n,):
            raise ValueError(f"features must be those of {n} training points, got shape {self.features.shape}.")

    def at(self, features: Table, parts: Array) -> Array:
        """The correction of points that lie on given components."""
        neighbours, weights = self._neighbours(features)
        weights = weights * (self.parts[neighbours] == parts[:, None])
        total = weights.sum(axis=1)
        weights = weights / np.where(total > 0, total, 1)[:, None]
        return np.einsum("ik,ikc->ic", weights, self.residuals[neighbours])

    def _neighbours(self, features: Table) -> tuple[Array, Array]:
        """Nearest training points, and weights ``(1/d - 1/R)^2`` that vanish at the distance ``R`` of the next one."""
        squares = -2 * np.asarray(features) if self.given else self._rough_squares(features)
        count = min(NEIGHBOURS + 1, squares.shape[1])
        found = np.sort(np.argpartition(squares, count - 1, axis=1)[:, :count], axis=1)
        distances = np.sqrt(
            np.take_along_axis(squares, found, axis=1) if self.given else self._squares(features, found)
        )
        return found, local_weights(distances)

    def _rough_squares(self, features: Table) -> Array:
        """Squared distances up to a constant of each row, good enough to choose neighbours."""
        return squared_norms(self.features) - 2 * product(features, cast("Table", self.features.T))

    def _squares(self, features: Table, found: Array) -> Array:
        """Squared distances without cancellation: exactly zero for equal rows."""
        rows = np.repeat(np.arange(found.shape[0]), found.shape[1])
        difference = cast("Table", features[rows] - self.features[found.ravel()])
        return squared_norms(difference).reshape(found.shape)


@saved
@dataclass(frozen=True)
class Extension:
    """Everything that placing new points needs."""

    features: Features
    anchors: Anchors
    correction: Correction | None = None  # None where anchors reproduce the training points by construction
    exceptions: Table | None = None  # features of the training points whose weights point to another component
    exceptional_parts: Array | None = None  # the components they lie on

    def __post_init__(self) -> None:
        width, columns = self.features.frame.width, self.anchors.columns
        if width is not None and columns is not None and columns.shape[0] != width:
            raise ValueError(f"columns must have the {width} rows that features have, got {columns.shape[0]}.")
        if self.correction is not None:
            check_numbers(self.correction.residuals, "residuals", (None, *self.anchors.coordinates.shape[1:]))
        if self.exceptional_parts is not None and self.exceptions is not None:
            check_indices(self.exceptional_parts, "parts of exceptions", self.exceptions.shape[0])

    @property
    def n_parts(self) -> int:
        """How many components it may place points on, at least."""
        exceptional = 0 if self.exceptional_parts is None else self.exceptional_parts.max(initial=0)
        return 1 + int(max(self.anchors.parts.max(initial=0), exceptional))

    def place(self, X: Table) -> tuple[Array, Array]:
        """Component and coordinates of every row of `X`."""
        width = max(len(self.anchors.offsets), X.shape[1])
        if self.correction is not None:
            width = max(width, X.shape[1] * (NEIGHBOURS + 1), len(self.correction.parts))
        blocks = [self.features.of(X[block]) for block in row_slices(X.shape[0], max(1, BLOCK_ENTRIES // width))]
        placed = [self.place_features(features) for features in blocks]
        return np.concatenate([parts for parts, _ in placed]), np.concatenate([where for _, where in placed])

    def place_features(self, features: Table) -> tuple[Array, Array]:
        """The same for features, in one block."""
        shares = self.anchors.shares(features)
        parts = self._parts(features, shares)
        coordinates = mean_of_anchors(self.anchors, shares, parts)
        if self.correction is not None:
            coordinates += self.correction.at(features, parts)
        return parts, coordinates

    def misfit(self, X: Table) -> Array:
        """Squared distance of every row of dense points to the mean of the anchors that it rests on, as given."""
        assert self.anchors.columns is not None, "anchors of points have places"
        unit, places = (
            2.0 ** (self.features.frame.first + self.features.frame.second),
            np.asarray(self.anchors.columns).T,
        )
        found = []
        for block in row_slices(X.shape[0], max(1, BLOCK_ENTRIES // max(len(places), X.shape[1]))):
            features = np.asarray(self.features.of(X[block]))
            found.append(squared_norms(features - self.anchors.shares(features) @ places) * unit * unit)
        return np.concatenate(found)

    def _parts(self, features: Table, shares: Array) -> Array:
        parts = heaviest_parts(shares, self.anchors.parts)
        if self.exceptions is None or self.exceptional_parts is None:
            return parts
        scores = product(features, cast("Table", self.exceptions.T))
        nearest = (squared_norms(self.exceptions) - 2 * scores).argmin(axis=1)
        difference = cast("Table", abs(features - self.exceptions[nearest]))
        is_equal = np.asarray(difference.sum(axis=1)).ravel() == 0
        return np.where(is_equal, self.exceptional_parts[nearest], parts)


def with_exceptions(extension: Extension, features: Table, parts: Array) -> Extension:
    """`extension` with those training points remembered that it would place on another component."""
    if parts.max() == 0 and extension.anchors.parts.max() == 0:
        return extension
    blocks = row_slices(features.shape[0], max(1, BLOCK_ENTRIES // len(extension.anchors.offsets)))
    found = [heaviest_parts(extension.anchors.shares(features[block]), extension.anchors.parts) for block in blocks]
    wrong = np.flatnonzero(np.concatenate(found) != parts)
    if len(wrong) == 0:
        return extension
    return replace(extension, exceptions=features[wrong], exceptional_parts=parts[wrong])


def mean_of_anchors(anchors: Anchors, shares: Array, parts: Array) -> Array:
    """Mean of the coordinates of each point's anchors on its component; zero where it has none there."""
    own = np.where(anchors.parts == parts[:, None], shares, 0.0)
    total = own.sum(axis=1)
    return (own @ anchors.coordinates) / np.where(total > 0, total, 1)[:, None]


def heaviest_parts(shares: Array, parts: Array) -> Array:
    """The component that holds most of each row's weight."""
    if parts.max() == 0:
        return np.zeros(len(shares), dtype=np.int64)
    return np.asarray((sp.csr_matrix(shares) @ indicator(parts)).argmax(axis=1)).ravel().astype(np.int64)


def indicator(parts: Array) -> Sparse:
    """The sparse matrix with a one for every point in the column of its component."""
    n = len(parts)
    return sp.csr_matrix((np.ones(n), parts, np.arange(n + 1)), shape=(n, int(parts.max()) + 1))


def mean_between(groups: Array, product: Callable[[Array], Array]) -> Array:
    """Mean entry of a matrix between groups of points, given its product with columns; negative numbers are no group.

    Examples
    --------
    >>> mean_between(np.array([0, 1, 1, -1]), lambda columns: np.diag([4.0, 2.0, 2.0, 9.0]) @ columns).tolist()
    [[4.0, 0.0], [0.0, 1.0]]
    """
    count = int(groups.max()) + 1
    columns = indicator(np.where(groups < 0, count, groups)).toarray()[:, :count]
    sizes = np.maximum(columns.sum(axis=0), 1)
    return np.asarray((columns / sizes).T @ product(columns) / sizes)


def local_weights(distances: Array) -> Array:
    """Weights ``(1/d - 1/R)^2`` of neighbours, ``R`` the largest distance; all of it on those at distance zero.

    They interpolate: at a training point its own weight is one. They are continuous: a neighbour's weight is zero when
    it leaves the neighbourhood.
    """
    radius = distances.max(axis=1, keepdims=True)
    is_there = distances <= 1e-150 * radius
    near = np.where(is_there | (radius == 0), 1.0, distances)
    weights = (radius / near - 1) ** 2
    weights = np.where(weights.sum(axis=1, keepdims=True) > 0, weights, 1.0)  # all at one distance
    return np.where(is_there.any(axis=1, keepdims=True), is_there.astype(float), weights)


def product(features: Table, columns: Table) -> Array:
    """The product of two tables, dense."""
    result = cast("Table", features @ columns)
    return np.asarray(result.toarray() if is_sparse(result) else result)


def squared_norms(rows: Table) -> Array:
    """Squared lengths of the rows of a table."""
    squares = rows.multiply(rows) if is_sparse(rows) else np.asarray(rows) ** 2
    return np.asarray(squares.sum(axis=1)).ravel()
