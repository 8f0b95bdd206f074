"""What all panels have in common: where they are drawn and what they return, documented once."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Panel = TypeVar("Panel", bound="Callable[..., Axes]")

SECTIONS = """
ax : Axes, optional
    Where to draw; None is a new figure.

Returns
-------
Axes
    What was drawn on.
"""


def panel(function: Panel) -> Panel:
    """Decorator that puts `ax` and what is returned into the docstring of a panel, before its examples."""
    if function.__doc__ is not None:  # python -OO leaves none
        text, examples = inspect.cleandoc(function.__doc__).split("\n\nExamples\n")
        function.__doc__ = f"{text}{SECTIONS}\nExamples\n{examples}"
    return function
