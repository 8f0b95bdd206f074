"""The same matrix from three solvers: a generic one, the paper's conditional gradient method, and ours."""

from __future__ import annotations

import itertools
import time
from importlib.util import find_spec
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ... import KMeansSDP, certify, datasets
from ...solvers import ConditionalGradient, Reference
from ..claims import Claim, Verdict, judge, paper
from ..coordinates import in_few_dimensions
from ..experiment import Experiment
from ..figure_parts import MUTED, figure, matrix, styled
from ..measure import circulance_error
from ..record import Arrays, Record
from ..threads import threads_of_a_solve
from .burer_monteiro import as_picture

if TYPE_CHECKING:
    from matplotlib.figure import Figure

EXPERIMENT = Experiment(
    title="Three solvers, one matrix",
    caption="""Q from a generic solver (SCS through CVXPY), from the conditional gradient method with its
    authors' constants and stopping test, and from ours, on the paper's six data sets and the faces of its code,
    with the relative difference from ours and the certified gap. Without CVXPY the first is left out. The quick run
    has small data.""",
    data=("teapots", "yale"),
    seconds=(300, 24),
)

OURS, GRADIENT, GENERIC = "ours", "conditional gradient", "SCS"
MOST_STEPS, QUICK_STEPS = 1000, 150  # outer steps of the conditional gradient
SCS_SETTINGS = {"eps": 1e-5, "max_iters": 5000}
SAME_MATRIX_DIFFERENCE = 0.1  # relative difference up to which two matrices count as one
# Constraints in the order in which `violations` returns them.
CONSTRAINTS = ("nonnegative", "row sums", "trace", "semidefinite")

Matrix = NDArray[np.float64]


def data_sets(quick: bool) -> dict[str, tuple[Matrix, float]]:
    """The paper's six data sets with their K."""
    n, teapots = (60, (2, 10)) if quick else (200, (1, 20))
    return {
        "blobs": (datasets.blobs(n, random_state=EXPERIMENT.seed)[0], 6),
        "two rings": (datasets.two_rings(n)[0], 16),
        "moons": (datasets.moons(n, random_state=EXPERIMENT.seed)[0], 10),
        "double Swiss roll": (datasets.double_swiss_roll(n)[0], 24 if quick else 64),
        "trefoil": (datasets.trefoil(n)[0], 16),
        "teapots": (in_few_dimensions(datasets.fetch_teapots().data[:: teapots[0]]), teapots[1]),
        "faces": (in_few_dimensions(datasets.fetch_yale_faces().data[:: 4 if quick else 1]), 16),
    }


def compute(record: Record, quick: bool) -> None:
    """Solve every data set by all three; keep pictures, differences, violations of the constraints and gaps."""
    methods = [GENERIC, GRADIENT, OURS] if find_spec("cvxpy") else [GRADIENT, OURS]
    data = data_sets(quick)
    record["data"], record["methods"] = list(data), methods
    record["left_out"] = np.array([] if GENERIC in methods else [GENERIC], dtype=str)
    circulance = []
    for name, (X, K) in data.items():
        solution = record.solve(f"{name}, {OURS}", X, K, tol=1e-4 if quick else 1e-5)
        problem, found = solution.problem, {OURS: solution.Q}
        for method in methods[:-1]:
            found[method] = _solve_by(method, problem, QUICK_STEPS if quick else MOST_STEPS, record, name)
        matrices = [found[method] for method in methods]
        record[f"{name}/pictures"] = np.stack([as_picture(Q, found[OURS]) for Q in matrices])
        norm = np.linalg.norm(found[OURS])
        record[f"{name}/difference"] = [np.linalg.norm(Q - found[OURS]) / norm for Q in matrices]
        record[f"{name}/violations"] = [violations(Q, K) for Q in matrices]
        record[f"{name}/K"] = K
        if name == "teapots":
            circulance = [circulance_error(Q) for Q in matrices]
    record["teapots/circulance"] = circulance


def _solve_by(method: str, problem: KMeansSDP, steps: int, record: Record, name: str) -> Matrix:
    """The raw matrix of another solver; what can be proven from it goes on record."""
    solver: ConditionalGradient | Reference = ConditionalGradient("code", stop="figures")
    if method == GENERIC:
        solver = Reference("SCS", **SCS_SETTINGS)
    count, last, started = 0, None, time.perf_counter()
    with threads_of_a_solve(problem.n):
        for last in itertools.islice(solver.iterates(problem), steps):  # noqa: B007
            count += 1
    assert last is not None
    seconds, count = time.perf_counter() - started, int(last.residuals.get("steps", count))
    record.certificate(f"{name}, {method}", problem, certify(problem, last), seconds, count, by=method)
    return np.asarray(last.point.dense())


