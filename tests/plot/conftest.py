"""Two rings, solved, for every figure."""

import pytest

from drawn import two_rings_solved


@pytest.fixture
def solved():
    return two_rings_solved()
