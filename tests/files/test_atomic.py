"""Files that appear whole: also where the system refuses a rename for a moment, as Windows does."""

import os

import pytest

from sknomad._files import atomic
from sknomad._files.atomic import folder_written_whole, written_whole


@pytest.fixture
def refuses(monkeypatch):
    """Renames that are refused so many times."""
    rename, left = os.replace, []

    def refuse(source, target):
        if left:
            left.pop()
            raise PermissionError(13, "used by another process")
        rename(source, target)

    monkeypatch.setattr(atomic.os, "replace", refuse)
    monkeypatch.setattr(atomic, "WAITS", (0.0, 0.0))
    return left


def test_a_rename_that_is_refused_for_a_moment_is_tried_again(tmp_path, refuses):
    refuses[:] = [1, 1]
    with written_whole(tmp_path / "file") as file:
        file.write(b"whole")
    assert (tmp_path / "file").read_bytes() == b"whole"
    refuses[:] = [1]
    with folder_written_whole(tmp_path / "folder") as folder:
        (folder / "one").write_bytes(b"1")
    assert [path.name for path in (tmp_path / "folder").iterdir()] == ["one"]


def test_one_that_stays_refused_leaves_what_was_there(tmp_path, refuses):
    (tmp_path / "file").write_bytes(b"old")
    refuses[:] = [1] * 3
    with pytest.raises(PermissionError), written_whole(tmp_path / "file") as file:
        file.write(b"new")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
    assert (tmp_path / "file").read_bytes() == b"old"