def violations(Q: Matrix, K: float) -> list[float]:
    """How far ``Q`` is from each of `CONSTRAINTS`: largest negative entry, row sums, trace, negative eigenvalue.

    All relative to what is usual: entries to ``K/n``, the trace to ``K``, row sums and eigenvalues to 1.

    Examples
    --------
    >>> violations(np.array([[1.0, -0.5], [-0.5, 1.0]]), 2.0)
    [0.5, 0.5, 0.0, 0.0]
    """
    n = len(Q)
    negative = max(float(-Q.min()), 0.0) / (K / n)
    rows = float(np.abs(Q.sum(axis=1) - 1).max())
    trace = abs(float(np.trace(Q)) - K) / K
    lowest = float(np.linalg.eigvalsh((Q + Q.T) / 2)[0])
    return [negative, rows, trace, max(-lowest, 0.0)]


@styled
def draw(arrays: Arrays) -> Figure:
    """Draw the matrices, a row for each solver, a column for each data set."""
    data, methods = arrays["data"], arrays["methods"]
    drawn, axes = figure(len(data), len(methods), row_height=1.42, letters=False)
    for row, method in enumerate(methods):
        for column, name in enumerate(data):
            ax = axes[row, column]
            matrix(ax, arrays[f"{name}/pictures"][row], largest=255)
            gap = float(arrays[f"certificate/{name}, {method}/gap"])
            difference = float(arrays[f"{name}/difference"][row])
            text = f"gap {gap:.0e}" if method == OURS else f"differs {difference:.1%}\ngap {gap:.0e}"
            ax.set_xlabel(text.replace("e-0", "e-").replace("-", "\N{MINUS SIGN}"), size=6.5, linespacing=1.25)
            if row == 0:
                ax.set_title(f"{name}\nK = {float(arrays[f'{name}/K']):g}", size=7.5)
        axes[row, 0].set_ylabel(str(method), color=MUTED)
    return drawn


def claims(arrays: Arrays) -> list[Claim]:
    """Judge whether the matrices agree, and which solver keeps which constraint."""
    rows = [_agree(arrays, str(method)) for method in arrays["methods"] if method != OURS]
    if GENERIC in arrays["methods"]:
        rows += [_constraints(arrays), _circulance(arrays)]
    return rows


def _agree(arrays: Arrays, method: str) -> Claim:
    row = list(arrays["methods"]).index(method)
    found = {str(name): float(arrays[f"{name}/difference"][row]) for name in arrays["data"]}
    gaps = {str(name): float(arrays[f"certificate/{name}, {method}/gap"]) for name in arrays["data"]}
    worst, same = max(found, key=found.__getitem__), [d for d in found.values() if d < SAME_MATRIX_DIFFERENCE]
    return judge(
        "In the vast majority of cases the solutions are the same ({method} and ours).",
        "relative difference below {limit:.0%} on {same} of {count} data sets, at most {most:.1%} ({worst}, where its "
        "gap "
        "is {gap:.0e})",
        len(same) > 0.5 * len(found),
        "Only {same} of {count} agree; the worst, {worst}, is proven to be within {gap:.0e} of the optimum only.",
        Verdict.PAPER,
        source=paper("Figure 14", "In most cases, the results are practically indistinguishable"),
        method=method,
        limit=SAME_MATRIX_DIFFERENCE,
        same=len(same),
        count=len(found),
        most=found[worst],
        worst=worst,
        gap=gaps[worst],
    )


def _constraints(arrays: Arrays) -> Claim:
    methods = list(arrays["methods"])
    worst = {
        method: np.max([arrays[f"{name}/violations"][methods.index(method)] for name in arrays["data"]], axis=0)
        for method in (GENERIC, GRADIENT)
    }
    generic, gradient = worst[GENERIC], worst[GRADIENT]
    words = ", ".join(f"{c} {a:.0e} / {b:.0e}" for c, a, b in zip(CONSTRAINTS, generic, gradient, strict=True))
    return judge(
        "The conditional gradient enforces nonnegativity less accurately, and all other constraints exactly.",
        "largest violation, SCS / conditional gradient: {words}",
        bool(generic[0] < gradient[0] and np.all(gradient[1:] < generic[1:] + 1e-9)),
        "The roles are not as stated: {words}.",
        Verdict.PAPER,
        source=paper("Section 5.4", "it enforces all the other constraints exactly"),
        words=words,
    )


def _circulance(arrays: Arrays) -> Claim:
    found = dict(zip(arrays["methods"], arrays["teapots/circulance"], strict=True))
    gaps = {method: float(arrays[f"certificate/teapots, {method}/gap"]) for method in found}
    return judge(
        "The conditional gradient's Q of the teapots is the more circulant one because it is the more exact.",
        "distance from circulant (certified gap): {words}",
        bool(found[GRADIENT] < found[GENERIC] - 1e-3 and gaps[GRADIENT] < gaps[GENERIC]),
        "The optimum itself, within {gap:.0e}, is {ours:.2f} away from circulant, for views are not evenly different; "
        "a smoother picture is a less accurate one: {words}.",
        Verdict.PAPER,
        source=paper("Figure 14", 'resulting in a more "circulant" representation'),
        words=", ".join(f"{method} {value:.2f} ({gaps[method]:.0e})" for method, value in found.items()),
        gap=gaps[OURS],
        ours=found[OURS],
    )
