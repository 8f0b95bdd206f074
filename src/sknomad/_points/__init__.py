"""The forms in which ``Q`` is held, with one set of methods, and what any of them says: components, coordinates."""
