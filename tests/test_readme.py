"""What README and the pages show is what happens: every snippet of README runs as it stands."""

import re
import shlex
from pathlib import Path

import pytest

from sknomad import cli

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
SNIPPETS = re.findall(r"^```python\n(.*?)^```", README, re.MULTILINE | re.DOTALL)
COMMANDS = re.findall(r"^    (sknomad (?:datasets|fit|cluster|certify) .*)$", README, re.MULTILINE)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("snippet", SNIPPETS[1:])
def test_snippets_run_as_they_stand(snippet, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    exec(compile(snippet, "README.md", "exec"), {"__name__": "snippet"})
    assert capsys.readouterr().out.count("\n") >= snippet.count("print(")


def test_first_snippet_is_short_and_right(capsys):
    names = {}
    assert len([line for line in SNIPPETS[0].splitlines() if line.strip()]) <= 10
    exec(compile(SNIPPETS[0], "README.md", "exec"), names)
    assert len(set(zip(names["truth"].tolist(), names["model"].labels_.tolist(), strict=True))) == 2
    assert names["model"].certificate_.gap <= 1e-3


def test_commands_run_one_after_the_other(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert len(COMMANDS) >= 2
    for command in COMMANDS:
        assert cli.main(shlex.split(command)[1:]) == 0


@pytest.mark.parametrize(
    "page", ["README.md", "CONTRIBUTING.md", *(f"docs/{p.name}" for p in (ROOT / "docs").glob("*.md"))]
)
def test_files_that_pages_name_exist(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    targets = [t for t in re.findall(r"\]\(([^)#\s]+)", text) if not t.startswith(("http:", "https:", "mailto:"))]
    missing = [target for target in targets if not (ROOT / page).parent.joinpath(target).exists()]
    named = [name for name in re.findall(r"`(docs/\w+\.md)`", text) if not (ROOT / name).exists()]
    assert not missing + named


def test_install_line_comes_first():
    assert README.index("pip install") < README.index("##")
    assert README.splitlines()[2].strip().startswith("pip install")
