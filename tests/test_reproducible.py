"""The results depend only on the scenario and the seed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from conftest import Command, files_in

_EXAMPLES = Path(__file__).parent.parent / "examples"


def test_same_seed_same_bytes_on_any_number_of_threads(
    perhop: Command, scenario: Path, tmp_path: Path
) -> None:
    for name, threads in [("one", "1"), ("two", "2"), ("again", "2")]:
        ended = perhop("run", scenario, "--replications", "5", "--threads", threads, "-o", name, "-q")
        assert ended.code == 0, ended.err
    files = files_in(tmp_path / "one")
    assert {"summary.json", "classes.parquet", "flows.parquet", "queues.parquet"} <= set(files)
    assert files_in(tmp_path / "two") == files
    assert files_in(tmp_path / "again") == files


def test_another_seed_gives_other_draws(perhop: Command, scenario: Path) -> None:
    documents = [perhop("run", scenario, "--seed", seed, "--json").json() for seed in ("1", "2")]
    offered = [
        {row["class"]: row["offered_packets"]["mean"] for row in document["classes"]}
        for document in documents
    ]
    assert offered[0]["random"] != offered[1]["random"]
    assert offered[0]["steady"] == offered[1]["steady"], "a source without randomness does not draw"


def test_the_environment_does_not_matter(perhop: Command, scenario: Path) -> None:
    plain = perhop("run", scenario, "--json")
    other = perhop(
        "run", scenario, "--json", LC_ALL="C", TZ="Asia/Tokyo", PYTHONHASHSEED="7", RAYON_NUM_THREADS="1"
    )
    assert plain.out == other.out


@pytest.mark.parametrize("example", sorted(_EXAMPLES.glob("*.perhop.yaml")), ids=lambda path: path.name)
def test_every_engine_gives_the_same_bytes(example: Path, perhop: Command, tmp_path: Path) -> None:
    for engine, threads in (("fast", "1"), ("plain", "1"), ("parallel", "3")):
        chosen = ("--engine", engine, "--threads", threads)
        ended = perhop("run", example, "--replications", "1", *chosen, "-o", engine, "-q")
        assert ended.code == 0, ended.err
    assert files_in(tmp_path / "plain") == files_in(tmp_path / "fast") == files_in(tmp_path / "parallel")
    classes = json.loads((tmp_path / "fast" / "summary.json").read_text())["classes"]
    assert sum(row["delivered_packets"]["mean"] for row in classes) > 0


def test_an_unknown_engine_is_one_clear_error(perhop: Command, scenario: Path) -> None:
    ended = perhop("run", scenario, "--engine", "steam")
    assert ended.code == 2
    assert '"fast", "parallel", "plain"' in ended.err
