"""The paper's experiments, each a module with ``compute``, ``draw`` and ``claims``.

A module ``some_name.py`` is the experiment ``some-name``. It has

* ``TITLE``, ``CAPTION``: a few words, and one to three plain sentences;
* ``DATA``: names of the data sets it needs, of ``"mnist"``, ``"teapots"``, ``"yale"``, ``"coil100"``;
* ``SEED``: of all its random numbers;
* ``compute(quick, device="auto")``: everything that takes time, as a dictionary of arrays (see `Record`);
* ``draw(arrays)``: the figure, from the arrays alone; decorated with `styled`;
* ``claims(arrays)``: what the paper says and whether it holds, a list of `Claim`;
* optionally ``NEEDS_GPU = True``, ``ONLY_WHEN_NAMED = True`` (left out of ``--all``), and ``SECONDS = (full, quick)``,
  roughly what it takes on two cores, for the forecast of the time left.
"""

from __future__ import annotations

from .claims import Claim, Verdict
from .record import Record
from .registry import EXPERIMENTS, load
from .runner import Outcome, run_experiments

__all__ = ["EXPERIMENTS", "Claim", "Outcome", "Record", "Verdict", "load", "run_experiments"]
