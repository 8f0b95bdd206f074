"""
Choosing K by a path
====================

A path solves for several ``K``, each from the solution before, and shows where the parts of the data appear and
stay.
"""

import matplotlib.pyplot as plt

from sknomad import nomad_path
from sknomad.datasets import two_rings

X, truth = two_rings(100)
path = nomad_path(X, [3, 5, 8, 12, 16, 24])

# %%
# Too small a ``K`` sees one piece. From some ``K`` on there are two, and they stay.

figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3.4), layout="constrained")
left.step(path.K_values, path.n_components, where="mid", marker="o")
left.set(xlabel="K", ylabel="parts", yticks=[1, 2, 3])
right.fill_between(path.K_values, path.lower, path.upper, alpha=0.4)
right.plot(path.K_values, path.upper, marker="o")
right.set(xlabel="K", ylabel="optimum", title=f"proven within {path.largest_gap:.1e}")
plt.show()
