"""`perhop verify`: the saved results are intact, and the run reproduces them."""

from __future__ import annotations

import json
import shutil
from hashlib import sha256
from pathlib import Path

import polars as pl
import pytest

import perhop as library
from conftest import ROOT, SCENARIO, Command
from perhop import disk, manifest
from perhop.frames import as_parquet
from perhop.repeating import verify
from perhop.sweeping.parts import Label, identity, name_of


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    base = tmp_path_factory.mktemp("saved")
    (base / "overload.yaml").write_text(SCENARIO)
    scenario = library.Scenario.load(base / "overload.yaml", {"duration": "3s"})
    library.run(scenario, seed=7, replications=2).save(base / "out")
    return base / "out"


@pytest.fixture
def out(saved: Path, tmp_path: Path) -> Path:
    shutil.copytree(saved, tmp_path / "out")
    return tmp_path / "out"


def resealed(folder: Path) -> None:
    """Write matching checksums into a changed folder, as a program with other results would."""
    found = manifest.parse(folder / "manifest.json", (folder / "manifest.json").read_bytes())
    (folder / "manifest.json").unlink()
    of_kind = {"run": ("scenario_sha256", "seed", "replications", "tables"), "sweep": ("seed", "complete")}
    manifest.seal(folder, found["kind"], {key: found[key] for key in of_kind[found["kind"]]})


def test_an_unchanged_run_is_verified(perhop: Command, out: Path) -> None:
    ended = perhop("verify", out)
    assert ended.code == 0, ended.err
    assert ended.out.splitlines()[1] == f"{out}: identical when repeated (seed 7, 2 replications)"
    document = perhop("verify", out, "--json").json()
    assert (document["identical"], document["kind"], document["files"]) == (
        True,
        "run",
        len(list(out.iterdir())),
    )


@pytest.mark.parametrize("source", ["router.cfg", "network"])
def test_a_run_of_configurations_is_repeated(perhop: Command, tmp_path: Path, source: str) -> None:
    """The origin of an inferred scenario is saved with its results and is not part of a repeated run."""
    run = ("run", ROOT / "examples" / source, "-o", "out", "--duration", "1s", "--replications", "2")
    ended = perhop(*run)
    assert ended.code == 0, ended.err
    verified = perhop("verify", "out")
    assert verified.code == 0, verified.out
    assert "identical when repeated" in verified.out


def test_damage_is_found(perhop: Command, out: Path) -> None:
    file = out / "flows.parquet"
    file.write_bytes(file.read_bytes()[:-1] + b"!")
    ended = perhop("verify", out)
    assert ended.code == 2
    assert "flows.parquet` is damaged: it has changed since it was saved (SHA-256)" in ended.err


def test_changed_cells_are_found(perhop: Command, out: Path) -> None:
    """The message names the differing table, the number of cells, and the first of them."""
    table = pl.read_parquet(out / "classes.parquet")
    row = table.row(1, named=True)
    changed = table.with_columns(
        delivered_packets=pl.when(pl.int_range(pl.len()) > 0)
        .then(pl.col("delivered_packets") + 1)
        .otherwise(pl.col("delivered_packets"))
    )
    disk.write(out / "classes.parquet", as_parquet(changed.cast(table.schema)))
    resealed(out)
    ended = perhop("verify", out)
    assert ended.code == 4, ended.err
    saved, now = row["delivered_packets"] + 1, row["delivered_packets"]
    cells = f"{table.height - 1} of {table.height * table.width} cells differ"
    first = f"delivered_packets in row 1: {saved} was saved, {now} is now"
    assert ended.out.splitlines()[1:] == [
        f"{out}: different when repeated (seed 7, 2 replications)",
        f"  classes.parquet: {cells}, first {first}",
    ]
    (difference,) = perhop("verify", out, "--json").json()["repeated"][0]["differences"]
    assert (difference["file"], difference["differing"]) == ("classes.parquet", table.height - 1)
    assert perhop("verify", out, "--no-repeat").code == 0
    assert perhop("verify", out, "-q").out == ""


