"""Every changed byte in saved files of perhop is detected, and every file from another result.

`PERHOP_FLIPS` is the number of flips for each kind of folder: 400, or `all` for every byte of every file.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import perhop as library
from conftest import ROOT, SCENARIO, Command
from perhop import compare
from perhop.errors import InvalidInputError, UnreadableFileError
from perhop.interchange.tables import write_csv
from perhop.plot.studies import read_study
from perhop.repeating import verify
from perhop.report import page
from perhop.results import Results
from perhop.saved import Saved
from perhop.study import find, run
from seeds import drawing
from tiers import touched

FLIPS = os.environ.get("PERHOP_FLIPS", "400")
STARTER = ROOT / "examples" / "first-steps.perhop.yaml"

# Records the number of cases, for the report of `pytest --junitxml`.
Told = Callable[[str, object], None]

# The kind of a folder, and the commands that read it.
READERS: dict[str, tuple[Callable[[Path], object], ...]] = {
    "run": (Results.load, lambda folder: page([folder])),
    "sweep": (library.Sweep.load, lambda folder: page([folder])),
    "comparison": (compare.load, lambda folder: page([folder])),
    "study": (read_study, lambda folder: page([folder])),
    "captures": (Saved.open,),
    "tables": (Saved.open,),
}


def _study(folder: Path, seed: int) -> None:
    run(find("car-wfq-tcp"), only=["scenario-1"], seed=seed, replications=1, sensitivity=False).save(folder)


def _saved(base: Path, scenario: Path, seed: int) -> dict[str, Path]:
    """Save one folder of every kind."""
    loaded = library.Scenario.load(scenario)
    result = loaded.run(seed=seed)
    result.save(base / "run")
    library.Scenario.load(scenario, {"duration": "2s"}).run(seed=seed, pcap=base / "captures")
    library.sweep(loaded, {"seed": [seed, seed + 10]}).save(base / "sweep")
    compare.compare(result, loaded.run(seed=seed + 10)).save(base / "comparison")
    write_csv(result, base / "tables")
    _study(base / "study", seed)
    return {kind: base / kind for kind in READERS}


@pytest.fixture(scope="module")
def starter(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A folder of every kind, of the starter scenario."""
    return _saved(tmp_path_factory.mktemp("starter"), STARTER, 1)


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Path]]:
    """Two folders of every kind, of a scenario in which the seed matters for every table."""
    base = tmp_path_factory.mktemp("two")
    (base / "overload.yaml").write_text(SCENARIO)
    return [_saved(base / str(seed), base / "overload.yaml", seed) for seed in (1, 2)]


@pytest.fixture(params=touched(READERS, but=("run", "sweep")))
def kind(request: pytest.FixtureRequest) -> str:
    found: str = request.param
    return found


@pytest.fixture
def folder(kind: str, starter: dict[str, Path], tmp_path: Path) -> Path:
    """Return a copy that the test may change."""
    shutil.copytree(starter[kind], tmp_path / kind)
    return tmp_path / kind


def files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def places(folder: Path) -> Iterator[tuple[Path, int]]:
    """The files and the bytes in them that are flipped: a sample in which files count equally, or all."""
    draw, all_files = drawing("places"), files(folder)
    if FLIPS == "all":
        yield from ((file, at) for file in all_files for at in range(file.stat().st_size))
        return
    for _ in range(int(FLIPS)):
        file = draw.choice(all_files)
        yield file, draw.randrange(file.stat().st_size)


def test_no_flipped_byte_goes_unnoticed(kind: str, folder: Path, record_property: Told) -> None:
    draw, unnoticed, count = drawing("flips"), [], 0
    for file, at in places(folder):
        with file.open("r+b") as opened:
            before = os.pread(opened.fileno(), 1, at)
            os.pwrite(opened.fileno(), bytes([before[0] ^ draw.randint(1, 255)]), at)
            try:
                READERS[kind][0](folder)
                unnoticed.append((file.name, at))
            except UnreadableFileError as error:
                # The message names the changed file.
                if file.name not in str(error):
                    unnoticed.append((file.name, at))
            os.pwrite(opened.fileno(), before, at)
        count += 1
    assert unnoticed == []
    assert count >= 400
    record_property("flips", count)
    for read in READERS[kind]:
        read(folder)


