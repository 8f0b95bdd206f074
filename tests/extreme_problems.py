"""Problems with K between n - 1 and n, of every kind and scale: what bounds may say of them is known exactly."""

from __future__ import annotations

import math
import warnings
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from oracles import NearlyAll, exact_squares, nearly_all
from sknomad import NOMAD, Gram, Iterate, KMeansSDP, certify, solve
from sknomad._points.forms import DensePoint, FactorPoint, SoftPoint, SpectralPoint

KINDS = ("data", "sparse", "kernel", "distances")
METRICS = {"data": "euclidean", "sparse": "euclidean", "kernel": "precomputed", "distances": "precomputed_distance"}


class Case(NamedTuple):
    """One problem as a user would pose it."""

    kind: str
    table: np.ndarray  # points, kernel or distances, dense
    weights: np.ndarray | None
    K: float

    @property
    def given(self):
        return sp.csr_matrix(self.table) if self.kind == "sparse" else self.table

    def gram(self):
        make = {"kernel": Gram.from_kernel, "distances": Gram.from_distances}.get(self.kind, Gram.from_data)
        options = {"allow_indefinite": True} if self.kind == "kernel" else {}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # of scales
            return make(self.given, weights=self.weights, **options)


@np.errstate(over="ignore")
def draw_case(rng, sizes=(2, 7)):
    """A random problem: ordinary, or extreme in its scale, its offset, its weights or the spread of its numbers."""
    n, kind = int(rng.integers(*sizes)), str(rng.choice(KINDS))
    table = _draw_points(rng, n, int(rng.integers(1, 4)))
    if kind == "kernel":
        table = _finite(table @ table.T if rng.random() < 0.8 else rng.standard_normal((n, n)))
        table = table / 2 + table.T / 2 + (10.0 ** rng.uniform(0, 12) if rng.random() < 0.2 else 0.0)
    elif kind == "distances":
        table = np.linalg.norm(table[:, None] - table, axis=-1) if rng.random() < 0.7 else abs(rng.random((n, n)))
        table = _finite(table + table.T) * (1 - np.eye(n))
    if rng.random() < 0.4:
        table = _finite(table * 10.0 ** rng.uniform(-300, 300))
    return Case(kind, table, _draw_weights(rng, n), _draw_K(rng, n))


def _draw_points(rng, n, d):
    X = rng.standard_normal((n, d)) if rng.random() < 0.7 else rng.integers(-3, 4, (n, d)).astype(float)
    style = rng.integers(6)
    if style == 1:
        X = X * 10.0 ** rng.uniform(-12, 12, (n, 1))
    elif style == 2:
        X = X * 10.0 ** rng.uniform(-150, 150, d)
    elif style == 3:
        X[1] = X[0] * (1 + 1e-9 * rng.standard_normal())
    elif style == 4:
        X[rng.integers(n)] = X[0]
    return X + (10.0 ** rng.uniform(0, 12) if rng.random() < 0.3 else 0.0)


def _draw_weights(rng, n):
    style = rng.integers(5)
    if style < 2:
        return None
    reach = {2: 1, 3: 30, 4: 150}[int(style)]
    return 10.0 ** rng.uniform(-reach, min(reach, 9), n)


def _draw_K(rng, n):
    below = [0.0, 1.0, rng.random(), 10.0 ** -rng.uniform(0, 16), 1 - 10.0 ** -rng.uniform(0, 16)]
    return float(min(max(n - below[rng.integers(5)], n - 1), n))


def _finite(A):
    return np.clip(np.nan_to_num(A), -1e305, 1e305)


def exact(case, gram):
    """The optimum in the units that bounds have, as a fraction; with a multiplier in the same units."""
    squares = exact_squares(case.table, "data" if case.kind == "sparse" else case.kind)
    unit = Fraction(2) ** _unit_exponent(case, gram)
    return nearly_all([[x / unit for x in row] for row in squares], case.K, case.weights)


def _unit_exponent(case, gram):
    """Exponent of ``gram.unit``, which may itself leave float64."""
    scale = (1 if case.kind == "kernel" else 2) * (gram.frame.first + gram.frame.second)
    if case.weights is None:
        return scale
    ratio = sum(map(Fraction, case.weights.tolist())) / sum(Fraction(q) ** 2 for q in gram.roots.tolist())
    near = ratio.numerator.bit_length() - ratio.denominator.bit_length()
    return scale + near + round(math.log2(ratio / Fraction(2) ** near))


def draw_iterate(rng, problem, answer: NearlyAll):
    """A point and a multiplier: good, poor, or nonsense."""
    n, (i, j) = problem.n, answer.pair
    labels = np.arange(n)
    labels[i] = j
    V = np.eye(n)[labels]
    share = n - problem.K
    Q = share * (V / np.maximum(V.sum(axis=0), 1)) @ V.T + (1 - share) * np.eye(n)
    U = np.linalg.qr(rng.standard_normal((n, n)))[0]
    values, vectors = np.linalg.eigh(Q)
    points = [
        DensePoint(Q), SoftPoint(V), SoftPoint(rng.random((n, n))), FactorPoint(rng.standard_normal((n, 2))),
        SpectralPoint(U, rng.random(n)), SpectralPoint(vectors, values), DensePoint(rng.standard_normal((n, n))),
    ]  # fmt: skip
    multipliers = [
        answer.N, answer.N * (1 + 1e-15 * rng.standard_normal((n, n))), np.zeros((n, n)), None,
        answer.N + abs(problem.gram.norm * rng.standard_normal((n, n))),
    ]  # fmt: skip
    return Iterate(points[rng.integers(len(points))], N=multipliers[rng.choice(5, p=[0.5, 0.2, 0.1, 0.05, 0.15])])


def direct_bounds(rng, grade, sizes=(2, 7)):
    """A case, its exact answer, and the bounds that one iterate proves."""
    case = draw_case(rng, sizes)
    gram = case.gram()
    answer, problem = exact(case, gram), KMeansSDP(gram, case.K)
    return case, answer, certify(problem, draw_iterate(rng, problem, answer), grade=grade, repair_steps=2)


def fitted_bounds(rng, grade):
    """A case, its exact answer, and the bounds of a whole fit."""
    case = draw_case(rng)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if rng.random() < 0.5:
            gram = case.gram()
            certificate = solve(KMeansSDP(gram, case.K), grade=grade, max_iter=60).certificate
        else:
            model = NOMAD(case.K, metric=METRICS[case.kind], grade=grade, max_iter=60)
            model.fit(case.given, sample_weight=case.weights)
            gram, certificate = model.solution_.problem.gram, model.certificate_
    return case, exact(case, gram), certificate


def is_true(answer, certificate):
    """Whether both bounds hold, in exact arithmetic; unknown ones do."""
    lower, upper = certificate.lower, certificate.upper
    return (lower == -math.inf or Fraction(lower) <= answer.value) and (
        upper == math.inf or answer.value <= Fraction(upper)
    )
