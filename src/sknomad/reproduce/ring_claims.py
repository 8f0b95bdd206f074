"""What the paper says about the ring, compared with the exact solution."""

from __future__ import annotations

import numpy as np

from .. import ring
from .claims import Claim, Verdict, judge, paper
from .record import Arrays


def ring_claims(arrays: Arrays) -> list[Claim]:
    """All claims of the ring experiment."""
    return [
        *_shape(arrays),
        *_diagonals(arrays),
        _cone(arrays),
        _cone_fills(arrays),
        _kernel(arrays),
        _solver(arrays),
        _circulant(arrays),
        *_positivity(arrays),
    ]


def _shape(arrays: Arrays) -> list[Claim]:
    K, support, half = arrays["K"], arrays["support"], arrays["half_width"]
    n = len(K)
    q, active = arrays["eigenvalues"], arrays["active"]
    mean_error = float(np.abs(q.mean(axis=1) - K / n).max())
    falls = int(np.count_nonzero(np.diff(active) < 0))
    deepest = int(-np.diff(active).min())
    some, growths = (3, 8, 16, 25, 50), int(np.count_nonzero(np.diff(support) > 0))
    off = np.abs(half - np.ceil(n / K))[1 : n // 2]
    ratio = float(np.mean((support * K / n)[3 : n // 5]))
    return [
        judge(
            "Q concentrates about its diagonal as K grows.",
            "nonzero entries of a row at K = 3, 8, 16, 25, 50: {counts}; they grow with K {growths} times",
            growths == 0,
            "The support grows {growths} times.",
            source=paper("Figure 3a", "concentrates more and more towards the diagonal"),
            mend="0 growths",
            counts=", ".join(str(support[k - 1]) for k in some),
            growths=growths,
        ),
        judge(
            "The mean eigenvalue is K/n.",
            "largest deviation {error:.0e}",
            mean_error < 1e-9,
            "The traces are off by up to {error:.0e}.",
            source=paper("Figure 3b", "the mean being linear comes from the trace constraint"),
            mend="a deviation below 1e-9",
            error=mean_error,
        ),
        judge(
            "The number of active modes grows with K.",
            "from {first} to {last} (eigenvalues of at least K/(10 n)); {falls} of {steps} steps go back, by at most "
            "{deepest}",
            falls == 0,
            "It grows on the whole, but at {falls} values of K modes leave again.",
            Verdict.PAPER,
            source=paper("Figure 3b", "the number of active eigenvalues in the solution"),
            first=active[0],
            last=active[-1],
            falls=falls,
            steps=n - 1,
            deepest=deepest,
        ),
        judge(
            "A row has about n/K significant entries (the ceiling of n/K).",
            "entries above half the diagonal: off by {mean:.1f} on average and at most {most:.0f} for K up to n/2; "
            "nonzero entries: {ratio:.1f} n/K",
            ratio < 1.2,
            "True only if significant means above half the diagonal: the support is {ratio:.1f} times as wide.",
            Verdict.PAPER,
            source=paper("Section 2.2, K", "we observe that the number of significant elements in each of"),
            mean=off.mean(),
            most=off.max(),
            ratio=ratio,
        ),
    ]


def _diagonals(arrays: Arrays) -> list[Claim]:
    first, final, h = arrays["vanishing/first"], arrays["vanishing/final"], arrays["vanishing/h"]
    D = arrays["fine/diagonals"]
    rising = [int(np.argmax(D[:, lag])) for lag in range(1, D.shape[1])]
    peaks = arrays["fine/K"][rising]
    back = h[final > first]
    disorder = int(np.count_nonzero(np.diff(first) >= 0))
    unordered = int(np.count_nonzero(np.diff(peaks) > 0))
    unrisen = int(np.count_nonzero(D[rising, range(1, D.shape[1])] <= D[0, 1:]))
    return [
        judge(
            "Diagonals vanish one after the other, the outer ones first.",
            "lags {near} to {far} vanish at K = {K}; {back} of them come back before they stay zero",
            disorder == 0,
            "{disorder} of them vanish before one further out.",
            source=paper("Figure 3c", "when one h-diagonal becomes inactive, all remaining"),
            mend="0 out of order",
            near=h[0],
            far=h[-1],
            K=", ".join(f"{value:.3g}" for value in first),
            back=back.size,
            disorder=disorder,
        ),
        judge(
            "As outer diagonals vanish the inner ones rise.",
            "lags 1 to {count} peak at K = {K}; {unrisen} never rise, {unordered} peak out of order",
            unordered == 0 and unrisen == 0,
            "{unrisen} only fall and {unordered} peak out of order.",
            source=paper("Figure 3c", "diagonals need to be upscaled"),
            mend="0 that only fall and 0 out of order",
            count=len(peaks),
            K=", ".join(f"{value:.3g}" for value in peaks),
            unrisen=unrisen,
            unordered=unordered,
        ),
    ]


def _cone(arrays: Arrays) -> Claim:
    expected = np.degrees([ring.cone_half_angle(K) for K in arrays["K"]])
    error = float(np.abs(arrays["cone"] - expected[:, None]).max())
    return judge(
        "The vectors lie on a right circular cone that opens with K.",
        "half-angle arccos(1/sqrt(K)) to {error:.0e} degrees for all vectors and K: {two:.0f} at K = 2, "
        "{sixteen:.1f} at K = 16, {all:.1f} at K = n",
        error < 1e-3,
        "The angles differ by {error:.0e} degrees.",
        source=paper("Section 2.3", "the extreme rays of a right circular cone"),
        mend="a difference below 1e-3 degrees",
        error=error,
        two=expected[1],
        sixteen=expected[15],
        all=expected[-1],
    )


def _cone_fills(arrays: Arrays) -> Claim:
    """At K = 2 the first vectors are at right angles; at K = n all are."""
    smallest = np.min(arrays["row"], axis=1)
    touching = int(np.flatnonzero(smallest <= 1e-9)[0]) + 1
    last = np.abs(arrays["row"][-1][1:]).max()
    return judge(
        "As K grows the cone widens until two of its vectors are at right angles; at K = n all are.",
        "smallest entry of Q first 0 at K = {touching}; largest off the diagonal at K = n {last:.0e}",
        touching == 2 and last < 1e-9,
        "The first right angle is at K = {touching}, and at K = n an entry of {last:.0e} is left.",
        source=paper("Figure 3d", "form a high-dimensional cone"),
        mend="K = 2 and an entry below 1e-9",
        touching=touching,
        last=last,
    )


def _kernel(arrays: Arrays) -> Claim:
    X = ring.ring_points(len(arrays["K"]))
    products = X @ X.T
    squared = np.sum((X[:, None] - X) ** 2, axis=2)
    clear = np.abs(products) > 1e-12
    agree = float(np.mean((products < 0)[clear] == (squared > 2)[clear]))
    zeros = float(np.max(np.abs(arrays["row"][1] - (1 + products[0]) / len(X))))
    return judge(
        "An inner product is negative exactly where the squared distance exceeds 2, which is what makes Q local.",
        "true of {agree:.0%} of all pairs; at K = 2 a row is (1 + cos)/n to {zeros:.0e}",
        agree == 1.0 and zeros < 1e-9,
        "It is so for {agree:.0%} of pairs, and the row at K = 2 is off by {zeros:.0e}.",
        source=paper("Figure 2", "equivalent to setting to zero distances that are greater than"),
        mend="100% and 1e-9",
        agree=agree,
        zeros=zeros,
    )


def _solver(arrays: Arrays) -> Claim:
    exact = arrays["value"][arrays["solved/K"] - 1]
    low, high = (float(np.max(np.abs(arrays[f"solved/{side}"] / exact - 1))) for side in ("lower", "upper"))
    is_between = (arrays["solved/lower"] <= exact * (1 + 1e-9)) & (exact * (1 - 1e-9) <= arrays["solved/upper"])
    inside = int(np.count_nonzero(is_between))
    return judge(
        "The linear program and the semidefinite program have the same optimum.",
        "{count} values of K: the exact value lies between the proven bounds at {inside}; they are within {low:.0e} "
        "and {high:.0e} of it",
        inside == len(exact),
        "A bound is false at {count} - {inside} values of K.",
        source=paper("Section 2.2", "rewrite NOMAD as a linear program"),
        mend="0 false bounds",
        count=len(exact),
        inside=inside,
        low=low,
        high=high,
    )


def _circulant(arrays: Arrays) -> Claim:
    error = float(arrays["solved/circulance"].max())
    return judge(
        "The solution is circulant.",
        "solutions of the semidefinite solver are within {error:.0e} of circulant, relatively, at {count} values of K; "
        "averaged over rotations they are so exactly, at the same value",
        error < 0.05,
        "The solver's Q is {error:.0e} away from circulant.",
        source=paper("Section 2.1", "The solution to NOMAD is circulant too"),
        mend="a distance below 0.05",
        error=error,
        count=len(arrays["solved/K"]),
    )


def _positivity(arrays: Arrays) -> list[Claim]:
    K, value, positive = arrays["fine/K"], arrays["fine/value"], arrays["fine/positive"]
    n = len(arrays["K"])
    short = np.where(value > 1e-9, (value - positive) / np.maximum(value, 1e-9), 0.0)  # at K = 1 both are 0
    outside = (K <= 1.5) | (n / 2 <= K)
    most = int(np.argmax(short))
    return [
        judge(
            "Q is completely positive for K up to 3/2 and from n/2 on.",
            "largest shortfall of completely positive matrices there {shortfall:.0e}",
            np.abs(short[outside]).max() < 1e-8,
            "They fall short by {shortfall:.0e}.",
            source=paper("Proposition (circulant)", "then it is CP for every"),
            mend="a shortfall below 1e-8",
            shortfall=np.abs(short[outside]).max(),
        ),
        judge(
            "Q is completely positive, with a cp-rank much higher than K.",
            "best completely positive value up to {most:.1%} below the optimum (at K = {worst:.3g}); {eight:.0e} at "
            "K = 8, {sixteen:.0e} at K = 16",
            short.max() < 1e-9,
            "On the ring it is not, strictly between 3/2 and n/2: the best nonnegative factor of any rank stays up to "
            "{most:.1%} below the optimum. At K = 16 it is only {sixteen:.0e}, where a fit of high rank looks perfect.",
            Verdict.PAPER,
            source=paper("Section 4", "is CP, but has a cp-rank much higher than"),
            most=short[most],
            worst=K[most],
            eight=short[np.searchsorted(K, 8)],
            sixteen=short[np.searchsorted(K, 16)],
        ),
    ]
