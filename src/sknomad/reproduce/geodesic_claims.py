"""What the paper says about geodesics, compared with the scores."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .claims import Claim, Verdict, finding, judge, paper
from .record import Arrays

NOMAD, NO_EMBEDDING = "NOMAD", "noisy data"
SQUARED = "NOMAD, squares"  # edges as the paper prints them
DATA_LENGTHS = "NOMAD, lengths of the data"  # the same edges, as long as they are in the data
OF_THE_PAPER = ("Isomap", "LLE", "modified LLE", "LTSA", "spectral")
ONE_MANIFOLD = ("one ring", "one half-ring", "teapots", "teapots, N = 5")
TWO_MANIFOLDS = ("two rings", "two half-rings")
# Mean scores that differ by less than this count as equal.
EQUAL_SCORE_DIFFERENCE = 0.02

Matrix = NDArray[np.float64]

SMALL = "The curves have {n} points here and 200 in the paper, and at this size {rival} is {behind:.3f} ahead."


def with_five(method: str) -> str:
    """The name of an embedding with the five neighbours of the authors' code."""
    return f"{method}, 5 neighbours"


def geodesic_claims(arrays: Arrays) -> list[Claim]:
    """All claims on geodesics."""
    rows = [_among_the_best(arrays, name) for name in ONE_MANIFOLD]
    rows += [_outperforms(arrays, name) for name in TWO_MANIFOLDS]
    rows += [_close_to_the_data(arrays), _roots(arrays), _data_lengths(arrays), _isotropic(arrays)]
    known = {NOMAD, SQUARED, DATA_LENGTHS, NO_EMBEDDING, *OF_THE_PAPER, *map(with_five, OF_THE_PAPER)}
    newer = [str(name) for name in arrays["methods"] if name not in known]
    return [*rows, _against_newer(arrays, newer)] if newer else rows


def _is_full(arrays: Arrays) -> bool:
    return int(arrays["n"]) >= 200


def _means(arrays: Arrays, name: str, method: str) -> Matrix:
    """Mean score over draws, (noises, percentiles)."""
    i, m = list(arrays["data"]).index(name), list(arrays["methods"]).index(method)
    return np.asarray(np.nanmean(arrays["scores"][i, :, m], axis=1))


def _in_the_paper(arrays: Arrays) -> NDArray[np.bool_]:
    """Which columns are of noises in the paper's figure."""
    return (arrays["kind"] == "appended") & np.isin(arrays["noise"], (0.0, 0.05, 0.10))


def _mean(arrays: Arrays, name: str, method: str) -> float:
    """Mean score over draws, percentiles, and the paper's noises."""
    return float(_means(arrays, name, method)[_in_the_paper(arrays)].mean())


def _among_the_best(arrays: Arrays, name: str) -> Claim:
    index = list(arrays["data"]).index(name)
    ours = _mean(arrays, name, NOMAD)
    with_N = {method: _mean(arrays, name, method) for method in OF_THE_PAPER}
    with_5 = {method: _mean(arrays, name, with_five(method)) for method in OF_THE_PAPER}
    best, best_5 = (max(scores, key=scores.__getitem__) for scores in (with_N, with_5))
    is_behind = ours < with_5[best_5] - EQUAL_SCORE_DIFFERENCE
    return judge(
        "On one manifold NOMAD is among the best ({name}).",
        "mean score {ours:.3f}; best embedding with the 5 neighbours of the authors' code {best_5} {score_5:.3f}, with "
        "N = {N} {best} {score:.3f}; parts of the true graph: {truth_parts}, of NOMAD's: {parts}",
        not is_behind,
        "{best_5} is {behind:.3f} ahead. The lengths that the paper reads from Q count points rather than distances: "
        "with those of the data along the same edges the score is {along:.3f}; the rest is for want of edges "
        "(K = n/N = {K:.0f}; parts of NOMAD's graph: {parts}, of the true one: {truth_parts}).",
        Verdict.PAPER,
        source=paper("Figure 10a", "One manifold: NOMAD is among the best-in-class methods"),
        name=name,
        ours=ours,
        best=best,
        score=with_N[best],
        best_5=best_5,
        score_5=with_5[best_5],
        behind=with_5[best_5] - ours,
        along=_mean(arrays, name, DATA_LENGTHS),
        N=arrays["N"][index],
        K=(int(arrays["n"]) if index < 2 else 100) / arrays["N"][index],
        truth_parts=arrays["truth_parts"][index],
        parts=_range(arrays["parts"][index][arrays["parts"][index] > 0]),
    )


def _range(counts: NDArray[np.int64]) -> str:
    low, high = int(counts.min()), int(counts.max())
    return str(low) if low == high else f"{low} to {high}"


