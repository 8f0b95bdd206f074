"""What the automatic choice has seen: the parts at every ``K`` and threshold it looked at, and what it made of them.

The looks are made for the choice anyhow; writing them down takes a few hundredths of a second.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
from sklearn.metrics import adjusted_rand_score

from .._files.records import saved
from .._numerics.arrays import Array
from .._points.forms import DensePoint
from .._program.gram import Gram
from .._solving.budget import Budget
from .._solving.loop import Callback
from .choice import Choice, Survey, decide, look_around
from .linkage import LinkageTree, linkage_tree
from .look import Landscape, Look
from .valley_tree import smallest_part

# Thresholds at which parts are counted, in decades of similarity below 1; looks hold no fainter links.
HEIGHTS = np.arange(0.5, 4.1, 0.5)


@saved
@dataclass(frozen=True)
class Search:
    """Parts over ``K`` and thresholds. Each has at least 2 % of the points, smaller sets belong to what they join."""

    K_values: Array  # (m,) of the rough solutions, ascending
    heights: Array  # (t,) thresholds: links of a similarity below 10 to the minus this are cut
    n_parts: Array  # (m, t) number of parts at each
    agreement: Array  # (m, t) adjusted Rand index of these with the parts that were taken
    persistence: Array  # (m,) decades over which there are as many parts as were taken, 0 to 1.6
    strength: float  # what speaks for several parts, less what single pieces rarely reach; of a number told, its score
    margin: float  # of the best division into several parts over the best into another number; NaN if it was told


@dataclass(frozen=True)
class RecordedChoice(Choice):
    """A choice, and what it was made from."""

    search: Search


def search_parts(
    gram: Gram,
    *,
    n_parts: int | None = None,
    allow_single: bool = True,
    callback: Callback | None = None,
    budget: Budget | None = None,
) -> RecordedChoice:
    """Choose the parts of the points of `gram`, as `choose` does, and keep what was looked at.

    Examples
    --------
    >>> from sknomad.datasets import two_rings
    >>> choice = search_parts(Gram.from_data(two_rings(100)[0]))
    >>> choice.n_parts, choice.search.n_parts.max(axis=1).tolist()
    (2, [2, 2, 2, 2])
    """
    if callback is not None and not callable(callback):
        raise TypeError(f"callback must be callable or None, got {type(callback).__name__}.")
    survey = look_around(gram, callback, budget)
    choice = decide(survey, n_parts=n_parts, allow_single=allow_single)
    known = {field.name: getattr(choice, field.name) for field in fields(choice)}
    return RecordedChoice(**known, search=_record(survey, choice))


def _record(survey: Survey, choice: Choice) -> Search:
    groups, of_group = np.unique(survey.groups, return_index=True)
    trees = [_tree(look) for look in survey.looks]
    rows = [_over_thresholds(tree, groups, choice.labels[of_group]) for tree in trees]
    return Search(
        K_values=choice.K_values,
        heights=HEIGHTS,
        n_parts=np.array([counts for counts, _ in rows]),
        agreement=np.array([shares for _, shares in rows]),
        persistence=np.array([tree.persistence(choice.n_parts) for tree in trees]),
        strength=choice.strength,
        margin=choice.margin,
    )


def _tree(look: Look) -> LinkageTree:
    """The single-linkage tree of a look; the similarity of two points is what separates their link from its density."""
    density = look.density[Landscape.PLAIN]
    level = look.levels[Landscape.PLAIN] - np.minimum(density[look.first], density[look.second])
    similarity = np.eye(look.n)
    similarity[look.first, look.second] = similarity[look.second, look.first] = np.exp(level / Landscape.PLAIN.value)
    return linkage_tree(DensePoint(similarity)).with_smallest(smallest_part(look.n))


def _over_thresholds(tree: LinkageTree, groups: Array, taken: Array) -> tuple[list[int], list[float]]:
    """Number of parts at each threshold, and how well they agree with those taken for some of the points of the tree.

    The cuts of one tree are nested, so that equal numbers of parts are equal parts.
    """
    agreement: dict[int, float] = {}
    counts = [tree.count(height) for height in HEIGHTS]
    for height, count in zip(HEIGHTS, counts, strict=True):
        if count not in agreement:
            agreement[count] = float(adjusted_rand_score(taken, tree.parts(height)[groups]))
    return counts, [agreement[count] for count in counts]
