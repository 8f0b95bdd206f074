"""What a report says about other ``K``: a path that was solved, or what the automatic choice has looked at."""

from __future__ import annotations

import numpy as np

from .._manifolds.path import NOMADPath
from .._manifolds.search import Search
from ..plot.trees import described_evidence
from .proof import Content, finite, percent

# The threshold at which parts of the search are counted, as in a path: similarities above a hundredth.
LINKED = 2.0


def searched(search: Search | None) -> Content:
    """Parts at each ``K`` and threshold looked at, and how well they agree with those taken."""
    if search is None:
        return None
    return {
        "K": [f"{K:.3g}" for K in search.K_values],
        "heights": search.heights.tolist(),
        "parts": search.n_parts.tolist(),
        "agreement": np.clip(search.agreement, 0, 1).round(3).tolist(),
        "evidence": described_evidence(search),
    }


def over_K(search: Search | None, path: NOMADPath | None) -> Content:
    """Number of parts and how clear they are at each ``K``, and where that is known from."""
    if path is not None:
        gap = path.largest_gap
        proven = f", each proven within {percent(gap)}" if np.isfinite(gap) else ""
        said = f"Solved for each K{proven}. Parts have at least 5 % of the points."
        K, parts, clear = path.K_values, path.n_components, path.persistence
    elif search is not None:
        said = (
            "Rough solutions, without bounds, which the automatic choice has made anyhow. Parts have at least 2 % of "
            "the points."
        )
        at = int(np.argmin(np.abs(search.heights - LINKED)))
        K, parts, clear = search.K_values, search.n_parts[:, at], search.persistence
    else:
        return None
    return {
        "K": K.tolist(),
        "parts": parts.tolist(),
        "clear": [finite(value) for value in clear],
        "said": said,
    }
