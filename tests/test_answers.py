"""The JSON documents of commands against their schemas, which allow no additional keys here."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from conftest import ROOT, SCENARIO, Command
from perhop.answers import ANSWERS, facts_schema, json_schema

EXAMPLES = ROOT / "examples"
CONFIGURATIONS = ROOT / "tests" / "configurations"
PACKET = "udp 10.20.0.5:20000 > 192.168.1.1:16384 dscp ef len 200"


def _closed(schema: Any) -> Any:
    """Return a schema that refuses keys that it does not name."""
    if isinstance(schema, list):
        return [_closed(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    made = {key: _closed(value) for key, value in schema.items()}
    return {"additionalProperties": False, **made} if "properties" in made else made


def faults(name: str, document: Any) -> list[str]:
    """Return the faults of a document, the deepest first."""
    validator = jsonschema.Draft202012Validator(_closed(json_schema(name)))
    found = [inner for error in validator.iter_errors(document) for inner in (error.context or [error])]
    return [
        f"{error.json_path}: {error.message}" for error in sorted(found, key=lambda fault: -len(fault.path))
    ]


@pytest.fixture
def changed(tmp_path: Path) -> Path:
    """The example router with another rate of priority and another list of servers."""
    text = (EXAMPLES / "router.cfg").read_text()
    file = tmp_path / "new.cfg"
    file.write_text(text.replace("priority 256", "priority 128").replace("host 10.1.0.20", "host 10.1.0.21"))
    return file


def test_the_schema_files_match_the_module(perhop: Command) -> None:
    for name in ANSWERS:
        file = ROOT / "schema" / f"perhop-{name}.schema.json"
        assert json.loads(file.read_text()) == json_schema(name), "run: python schema/write_answers.py"
        assert perhop("schema", name).json() == json_schema(name)
        jsonschema.Draft202012Validator.check_schema(json_schema(name))
    file = ROOT / "schema" / "network.yaml.schema.json"
    assert json.loads(file.read_text()) == facts_schema(), "run: python schema/write_answers.py"
    assert perhop("schema", "network.yaml").json() == facts_schema()
    assert set(json.loads(perhop("schema").out)["properties"]) > {"perhop", "duration"}


def test_a_key_without_a_shape_is_detected() -> None:
    document = {"schema_version": 1, "settings": None, "files": []}
    assert faults("check", document) == []
    assert any("'more' was unexpected" in fault for fault in faults("check", {**document, "more": 1}))
    assert any("'schema_version' is a required" in fault for fault in faults("check", {"files": []}))


@pytest.mark.parametrize("file", ["*.cfg", "../../vectors/tc/*", "../../examples/*.perhop.yaml"])
def test_check(file: str, perhop: Command) -> None:
    document = perhop("check", f"{CONFIGURATIONS}/{file}", "--json").json()
    assert len(document["files"]) > 4
    assert faults("check", document) == []


@pytest.mark.parametrize(
    "arguments",
    [
        ("router.cfg", "--duration", "2s", "--bounds", "--assert", "voice.loss < 1%"),
        ("router.cfg", "--duration", "2s", "--replications", "1"),
        ("uplink.tc", "--duration", "2s", "--interface", "eth1"),
        ("markers.perhop.yaml",),
        ("applications.perhop.yaml", "--replications", "1"),
    ],
    ids=" ".join,
)
def test_run(arguments: tuple[str, ...], perhop: Command) -> None:
    file, *options = arguments
    document = perhop("run", EXAMPLES / file, *options, "--json").json()
    assert "error" not in document
    assert faults("run", document) == []


@pytest.mark.parametrize(
    "options", [("--packet", PACKET), ("--reach", "all"), ("--pcap", EXAMPLES / "replay.pcapng")]
)
def test_trace(options: tuple[str | Path, ...], perhop: Command) -> None:
    document = perhop("trace", EXAMPLES / "router.cfg", *options, "--json").json()
    assert "error" not in document
    assert faults("trace", document) == []


def test_trace_of_every_stage(tmp_path: Path, perhop: Command) -> None:
    """A list, a limiter, an input policy, a tunnel: each has its own keys."""
    (tmp_path / "edge.cfg").write_text(
        "version 15.4\naccess-list 101 permit udp any any\n"
        "class-map match-any V\n match dscp ef\n"
        "policy-map IN\n class V\n  police cir 1000000\n"
        "policy-map OUT\n class V\n  priority 500\n"
        "interface Tunnel0\n ip address 10.9.0.1 255.255.255.252\n tunnel source 192.0.2.1\n"
        " tunnel destination 198.51.100.1\n"
        "interface GigabitEthernet0/0\n ip address 10.1.0.1 255.255.255.0\n ip access-group 101 in\n"
        " service-policy input IN\n"
        "interface Serial0/0\n bandwidth 2000\n ip address 192.0.2.1 255.255.255.252\n"
        " service-policy output OUT\n"
        "ip route 10.2.0.0 255.255.0.0 Tunnel0\nip route 198.51.100.0 255.255.255.0 192.0.2.2\n"
    )
    packet = "udp 10.1.0.5:20000 > 10.2.0.9:16384 dscp ef len 200"
    document = perhop("trace", tmp_path / "edge.cfg", "--packet", packet, "--json").json()
    assert faults("trace", document) == []
    seen = {
        stage["stage"]
        for traced in document["packets"]
        for path in traced["paths"]
        for stage in path["stages"]
    }
    stages = set(ANSWERS["trace"]["packets"].shape[0]["paths"][0]["stages"][0]["stage"].texts)
    # Only the devices of a network have labels for each other (tests/test_network_labels.py).
    assert seen == stages - {"labels"}


@pytest.mark.parametrize("options", [(), ("--no-simulate",)])
def test_diff(options: tuple[str, ...], changed: Path, perhop: Command) -> None:
    document = perhop("diff", EXAMPLES / "router.cfg", changed, *options, "--json").json()
    assert document["moved"] and document["lines"]
    assert faults("diff", document) == []


def test_diff_of_scenarios_and_of_equal_files(perhop: Command) -> None:
    for other in ("first-steps", "tcp"):
        files = (EXAMPLES / f"{name}.perhop.yaml" for name in ("first-steps", other))
        assert faults("diff", perhop("diff", *files, "--json").json()) == []


def test_test(tmp_path: Path, perhop: Command) -> None:
    assert faults("test", perhop("test", EXAMPLES / "policy.tests.yaml", "--json").json()) == []
    (tmp_path / "lab.yaml").write_text(SCENARIO)
    (tmp_path / "wrong.tests.yaml").write_text(
        "perhop-tests: 1\ntests:\n"
        "  - { name: fails, scenario: lab.yaml, assert: ['steady.loss == 0'] }\n"
        "  - { name: cannot run, scenario: none.yaml, assert: ['steady.loss == 0'] }\n"
    )
    document = perhop("test", "wrong.tests.yaml", "--json").json()
    assert (document["failed"], document["error"]) == (1, 1)
    assert faults("test", document) == []


@pytest.mark.parametrize("name", ANSWERS)
def test_errors(name: str, tmp_path: Path, perhop: Command) -> None:
    options = ("--packet", PACKET) if name == "trace" else ()
    files = ("none.cfg",) * (2 if name == "diff" else 1)
    document = perhop(name, *files, *options, "--json").json()
    assert set(document) == {"schema_version", "error"}
    assert faults(name, document) == []


@pytest.fixture
def network(tmp_path: Path) -> Path:
    """Two routers with a site each; the second resets the mark of packets from the first."""
    reset = "policy-map RESET\n class class-default\n  set dscp default\n"
    for number in (1, 2):
        text = f"hostname R{number}\n{reset if number == 2 else ''}interface Gi0/0\n"
        text += f" ip address 192.0.2.{number} 255.255.255.252\n"
        text += " service-policy input RESET\n" if number == 2 else ""
        text += f"interface Gi0/1\n ip address 10.{number}.0.1 255.255.255.0\n"
        text += "router ospf 1\n network 0.0.0.0 255.255.255.255 area 0\n"
        (tmp_path / f"r{number}.cfg").write_text(text)
    (tmp_path / "R1.txt").write_text(
        "Device ID        Local Intrfce     Holdtme    Capability  Platform  Port ID\n"
        "SW1              Gig 0/1           137              S I    WS-C2960  Gig 0/1\n"
    )
    (tmp_path / "network.yaml").write_text("devices: { r1.cfg: { name: R1 } }\n")
    return tmp_path


def test_network(perhop: Command, network: Path) -> None:
    document = perhop("network", network, "--json").json()
    assert faults("network", document) == []
    assert document["cables"]
    ends = ("--from", "10.1.0.5", "--to", "10.2.0.9", "--packet", "udp dscp ef")
    for arguments in (ends, ("--from", "10.1.0.5", "--to", "10.9.0.9"), ("--matrix",)):
        document = perhop("trace", network, *arguments, "--json").json()
        assert faults("trace", document) == []
    assert {row["fate"] for row in document["matrix"]} == {"kept", "changed"}


def test_the_schema_of_network_yaml_accepts_written_files_and_rejects_other_keys(
    perhop: Command, network: Path
) -> None:
    yaml = pytest.importorskip("yaml")
    (network / "network.yaml").unlink()
    assert perhop("network", network, "--write").code == 0
    validator = jsonschema.Draft202012Validator(facts_schema())
    assert list(validator.iter_errors(yaml.safe_load((network / "network.yaml").read_text()))) == []
    for wrong in ({"linkz": []}, {"links": ["R1:Gi0/0"]}, {"devices": {"a": {"nam": "R1"}}}):
        assert list(validator.iter_errors(wrong)), wrong