def test_every_reader_refuses(kind: str, folder: Path) -> None:
    """One byte of each file, for each reader and `verify`."""
    readers = (*READERS[kind], lambda folder: verify(folder, repeat=False))
    draw = drawing("readers")
    chosen = files(folder) if len(files(folder)) < 20 else draw.sample(files(folder), 20)
    for file in chosen:
        before = file.read_bytes()
        at = draw.randrange(len(before))
        file.write_bytes(before[:at] + bytes([before[at] ^ 1 << draw.randrange(8)]) + before[at + 1 :])
        for read in readers:
            with pytest.raises(UnreadableFileError, match=file.name):
                read(folder)
        file.write_bytes(before)


def test_no_file_can_be_swapped(
    kind: str, two: list[dict[str, Path]], tmp_path: Path, record_property: Told
) -> None:
    """Each file replaces each other file, of this folder and of another one, if their contents differ."""
    folder, other = tmp_path / kind, two[1][kind]
    shutil.copytree(two[0][kind], folder)
    own = files(folder)
    sources = {
        f"{number}:{file.relative_to(base)}": file.read_bytes()
        for number, base in enumerate((folder, other))
        for file in files(base)
    }
    pairs = [(file, source) for file in own for source in sources]
    if FLIPS != "all":
        names = [(file, f"1:{file.relative_to(folder)}") for file in own]
        known = [pair for pair in names if pair[1] in sources]
        pairs = known + drawing("swaps").sample(pairs, min(len(pairs), int(FLIPS)))
    swapped = 0
    for file, source in pairs:
        before = file.read_bytes()
        if sources[source] == before:
            continue
        file.write_bytes(sources[source])
        # The manifest of an inner folder makes this folder one of another kind, which is invalid input.
        with pytest.raises(InvalidInputError):
            READERS[kind][0](folder)
        file.write_bytes(before)
        swapped += 1
    assert swapped > len(own) // 2
    record_property("swaps", swapped)
    READERS[kind][0](folder)


def test_all_files_but_one_from_another_folder(kind: str, two: list[dict[str, Path]], tmp_path: Path) -> None:
    """All files of the other folder, and one of the original folder."""
    folder, mixed, count = two[0][kind], tmp_path / kind, 0
    shutil.copytree(two[1][kind], mixed)
    for file in files(folder):
        place = mixed / file.relative_to(folder)
        if not place.is_file() or place.read_bytes() == file.read_bytes():
            continue
        before = place.read_bytes()
        shutil.copy(file, place)
        with pytest.raises(UnreadableFileError):
            READERS[kind][0](mixed)
        place.write_bytes(before)
        count += 1
    assert count > 1
    READERS[kind][0](mixed)


@pytest.mark.parametrize("name", ["classes.parquet", "summary.json", "manifest.json"])
@pytest.mark.parametrize("command", ["report", "verify", "plot throughput"])
def test_the_command_line_reports_it_in_one_line(
    perhop: Command, starter: dict[str, Path], tmp_path: Path, name: str, command: str
) -> None:
    shutil.copytree(starter["run"], tmp_path / "out")
    file = tmp_path / "out" / name
    before = file.read_bytes()
    file.write_bytes(before[:100] + bytes([before[100] ^ 4]) + before[101:])
    ended = perhop(*command.split(), "out")
    assert (ended.code, ended.out) == (2, "")
    lines = ended.err.splitlines()
    assert lines[0].startswith(f"error: `out/{name}` is damaged: ")
    assert [line.partition(":")[0] for line in lines[1:]] == ["help"]
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
