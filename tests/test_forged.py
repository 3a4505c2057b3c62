"""Forged contents with correct checksums are either used unchanged or refused with an error.

`PERHOP_FORGED` is the number of forgeries for each kind of folder: 40, or 10,000 where a reader has changed.
"""

from __future__ import annotations

import copy
import json
import os
import random
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import perhop as library
from conftest import ROOT, SCENARIO, Command
from perhop import compare, manifest
from perhop.errors import Exit, PerhopError, UnreadableFileError
from perhop.interchange.flent import write_flent
from perhop.interchange.iperf3 import iperf3_document
from perhop.interchange.tables import write_csv
from perhop.layout import ADDED, TABLES
from perhop.repeating import verify
from perhop.report import page
from perhop.results import Results
from perhop.study import find, run
from seeds import drawing
from tiers import touched

FORGED = int(os.environ.get("PERHOP_FORGED", "40"))
KINDS = ("run", "routers", "sweep", "comparison", "study")
# Replacements for a part of a JSON file.
OTHERS: list[Any] = [None, True, 0, -1, 1, 2**64, 10**400, 0.5, -1e308, 1e308, "", "text", "agrees", [], {}]
OTHERS += [[0], [[]], {"mean": None}, "../../etc", "\u202e", "1s", "fifo"]
DTYPES = [pl.String, pl.Float64, pl.Int64, pl.UInt32, pl.Boolean, pl.List(pl.UInt64), pl.Binary, pl.Date]


