"""What a release says of itself: README with absolute links, and project URLs, where its repository is known."""

import importlib.util
import re
from pathlib import Path

import pytest

pytest.importorskip("hatchling")

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
REPOSITORY = "https://example.org/people/sknomad"


def build_script():
    """``hatch_build.py``, which is no part of the package."""
    spec = importlib.util.spec_from_file_location("hatch_build", ROOT / "hatch_build.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


SCRIPT = build_script()


@pytest.fixture
def metadata(monkeypatch):
    """A function that returns what the hook writes, given the two variables."""

    def written(repository=None, revision=None, **known):
        for name, value in (("SKNOMAD_REPOSITORY", repository), ("SKNOMAD_REVISION", revision)):
            if value is None:
                monkeypatch.delenv(name, raising=False)
            else:
                monkeypatch.setenv(name, value)
        SCRIPT.Addresses(str(ROOT), {}).update(known)
        return known

    return written


def targets(text):
    """Where the links and images of a page point, code left out."""
    return re.findall(r"\]\(([^)]*)\)", re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL))


def test_without_a_repository_readme_stays_as_it_is(metadata):
    assert metadata() == {"readme": {"content-type": "text/markdown", "text": README}, "urls": {}}
    assert metadata("", "") == metadata()


def test_with_a_repository_every_link_and_image_is_absolute(metadata):
    text = metadata(REPOSITORY, "v1.2")["readme"]["text"]
    assert len(targets(text)) == len(targets(README)) >= 2
    assert all(target.startswith("https://") for target in targets(text))
    assert f"]({REPOSITORY}/raw/v1.2/docs/images/overview.png)" in text
    assert f"]({REPOSITORY}/blob/v1.2/docs/trust.md)" in text


def test_files_that_absolute_links_name_exist(metadata):
    ours = [target for target in targets(metadata(REPOSITORY)["readme"]["text"]) if target.startswith(REPOSITORY)]
    for target in ours:
        path = re.fullmatch(rf"{REPOSITORY}/(?:raw|blob)/HEAD/([^#]+)(?:#.*)?", target).group(1)
        assert (ROOT / path).is_file(), target


@pytest.mark.parametrize("written", [REPOSITORY + "/", REPOSITORY + ".git"])
def test_project_urls_are_those_of_the_repository(metadata, written):
    urls = metadata(written)["urls"]
    assert {"Homepage", "Documentation", "Source", "Issues", "Changelog"} == set(urls)
    assert urls["Source"] == REPOSITORY
    assert all(url.startswith(REPOSITORY) for url in urls.values())


@pytest.mark.parametrize(
    "kept",
    [
        "[there](https://example.org/a)",
        "[mail](mailto:a@example.org)",
        "[below](#limits)",
        "```python\ncalls[0](docs/a.md)\n```",
    ],
)
def test_other_links_and_code_are_left_alone(kept):
    assert SCRIPT.with_absolute_links(kept, REPOSITORY, "HEAD") == kept


@pytest.mark.parametrize(
    ("link", "absolute"),
    [
        ("[a](./docs/a.md)", f"[a]({REPOSITORY}/blob/HEAD/docs/a.md)"),
        ("[a](docs/a.md#part)", f"[a]({REPOSITORY}/blob/HEAD/docs/a.md#part)"),
        ("![](a.png), [b](b.md)", f"![]({REPOSITORY}/raw/HEAD/a.png), [b]({REPOSITORY}/blob/HEAD/b.md)"),
    ],
)
def test_relative_links_become_addresses(link, absolute):
    assert SCRIPT.with_absolute_links(link, REPOSITORY, "HEAD") == absolute


@pytest.mark.parametrize(
    "bad",
    ["sknomad", "example.org/people/sknomad", "http://example.org/a/b", "https://example.org/a", "https://a b/c/d"],
)
def test_a_bad_address_is_refused(metadata, bad):
    with pytest.raises(ValueError, match="SKNOMAD_REPOSITORY must look like https://host/owner/name"):
        metadata(bad)


def test_a_bad_revision_is_refused(metadata):
    with pytest.raises(ValueError, match="SKNOMAD_REVISION must look like"):
        metadata(REPOSITORY, "a b")


def test_metadata_of_an_sdist_are_kept(metadata):
    assert metadata(REPOSITORY, readme="as it was") == {"readme": "as it was"}
