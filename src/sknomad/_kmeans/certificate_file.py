"""The certificate of a clustering as a file: labels, multipliers and cuts, and how they prove what is claimed."""

from __future__ import annotations

import math
import os

import numpy as np

from .._certificate.cuts import Multipliers, check_cuts, clustering_upper_bound
from .._files.archive import FormatError
from .._numerics.arrays import Array
from .._program.problem import KMeansSDP
from .._solving.certificate_file import CLAIMS, Claim, Contents, write_certificate
from .._solving.triangles import pack
from .inertia import kmeans_objective, least_inertia
from .part_file import write_part_certificate
from .part_proof import PartProofs


def write_kmeans_certificate(
    path: str | os.PathLike[str],
    data: str,
    claimed: dict[str, float],
    n_clusters: int,
    grade: str,
    labels: Array,
    proof: Multipliers | PartProofs | None,
) -> None:
    """Write a certificate; `claimed` has the inertia and its lower bound, `data` is the digest of the problem."""
    header = {"claim": "kmeans", "K": n_clusters, "n": len(labels), "grade": grade, "data": data, "claimed": claimed}
    if isinstance(proof, PartProofs):
        write_part_certificate(path, header, labels, proof)
        return
    arrays: dict[str, Array] = {"labels": labels}
    if proof is not None:
        arrays |= {"N": pack(proof.N), "cuts": proof.cuts, "weights": proof.weights}
    write_certificate(path, {**header, "point": None}, arrays)


def _prove_clustering(problem: KMeansSDP, contents: Contents, grade: str) -> dict[str, float]:
    labels = contents.arrays["labels"]
    if labels.dtype.kind not in "iu":
        raise FormatError(f"labels must be whole numbers, got {labels.dtype}.")
    if int(problem.K) != problem.K:
        raise FormatError(f"the number of clusters must be whole, got {problem.K}.")
    inertia = kmeans_objective(problem.gram, labels) if len(np.unique(labels)) <= problem.K else math.inf
    upper = clustering_upper_bound(problem, _multipliers(contents, problem.n), grade=grade)
    # No clustering, so not this one either, is better than the bound: what lies above it is rounding.
    return {"inertia": inertia, "lower_bound": min(least_inertia(problem.gram, int(problem.K)).given(upper), inertia)}


def _multipliers(contents: Contents, n: int) -> Multipliers | None:
    if contents.N is None:
        return None
    multipliers = Multipliers(contents.N, contents.arrays["cuts"], contents.arrays["weights"])
    check_cuts(multipliers.cuts, n)
    return multipliers


CLAIMS["kmeans"] = Claim("inertia", "lower_bound", {"inertia": math.inf, "lower_bound": -math.inf}, _prove_clustering)
