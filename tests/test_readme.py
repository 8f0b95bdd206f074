"""What README and the pages show is what happens: every snippet of README runs as it stands."""

import importlib
import re
import shlex
from pathlib import Path

import pytest

import sknomad
from sknomad import cli
from sknomad._command import parser

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


def snippets_of(text):
    """Python in a page."""
    return re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


SNIPPETS = snippets_of(README)
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


def test_commands_are_examples_of_help():
    """Which are run in ``tests/command/test_help.py``."""
    examples = {example for command in parser.COMMANDS for example in command.examples}
    assert len(COMMANDS) >= 2
    assert set(COMMANDS) <= examples


# Pages with snippets that build on each other, from top to bottom.
PAGES = ["certificate", "choosing_K", "recipes", "start"]


@pytest.mark.parametrize("page", PAGES)
def test_snippets_of_pages_run(page, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "snippet"}
    for snippet in snippets_of((ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8")):
        exec(compile(snippet, page, "exec"), names)
    assert capsys.readouterr().out


def test_start_shows_what_the_command_prints(tmp_path, monkeypatch, capsys):
    """Up to the digits that depend on the machine: those of bounds and seconds."""
    monkeypatch.chdir(tmp_path)
    page = (ROOT / "docs" / "start.md").read_text(encoding="utf-8")
    for command in re.findall(r"^    sknomad (.*rings\.csv.*)$", page, re.MULTILINE):
        assert cli.main(shlex.split(command)) == 0
    printed = capsys.readouterr().out.splitlines()
    shown = re.search(r"^```text\n(.*?)^```", page, re.MULTILINE | re.DOTALL).group(1).splitlines()
    assert shown[:3] == printed[:3]
    assert [line.split()[0] for line in shown] == [line.split()[0] for line in printed]


def test_every_public_name_is_on_the_api_page():
    text = (ROOT / "docs" / "api.rst").read_text(encoding="utf-8")
    listed = set()
    for section in text.split(".. currentmodule:: ")[1:]:
        module, *lines = section.splitlines()
        listed |= {(module, line.strip()) for line in lines if re.fullmatch(r"   \w+", line)}
    modules = re.findall(r"currentmodule:: (\S+)", text)
    public = {(name, each) for name in modules for each in importlib.import_module(name).__all__}
    assert listed == public
    assert {name.removeprefix("sknomad.") for name in modules[1:]} == set(sknomad.MODULES)


@pytest.mark.parametrize(
    "page", ["README.md", "CONTRIBUTING.md", *(f"docs/{p.name}" for p in (ROOT / "docs").glob("*.md"))]
)
def test_files_that_pages_name_exist(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    # The gallery is made with the site.
    elsewhere = ("http:", "https:", "mailto:", "gallery/")
    targets = [target for target in re.findall(r"\]\(([^)#\s]+)", text) if not target.startswith(elsewhere)]
    missing = [target for target in targets if not (ROOT / page).parent.joinpath(target).exists()]
    named = [name for name in re.findall(r"`(docs/\w+\.md)`", text) if not (ROOT / name).exists()]
    assert not missing + named


def test_install_line_comes_first():
    assert README.index("pip install") < README.index("##")
    assert README.splitlines()[2].strip().startswith("pip install")


def test_every_page_is_in_the_contents_of_the_site():
    contents = (ROOT / "docs" / "index.md").read_text(encoding="utf-8").splitlines()
    pages = {page.stem for page in (ROOT / "docs").glob("*.md")} - {"index"}
    assert pages <= set(contents)
