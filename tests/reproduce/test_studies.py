"""Every study has what the runner asks for."""

from __future__ import annotations

import pytest

from sknomad.reproduce.experiments import (
    burer_monteiro,
    convergence,
    cp_rank,
    geodesics,
    kmeans,
    mnist_all,
    mnist_zeros,
    solvers,
    timing,
)

pytest.importorskip("matplotlib", reason="matplotlib is not installed: pip install 'sknomad[plot]'")

STUDIES = (burer_monteiro, convergence, cp_rank, geodesics, kmeans, mnist_all, mnist_zeros, solvers, timing)


@pytest.mark.parametrize("module", STUDIES, ids=lambda module: module.__name__.rpartition(".")[2])
def test_every_study_has_what_the_runner_asks_for(module):
    assert module.TITLE
    assert 1 <= module.CAPTION.count(". ") + 1 <= 4
    assert set(module.DATA) <= {"mnist", "teapots", "yale", "coil100"}
    assert module.SEED == 0
    full, quick = module.SECONDS
    assert quick < full
    assert getattr(mnist_all, "NEEDS_GPU", False)
    assert getattr(mnist_zeros, "ONLY_WHEN_NAMED", False)
