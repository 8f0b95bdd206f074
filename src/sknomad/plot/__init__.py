"""Pictures of a fitted model, or of arrays, in one style.

Every function takes a fitted model (most also arrays), solves nothing, and returns the ``Axes`` or ``Figure`` it drew;
given no ``ax``, it makes a figure. No pyplot: nothing is global and no window opens; call ``figure.savefig`` or show it
in a notebook. Matplotlib is optional and imported only when something is drawn.
"""

from .map_panel import map
from .overview_figure import overview
from .panels import affinity, convergence, embedding, scatter_data
from .path_panel import path
from .proof_panels import bounds, certificate, spectrum
from .style import CYCLIC, DIVERGING, FAINT, INK, MUTED, PALETTE, SEQUENTIAL, colour_map, point_colours, style
from .trees import layers, tree

__all__ = [
    "CYCLIC", "DIVERGING", "FAINT", "INK", "MUTED", "PALETTE", "SEQUENTIAL", "affinity", "bounds", "certificate",
    "colour_map", "convergence", "embedding", "layers", "map", "overview", "path", "point_colours", "scatter_data",
    "spectrum", "style", "tree",
]  # fmt: skip
