"""The small ring that the loop is tested on."""

from __future__ import annotations

import pytest

from oracles import ring_points
from scripted import N_POINTS, TRACE
from sknomad import Gram, KMeansSDP


@pytest.fixture
def problem():
    return KMeansSDP(Gram.from_data(ring_points(N_POINTS)), TRACE)
