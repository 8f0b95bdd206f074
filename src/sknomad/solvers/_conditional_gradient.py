"""The paper's own solver: conditional gradient on an augmented Lagrangian of ``Q >= 0`` (its Algorithm 2).

With ``Q = W + J``, ``J = 11'/n``, it minimises ``-<D, W> + <G, W + J> + (gamma/2) |[W + J]_-|^2`` over ``W`` psd,
``W 1 = 0``, ``tr W = K - 1`` by conditional gradient steps, and moves ``G <- [G + tau (W + J)]_-`` after each round of
them. ``N = -G >= 0`` is the multiplier that bounds the optimum.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from .._algorithms.frank_wolfe import smallest_eigenpairs, unit_vector
from .._certificate.iterate import Iterate
from .._certificate.lower import as_spectral
from .._files.records import saved
from .._numerics.arrays import Array, Device, to_numpy
from .._numerics.validation import check_choice, check_count, check_integer, check_moderate, check_real
from .._points.forms import DensePoint
from .._program.problem import KMeansSDP
from ._conditional_gradient_steps import ScaledMatrix, best_on_span, exact_step, form_gradient, violations

# n x n arrays alive at the worst moment, judging included.
ARRAYS = 16
# A point of another solver counts as this many outer steps: the first steps of a cold start would wipe it out.
STEPS_OF_A_START = 50
# The data are divided by their largest square: numbers of a state are nowhere near this.
LARGEST_STATE = 1e30

# The authors' stopping tests: largest violation in units of K/n, and root mean square of the negative entries.
STOPS = {"figures": (1e-3, 1e-4), "timing": (1e-2, 1e-4)}


class _Preset(NamedTuple):
    """The constants in which text and code of the paper differ; t counts outer steps, i inner ones, both from 0."""

    inner: int  # conditional gradient steps per outer step
    step: Callable[[int, int], float]  # length of a step
    penalty: Callable[[int], float]  # gamma
    accuracy: Callable[[int, int], float]  # of Lanczos, relative
    descends_only: bool  # whether to skip the step when the smallest eigenvalue is not negative


PRESETS = {
    "paper": _Preset(10, lambda t, i: 2 / (t + i + 4), lambda t: 1.0, lambda t, i: 1 / (t + 2), False),
    "code": _Preset(15, lambda t, i: 2 / (15 * t + i + 2), lambda t: math.sqrt(t + 1), lambda t, i: 1 / (i + 1), True),
}


@saved
@dataclass(frozen=True)
class ConditionalGradientState:
    """All that an outer step depends on."""

    W: Array  # (n, n), Q - J
    G: Array  # (n, n), the multiplier of Q >= 0 with its sign turned, for the scaled data
    step: int  # outer steps taken
    v: Array  # (n,) the last eigenvector

    def check(self, n: int) -> None:
        """Refuse what no step of `n` points can have left: a file may hold anything."""
        for name, shape in (("W", (n, n)), ("G", (n, n)), ("v", (n,))):
            check_moderate(vars(self)[name], f"{name} of a conditional gradient state", shape, LARGEST_STATE)
        check_count(self.step, "the steps of a conditional gradient state")


@saved
@dataclass(frozen=True)
class ConditionalGradient:
    """The paper's conditional gradient method, with the constants of its text or of its authors' code.

    ``Q 1 = 1`` and semidefiniteness hold at every step, ``tr Q = K`` too (with preset "paper", after the first few);
    nonnegativity is approached slowly, as a power of the number of steps. The multiplier feeds `certify`. The two
    presets are different solvers in effect: "code" is by far the faster. One iterate is one outer step, 10 (paper) or
    15 (code) eigenvectors by Lanczos.

    Parameters
    ----------
    preset : {"code", "paper"}, default="code"
        Inner steps, step lengths, penalty and accuracy of Lanczos.
    stop : None, "figures", "timing" or pair of float, default=None
        The authors' stopping test, after which there is no further step: largest violation ``max(-Q_ij)`` relative to
        ``K/n`` below the first number and root mean square of the negative entries below the second. ``"figures"`` is
        (1e-3, 1e-4), ``"timing"`` is (1e-2, 1e-4). None goes on for ever; the certified gap is what stops `solve`.
    penalty : float, default=1
        Factor on the preset's penalty ``gamma``. Not in the paper.
    multiplier_step : float, default=1
        ``tau``, the step of the multiplier.
    data_norm : float, optional
        The data, centred, is divided by this first. None is the largest norm of a *centred* point, the root of the
        largest diagonal entry of ``D``, so that a run does not depend on where the origin lies. The authors' code takes
        the largest norm of an uncentred point, ``np.linalg.norm(X, axis=1).max()``; the paper's text is silent.
    line_search : bool, default=False
        Exact minimisation along each step instead of the preset's length. Not in the paper.
    block : int, default=1
        Eigenvectors per step. With more than one, the step goes to the best matrix on their span for the gradient and
        a quadratic model of the penalty. Not in the paper.

    Examples
    --------
    >>> from sknomad import Gram, KMeansSDP, solve
    >>> problem = KMeansSDP(Gram.from_data([[0.0], [1.0], [10.0], [11.0]]), 2)
    >>> solve(problem, ConditionalGradient(), tol=1e-2).Q.round(1)[0].tolist()
    [0.5, 0.5, 0.0, 0.0]
    """

    preset: str = "code"
    stop: str | Sequence[float] | None = None
    penalty: float = 1.0
    multiplier_step: float = 1.0
    data_norm: float | None = None
    line_search: bool = False
    block: int = 1
    device: ClassVar[Device] = "cpu"
    matrix_free: ClassVar[bool] = False
    takes_weights: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_choice(self.preset, "preset", PRESETS)
        _thresholds(self.stop)
        positive = "a positive real number"
        check_real(self.penalty, "penalty", 1e-12, 1e12, positive)
        check_real(self.multiplier_step, "multiplier_step", 1e-12, 1e12, positive)
        if self.data_norm is not None:
            check_real(self.data_norm, "data_norm", 1e-150, 1e150, "a positive real number or None")
        check_integer(self.block, "block", 1)

    def memory(self, problem: KMeansSDP) -> int:
        """Peak bytes beside the data, judging included: so many n x n arrays."""
        return ARRAYS * 8 * problem.n**2

    def iterates(self, problem: KMeansSDP, start: Iterate | None = None) -> Iterator[Iterate]:
        """Yield one iterate per outer step, for ever or until the authors' own test is met."""
        allowed = _thresholds(self.stop)
        scale = largest_square(problem) if self.data_norm is None else self.data_norm**2
        D = problem.gram.dense() / scale
        W, G, t, v = _initial_state(problem, start, scale)
        A, B = np.empty_like(W), np.empty_like(W)
        while True:
            gamma = self.penalty * PRESETS[self.preset].penalty(t)
            np.subtract(G, D, out=B)
            v, gap = self._inner_steps(W, A, B, gamma, t, v, mass=problem.K - 1)
            t += 1
            Q = W + 1 / problem.n
            G += self.multiplier_step * Q
            np.minimum(G, 0, out=G)
            violation, rmse = violations(Q, problem.K)
            yield Iterate(
                DensePoint(Q),
                N=-scale * G,
                residuals={"violation": violation, "rmse": rmse, "own_gap": gap * scale, "penalty": gamma},
                state=ConditionalGradientState(W, G, t, v),
            )
            if allowed is not None and violation < allowed[0] and rmse < allowed[1]:
                return

    def _inner_steps(
        self, W: Array, A: Array, B: Array, gamma: float, t: int, v: Array | None, *, mass: float
    ) -> tuple[Array, float]:
        """The conditional gradient steps of one outer step, on `W` in place; `A` is room for the gradient.

        Returns the last eigenvector and the lemma's gap of the point before the last step.
        """
        preset, ones, point = PRESETS[self.preset], unit_vector(np.ones(len(W))), ScaledMatrix(W)
        gap = math.inf
        for i in range(preset.inner):
            form_gradient(point, B, gamma, out=A)
            values, V = smallest_eigenpairs(A, ones, self.block, tol=preset.accuracy(t, i), start=v)
            v = V[:, 0]
            if i == preset.inner - 1:
                gap = point.scale * float(np.vdot(A, W)) - mass * float(values[0])
            if preset.descends_only and values[0] >= 0:
                continue
            a, weights = preset.step(t, i), np.array([mass])
            if len(values) > 1:
                V, weights = best_on_span(A, point, V, gamma * a, mass)
            if self.line_search:
                point.settle()
                a = exact_step(W, B, gamma, (V * weights) @ V.T - W)
            point.mix(a, V, weights)
        point.settle()
        assert v is not None  # every preset has inner steps
        return v, gap


