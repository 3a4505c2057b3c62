"""Documents and outputs of Junos devices: perhop computes and simulates the same values."""

from __future__ import annotations

import sys
import tomllib

import pytest

from conftest import ROOT

sys.path.insert(0, str(ROOT))
from fidelity.junos_readings import CASES, READINGS, Reading, found_by_perhop

DEVIATIONS = [
    one
    for one in tomllib.loads((ROOT / "docs" / "deviations.toml").read_text())["deviation"]
    if one["algorithm"] == "junos readings"
]


def test_every_deviating_reading_has_a_reason() -> None:
    departing = [one for one in READINGS if "departs" in one.values]
    reasons = " ".join(one["source"] for one in DEVIATIONS)
    assert all(CASES[one.case]["source"] in reasons for one in departing)


@pytest.mark.parametrize("reading", READINGS, ids=str)
def test_readings_of_junos_devices_agree(reading: Reading) -> None:
    found = found_by_perhop(reading)
    assert reading.meets(found) is not bool(reading.values.get("departs")), f"{reading}: {found}"
