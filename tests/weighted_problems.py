"""Weighted problems in every form, and what the definitions say of them."""

import numpy as np
import scipy.sparse as sp
from hypothesis import strategies as st

from sknomad import Gram

seeds = st.integers(0, 2**32 - 1)

FORMS = ["data", "sparse", "kernel", "distances"]


def gram_of(form, X, weights=None):
    return {
        "data": lambda: Gram.from_data(X, weights=weights),
        "sparse": lambda: Gram.from_data(sp.csr_matrix(X), weights=weights),
        "kernel": lambda: Gram.from_kernel(X @ X.T, weights=weights),
        "distances": lambda: Gram.from_distances(np.linalg.norm(X[:, None] - X, axis=-1), weights=weights),
    }[form]()


def weighted_gram(X, w):
    """``D_w`` from its definition."""
    centred_X = X - w @ X / w.sum()
    return np.sqrt(np.outer(w, w)) * (centred_X @ centred_X.T)


def clustering_value(X, w, labels):
    """``<D_w, Z>`` of a clustering: between-cluster scatter, from its definition."""
    X = X - w @ X / w.sum()
    return sum(np.sum((w[c] @ X[c]) ** 2) / w[c].sum() for c in (labels == k for k in np.unique(labels)))


def infeasibility(Z, w, K):
    q = np.sqrt(w / w.sum())
    return max(abs(np.trace(Z) - K), np.abs(Z @ q - q).max(), -Z.min(), -np.linalg.eigvalsh(Z)[0])


def random_weights(rng, n):
    return np.exp(rng.uniform(-2, 2, n))


def direction(w):
    return np.sqrt(w) / np.linalg.norm(np.sqrt(w))
