"""Claims: five verdicts, a source for each, and texts that cannot contradict their numbers."""

import ast
import string
from pathlib import Path

import pytest

from sknomad.reproduce import EXPERIMENTS, Claim, Verdict
from sknomad.reproduce import claims as module
from sknomad.reproduce.claims import Source, finding, judge, paper
from sknomad.reproduce.coverage import PLACES

ROOM = Path(module.__file__).parent
OPTIONS = {"source", "mend", "untested"}


def calls(*names):
    """Calls of the functions named, in all files of the room, each with the file it is in."""
    for path in sorted(ROOM.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in names:
                yield pytest.param(path, node, id=f"{path.stem}:{node.lineno}")


def texts(node):
    """String literals in an expression; conditional ones count with both branches."""
    return [part.value for part in ast.walk(node) if isinstance(part, ast.Constant) and isinstance(part.value, str)]


def gaps(text):
    return {name for _, name, _, _ in string.Formatter().parse(text) if name is not None}


@pytest.mark.parametrize(("path", "call"), [*calls("judge")])
def test_every_text_of_a_claim_is_filled_from_the_same_values(path, call):
    given = {keyword.arg for keyword in call.keywords} - OPTIONS
    sentence, number, _, why = call.args[:4]
    if isinstance(sentence, ast.Name):  # handed on by a study that several experiments share
        sentence = ast.Constant("")
    for part in (sentence, number, why):
        assert isinstance(part, ast.Constant), "texts are literals with gaps, so that only values can fill them"
        assert gaps(part.value) <= given
    assert gaps(number.value), "a number is measured"
    assert gaps(why.value), "a reason speaks of what was measured"
    options = {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg in OPTIONS}
    for option in ("mend", "untested"):
        for text in texts(options[option]) if option in options else []:
            assert gaps(text) <= given
    may_be_ours = len(call.args) < 5 or "OURS" in ast.unparse(call.args[4])
    if may_be_ours:
        assert any(any(c.isdigit() for c in text) or gaps(text) for text in texts(options["mend"]))


@pytest.mark.parametrize(("path", "call"), [*calls("finding")])
def test_findings_are_filled_from_their_values(path, call):
    given = {keyword.arg for keyword in call.keywords}
    assert all(gaps(part.value) <= given for part in call.args)
    assert gaps(call.args[1].value)


def test_every_place_of_the_paper_has_its_claims():
    cited = {}
    for case in calls("paper", "Erratum"):
        path, call = case.values
        if path.stem not in ("claims", "coverage") and isinstance(call.args[0], ast.Constant):
            cited.setdefault(call.args[0].value, set()).add(path.stem)
    # Filled by the experiment on streams.
    assert set(PLACES) - {"Section 1, online"} <= set(cited), set(PLACES) - set(cited)
    assert set(cited) <= set(PLACES)


@pytest.mark.parametrize("place", PLACES)
def test_the_map_names_experiments_that_cite_the_place(place):
    experiments = PLACES[place].experiments
    assert experiments
    for name in experiments:
        if name in EXPERIMENTS:
            text = "".join(path.read_text(encoding="utf-8") for path in files_of(name))
            assert f'paper("{place}"' in text or f'"{place}",' in text


def files_of(name):
    """The file of an experiment, and those of the room that it imports and that make claims."""
    main = ROOM / "experiments" / f"{name.replace('-', '_')}.py"
    imported = [
        ROOM / f"{node.module}.py"
        for node in ast.walk(ast.parse(main.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and node.level == 2 and node.module
    ]
    return [main, *(path for path in imported if path.is_file() and path.stem not in ("claims", "coverage"))]


def test_no_sentence_is_claimed_twice():
    sentences = [case.values[1].args[0] for case in calls("judge", "finding")]
    literal = [sentence.value for sentence in sentences if isinstance(sentence, ast.Constant)]
    assert len(literal) == len(set(literal))


def test_the_verdict_follows_from_source_size_and_number():
    source = paper("Figure 5", "two submatrices")
    given = {"mend": "2", "count": 3}
    texts = ("There are two.", "{count} parts")
    assert judge(*texts, True, "{count}", source=source, **given).verdict is Verdict.HOLDS
    assert judge(*texts, True, "{count}", **given).verdict is Verdict.BEYOND
    assert judge(*texts, False, "{count}", Verdict.PAPER, source=source, **given).verdict is Verdict.PAPER
    assert judge(*texts, True, "{count}", untested="only {count}", **given).verdict is Verdict.UNTESTED
    short = judge(*texts, False, "There are {count}.", source=source, **given)
    assert (short.verdict, short.why, short.mend) == (Verdict.OURS, "There are 3.", "2")
    assert judge(*texts, True, "{count}", source=source, **given).mend == ""
    assert finding("Parts.", "{count}", count=3).source == Source()
    assert Claim.from_json(short.to_json()) == short


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Claim("So.", "no digit", Verdict.BEYOND), "must have a sentence and a number"),
        (lambda: Claim("So.", "1", Verdict.UNTESTED), "must give a reason"),
        (lambda: Claim("So.", "1", Verdict.OURS, "Because."), "must name the number that would mend it"),
        (lambda: Claim("So.", "1", Verdict.HOLDS), "must have its source in the paper"),
        (lambda: paper("Figure 99", "words"), "place must be one of"),
        (lambda: paper("Figure 5", " "), "a place and a quotation, or neither"),
        (lambda: paper("Figure 5", "word " * 31), "at most 30 words"),
    ],
)
def test_incomplete_claims_are_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()
