"""``sknomad reproduce``: its options, its progress and its summary."""

from __future__ import annotations

import argparse
import sys
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Self, cast

from .. import reproduce
from .._numerics.threads import count_of_jobs
from ..reproduce.outcome import Outcome, State, Step
from ..reproduce.record import OURS
from ..reproduce.registry import check_names
from ..reproduce.store import Report, read_report
from ..solvers import cuda_is_available
from .command import DONE, FAILED, INTERRUPTED, as_json, printable, say, show
from .progress_bar import ERASE_LINE, ProgressBar

MOST_JOBS = 4  # more do not pay: those that run alone, and the longest of the others, take the time
VERDICTS = tuple(verdict.value for verdict in reproduce.Verdict)  # in the order in which they are counted


def run(options: argparse.Namespace) -> int:
    """Run the command."""
    if options.list:
        show(as_json(_listed()) if options.json else _listing())
        return DONE
    if bool(options.names) == options.all:
        raise ValueError("reproduce must have names of experiments, or --all, or --list. Pass one of them.")
    check_names(options.names)
    if options.out is None:
        raise ValueError("reproduce must know where to write. Pass --out DIR.")
    if options.out.exists() and not options.out.is_dir():
        raise ValueError(f"--out must be a folder, got the file {str(options.out)!r}. Name another place.")
    names = None if options.all else options.names
    try:
        with ExperimentsBar(quiet=options.quiet) as bar:
            outcomes = reproduce.run_experiments(
                names, options.out, options.quick, options.device, bar.update,
                overwrite=options.overwrite, n_jobs=_jobs(options),
            )  # fmt: skip
    except KeyboardInterrupt:
        say("sknomad: interrupted; what is finished is kept, and the same command goes on from there.")
        return INTERRUPTED
    show(as_json(_facts(options.out, outcomes)) if options.json else _summary(options.out, outcomes))
    return _exit_code(outcomes, named=not options.all)


def _jobs(options: argparse.Namespace) -> int:
    """Processes at a time: as asked for, or as many as pay."""
    if options.jobs is not None:
        return int(options.jobs)
    return 1 if options.device != "cpu" and cuda_is_available() else min(count_of_jobs(-1), MOST_JOBS)


def _exit_code(outcomes: list[Outcome], named: bool) -> int:
    wrong = {State.FAILED, State.SKIPPED} if named else {State.FAILED}
    return FAILED if any(outcome.state in wrong for outcome in outcomes) else DONE


def _listed() -> list[dict[str, object]]:
    """Every experiment, with what it needs."""
    experiments = {name: reproduce.load(name).EXPERIMENT for name in reproduce.EXPERIMENTS}
    return [
        {
            "name": name,
            "title": experiment.title,
            "needs": [*experiment.data, *(["a GPU"] if experiment.needs_gpu else [])],
            "only_when_named": experiment.only_when_named,
        }
        for name, experiment in experiments.items()
    ]


def _listing() -> str:
    lines = []
    for experiment in _listed():
        needs = ", ".join(cast("list[str]", experiment["needs"]))
        remarks = [f"needs {needs}" if needs else "", "only when named" if experiment["only_when_named"] else ""]
        remark = "; ".join(filter(None, remarks))
        lines.append(f"{experiment['name']:<16}{experiment['title']:<44}{remark}".rstrip())
    return "\n".join(lines)


def _facts(out: Path, outcomes: list[Outcome]) -> dict[str, object]:
    """What came of the experiments, ready for JSON."""
    reports = {outcome.name: read_report(out / f"{outcome.name}.json") for outcome in outcomes}
    experiments = [
        {
            "name": outcome.name,
            "state": outcome.state.value,
            "reason": outcome.reason,
            "verdicts": dict(_verdicts(report)) if (report := reports[outcome.name]) is not None else {},
        }
        for outcome in outcomes
    ]
    return {"experiments": experiments, "page": str(out / "index.html")}


