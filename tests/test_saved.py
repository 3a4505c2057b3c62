"""Saved results: any change of a file is found before its content is used."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

import perhop as library
from conftest import ROOT, SCENARIO, Command
from perhop import compare, disk, locking, manifest
from perhop.errors import InvalidInputError, PerhopError, UnreadableFileError
from perhop.report import page
from perhop.results import Results
from perhop.saved import Saved
from perhop.saving import whole_file, whole_folder
from seeds import drawing

FLIPS = 300


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Two runs of one scenario that differ in the seed, so that their files have equal sizes or nearly so."""
    base = tmp_path_factory.mktemp("two")
    (base / "overload.yaml").write_text(SCENARIO)
    scenario = library.Scenario.load(base / "overload.yaml", {"duration": "3s"})
    for seed in (1, 2):
        library.run(scenario, seed=seed).save(base / str(seed))
    return base / "1", base / "2"


@pytest.fixture
def run(two: tuple[Path, Path], tmp_path: Path) -> Path:
    shutil.copytree(two[0], tmp_path / "run")
    return tmp_path / "run"


def refused(folder: Path, name: str) -> None:
    """Every reader refuses the folder and names the changed file."""
    readers: list[Callable[[], object]] = [lambda: Results.load(folder), lambda: page([folder])]
    for read in readers:
        with pytest.raises(PerhopError) as raised:
            read()
        assert raised.value.exit_code == 2
        assert name in str(raised.value)


def test_no_flipped_bit_goes_unnoticed(run: Path) -> None:
    draw = drawing("bits")
    files = sorted(run.iterdir())
    for _ in range(FLIPS):
        file = draw.choice(files)
        before = file.read_bytes()
        at, bit = draw.randrange(len(before)), 1 << draw.randrange(8)
        file.write_bytes(before[:at] + bytes([before[at] ^ bit]) + before[at + 1 :])
        with pytest.raises(UnreadableFileError, match=file.name):
            Results.load(run)
        file.write_bytes(before)
    Results.load(run)


def test_no_bit_of_a_manifest_can_be_flipped(run: Path) -> None:
    """Every byte of the manifest counts, because its checksums protect all other files."""
    file = run / manifest.MANIFEST
    before = file.read_bytes()
    for at in range(len(before)):
        changed = before[:at] + bytes([before[at] ^ 1 << at % 8]) + before[at + 1 :]
        with pytest.raises(UnreadableFileError):
            manifest.parse(file, changed)
    assert manifest.parse(file, before)["seed"] == 1


def test_a_file_of_another_run(two: tuple[Path, Path], run: Path) -> None:
    swapped = 0
    for file in sorted(run.iterdir()):
        before, other = file.read_bytes(), (two[1] / file.name).read_bytes()
        if before != other:
            file.write_bytes(other)
            # Another run's manifest does not match the files that differ.
            refused(run, "" if file.name == manifest.MANIFEST else file.name)
            file.write_bytes(before)
            swapped += 1
    assert swapped > 5


def test_a_deleted_or_shortened_file(run: Path) -> None:
    for file in sorted(run.iterdir()):
        before = file.read_bytes()
        file.unlink()
        refused(run, file.name)
        file.write_bytes(before[:-1])
        refused(run, file.name)
        file.write_bytes(before)


def test_all_damaged_files_are_named(run: Path) -> None:
    (run / "flows.parquet").unlink()
    (run / "summary.json").write_text("[]")
    refused(run, "flows.parquet")
    refused(run, "summary.json")


def test_a_pipe_in_place_of_a_file_is_refused_at_once(run: Path) -> None:
    (run / "flows.parquet").unlink()
    os.mkfifo(run / "flows.parquet")
    refused(run, "flows.parquet")


def test_loaded_results_survive_a_replaced_folder(two: tuple[Path, Path], tmp_path: Path) -> None:
    shutil.copytree(two[0], tmp_path / "out")
    loaded = Results.load(tmp_path / "out")
    Results.load(two[1]).save(tmp_path / "out")
    assert loaded.seed == 1
    assert loaded.table("flows").equals(Results.load(two[0]).table("flows"))
    assert not loaded.table("flows").equals(Results.load(tmp_path / "out").table("flows"))


