"""`perhop convert` of random policies: every one is converted or refused, and losses are listed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from perhop import convert
from perhop.convert.policies import read_source
from perhop.errors import ScenarioError
from seeds import drawing
from test_convert import _random_match

_METERS: list[dict[str, Any]] = [
    {"token-bucket": {"rate": "1Mb/s", "burst": "10kB"}},
    {"token-bucket": {"rate": "1Mb/s", "burst": "10kB", "excess": "yellow"}},
    {"packet-rate": {"rate": "100 packets/s", "burst": "20 packets"}},
    {"token-bucket-with-debt": {"rate": "1Mb/s", "burst": "10kB", "debt-limit": "20kB"}},
    {"single-rate-tcm": {"cir": "1Mb/s", "cbs": "10kB", "ebs": "20kB"}},
    {"two-rate-tcm": {"cir": "1Mb/s", "cbs": "10kB", "pir": "2Mb/s", "pbs": "20kB"}},
    {"two-rate-tcm": {"cir": "1Mb/s", "cbs": "10kB", "pir": "2Mb/s", "pbs": "20kB", "mode": "color-aware"}},
    {"rfc4115": {"cir": "1Mb/s", "cbs": "10kB", "eir": "2Mb/s", "ebs": "20kB"}},
    {"tsw2cm": {"ctr": "1Mb/s", "avg-interval": "1s"}},
]
_STEPS: list[dict[str, Any]] = [
    {"mark": "af11"},
    {"mark-precedence": "flash"},
    {"label": 7},
    {"label": 150},
    {"mark-cos": "3"},
    {"mark-exp": "2"},
    {"color": "yellow"},
    {"copy": {"from": "dscp", "to": "cos", "map": {"10": "3"}, "default": "ignore"}},
]
_SHARES: dict[str, list[dict[str, Any]]] = {
    "scfq": [{"weight": 1}, {"weight": 2.5}, {"bandwidth": "1Mb/s"}, {"bandwidth": "333333b/s"}],
    "wfq": [{"weight": 1}, {"weight": 7}],
    "drr": [{"quantum": "1500B"}, {"quantum": "4500B"}],
    "hfsc": [{"link-share": {"m2": "2Mb/s"}}, {"real-time": {"m2": "1Mb/s"}, "link-share": {"m2": "1Mb/s"}}],
    "three-parameter": [{"minimum": "1Mb/s", "weight": 2}, {"weight": 1}],
}


class Policies:
    """Random policies, the same for the same name and seed (tests/seeds.py)."""

    def __init__(self, name: str) -> None:
        self.draw = drawing(name)
        self.classes = 0

    def policy(self) -> dict[str, Any]:
        self.classes = 0
        made: dict[str, Any] = {"overhead": self.draw.choice([0, 4, 14, 18, -5])}
        if self.draw.random() < 0.6:
            made["conditioners"] = [self._stage(number) for number in range(self.draw.randint(1, 4))]
        if self.draw.random() < 0.8:
            made["queueing"] = self._queueing(2)
        return made

    def _actions(self) -> list[Any]:
        chosen = self.draw.choices(_STEPS, k=self.draw.randint(0, 2))
        return [*chosen, self.draw.choice(["transmit", "drop", "continue"])]

    def _stage(self, number: int) -> dict[str, Any]:
        name = self.draw.choice([f"s{number}", f"s {number}", f"a.b{number}"])
        stage: dict[str, Any] = {"name": name, "match": _random_match(self.draw, 2)}
        if self.draw.random() < 0.4:
            return {**stage, "actions": self._actions()}
        colors = {color: self._actions() for color in ("green", "yellow", "red")}
        return {**stage, "meter": self.draw.choice(_METERS), **colors}

    def _queueing(self, depth: int) -> dict[str, Any]:
        scheduler = self.draw.choice(["fifo", "priority", *_SHARES])
        count = self.draw.randint(1, 4)
        last = range(1, count + 1)
        return {
            "scheduler": scheduler,
            "classes": [self._class(depth, scheduler, is_last=number == count) for number in last],
        }

    def _class(self, depth: int, scheduler: str, *, is_last: bool) -> dict[str, Any]:
        draw = self.draw
        self.classes += 1
        made: dict[str, Any] = {"name": f"c{self.classes}"}
        if not is_last or draw.random() < 0.3:
            made["match"] = _random_match(draw, 1)
        if scheduler in _SHARES:
            made["share"] = draw.choice(_SHARES[scheduler])
        if draw.random() < 0.2:
            form = draw.choice(["average", "peak"])
            made["shape"] = {"rate": "2Mb/s", "burst": "8kB", "excess": "4kB", "form": form}
        if draw.random() < 0.2:
            when = draw.choice(["always", "congested"])
            made["police"] = {"rate": "500kb/s", "burst": "5kB", "when": when}
        if depth and draw.random() < 0.3:
            made["queueing"] = self._queueing(depth - 1)
        elif draw.random() < 0.2:
            made["fair-queueing"] = {"queues": draw.choice([16, 100, 256])}
        elif draw.random() < 0.7:
            made |= self._buffer()
        return made

    def _buffer(self) -> dict[str, Any]:
        draw = self.draw
        rows = [
            {"min": f"{5 + low} packets", "max": "40 packets", "max-probability": 0.1}
            for low in range(draw.randint(1, 3))
        ]
        buffer = draw.choice([
            {"tail-drop": {"limit": draw.choice(["10 packets", "20kB"])}},
            {"wred": {"precedences": rows, "averaging": {"exponent": draw.randint(1, 14)}}},
            {"wred": {"precedences": rows, "averaging": {"weight": 0.002}}},
            {"red": {"precedences": rows[:1]}},
            {"rio-c": {"precedences": rows}},
            {"weighted-tail-drop": {"limits": ["10 packets", "20 packets"]}},
            {"codel": {"law": "linux", "target": "10ms"}},
            {"fq-codel": {"flows": 16}},
            {"pie": {"law": draw.choice(["rfc", "linux"]), "target": "20ms", "ecn": "mark"}},
        ])  # fmt: skip
        precedence = draw.choice(["color", "dscp", "ip-precedence", {"by-dscp": [["af11", "af12"], "ef"]}])
        return {"buffer": buffer} | ({} if "tail-drop" in buffer else {"precedence": precedence})


def test_random_policies(tmp_path: Path) -> None:
    policies = Policies("to routers")
    file, again = tmp_path / "policies.yaml", tmp_path / "again.yaml"
    converted = listed = 0
    for _ in range(60):
        file.write_text(json.dumps({"policies": {"random": policies.policy()}}))
        try:
            source = read_source(file)
        except ScenarioError:
            # Policies that perhop itself refuses: a scheduler with too few classes, two classes of one name.
            continue
        converted += 1
        again.write_text(convert.convert(file, to="yaml").text)
        assert read_source(again).attached[0].policy == source.attached[0].policy
        for platform in ("pre-hqf", "hqf", "ios-xe"):
            listed += bool(convert.convert(file, to="ios", platform=platform, rate="10Mb/s").remarks)
        text = convert.convert(file, to="tc", rate="10Mb/s").text
        assert text.count("htb rate") <= 1 + policies.classes
    assert converted > 20
    # Nearly every random policy has a feature that routers lack.
    assert listed > converted


@pytest.mark.parametrize("target", ["ios", "tc"])
def test_the_same_policy_gives_the_same_text(target: Any, tmp_path: Path) -> None:
    file = tmp_path / "policies.yaml"
    policies = Policies("to commands")
    for _ in range(20):
        file.write_text(json.dumps({"policies": {"random": policies.policy()}}))
        try:
            first = convert.convert(file, to=target, rate="10Mb/s")
        except ScenarioError:
            continue
        assert convert.convert(file, to=target, rate="10Mb/s") == first
