"""The check of a certificate by parts: every part's bound is computed again from the rows themselves."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from .._certificate.upper import GRADES
from .._files.archive import Archive, FormatError, Header
from .._numerics.arrays import Array, Data
from .._numerics.row_blocks import RowBlocks
from .._numerics.validation import check_choice
from .._solving.certificate_file import ROW_CLAIMS, Verification
from .._solving.options import SolveOptions
from .part_file import CLAIM
from .part_proof import PartProofs, bound_of_part, check_division, gram_of_part, joint_bound, members
from .part_solve import PartTask, solve_part
from .row_inertia import clusters_of, digest_of

# Differences between machines in the last digits, as a share of the inertia.
ROUNDING_SHARE = 1e-9
# Where no multiplier is in the file a part is solved again, more and more precisely, until it has the bound claimed.
TOLERANCES, MOST_STEPS = (1e-3, 2e-4, 2e-5), 5000


@dataclass(frozen=True)
class _Claimed:
    """What a file says, checked for its form alone."""

    K: int
    n: int
    grade: str
    numbers: dict[str, float]  # inertia and lower bound
    labels: Array
    proofs: PartProofs


def _read(archive: Archive, grade: str | None) -> _Claimed:
    try:
        return _checked(archive.header, archive.arrays, grade)
    except (FormatError, KeyError, TypeError, ValueError, AttributeError, IndexError, ArithmeticError) as error:
        reason = " ".join(str(error).split())[:300]
        raise FormatError(f"certificate must be one that can be checked, got one by parts: {reason}") from error


def _checked(header: Header, arrays: Mapping[str, Array], grade: str | None) -> _Claimed:
    K, n, labels, claimed = header["K"], header["n"], arrays["labels"], header["claimed"]
    if not isinstance(K, int) or not isinstance(n, int) or labels.dtype.kind not in "iu" or labels.shape != (n,):
        raise FormatError("K, n and one label per point must be whole numbers.")
    count = len(arrays["bounds"])
    proofs = PartProofs(
        arrays["numbers"], arrays["bounds"], tuple(arrays.get(f"N{part}") for part in range(count)), arrays["scales"]
    )
    check_division(proofs.numbers, n, count)
    numbers = {name: float(claimed[name]) for name in ("inertia", "lower_bound")}
    if not all(math.isfinite(value) for value in numbers.values()):
        raise FormatError("claims must be finite numbers.")
    return _Claimed(K, n, check_choice(grade or header["grade"], "grade", GRADES), numbers, labels, proofs)


def verify_parts(archive: Archive, X: Data, grade: str | None) -> Verification:
    """Prove again what a file by parts claims of the rows of `X`."""
    claimed, blocks = _read(archive, grade), RowBlocks(X)
    unknown = {"inertia": math.inf, "lower_bound": 0.0}
    about = ("kmeans", float(claimed.K), claimed.n, blocks.n, claimed.grade, claimed.numbers)
    if blocks.n != claimed.n:
        reason = f"the certificate speaks of {claimed.n} points and the data have {blocks.n}"
        return Verification(*about, unknown, False, False, reason)
    codes = np.unique(claimed.labels, return_inverse=True)[1]
    clusters = clusters_of(blocks, codes)
    inertia = clusters.inertia if len(clusters.sizes) <= claimed.K else math.inf
    bounds = [
        _prove_again(blocks, claimed, codes, part, points, weights)
        for part, (points, weights) in enumerate(members(claimed.proofs.numbers))
    ]
    proven = {"inertia": inertia, "lower_bound": min(joint_bound(bounds, claimed.proofs.numbers), inertia)}
    same = archive.header["data"] == digest_of(blocks, claimed.K)
    reason = _objection(claimed.numbers, proven)
    return Verification(*about, proven, same, not reason, reason)


def _prove_again(
    blocks: RowBlocks, claimed: _Claimed, codes: Array, part: int, points: Array, weights: Array | None
) -> float:
    """The bound of one part from its multiplier, or, where the file has none, from a new solution."""
    target, triangle = float(claimed.proofs.bounds[part]), claimed.proofs.triangle(part)
    if target == 0 or len(points) <= claimed.K:
        return 0.0
    rows = blocks.take(points)
    found = bound_of_part(gram_of_part(rows, weights), claimed.K, triangle, claimed.grade)
    if triangle is not None:
        return found
    nowhere = np.zeros((claimed.K, blocks.d))
    for tol in TOLERANCES:
        if found >= target:
            break
        options = SolveOptions("auto", tol, MOST_STEPS, None, claimed.grade)
        task = PartTask(rows, codes[points], weights, claimed.K, options, math.inf, None, nowhere, True, target)
        found = max(found, solve_part(task).bound)
    return found


def _objection(claimed: dict[str, float], proven: dict[str, float]) -> str:
    slack = ROUNDING_SHARE * abs(proven["inertia"])
    if claimed["lower_bound"] > claimed["inertia"] + slack:
        return "its lower_bound lies above its inertia, so one of them is false"
    is_less = proven["lower_bound"] < claimed["lower_bound"] - slack or proven["inertia"] > claimed["inertia"] + slack
    return "less is proven of these data than is claimed" if is_less else ""


ROW_CLAIMS[CLAIM] = verify_parts
