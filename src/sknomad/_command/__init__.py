"""What stands behind the command ``sknomad``."""
