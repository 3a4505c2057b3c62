"""The results depend on the scenario and the seed, and on nothing else."""

from __future__ import annotations

from pathlib import Path

from conftest import Command, files_in


def test_same_seed_same_bytes_on_any_number_of_threads(
    perhop: Command, scenario: Path, tmp_path: Path
) -> None:
    for name, threads in [("one", "1"), ("two", "2"), ("again", "2")]:
        ended = perhop("run", scenario, "--replications", "5", "--threads", threads, "-o", name, "-q")
        assert ended.code == 0, ended.err
    one = files_in(tmp_path / "one")
    assert {"summary.json", "classes.parquet", "flows.parquet", "queues.parquet"} <= set(one)
    assert files_in(tmp_path / "two") == one
    assert files_in(tmp_path / "again") == one


def test_another_seed_gives_other_draws(perhop: Command, scenario: Path) -> None:
    documents = [perhop("run", scenario, "--seed", seed, "--json").json() for seed in ("1", "2")]
    offered = [
        {one["class"]: one["offered_packets"]["mean"] for one in document["classes"]}
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
