"""Folders that `-o` may replace: only earlier results."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import get_args

import pytest

from conftest import Command, files_in, leftovers
from perhop import Results, Scenario, disk, manifest, plot
from perhop.command.plotting import Plots
from perhop.errors import InvalidInputError
from perhop.locking import lock_file
from perhop.manifest import Kind
from perhop.plot.writing import Destination
from perhop.saving import check_target, give_up, whole_folder


def save(target: Path, text: str, *, force: bool = False) -> None:
    with whole_folder(target, "run", force=force) as new:
        disk.write(new / "one.txt", text)
        manifest.seal(new, "run", {})


def everything(folder: Path) -> dict[str, bytes | None]:
    """All files and folders below a folder."""
    found = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*")}
    return {name: path.read_bytes() if path.is_file() else None for name, path in found.items()}


def a_web_site(folder: Path) -> None:
    (folder / "src").mkdir(parents=True)
    (folder / "manifest.json").write_text("{}")


def a_web_site_with_a_long_manifest(folder: Path) -> None:
    folder.mkdir()
    (folder / "manifest.json").write_text('{"name": "app", "schema_version": 2, "files": {"index.html": {}}}')
    (folder / "index.html").write_text("<p>")


def a_folder_of_papers(folder: Path) -> None:
    folder.mkdir()
    (folder / "paper.tex").write_text("mine")


def results_with_notes(folder: Path) -> None:
    save(folder, "earlier")
    (folder / "notes.txt").write_text("mine")


def results_with_a_hidden_file(folder: Path) -> None:
    save(folder, "earlier")
    (folder / ".hidden").write_text("mine")


def results_with_a_folder(folder: Path) -> None:
    save(folder, "earlier")
    (folder / "mine").mkdir()


def results_with_a_link(folder: Path) -> None:
    save(folder, "earlier")
    (folder.parent / "mine.txt").write_text("mine")
    (folder / "one.txt").unlink()
    (folder / "one.txt").symlink_to(folder.parent / "mine.txt")


def results_with_a_damaged_manifest(folder: Path) -> None:
    save(folder, "earlier")
    file = folder / "manifest.json"
    file.write_text(file.read_text().replace("one.txt", "two.txt"))


def results_of_an_earlier_format(folder: Path) -> None:
    folder.mkdir()
    (folder / "manifest.json").write_text('{"schema_version": 1, "perhop": "0.1.0"}')
    (folder / "summary.json").write_text("{}")


_OTHERS = [
    a_web_site,
    a_web_site_with_a_long_manifest,
    a_folder_of_papers,
    results_with_notes,
    results_with_a_hidden_file,
    results_with_a_folder,
    results_with_a_link,
    results_with_a_damaged_manifest,
    results_of_an_earlier_format,
]


@pytest.mark.parametrize("make", _OTHERS, ids=lambda make: make.__name__)
def test_foreign_files_are_kept(tmp_path: Path, make: object) -> None:
    make(tmp_path / "out")  # type: ignore[operator]
    before = everything(tmp_path)
    for write in (lambda target: check_target(target, "run"), lambda target: save(target, "later")):
        with pytest.raises(InvalidInputError, match=r"/out` ") as refused:
            write(tmp_path / "out")
        assert "--force" in str(refused.value.help)
    assert everything(tmp_path) == before


@pytest.mark.parametrize("exchanges", [True, False], ids=["exchanged", "renamed"])
@pytest.mark.parametrize("make", _OTHERS, ids=lambda make: make.__name__)
def test_force_moves_foreign_files_aside(
    tmp_path: Path, make: object, exchanges: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not exchanges:
        monkeypatch.setattr(disk, "exchange", lambda folder, other: False)
    make(tmp_path / "out")  # type: ignore[operator]
    (tmp_path / "out.old-1").mkdir()
    before = everything(tmp_path / "out")
    check_target(tmp_path / "out", "run", force=True)
    with pytest.warns(disk.MovedWarning, match=r"the earlier content of `.*/out` is now in `.*/out\.old-2`"):
        save(tmp_path / "out", "later", force=True)
    assert everything(tmp_path / "out.old-2") == before
    assert (tmp_path / "out" / "one.txt").read_text() == "later"
    assert (everything(tmp_path / "out.old-1"), leftovers(tmp_path)) == ({}, [])
    # A folder that contains only perhop's files is replaced, with or without force.
    save(tmp_path / "out", "last", force=True)
    assert not (tmp_path / "out.old-3").exists()


@pytest.mark.parametrize("there", get_args(Kind))
def test_a_result_of_another_kind_is_kept(there: Kind, tmp_path: Path) -> None:
    """Only results of the same kind replace each other, for every pair of kinds."""
    out = tmp_path / "out"
    with whole_folder(out, there) as new:
        manifest.seal(new, there, {})
    before = everything(tmp_path)
    for kind in get_args(Kind):
        if kind == there:
            check_target(out, kind)
            continue
        with pytest.raises(InvalidInputError, match=r"has an earlier result of another kind: .* \(`perhop"):
            check_target(out, kind)
        with pytest.raises(InvalidInputError, match="another kind"), whole_folder(out, kind):
            raise AssertionError
    give_up()
    assert everything(tmp_path) == before


def test_a_run_does_not_replace_a_sweep(perhop: Command, scenario: Path, tmp_path: Path) -> None:
    short = [scenario, "--duration", "2s", "-q", "-o", "out"]
    assert perhop("sweep", *short, "--set", "seed=1,2").code == 0
    before = files_in(tmp_path / "out")
    refused = perhop("run", *short)
    assert refused.code == 2
    assert "`out` has an earlier result of another kind: sweep (`perhop sweep -o`)" in refused.err
    assert files_in(tmp_path / "out") == before
    forced = perhop("run", *short, "--force")
    assert forced.code == 0
    assert "warning: the earlier content of `out` is now in `" in forced.err
    assert "out.old-1`" in forced.err
    assert files_in(tmp_path / "out.old-1") == before
    # Exchange the two kinds.
    refused = perhop("sweep", *short, "--set", "seed=1,2")
    assert (refused.code, "has earlier results (`run`)" in refused.err) == (2, True)


def test_a_file_added_during_the_save_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    save(tmp_path / "out", "earlier")
    swap = disk.exchange

    def late(folder: Path, other: Path) -> bool:
        # The test runs the next call after the check of the folder.
        (other / "notes.txt").write_text("mine")
        return swap(folder, other)

    monkeypatch.setattr(disk, "exchange", late)
    with pytest.warns(disk.LeftoverWarning, match=r"is in `.*out\.old-1`"):
        save(tmp_path / "out", "later")
    assert everything(tmp_path / "out.old-1") == {"notes.txt": b"mine"}
    assert (tmp_path / "out" / "one.txt").read_text() == "later"


def test_a_link_is_followed(tmp_path: Path) -> None:
    (tmp_path / "disk").mkdir()
    save(tmp_path / "disk" / "results", "earlier")
    (tmp_path / "out").symlink_to("disk/results")
    save(tmp_path / "out", "later")
    assert (tmp_path / "out").readlink() == Path("disk/results")
    assert (tmp_path / "disk" / "results" / "one.txt").read_text() == "later"
    assert leftovers(tmp_path) + leftovers(tmp_path / "disk") == []


def test_a_link_to_nowhere_is_refused(tmp_path: Path) -> None:
    (tmp_path / "out").symlink_to("nowhere")
    with pytest.raises(InvalidInputError, match=r"is a symbolic link to .*/nowhere`, which does not exist"):
        save(tmp_path / "out", "later")
    assert (tmp_path / "out").is_symlink()


@contextmanager
def inside(folder: Path) -> Iterator[None]:
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


@pytest.mark.parametrize("name", [".", "..", "../out", "../../out"])
def test_the_current_folder_is_not_replaced(tmp_path: Path, name: str) -> None:
    save(tmp_path / "out", "earlier")
    (tmp_path / "out" / "inner").mkdir()
    below = tmp_path / "out" / "inner" if name in ("..", "../../out") else tmp_path / "out"
    with (
        inside(below),
        pytest.raises(InvalidInputError, match="is the current folder or contains it") as refused,
    ):
        check_target(Path(name), "run", force=True)
    assert "-o " in str(refused.value.help)
    assert (tmp_path / "out" / "one.txt").read_text() == "earlier"


def test_the_shell_stays_in_its_folder(perhop: Command, scenario: Path, tmp_path: Path) -> None:
    ended = perhop("run", scenario, "--duration", "2s", "-q", "-o", ".")
    assert ended.code == 2
    assert "give a folder in it, for example -o results" in ended.err
    assert list(tmp_path.iterdir()) == [scenario]


def test_a_second_writer_is_refused(tmp_path: Path) -> None:
    with whole_folder(tmp_path / "out", "run") as new:
        disk.write(new / "one.txt", "first")
        other = (
            "import sys; from pathlib import Path; from perhop.saving import check_target\n"
            "from perhop.errors import InvalidInputError\n"
            "try: check_target(Path(sys.argv[1]), 'run')\n"
            "except InvalidInputError as error: sys.exit(str(error))\n"
        )
        ended = subprocess.run(
            [sys.executable, "-c", other, tmp_path / "out"], capture_output=True, text=True, check=False
        )
        assert "is being written by another perhop" in ended.stderr
        manifest.seal(new, "run", {})
    assert ((tmp_path / "out" / "one.txt").read_text(), leftovers(tmp_path)) == ("first", [])
    ended = subprocess.run([sys.executable, "-c", other, tmp_path / "out"], check=False)
    assert (ended.returncode, leftovers(tmp_path)) == (0, [])


def test_a_lock_of_a_killed_process_is_taken_over(tmp_path: Path) -> None:
    lock_file(tmp_path / "out").touch()
    save(tmp_path / "out", "first")
    assert leftovers(tmp_path) == []


def test_a_reserved_folder_is_released_at_the_end(tmp_path: Path) -> None:
    check_target(tmp_path / "out", "run")
    assert leftovers(tmp_path) == [".out.lock"]
    give_up()
    assert leftovers(tmp_path) == []


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # a fork of a process with threads
def test_a_fork_does_not_touch_its_parents_lock(tmp_path: Path) -> None:
    check_target(tmp_path / "out", "run")
    with whole_folder(tmp_path / "other", "run") as new:
        child = os.fork()
        if child == 0:
            give_up()
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
        assert new.is_dir()
        assert lock_file(tmp_path / "out").is_file()
        manifest.seal(new, "run", {})
    give_up()
    assert leftovers(tmp_path) == []


def test_a_deep_path_and_a_long_name(tmp_path: Path) -> None:
    """The path is relative, because the system limits a path to 4,096 bytes."""
    deep = Path("/".join(["d"] * 1_900)) / "out"
    with inside(tmp_path):
        save(deep, "deep")
        assert (deep / "one.txt").read_text() == "deep"
        with pytest.raises(InvalidInputError, match="File name too long"):
            check_target(Path("/".join(["d"] * 3_000)), "run")
        # Too deep for `shutil.rmtree`.
        subprocess.run(["rm", "-r", "d"], check=True)
    save(tmp_path / ("n" * 255), "long")
    assert leftovers(tmp_path) == []


def test_a_failure_removes_new_parent_folders(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), whole_folder(tmp_path / "new" / "newer" / "out", "run"):
        raise ZeroDivisionError
    assert list(tmp_path.iterdir()) == []


def test_a_read_only_disk_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(folder: Path) -> None:
        raise OSError(errno.EROFS, "Read-only file system", str(folder))

    monkeypatch.setattr(disk, "make_folder", refuse)
    with pytest.raises(OSError, match="Read-only") as raised:
        save(tmp_path / "out", "later")
    assert raised.value.filename == str(tmp_path / "out")


def test_a_folder_in_a_new_one_leaves_no_lock_there(tmp_path: Path) -> None:
    with whole_folder(tmp_path / "out", "run") as new, whole_folder(new / "captures", "captures") as inside:
        assert {path.name for path in new.iterdir()} == {inside.name}
        manifest.seal(inside, "captures", {})
    assert not lock_file(tmp_path / "out").exists()


def test_an_error_of_a_plot_names_it_and_does_not_lose_the_results(
    scenario: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_: object, file: Path, *_further: object) -> None:
        raise OSError(errno.EIO, "Input/output error", str(file))

    monkeypatch.setattr("perhop.plot.writing.write", refuse)
    results = Scenario.load(scenario).run()
    file = tmp_path / "out" / "throughput.svg"
    plots = Plots(file.parent, [(Destination(file), partial(plot.charts, results, "throughput"))])
    results.save(file.parent, also=plots.write_into)
    assert Results.load(file.parent).summary == results.summary
    with pytest.raises(OSError, match="Input/output") as raised:
        plots.write_rest(quiet=True)
    # While the file was written, its folder had a hidden name.
    assert raised.value.filename == str(file)


def test_plots_in_the_folder_are_part_of_the_results(perhop: Command, scenario: Path, tmp_path: Path) -> None:
    line = [
        "run",
        scenario,
        "--duration",
        "2s",
        "-o",
        "out",
        "--plot",
        "queue",
        "--plot",
        "throughput=plot.svg",
    ]
    for _ in range(2):
        # In the second run, the plot of the first run is replaced with the results.
        ended = perhop(*line)
        assert ended.code == 0, ended.err
        assert "written to out/queue.svg" in ended.err
    assert "queue.svg" in manifest.read(tmp_path / "out")["files"]
    assert (tmp_path / "plot.svg").is_file()
    perhop("plot", "queue", "out", "-o", "out/mine.svg")
    ended = perhop(*line)
    assert ended.code == 2
    assert "has files that are not part of the saved results: `mine.svg`" in ended.err
    before = files_in(tmp_path / "out")
    assert perhop(*line, "--force").code == 0
    assert files_in(tmp_path / "out.old-1") == before
