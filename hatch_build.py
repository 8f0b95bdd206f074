"""Addresses in the metadata of a release: absolute ones, of the repository that builds it.

The pages of this project point at each other by relative links, which hold in every clone. Whoever reads README in a
package index has no clone, so a release that is built with

    SKNOMAD_REPOSITORY    where the repository is, as in https://host/owner/name
    SKNOMAD_REVISION      the commit or tag that is released; HEAD if it is not set

has project URLs, and README's links and images in full. Without the first, the metadata hold README as it is.
"""

import os
import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

REPOSITORY = re.compile(r"https://[\w.-]+(:\d+)?/[\w.-]+/[\w.-]+")
REVISION = re.compile(r"[\w.-]+(/[\w.-]+)*")
FENCED_CODE = re.compile(r"(^```.*?^```)", re.MULTILINE | re.DOTALL)
# Links and images to a file of the repository: neither an address with a scheme nor a place on the page itself.
RELATIVE_LINK = re.compile(r"(?P<image>!?)\[(?P<text>[^\]]*)\]\((?![a-z]+:|#|/)(?:\./)?(?P<path>[^)\s]+)\)")


def checked(name: str, value: str, pattern: re.Pattern[str], example: str) -> str:
    """The value of a variable, if it has the form that it must have."""
    if not pattern.fullmatch(value):
        raise ValueError(f"{name} must look like {example}, got {value!r}. Mend it, or unset it to build without.")
    return value


def release() -> tuple[str, str] | None:
    """Repository and revision that the variables name, or None where they name no repository."""
    repository = os.environ.get("SKNOMAD_REPOSITORY", "").rstrip("/").removesuffix(".git")
    if not repository:
        return None
    revision = os.environ.get("SKNOMAD_REVISION") or "HEAD"
    return (
        checked("SKNOMAD_REPOSITORY", repository, REPOSITORY, "https://host/owner/name"),
        checked("SKNOMAD_REVISION", revision, REVISION, "a commit, a tag or a branch"),
    )


def with_absolute_links(text: str, repository: str, revision: str) -> str:
    """Markdown whose relative links and images are addresses in a repository; code in fences stays as it is."""

    def absolute(link: re.Match[str]) -> str:
        # An image must be the file itself; a page is to be read as the host shows it.
        kind = "raw" if link["image"] else "blob"
        return f"{link['image']}[{link['text']}]({repository}/{kind}/{revision}/{link['path']})"

    # Split at a group, the odd pieces are what the group has matched: the code.
    pieces = FENCED_CODE.split(text)
    return "".join(piece if i % 2 else RELATIVE_LINK.sub(absolute, piece) for i, piece in enumerate(pieces))


def project_urls(repository: str, revision: str) -> dict[str, str]:
    """What a package index shows beside README."""
    return {
        "Homepage": repository,
        "Documentation": f"{repository}/tree/{revision}/docs",
        "Source": repository,
        "Issues": f"{repository}/issues",
        "Changelog": f"{repository}/blob/{revision}/CHANGELOG.md",
    }


class Addresses(MetadataHookInterface):
    """README, and project URLs where the repository is known."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Fill the fields that pyproject.toml calls dynamic."""
        if "readme" in metadata:
            return  # built from an sdist, whose metadata have been written once and for all
        text = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        where = release()
        metadata["urls"] = project_urls(*where) if where else {}
        if where:
            text = with_absolute_links(text, *where)
        metadata["readme"] = {"content-type": "text/markdown", "text": text}
