"""The forms in which ``Q`` is held, with one set of methods."""
