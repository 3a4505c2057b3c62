"""Files and folders are written completely or not at all, regardless of the replaced content."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from conftest import Command, leftovers
from perhop.errors import InvalidInputError
from perhop.saving import replace_file, whole_file, write_new


def test_an_interrupted_file_is_unchanged(tmp_path: Path) -> None:
    file = tmp_path / "plot.svg"
    file.write_text("earlier")
    with pytest.raises(KeyboardInterrupt), whole_file(file) as new:
        new.write_text("half of")
        raise KeyboardInterrupt
    assert file.read_text() == "earlier"
    assert leftovers(tmp_path) == []


def test_a_link_keeps_its_target(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    file, link = tmp_path / "folder" / "plot.svg", tmp_path / "link.svg"
    file.write_text("earlier")
    link.symlink_to(file)
    replace_file(link, "later")
    assert (link.is_symlink(), file.read_text()) == (True, "later")


def test_a_pipe_is_written_and_not_replaced(tmp_path: Path) -> None:
    """A rename by root would replace /dev/null by a file."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = subprocess.Popen(["cat", pipe], stdout=subprocess.PIPE, text=True)
    replace_file(pipe, "through")
    assert reader.communicate(timeout=60)[0] == "through"
    assert pipe.is_fifo()


def test_a_folder_is_not_replaced_by_a_file(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match="is a folder"):
        replace_file(tmp_path, "text")
    with pytest.raises(InvalidInputError, match="/nowhere` is not a folder"):
        replace_file(tmp_path / "nowhere" / "file", "text")


def test_damaged_results_are_named(perhop: Command, scenario: Path, tmp_path: Path) -> None:
    assert perhop("run", scenario, "-o", "out", "-q").code == 0
    (tmp_path / "out" / "summary.json").write_text("{")
    ended = perhop("plot", "queue", "out")
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.startswith("error: `out/summary.json` is damaged: ")


def test_remains_of_a_killed_writer_are_removed(tmp_path: Path) -> None:
    abandoned, other = tmp_path / f".plot.svg-{1:012x}.new", tmp_path / f".plot.svgz-{1:012x}.new"
    abandoned.write_text("half of")
    other.write_text("somebody else's")
    with whole_file(tmp_path / "plot.svg") as first, whole_file(tmp_path / "plot.svg") as second:
        # No writer treats the file of the other as abandoned.
        first.write_text("one")
        second.write_text("two")
    assert (tmp_path / "plot.svg").read_text() == "one"
    assert leftovers(tmp_path) == [other.name]


def test_remains_of_a_killed_writer_of_a_new_file_are_removed(tmp_path: Path) -> None:
    (tmp_path / f".first.yaml-{1:012x}.new").write_text("half of")
    write_new(tmp_path / "first.yaml", "whole")
    assert ((tmp_path / "first.yaml").read_text(), leftovers(tmp_path)) == ("whole", [])
