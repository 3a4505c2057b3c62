"""Links that another user put next to a result are not opened, created or removed."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from conftest import Command, files_in
from perhop.errors import InvalidInputError
from perhop.locking import held, is_abandoned, lock_file, locked, release_all, reserve

if not hasattr(os, "O_NOFOLLOW"):
    pytest.skip("links and locks of Unix", allow_module_level=True)


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """A folder in which all users may create names, and another folder whose files must not change."""
    (tmp_path / "public").mkdir()
    (tmp_path / "public").chmod(0o1777)
    (tmp_path / "private").mkdir()
    yield tmp_path / "public" / "out"
    release_all()


@pytest.mark.parametrize("there", [False, True], ids=["dangling", "existing"])
def test_a_lock_that_is_a_link_is_refused(folder: Path, there: bool) -> None:
    target = folder.parents[1] / "private" / "file"
    if there:
        target.write_text("kept")
    lock_file(folder).symlink_to(target)
    for take in (lambda: reserve(folder), lambda: locked(folder).__enter__()):
        with pytest.raises(InvalidInputError, match=r"\.out\.lock` is not a regular file"):
            take()
    assert target.exists() == there
    assert lock_file(folder).is_symlink()


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir])
def test_a_lock_that_is_no_file_is_refused(folder: Path, make: object) -> None:
    assert callable(make)
    make(lock_file(folder))
    with pytest.raises(InvalidInputError, match=r"\.out\.lock` is not a regular file"):
        reserve(folder)


def test_a_hidden_file_is_new(folder: Path) -> None:
    hidden = folder.with_name(".out-0123456789ab.new")
    hidden.symlink_to(folder.parents[1] / "private" / "file")
    with pytest.raises(FileExistsError), held(hidden):
        pass
    assert not is_abandoned(hidden)
    assert list((folder.parents[1] / "private").iterdir()) == []


def test_a_command_reports_it_in_one_line(folder: Path, scenario: Path, perhop: Command) -> None:
    target = folder.parents[1] / "private" / "file"
    lock_file(folder).symlink_to(target)
    ended = perhop("run", scenario, "--duration", "2s", "-o", folder)
    assert ended.code == 2
    assert ".out.lock` is not a regular file" in ended.err
    assert not target.exists() and not folder.exists()


@pytest.mark.parametrize("suffix", ["new", "old"])
def test_the_remains_of_a_writer_are_not_links(
    folder: Path, scenario: Path, perhop: Command, suffix: str
) -> None:
    """A link to a result under the hidden name of a killed writer: the result was removed."""
    result = folder.parents[1] / "private" / "result"
    assert perhop("run", scenario, "--duration", "2s", "-o", result).code == 0
    before = files_in(result)
    link = folder.with_name(f".out-0123456789ab.{suffix}")
    link.symlink_to(result)
    assert perhop("run", scenario, "--duration", "2s", "-o", folder).code == 0
    assert files_in(result) == before
    assert link.is_symlink() and not folder.is_symlink()
