"""The inertia of a clustering of rows in blocks, and a digest of the rows, in passes that hold one block at a time."""

from __future__ import annotations

import hashlib
import math
from typing import NamedTuple

import numpy as np

from .._numerics.arrays import Array, is_sparse
from .._numerics.row_blocks import Blocks
from .._program.float_range import LARGEST_SIZE, SMALLEST_SIZE


class ClusterSums(NamedTuple):
    """What a block adds to the clusters, relative to an origin."""

    totals: Array  # (K, d)
    sizes: Array  # (K,)
    largest: float  # absolute value in the block


def cluster_sums(block: Array, codes: Array, count: int, origin: Array) -> ClusterSums:
    """Sums and sizes of the clusters in a block."""
    indicator = (codes[:, None] == np.arange(count)).astype(np.float64)
    return ClusterSums(indicator.T @ (block - origin), indicator.sum(axis=0), float(np.abs(block).max()))


def block_inertia(block: Array, codes: Array, means: Array, origin: Array) -> float:
    """Squared distances of a block's rows to the means of their clusters."""
    return float(np.sum((block - origin - means[codes]) ** 2))


class Clusters(NamedTuple):
    """A clustering of all rows."""

    means: Array  # (K, d), relative to `origin`
    sizes: Array  # (K,)
    inertia: float
    origin: Array  # (d,), the first row


def clusters_of(blocks: Blocks, codes: Array) -> Clusters:
    """Means, sizes and inertia of a clustering, in two passes; `codes` are clusters from 0, none of them empty."""
    first, count = blocks.take(np.arange(1)), int(codes.max()) + 1
    origin = np.asarray(first.toarray() if is_sparse(first) else first).ravel()
    shares = list(blocks.each(cluster_sums, count, origin, along=codes))
    largest = max(share.largest for share in shares)
    if largest and not SMALLEST_SIZE <= largest <= LARGEST_SIZE:
        raise ValueError(
            f"X must have a size whose square float64 holds to be divided into parts, got {largest:.1e}. Rescale it."
        )
    sizes = np.sum([share.sizes for share in shares], axis=0)
    means = np.sum([share.totals for share in shares], axis=0) / sizes[:, None]
    inertia = math.fsum(blocks.each(block_inertia, means, origin, along=codes))
    return Clusters(means, sizes, inertia, origin)


def digest_of(blocks: Blocks, K: int) -> str:
    """A digest of the number of clusters and of all rows."""
    digest = hashlib.sha256(f"{K!r} {blocks.n} {blocks.d}".encode())
    for part in blocks.each(block_digest):
        digest.update(part)
    return digest.hexdigest()


def block_digest(block: Array) -> bytes:
    """A digest of one block."""
    return hashlib.sha256(np.ascontiguousarray(block).tobytes()).digest()
