"""Data sets of others: read from a folder or a cache, else downloaded, and always checked."""

from __future__ import annotations


class DataUnavailableError(OSError):
    """A data set is neither on this machine nor to be had; the message says where it was looked for."""


class DataDamagedError(ValueError):
    """A file of a data set is not what it should be; the message names it."""
