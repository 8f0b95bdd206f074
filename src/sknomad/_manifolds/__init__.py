"""What is read off ``Q``: components, coordinates, order, geodesics, trees, and the choice of ``K``."""
