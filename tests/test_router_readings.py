"""Output and rates of real routers: perhop computes and simulates the same values."""

from __future__ import annotations

import sys
import tomllib

import pytest

from conftest import ROOT

sys.path.insert(0, str(ROOT))
from fidelity.readings import CASES, READINGS, Reading, found_by_perhop

DEVIATIONS = [
    one
    for one in tomllib.loads((ROOT / "docs" / "deviations.toml").read_text())["deviation"]
    if one["algorithm"] == "router readings"
]


def test_every_deviating_reading_has_a_reason() -> None:
    departing = [one for one in READINGS if "departs" in one.values]
    reasons = {one["source"]: one for one in DEVIATIONS}
    assert {CASES[one.case]["source"] for one in departing} == set(reasons)
    for one in departing:
        assert str(one.values["value"]) in reasons[CASES[one.case]["source"]]["quote"], str(one)


@pytest.mark.parametrize("reading", READINGS, ids=str)
def test_readings_of_routers_agree(reading: Reading) -> None:
    found = found_by_perhop(reading)
    assert found
    met = all(reading.meets(one) for one in found)
    assert met is not bool(reading.values.get("departs")), f"{reading}: {found}"
