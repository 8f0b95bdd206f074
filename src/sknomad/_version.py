"""Versions as they are installed: of this library and of others."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version


def installed_version(package: str) -> str | None:
    """Version of an installed distribution, or None."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None


# A source tree on the path need not be installed.
__version__ = installed_version("sknomad") or "unknown"
