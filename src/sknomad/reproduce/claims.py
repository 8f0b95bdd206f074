"""What an experiment says about the paper: a sentence, its source, our number, and what follows from it.

A claim is made by `judge` from texts with gaps, ``{name}``, and one set of values that fills the gaps of all of them:
the sentence, the number and the reason cannot contradict each other.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from .coverage import PLACES

LONGEST_QUOTATION = 30  # words


class Verdict(enum.Enum):
    """What came of a claim; each member's value is what is shown.

    Examples
    --------
    >>> [verdict.value for verdict in Verdict]
    ['holds', 'differs: the paper', 'differs: ours', 'not tested at this size', 'beyond the paper']
    """

    HOLDS = "holds"
    PAPER = "differs: the paper"
    OURS = "differs: ours"
    UNTESTED = "not tested at this size"
    BEYOND = "beyond the paper"

    @property
    def meaning(self) -> str:
        """The definition, in a sentence."""
        return MEANINGS[self]


MEANINGS = {
    Verdict.HOLDS: "The paper says it, and here it is so.",
    Verdict.PAPER: "The paper is wrong here, or says more than is true; our number or proof stands beside it.",
    Verdict.OURS: "The paper may well be right, and our computation falls short of it, by the number that is named.",
    Verdict.UNTESTED: "The claim is about larger or other data than this run had, so nothing was judged.",
    Verdict.BEYOND: "The paper does not say it: a finding of ours, counted apart.",
}
NEEDS_REASON = {Verdict.PAPER, Verdict.OURS, Verdict.UNTESTED}


@dataclass(frozen=True)
class Source:
    """Where the paper says it, and in which words; without a place it is ours."""

    place: str = ""  # a key of `coverage.PLACES`
    quotation: str = ""  # a few words of the paper, as printed

    def __post_init__(self) -> None:
        if self.place and self.place not in PLACES:
            raise ValueError(f"place must be one of {', '.join(PLACES)}, got {self.place!r}.")
        if bool(self.place) != bool(self.quotation.strip()):
            raise ValueError(f"source must have a place and a quotation, or neither, got {self!r}.")
        if len(self.quotation.split()) > LONGEST_QUOTATION:
            raise ValueError(f"quotation must have at most {LONGEST_QUOTATION} words, got {self.quotation!r}.")


OURS = Source()


def paper(place: str, quotation: str) -> Source:
    """A source in the paper.

    Examples
    --------
    >>> paper("Figure 3a", "concentrates more and more towards the diagonal").place
    'Figure 3a'
    """
    return Source(place, quotation)


@dataclass(frozen=True)
class Claim:
    """One claim, in our words, beside what was measured.

    Parameters
    ----------
    sentence : str
        What is claimed.
    number : str
        What was measured, with its unit or its meaning; there is one unless nothing was tested.
    verdict : Verdict
    why : str, optional
        What explains the verdict; required where the claim differs or is not tested.
    source : Source, optional
        Where the paper says it; by default the claim is ours.
    mend : str, optional
        The number that would mend what falls short; required where ours does.

    Examples
    --------
    >>> Claim("The mean eigenvalue is K/n.", "largest deviation 2e-16", Verdict.BEYOND).verdict.value
    'beyond the paper'
    """

    sentence: str
    number: str
    verdict: Verdict
    why: str = ""
    source: Source = OURS
    mend: str = ""

    def __post_init__(self) -> None:
        was_measured = self.verdict is not Verdict.UNTESTED
        if not self.sentence.strip() or (was_measured and not _has_digit(self.number)):
            raise ValueError(f"claim must have a sentence and a number, got {self.sentence!r} and {self.number!r}.")
        if self.verdict in NEEDS_REASON and not self.why.strip():
            raise ValueError(f"claim {self.sentence!r} must give a reason for {self.verdict.value!r}, got none.")
        if self.verdict is Verdict.OURS and not _has_digit(self.mend):
            raise ValueError(f"claim {self.sentence!r} must name the number that would mend it, got {self.mend!r}.")
        if self.verdict in (Verdict.HOLDS, Verdict.PAPER) and not self.source.place:
            raise ValueError(f"claim {self.sentence!r} must have its source in the paper to be {self.verdict.value!r}.")

    def to_json(self) -> dict[str, str]:
        """The claim as a dictionary of strings."""
        return {
            "sentence": self.sentence,
            "number": self.number,
            "verdict": self.verdict.value,
            "why": self.why,
            "place": self.source.place,
            "quotation": self.source.quotation,
            "mend": self.mend,
        }

    @classmethod
    def from_json(cls, fields: Mapping[str, str]) -> Claim:
        """The claim that `to_json` turned into `fields`."""
        source = Source(fields["place"], fields["quotation"])
        return cls(
            fields["sentence"], fields["number"], Verdict(fields["verdict"]), fields["why"], source, fields["mend"]
        )


def judge(
    sentence: str,
    number: str,
    holds: bool | np.bool_,
    why: str,
    otherwise: Verdict = Verdict.OURS,
    *,
    source: Source = OURS,
    mend: str = "",
    untested: str = "",
    **values: object,
) -> Claim:
    """A claim that holds (or, if ours, is beyond the paper), or else has the verdict `otherwise`.

    Parameters
    ----------
    sentence, number, why, mend : str
        Texts with gaps, as for `str.format`, all filled from `values`. `why` is the reason, and `mend` the number that
        would mend it, if it does not hold.
    holds : bool
    otherwise : Verdict
    source : Source
    untested : str
        The reason, with gaps, why the claim cannot be judged at this size; empty where it can.
    **values
        What was measured.

    Examples
    --------
    >>> claim = judge("There are two components.", "{count} components", False, "One of {count} is a part of a ring.",
    ...               mend="2 components", count=3)
    >>> claim.verdict.value, claim.why
    ('differs: ours', 'One of 3 is a part of a ring.')
    """
    if untested:
        verdict, reason = Verdict.UNTESTED, untested
    elif holds:
        verdict, reason = Verdict.HOLDS if source.place else Verdict.BEYOND, ""
    else:
        verdict, reason = otherwise, why
    needed = mend if verdict is Verdict.OURS else ""
    texts = [text.format(**values) for text in (sentence, number, reason, needed)]
    return Claim(texts[0], texts[1], verdict, texts[2], source, texts[3])


def finding(sentence: str, number: str, **values: object) -> Claim:
    """What we found and the paper does not speak of: nothing to be judged.

    Examples
    --------
    >>> finding("Pairs that come apart.", "{count} of 6", count=4).verdict.value
    'beyond the paper'
    """
    return Claim(sentence.format(**values), number.format(**values), Verdict.BEYOND)


def _has_digit(text: str) -> bool:
    return any(character.isdigit() for character in text)
