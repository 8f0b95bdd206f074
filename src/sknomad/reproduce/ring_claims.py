"""What the paper says about the ring, compared with the exact solution."""

from __future__ import annotations

import numpy as np

from .. import ring
from .claims import Claim, Verdict, judge
from .record import Arrays


def ring_claims(arrays: Arrays) -> list[Claim]:
    """All claims of the ring experiment."""
    return [*_shape(arrays), *_diagonals(arrays), _cone(arrays), _kernel(arrays), _solver(arrays), *_positivity(arrays)]


def _shape(arrays: Arrays) -> list[Claim]:
    K, support, half = arrays["K"], arrays["support"], arrays["half_width"]
    n = len(K)
    q, active = arrays["eigenvalues"], arrays["active"]
    mean_error = float(np.abs(q.mean(axis=1) - K / n).max())
    falls = int(np.count_nonzero(np.diff(active) < 0))
    deepest = int(-np.diff(active).min())
    some = (3, 8, 16, 25, 50)
    off = np.abs(half - np.ceil(n / K))[1 : n // 2]
    ratio = float(np.mean((support * K / n)[3 : n // 5]))
    return [
        judge(
            "Q concentrates about its diagonal as K grows.",
            "nonzero entries of a row at K = 3, 8, 16, 25, 50: " + ", ".join(str(support[k - 1]) for k in some),
            np.all(np.diff(support) <= 0),
            "The support grows somewhere.",
        ),
        judge(
            "The mean eigenvalue is K/n.",
            f"largest deviation {mean_error:.0e}",
            mean_error < 1e-9,
            "The trace is not K.",
        ),
        judge(
            "The number of active modes grows with K.",
            f"from {active[0]} to {active[-1]} (eigenvalues of at least K/(10 n)), with {falls} small steps back",
            falls == 0,
            f"It grows on the whole, but {falls} of {n - 1} steps go back, by at most {deepest}: modes leave again.",
            Verdict.DIFFERS,
        ),
        judge(
            "A row has about n/K significant entries (the ceiling of n/K).",
            f"entries above half the diagonal: off by {off.mean():.1f} on average and at most {off.max():.0f} for K up "
            f"to n/2; nonzero entries: {ratio:.1f} n/K",
            ratio < 1.2,
            "True only if significant means above half the diagonal; the support is more than twice as wide.",
            Verdict.DIFFERS,
        ),
    ]


def _diagonals(arrays: Arrays) -> list[Claim]:
    first, final, h = arrays["vanishing/first"], arrays["vanishing/final"], arrays["vanishing/h"]
    D = arrays["fine/diagonals"]
    rising = [int(np.argmax(D[:, lag])) for lag in range(1, D.shape[1])]
    peaks = arrays["fine/K"][rising]
    back = h[final > first]
    late = f"; {back.size} of them come back before they stay zero" if back.size else ""
    return [
        judge(
            "Diagonals vanish one after the other, the outer ones first.",
            f"n = {first[0]:.0f}: lags {h[0]} to {h[-1]} vanish at K = "
            + ", ".join(f"{value:.3g}" for value in first)
            + late,
            np.all(np.diff(first) < 0),
            "They vanish in another order.",
        ),
        judge(
            "As outer diagonals vanish the inner ones rise.",
            f"lags 1 to {len(peaks)} peak at K = " + ", ".join(f"{value:.3g}" for value in peaks),
            np.all(np.diff(peaks) <= 0) and np.all(D[rising, range(1, D.shape[1])] > D[0, 1:]),
            "Some diagonal only falls.",
        ),
    ]


def _cone(arrays: Arrays) -> Claim:
    expected = np.degrees([ring.cone_half_angle(K) for K in arrays["K"]])
    error = float(np.abs(arrays["cone"] - expected[:, None]).max())
    return judge(
        "The vectors lie on a right circular cone that opens with K.",
        f"half-angle arccos(1/sqrt(K)) to {error:.0e} degrees for all vectors and K: 45 at K = 2, "
        f"{expected[15]:.1f} at K = 16",
        error < 1e-3,
        "The angles differ.",
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
        f"true of {agree:.0%} of all pairs; at K = 2 a row is (1 + cos)/n to {zeros:.0e}",
        agree == 1.0 and zeros < 1e-9,
        "Some pairs do not.",
    )


def _solver(arrays: Arrays) -> Claim:
    exact = arrays["value"][arrays["solved/K"] - 1]
    low, high = (float(np.max(np.abs(arrays[f"solved/{side}"] / exact - 1))) for side in ("lower", "upper"))
    inside = np.all((arrays["solved/lower"] <= exact * (1 + 1e-9)) & (exact * (1 - 1e-9) <= arrays["solved/upper"]))
    return judge(
        "The linear program and the semidefinite program have the same optimum.",
        f"{len(exact)} values of K: the exact value lies between the proven bounds, which are within {low:.0e} and "
        f"{high:.0e} of it",
        inside,
        "A bound is false.",
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
            f"largest shortfall of completely positive matrices there {np.abs(short[outside]).max():.0e}",
            np.abs(short[outside]).max() < 1e-8,
            "They fall short.",
        ),
        judge(
            "Q is probably completely positive in general, of high cp-rank.",
            f"best completely positive value up to {short[most]:.1%} below the optimum (at K = {K[most]:.3g}); "
            f"{short[np.searchsorted(K, 8)]:.0e} at K = 8, {short[np.searchsorted(K, 16)]:.0e} at K = 16",
            short.max() < 1e-9,
            "On the ring it is not, strictly between 3/2 and n/2, and the shortfall is exact: no rank removes it. It "
            "is small for larger K, where a fit of high rank looks perfect.",
            Verdict.DIFFERS,
        ),
    ]
