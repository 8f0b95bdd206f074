"""`Record`: the arrays of one experiment, with the certificate of every solve that made them."""

from __future__ import annotations

import warnings
from typing import Any, Literal, TypeAlias, TypedDict, cast, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning

from .. import Certificate, Gram, KMeansSDP, Solution, Status, solve
from ..solvers import Auto

Arrays = dict[str, NDArray[Any]]

PREFIX = "certificate/"
OURS = "ours"


class Proof(TypedDict):
    """A certificate on record, as plain numbers; in a file those that are not finite are None."""

    name: str  # of the solve
    K: float
    n: int
    lower: float | None
    upper: float | None
    gap: float | None
    grade: str
    seconds: float
    iterations: int
    by: str  # the solver: "ours", or another's that is compared with it


Field: TypeAlias = Literal["K", "n", "lower", "upper", "gap", "grade", "seconds", "iterations", "by"]
FIELDS: tuple[Field, ...] = get_args(Field)


class Record:
    """Collects what an experiment computes.

    Parameters
    ----------
    seed : int
        Of all random numbers of the experiment, through `rng`.
    device : {"auto", "cpu", "cuda"}
        Where `solve` computes.

    Attributes
    ----------
    rng : numpy.random.Generator
        Made from `seed`.

    Examples
    --------
    >>> record = Record(seed=0)
    >>> solution = record.solve("pairs", [[0.0], [1.0], [10.0], [11.0]], 2)
    >>> record["Q"] = solution.Q
    >>> sorted(record.arrays())[:4]
    ['Q', 'certificate/pairs/K', 'certificate/pairs/by', 'certificate/pairs/gap']
    """

    def __init__(self, seed: int = 0, device: str = "auto") -> None:
        self.seed, self.device = seed, device
        self.rng = np.random.default_rng(seed)
        self._arrays: Arrays = {}

    def __setitem__(self, name: str, array: ArrayLike) -> None:
        stored = np.asarray(array)
        if stored.dtype == object:
            raise TypeError(f"{name} must be an array of numbers or text, got objects, which a file cannot keep.")
        self._arrays[name] = stored

    def __getitem__(self, name: str) -> NDArray[Any]:
        return self._arrays[name]

    def solve(self, name: str, data: ArrayLike | Gram, K: float, tol: float = 1e-3, **options: Any) -> Solution:
        """Solve for points or a `Gram`, and keep the certificate under `name`.

        `options` are those of `sknomad.solve`. A gap above `tol` raises no warning here: the certificate tells. The
        solver is that of the estimators, so that up to 400 points no verdict depends on a seed.
        """
        gram = data if isinstance(data, Gram) else Gram.from_data(_rotated(np.asarray(data, dtype=np.float64)))
        solver = options.pop("solver", Auto.for_tolerance(tol, self.device).seeded(0))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            solution = solve(KMeansSDP(gram, K), solver, tol=tol, **options)
        if solution.status is Status.INTERRUPTED:  # an experiment cut short must not pass for a finished one
            raise KeyboardInterrupt
        self.certificate(name, solution.problem, solution.certificate, solution.seconds, solution.n_iter)
        return solution

    def certificate(
        self,
        name: str,
        problem: KMeansSDP,
        certificate: Certificate,
        seconds: float,
        iterations: int,
        by: str = OURS,
    ) -> None:
        """Keep a certificate that came about in another way than through `solve`; `by` names another's solver."""
        proof: Proof = {
            "name": name,
            "K": problem.K,
            "n": problem.n,
            "lower": certificate.lower,
            "upper": certificate.upper,
            "gap": certificate.gap,
            "grade": certificate.grade,
            "seconds": seconds,
            "iterations": iterations,
            "by": by,
        }
        for field in FIELDS:
            self._arrays[f"{PREFIX}{name}/{field}"] = np.asarray(proof[field])

    def arrays(self) -> Arrays:
        """All arrays by name."""
        return dict(self._arrays)


def _rotated(X: NDArray[np.float64]) -> NDArray[np.float64]:
    """Points in the axes they span: images have many more pixels than there are images, and products get cheap."""
    n, d = X.shape
    if d <= n:
        return X
    left, singular, _ = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)
    return left * singular


def certificates(arrays: Arrays) -> list[Proof]:
    """The certificates among `arrays`, one dictionary of plain numbers each, in the order of the solves.

    Examples
    --------
    >>> record = Record()
    >>> _ = record.solve("pairs", [[0.0], [1.0], [10.0], [11.0]], 2)
    >>> certificates(record.arrays())[0]["n"]
    4
    """
    names = [key[len(PREFIX) : -2] for key in arrays if key.startswith(PREFIX) and key.endswith("/K")]
    rows = [{"name": name} | {field: arrays[f"{PREFIX}{name}/{field}"].item() for field in FIELDS} for name in names]
    return cast(list[Proof], rows)