def _summary(out: Path, outcomes: list[Outcome]) -> str:
    """Verdicts of the experiments asked for, and where the page is."""
    done = [outcome for outcome in outcomes if outcome.state in (State.COMPUTED, State.KEPT)]
    reports = [report for outcome in done if (report := read_report(out / f"{outcome.name}.json")) is not None]
    total = sum((_verdicts(report) for report in reports), Counter())
    lines = [_line(report) for report in reports]
    lines.append("claims: " + "; ".join(f"{total[word]} {word}" for word in VERDICTS))
    lines.append(f"page: {out / 'index.html'}")
    return "\n".join(lines)


def _line(report: Report) -> str:
    gaps = [proof["gap"] for proof in report["certificates"] if proof["by"] == OURS and proof["gap"] is not None]
    proven = f"largest gap {max(gaps):.1e}" if gaps else ""
    counts = _verdicts(report)
    verdicts = "; ".join(f"{counts[word]} {word}" for word in VERDICTS if counts[word])
    return f"{report['name']:<16}{report['seconds']:7.1f} s  {proven:<22}{verdicts}"


def _verdicts(report: Report) -> Counter[str]:
    return Counter(claim["verdict"] for claim in report["claims"])


class ExperimentsBar(ProgressBar):
    """The experiment and the time left; and, terminal or not, a line for each experiment that ends."""

    REFRESH = 0.5  # seconds between two drawings

    def __init__(self, *, quiet: bool = False) -> None:
        super().__init__(width=24, quiet=quiet)
        self.quiet = quiet
        self.step: Step | None = None
        self.began = self.started = time.monotonic()
        self.forecast_done = self.spent = 0.0  # forecast and real seconds of what was computed so far
        self.stop = threading.Event()
        self.thread = threading.Thread(target=self._refresh, daemon=True)

    def __enter__(self) -> Self:
        if self.is_shown:
            self.thread.start()
        return self

    def erase(self) -> None:
        """Stop drawing and leave an empty line."""
        self.stop.set()
        if self.is_shown:
            self.thread.join()
        super().erase()

    def update(self, step: Step) -> None:
        """Take note of an experiment that begins or has ended."""
        if step.outcome is None:
            self.step, self.began = step, time.monotonic()
            return
        outcome = step.outcome
        if self.step is not None and self.step.name == outcome.name:  # another may have begun beside it
            self.step = None
        if outcome.state is State.COMPUTED:
            self.forecast_done += step.forecast
            self.spent += outcome.seconds
        text = f"{outcome.name}: {outcome.state.value}"
        if outcome.reason:
            text += f": {' '.join(outcome.reason.split())}"
        elif outcome.state is State.COMPUTED:
            text += f" in {outcome.seconds:.1f} s, {_duration(self.seconds_left(step, 1.0))} left"
        if self.quiet:
            return
        sys.stderr.write((ERASE_LINE if self.is_shown else "") + printable(text) + "\n")
        sys.stderr.flush()

    def seconds_left(self, step: Step, share: float) -> float:
        """Rough seconds to the end of all, once a share of the experiment is done."""
        return self._pace() * (step.forecast * (1 - share) + step.forecast_after)

    def _refresh(self) -> None:
        while not self.stop.wait(self.REFRESH):
            step = self.step
            if step is None:
                continue
            share = min((time.monotonic() - self.began) / max(step.forecast * self._pace(), 1e-9), 0.98)
            left = self.seconds_left(step, share)
            elapsed = time.monotonic() - self.started
            text = f"{step.position}/{step.total} {step.name}, {_duration(left)} left"
            self.draw(elapsed / max(elapsed + left, 1e-9), text)

    def _pace(self) -> float:
        """Real over forecast seconds so far: how fast this machine is."""
        return self.spent / self.forecast_done if self.forecast_done else 1.0


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"about {max(seconds, 0):.0f} s"
    return f"about {seconds / 60:.0f} min"
