"""sknomad: separate and unroll the manifolds hidden in data, with a proof of how good the answer is.

All names are loaded with the first that is used, so that ``sknomad --help`` answers at once.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from ._version import __version__ as __version__

if TYPE_CHECKING:
    from ._public import *  # noqa: F403

MODULES = ("cli", "datasets", "metrics", "plot", "reproduce", "ring", "sc", "solvers")


def __getattr__(name: str) -> object:
    """A public name or module, loaded when it is first asked for."""
    if name in MODULES:
        return import_module(f"{__name__}.{name}")
    if not name.startswith("_") or name == "__all__":
        public = import_module(f"{__name__}._public")
        globals().update({each: getattr(public, each) for each in (*public.__all__, "__all__")})
    if name not in globals():
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return globals()[name]


def __dir__() -> list[str]:
    return sorted({*globals(), *import_module(f"{__name__}._public").__all__, *MODULES})
