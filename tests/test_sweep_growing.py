"""A sweep's folder: it grows, can be read meanwhile, survives its writer, and is equal for all engines."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest

import perhop as library
from conftest import Command, files_in
from perhop.disk import LeftoverWarning
from perhop.engines import Assignment, Embedded, Finished, Task
from perhop.errors import InvalidInputError
from perhop.sweeping import Advance, Sweep, parts
from perhop.sweeping.parts import POINTS

VALUES = {"links.1.rate": "1Mb/s:4Mb/s:250kb/s", "duration": "3s"}
POINTS_OF_IT = 13


@pytest.fixture
def whole(scenario: Path) -> Sweep:
    return library.sweep(scenario, VALUES, replications=2)


class Dying(Embedded):
    """An engine that fails after some points, like an engine on a machine that fails."""

    def simulate(self, task: Task, points: Iterator[Assignment]) -> Iterator[Finished]:  # type: ignore[override]
        few = (point for _, point in zip(range(5), points, strict=False))
        yield from super().simulate(task, few)
        raise OSError("the machine is gone")


class Failing:
    """An engine whose points all fail."""

    def simulate(self, task: Task, points: Iterator[Assignment]) -> Iterator[Finished]:
        yield Finished(failed=[(number, "no") for number, _ in points])


def test_a_sweep_of_which_every_point_failed(scenario: Path, tmp_path: Path) -> None:
    found = library.sweep(scenario, VALUES, engine=Failing(), output=tmp_path / "out")  # type: ignore[arg-type]
    assert (found.complete, found.failures.height) == (True, POINTS_OF_IT)
    assert (found.classes.height, found.table().height) == (0, 0)
    assert found.to_json()["points"][0]["error"] == "no"


def test_the_folder_is_the_same_for_every_engine(scenario: Path, whole: Sweep, tmp_path: Path) -> None:
    whole.save(tmp_path / "saved")
    for threads in (1, 2):
        grown = tmp_path / f"grown-{threads}"
        library.sweep(scenario, VALUES, replications=2, threads=threads, output=grown)
        assert files_in(grown) == files_in(tmp_path / "saved")
    with pytest.raises(OSError, match="the machine is gone"):
        library.sweep(scenario, VALUES, replications=2, engine=Dying(), output=tmp_path / "again")
    half = Sweep.load(tmp_path / "again")
    assert (half.complete, half.points.height) == (False, 5)
    seen: list[Advance] = []
    library.sweep(scenario, VALUES, replications=2, output=tmp_path / "again", progress=seen.append)
    assert seen[-1].done == POINTS_OF_IT
    assert sum(progress.new[POINTS].height for progress in seen if progress.new) == POINTS_OF_IT - 5, (
        "none is repeated"
    )
    assert files_in(tmp_path / "again") == files_in(tmp_path / "saved")


def test_a_killed_sweep_keeps_all_reported_points(scenario: Path, tmp_path: Path) -> None:
    """kill -9 at several instants: the existing parts are complete, and the same command continues."""
    values = {"seed": "1:200:1", "duration": "10s"}
    code = (
        "import sys, perhop\n"
        "from perhop.sweeping import sweep\n"
        f"sweep({str(scenario)!r}, {values!r}, output='out',"
        " progress=lambda now: print(now.done, flush=True))"
    )
    written = 0
    for kill in range(3):
        command = [sys.executable, "-c", code]
        with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True) as running:
            assert running.stdout is not None
            for line in running.stdout:
                written = int(line)
                if written > 20 * (kill + 1):
                    break
            running.send_signal(signal.SIGKILL)
        found = Sweep.load(tmp_path / "out")
        assert found.points.height >= written > 0
        assert not found.points["point"].is_duplicated().any()
        assert set(found.classes["point"]) == set(found.points["point"])
    library.sweep(scenario, values, output=tmp_path / "out")
    library.sweep(scenario, values).save(tmp_path / "whole")
    assert files_in(tmp_path / "out") == files_in(tmp_path / "whole")


def test_other_programs_read_it_while_it_grows(scenario: Path, tmp_path: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    pandas = pytest.importorskip("pandas")
    counts: list[int] = []

    def look(now: Advance) -> None:
        if now.done:
            files = str(tmp_path / "out" / "classes" / "*.parquet")
            ((count,),) = duckdb.sql(f"select count(distinct point) from '{files}'").fetchall()
            assert count == now.done
            assert pl.scan_parquet(files).select("point").unique().collect().height == now.done
            counts.append(count)

    library.sweep(scenario, {"seed": "1:60:1", "duration": "30s"}, output=tmp_path / "out", progress=look)
    assert counts[-1] == 60
    assert pandas.read_parquet(tmp_path / "out" / "classes")["point"].nunique() == 60


def test_an_orphaned_part_is_simulated_again(scenario: Path, tmp_path: Path) -> None:
    """The writer is killed after the tables of its points and before the table of points."""
    with pytest.raises(OSError, match="the machine is gone"):
        library.sweep(scenario, VALUES, engine=Dying(), output=tmp_path / "out")
    for path in (tmp_path / "out" / POINTS).iterdir():
        path.unlink()
    (tmp_path / "out" / "classes" / ".left.parquet.new").write_bytes(b"half")
    found = library.sweep(scenario, VALUES, output=tmp_path / "out")
    assert found.complete
    assert found.classes.equals(library.sweep(scenario, VALUES).classes)


def test_a_damaged_part_is_simulated_again(scenario: Path, tmp_path: Path) -> None:
    """A result of a power loss: a name without its content."""
    with pytest.raises(OSError, match="the machine is gone"):
        library.sweep(scenario, VALUES, engine=Dying(), output=tmp_path / "out")
    for path in (tmp_path / "out" / POINTS).iterdir():
        path.write_bytes(b"")
    with pytest.warns(LeftoverWarning, match="is damaged"):
        assert library.sweep(scenario, VALUES, output=tmp_path / "out").points.height == POINTS_OF_IT


def test_other_results_are_kept(perhop: Command, scenario: Path, tmp_path: Path) -> None:
    line = ["sweep", scenario, "--duration", "2s", "-q", "-o", "out", "--set"]
    assert perhop(*line, "seed=1,2").code == 0
    before = files_in(tmp_path / "out")
    ended = perhop(*line, "seed=1,3")
    assert ended.code == 2
    assert "has another sweep" in ended.err
    assert files_in(tmp_path / "out") == before
    assert perhop(*line, "seed=1,3", "--force").code == 0
    assert files_in(tmp_path / "out.old-1") == before
    again = perhop("sweep", scenario, "--duration", "2s", "-o", "out", "--set", "seed=1,3")
    assert again.code == 0
    assert "2 points were already complete" in again.err
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "letter.txt").write_text("dear")
    assert perhop(*line[:-2], "mine", "--set", "seed=1,2").code == 2
    assert (tmp_path / "mine" / "letter.txt").read_text() == "dear"


def test_two_writers(scenario: Path, tmp_path: Path) -> None:
    def another(now: Advance) -> None:
        with pytest.raises(InvalidInputError, match="is being written by another perhop"):
            library.sweep(scenario, VALUES, output=tmp_path / "out")

    library.sweep(scenario, VALUES, output=tmp_path / "out", progress=another)


def test_points_that_fail_do_not_stop_the_others(perhop: Command, scenario: Path, tmp_path: Path) -> None:
    line = ["sweep", scenario, "--set", "duration=2s,20s", "--set", "measure.warmup=1s,10s", "-o", "out"]
    ended = perhop(*line)
    assert ended.code == 0, ended.err
    assert "4 points" in ended.out
    assert "1 failed" in ended.out
    assert "point 1 failed: " in ended.err
    assert "perhop run --from out:1" in ended.err
    found = Sweep.load(tmp_path / "out")
    assert found.failures["point"].to_list() == [1]
    assert "warmup" in found.failures["error"][0]
    assert set(found.classes["point"]) == {0, 2, 3}
    repeated = perhop("run", "--from", "out:1", "-q")
    assert repeated.code == 2
    assert "warmup" in repeated.err
    assert perhop(*line, "-q").code == 0, "what failed is not tried again"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
def test_a_full_disk_keeps_existing_parts(
    scenario: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The test needs the right to mount a file system of 200 kB, which has space for several parts."""
    monkeypatch.setattr("perhop.sweeping.growing._LONGEST_S", 0.0)
    small = tmp_path / "small"
    small.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=200k", "tmpfs", str(small)]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True, check=False).returncode != 0:
        pytest.skip("a small file system needs root")
    try:
        values = {"seed": "1:20000:1", "duration": "2s"}
        with pytest.raises(OSError, match="No space left on device"):
            library.sweep(scenario, values, output=small / "out")
        kept = Sweep.load(small / "out").points.height
        assert 0 < kept < 20_000
    finally:
        subprocess.run(["umount", str(small)], check=True)


