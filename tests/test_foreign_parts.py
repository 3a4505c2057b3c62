"""A repeated sweep or tuning command finds parts that are damaged, missing or from another folder."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

import perhop as library
from conftest import SCENARIO, Command, files_in
from perhop import manifest
from perhop.disk import LeftoverWarning
from perhop.errors import InvalidInputError, UnreadableFileError
from perhop.sweeping import Sweep, growing, parts
from perhop.sweeping.parts import POINTS, Label
from seeds import drawing

SHORT = {"duration": "2s", "links.1.rate": "1Mb/s,2Mb/s,3Mb/s"}
LINE = ["sweep", "--duration", "2s", "-q", "--set", "links.1.rate=1Mb/s,2Mb/s,3Mb/s", "-o"]


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folders `one` and `other` of complete sweeps that differ in their seed."""
    base = tmp_path_factory.mktemp("saved")
    (base / "overload.yaml").write_text(SCENARIO)
    for seed, name in ((1, "one"), (2, "other")):
        library.sweep(base / "overload.yaml", SHORT, seed=seed, tables=["queues"], output=base / name)
    return base


def part(folder: Path, table: str) -> Path:
    (found,) = parts.listed(folder / table)
    return found


def flip(folder: Path, table: str) -> None:
    path = part(folder, table)
    content = bytearray(path.read_bytes())
    content[drawing("flip").randrange(len(content))] ^= 1
    path.write_bytes(content)


def flip_points(folder: Path, other: Path) -> None:
    flip(folder, POINTS)


def flip_classes(folder: Path, other: Path) -> None:
    flip(folder, "classes")


def delete_classes(folder: Path, other: Path) -> None:
    part(folder, "classes").unlink()


def delete_points(folder: Path, other: Path) -> None:
    part(folder, POINTS).unlink()


def delete_a_folder(folder: Path, other: Path) -> None:
    shutil.rmtree(folder / "queues")


def foreign_content(folder: Path, other: Path) -> None:
    part(folder, "classes").write_bytes(part(other, "classes").read_bytes())


def foreign_part(folder: Path, other: Path) -> None:
    part(folder, "classes").unlink()
    shutil.copy(part(other, "classes"), folder / "classes")


def foreign_part_added(folder: Path, other: Path) -> None:
    shutil.copy(part(other, "classes"), folder / "classes")


def foreign_part_in_every_table(folder: Path, other: Path) -> None:
    for table in ("classes", "queues", POINTS):
        part(folder, table).unlink()
        shutil.copy(part(other, table), folder / table)


def part_of_another_table(folder: Path, other: Path) -> None:
    shutil.move(part(folder, "queues"), folder / "classes" / part(folder, "classes").name)


HARM = [
    flip_points,
    flip_classes,
    delete_classes,
    delete_points,
    delete_a_folder,
    foreign_content,
    foreign_part,
    foreign_part_added,
    foreign_part_in_every_table,
    part_of_another_table,
]


