"""What is cheap at which number of points, on a CPU and on a GPU: one table for all who must choose.

Every row names what is compared. ``benchmarks/sizes.py`` measures those with a case; what it found is in its results,
in ``cpu_sizes.json`` and ``h200_sizes.json``. The others were seen in whole solves, as
``docs/performance_notes.md`` tells.
"""

from __future__ import annotations

from dataclasses import dataclass

from .arrays import Array, is_on_gpu


@dataclass(frozen=True)
class UpTo:
    """A number of points up to which something is cheap."""

    cpu: int
    gpu: int

    def on(self, template: Array) -> int:
        """The number where the arrays of `template` live."""
        return self.gpu if is_on_gpu(template) else self.cpu


# All eigenvalues for a look at the upper bound, against a few Ritz values and one Cholesky factorisation
# (case "look"). The second row is for gaps that Ritz values are precise enough for; for smaller ones they would call
# for a factorisation too early, and all eigenvalues are kept longer than they are the faster.
ALL_EIGENVALUES = UpTo(cpu=4000, gpu=8000)
ALL_EIGENVALUES_FOR_LARGE_GAPS = UpTo(cpu=4000, gpu=4000)
# A full decomposition to suggest the shift of a Cholesky proof, against block iteration (case "suggestion"). On an H200
# blocks are the faster from 4000 points on; the full one is exact, and a proof then needs no wider margin.
FULL_FOR_A_PROOF = UpTo(cpu=3000, gpu=8000)
# A full decomposition at the start of ADMM, and wherever a warm block has become too narrow, against widening that
# block (case "restart"). It happens once in many steps, so it may cost more than a step.
FULL_FOR_A_RESTART = UpTo(cpu=4000, gpu=10_000)
# A full decomposition in every step of ADMM, against filtering a warm block (case "step"). It is also the exact one,
# and free of any start, so it is kept a little longer than it is the faster.
FULL_FOR_A_STEP = 400
# A full decomposition in every Newton step of an excursion, against following the leading part of the spectrum.
FULL_FOR_A_PLACE = UpTo(cpu=4000, gpu=2000)
# Excursions, whose Newton steps cost such a decomposition and some thirty products, against as many more steps of ADMM.
EXCURSIONS = UpTo(cpu=4000, gpu=10_000)
# One thread for all linear algebra of a solve on a CPU, against all of them (``benchmarks/threads.py``).
ONE_THREAD = 600
