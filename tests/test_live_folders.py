"""Folders of testbeds: links and folders of other users or with similar names are not used or removed."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import pytest

from perhop.live import private, state
from perhop.live.cleaning import clean
from perhop.live.owner import Owner
from perhop.live.private import StrangeFolderError
from perhop.live.scratch import scratch
from perhop.live.state import State, load
from test_live_unprivileged import NOBODY, as_nobody

pytestmark = pytest.mark.skipif(
    os.geteuid() != 0, reason="needs a second user: only root can give folders away and become somebody else"
)

# A process that has ended: no other process has its start time.
DEAD = Owner(1, 1)
STATE = {"owner": asdict(DEAD), "scenario": "Test"}


@pytest.fixture
def public(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A temporary folder of all users, which also contains the folder of all testbeds."""
    folder = tmp_path / "public"
    folder.mkdir()
    folder.chmod(0o1777)
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    monkeypatch.setattr(state, "ROOT", folder / "perhop")
    return folder


@pytest.fixture
def valuable(tmp_path: Path) -> Iterator[Path]:
    """Versions of a program in folders of this user; a name such as `1.0` could be that of a testbed."""
    folder = tmp_path / "releases"
    (folder / "1.0").mkdir(parents=True)
    (folder / "1.0" / "program").write_text("kept")
    (folder / "1.1").mkdir()
    (folder / "1.1" / "laboratory.json").write_text("{}")
    yield folder
    assert (folder / "1.0" / "program").read_text() == "kept"
    assert (folder / "1.1" / "laboratory.json").read_text() == "{}"


def given_away(path: Path) -> None:
    os.lchown(path, NOBODY, NOBODY)


def test_a_link_of_a_stranger_is_not_followed(public: Path, valuable: Path) -> None:
    (public / "perhop").symlink_to(valuable)
    given_away(public / "perhop")
    mode = valuable.stat().st_mode
    with pytest.raises(StrangeFolderError, match="perhop` is a link") as refused:
        clean()
    assert "remove it" in str(refused.value.help)
    with pytest.raises(StrangeFolderError, match="is a link"):
        State(DEAD, "Test", root=public / "perhop").make_folder()
    assert valuable.stat().st_mode == mode


def test_a_folder_of_a_stranger_is_not_used(public: Path) -> None:
    folder = public / "perhop"
    (folder / DEAD.tag).mkdir(parents=True)
    (folder / DEAD.tag / "laboratory.json").write_text(json.dumps(STATE))
    folder.chmod(0o700)
    given_away(folder)
    with pytest.raises(StrangeFolderError, match=f"belongs to user {NOBODY}"):
        clean()
    with pytest.raises(StrangeFolderError, match=f"belongs to user {NOBODY}"):
        State(DEAD, "Test", root=folder).make_folder()
    assert (folder / DEAD.tag).exists() and folder.stat().st_uid == NOBODY


def test_a_folder_that_others_can_write_is_not_used(public: Path) -> None:
    (public / "perhop").mkdir()
    (public / "perhop").chmod(0o777)
    with pytest.raises(StrangeFolderError, match=r"can be written by others \(mode 777\)"):
        clean()


def test_a_folder_that_others_can_replace_is_not_used(public: Path) -> None:
    (public / "perhop").mkdir(mode=0o700)
    public.chmod(0o777)
    with pytest.raises(StrangeFolderError, match="other users can replace"):
        clean()
    public.chmod(0o755)
    given_away(public)
    with pytest.raises(StrangeFolderError, match=f"user {NOBODY} can replace"):
        clean()


def test_a_folder_without_a_state_file_is_not_a_testbed(public: Path, valuable: Path) -> None:
    """A folder in the right place that belongs to this user is a testbed only with a state file."""
    root = public / "perhop"
    private.make(root)
    for name in ("1.0", "1.1"):
        (root / name).symlink_to(valuable / name)
    (root / "2.1").mkdir(mode=0o700)
    (root / "2.1" / "program").write_text("kept")
    (root / "3.1").mkdir(mode=0o700)
    (root / "3.1" / "laboratory.json").write_text(json.dumps(STATE))
    assert clean().folders == []
    assert sorted(folder.name for folder in root.iterdir()) == ["1.0", "1.1", "2.1", "3.1"]
    assert [load(root / name) for name in ("1.0", "1.1", "2.1", "3.1")] == [None] * 4


