"""What the paper says about time, compared with the clock."""

from __future__ import annotations

import numpy as np

from .. import Gram, KMeansSDP
from ..solvers import Reference
from .claims import Claim, Verdict, judge, paper
from .measure import exponent
from .record import Arrays

TOL = 1e-3  # proven gap at which ours stops
OURS = "ours"
GRADIENT, SCS, CLARABEL = "conditional gradient", "SCS", "Clarabel"
LOW_RANKS = {"low rank, r = 64": 64, "low rank, r = 128": 128}
LOW_RANK = next(iter(LOW_RANKS))
OTHERS = (GRADIENT, SCS, CLARABEL, *LOW_RANKS)
# The order of solvers is judged from the first size on, where seconds are not all overhead, and only if there is one of
# the second.
SMALLEST_JUDGED, LEAST_LARGE = 100, 500
# Memory of the paper's machine, in bytes, and the size at which its generic solver did not fit into it.
PAPER_MEMORY, PAPER_LARGEST = 128e9, 1200


def timing_claims(arrays: Arrays) -> list[Claim]:
    """All claims on time."""
    methods = [str(name) for name in arrays["methods"]]
    rows = [_low_rank(arrays), _more_columns(arrays)]
    if SCS in methods:
        rows += [_generic(arrays), _ratio(arrays), _memory(arrays)]
    return [*rows, _sdpnal(arrays), _accuracy(arrays), _ours_goes_on(arrays)]


def _seconds(arrays: Arrays, name: str) -> dict[int, float]:
    """Seconds of a solver by number of points, where it ran; the limit, where that ended it."""
    row = list(arrays["methods"]).index(name)
    pairs = zip(arrays["n"].tolist(), arrays["seconds"][row].tolist(), strict=True)
    return {n: seconds for n, seconds in pairs if np.isfinite(seconds)}


def _is_capped(arrays: Arrays, name: str, n: int) -> bool:
    return bool(arrays["is_capped"][list(arrays["methods"]).index(name)][list(arrays["n"]).index(n)])


def _words(arrays: Arrays, name: str, n: int) -> str:
    return f"{'> ' * _is_capped(arrays, name, n)}{_seconds(arrays, name)[n]:.3g} s"


def _low_rank(arrays: Arrays) -> Claim:
    mine = _seconds(arrays, LOW_RANK)
    rivals = {str(m): _seconds(arrays, str(m)) for m in arrays["methods"] if m not in (OURS, *LOW_RANKS)}
    factors = {n: min(other.get(n, np.inf) for other in rivals.values()) / mine[n] for n in mine}
    judged = {n: factor for n, factor in factors.items() if n >= SMALLEST_JUDGED}
    wins = [n for n, factor in judged.items() if factor > 1]
    return judge(
        "The low-rank solver is the fastest of those that the paper compares.",
        "r = 64, ended by the authors' test: {words}; fastest at {wins} of {sizes} sizes from n = {smallest} on, "
        "where it is "
        "{least:.1f} to {most:.1f} times as fast as the fastest other",
        len(wins) == len(judged) > 0,
        "At {losses} of {sizes} sizes another is faster, by a factor of up to {behind:.1f}.",
        Verdict.PAPER,
        source=paper("Figure 15", "The non-convex solver is much faster than the convex ones"),
        untested="This run ends at n = {largest}." if max(mine) < LEAST_LARGE else "",
        wins=len(wins),
        losses=len(judged) - len(wins),
        sizes=len(judged),
        smallest=SMALLEST_JUDGED,
        words=", ".join(f"{_words(arrays, LOW_RANK, n)} at n = {n}" for n in mine),
        least=min(judged.values(), default=np.nan),
        most=max(judged.values(), default=np.nan),
        behind=max((1 / factor for factor in judged.values()), default=np.nan),
        largest=max(mine),
    )


def _more_columns(arrays: Arrays) -> Claim:
    few, many = (_seconds(arrays, name) for name in LOW_RANKS)
    both = [n for n in few if n in many]
    factors = [many[n] / few[n] for n in both]
    return judge(
        "It is fastest with few columns.",
        "time with r = 128 over that with r = 64: {words}",
        np.median(factors) > 1,
        "The middle factor is {middle:.2f}.",
        Verdict.PAPER,
        source=paper("Section 5.4", "in its fastest setting, i.e., by keeping"),
        words=", ".join(f"{factor:.1f} at n = {n}" for factor, n in zip(factors, both, strict=True)),
        middle=np.median(factors),
    )


def _generic(arrays: Arrays) -> Claim:
    generic, gradient = _seconds(arrays, SCS), _seconds(arrays, GRADIENT)
    both = [n for n in generic if n in gradient and n <= 250]
    both = [n for n in both if not (_is_capped(arrays, SCS, n) and _is_capped(arrays, GRADIENT, n))] or both
    wins = [n for n in both if generic[n] < gradient[n]]
    return judge(
        "Up to n = 250 the generic solver is faster than the conditional gradient.",
        "SCS / conditional gradient: {words}",
        wins == both,
        "The crossing lies lower: SCS is ahead up to n = {last} here.",
        Verdict.PAPER,
        source=paper("Section 5.4", "for very small problems (up to 250 points), standard SDP solvers are the fastest"),
        words=", ".join(f"{_words(arrays, SCS, n)} / {_words(arrays, GRADIENT, n)} at n = {n}" for n in both),
        last=max(wins, default=0),
    )


