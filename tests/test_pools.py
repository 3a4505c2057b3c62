"""The ports that occupied a full shared memory: results, printed tables and verdicts."""

from __future__ import annotations

from typing import Any

import pytest

import perhop
from conftest import ROOT, Command

HOT_PORTS = ROOT / "examples" / "hot-ports.perhop.yaml"
FIRST, SECOND = "switch->port-1-client", "switch->port-2-client"
#: The units that the two ports share, and the units that a frame occupies.
UNITS, FRAME_UNITS = 1200, 6


@pytest.fixture(scope="module")
def results() -> perhop.Results:
    return perhop.run(HOT_PORTS)


def test_the_table_names_the_ports_that_held_the_memory(results: perhop.Results) -> None:
    found = results.pools.filter(results.pools["replication"] == 0)
    rows = {(row["port"], row["holder"]): row for row in found.iter_rows(named=True)}
    # The first port occupied all units when the second port got its first frame. The third port has its own
    # memory.
    assert set(rows) == {(FIRST, FIRST), (SECOND, FIRST)}
    for victim in (FIRST, SECOND):
        own = [row for (port, _), row in rows.items() if port == victim]
        assert {row["pool_units"] for row in own} == {UNITS}
        for units in ("first_units", "fullest_units"):
            held = sum(row[units] for row in own)
            # No room for a further frame.
            assert UNITS - FRAME_UNITS < held <= UNITS
        assert all(0 < row["first_drop_s"] <= row["fullest_drop_s"] < 0.02 for row in own)
    # The long answers arrived first.
    assert rows[FIRST, FIRST]["first_drop_s"] < 0.002 < rows[SECOND, FIRST]["first_drop_s"]


def test_ports_without_drops_of_the_pool_have_no_rows(perhop: Command) -> None:
    ended = perhop("run", HOT_PORTS, "--set", "policies.port-1.queueing.memory.limit=700", "--json")
    found = ended.json()
    # Drops are by the limit of the port, not by the pool.
    assert "pools" not in found
    assert "that held the shared memory" not in perhop("run", ROOT / "examples" / "wred.perhop.yaml").out


def test_the_document_and_the_verdict_have_them(perhop: Command) -> None:
    found = perhop("run", HOT_PORTS, "--json").json()
    assert {(row["port"], row["holder"]) for row in found["pools"]} >= {(SECOND, FIRST)}
    verdicts: dict[str, dict[str, Any]] = {verdict["class"]: verdict for verdict in found["verdicts"]}
    short = verdicts["short answer"]
    assert (short["cause"], short["pool_holder"]) == ("shared_memory", FIRST)
    assert short["pool_holder_percent"] > 99
    assert f"{FIRST} held 100 % of that memory at the first drop" in short["text"]
    assert verdicts["short answer, other memory"]["pool_holder"] is None


def test_a_run_prints_them(perhop: Command) -> None:
    out = perhop("run", HOT_PORTS).out
    [_, table] = out.split("ports with packets in the shared memory when it was full", 1)
    assert FIRST in table and SECOND in table and "1,200" in table
