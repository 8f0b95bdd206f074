"""Certificates as files, and their check by somebody else: from the data alone, trusting no number in the file.

A file claims bounds and holds what they rest on: multipliers, cuts, and labels or a point. Any such contents give true
bounds, only looser ones if they are poor. So a check computes the bounds again and compares: whatever was edited, what
is reported is true of the data given.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .._certificate.lower import feasible_value, make_feasible
from .._certificate.upper import GRADES, nonnegative_part, upper_bound
from .._files.archive import Archive, FormatError, Header, Kind, read_archive, write_archive
from .._files.records import Decoder, Encoder
from .._landmark.multiplier import LandmarkMultiplier
from .._numerics.arrays import UNIT_ROUNDOFF, Array, Data, frobenius, to_numpy
from .._numerics.validation import check_choice, check_table
from .._points.point import Point
from .._program.duplicates import read_groups
from .._program.gram import Gram
from .._program.inputs import METRICS, make_gram
from .._program.problem import KMeansSDP
from .._version import __version__
from .checkpoint import fingerprint
from .solution import Solution
from .triangles import pack, unpack

CERTIFICATE = Kind("certificate", 1, "Pass a file that certificate.save(path) wrote.")

# Differences between machines in the last digits, as a multiple of the usual estimate of rounding.
ROUNDING = 64


@dataclass(frozen=True)
class Verification:
    """What a certificate claims, what its contents prove of the data given, and whether the one is the other.

    Examples
    --------
    >>> import os, tempfile
    >>> from sknomad import certify_kmeans, verify_certificate
    >>> X = [[0.0], [1.0], [10.0], [11.0]]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "proof.cert")
    ...     certify_kmeans(X, [0, 0, 1, 1]).save(path)
    ...     result = verify_certificate(path, X)
    >>> result.claim, result.n, result.same_data, result.claimed["inertia"]
    ('kmeans', 4, True, 1.0)
    """

    claim: str  # "kmeans" or "nomad"
    K: float  # number of clusters, or trace
    n: int  # points of the certificate, equal ones counted once where it has weights
    n_data: int  # points of the data, counted alike
    grade: str  # of the proof computed here
    claimed: dict[str, float]  # by name: inertia and lower_bound, or lower and upper
    proven: dict[str, float]  # computed here; true of these data whatever the file says
    same_data: bool  # whether these are, to the bit, the data it was made for
    holds: bool  # whether everything claimed is proven, up to rounding
    reason: str = ""  # one sentence, where it does not hold


class Contents(NamedTuple):
    """What a file holds, beside its claims."""

    header: Header
    arrays: Mapping[str, Array]
    N: Array | None  # (n, n) the multiplier of Q >= 0; None where there is none


@dataclass(frozen=True)
class Claim:
    """One kind of claim: two numbers, and how the contents of a file prove them."""

    small: str  # the number that claims more the smaller it is
    large: str  # the one that claims more the larger it is
    unknown: dict[str, float]  # what is known of both where nothing is
    prove: Callable[[KMeansSDP, Contents, str], dict[str, float]]  # of a problem, from contents, in a grade


# Kinds of claims by name; that of K-means is entered where it is made.
CLAIMS: dict[str, Claim] = {}
# Those that are about rows of data, which no Gram matrix stands for: how a file, the rows and a grade become a verdict.
ROW_CLAIMS: dict[str, Callable[[Archive, Data, str | None], Verification]] = {}


def write_solution_certificate(path: str | os.PathLike[str], solution: Solution) -> None:
    """A certificate of both bounds of a solution: of those that its point and the multiplier of its iterate prove."""
    problem, grade, encoder = solution.problem, solution.certificate.grade, Encoder()
    N = solution.iterate.multiplier
    arrays = {} if N is None else {"N": pack(np.asarray(to_numpy(N)))}
    if problem.gram.roots is not None:
        arrays["roots"] = problem.gram.roots
    point = encoder.encode(solution.point.unmixed, "the point")
    landmarks = encoder.encode(solution.landmarks, "the landmarks")
    header = {
        "claim": "nomad",
        "K": problem.K,
        "n": problem.n,
        "grade": grade,
        "data": fingerprint(problem),
        "claimed": _solution_bounds(problem, solution.point.unmixed, N, solution.landmarks, grade),
        "point": point,
        "landmarks": landmarks,
    }
    write_certificate(path, header, arrays | encoder.arrays)


def write_certificate(path: str | os.PathLike[str], header: Header, arrays: dict[str, Array]) -> None:
    """Write claims and what they rest on; numbers that are not known are written as nothing."""
    claimed = {name: value if math.isfinite(value) else None for name, value in header["claimed"].items()}
    write_archive(path, CERTIFICATE, {"sknomad": __version__, **header, "claimed": claimed}, arrays)


def verify_certificate(
    path: str | os.PathLike[str],
    X: Data,
    *,
    metric: str = "euclidean",
    grade: str | None = None,
    sample_weight: ArrayLike | None = None,
) -> Verification:
    """Check a certificate against the data: compute from its contents what they prove, and compare with its claims.

    Parameters
    ----------
    path : path
        What ``certificate.save(path)`` or ``solution.save_certificate(path)`` wrote.
    X : array-like or sparse matrix
        The data, or what `metric` says.
    metric : {"euclidean", "precomputed", "precomputed_distance"}, default="euclidean"
    grade : {"eigen", "verified"}, optional
        Strength of the proof to compute; None is that of the certificate.
    sample_weight : array-like of shape (n,), optional
        The weights that the certificate was made for; others are refused.

    Returns
    -------
    Verification
        A `FormatError` is raised for a file that is no certificate.

    Examples
    --------
    >>> import os, tempfile
    >>> from sknomad import certify_kmeans
    >>> X = [[0.0], [1.0], [10.0], [11.0]]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "proof.cert")
    ...     certify_kmeans(X, [0, 0, 1, 1]).save(path)
    ...     verify_certificate(path, X).holds, verify_certificate(path, [[0.0], [9.0], [10.0], [11.0]]).holds
    (True, False)
    """
    check_choice(metric, "metric", METRICS)
    archive = read_archive(path, CERTIFICATE)
    prove_rows = ROW_CLAIMS.get(str(archive.header.get("claim")))
    if prove_rows is not None and metric == METRICS[0] and sample_weight is None:
        return prove_rows(archive, X, grade)
    gram = _gram_of(X, metric, sample_weight, archive.arrays)
    has_weights = _same_weights(archive.arrays.get("roots"), gram.roots)
    if not has_weights and sample_weight is not None:
        raise ValueError(
            "sample_weight must be what the certificate was made with, got other weights (of equal points: their sum). "
            "Pass verify_certificate(path, X, sample_weight=...) the right ones."
        )
    try:
        if not has_weights:
            return _of_other_data(archive, gram, grade)
        return _verify(archive, gram, grade)
    except (FormatError, KeyError, TypeError, ValueError, AttributeError, IndexError, ArithmeticError) as error:
        reason = " ".join(str(error).split())[:300]
        raise FormatError(f"certificate must be one that can be checked, got {str(path)!r}: {reason}") from error


def _gram_of(X: Data, metric: str, sample_weight: ArrayLike | None, arrays: dict[str, Array]) -> Gram:
    """Of the points that the certificate speaks of: equal ones are one where it has weights, as in `NOMAD`."""
    plain = make_gram(X, metric)  # with all checks of the data
    if "roots" not in arrays and sample_weight is None:
        return plain
    table = check_table(X, of_points=metric == METRICS[0])
    groups = read_groups(sample_weight, table, metric)
    gram = plain
    if groups is not None:
        gram = make_gram(groups.merged(table, pairwise=metric != "euclidean"), metric, groups.weights)
    return gram


def _same_weights(found: Array | None, roots: Array | None) -> bool:
    if found is None or roots is None:
        return found is None and roots is None
    if found.ndim != 1 or found.dtype.kind != "f":
        raise FormatError(f"certificate must have roots of weights, one per point, got shape {found.shape}.")
    # With another number of points the data are others, which is reported and not refused.
    return len(found) != len(roots) or bool(np.allclose(found, roots, rtol=1e-12, atol=0))


def _verify(archive: Archive, gram: Gram, grade: str | None) -> Verification:
    header, arrays = archive.header, archive.arrays
    name, claim, grade, claimed = _claims(header, grade)
    n, K = int(header["n"]), header["K"]
    if n != gram.n:
        return _of_other_data(archive, gram, grade)
    problem = KMeansSDP(gram, K)
    N = unpack(arrays["N"], n) if "N" in arrays else None
    proven = claim.prove(problem, Contents(header, arrays, N), grade)
    reason = _objection(claim, claimed, proven, rounding(problem, N))
    same = header["data"] == fingerprint(problem)
    return Verification(name, problem.K, n, n, grade, claimed, proven, same, not reason, reason)


def _claims(header: Header, grade: str | None) -> tuple[str, Claim, str, dict[str, float]]:
    """The kind of claim by name and as it is, the grade to check it in, and the numbers claimed."""
    name = check_choice(header["claim"], "claim", CLAIMS)
    claim = CLAIMS[name]
    grade = check_choice(header["grade"] if grade is None else grade, "grade", GRADES)
    return name, claim, grade, {k: _number(header["claimed"][k], unknown) for k, unknown in claim.unknown.items()}


def _of_other_data(archive: Archive, gram: Gram, grade: str | None) -> Verification:
    """Nothing is proven of data that have another number of points, or points that are equal where others are."""
    name, claim, grade, claimed = _claims(archive.header, grade)
    n, K = int(archive.header["n"]), float(archive.header["K"])
    reason = "the data have other points that are equal"
    if n != gram.n:
        reason = f"the certificate speaks of {n} points and the data have {gram.n}"
    if "roots" in archive.arrays:  # of equal points, or of points with weights
        reason += "; if it was made with sample_weight, pass the same"
    return Verification(name, K, n, gram.n, grade, claimed, claim.unknown, False, False, reason)


def _objection(claim: Claim, claimed: dict[str, float], proven: dict[str, float], slack: float) -> str:
    """Why a claim does not hold; nothing where it does."""
    small, large = claim.small, claim.large
    if proven[large] > proven[small] or claimed[large] > claimed[small] + slack:
        return f"its {large} lies above its {small}, so one of them is false"
    if not (proven[small] <= claimed[small] + slack and proven[large] >= claimed[large] - slack):
        return "less is proven of these data than is claimed"
    return ""


def _number(value: object, unknown: float) -> float:
    if value is None:
        return unknown
    if not isinstance(value, int | float) or isinstance(value, bool) or not math.isfinite(value):
        raise FormatError(f"a claim must be a finite number or nothing, got {str(value)[:40]!r}.")
    return float(value)


def _solution_bounds(
    problem: KMeansSDP, point: Point, N: Array | None, landmarks: LandmarkMultiplier | None, grade: str
) -> dict[str, float]:
    feasible = make_feasible(problem, point, steps=0)
    lower = -math.inf if feasible is None else feasible_value(problem, feasible)
    upper = upper_bound(problem, N, grade=grade)
    if landmarks is not None:
        upper = min(upper, landmarks.upper_bound(problem, grade))
    return {"lower": lower, "upper": upper}


def _prove_bounds(problem: KMeansSDP, contents: Contents, grade: str) -> dict[str, float]:
    decoder = Decoder(contents.arrays)
    point, landmarks = (decoder.decode(contents.header.get(name)) for name in ("point", "landmarks"))
    if not isinstance(landmarks, LandmarkMultiplier | None):
        raise FormatError(f"landmarks must be a multiplier between landmarks, got {type(landmarks).__name__}.")
    return _solution_bounds(problem, point, contents.N, landmarks, grade)


CLAIMS["nomad"] = Claim("upper", "lower", {"lower": -math.inf, "upper": math.inf}, _prove_bounds)


def rounding(problem: KMeansSDP, N: Array | None) -> float:
    """How far the same bound may come out apart on two machines."""
    n, gram = problem.n, problem.gram
    size = problem.K * (gram.norm + abs(gram.trace))
    if N is not None and (positive := nonnegative_part(problem, N)) is not None:
        size += problem.K * frobenius(positive) + float(positive.sum()) / n
    # However large a multiplier is, it must not excuse a difference that anybody would see.
    return min(ROUNDING * n * UNIT_ROUNDOFF * size, 1e-9 * (abs(gram.trace) + gram.norm))
