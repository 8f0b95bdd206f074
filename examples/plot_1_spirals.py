"""
Two entangled spirals
=====================

Two spirals are wound into each other. No straight cut tells them apart, and distances mislead: the next turn of
the other spiral is nearer than the next turn of one's own. The learned affinity connects neighbours along each
spiral and nothing across.
"""

import matplotlib.pyplot as plt

from sknomad import NOMAD
from sknomad.datasets import double_swiss_roll

X, truth = double_swiss_roll(200)
model = NOMAD(K=64).fit(X)
print(model.certificate_)

# %%
# The manifolds are found without labels, and the position along each is the share of its points that come before.

figure, (left, middle, right) = plt.subplots(1, 3, figsize=(11, 3.8), layout="compressed")
left.scatter(*X.T, c=model.labels_, cmap="tab10", vmax=9, s=14)
left.set_title(f"{model.n_manifolds_} manifolds")
middle.scatter(*X.T, c=model.order_, cmap="viridis", s=14)
middle.set_title("position along each")
right.imshow(model.affinity_**0.5, cmap="Greys")
right.set_title("learned affinity")
for axes in (left, middle):
    axes.set_aspect("equal")
plt.show()
