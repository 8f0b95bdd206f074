"""
How good is k-means?
====================

K-means ends in a local optimum and does not say how far from the best it is. The K-means SDP bounds the inertia of
*every* clustering from below, so that the answer is known to be within a few per cent, or exactly, the best.
"""

import matplotlib.pyplot as plt
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris

from sknomad import certify_kmeans

X = load_iris().data
numbers = [2, 3, 4, 5, 6]
proofs = [certify_kmeans(X, KMeans(k, n_init=10, random_state=0).fit(X).labels_, tol=1e-2) for k in numbers]

# %%
# The dots are proven: no clustering lies below them. What k-means could still gain lies between dot and dash.

figure, axes = plt.subplots(figsize=(6, 3.6), layout="constrained")
found, bounds = [proof.inertia for proof in proofs], [proof.lower_bound for proof in proofs]
axes.plot(numbers, found, "_", markersize=16, markeredgewidth=2.5, label="inertia of k-means")
axes.plot(numbers, bounds, "o", label="proven: none is below")
axes.set(xlabel="number of clusters", ylabel="inertia", xticks=numbers, ylim=(0, None), title="iris")
axes.legend()
plt.show()
for number, proof in zip(numbers, proofs, strict=True):
    print(f"{number} clusters: at most {100 * proof.gap:.1f} % could be saved")
