"""The paper's experiments, each a module with ``compute``, ``draw`` and ``claims``.

A module ``experiments/some_name.py`` is the experiment ``some-name``. It has

* ``EXPERIMENT``: an `Experiment`, with title, caption, and what it needs;
* ``compute(record, quick)``: everything that takes time; it keeps its arrays on a `Record`;
* ``draw(arrays)``: the figure, from the arrays alone; decorated with `styled`;
* ``claims(arrays)``: what the paper says and whether it holds, a list of `Claim`.
"""

from __future__ import annotations

from .claims import Claim, Verdict
from .experiment import Experiment
from .outcome import Outcome
from .record import Record
from .registry import EXPERIMENTS, load
from .runner import run_experiments

__all__ = ["EXPERIMENTS", "Claim", "Experiment", "Outcome", "Record", "Verdict", "load", "run_experiments"]
