"""Points in every form agree with the matrices that they stand for."""

from __future__ import annotations

import numpy as np
import pytest

from oracles import centred_gram
from planted_problems import forms
from sknomad import Gram, SoftPoint


@pytest.mark.parametrize("form", ["dense", "spectral", "soft", "factor", "mixed"])
@pytest.mark.parametrize("make", [Gram.from_data, lambda X: Gram.from_kernel(X @ X.T)])
def test_points_agree_with_their_dense_form(form, make, rng):
    X = rng.standard_normal((11, 4)) + 3
    point, Q = forms(rng, 11)[form]
    assert point.n == 11
    assert np.allclose(point.dense(), Q, atol=1e-14)
    assert np.allclose(point.rows(3, 8), Q[3:8], atol=1e-14)
    assert point.trace() == pytest.approx(float(np.trace(Q)) if form != "spectral" else 1 + 3.0, rel=1e-12)
    assert point.value(make(X)) == pytest.approx(np.sum(centred_gram(X) * Q), rel=1e-10)


def test_soft_points_are_feasible_but_for_the_trace(rng):
    Q = SoftPoint(rng.random((9, 4))).as_soft().dense()
    assert np.allclose(Q.sum(axis=1), 1, atol=1e-14)
    assert Q.min() >= 0
    assert np.linalg.eigvalsh(Q)[0] >= -1e-15