def test_changed_summaries_and_tables_are_found(out: Path) -> None:
    summary = json.loads((out / "summary.json").read_text())
    summary["classes"][0]["class"] = "renamed"
    summary["new"] = 1
    disk.write(out / "summary.json", manifest.json_text(summary))
    flows = pl.read_parquet(out / "flows.parquet")
    disk.write(out / "flows.parquet", as_parquet(flows.head(1)))
    disk.write(out / "ports.parquet", as_parquet(pl.read_parquet(out / "ports.parquet").drop("sent_packets")))
    resealed(out)
    differences = {difference.file: str(difference) for difference in verify(out).repeated[0].differences}
    assert set(differences) == {"summary.json", "flows.parquet", "ports.parquet"}
    assert "2 of " in differences["summary.json"]
    assert "first classes.0.class: 'renamed' was saved, 'steady' is now" in differences["summary.json"]
    assert differences["flows.parquet"] == f"flows.parquet: had 1 row and has {flows.height} now"
    assert differences["ports.parquet"] == "ports.parquet: has other columns now: sent_packets"


def test_equal_cells_in_other_bytes_are_accepted(out: Path) -> None:
    """Another version of the library may encode a table differently."""
    table = pl.read_parquet(out / "flows.parquet")
    table.write_parquet(out / "flows.parquet", compression="uncompressed")
    resealed(out)
    assert verify(out).identical


def test_every_point_of_a_sweep_is_verified(perhop: Command, scenario: Path, tmp_path: Path) -> None:
    line = ["sweep", scenario, "--duration", "2s", "--set", "seed=1,2", "-q", "-o", "sweep"]
    assert perhop(*line).code == 0
    ended = perhop("verify", "sweep")
    assert ended.code == 0, ended.err
    assert "sweep: identical when repeated" in ended.out
    table = next((tmp_path / "sweep" / "classes").iterdir())
    changed = pl.read_parquet(table).with_columns(pl.col("delivered_packets") + 1)
    content = as_parquet(changed)
    table.unlink()
    folder = tmp_path / "sweep"
    texts = {name: (folder / name).read_text(encoding="utf-8") for name in ("sweep.json", "scenario.json")}
    label = Label(identity(texts), "classes")
    (table.parent / name_of(label, 0, sha256(content).hexdigest())).write_bytes(content)
    resealed(tmp_path / "sweep")
    ended = perhop("verify", "sweep")
    assert ended.code == 4
    assert "classes: 4 of " in ended.out


def test_captures_are_checked_and_not_repeated(perhop: Command, scenario: Path, tmp_path: Path) -> None:
    assert perhop("run", scenario, "--duration", "2s", "-q", "--pcap", "captures").code == 0
    ended = perhop("verify", "captures")
    assert ended.code == 0, ended.err
    assert "not repeated: captures without simulated runs" in ended.out
    (file, *_) = (tmp_path / "captures").glob("*.pcapng")
    file.write_bytes(file.read_bytes()[:-1])
    assert perhop("verify", "captures").code == 2


def test_a_run_with_a_trace(perhop: Command, tmp_path: Path) -> None:
    """The path of the trace is relative to the scenario, which is not in the folder of results."""
    example = ROOT / "examples" / "trace.perhop.yaml"
    assert perhop("run", example, "-q", "-o", "out").code == 0
    ended = perhop("verify", "out")
    assert ended.code == 2
    assert "the files of `out` are unchanged, but the scenario cannot run: there is no" in ended.err
    assert "--base" in ended.err
    ended = perhop("verify", "out", "--base", example.parent)
    assert ended.code == 0, ended.err


def test_a_folder_of_another_user(perhop: Command, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for name in ("empty", "nowhere"):
        ended = perhop("verify", name)
        assert ended.code == 2
        assert "has no results of perhop: there is no manifest.json" in ended.err