def largest_square(problem: KMeansSDP) -> float:
    """The largest squared norm of a centred point, whatever form the data came in."""
    gram = problem.gram
    X = gram.factor
    squares = np.abs(np.diag(gram.dense())) if X is None else np.sum(X**2, axis=1)
    return float(squares.max()) or 1.0


def _initial_state(problem: KMeansSDP, start: Iterate | None, scale: float) -> tuple[Array, Array, int, Array | None]:
    """``W``, ``G``, outer steps done and last eigenvector: as this solver left them, as another did, or none."""
    n = problem.n
    W, G = np.zeros((n, n)), np.zeros((n, n))
    if start is None:
        return W, G, 0, None
    if isinstance(start.state, ConditionalGradientState):
        state = start.state
        state.check(n)
        W, G, v = (np.array(to_numpy(array), dtype=np.float64) for array in (state.W, state.G, state.v))
        return W, G, state.step, v
    multiplier = start.multiplier
    if multiplier is not None:
        N = np.asarray(to_numpy(multiplier), dtype=np.float64)
        np.minimum(-(N + N.T) / (2 * scale), 0, out=G)
    spectral = as_spectral(problem, start.point)
    if spectral is None:
        return W, G, 0, None
    U = np.asarray(to_numpy(spectral.U), dtype=np.float64)
    W += (U * to_numpy(spectral.l)) @ U.T
    return W, G, STEPS_OF_A_START, None


def _thresholds(stop: str | Sequence[float] | None) -> tuple[float, float] | None:
    if stop is None:
        return None
    if isinstance(stop, str):
        return STOPS[check_choice(stop, "stop", STOPS)]
    rule = "a positive real number"
    if not isinstance(stop, tuple | list) or len(stop) != 2:
        choices = ", ".join(map(repr, STOPS))
        raise ValueError(f"stop must be None, one of {choices}, or a pair of positive numbers, got {stop!r}.")
    return check_real(stop[0], "stop[0]", 1e-300, math.inf, rule), check_real(
        stop[1], "stop[1]", 1e-300, math.inf, rule
    )