def _ratio(arrays: Arrays) -> Claim:
    generic, gradient = _seconds(arrays, SCS), _seconds(arrays, GRADIENT)
    factors = {n: generic[n] / gradient[n] for n in generic if n in gradient}
    # A time that the limit cut off can show that the other solver is ahead, not that it is not.
    n = max(n for n, factor in factors.items() if factor >= 1.5 or not _is_capped(arrays, SCS, n))
    return judge(
        "For larger n the conditional gradient is ahead of the generic solver, about three times at n = 1000.",
        "{bound}{factor:.2g} times at n = {n}; the largest size that both tried is {largest}",
        factors[n] >= 1.5,
        "It is {factor:.2g} times as fast at n = {n}.",
        Verdict.PAPER,
        source=paper("Figure 15", "about three times faster for"),
        untested="This run ends at n = {largest}." if max(factors) < LEAST_LARGE else "",
        bound="at least " * _is_capped(arrays, SCS, n),
        factor=factors[n],
        n=n,
        largest=max(factors),
    )


def _memory(arrays: Arrays) -> Claim:
    need = Reference("SCS").memory(KMeansSDP(Gram.from_data(np.eye(PAPER_LARGEST)), 2))
    return judge(
        "The generic solver runs out of memory above n = 1200 in 128 GB.",
        "about {need:.1f} GB for n = {n} by today's SCS through CVXPY (a forecast, checked against runs up to n = "
        "{ran})",
        need > PAPER_MEMORY,
        "{need:.1f} GB are enough.",
        Verdict.PAPER,
        source=paper("Figure 15", "runs out of memory with instances larger than"),
        untested="The paper speaks of the SCS and the CVXPY of its time; today's need {need:.1f} GB, and time is the "
        "limit."
        if need <= PAPER_MEMORY
        else "",
        need=need / 1e9,
        n=PAPER_LARGEST,
        ran=max(_seconds(arrays, SCS)),
    )


def _sdpnal(arrays: Arrays) -> Claim:
    return judge(
        "SDPNAL+ is about three times slower than the conditional gradient at n = 1000, and times out above n = 4000.",
        "not run here; ours takes {ours:.3g} s at n = {n}",
        True,
        "SDPNAL+ is not run for n = {n}.",
        Verdict.PAPER,
        source=paper("Figure 15", "times out before converging for instances larger than"),
        untested="SDPNAL+ needs MATLAB, so the figures are those of the paper; ours takes {ours:.3g} s at n = {n}.",
        ours=max(_seconds(arrays, OURS).items())[1],
        n=max(_seconds(arrays, OURS)),
    )


def _accuracy(arrays: Arrays) -> Claim:
    row = list(arrays["methods"]).index(GRADIENT)
    gaps = arrays["gap"][row][np.isfinite(arrays["seconds"][row])]
    met = int(np.sum(np.isfinite(arrays["seconds"][row]) & ~arrays["is_capped"][row]))
    return judge(
        "The conditional gradient is accurate enough for practical purposes when its test of the timing figure is met.",
        "certified gaps from {low:.0e} to {high:.0e}; test met at {met} of {count} sizes",
        bool(gaps.max() < 0.1),
        "Gaps reach {high:.0e}.",
        Verdict.PAPER,
        source=paper("Figure 13", "accurate enough for practical purposes"),
        low=gaps.min(),
        high=gaps.max(),
        met=met,
        count=len(gaps),
    )


def _ours_goes_on(arrays: Arrays) -> Claim:
    ours = _seconds(arrays, OURS)
    rivals = [str(name) for name in arrays["methods"] if name != OURS]
    ends = {name: max(_seconds(arrays, name)) for name in rivals}
    stopped = [f"{name} at {n}" for name, n in ends.items() if _is_capped(arrays, name, n)]
    cap = float(arrays["cap"])
    largest = max((n for n, seconds in ours.items() if seconds <= cap), default=min(ours))
    gap = float(arrays["gap"][0][list(ours).index(largest)])
    # From here on soft assignments come first and the method is the same at all sizes.
    growth = exponent(*zip(*[(n, seconds) for n, seconds in ours.items() if n >= 500], strict=True))
    return judge(
        "Ours goes on to sizes that the others do not reach in the time, with a proof.",
        "n = {largest} in {seconds:.3g} s at a proven gap of {gap:.1e}, time growing as n^{growth:.1f}; over the "
        "limit of "
        "{cap:g} s: {stopped}",
        largest > max(ends.values()) and gap <= TOL,
        "The gap at n = {largest} is {gap:.1e}.",
        mend="a gap of 1e-3",
        largest=largest,
        seconds=ours[largest],
        gap=gap,
        growth=growth,
        cap=cap,
        stopped=", ".join(stopped) or "none",
    )
