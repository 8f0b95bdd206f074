"""What the paper consists of: every figure, proposition, algorithm and study, to be matched with our claims.

Figures are numbered as printed; a statement outside of figures is named by its section. A claim names one of these
places as its source, so the map of what is covered makes itself.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Place:
    """A part of the paper that a claim can be about."""

    about: str  # what is there
    experiments: tuple[str, ...]  # names of those that speak of it


# Place in the paper -> what is there, in the order of the paper.
PLACES: dict[str, Place] = {
    "Section 1": Place(
        "what is known: hard clusters where they are well apart",
        (
            "kmeans",
            "errata",
        ),
    ),
    "Section 1, online": Place("an online, network-like algorithm as the wish behind it all", ("online",)),
    "Figure 1a": Place("a trefoil knot unfolds", ("opening",)),
    "Figure 1b": Place("two spirals come apart", ("opening",)),
    "Section 2": Place("a kernel that is learned; no artificial clusters", ("tolerance",)),
    "Figure 2": Place("nonnegativity as a threshold on distances", ("ring",)),
    "Section 2.1": Place(
        "points on a ring: circulant matrices",
        (
            "ring",
            "errata",
        ),
    ),
    "Section 2.2": Place("the linear program of the ring", ("ring",)),
    "Section 2.2, K": Place(
        "what K means: the size of a neighbourhood, and its change with density",
        (
            "ring",
            "density",
        ),
    ),
    "Figure 3a": Place("the matrix of the ring for four K", ("ring",)),
    "Figure 3b": Place("its eigenvalues against K", ("ring",)),
    "Figure 3c": Place("its diagonals against K", ("ring",)),
    "Figure 3d": Place(
        "its cone",
        (
            "ring",
            "errata",
        ),
    ),
    "Section 2.3": Place(
        "from a ring to a cone, as K grows",
        (
            "ring",
            "errata",
        ),
    ),
    "Section 3": Place(
        "several manifolds; what K-means cannot do",
        (
            "two-rings",
            "moons",
            "teapots",
            "yale",
            "burer-monteiro",
            "kmeans",
        ),
    ),
    "Figure 4a": Place("two rings", ("two-rings",)),
    "Figure 4b": Place("their Gram matrix and its eigenvectors", ("two-rings",)),
    "Figure 4c": Place("their learned matrix and its eigenvectors", ("two-rings",)),
    "Figure 4d": Place("two cones", ("two-rings",)),
    "Figure 5": Place("two noisy half circles", ("moons",)),
    "Figure 6a": Place("teapots", ("teapots",)),
    "Figure 6b": Place("faces", ("yale",)),
    "Figure 6c": Place(
        "handwritten ones and twos",
        (
            "mnist-1",
            "mnist-2",
        ),
    ),
    "Figure 7": Place("two objects on a turntable", ("turntable",)),
    "Figure 8a": Place("a square in ten dimensions", ("square",)),
    "Figure 8b": Place("columns of its matrix as patches", ("square",)),
    "Multi-layer algorithm": Place("NOMAD on its own matrix, with smaller K", ("multilayer",)),
    "Section 3.1": Place("what the layers do", ("multilayer",)),
    "Figure 9": Place("layers on circles, moons and spirals", ("multilayer",)),
    "Figures 17 to 19": Place("further schedules of layers", ("multilayer",)),
    "Section 3.2": Place(
        "how geodesics are compared",
        (
            "geodesics",
            "errata",
        ),
    ),
    "Figure 10a": Place("geodesics on one manifold", ("geodesics",)),
    "Figure 10b": Place("geodesics on two manifolds", ("geodesics",)),
    "Section 4": Place(
        "a low-rank problem, and complete positivity",
        (
            "ring",
            "cp-rank",
            "burer-monteiro",
        ),
    ),
    "Proposition (circulant)": Place("complete positivity for small and for large K", ("ring",)),
    "Figure 11": Place("rank of nonnegative factors", ("cp-rank",)),
    "Figure 12": Place("the low-rank solver at several ranks", ("burer-monteiro",)),
    "Section 5.1": Place("the augmented Lagrangian of the conditional gradient method", ("errata",)),
    "Algorithm 1": Place(
        "conditional gradient with an orthogonality constraint",
        (
            "frank-wolfe",
            "errata",
        ),
    ),
    "Lemma (dual)": Place(
        "an upper bound from the same eigenvector",
        (
            "frank-wolfe",
            "errata",
        ),
    ),
    "Proposition (accuracy)": Place(
        "the error after t steps",
        (
            "frank-wolfe",
            "errata",
        ),
    ),
    "Algorithm 2": Place("conditional gradient for NOMAD", ("convergence",)),
    "Complexity": Place(
        "cost of a step, and number of steps",
        (
            "cost",
            "errata",
        ),
    ),
    "Section 5.4": Place(
        "accuracy and time of the solvers",
        (
            "convergence",
            "solvers",
            "timing",
        ),
    ),
    "Figure 13": Place(
        "convergence",
        (
            "convergence",
            "timing",
        ),
    ),
    "Figure 14": Place("solvers side by side", ("solvers",)),
    "Figure 15": Place("time", ("timing",)),
    "Figure 16": Place(
        "all zeros of MNIST",
        (
            "mnist-zeros",
            "errata",
        ),
    ),
    "Section 6": Place("conclusions", ("cost",)),
    "Appendix A": Place(
        "the relation to K-means",
        (
            "kmeans",
            "errata",
        ),
    ),
    "Appendix D": Place("symmetric NMF", ("errata",)),
    "Appendix E": Place("the low-rank solver", ("burer-monteiro",)),
}