def test_memory_does_not_grow_with_the_points(scenario: Path, tmp_path: Path) -> None:
    """The peak memory with 500 and with 4,000 points differs only by a few bytes per point."""
    code = (
        "import resource, sys\n"
        "from pathlib import Path\n"
        "from perhop import Scenario\n"
        "from perhop.engines import Embedded\n"
        "from perhop.sweeping import design_of, plan_of, stored\n"
        f"scenario = Scenario.load({str(scenario)!r}, {{'duration': '1100ms'}})\n"
        "plan = plan_of(scenario, design_of({'seed': f'1:{sys.argv[1]}:1'}))\n"
        "stored(plan, Embedded(2), Path('out-' + sys.argv[1]))\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
    )
    few, many = (
        int(
            subprocess.run(
                [sys.executable, "-c", code, str(count)],
                cwd=tmp_path,
                capture_output=True,
                text=True,
                check=True,
            ).stdout
        )
        for count in (500, 4_000)
    )
    assert many - few < 12_000, "kB"


def test_an_interrupted_sweep_shows_how_to_continue(scenario: Path, tmp_path: Path) -> None:
    line = ["sweep", str(scenario), "--set", "seed=1:5000:1", "--duration", "20s", "-q", "-o", "out"]
    command = [sys.executable, "-m", "perhop", *line]
    with subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True) as running:
        until = time.monotonic() + 60
        while not list(tmp_path.glob("out/points/*.parquet")) and time.monotonic() < until:
            time.sleep(0.02)
        running.send_signal(signal.SIGINT)
        _, output = running.communicate(timeout=60)
    assert running.returncode == 3
    assert "of 5,000 points: the same command continues from there" in output
    assert Sweep.load(tmp_path / "out").points.height > 0


def test_other_files_stay_when_a_table_is_rewritten(tmp_path: Path) -> None:
    """Files of a killed writer remain, too; hidden files do not."""
    table, notes = tmp_path / "classes", tmp_path / "classes" / "notes.txt"
    table.mkdir()
    notes.write_text("mine")
    label = parts.Label(parts.identity({}), "classes")
    parts.add(table, label, pl.DataFrame({"point": [1], "value": [1.0]}))
    with parts.anew(table) as new:
        parts.write_whole(new, label, pl.LazyFrame({"point": [0, 1], "value": [2.0, 1.0]}), 2)
    names = [path.name for path in parts.listed(table)]
    assert [name[:9] for name in names] == ["000000000"]
    assert {path.name for path in table.iterdir()} == {*names, notes.name}
    # Killed after the exchange: the old file has the hidden name.
    table.rename(tmp_path / ".classes")
    table.mkdir()
    parts.clear_anew(table)
    assert [path.name for path in tmp_path.iterdir()] == ["classes"]
    assert notes.read_text() == "mine"