@pytest.mark.filterwarnings("ignore::perhop.disk.LeftoverWarning")
@pytest.mark.parametrize("is_complete", [True, False], ids=["complete", "growing"])
@pytest.mark.parametrize("harm", HARM, ids=lambda harm: harm.__name__)
def test_the_same_sweep_repairs_its_folder(
    harm: Callable[[Path, Path], None], is_complete: bool, saved: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "out"
    shutil.copytree(saved / "one", folder)
    if not is_complete:
        (folder / manifest.MANIFEST).unlink()
        texts = ["sweep.json", "scenario.json"]
        text = manifest.sealed(folder, "sweep", {"seed": 1, "complete": False}, texts)
        (folder / manifest.MANIFEST).write_text(text)
    harm(folder, saved / "other")
    if is_complete:
        with pytest.raises((UnreadableFileError, InvalidInputError)):
            # An added part is not in the manifest and is not read.
            if harm is foreign_part_added:
                raise InvalidInputError("not read")
            Sweep.load(folder)
    else:
        # A reader of a growing sweep gets correct rows or none.
        try:
            assert set(Sweep.load(folder).classes["point"]) == {0, 1, 2}
        except InvalidInputError as error:
            assert "has no completed point" in str(error)
    library.sweep(saved / "overload.yaml", SHORT, seed=1, tables=["queues"], output=folder)
    assert files_in(folder) == files_in(saved / "one")


def test_every_flipped_bit_of_a_part_is_found(saved: Path, tmp_path: Path) -> None:
    draw, identity = drawing("bits"), _identity(saved / "one")
    for table in ("classes", POINTS):
        path, label = part(saved / "one", table), Label(identity, table)
        assert parts.read(path, label) is not None
        content = path.read_bytes()
        for _ in range(200):
            at = draw.randrange(8 * len(content))
            flipped = bytearray(content)
            flipped[at // 8] ^= 1 << at % 8
            (tmp_path / path.name).write_bytes(flipped)
            assert parts.read(tmp_path / path.name, label) is None


def test_a_part_is_bound_to_plan_table_and_first_point(saved: Path, tmp_path: Path) -> None:
    path, identity = part(saved / "one", "classes"), _identity(saved / "one")
    assert parts.read(path, Label(_identity(saved / "other"), "classes")) is None
    assert parts.read(path, Label(identity, "queues")) is None
    moved = tmp_path / path.name.replace("000000000-", "000000001-")
    shutil.copy(path, moved)
    assert parts.read(moved, Label(identity, "classes")) is None
    assert identity != parts.identity(_texts(saved / "one"), "another version")


def _texts(folder: Path) -> dict[str, str]:
    return {name: (folder / name).read_text() for name in ("sweep.json", "scenario.json")}


def _identity(folder: Path) -> str:
    return parts.identity(_texts(folder))


def test_files_of_the_user_stay_next_to_parts(saved: Path, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    shutil.copytree(saved / "one", folder)
    for name in ("notes.txt", "mine.parquet"):
        (folder / "classes" / name).write_text("mine")
    flip(folder, "classes")
    with pytest.warns(LeftoverWarning, match="is damaged, or a part of something else: removed"):
        library.sweep(saved / "overload.yaml", SHORT, seed=1, tables=["queues"], output=folder)
    for name in ("notes.txt", "mine.parquet"):
        assert (folder / "classes" / name).read_text() == "mine"
    assert Sweep.load(folder).classes.equals(Sweep.load(saved / "one").classes)


def test_a_part_that_changes_during_the_sweep_is_not_sealed(
    saved: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The part changes after its verification and before the manifest is written."""
    folder, also = tmp_path / "out", growing.manifest.sealed
    shutil.copytree(saved / "one", folder)
    before = (folder / manifest.MANIFEST).read_bytes()

    def late(*arguments: object, **named: object) -> str:
        foreign_content(folder, saved / "other")
        return also(*arguments, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(growing.manifest, "sealed", late)
    with pytest.raises(UnreadableFileError, match=r"classes/000000000-.*it changed meanwhile"):
        library.sweep(saved / "overload.yaml", SHORT, seed=1, tables=["queues"], output=folder)
    assert (folder / manifest.MANIFEST).read_bytes() == before


def test_a_sweep_of_an_earlier_format_is_refused(saved: Path, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    shutil.copytree(saved / "one", folder)
    text = (folder / "sweep.json").read_text().replace('"schema_version": 3', '"schema_version": 2')
    (folder / "sweep.json").write_text(text)
    (folder / manifest.MANIFEST).unlink()
    manifest.seal(folder, "sweep", {"seed": 1, "complete": True})
    with pytest.raises(InvalidInputError, match=r"has a sweep of format 2, but .* continues only format 3"):
        library.sweep(saved / "overload.yaml", SHORT, seed=1, tables=["queues"], output=folder)
    with pytest.raises(UnreadableFileError, match="has a sweep of format 2"):
        Sweep.load(folder)


def test_the_sweep_command_names_the_part(perhop: Command, scenario: Path, tmp_path: Path) -> None:
    first, *rest = LINE
    for seed, name in ((1, "one"), (2, "other")):
        assert perhop(first, scenario, "--seed", str(seed), *rest, name).code == 0
    before = files_in(tmp_path / "one")
    foreign_part(tmp_path / "one", tmp_path / "other")
    assert perhop("report", "one", "-o", "report.html").code == 2
    again = perhop(first, scenario, "--seed", "1", *rest, "one")
    assert again.code == 0
    name = part(tmp_path / "other", "classes").name
    assert f"warning: `one/classes/{name}` is damaged, or a part of something else" in again.err
    assert files_in(tmp_path / "one") == before
    assert perhop("report", "one", "-o", "report.html").code == 0


@pytest.mark.parametrize(
    ("command", "changes", "texts"),
    [
        ("sweep", ["--set", "links.1.rate=1Mb/s,2Mb/s"], ["scenario.json", "sweep.json"]),
        (
            "tune",
            ["--vary", "links.1.rate=1Mb/s,2Mb/s", "--replications", "3", "--goal", "steady.loss<=50%"],
            ["scenario.json", "tuning.json"],
        ),
    ],
    ids=["sweep", "tune"],
)
def test_a_folder_whose_question_is_not_text_is_refused(
    command: str, changes: list[str], texts: list[str], perhop: Command, scenario: Path, tmp_path: Path
) -> None:
    """The test flips the highest bit of a letter, so that the file is not valid UTF-8."""
    line = [command, scenario, "--duration", "2s", "-q", *changes, "-o", "out"]
    assert perhop(*line).code == 0
    for name in texts:
        file = tmp_path / "out" / name
        content = file.read_bytes()
        file.write_bytes(bytes([*content[:40], content[40] ^ 0x80, *content[41:]]))
        again = perhop(*line)
        assert again.code == 2 and "error: `out` has " in again.err
        file.write_bytes(content)
    assert perhop(*line).code == 0


TUNE = ["--duration", "2s", "-q", "--vary", "links.1.rate=1Mb/s,2Mb/s,3Mb/s", "--replications", "3"]


def test_the_tune_command_repairs_its_journal(perhop: Command, scenario: Path, tmp_path: Path) -> None:
    """The command replaces each part that is damaged, missing or from another tuning, even the first."""

    def tune(seed: int, output: str) -> object:
        return perhop(
            "tune", scenario, *TUNE, "--seed", str(seed), "--goal", "steady.loss<=50%", "-o", output
        )

    assert tune(1, "one").code == tune(2, "other").code == 0  # type: ignore[attr-defined]
    before, journal = files_in(tmp_path / "one"), tmp_path / "one" / "evaluations"
    names = sorted(path.name for path in journal.iterdir())
    assert len(names) > 1, "several rounds"
    (foreign, *_) = sorted((tmp_path / "other" / "evaluations").iterdir())
    path = journal / names[0]
    content = path.read_bytes()
    for harmed in (bytes([*content[:-1], content[-1] ^ 1]), None, foreign.read_bytes()):
        path.unlink()
        if harmed is not None:
            path.write_bytes(harmed)
        assert perhop("report", "one", "-o", "report.html").code == 2
        again = tune(1, "one")
        assert again.code == 0  # type: ignore[attr-defined]
        is_named = f"`one/evaluations/{names[0]}` is damaged, or a part of something else" in again.err  # type: ignore[attr-defined]
        assert is_named == (harmed is not None)
        assert files_in(tmp_path / "one") == before
    shutil.copy(foreign, journal)
    assert foreign.name in tune(1, "one").err  # type: ignore[attr-defined]
    assert files_in(tmp_path / "one") == before
