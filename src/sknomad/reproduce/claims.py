"""What an experiment says about the paper: a sentence, our number, and whether it holds here."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np


class Verdict(enum.Enum):
    """Whether a claim of the paper holds here; each member's value is the word shown.

    Examples
    --------
    >>> [verdict.value for verdict in Verdict]
    ['holds', 'fails', 'differs']
    """

    HOLDS = "holds"
    FAILS = "fails"
    DIFFERS = "differs"


@dataclass(frozen=True)
class Claim:
    """One claim of the paper, in our words, beside what was measured.

    Parameters
    ----------
    sentence : str
        What is claimed.
    number : str
        What was measured, with its unit or its meaning; never empty.
    verdict : Verdict
    why : str, optional
        What explains the difference; required unless the claim holds.

    Examples
    --------
    >>> Claim("The mean eigenvalue is K/n.", "largest deviation 2e-16", Verdict.HOLDS).verdict.value
    'holds'
    """

    sentence: str
    number: str
    verdict: Verdict
    why: str = ""

    def __post_init__(self) -> None:
        if not self.sentence.strip() or not any(character.isdigit() for character in self.number):
            raise ValueError(f"claim must have a sentence and a number, got {self.sentence!r} and {self.number!r}.")
        if self.verdict is not Verdict.HOLDS and not self.why.strip():
            raise ValueError(f"claim {self.sentence!r} must say why it {self.verdict.value}, got no reason.")

    def to_json(self) -> dict[str, str]:
        """The claim as a dictionary of strings."""
        return {
            "sentence": self.sentence,
            "number": self.number,
            "verdict": self.verdict.value,
            "why": self.why,
        }

    @classmethod
    def from_json(cls, fields: Mapping[str, str]) -> Claim:
        """The claim that `to_json` turned into `fields`."""
        return cls(fields["sentence"], fields["number"], Verdict(fields["verdict"]), fields["why"])


def judge(sentence: str, number: str, holds: bool | np.bool_, why: str, otherwise: Verdict = Verdict.FAILS) -> Claim:
    """A claim that holds, or else fails (or `otherwise`) for the reason `why`.

    Examples
    --------
    >>> judge("There are two components.", "3", False, "One ring broke up.").verdict.value
    'fails'
    """
    return Claim(sentence, number, Verdict.HOLDS) if holds else Claim(sentence, number, otherwise, why)
