"""What all samplers of points have in common: what they take and return, documented once."""

import inspect
from collections.abc import Callable
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from .curves import Points

Labels = NDArray[np.int64]
Parametrised = tuple[Points, Points]
Labelled = tuple[Points, Labels]
RandomState = int | np.random.RandomState | np.random.Generator | None
Sampler = TypeVar("Sampler", bound=Callable[..., Parametrised | Labelled])

SECTIONS = """Parameters
----------
n_samples : int, default={n_samples}
    Number of points.
noise : float, default={noise}
    Standard deviation of the Gaussian noise added to every coordinate, unless said otherwise above.
random_state : int, RandomState, Generator or None, default=None
    Where the noise comes from; unused where nothing is random.

Returns
-------
X : array of shape (n_samples, d)
    The points in order, manifold by manifold.
{second}

"""
SECOND = {
    Labelled: "labels : array of shape (n_samples,)\n    Manifold of each point, from 0.",
    Parametrised: "parameter : array, one entry or row per point\n    Where each point lies on the manifold.",
}


def sampler(function: Sampler) -> Sampler:
    """Decorator that puts parameters and returns into the docstring of a sampler, before its examples."""
    signature = inspect.signature(function)
    defaults = {name: parameter.default for name, parameter in signature.parameters.items()}
    sections = SECTIONS.format(second=SECOND[signature.return_annotation], **defaults)
    if function.__doc__ is not None:  # python -OO leaves none
        # Without its indentation, which newer versions of Python drop themselves.
        function.__doc__ = inspect.cleandoc(function.__doc__).replace("Examples\n", f"{sections}Examples\n", 1)
    return function
