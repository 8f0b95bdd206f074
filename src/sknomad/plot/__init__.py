"""Pictures of data, solution, embedding and bounds, in one style.

Every function takes arrays, solves nothing, and returns the ``Axes`` or ``Figure`` it drew; given no ``ax``, it
makes a figure. No pyplot: nothing is global and no window opens; call ``figure.savefig`` or show it in a notebook.
Matplotlib is optional and imported only when something is drawn.
"""

from .overview_figure import overview
from .panels import affinity, convergence, embedding, scatter_data
from .style import CYCLIC, DIVERGING, FAINT, INK, MUTED, PALETTE, SEQUENTIAL, colour_map, point_colours, style

__all__ = [
    "CYCLIC", "DIVERGING", "FAINT", "INK", "MUTED", "PALETTE", "SEQUENTIAL", "affinity", "colour_map",
    "convergence", "embedding", "overview", "point_colours", "scatter_data", "style",
]  # fmt: skip
