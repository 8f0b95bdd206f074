"""The ring, solved exactly by its linear program for every K, with the semidefinite solver on top."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ... import ring
from ..claims import Claim
from ..experiment import Experiment
from ..measure import circulance_error
from ..record import Arrays, Record
from ..ring_claims import ring_claims
from ..ring_figure import draw_ring

if TYPE_CHECKING:
    from matplotlib.figure import Figure

EXPERIMENT = Experiment(
    title="The ring",
    caption="""One hundred points on a circle, for every K, by the linear program that the problem becomes there:
    Q concentrates about its diagonal as K grows, its diagonals vanish one after the other, and its vectors open
    like an umbrella. Between K = 3/2 and n/2 no completely positive matrix reaches the optimum.""",
    seconds=(25, 6),
)

N = 100
DIAGONALS = 10
SHOWN = (1, 12, 25, 100)  # K of the matrices in the picture
SOLVED = (2, 3, 5, 8, 12, 16, 20, 25, 32, 50)  # K at which the semidefinite solver runs too


def compute(record: Record, quick: bool) -> None:
    """Solve the linear program for every K, the semidefinite one for some, and the best completely positive value."""
    _solve_for_every_K(record)
    _follow_diagonals(record, 40 if quick else N)
    X = ring.ring_points(N)
    solved = SOLVED[::2] if quick else SOLVED
    answers = [record.solve(f"K = {K}", X, K, 1e-3 if quick else 1e-5) for K in solved]
    record["solved/K"], record["solved/lower"] = solved, [answer.certificate.lower for answer in answers]
    record["solved/upper"] = [answer.certificate.upper for answer in answers]
    record["solved/circulance"] = [circulance_error(answer.Q) for answer in answers]


def _solve_for_every_K(record: Record) -> None:
    solutions = [ring.ring_optimum(N, K) for K in range(1, N + 1)]
    record["K"], record["value"] = np.arange(1, N + 1), [solution.value for solution in solutions]
    record["row"] = [solution.row for solution in solutions]
    record["eigenvalues"] = [np.sort(solution.eigenvalues)[::-1] for solution in solutions]
    record["active"] = [solution.n_active_modes() for solution in solutions]
    record["half_width"] = [solution.half_width for solution in solutions]
    record["support"] = [solution.support_size for solution in solutions]
    record["cone"] = [_cone_angle(solution) for solution in solutions]


def _follow_diagonals(record: Record, n: int) -> None:
    """Diagonals and values on a fine grid of K, and where, among `n` points, each diagonal vanishes."""
    fine = np.unique(np.concatenate([np.linspace(1, 4, 31), np.linspace(4, N, 97)]))
    record["fine/K"], record["fine/diagonals"] = fine, ring.diagonal_path(N, fine, DIAGONALS)
    record["fine/value"] = [ring.ring_optimum(N, K).value for K in fine]
    record["fine/positive"] = [ring.best_completely_positive_value(N, K) for K in fine]
    vanishing = ring.inactive_K(n, range(1, DIAGONALS))
    record["vanishing/h"], record["vanishing/first"] = vanishing.h, vanishing.first
    record["vanishing/final"] = vanishing.final


def draw(arrays: Arrays) -> Figure:
    """Draw all panels."""
    return draw_ring(arrays, SHOWN)


def claims(arrays: Arrays) -> list[Claim]:
    """Judge the paper's reading of the ring, and whether Q is completely positive."""
    return ring_claims(arrays)


def _cone_angle(solution: ring.RingSolution) -> tuple[float, float]:
    """Smallest and largest angle, in degrees, between a vector of the factor and the axis."""
    vectors = solution.cone_vectors()
    cosine = np.clip(vectors[0] / np.linalg.norm(vectors, axis=0), -1, 1)
    angles = np.degrees(np.arccos(cosine))
    return float(angles.min()), float(angles.max())
