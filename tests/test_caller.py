"""Owner of the files that `sudo perhop` writes: the calling user in the user's own folders, else root."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import perhop as library
from conftest import Command
from perhop import disk, manifest
from perhop.caller import caller, give_file, made_folder
from perhop.saving import replace_file, whole_folder, write_new

USER, GROUP = 41_234, 41_235

pytestmark = pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0, reason="giving a file away needs root"
)


@pytest.fixture(autouse=True)
def theirs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of the user who called sudo."""
    monkeypatch.setenv("SUDO_UID", str(USER))
    monkeypatch.setenv("SUDO_GID", str(GROUP))
    folder = tmp_path / "theirs"
    folder.mkdir()
    os.chown(folder, USER, GROUP)
    return folder


def owners(folder: Path) -> set[tuple[int, int]]:
    """The owners of a folder and of its content."""
    found = [folder, *folder.rglob("*")]
    return {(path.lstat().st_uid, path.lstat().st_gid) for path in found}


def save(target: Path) -> None:
    with whole_folder(target, "run") as new:
        disk.write(new / "one.txt", "mine")
        disk.make_folder(new / "inner")
        disk.write(new / "inner" / "two.txt", "mine")
        manifest.seal(new, "run", {})


def test_a_folder_and_its_new_parents_get_the_callers_ownership(theirs: Path) -> None:
    for _ in range(2):
        save(theirs / "new" / "out")
        assert owners(theirs) == {(USER, GROUP)}


def test_files_get_the_callers_ownership(theirs: Path) -> None:
    for _ in range(2):
        replace_file(theirs / "report.html", "page")
    write_new(theirs / "scenario.yaml", "text")
    assert len([*theirs.iterdir()]) == 2
    assert owners(theirs) == {(USER, GROUP)}


def test_a_growing_sweep_gets_the_callers_ownership(theirs: Path, scenario: Path) -> None:
    values = {"seed": "1,2", "duration": "2s"}
    for _ in range(2):
        library.sweep(scenario, values, output=theirs / "out")
        assert owners(theirs) == {(USER, GROUP)}
    for path in (theirs / "out" / "classes").iterdir():
        path.unlink()
    (theirs / "out" / "classes").rmdir()
    with pytest.warns(disk.LeftoverWarning, match="has lost parts"):
        library.sweep(scenario, values, output=theirs / "out")
    assert owners(theirs) == {(USER, GROUP)}


def test_files_in_a_folder_of_another_user_stay_roots(tmp_path: Path) -> None:
    save(tmp_path / "out")
    replace_file(tmp_path / "report.html", "page")
    assert owners(tmp_path / "out") | owners(tmp_path / "report.html") == {(0, 0)}


@pytest.mark.parametrize(("user", "group"), [("", ""), ("0", "0"), ("-1", "5"), ("root", "root"), ("5", "")])
def test_without_sudo_ownership_is_unchanged(
    user: str, group: str, theirs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SUDO_UID", user)
    monkeypatch.setenv("SUDO_GID", group)
    assert caller() is None
    save(theirs / "out")
    assert owners(theirs / "out") == {(0, 0)}


def test_a_link_in_place_of_a_file_is_not_followed(theirs: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("root's")
    (theirs / "link").symlink_to(secret)
    with pytest.raises(OSError, match="symbolic links"):
        disk.write(theirs / "link", "mine")
    os.link(secret, theirs / "second-name")
    with (theirs / "second-name").open("rb") as opened:
        give_file(opened.fileno(), theirs)
    assert (secret.read_text(), owners(secret)) == ("root's", {(0, 0)})


def test_links_in_a_folder_are_not_followed(theirs: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.mkdir()
    (secret / "file").write_text("root's")
    (theirs / "out").mkdir()
    with made_folder(theirs / "out"):
        (theirs / "out" / "link").symlink_to(secret)
        os.link(secret / "file", theirs / "out" / "second-name")
    assert owners(secret) == {(0, 0)}
    assert (theirs / "out").stat().st_uid == USER


def test_a_replaced_folder_keeps_its_owner(theirs: Path, tmp_path: Path) -> None:
    """The caller moves a folder of root to the name, or puts a link there, before it is opened."""
    (theirs / "roots").mkdir()
    (theirs / "roots" / "key").write_text("root's")
    with made_folder(theirs / "roots"):
        pass
    assert owners(theirs / "roots") == {(0, 0)}
    (theirs / "link").symlink_to(tmp_path)
    with pytest.raises(OSError, match=r"symbolic link|Not a directory"), made_folder(theirs / "link"):
        pass
    assert tmp_path.stat().st_uid == 0


def test_a_run_by_sudo_gives_its_results_to_the_caller(perhop: Command, scenario: Path, theirs: Path) -> None:
    line = ["run", scenario, "--duration", "2s", "-q", "-o", theirs / "out", "--pcap", theirs / "captures"]
    ended = perhop(*line, "--plot", "throughput=" + str(theirs / "plot.svg"))
    assert ended.code == 0, ended.err
    assert perhop("report", theirs / "out", "-o", theirs / "report.html").code == 0
    assert {path.name for path in theirs.iterdir()} == {"out", "captures", "plot.svg", "report.html"}
    assert owners(theirs) == {(USER, GROUP)}