def test_a_state_file_is_not_a_link(public: Path, tmp_path: Path) -> None:
    testbed = State(DEAD, "Test", root=public / "perhop")
    testbed.make_folder()
    file = testbed.folder / "laboratory.json"
    file.rename(tmp_path / "laboratory.json")
    file.symlink_to(tmp_path / "laboratory.json")
    assert load(testbed.folder) is None
    assert clean().folders == []


@pytest.mark.parametrize("names", [[], [".laboratory.json-0123456789ab.new"]], ids=["empty", "begun"])
def test_a_testbed_that_had_only_begun_is_removed(public: Path, names: list[str]) -> None:
    root = public / "perhop"
    private.make(root)
    (root / DEAD.tag).mkdir(mode=0o700)
    for name in names:
        (root / DEAD.tag / name).touch()
    assert clean().folders == [str(root / DEAD.tag)]
    assert list(root.iterdir()) == []


def test_removal_of_a_testbed_does_not_follow_links(public: Path, valuable: Path) -> None:
    testbed = State(DEAD, "Test", root=public / "perhop")
    testbed.make_folder()
    (testbed.folder / "link").symlink_to(valuable)
    (testbed.folder / "inner").mkdir()
    (testbed.folder / "inner" / "link").symlink_to(valuable)
    assert clean().folders == [str(testbed.folder)]
    assert not testbed.folder.exists()


def test_temporary_folders_of_strangers_stay(public: Path, valuable: Path) -> None:
    mark = json.dumps(asdict(DEAD))
    names = ("link", "theirs", "open", "namesake", "left")
    link, theirs, written_by_all, namesake, left = (public / f"perhop-{DEAD.tag}-{name}" for name in names)
    link.symlink_to(valuable)
    for folder in (theirs, written_by_all, namesake, left):
        folder.mkdir(mode=0o700)
        (folder / "owner.json").write_text(mark)
    given_away(theirs)
    written_by_all.chmod(0o777)
    (namesake / "owner.json").write_text(json.dumps(asdict(Owner(1, 2))))
    (namesake / "thesis.tex").write_text("kept")
    assert clean().folders == [str(left)]
    assert all(folder.exists() for folder in (theirs, written_by_all, namesake)) and link.is_symlink()


def test_a_temporary_folder_of_a_killed_process_is_removed(public: Path) -> None:
    with scratch() as folder:
        (folder / "0").mkdir()
        (folder / "0" / "host-0.json").write_text("{}")
        assert clean().folders == [] and folder.exists()
        kept = json.loads((folder / "owner.json").read_text())
        assert kept == asdict(Owner.current())
        ended = folder.with_name(f"perhop-{DEAD.tag}-ended")
        folder.rename(ended)
        (ended / "owner.json").write_text(json.dumps(asdict(DEAD)))
        assert clean().folders == [str(ended)]
        folder.mkdir(mode=0o700)


def test_a_folder_that_another_user_made_first_is_reported() -> None:
    """Without XDG_RUNTIME_DIR the folder is under /tmp, with the number of the user as its name."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o1777)
        victim = Path(folder) / "releases" / "1.0"
        victim.mkdir(parents=True)
        for path in (victim.parent, victim):
            given_away(path)
        (Path(folder) / f"perhop-{NOBODY}").symlink_to(victim.parent)
        ended: subprocess.CompletedProcess[str] = as_nobody(
            "-m", "perhop", "live", "clean", XDG_RUNTIME_DIR="", TMPDIR=folder
        )
        assert (ended.returncode, ended.stdout) == (75, ""), ended.stderr
        assert f"perhop-{NOBODY}` is a link" in ended.stderr
        assert victim.exists()
