"""Algorithms of use beyond this program: conditional gradients, symmetric factors, completely positive ones."""
