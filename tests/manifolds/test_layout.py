"""The layout of a map: nothing overlaps, near is near, and nothing is left to chance."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.spatial.distance import cdist

from sknomad._manifolds.layout import MOST_BY_DISTANCE, lay_out


def overlap(sizes, middles):
    """The largest common width of two rectangles in both directions at once."""
    low, high = middles - sizes / 2, middles + sizes / 2
    common = np.minimum(high[:, None], high[None]) - np.maximum(low[:, None], low[None])
    both = common.min(axis=2)
    np.fill_diagonal(both, -np.inf)
    return both.max()


@given(
    st.integers(1, 9).flatmap(
        lambda m: st.tuples(
            arrays(float, (m, 2), elements=st.floats(0, 100, allow_subnormal=False)),
            arrays(float, (m, 3), elements=st.floats(-50, 50, allow_subnormal=False)),
        )
    )
)
def test_nothing_overlaps(sizes_and_places):
    sizes, places = sizes_and_places
    middles = lay_out(sizes, lambda some: cdist(places[some], places[some]))
    assert np.isfinite(middles).all()
    assert overlap(sizes, middles) <= 1e-9 * max(sizes.max(), 1)


def test_many_small_ones_lie_in_rows_below(rng):
    sizes = rng.uniform(0.1, 1, (MOST_BY_DISTANCE + 100, 2))
    places = rng.standard_normal((len(sizes), 2))
    asked = []

    def distances(some):
        asked.append(len(some))
        return cdist(places[some], places[some])

    middles = lay_out(sizes, distances)
    assert asked == [MOST_BY_DISTANCE]
    assert overlap(sizes, middles) <= 1e-9
    by_area = np.argsort(-sizes.prod(axis=1))
    above, below = by_area[:MOST_BY_DISTANCE], by_area[MOST_BY_DISTANCE:]
    assert (middles - sizes / 2)[above, 1].min() >= (middles + sizes / 2)[below, 1].max() - 1e-9


def test_what_is_near_stays_near():
    places = np.array([[0.0, 0], [1, 0], [10, 0], [11, 0], [0, 8], [1, 8]])
    middles = lay_out(np.ones((6, 2)), lambda some: cdist(places[some], places[some]))
    nearest = (cdist(middles, middles) + 1e9 * np.eye(6)).argmin(axis=1)
    assert nearest.tolist() == [1, 0, 3, 2, 5, 4]


def test_long_lines_lie_above_each_other():
    middles = lay_out(np.array([[80.0, 0.0], [80.0, 0.0]]), lambda some: np.array([[0.0, 3.0], [3.0, 0.0]]))
    assert abs(middles[0, 0] - middles[1, 0]) < 8
    assert abs(middles[0, 1] - middles[1, 1]) > 1


@pytest.mark.parametrize("size", [0.0, 1e-200, 1e200])
def test_extreme_sizes_are_laid_out(size):
    middles = lay_out(np.full((3, 2), size), lambda some: 1 - np.eye(3))
    assert len(np.unique(middles, axis=0)) == 3
