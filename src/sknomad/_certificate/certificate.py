"""`Certificate`: two proven numbers around the optimum, which raise where they contradict each other."""

from __future__ import annotations

import math
from dataclasses import dataclass


class CertificateError(ArithmeticError):
    """A bound contradicts a known feasible value: a defect or a broken linear algebra library, never a result.

    Examples
    --------
    >>> try:
    ...     Certificate(lower=2.0, upper=1.0)
    ... except CertificateError as error:
    ...     print(str(error).partition(":")[0])
    upper bound 1.0 is below the feasible value 2.0
    """


@dataclass(frozen=True)
class Certificate:
    """Two proven numbers around the optimum: ``lower <= max <D, Q> <= upper``.

    Parameters
    ----------
    lower : float
        Value of an exactly feasible point; ``-inf`` if none is known.
    upper : float
        Bound on every feasible value; ``inf`` if none is known.
    grade : str
        How `upper` was obtained: ``"verified"`` (a proof that includes rounding), ``"eigen"`` (float64
        eigenvalues plus a rounding pad) or ``"estimated"`` (not a proof).

    Examples
    --------
    >>> Certificate(99.0, 100.0).gap
    0.01
    """

    lower: float
    upper: float
    grade: str = "eigen"

    def __post_init__(self) -> None:
        if not self.lower <= self.upper:
            raise CertificateError(
                f"upper bound {self.upper!r} is below the feasible value {self.lower!r}: one of them is false. "
                "Please report this with the data."
            )

    @property
    def gap(self) -> float:
        """Relative gap ``(upper - lower)/|upper|``; 0 where the bounds meet, ``inf`` where one is unknown."""
        if self.upper == self.lower:
            return 0.0
        if not (math.isfinite(self.upper) and math.isfinite(self.lower)) or self.upper == 0:
            return math.inf
        return (self.upper - self.lower) / abs(self.upper)

    def __str__(self) -> str:
        return f"{self.lower:.10g} <= optimum <= {self.upper:.10g} (gap {self.gap:.1e}, grade {self.grade})"
