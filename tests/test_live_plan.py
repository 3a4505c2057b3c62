"""`perhop._core.live_plan`: the assignment of ports to processes, and the cables."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from perhop import ScenarioError, _core

_FOLDER = Path(__file__).parent.parent / "examples"
_REPLAY = _FOLDER / "replay.perhop.yaml"
# Hosts of live runs have no players and browsers, and replay nothing; sockets pause no neighbor.
_REFUSED = (
    _REPLAY,
    _FOLDER / "applications.perhop.yaml",
    _FOLDER / "priority-flow-control.perhop.yaml",
)
_EXAMPLES = sorted(path for path in _FOLDER.glob("*.perhop.yaml") if path not in _REFUSED)


@pytest.mark.parametrize("path", _EXAMPLES, ids=lambda path: path.name)
def test_every_direction_of_every_link_runs_once(path: Path) -> None:
    loaded = _core.load(path, [])
    plan = json.loads(_core.live_plan(loaded.json, loaded.base, 5))
    scenario = json.loads(loaded.resolved)
    directions = [
        direction["name"] for forwarder in plan["forwarders"] for direction in forwarder["directions"]
    ]
    expected = [
        f"{node}->{other}"
        for link in scenario["links"]
        for node, other in (link["between"], link["between"][::-1])
    ]
    assert sorted(directions) == sorted(expected)
    assert [host["name"] for host in plan["hosts"]] == sorted(scenario["hosts"])
    assert all(forwarder["seed"] == 5 for forwarder in plan["forwarders"])
    ends = [(end["node"], end["device"]) for cable in plan["cables"] for end in cable["ends"]]
    assert len(ends) == len(set(ends))
    assert plan["mtu"] >= 1500


def test_a_scenario_that_real_interfaces_cannot_run_is_refused_with_the_place() -> None:
    scenario = {
        "perhop": 1,
        "name": "two versions",
        "duration": "1s",
        "hosts": {"a": {"address": "192.0.2.1"}, "b": {"address": "2001:db8::1"}},
        "links": [{"between": ["a", "b"], "rate": "1Mb/s"}],
        "traffic": [
            {
                "name": "t",
                "from": "a",
                "to": "b",
                "source": {"cbr": {"rate": "1kb/s", "packet": {"ip": "100B"}}},
            }
        ],
    }
    with pytest.raises(ScenarioError, match=r"different IP versions"):
        _core.live_plan(json.dumps(scenario), ".", 1)


def test_captures_are_replayed_in_simulations_only() -> None:
    loaded = _core.load(_REPLAY, [])
    with pytest.raises(ScenarioError, match=r"cannot replay a capture"):
        _core.live_plan(loaded.json, loaded.base, 1)
