"""Arguments of `solve` that are refused, and the sentences that say so."""

from __future__ import annotations

import math

import numpy as np
import pytest

from oracles import ring_points
from sknomad import Iterate, solve
from sknomad.solvers import ADMM


def iterate_of(n):
    return Iterate(np.eye(n))


REFUSED = {
    "problem": (TypeError, {"problem": ring_points(6)}, r"problem must be a KMeansSDP, got ndarray.*Gram\.from_data"),
    "solver": (ValueError, {"solver": "newton"}, "solver must be one of 'auto', 'admm'.*got 'newton'"),
    "solver class": (ValueError, {"solver": ADMM}, "solver must be one of"),
    "solver none": (ValueError, {"solver": None}, "solver must be one of .*got None"),
    "tol negative": (ValueError, {"tol": -1e-3}, "tol must be a real number >= 0, got -0.001"),
    "tol nan": (ValueError, {"tol": math.nan}, "tol must be a real number >= 0, got nan"),
    "tol text": (TypeError, {"tol": "small"}, "tol must be a real number >= 0, got 'small' of type str"),
    "tol none": (TypeError, {"tol": None}, "tol must be a real number"),
    "max_iter zero": (ValueError, {"max_iter": 0}, "max_iter must be an integer >= 1, got 0"),
    "max_iter float": (TypeError, {"max_iter": 10.0}, r"max_iter must be an integer >= 1, got 10\.0 of type float"),
    "max_iter true": (TypeError, {"max_iter": True}, "max_iter must be an integer"),
    "max_seconds": (ValueError, {"max_seconds": -1}, "max_seconds must be a number of seconds >= 0 or None, got -1"),
    "max_seconds nan": (ValueError, {"max_seconds": math.nan}, "max_seconds must be"),
    "max_seconds text": (TypeError, {"max_seconds": "1 h"}, "max_seconds must be a number of seconds"),
    "start size": (ValueError, {"start": iterate_of(5)}, "start must have 24 rows as the problem has, got 5"),
    "start array": (
        TypeError,
        {"start": np.eye(24)},
        "start must be an Iterate or None, got ndarray",
    ),
    "start nan": (ValueError, {"start": Iterate(np.full((24, 24), math.nan))}, "start must .*finite"),
    "callback": (TypeError, {"callback": "print"}, "callback must be callable or None, got str"),
    "grade": (ValueError, {"grade": "estimated"}, "grade must be one of 'eigen', 'verified', got 'estimated'"),
    "grade none": (ValueError, {"grade": None}, "grade must be one of"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_bad_arguments_are_named(problem, case):
    error, arguments, message = REFUSED[case]
    with pytest.raises(error, match=message):
        solve(**{"problem": problem, **arguments})
