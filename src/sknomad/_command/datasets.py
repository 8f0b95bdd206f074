"""``sknomad datasets``: points on known manifolds, as a table."""

from __future__ import annotations

import argparse
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import datasets
from .command import DONE, as_json, show
from .places import check_out_file
from .result_table import give_table
from .tables import aligned

FETCHED = "fetch_"
LABEL, PARAMETER = "label", "parameter"
USUAL_POINTS = 200


def run(options: argparse.Namespace) -> int:
    """Run the command."""
    if options.name is None:
        listing = _listing()
        show(
            as_json(listing) if options.json else aligned(["name", "what it is"], [[n, t] for n, t in listing.items()])
        )
        return DONE
    check_out_file(options.out, overwrite=options.overwrite)
    give_table(options, _columns(options))
    return DONE


def _makers() -> dict[str, Callable[..., Any]]:
    """Functions that make or fetch points, by name."""
    functions = {name: getattr(datasets, name) for name in datasets.__all__}
    return {name: function for name, function in functions.items() if inspect.isfunction(function)}


def _listing() -> dict[str, str]:
    return {
        name.removeprefix(FETCHED): (inspect.getdoc(function) or "").splitlines()[0].rstrip(".")
        for name, function in sorted(_makers().items(), key=lambda item: item[0].removeprefix(FETCHED))
    }


def _columns(options: argparse.Namespace) -> dict[str, Any]:
    """The table by its columns; the last is what is known of each point."""
    makers = {name.removeprefix(FETCHED): function for name, function in _makers().items()}
    if options.name not in makers:
        raise ValueError(f"NAME must be one of {', '.join(sorted(makers))}, got {options.name!r}.")
    maker = makers[options.name]
    parameters = inspect.signature(maker).parameters
    wanted = {"random_state": options.seed}
    if options.points is not None or "n_samples" in parameters:
        wanted |= dict.fromkeys(("n_samples", "n"), USUAL_POINTS if options.points is None else options.points)
    made = maker(**{name: value for name, value in wanted.items() if name in parameters})
    X, known = (made.data, made.target) if isinstance(made, datasets.Images) else made
    what = LABEL if np.issubdtype(known.dtype, np.integer) else PARAMETER
    names = "xyz" if X.shape[1] <= 3 else [f"pixel_{j}" for j in range(X.shape[1])]
    return {**{names[j]: X[:, j] for j in range(X.shape[1])}, what: known}
