"""What a report says about a proof, and about how the answer was made."""

from __future__ import annotations

import math
from typing import TypeAlias, cast

import numpy as np

from .._estimators.multilayer import MultiLayerNOMAD
from .._estimators.nomad import NOMAD
from .._kmeans.inertia import inertia_bound
from .._numerics.arrays import to_numpy
from .._version import __version__
from ..plot.model import as_bound, counted, word_for

# What `json` writes.
Content: TypeAlias = "bool | int | float | str | list[Content] | dict[str, Content] | None"
# What there are reports about.
Model: TypeAlias = NOMAD | MultiLayerNOMAD
# Decimals of a share in per cent; smaller ones are written with a power of ten.
MOST_DECIMALS = 6


def n_found(model: Model) -> int:
    """Number of manifolds, or clusters."""
    return model.n_manifolds_ if isinstance(model, NOMAD) else model.n_clusters_


def verdict(model: Model) -> str:
    """What was found and how sure it is, in one sentence."""
    found = np.asarray(to_numpy(model.labels_))
    outside = int(np.sum(found < 0))
    what = f"{counted(n_found(model), word_for(model))}, {len(found):,} points"
    rest = f" ({outside:,} in none)" if outside else ""
    if isinstance(model, NOMAD):
        gap, proven = model.certificate_.gap, "proven within {} of the best possible."
    else:
        gap = max(layer.certificate.gap for layer in model.layers_)
        proven = "every layer proven within {} of its best possible."
    if not math.isfinite(gap):
        return f"{what}{rest}; how close to the best possible answer is not known."
    return f"{what}{rest}; {proven.format(percent(gap))}"


def percent(share: float) -> str:
    """A share in per cent, rounded up, so that what is said is proven.

    Examples
    --------
    >>> percent(0.00041), percent(0.1234), percent(3.2e-12), percent(0.0)
    ('0.041 %', '13 %', '3.2e-10 %', '0 %')
    """
    if share <= 0:
        return "0 %"
    digits = 1 - math.floor(math.log10(100 * share))
    rounded = math.ceil(100 * share * 10**digits - 1e-9) / 10**digits
    return f"{rounded:.1e} %" if digits > MOST_DECIMALS else f"{rounded:.{max(digits, 0)}f} %"


def bounds_of(model: Model) -> dict[str, Content]:
    """Both bounds against time; of layers none, each of which is a program of its own."""
    names = ("seconds", "lower", "upper")
    if not isinstance(model, NOMAD):
        return {name: [] for name in names}
    trace = model.solution_.trace
    return {name: [finite(value) for value in np.asarray(trace[name])] for name in names}


def proof_of(model: Model) -> dict[str, Content]:
    """Both bounds in numbers and in words."""
    if not isinstance(model, NOMAD):
        return {"lower": None, "upper": None, "inertia": None, "said": _said_of_layers(model)}
    proof, gram = model.certificate_, model.solution_.problem.gram
    inertia = inertia_bound(gram, proof.upper) if gram.is_of_points else 0.0
    found, best = as_bound(proof.lower, upper=False), as_bound(proof.upper, upper=True)
    said = (
        f"{found} ≤ optimum ≤ {best}: the first is the value of the Q shown here, the second no feasible Q can pass. "
        f"Relative gap {proof.gap:.1e}, grade {proof.grade}."
    )
    is_known = math.isfinite(proof.lower) and math.isfinite(proof.upper)
    return {
        "lower": finite(proof.lower),
        "upper": finite(proof.upper),
        "found": found,
        "best": best,
        "said": said if is_known else "No bound on the optimum is known.",
        "inertia": as_bound(inertia, upper=False) if inertia > 0 else None,
        "most": math.floor(model.K_),
    }


def _said_of_layers(model: MultiLayerNOMAD) -> str:
    each = "; ".join(f"K = {layer.K:.4g} within {_within(layer.certificate.gap)}" for layer in model.layers_)
    return f"Every layer is a program of its own, on the Q of the one before, and is proven by itself: {each}."


def _within(gap: float) -> str:
    return percent(gap) if math.isfinite(gap) else "an unknown gap"


def made(model: Model, command: str | None) -> dict[str, Content]:
    """How the answer was made, and what repeats it."""
    settings = {name: repr(value) for name, value in model.get_params().items() if name not in ("callback", "verbose")}
    facts: dict[str, Content] = {
        "K": f"{model.K_:g}" if isinstance(model, NOMAD) else f"{model.schedule_[0]:g}",
        "steps": model.n_iter_,
        "columns of X": int(model.n_features_in_),
        "confidence in the number": None if math.isnan(model.confidence_) else round(model.confidence_, 2),
        "sknomad": __version__,
    }
    if isinstance(model, NOMAD):
        facts |= {"status": model.solution_.status.value, "seconds": round(model.solution_.seconds, 2)}
    else:
        facts |= {"K of the layers": ", ".join(f"{K:g}" for K in model.schedule_)}
    name = type(model).__name__
    return {
        "command": command,
        "python": f"from sknomad import {name}\nmodel = {model!r}.fit(X)",
        "settings": cast("Content", settings),
        "facts": facts,
    }


def finite(value: float) -> float | None:
    """A number for JSON, which has no others than finite ones."""
    return float(value) if math.isfinite(value) else None
