"""Every example and every study's scenario: valid by the schema, accepted by `perhop check`.

Scenarios of studies also run here; examples run in tests/test_reproducible.py, in either engine.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import perhop
from conftest import ROOT, Command

if TYPE_CHECKING:
    from jsonschema import Draft202012Validator

EXAMPLES = sorted(ROOT.glob("examples/*.perhop.yaml"))
STUDIES = sorted(ROOT.glob("studies/*/*.perhop.yaml"))
SCENARIOS = [*EXAMPLES, *STUDIES]


@pytest.fixture(scope="module")
def schema() -> Draft202012Validator:
    """The schema, checked once, because a check of the schema lasts a second."""
    # An import at the head of the file would add seconds to each worker.
    from jsonschema import Draft202012Validator

    found = perhop.schema()
    Draft202012Validator.check_schema(found)
    return Draft202012Validator(found)


def test_the_examples_are_found() -> None:
    assert len(EXAMPLES) > 30 and len(STUDIES) > 7


@pytest.mark.parametrize("file", SCENARIOS, ids=lambda file: file.name)
def test_an_example_is_accepted(perhop: Command, file: Path) -> None:
    ended = perhop("check", file, "--strict")
    assert ended.code == 0, ended.err


@pytest.mark.parametrize("file", STUDIES, ids=lambda file: file.name)
def test_a_scenario_of_a_study_runs(perhop: Command, file: Path) -> None:
    # These have flows that start late, and a warm-up of two minutes.
    is_long = file.parent.name in ("rfc7928", "l4s-tests", "linux-aqm")
    ended = perhop("run", file, "--json", *(() if is_long else ("--duration", "14s")))
    assert ended.code == 0, ended.err
    assert sum(row["delivered_packets"]["mean"] for row in ended.json()["classes"]) > 0


def test_examples_of_step_and_ack_filter_show_their_claims() -> None:
    def rates(name: str, column: str) -> dict[str, float]:
        rows = perhop.run(ROOT / "examples" / f"{name}.perhop.yaml").classes
        return dict(zip(rows["class"], rows[column], strict=True))

    wait, rate = (rates("scalable-marks", column) for column in ("delay_mean_s", "throughput_bps"))
    # 10 ms are propagation, and 20 packets of 1500 bytes last 4.8 ms.
    assert wait["stepped"] - 0.010 == pytest.approx(0.0048, rel=0.15)
    assert wait["averaged"] - 0.010 > 1.8 * (wait["stepped"] - 0.010)
    assert rate["stepped, later"] > 3 * rate["averaged, later"]
    filtered = rates("ack-filter", "throughput_bps")
    assert filtered["filtered"] > 49e6 and filtered["plain"] < 36e6


def test_hot_ports_take_the_memory_of_their_group_only() -> None:
    scenario = perhop.Scenario.load(ROOT / "examples" / "hot-ports.perhop.yaml")

    def dropped(scenario: perhop.Scenario) -> dict[str, int]:
        rows = scenario.run().classes
        return dict(zip(rows["class"], rows["dropped_packets"], strict=True))

    found = dropped(scenario)
    assert found["short answer"] > 30 and found["short answer, other memory"] == 0
    bounded = scenario.changed({"policies.port-1.queueing.memory.limit": 700})
    assert dropped(bounded)["short answer"] == 0


@pytest.mark.parametrize("file", SCENARIOS, ids=lambda file: file.name)
def test_its_resolved_form_is_valid_by_the_schema(file: Path, schema: Draft202012Validator) -> None:
    scenario = perhop.Scenario.load(file)
    schema.validate(json.loads(scenario.to_json()))
    assert json.loads(scenario.check().to_json()) == json.loads(scenario.to_json()), (
        "resolving twice changes nothing"
    )


def test_the_schema_in_the_tree_is_the_installed_one(perhop: Command) -> None:
    committed = json.loads((ROOT / "schema" / "perhop-scenario.schema.json").read_text())
    assert perhop("schema").json() == committed
