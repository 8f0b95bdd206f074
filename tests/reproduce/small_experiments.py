"""Small experiments, the command run on them, and the page it writes, read back."""

import types
from html.parser import HTMLParser

from sknomad import cli
from sknomad.reproduce import Claim, Experiment, Verdict
from sknomad.reproduce import figure_parts as _figure
from sknomad.reproduce.claims import paper


def fake(name, **about):
    """A small experiment that notes how often it is computed."""
    module = types.SimpleNamespace(
        EXPERIMENT=Experiment(f"About {name}", "A <small> one & more.", seed=3, **about), runs=0
    )

    def compute(record, quick):
        module.runs += 1
        record["x"] = record.rng.normal(size=4)
        record.solve("pairs", [[0.0], [1.0], [10.0], [11.0]], 2)

    def draw(arrays):
        figure, axes = _figure.figure(1, width="column", row_height=1.0)
        axes[0, 0].plot(arrays["x"])
        return figure

    module.compute, module.draw = compute, draw
    source = paper("Figure 5", "it is so")
    module.claims = lambda arrays: [Claim("It is <so>.", f"{len(arrays['x'])} points", Verdict.HOLDS, source=source)]
    return module


def run(capsys, *arguments):
    """The command in this process: another would not know the small experiments."""
    try:
        code = cli.main(["reproduce", "--jobs", "1", *map(str, arguments)])
    except SystemExit as stop:
        code = stop.code
    out, err = capsys.readouterr()
    return code, out, err


class Page(HTMLParser):
    """What a page refers to, and its text; complains of tags that do not match."""

    VOID = frozenset({"meta", "link", "img", "br"})

    def __init__(self, path):
        super().__init__()
        self.images, self.links, self.words, self.open, self.ids = [], [], [], [], set()
        self.feed(path.read_text(encoding="utf-8"))
        assert not self.open

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.ids.add(attributes.get("id"))
        if tag == "img":
            self.images.append(attributes["src"])
            assert attributes["alt"]
        if "href" in attributes:
            self.links.append(attributes["href"])
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)

    @property
    def text(self):
        return " ".join(" ".join(self.words).split())
