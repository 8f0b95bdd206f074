"""``python -m sknomad`` is the command ``sknomad``."""

import sys

from .cli import main

sys.exit(main())
