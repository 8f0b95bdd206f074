"""
Clusters of any shape
=====================

Two rings are linked like those of a chain. K-means, told that there are two clusters, cuts through both; the
multi-layer method finds them, and their number.
"""

import matplotlib.pyplot as plt
from sklearn.cluster import KMeans

from sknomad import MultiLayerNOMAD
from sknomad.datasets import linked_rings

X, truth = linked_rings(160)
model = MultiLayerNOMAD().fit(X)
print(f"{model.n_clusters_} clusters, confidence {model.confidence_:.2f}, K of the layers {model.schedule_}")

# %%
# Left what k-means makes of it, right the clusters that were found.

plain = KMeans(2, n_init=10, random_state=0).fit(X)
figure = plt.figure(figsize=(8, 4), layout="constrained")
for position, (title, labels) in enumerate([("k-means", plain.labels_), ("MultiLayerNOMAD", model.labels_)]):
    axes = figure.add_subplot(1, 2, position + 1, projection="3d")
    axes.scatter(*X.T, c=labels, cmap="tab10", vmax=9, s=14)
    axes.set_title(title, y=0.97)
plt.show()