def _outperforms(arrays: Arrays, name: str) -> Claim:
    rivals = [*OF_THE_PAPER, *map(with_five, OF_THE_PAPER)]
    columns = np.flatnonzero(_in_the_paper(arrays))
    ours = _means(arrays, name, NOMAD).mean(axis=1)
    scores = {rival: _means(arrays, name, rival).mean(axis=1) for rival in rivals}
    best = {int(j): rivals[int(np.argmax([scores[rival][j] for rival in rivals]))] for j in columns}
    margin = {j: float(ours[j] - scores[rival][j]) for j, rival in best.items()}
    words = "; ".join(
        f"noise {arrays['noise'][j]:g}: {ours[j]:.3f} against {scores[rival][j]:.3f} ({rival})"
        for j, rival in best.items()
    )
    noisy = min(value for j, value in margin.items() if arrays["noise"][j] > 0)
    worst, holds = min(margin, key=margin.__getitem__), min(margin.values()) >= 0
    return judge(
        "On {name} NOMAD outperforms all embeddings of the paper.",
        "mean score over percentiles, {words}",
        holds,
        "{rival} is {behind:.3f} ahead at noise {noise:g}, where it keeps the two curves apart by itself and unrolls "
        "each; with noise NOMAD's margin is {noisy:+.3f} at least.",
        Verdict.PAPER,
        source=paper("Figure 10b", "Two manifolds: NOMAD outperforms all considered methods"),
        untested="" if holds or _is_full(arrays) else SMALL,
        name=name,
        n=arrays["n"],
        words=words,
        rival=best[worst],
        behind=-margin[worst],
        noise=arrays["noise"][worst],
        noisy=noisy,
    )


def _close_to_the_data(arrays: Arrays) -> Claim:
    noisy = _in_the_paper(arrays) & (arrays["noise"] > 0)
    ahead = np.stack([_means(arrays, name, NOMAD) - _means(arrays, name, NO_EMBEDDING) for name in TWO_MANIFOLDS])
    return judge(
        "On two manifolds NOMAD nearly matches distances on the noisy data itself.",
        "score minus that of the data with noise: {mean:+.3f} in the mean, {worst:+.3f} at worst ({clean:+.3f} in the "
        "mean without)",
        bool(ahead[:, noisy].mean() >= -EQUAL_SCORE_DIFFERENCE),
        "It is {mean:+.3f} away: a kernel of about N neighbours blurs the order of the very nearest points.",
        Verdict.PAPER,
        source=paper("Section 3.2", "nearly matching the performance of direct distance computations"),
        mean=ahead[:, noisy].mean(),
        worst=ahead[:, noisy].min(),
        clean=ahead[:, arrays["noise"] == 0].mean(),
    )


def _gains(arrays: Arrays, method: str, other: str) -> str:
    """What the mean score of `method` has over that of `other`, for every kind of data."""
    names = [str(name) for name in arrays["data"]]
    return ", ".join(f"{name} {_mean(arrays, name, method) - _mean(arrays, name, other):+.3f}" for name in names)


def _roots(arrays: Arrays) -> Claim:
    return finding(
        "What the root of the printed length of an edge, as in the authors' code, does to the score.",
        "mean score with roots minus that with squares: {gains}",
        gains=_gains(arrays, NOMAD, SQUARED),
    )


def _data_lengths(arrays: Arrays) -> Claim:
    return finding(
        "What edges of NOMAD's graph as long as in the data, instead of lengths read from Q, do to the score.",
        "mean score with lengths of the data minus that with lengths from Q: {gains}",
        gains=_gains(arrays, DATA_LENGTHS, NOMAD),
    )


def _isotropic(arrays: Arrays) -> Claim:
    (column,) = np.flatnonzero(arrays["kind"] == "isotropic")
    scores = {
        str(name): [float(_means(arrays, name, method)[column].mean()) for method in (NOMAD, "Isomap", NO_EMBEDDING)]
        for name in arrays["data"]
    }
    return finding(
        "The same with noise added to the data, a variant of the authors' code.",
        "mean score at {noise:g} of NOMAD, Isomap and the data: {words}",
        noise=arrays["noise"][column],
        words="; ".join(f"{name} " + ", ".join(f"{s:.2f}" for s in row) for name, row in scores.items()),
    )


def _against_newer(arrays: Arrays, newer: list[str]) -> Claim:
    means = {m: float(np.mean([_mean(arrays, name, m) for name in TWO_MANIFOLDS])) for m in (NOMAD, *newer)}
    return finding(
        "Methods newer than the paper, on two manifolds.",
        "mean score {ours:.3f} against {others}",
        ours=means[NOMAD],
        others=", ".join(f"{name} {means[name]:.3f}" for name in newer),
    )
