"""Every example in help runs as it stands; exit codes are what help says."""

import shlex

import pytest

from running import run
from sknomad._command.parser import COMMANDS, make_parser

# What makes files, before what reads them.
FIRST = ["datasets", "fit", "cluster", "certify"]


def examples():
    ordered = sorted(COMMANDS, key=lambda c: FIRST.index(c.name) if c.name in FIRST else len(FIRST))
    return list(dict.fromkeys(example for command in ordered for example in command.examples))


def test_all_examples_run_in_one_folder(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for example in examples():
        program, *arguments = shlex.split(example)
        assert program == "sknomad"
        code, out, err = run(capsys, *arguments)
        assert code == 0, (example, out, err)
        assert out or "Wrote" in err


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_help_shows_examples_and_exit_codes(capsys, command):
    code, text, _ = run(capsys, command.name, "--help")
    assert code == 0
    for example in command.examples:
        assert f"\n  {example}\n" in text
    for number in ("0 ", "1 ", "2 ", "3 ", "130 "):
        assert f"\n  {number}" in text


def test_front_page_begins_with_examples():
    lines = [line.strip() for line in make_parser().format_help().splitlines() if line.startswith("  sknomad ")]
    assert len(lines) == 2
    assert set(lines) <= set(examples())


def test_json_everywhere_it_is_a_result(capsys):
    for command in COMMANDS:
        _, text, _ = run(capsys, command.name, "--help")
        assert ("--json" in text) == (command.name != "completion")
