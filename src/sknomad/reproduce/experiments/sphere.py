"""The sphere, as the ring: a linear program in its harmonics, with bounds, and the semidefinite program on designs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...ring import sphere_completely_positive_value, sphere_design, sphere_optimum, torus_optimum, torus_points
from ..claims import Claim, finding, judge
from ..experiment import Experiment
from ..figure_parts import MUTED, PALETTE, figure, styled
from ..record import Arrays, Record

if TYPE_CHECKING:
    from matplotlib.figure import Figure

EXPERIMENT = Experiment(
    title="Sphere and torus",
    caption="""Symmetric manifolds beyond the ring. The optimal kernel on the sphere against the angle between
    two points, from its linear program in Legendre polynomials (left); its value per point between proven bounds,
    beside that of truncated cosines, the best completely positive kernels (middle: shortfall from the upper bound);
    and the semidefinite program on spherical designs (right: certified value per point, above the cut-off
    kernel's).""",
    seconds=(18, 16),
)

KERNELS = (2, 4, 8, 16)
SIZES, QUICK_SIZES = (1.2, 1.5, 2, 2.5, 3, 4, 6, 8, 12, 16), (1.2, 1.5, 2, 3, 4, 8, 16)
DEGREE, QUICK_DEGREE = 36, 16
ORBITS, QUICK_ORBITS = (1, 2, 3), (1, 2)
DESIGN_K = (2, 4, 8)
TORUS = (12, 12, 9.0)  # points around each way, and K


def compute(record: Record, quick: bool) -> None:
    """Linear programs for many K, and the semidefinite one on designs and on a torus."""
    degree = QUICK_DEGREE if quick else DEGREE
    solutions = {K: sphere_optimum(K, degree) for K in (QUICK_SIZES if quick else SIZES)}
    record["K"], record["degree"] = list(solutions), degree
    record["lower"] = [solution.lower for solution in solutions.values()]
    record["upper"] = [solution.upper for solution in solutions.values()]
    record["positive"] = [sphere_completely_positive_value(K) for K in solutions]
    record["angle"] = np.linspace(0, 180, 361)
    record["kernels"] = [solutions[K].kernel(np.cos(np.radians(record["angle"]))) for K in KERNELS]
    rows = []
    for orbits in QUICK_ORBITS if quick else ORBITS:
        X, strength = sphere_design(orbits)
        for K in DESIGN_K:
            proof = record.solve(f"design of {len(X)}, K = {K}", X, K, 1e-3 if quick else 1e-4).certificate
            # A kernel of degree below the strength is feasible on the design, and its value is exact there.
            cut_off = sphere_optimum(K, strength - 1).eigenvalues[1]
            rows.append([len(X), strength, K, proof.lower / len(X), proof.upper / len(X), cut_off])
    record["designs"] = rows
    n1, n2, trace = TORUS
    proof = record.solve("torus", torus_points(n1, n2), trace, 1e-3 if quick else 1e-4).certificate
    record["torus"] = [torus_optimum(n1, n2, trace).value, proof.lower, proof.upper]


