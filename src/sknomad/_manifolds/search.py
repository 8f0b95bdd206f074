"""What the automatic choice has seen: the parts at every ``K`` and threshold it looked at, and what it made of them.

The looks are made for the choice anyhow; writing them down takes a few hundredths of a second.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
from sklearn.metrics import adjusted_rand_score

from .._files.records import saved
from .._numerics.arrays import Array
from .._numerics.threads import suitable_threads
from .._program.gram import Gram
from .._solving.budget import Budget
from .._solving.loop import Callback
from .choice import Choice, look_and_decide
from .look import Landscape, Look
from .survey import Survey
from .valley_tree import smallest_part, valley_tree

# Prominences at which parts are counted: how far, in the log of density, a peak must stand above the valley around it.
PROMINENCES = np.array([0.05, 0.1, 0.2, 0.3, 0.5, 1.0, 2.0, 3.0])


@saved
@dataclass(frozen=True)
class Search:
    """Parts over ``K`` and thresholds: those of the trees of density that count most in the choice."""

    K_values: Array  # (m,) of the looks, ascending
    prominences: Array  # (t,) thresholds: peaks of density that stand out less are no parts of their own
    n_parts: Array  # (m, t) number of parts at each
    agreement: Array  # (m, t) adjusted Rand index of these with the parts that were taken
    strength: float  # what speaks for several parts, less what single pieces rarely reach; of a number told, its score
    margin: float  # of the best division into several parts over the best into another number; NaN if it was told

    @property
    def clearest(self) -> int:
        """The threshold at which parts agree best with those taken, over all ``K``; the first of equals."""
        return int(np.argmax(self.agreement.mean(axis=0)))


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
    >>> choice.n_parts, choice.search.n_parts.shape == (len(choice.K_values), len(PROMINENCES))
    (2, True)
    """
    if callback is not None and not callable(callback):
        raise TypeError(f"callback must be callable or None, got {type(callback).__name__}.")
    survey, choice = look_and_decide(gram, n_parts=n_parts, allow_single=allow_single, callback=callback, budget=budget)
    known = {field.name: getattr(choice, field.name) for field in fields(choice)}
    with suitable_threads(survey.looks[0].n):
        return RecordedChoice(**known, search=_record(survey, choice))


def _record(survey: Survey, choice: Choice) -> Search:
    groups, of_group = np.unique(survey.groups, return_index=True)
    taken = choice.labels[of_group]
    rows = [_over_thresholds(look, groups, taken) for look in survey.looks]
    return Search(
        K_values=choice.K_values,
        prominences=PROMINENCES,
        n_parts=np.array([counts for counts, _ in rows]),
        agreement=np.array([shares for _, shares in rows]),
        strength=choice.strength,
        margin=choice.margin,
    )


def _over_thresholds(look: Look, groups: Array, taken: Array) -> tuple[list[int], list[float]]:
    """Number of parts of a look at each threshold, and how well they agree with those taken for some of its points.

    The cuts of one tree are nested, so that equal numbers of parts are equal parts.
    """
    tree = valley_tree(look, Landscape.PLAIN, smallest_part(look.n))
    agreement: dict[int, float] = {}
    counts = []
    for prominence in PROMINENCES:
        dropped = tree.prominence >= prominence
        counts.append(1 + int(dropped.sum()))
        if counts[-1] not in agreement:
            agreement[counts[-1]] = float(adjusted_rand_score(taken, tree.without(dropped)[groups]))
    return counts, [agreement[count] for count in counts]
