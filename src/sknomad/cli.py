"""The command ``sknomad``: results on standard output, everything else on standard error.

Exit codes: 0 certified, 1 error, 2 usage, 3 finished without reaching the tolerance, 130 interrupted.
"""

from ._command.main import main

__all__ = ["main"]