@styled
def draw(arrays: Arrays) -> Figure:
    """Draw kernels, bounds and designs."""
    drawn, axes = figure(3, row_height=2.5)
    kernels, bounds, designs = axes[0]
    for colour, K, values in zip(PALETTE, KERNELS, arrays["kernels"], strict=False):
        kernels.plot(arrays["angle"], values / K, color=colour, label=f"K = {K}")
    kernels.set(xlabel="angle in degrees", xticks=[0, 60, 120, 180], title="Receptive field, k/K")
    kernels.legend()
    upper = arrays["upper"]
    for key, colour, text in (("lower", PALETTE[0], "lower bound"), ("positive", PALETTE[1], "truncated cosine")):
        short = np.maximum((upper - arrays[key]) / upper, 1e-8)
        bounds.loglog(arrays["K"], short, "o-", color=colour, label=text, markersize=3)
    bounds.set(xlabel="K", title="Shortfall from the upper bound")
    bounds.set_xticks([1.2, 2, 4, 8, 16], labels=["1.2", "2", "4", "8", "16"])
    bounds.set_xticks([], minor=True)
    bounds.legend(loc="lower right")
    for colour, K in zip(PALETTE, DESIGN_K, strict=False):
        rows = arrays["designs"][arrays["designs"][:, 2] == K]
        designs.plot(rows[:, 0], rows[:, 3], "o", color=colour, label=f"K = {K}")
        designs.plot(rows[:, 0], rows[:, 5], "_", color=colour, markersize=9)
        limit = arrays["upper"][list(arrays["K"]).index(K)]
        designs.axhline(limit, color=colour, linewidth=0.7, linestyle=(0, (3, 2)))
        designs.text(0.42, limit + 0.015, f"K = {K}", color=colour, transform=designs.get_yaxis_transform())
    designs.set(xlabel="points of the design", title="Value per point", xticks=np.unique(arrays["designs"][:, 0]))
    designs.text(
        0.5,
        0.27,
        "dots: semidefinite program\nbars: cut-off kernel\ndashed: whole sphere",
        color=MUTED,
        ha="center",
        transform=designs.transAxes,
    )
    return drawn


def claims(arrays: Arrays) -> list[Claim]:
    """Tell the bounds, and judge them against the semidefinite program."""
    return [_bounds(arrays), _designs(arrays), _positive(arrays), _torus(arrays)]


def _bounds(arrays: Arrays) -> Claim:
    gap = (arrays["upper"] - arrays["lower"]) / arrays["upper"]
    return finding(
        "On the whole sphere the optimum is a linear program in Legendre polynomials.",
        "value per point at K = 2, 4, 8: {values}; bounds over all degrees within {gap:.0e} at worst (degree {degree})",
        values=", ".join(f"{arrays['lower'][list(arrays['K']).index(K)]:.4f}" for K in DESIGN_K),
        gap=gap.max(),
        degree=int(arrays["degree"]),
    )


def _designs(arrays: Arrays) -> Claim:
    rows = arrays["designs"]
    under = int(np.count_nonzero(rows[:, 4] < rows[:, 5] * (1 - 1e-6)))
    excess = rows[:, 3] / rows[:, 5] - 1
    return judge(
        "On a spherical design the semidefinite program is at least as good as the kernel cut off below its strength.",
        "{count} problems on designs of {sizes} points: certified upper bounds below the kernel {under} times; values "
        "{low:.1%} to {high:.1%} above it",
        under == 0,
        "An upper bound lies below a feasible value {under} times.",
        mend="0 times",
        count=len(rows),
        sizes=", ".join(f"{n:.0f} (strength {s:.0f})" for n, s in np.unique(rows[:, :2], axis=0)),
        under=under,
        low=excess.min(),
        high=excess.max(),
    )


def _positive(arrays: Arrays) -> Claim:
    short = (arrays["upper"] - arrays["positive"]) / arrays["upper"]
    worst = int(np.argmax(short))
    return finding(
        "Truncated cosines, the receptive fields that similarity matching finds, are the best completely positive "
        "kernels.",
        "on the sphere they fall short of the optimum by up to {most:.1%} (K = {K:g}), and by {last:.0e} at most at "
        "K = {large:g}; up to K = 4/3 by nothing",
        most=short[worst],
        K=arrays["K"][worst],
        last=short[-1],
        large=arrays["K"][-1],
    )


def _torus(arrays: Arrays) -> Claim:
    value, lower, upper = arrays["torus"]
    return judge(
        "On the flat torus the linear program in Fourier modes has the optimum of the semidefinite one.",
        "{n1} x {n2} points, K = {K:g}: {value:.5f} between the certified {lower:.5f} and {upper:.5f}",
        lower <= value * (1 + 1e-9) and value <= upper * (1 + 1e-9),
        "{value:.5f} is not between {lower:.5f} and {upper:.5f}.",
        mend="a value between the bounds, 0 outside",
        n1=TORUS[0],
        n2=TORUS[1],
        K=TORUS[2],
        value=value,
        lower=lower,
        upper=upper,
    )
