"""Point sets whose manifolds are known: those of the paper, and three more.

Every function returns the points, one per row, and what is known about them: int64 labels if there are several
manifolds, else the float64 parameter along the one. Points lie in order, manifold by manifold; if
``n_samples`` does not divide evenly, the first manifolds take one point more. Nothing is centred here.

``noise`` is the standard deviation of the Gaussian noise added to every coordinate, unless said otherwise.
``random_state`` is an int, a ``RandomState``, a ``Generator`` or None; where nothing is random it is unused.

`fetch_mnist`, `fetch_teapots`, `fetch_yale_faces`, `fetch_coil20` and `fetch_coil100` fetch image data
sets that others published.
"""

from .images import (
    DataDamagedError,
    DataUnavailableError,
    Images,
    fetch_coil20,
    fetch_coil100,
    fetch_mnist,
    fetch_teapots,
    fetch_yale_faces,
)
from .shapes import (
    blobs,
    double_swiss_roll,
    linked_rings,
    moons,
    ring,
    square_grid,
    swiss_roll,
    swiss_roll_3d,
    thin_lines,
    three_spirals,
    trefoil,
    trefoil_pair,
    two_rings,
)

__all__ = [
    "DataDamagedError", "DataUnavailableError", "Images", "blobs", "double_swiss_roll", "fetch_coil20", "fetch_coil100",
    "fetch_mnist", "fetch_teapots", "fetch_yale_faces", "linked_rings", "moons", "ring", "square_grid", "swiss_roll",
    "swiss_roll_3d", "thin_lines", "three_spirals", "trefoil", "trefoil_pair", "two_rings",
]  # fmt: skip
