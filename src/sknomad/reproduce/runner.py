"""Run experiments: keep what is done, go on after what fails, and write the page."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

from .._numerics.threads import count_of_jobs
from ..datasets import DataUnavailableError
from ..solvers import cuda_is_available
from . import store as _store
from .experiment import Experiment, ExperimentModule
from .figure_style import draw_figure, write_figure
from .outcome import Outcome, State, Step
from .page import check_can_write, write_page
from .record import Arrays, Record, certificates
from .registry import EXPERIMENTS, check_names, load, source_of
from .side_by_side import Plan, Teller
from .store import Facts, Report


class _SkipError(Exception):
    """An experiment cannot be run here; the message says why."""


def run_experiments(
    names: Iterable[str] | None,
    out: str | Path,
    quick: bool = False,
    device: str = "auto",
    progress: Callable[[Step], object] | None = None,
    *,
    overwrite: bool = False,
    n_jobs: int | None = None,
) -> list[Outcome]:
    """Compute, draw and judge experiments; write their files and ``index.html``.

    An experiment is not computed again, only drawn and judged, if `out` already has its arrays from this version and
    of this size. One that fails, or lacks its data, does not stop the others; only a folder that cannot be written to
    does.

    Parameters
    ----------
    names : iterable of str or None
        Keys of `EXPERIMENTS`. None is all but those that only run when named.
    out : path
        Folder for ``NAME.npz``, ``.json``, ``.png``, ``.svg``, ``.py`` (its code) and ``index.html``; made if need be.
    quick : bool
        Run at reduced size.
    device : {"auto", "cpu", "cuda"}
        Where to solve.
    progress : callable, optional
        Called with a `Step` when an experiment begins and when it has ended; with several processes from any thread.
    overwrite : bool
        Compute again what is already there.
    n_jobs : int, optional
        Processes that experiments run in, beside each other; -1 for all cores. Those that read the clock run alone all
        the same, after the others. None is one at a time, in this process.

    Returns
    -------
    list of Outcome
        In the order of the names.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     outcomes = run_experiments(["ring"], folder, quick=True)
    >>> outcomes[0].state.value
    'computed'
    """
    named = names is not None
    chosen = list(dict.fromkeys(names)) if names is not None else list(EXPERIMENTS)
    check_names(chosen)
    check_can_write()
    if device == "cuda" and not cuda_is_available():
        raise ValueError('device must be one that is there, got "cuda" without a CUDA torch. Use "cpu" or "auto".')
    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    forecasts = {name: _forecast(name, quick) for name in chosen}
    plan = Plan.of(forecasts, {name for name in chosen if _about(name).runs_alone}, count_of_jobs(n_jobs))
    teller = Teller(plan, forecasts, progress)
    run = partial(_run, folder=folder, quick=quick, device=device, named=named, overwrite=overwrite)
    outcomes: dict[str, Outcome] = {}
    for outcome in plan.outcomes(run, teller.begin):
        outcomes[outcome.name] = outcome
        write_page(folder, {ended.name: ended.reason for ended in outcomes.values() if ended.reason})
        teller.end(outcome)
    return [outcomes[name] for name in chosen]


def _run(name: str, folder: Path, quick: bool, device: str, named: bool, overwrite: bool) -> Outcome:
    """One experiment; what goes wrong inside it is its outcome, what goes wrong with the folder is raised."""
    kept = None if overwrite else _kept(name, folder, quick)
    try:
        module = load(name)
        arrays, facts = kept or _compute(module, name, quick, device, named)
    except (_SkipError, DataUnavailableError) as error:
        return Outcome(name, State.SKIPPED, str(error))
    except Exception as error:
        return _failed(name, error)
    if kept is None:  # before anything else can fail: these took the time
        _store.write_arrays(folder / f"{name}.npz", arrays, facts)
    try:
        figure = draw_figure(module, arrays)
        claims = [claim.to_json() for claim in module.claims(arrays)]
    except Exception as error:
        return _failed(name, error)
    write_figure(figure, folder, name)
    report: Report = {
        "name": facts.name,
        "quick": facts.quick,
        "seed": facts.seed,
        "seconds": facts.seconds,
        "versions": facts.versions,
        "machine": facts.machine,
        "date": facts.date,
        "title": module.EXPERIMENT.title,
        "caption": module.EXPERIMENT.caption,
        "claims": claims,
        "certificates": certificates(arrays),
    }
    _store.write_json(folder / f"{name}.json", report)
    if (code := source_of(name)) is not None:
        _store.write_text(folder / f"{name}.py", code)
    return Outcome(name, State.COMPUTED if kept is None else State.KEPT, seconds=facts.seconds)


def _compute(module: ExperimentModule, name: str, quick: bool, device: str, named: bool) -> tuple[Arrays, Facts]:
    experiment = module.EXPERIMENT
    _check_can_run(experiment, device, named)
    record = Record(seed=experiment.seed, device=device)
    started = time.perf_counter()
    module.compute(record, quick)
    seconds = time.perf_counter() - started
    here = _store.machine(device)
    return record.arrays(), Facts(name, quick, experiment.seed, seconds, _store.versions(), here, _store.today())


def _failed(name: str, error: Exception) -> Outcome:
    return Outcome(name, State.FAILED, f"{type(error).__name__}: {error}")


def _kept(name: str, folder: Path, quick: bool) -> tuple[Arrays, Facts] | None:
    """Arrays and facts of an earlier run of this version and size, or None."""
    stored = _store.read_arrays(folder / f"{name}.npz")
    if stored is None:
        return None
    facts = stored[1]
    same = facts.quick == quick and facts.versions["sknomad"] == _store.versions()["sknomad"]
    return stored if same else None


def _check_can_run(experiment: Experiment, device: str, named: bool) -> None:
    if experiment.only_when_named and not named:
        raise _SkipError("it takes long and runs only when named.")
    if experiment.needs_gpu and (device == "cpu" or not cuda_is_available()):
        raise _SkipError("it needs a CUDA device and torch (pip install 'sknomad[gpu]').")


def _forecast(name: str, quick: bool) -> float:
    return float(_about(name).seconds[quick])


def _about(name: str) -> Experiment:
    try:
        return load(name).EXPERIMENT
    except Exception:  # will be told when its turn comes
        return Experiment(name, "")
