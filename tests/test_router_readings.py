"""Output and rates of real routers: perhop computes and simulates the same values."""

from __future__ import annotations

import sys
import tomllib

import pytest

from conftest import ROOT

sys.path.insert(0, str(ROOT))
from fidelity.readings import CASES, READINGS, Reading, found_by_perhop

DEVIATIONS = [
    deviation
    for deviation in tomllib.loads((ROOT / "docs" / "deviations.toml").read_text())["deviation"]
    if deviation["algorithm"] == "router readings"
]


def test_every_deviating_reading_has_a_reason() -> None:
    departing = [reading for reading in READINGS if "departs" in reading.values]
    reasons = {deviation["source"]: deviation for deviation in DEVIATIONS}
    assert {CASES[reading.case]["source"] for reading in departing} == set(reasons)
    for reading in departing:
        assert str(reading.values["value"]) in reasons[CASES[reading.case]["source"]]["quote"], str(reading)


@pytest.mark.parametrize("reading", READINGS, ids=str)
def test_readings_of_routers_agree(reading: Reading) -> None:
    found = found_by_perhop(reading)
    assert found
    met = all(reading.meets(value) for value in found)
    assert met is not bool(reading.values.get("departs")), f"{reading}: {found}"
