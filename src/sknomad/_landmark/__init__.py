"""Upper bounds for any number of points near curves and surfaces, from barycentric weights on a few landmarks."""
