"""One description of a queue: `draw`, the views in a browser and `show` agree on limit and thresholds."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from conftest import ROOT, Command
from perhop import _core
from perhop.draw import draw
from perhop.ports import resolved
from perhop.scenario import Scenario

# Managers of IOS in two classes: the lines of class A, and the version that decides on the profile.
IOS_CLASSES = {
    "tail drop": ["bandwidth percent 40"],
    "own limit": ["bandwidth percent 40", "queue-limit 33 packets"],
    "WRED": ["bandwidth percent 40", "random-detect dscp-based", "random-detect dscp 26 20 35 10"],
    "fair queueing": ["bandwidth percent 40", "fair-queue"],
    "fair queueing and WRED": ["bandwidth percent 40", "fair-queue", "random-detect"],
}
IOS = """\
version 15.7
hostname edge
class-map match-all A
 match ip dscp af31
policy-map WAN
 class A
  {lines}
 class class-default
interface GigabitEthernet0/0
 ip address 10.0.0.1 255.255.255.0
interface GigabitEthernet0/1
 ip address 10.1.0.1 255.255.255.0
 speed 10
 service-policy output WAN
end
"""
TC = {
    "pfifo": "limit 77",
    "bfifo": "limit 30000",
    "fq_codel": "limit 555",
    "codel": "limit 444",
    "pie": "limit 333",
    "red": "limit 400000 min 30000 max 90000 avpkt 1000 burst 55 bandwidth 10mbit",
    "cake": "bandwidth 9mbit diffserv4",
}


def descriptions(file: Path, **options: Any) -> tuple[Scenario, list[dict[str, Any]]]:
    """Return the scenario inferred from a configuration, and the descriptions of the router's queues."""
    scenario = Scenario.infer(file, **options)
    found = json.loads(_core.queue_descriptions(json.dumps(dict(resolved(scenario)))))
    ports = {port for port, _ in scenario.queues.values()}
    return scenario, [description for description in found if description["port"] in ports]


def require_in_every_view(scenario: Scenario, found: Sequence[Mapping[str, Any]]) -> None:
    """Check the drawing, the view of a run in a browser, and the playground's script."""
    assert found
    drawn = draw(scenario)
    lines = [line["text"] for description in found for line in description["lines"]]
    assert all(f">{line}<" in drawn for line in lines), lines
    about = json.loads(_core.Playback(scenario.to_json(), scenario.base, 1).about())
    assert [
        description for description in about["queues"] if description["port"] == found[0]["port"]
    ] == found
    if not (node := shutil.which("node")):
        return
    script = (
        f"import {{ described }} from {json.dumps(str(ROOT / 'playground' / 'src' / 'port.js'))};"
        f"console.log(JSON.stringify(described({json.dumps(found)}, {json.dumps(found[0]['port'])}, null)));"
    )
    ended = subprocess.run(
        [node, "--input-type=module", "-e", script], capture_output=True, text=True, check=True
    )
    for queue, description in zip(json.loads(ended.stdout), found, strict=True):
        assert queue["manager"] == "; ".join(line["text"] for line in description["lines"])
        assert queue["limit"] == description["limit_packets"], "NaN is null in JSON"


@pytest.mark.parametrize("platform", ["hqf", "ios-xe"])
@pytest.mark.parametrize("kind", IOS_CLASSES)
def test_ios(perhop: Command, tmp_path: Path, kind: str, platform: str) -> None:
    file = tmp_path / "edge.cfg"
    file.write_text(IOS.replace("{lines}", "\n  ".join(IOS_CLASSES[kind])))
    scenario, found = descriptions(file, platform=platform)
    require_in_every_view(scenario, found)
    shown = perhop("show", "policy-map", "interface", file, "--platform", platform, "--duration", "3s")
    assert shown.code == 0, shown.err
    of_class = shown.out.partition("Class-map: A ")[2].partition("Class-map: class-default")[0]
    queue = next(description for description in found if description["queue"].rpartition("/")[2] == "A")
    words = "; ".join(line["text"] for line in queue["lines"])
    limit = re.search(r"queue limit (\d+) packets", of_class)
    assert limit
    flow_limit = re.search(r"per-flow queue limit (\d+)", of_class)
    if flow_limit and "WRED" in kind:
        # Routers print the limits of flows, and apply the thresholds of WRED instead of them.
        assert "at most" not in words
    elif flow_limit:
        assert f"at most {flow_limit[1]} packets of a flow" in words
    elif "fair" not in kind:
        assert queue["limit_packets"] == int(limit[1]), words
    # The rows of thresholds: value, three counters, minimum and maximum.
    rows = re.findall(r"^ +(af\d\d|\d)(?: +\d+/\d+){3} +(\d+) +(\d+) +1/(\d+)", of_class, re.MULTILINE)
    assert bool(rows) == ("WRED" in kind), of_class
    for value, low, high, least in rows:
        assert f"{value}: {low} to {high} packets, up to {100 / int(least):g} %" in words, words
    assert "1000000" not in words


@pytest.mark.parametrize("kind", TC)
def test_tc(perhop: Command, tmp_path: Path, kind: str) -> None:
    file = tmp_path / "edge.tc"
    file.write_text(f"tc qdisc add dev eth0 root {kind} {TC[kind]}\n")
    scenario, found = descriptions(file)
    require_in_every_view(scenario, found)
    shown = perhop("show", "qdisc", file, "--duration", "100ms")
    assert shown.code == 0, shown.err
    words = "; ".join(line["text"] for line in found[0]["lines"])
    if kind == "cake":
        assert "qdisc cake" in shown.out and "CAKE, shaped to 9 Mb/s; diffserv4" in words
        return
    limit = re.search(r"limit (\d+)(p|b|Kb)", shown.out)
    assert limit, shown.out
    counted = found[0]["limit_packets"]
    assert counted == (int(limit[1]) if limit[2] == "p" else None), (shown.out, words)
    assert "at most" in words
