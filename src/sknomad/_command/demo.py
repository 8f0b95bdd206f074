"""``sknomad demo``: two entangled spirals, solved and proven."""

from __future__ import annotations

import argparse

import numpy as np

from ..datasets import double_swiss_roll
from .command import tell
from .fit import fitted, report
from .places import check_places
from .shared_options import limited
from .table import Table

# What only `fit` asks for.
ASKED_BY_FIT = {
    "K": 64.0,
    "several": False,
    "metric": "euclidean",
    "solver": "auto",
    "save": None,
    "certificate": None,
    "checkpoint": None,
}


def run(options: argparse.Namespace) -> int:
    """Run the command."""
    options = argparse.Namespace(**vars(options), **ASKED_BY_FIT)
    check_places(options)
    X, truth = double_swiss_roll(200)
    tell(options, "Two entangled spirals of 100 points each; solving the K-means SDP with K = 64.")
    with limited(options):
        model, bar = fitted(options, X)
        return report(
            options, model, bar, Table(X, ["x", "y"], {"label": truth.astype(str)}, np.arange(len(X)), len(X))
        )
