"""Rings of many sizes and traces, and what makes a matrix feasible."""

import numpy as np
import pytest

CASES = [
    (2, 1.5),
    (3, 2.7),
    (4, 2.5),
    (5, 2.4),
    (9, 1.0),
    (9, 9.0),
    (12, 2.2),
    (13, 3.3),
    (40, 4),
    (41, 17.5),
    (60, 1.3),
]


def tolerance(expected):
    """5e-9 relative, or half a unit of the last printed digit where fewer digits are known."""
    decimals = len(str(expected).partition(".")[2]) if isinstance(expected, float) else 9
    return max(5e-9 * abs(expected), 0.5001 * 10.0**-decimals)


def assert_feasible(Q, K, atol=1e-10):
    assert np.allclose(Q, Q.T, rtol=0, atol=atol)
    assert np.allclose(Q.sum(axis=1), 1, rtol=0, atol=atol)
    assert np.trace(Q) == pytest.approx(K, abs=atol)
    assert Q.min() >= -atol
    assert np.linalg.eigvalsh(Q).min() >= -atol
