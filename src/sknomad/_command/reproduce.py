"""``sknomad reproduce``: its options, its progress and its summary."""

from __future__ import annotations

import argparse
import sys
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Self

from .. import reproduce
from ..reproduce.registry import check_names
from ..reproduce.runner import Outcome, State, Step
from ..reproduce.store import Report, read_report
from .command import DONE, FAILED, INTERRUPTED, Commands, printable, say, show
from .progress_bar import ERASE_LINE, ProgressBar

VERDICTS = ("holds", "differs", "fails")  # in the order in which they are counted


def add_reproduce(commands: Commands) -> None:
    """Enter the command ``reproduce``."""
    command = commands.add_parser(
        "reproduce",
        help="the paper's experiments, with a verdict on each claim",
        description="Compute the paper's experiments again: figures, arrays, and whether each claim holds.",
        epilog="An interrupted run goes on from what is done. Exit codes: 0 done, 1 an experiment failed or one that "
        "was named could not run, 2 usage, 130 interrupted.",
    )
    command.set_defaults(run=_reproduce)
    command.add_argument("names", nargs="*", metavar="NAME", help="experiments, see --list")
    command.add_argument("--all", action="store_true", help="all but those that take a GPU or very long")
    command.add_argument("--list", action="store_true", help="what there is")
    command.add_argument("--quick", action="store_true", help="at reduced size, a few minutes in all")
    command.add_argument("--out", type=Path, metavar="DIR", help="folder for the results")
    command.add_argument("--device", default="auto", choices=["auto", "cpu", "cuda"], help="where to solve")
    command.add_argument("--overwrite", action="store_true", help="compute again what is in the folder already")


def _reproduce(options: argparse.Namespace) -> int:
    if options.list:
        show(_listing())
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
        with ExperimentsBar() as bar:
            outcomes = reproduce.run_experiments(
                names, options.out, options.quick, options.device, bar.update, overwrite=options.overwrite
            )
    except KeyboardInterrupt:
        say("sknomad: interrupted; what is finished is kept, and the same command goes on from there.")
        return INTERRUPTED
    show(_summary(options.out, outcomes))
    return _exit_code(outcomes, named=not options.all)


def _exit_code(outcomes: list[Outcome], named: bool) -> int:
    wrong = {State.FAILED, State.SKIPPED} if named else {State.FAILED}
    return FAILED if any(outcome.state in wrong for outcome in outcomes) else DONE


def _listing() -> str:
    lines = []
    for name in reproduce.EXPERIMENTS:
        experiment = reproduce.load(name).EXPERIMENT
        needs = [*experiment.data, *(["a GPU"] if experiment.needs_gpu else [])]
        remark = f"needs {', '.join(needs)}" if needs else ""
        if experiment.only_when_named:
            remark = f"{remark}; only when named".lstrip("; ")
        lines.append(f"{name:<16}{experiment.title:<44}{remark}".rstrip())
    return "\n".join(lines)


def _summary(out: Path, outcomes: list[Outcome]) -> str:
    """Verdicts of the experiments asked for, and where the page is."""
    done = [outcome for outcome in outcomes if outcome.state in (State.COMPUTED, State.KEPT)]
    reports = [report for outcome in done if (report := read_report(out / f"{outcome.name}.json")) is not None]
    total = sum((_verdicts(report) for report in reports), Counter())
    lines = [_line(report) for report in reports]
    lines.append("claims: " + ", ".join(f"{total[word]} {word}" for word in VERDICTS))
    lines.append(f"page: {out / 'index.html'}")
    return "\n".join(lines)


def _line(report: Report) -> str:
    gaps = [proof["gap"] for proof in report["certificates"] if proof["gap"] is not None]
    proven = f"largest gap {max(gaps):.1e}" if gaps else ""
    counts = _verdicts(report)
    verdicts = ", ".join(f"{counts[word]} {word}" for word in VERDICTS if counts[word])
    return f"{report['name']:<16}{report['seconds']:7.1f} s  {proven:<22}{verdicts}"


def _verdicts(report: Report) -> Counter[str]:
    return Counter(claim["verdict"] for claim in report["claims"])


class ExperimentsBar(ProgressBar):
    """The experiment and the time left; and, terminal or not, a line for each experiment that ends."""

    REFRESH = 0.5  # seconds between two drawings

    def __init__(self) -> None:
        super().__init__(width=24)
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
        outcome, self.step = step.outcome, None
        if outcome.state is State.COMPUTED:
            self.forecast_done += step.forecast
            self.spent += outcome.seconds
        text = f"{outcome.name}: {outcome.state.value}"
        if outcome.reason:
            text += f": {' '.join(outcome.reason.split())}"
        elif outcome.state is State.COMPUTED:
            text += f" in {outcome.seconds:.1f} s, {_duration(self.seconds_left(step, 1.0))} left"
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
