"""`OnlineNOMAD`: manifolds of a stream, one mini-batch after another, in memory that does not grow."""

from __future__ import annotations

import math

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted, validate_data

from .._certificate.certificate import Certificate
from .._certificate.upper import GRADES
from .._files.models import Saveable
from .._numerics.arrays import Array, Data, row_slices
from .._numerics.validation import check_choice, check_finite, check_integer, check_K, check_real
from .._program.float_range import LARGEST_SIZE, SMALLEST_SIZE
from .._scale.online_cells import Stream
from .._scale.online_window import certify_window
from ..solvers._soft_stream import assignments
from .parameters import check_online_parameters

# Rows held before the first step: so many per unit of K, and never fewer than the second.
HELD_PER_K, FEWEST_HELD = 40, 500


class OnlineNOMAD(Saveable, ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, BaseEstimator):
    """Separate the manifolds of a stream of points, with a proven gap on any window of it.

    Soft assignments of points to cells whose sizes, means and overlaps are running averages over mini-batches: nothing
    of a batch is kept. Cells are small patches of the manifolds, as the receptive fields of neurons that compete.
    `NOMAD` describes all points it was given, one by one, and so has no `partial_fit`; this describes the cells.

    Parameters
    ----------
    K : float, default=16
        Trace of ``Q``: each cell's neighbourhood has about one ``K``-th of the points.
    n_passes : int, default=5
        How often `fit` goes through the rows; `partial_fit` goes once.
    batch_size : int, default=256
        Rows per step; it hardly matters.
    decay : float, default=0.7
        After ``256 t`` rows, 256 more move averages by ``(t + 2)^-decay``: from 0.5 (forgets fast, follows changes) to
        1 (forgets nothing).
    warm_up : int or "auto", default="auto"
        Rows that are held, and solved together, before the first step; "auto" is 500 or, if more, 40 times K.
    threshold : float, default=0.015
        Cells that share more than this much of the points, relative to the largest share, are one manifold.
    n_components : int, default=2
        Dimension of the coordinates.
    random_state : int, default=0
        Seed of the starting cells and of the order in which `fit` goes through the rows.

    Attributes
    ----------
    cells_ : array of shape (n_cells, n_features)
        Means of the cells.
    cell_labels_ : array of shape (n_cells,)
        Manifold of each cell, numbered from the largest to the smallest.
    cell_sizes_ : array of shape (n_cells,)
        Share of all points in each cell.
    labels_ : array of shape (n_samples,)
        Manifold of each row of the last call of `fit` or `partial_fit`.
    n_manifolds_ : int
        Number of manifolds.
    n_seen_ : int
        Rows read so far, those read again included.
    n_features_in_ : int
        Number of columns of `X`.

    Examples
    --------
    >>> from sknomad import OnlineNOMAD
    >>> from sknomad.datasets import two_rings
    >>> X, truth = two_rings(2000, noise=0.02, random_state=0)
    >>> model = OnlineNOMAD(K=16).fit(X)
    >>> sorted(set(zip(truth.tolist(), model.labels_.tolist())))
    [(0, 0), (1, 1)]
    >>> model.certify(X[::10], tol=0.05).gap < 0.05
    True
    """

    _stream: Stream | None  # None while rows are held

    def __init__(
        self,
        K: float = 16,
        *,
        n_passes: int = 5,
        batch_size: int = 256,
        decay: float = 0.7,
        warm_up: int | str = "auto",
        threshold: float = 0.015,
        n_components: int = 2,
        random_state: int = 0,
    ):
        self.K = K
        self.n_passes = n_passes
        self.batch_size = batch_size
        self.decay = decay
        self.warm_up = warm_up
        self.threshold = threshold
        self.n_components = n_components
        self.random_state = random_state

    def fit(self, X: Data, y: object = None) -> OnlineNOMAD:
        """Forget everything and go `n_passes` times through the rows, each time in another order.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : ignored

        Returns
        -------
        OnlineNOMAD
            This model.
        """
        rows = self._read(X, reset=True)
        check_online_parameters(self)
        check_K(self.K, len(rows))
        self._forget(rows)
        generator = np.random.default_rng(self.random_state)
        for _ in range(self.n_passes):
            self._take(rows[generator.permutation(len(rows))] - self._origin)
        if self._stream is None:  # fewer rows than are held
            self._begin(rows - self._origin)
        self.labels_ = self.predict(X)
        return self

    def partial_fit(self, X: Data, y: object = None) -> OnlineNOMAD:
        """Go once through some more rows, in the order in which they come.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Any number of rows; the first `warm_up` are held until there are so many.
        y : ignored

        Returns
        -------
        OnlineNOMAD
            This model.
        """
        is_new = not hasattr(self, "_held")
        rows = self._read(X, reset=is_new)
        check_online_parameters(self)
        if is_new:
            self._forget(rows)
        self._take(rows - self._origin)
        if self._stream is not None:
            self.labels_ = self.predict(X)
        return self

    def predict(self, X: Data) -> Array:
        """Manifold of each point: the one whose cells hold most of it.

        Parameters
        ----------
        X : array-like of shape (n_points, n_features)

        Returns
        -------
        array of shape (n_points,)
        """
        stream, rows = self._read_fitted(X)
        return self._labels(assignments(rows, stream.cells))

    def transform(self, X: Data) -> Array:
        """Coordinates of points on the manifolds that `predict` names, each with its own coordinate system.

        Parameters
        ----------
        X : array-like of shape (n_points, n_features)

        Returns
        -------
        array of shape (n_points, n_components)
            The leading eigenvectors of ``Q`` on the manifold, scaled by the roots of their eigenvalues and of the
            number of points.
        """
        stream, rows = self._read_fitted(X)
        V, coordinates = assignments(rows, stream.cells), stream.coordinates(self.cell_labels_, self.n_components)
        return (V * (self.cell_labels_ == self._labels(V)[:, None])) @ coordinates

    def assign(self, X: Data) -> Array:
        """Soft assignments of points to cells.

        Parameters
        ----------
        X : array-like of shape (n_points, n_features)

        Returns
        -------
        array of shape (n_points, n_cells)
            Nonnegative rows of sum one.
        """
        stream, rows = self._read_fitted(X)
        return assignments(rows, stream.cells)

    def certify(self, X: Data, *, tol: float = 1e-2, max_iter: int = 500, grade: str = "eigen") -> Certificate:
        """Bounds on the optimum of the program for a window of points, the lower one from this model's assignments.

        The upper bound is that of ADMM, started from the multipliers of the assignments: an n x n array, so a window
        has up to some thousand points.

        Parameters
        ----------
        X : array-like of shape (n_points, n_features)
            The window: points of the stream, or any others.
        tol : float, default=1e-2
            Relative gap at which ADMM stops.
        max_iter : int, default=500
            Most steps of ADMM.
        grade : {"eigen", "verified"}, default="eigen"
            Strength of proof, see `certify`.

        Returns
        -------
        Certificate
            Its gap is how far the assignments of this window may be from the best possible ``Q``.
        """
        check_real(tol, "tol", 0, math.inf, "a real number >= 0")
        check_integer(max_iter, "max_iter", 1)
        check_choice(grade, "grade", GRADES)
        stream, rows = self._read_fitted(X)
        K = check_K(self.K, len(rows))
        return certify_window(stream.cells, rows, K, tol=tol, max_iter=max_iter, grade=grade)

    @property
    def _n_held(self) -> int:
        """Rows to hold before the first step."""
        least = max(HELD_PER_K * self.K, FEWEST_HELD) if self.warm_up == "auto" else self.warm_up
        return math.ceil(max(float(least), self.K))

    @property
    def _n_features_out(self) -> int:
        return int(self.n_components)

    def _read(self, X: Data, *, reset: bool) -> Array:
        rows = validate_data(self, X, reset=reset, dtype=np.float64, ensure_all_finite=False)
        check_finite(rows, "X")
        largest = float(np.abs(rows).max())
        if largest > LARGEST_SIZE:
            raise ValueError(f"X must hold numbers up to {LARGEST_SIZE:.0e}, got {largest:.1e}. Rescale X.")
        return np.asarray(rows)

    def _read_fitted(self, X: Data) -> tuple[Stream, Array]:
        """The stream, and rows relative to its origin."""
        check_is_fitted(self)
        if self._stream is None:
            raise NotFittedError(
                f"This {type(self).__name__} must see at least {self._n_held} rows before it can answer, got "
                f"{len(self._held)} so far. Call partial_fit with more, or lower warm_up."
            )
        return self._stream, self._read(X, reset=False) - self._origin

    def _forget(self, rows: Array) -> None:
        """Begin anew, with the first row as origin: a large common mean then costs no digits."""
        self._stream, self._held, self._origin = None, np.empty((0, rows.shape[1])), rows[0].copy()

    def _take(self, rows: Array) -> None:
        """Hold rows until there are enough of them to begin with; then one step per batch."""
        while self._stream is None:
            missing = self._n_held - len(self._held)
            self._held, rows = np.concatenate([self._held, rows[:missing]]), rows[missing:]
            if len(self._held) < self._n_held:
                return
            if self._held.any():
                self._begin(self._held)
            else:  # rows that are all equal say nothing about where cells should be
                self._held = self._held[:1]
        for block in row_slices(len(rows), self.batch_size):
            assert self._stream is not None
            self._stream = self._stream.after(rows[block], self.K, self.decay)
        self._describe()

    def _begin(self, rows: Array) -> None:
        largest = float(np.abs(rows).max())
        if 0 < largest < SMALLEST_SIZE:
            raise ValueError(f"X must differ by more than {SMALLEST_SIZE:.0e}, got {largest:.1e}. Rescale X.")
        self._stream = Stream.begin(rows, check_K(self.K, len(rows)), self.random_state)
        self._held = np.empty((0, rows.shape[1]))
        self._describe()

    def _describe(self) -> None:
        """The attributes that say what the cells are."""
        assert self._stream is not None
        stream = self._stream
        self.cells_ = stream.cells.centroids.T + self._origin
        self.cell_sizes_ = stream.cells.sizes / stream.cells.sizes.sum()
        self.cell_labels_ = stream.manifolds(self.threshold)
        self.n_manifolds_ = int(self.cell_labels_.max()) + 1
        self.n_seen_ = stream.n_seen

    def _labels(self, V: Array) -> Array:
        return np.argmax(V @ (self.cell_labels_[:, None] == np.arange(self.n_manifolds_)), axis=1)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_held")
