"""`perhop study live`: the cases that run on real packets are those of the study."""

from __future__ import annotations

from pathlib import Path

import pytest

from conftest import Command
from live_testbed import needs_rights
from perhop.errors import InvalidInputError
from perhop.study import find
from perhop.study.live import live_cases

LONGEST_S = 60


@pytest.mark.parametrize(("id", "cases"), [("mred-af", 12), ("ef-star", 9), ("wred-bottleneck", 1)])
def test_cases_match_the_study_and_are_short(id: str, cases: int) -> None:
    study = find(id)
    found = live_cases(study)
    assert len(found) == cases
    for live_case in found:
        scenario = live_case.scenario(study).check()
        assert float(scenario["duration"].removesuffix("s")) <= LONGEST_S
        assert live_case.why


def test_changes_of_a_case_are_next_to_the_values_of_the_study() -> None:
    study = find("mred-af")
    (live_case,) = live_cases(study, ["bulk overlapped wred"])
    scenario = live_case.scenario(study)
    buffer = scenario["policies"]["core"]["queueing"]["classes"][0]["buffer"]["mred"]
    assert buffer["averages"] == "single"
    assert scenario["traffic"][0]["source"]["request-response"]["tcp"]["profile"] == "linux-modern"


def test_cases_are_chosen_by_pattern() -> None:
    study = find("mred-af")
    assert [live_case.case.name for live_case in live_cases(study, ["over*"])] == [
        "overlapped rio-c",
        "overlapped wred",
    ]
    with pytest.raises(InvalidInputError, match="no live run that matches nothing"):
        live_cases(study, ["nothing"])


def test_a_study_without_live_runs_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="`drop-precedence` has no live runs"):
        live_cases(find("drop-precedence"))


@pytest.mark.touched
@needs_rights
def test_a_case_runs_on_real_packets(perhop: Command, tmp_path: Path) -> None:
    ended = perhop(
        "study", "live", "ef-star", "--only", "*size 512, service_rate 300", "--replications", "2", "--json",
        "-o", tmp_path / "live",
    )  # fmt: skip
    # 4: on a machine that is busy, or slow, the measurement may be beyond its tolerances.
    assert ended.code in (0, 4), ended.err
    (case,) = ended.json()["cases"].values()
    assert case["first"]["kind"] == "simulated" and case["second"]["kind"] == "live"
    assert case["agrees"] == (ended.code == 0)
    rows = {(row["class"], row["quantity"]): row for row in case["rows"]}
    # The rate of the circuit does not depend on the timing of the machine.
    assert rows["be", "throughput_bps"]["second"]["mean"] == pytest.approx(1.47e6, rel=0.2)
    assert len(list((tmp_path / "live").glob("*/comparison.json"))) == 1