def test_a_folder_replaced_during_a_read_is_read_again(
    two: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(two[0], tmp_path / "out")
    again, parse = Results.load(two[1]), manifest.parse

    def parsed(file: Path, content: bytes) -> dict[str, object]:
        monkeypatch.setattr(manifest, "parse", parse)
        again.save(tmp_path / "out")
        return parse(file, content)

    monkeypatch.setattr(manifest, "parse", parsed)
    assert Results.load(tmp_path / "out").seed == 2


def test_a_system_that_opens_no_folders_and_has_no_locks(
    two: tuple[Path, Path], run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Windows is an example: it may refuse to replace a folder that another process reads."""
    monkeypatch.setattr(disk, "OPENS_FOLDERS", False)
    monkeypatch.setattr(locking, "_flock", lambda: None)
    Results.load(two[0]).save(tmp_path / "out")
    Results.load(two[1]).save(tmp_path / "out")
    assert Results.load(tmp_path / "out").seed == 2
    (run / "flows.parquet").write_bytes(b"")
    refused(run, "flows.parquet")
    (run / "flows.parquet").unlink()
    refused(run, "flows.parquet")
    with pytest.raises(InvalidInputError, match="has no results of a run"):
        Results.load(tmp_path / "nowhere")
    with whole_file(tmp_path / "plot.svg") as new:
        new.write_text("plot")
    assert (tmp_path / "plot.svg").read_text() == "plot"


def test_saving_again_gives_the_same_files(two: tuple[Path, Path], tmp_path: Path) -> None:
    Results.load(two[0]).save(tmp_path / "again")
    for file in two[0].iterdir():
        assert (tmp_path / "again" / file.name).read_bytes() == file.read_bytes(), file.name


def test_an_earlier_format_is_refused_by_its_name(run: Path) -> None:
    (run / manifest.MANIFEST).write_text(
        json.dumps({"schema_version": 1, "perhop": "0.1.0", "seed": 1, "replications": 1, "tables": {}})
    )
    refused(run, "was written by an earlier version of perhop, without checksums")


def test_a_later_format_is_refused_by_its_name(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(manifest, "VERSION", 3)
    (run / manifest.MANIFEST).unlink()
    manifest.seal(run, "run", {})
    monkeypatch.undo()
    refused(run, "of a later version of perhop")


def test_a_manifest_names_only_files_of_its_folder(tmp_path: Path) -> None:
    """A manifest that names other files is forged, although its checksum is right."""
    (tmp_path / "secret").write_text("mine")
    forged = {**manifest.described("run", {}), "files": {"../secret": {"bytes": 4, "sha256": "0"}}}
    forged["sha256"] = manifest.digest(manifest.json_text(forged).encode())
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / manifest.MANIFEST).write_text(manifest.json_text(forged))
    with pytest.raises(UnreadableFileError, match="not in the folder"):
        Saved.open(tmp_path / "out")
    with whole_folder(tmp_path / "out", "run") as new:
        manifest.seal(new, "run", {})
    assert (tmp_path / "secret").read_text() == "mine"


@pytest.mark.parametrize("name", ["sweep.json", "scenario.json", "classes/", "points/"])
def test_a_sweep_is_read_back(tmp_path: Path, name: str) -> None:
    scenario = library.Scenario.load(ROOT / "examples" / "first-steps.perhop.yaml", {"duration": "2s"})
    library.sweep(scenario, {"seed": [1, 2]}).save(tmp_path / "sweep")
    library.Sweep.load(tmp_path / "sweep")
    file = tmp_path / "sweep" / name
    file = next(file.iterdir()) if file.is_dir() else file
    file.write_bytes(file.read_bytes()[:-9] + b"damaged, \n")
    for read in (library.Sweep.load, lambda folder: page([folder])):
        with pytest.raises(UnreadableFileError, match=name):
            read(tmp_path / "sweep")


def test_a_sweep_of_the_first_format_is_refused_by_name(tmp_path: Path) -> None:
    with whole_folder(tmp_path / "sweep", "sweep") as new:
        (new / "sweep.json").write_text(manifest.json_text({"schema_version": 1, "points": []}))
        manifest.seal(new, "sweep", {"seed": 1})
    with pytest.raises(UnreadableFileError, match="this perhop reads format 3"):
        library.Sweep.load(tmp_path / "sweep")


def test_a_comparison_without_its_document_is_not_two_runs(two: tuple[Path, Path], tmp_path: Path) -> None:
    first, second = map(Results.load, two)
    compare.compare(first, second).save(tmp_path / "both")
    assert "compared with" in page([tmp_path / "both"])
    (tmp_path / "both" / "comparison.json").unlink()
    with pytest.raises(UnreadableFileError, match=r"comparison\.json"):
        page([tmp_path / "both"])


def test_kinds_of_results_are_not_confused(run: Path) -> None:
    with pytest.raises(InvalidInputError, match="has no sweep: its kind is `run`"):
        library.Sweep.load(run)


@pytest.mark.parametrize("name", ["summary.json", "scenario.json", "manifest.json", "classes.parquet"])
@pytest.mark.parametrize("text", ["", "{", "[]", "null", "{}", '{"classes": 1}', "[" * 100_000])
def test_the_command_line_reports_damage(
    run: Path, name: str, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (run / name).write_text(text)
    for command in ("report", "plot throughput", "export csv", "verify"):
        with pytest.raises(SystemExit) as ended:
            _command([*command.split(), str(run)])
        assert ended.value.code == 2
        assert name in capsys.readouterr().err
    assert [path.name for path in run.parent.iterdir()] == ["run"]


def _command(tokens: list[str]) -> None:
    from perhop.command import failure
    from perhop.command.parser import app

    try:
        app(tokens, exit_on_error=False, print_error=False, result_action="return_value")
    except PerhopError as error:
        raise SystemExit(failure.report(error, tokens)) from error


@pytest.mark.touched
def test_a_large_scenario_is_read_back(perhop: Command, tmp_path: Path) -> None:
    """A run accepts the files that a run saves: here with more values than YAML aliases may expand to."""
    hosts = "".join(f"  h{number}: {{}}\n" for number in range(20_000))
    links = "".join(
        f"  - {{ between: [h{number}, r], rate: 1Mb/s, delay: 1ms }}\n" for number in range(20_000)
    )
    (tmp_path / "large.yaml").write_text(
        f"perhop: 1\nname: Large\nduration: 100ms\nhosts:\n{hosts}routers: {{ r: {{}} }}\nlinks:\n{links}"
        "traffic:\n  - name: t\n    from: h0\n    to: h1\n"
        "    source: { cbr: { rate: 100kb/s, packet: { ip: 1000B } } }\n"
    )
    assert perhop("run", "large.yaml", "-o", "out", "-q").code == 0
    ended = perhop("check", "out/scenario.json")
    assert ended.code == 0, ended.err
