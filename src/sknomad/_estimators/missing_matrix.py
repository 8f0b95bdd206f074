"""Why a model of a Dask collection lacks what others have: an error with the reason, in the place of a bare one."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from .._manifolds.cell_reading import CellReading

# What rests on Q itself: results, and what methods read of it.
OF_Q = frozenset(
    {
        "_atlas", "_point", "affinity_", "circular_coordinates_", "closedness_", "is_closed_", "map_", "memberships_",
        "order_", "outlier_scores_", "search_", "solution_",
    }
)  # fmt: skip


class SaysWhyQIsMissing:
    """Names the reason where a fit has left cells and no ``Q``."""

    if not TYPE_CHECKING:  # attributes that do not exist stay errors for type checkers

        def __getattr__(self, name: str) -> NoReturn:
            """Called for attributes that are not there."""
            if name in OF_Q and isinstance(vars(self).get("_extension"), CellReading):
                wanted = "this" if name.startswith("_") else name
                raise AttributeError(
                    f"{wanted} must be asked of a model of rows in memory, since it rests on Q, n x n; got one "
                    "fitted to a Dask collection, which keeps cells alone. Fit a sample of the rows."
                )
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