def seal(folder: Path) -> None:
    """Write the checksums of the current files of a folder."""
    inner = [path.parent for path in folder.rglob(manifest.MANIFEST)]
    for place in sorted(inner, key=lambda path: -len(path.parts)):
        sealed = json.loads((place / manifest.MANIFEST).read_text())
        (place / manifest.MANIFEST).unlink()
        own = ("format", "schema_version", "perhop", "kind", "files", "sha256")
        manifest.seal(place, sealed["kind"], {key: value for key, value in sealed.items() if key not in own})


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A folder of every kind that a report reads."""
    base = tmp_path_factory.mktemp("saved")
    (base / "overload.yaml").write_text(SCENARIO)
    scenario = library.Scenario.load(base / "overload.yaml", {"duration": "2s"})
    runs = [scenario.run(seed=seed, replications=2) for seed in (1, 2)]
    runs[0].save(base / "run")
    routers = library.Scenario.load(ROOT / "examples" / "router-configuration.perhop.yaml")
    routers.run(replications=1).save(base / "routers")
    library.sweep(scenario, {"seed": [1, 2]}).save(base / "sweep")
    compare.compare(*runs).save(base / "comparison")
    run(find("car-wfq-tcp"), only=["scenario-1"], replications=1, sensitivity=False).save(base / "study")
    return {kind: base / kind for kind in KINDS}


def _paths(found: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    parts = found.items() if isinstance(found, dict) else enumerate(found) if isinstance(found, list) else ()
    for key, part in parts:
        yield (*path, key)
        yield from _paths(part, (*path, key))


def _forge_json(file: Path, draw: random.Random) -> str:
    found = json.loads(file.read_text())
    # Few parts are near the top, so each level is equally likely.
    by_depth: dict[int, list[tuple[Any, ...]]] = {}
    for path in _paths(found):
        by_depth.setdefault(len(path), []).append(path)
    *above, last = draw.choice(by_depth[draw.choice(list(by_depth))])
    inside = found
    for key in above:
        inside = inside[key]
    how = draw.randrange(3)
    if how == 0:
        del inside[last]
    elif how == 1 and isinstance(inside[last], dict | list):
        inside[last] = copy.deepcopy(
            draw.choice([*found.values(), inside] if isinstance(found, dict) else found)
        )
    else:
        inside[last] = draw.choice(OTHERS)
    file.write_text(json.dumps(found))
    return f"{file.name} {'.'.join(map(str, (*above, last)))} {how}"


def _forge_table(file: Path, draw: random.Random) -> str:
    table = pl.read_parquet(file)
    column = draw.choice(table.columns)
    how = draw.randrange(7)
    match how:
        case 0:
            table = table.drop(column)
        case 1:
            values = [None] * table.height
            table = table.with_columns(pl.Series(column, values, dtype=draw.choice(DTYPES)))
        case 2:
            table = table.rename({column: "another"})
        case 3:
            table = table.head(draw.choice([0, 1, 3]))
        case 4:
            table = pl.concat([table, table])
        case 5:
            table = table.with_columns(pl.Series(column, [0] * table.height).cast(draw.choice(DTYPES[:5])))
        case _:
            file.write_bytes(draw.choice([b"", b"PAR1", b"PAR1" * 10, file.read_bytes()[:-4]]))
            return f"{file.name} is no table"
    table.write_parquet(file)
    return f"{file.name} {column} {how}"


def _forge(folder: Path, draw: random.Random) -> str:
    files = sorted(path for path in folder.rglob("*") if path.suffix in (".json", ".parquet"))
    tables = [path for path in files if path.suffix == ".parquet"]
    texts = [path for path in files if path.suffix == ".json" and path.name != manifest.MANIFEST]
    forgery = (
        _forge_table(draw.choice(tables), draw)
        if draw.random() < 0.4
        else _forge_json(draw.choice(texts), draw)
    )
    seal(folder)
    return forgery


def _readers(kind: str, others: dict[str, Path], folder: Path, out: Path) -> Iterator[Callable[[], object]]:
    yield lambda: page([folder])
    if kind == "run":
        yield lambda: write_csv(Results.load(folder), out / "csv")
        yield lambda: iperf3_document(Results.load(folder))
        yield lambda: write_flent(Results.load(folder), out / "flows.flent.gz")
        yield lambda: compare.compare(Results.load(folder), Results.load(others["run"]))
        yield lambda: verify(folder)


@pytest.mark.parametrize("kind", touched(KINDS, but=("run", "study")))
def test_forged_contents_are_used_or_refused(
    kind: str, saved: dict[str, Path], tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    draw, folder, wrong, refused = drawing(kind), tmp_path / "forged", [], 0
    for read in _readers(kind, saved, saved[kind], tmp_path):
        read()
    for number in range(FORGED):
        shutil.copytree(saved[kind], folder)
        forgery = _forge(folder, draw)
        for read in _readers(kind, saved, folder, tmp_path):
            try:
                read()
            except PerhopError as error:
                refused += 1
                if error.exit_code != Exit.INVALID_INPUT:
                    wrong.append(f"{number} {forgery}: exit code {error.exit_code}")
            except BaseException as error:
                if isinstance(error, KeyboardInterrupt):
                    raise
                wrong.append(f"{number} {forgery}: {type(error).__name__}: {str(error)[:100]}")
        shutil.rmtree(folder)
    record_property("refused", refused)
    assert wrong == []
    assert refused > FORGED // 4


def test_readers_require_exactly_the_columns_of_a_run(saved: dict[str, Path]) -> None:
    """The columns that readers require are those that the simulator writes."""
    results = Results.load(saved["run"])
    assert results.names == list(TABLES)
    for name, always in TABLES.items():
        columns = {**always, **ADDED.get(name, {})}
        table = pl.read_parquet(saved["run"] / f"{name}.parquet")
        assert set(table.columns) == set(columns), name
        assert set(results.units[name]) == set(columns), name
        kinds = {pl.UInt64: "count", pl.Float64: "float", pl.Enum: "text"}
        assert {column: kinds[type(table.schema[column])] for column in columns} == dict(columns), name


@pytest.mark.parametrize(
    ("file", "change", "says"),
    [
        ("summary.json", lambda found: found.pop("classes"), "there is no `classes`"),
        ("summary.json", lambda found: found["classes"][0].pop("delay_p99_s"), "`classes.0.delay_p99_s`"),
        ("summary.json", lambda found: found.update(duration_s="long"), "is `long` in place of a number"),
        ("summary.json", lambda found: found.update(seed=99), "`seed` is 99, and 1 in the manifest"),
        ("scenario.json", lambda found: found["links"][0].update(between=["a", "b"]), "links.0.between"),
    ],
)
def test_errors_are_reported(
    file: str,
    change: Callable[[Any], None],
    says: str,
    saved: dict[str, Path],
    perhop: Command,
    tmp_path: Path,
) -> None:
    shutil.copytree(saved["run"], tmp_path / "forged")
    found = json.loads((tmp_path / "forged" / file).read_text())
    change(found)
    (tmp_path / "forged" / file).write_text(manifest.json_text(found))
    seal(tmp_path / "forged")
    ended = perhop("report", "forged", "-o", "report.html")
    assert ended.code == 2
    assert ended.err.startswith(f"error: `forged/{file}` is damaged: ") and says in ended.err, ended.err
    assert not (tmp_path / "report.html").exists()


def test_a_table_without_a_column(saved: dict[str, Path], perhop: Command, tmp_path: Path) -> None:
    shutil.copytree(saved["run"], tmp_path / "forged")
    file = tmp_path / "forged" / "throughput.parquet"
    pl.read_parquet(file).drop("throughput_bps").write_parquet(file)
    seal(tmp_path / "forged")
    ended = perhop("plot", "throughput", "forged", "-o", "plot.svg")
    assert (ended.code, ended.err.splitlines()[0]) == (
        2,
        "error: `forged/throughput.parquet` is damaged: there is no column `throughput_bps`",
    )


def test_a_table_without_a_class_of_the_summary(saved: dict[str, Path], tmp_path: Path) -> None:
    shutil.copytree(saved["run"], tmp_path / "forged")
    file = tmp_path / "forged" / "classes.parquet"
    pl.read_parquet(file).head(3).write_parquet(file)
    seal(tmp_path / "forged")
    with pytest.raises(UnreadableFileError, match=r"classes\.parquet` is damaged: it does not have a row"):
        page([tmp_path / "forged"])


def test_a_moved_trace_is_not_damage(tmp_path: Path) -> None:
    """Results do not contain the files that their scenario names, and can be read without them."""
    scenario = library.Scenario.load(ROOT / "examples" / "trace.perhop.yaml", {"duration": "2s"})
    scenario.run(seed=1, replications=1).save(tmp_path / "out")
    assert Results.load(tmp_path / "out").scenario["name"] == scenario["name"]
    assert "<html" in page([tmp_path / "out"])
