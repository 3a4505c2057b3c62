"""Documents and outputs of Junos devices: perhop computes and simulates the same values."""

from __future__ import annotations

import sys
import tomllib

import pytest

from conftest import ROOT

sys.path.insert(0, str(ROOT))
from fidelity.junos_readings import CASES, READINGS, Reading, found_by_perhop

DEVIATIONS = [
    deviation
    for deviation in tomllib.loads((ROOT / "docs" / "deviations.toml").read_text())["deviation"]
    if deviation["algorithm"] == "junos readings"
]


def test_every_deviating_reading_has_a_reason() -> None:
    departing = [reading for reading in READINGS if "departs" in reading.values]
    reasons = " ".join(deviation["source"] for deviation in DEVIATIONS)
    assert all(CASES[reading.case]["source"] in reasons for reading in departing)


@pytest.mark.parametrize("reading", READINGS, ids=str)
def test_readings_of_junos_devices_agree(reading: Reading) -> None:
    found = found_by_perhop(reading)
    assert reading.meets(found) is not bool(reading.values.get("departs")), f"{reading}: {found}"
