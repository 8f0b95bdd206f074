"""What a report says about other ``K``: a path that was solved, or what the automatic choice has looked at."""

from __future__ import annotations

import numpy as np

from .._manifolds.path import NOMADPath
from .._manifolds.search import Search
from ..plot.trees import described_evidence
from .proof import Content, finite, percent

# Decades over which the parts of a path persist at most.
MOST_PERSISTENCE = 1.6


def searched(search: Search | None) -> Content:
    """Parts at each ``K`` and threshold looked at, and how well they agree with those taken."""
    if search is None:
        return None
    return {
        "K": [f"{K:.3g}" for K in search.K_values],
        "prominences": [f"{threshold:g}" for threshold in search.prominences],
        "parts": search.n_parts.tolist(),
        "agreement": np.clip(search.agreement, 0, 1).round(3).tolist(),
        "evidence": described_evidence(search),
    }


def over_K(search: Search | None, path: NOMADPath | None) -> Content:
    """Number of parts at each ``K``, how clear they are, from 0 to 1, and where that is known from."""
    if path is not None:
        gap = path.largest_gap
        proven = f", each proven within {percent(gap)}" if np.isfinite(gap) else ""
        said = (
            f"Solved for each K{proven}. Parts are what links of a similarity above 1/100 leave, of at least 5 % of "
            "the points; larger dots where they persist over more thresholds."
        )
        K, parts, clear = path.K_values, path.n_components, path.persistence / MOST_PERSISTENCE
    elif search is not None:
        at = search.clearest
        said = (
            "Rough solutions, without bounds, which the automatic choice has made anyhow. Parts are peaks of density "
            f"that stand out by {search.prominences[at]:g} in its logarithm, of at least 2 % of the points; larger "
            "dots where they agree better with those taken."
        )
        K, parts, clear = search.K_values, search.n_parts[:, at], search.agreement[:, at]
    else:
        return None
    return {
        "K": K.tolist(),
        "parts": parts.tolist(),
        "clear": [finite(value) for value in np.clip(clear, 0, 1)],
        "said": said,
    }
