"""Two noisy half circles: NOMAD's matrix falls into two submatrices."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sklearn.metrics import adjusted_rand_score

from .. import datasets
from .._manifolds import find_manifolds
from ..plot import point_colours
from ._claims import Claim, judge
from ._figure import figure, matrix, scatter, styled
from ._record import Arrays, Record

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TITLE = "Moons"
CAPTION = "Two half circles of 100 points each with noise 0.05. NOMAD with K = 16 gives a matrix of two blocks."
DATA: tuple[str, ...] = ()
SEED = 0
SECONDS = (5, 2)


def compute(quick: bool, device: str = "auto") -> Arrays:
    """Solve for the moons."""
    record = Record(seed=SEED, device=device)
    X, truth = datasets.moons(100 if quick else 200, noise=0.05, random_state=SEED)
    solution = record.solve("moons", X, 16, tol=1e-3)
    record["X"], record["truth"], record["Q"] = X, truth, solution.Q
    record["labels"] = find_manifolds(solution.point, 1e-2)
    return record.arrays()


@styled
def draw(arrays: Arrays) -> Figure:
    """Draw data and matrix."""
    drawn, axes = figure(2, width="column")
    scatter(axes[0, 0], arrays["X"], point_colours(arrays["labels"]))
    matrix(axes[0, 1], arrays["Q"], title="$Q$")
    return drawn


def claims(arrays: Arrays) -> list[Claim]:
    """Judge the blocks."""
    ari = adjusted_rand_score(arrays["truth"], arrays["labels"])
    return [judge("Q falls into two submatrices, one per half circle.", f"ARI {ari:.2f}", ari == 1.0, "TODO")]
