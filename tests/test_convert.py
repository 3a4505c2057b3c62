"""`perhop convert` between IOS and perhop's own policies: a converted policy has the same effect."""

from __future__ import annotations

import json
import random
import subprocess
from collections.abc import Mapping
from ipaddress import ip_address, ip_network
from pathlib import Path
from typing import Any

import pytest

from conftest import ROOT, Command, command_line
from perhop import Scenario, codepoints, convert
from perhop.configuration import checked
from perhop.convert.policies import Attached, read_source
from perhop.errors import InvalidInputError
from seeds import drawing

CONFIGURATIONS = [
    ROOT / "examples" / "router.cfg",
    *sorted((ROOT / "tests" / "configurations").glob("*.cfg")),
    *sorted((ROOT / "vectors" / "ios").glob("*.cfg")),
]
# Configurations without an attached policy, or in a language that is not modeled.
NONE = {
    "banner-and-blobs", "broken-same-address", "broken-structure", "catalyst-9300", "fair-queue-interface",
    "fragment-two", "fragment-wan", "frame-relay-branch", "legacy-queueing", "multilink-and-dsl", "no-policy",
    "switch-qos",
}  # fmt: skip
# The parts of the other configurations that differ after conversion, by a word of the listed loss.
LISTED = {
    # One class-map by VLAN has a different meaning at each sub-interface.
    "vectors/link-marks": "the router would have 0",
    # A class whose colors exclude its own codepoint.
    "policers-of-today": "color-aware",
    # At different interfaces, a class matches different headers of encrypted packets.
    "pre-classify": "web-2",
}
# IOS XR and NX-OS are other languages: some of their commands have no equivalent in IOS.
OTHERS = ("nx-", "xr-")
WITH_POLICIES = [
    file for file in CONFIGURATIONS if file.stem not in NONE and not file.stem.startswith(OTHERS)
]
# Runs of the text and of the converted policies are compared. Configurations that match the interface of
# arrival are left out, because a scenario knows that interface by the node behind it.
RUN = ["router", *(file.stem for file in WITH_POLICIES if file.parent.name == "configurations")]
RUN.remove("input-interface")


def listed(file: Path) -> str | None:
    return LISTED.get(f"{file.parent.parent.name}/{file.stem}", LISTED.get(file.stem))


@pytest.mark.parametrize("file", WITH_POLICIES, ids=lambda file: f"{file.parent.name}-{file.stem}")
def test_ios_to_ios_gives_the_same_policies(file: Path) -> None:
    source = read_source(file)
    converted = convert.convert(file, to="ios")
    again = {port["name"]: port for port in checked(converted.text, source.profile)["router"]["ports"]}
    expected = listed(file)
    if expected is not None and converted.remarks:
        assert any(expected in str(remark) for remark in converted.remarks)
        return
    assert expected is None
    assert converted.remarks == ()
    for attachment in source.attached:
        # The only circuit of an interface has the interface's name.
        port = again.get(str(attachment.interface)) or again[str(attachment.interface).partition(" ")[0]]
        assert attachment.direction is not None
        _agree(attachment.policy, port[attachment.direction], attachment.where)


def test_most_policies_are_the_same_to_the_letter() -> None:
    same, attached = 0, 0
    for file in WITH_POLICIES:
        source = read_source(file)
        text = convert.convert(file, to="ios").text
        ports = {port["name"]: port for port in checked(text, source.profile)["router"]["ports"]}
        for attachment in source.attached:
            attached += 1
            same += (
                str(attachment.interface) in ports
                and ports[str(attachment.interface)][_side(attachment)] == attachment.policy
            )
    assert attached >= 114
    assert same >= 96


def _side(attachment: Attached) -> Any:
    return attachment.direction or "output"


def _agree(first: Any, other: Any, where: str) -> None:
    """Both are equal except for equivalent conditions, which are compared by random packets."""
    if isinstance(first, Mapping) and isinstance(other, Mapping):
        # The names of the queue, its scheduler and its share do not matter at a port with one queue.
        alone = len(first.get("classes", ())) == len(other.get("classes", ())) == 1
        if alone and "scheduler" in first:
            first, other = ({"classes": [{**queueing["classes"][0], "name": "", "share": {}}]}
                            for queueing in (first, other))  # fmt: skip
        for name in {*first, *other}:
            left, right = first.get(name), other.get(name)
            if name == "match" and left != right:
                _same_packets(left, right, where)
            elif name == "precedence" and isinstance(left, Mapping):
                # Groups of codepoints have their thresholds, so their order does not matter.
                assert _codepoints(left) == _codepoints(right), where
            elif name in {"green", "yellow", "red", "actions"}:
                assert _without_repeated(left) == _without_repeated(right), where
            else:
                _agree(left, right, f"{where}.{name}")
    elif isinstance(first, list) and isinstance(other, list):
        assert len(first) == len(other), where
        for number, (left, right) in enumerate(zip(first, other, strict=True)):
            _agree(left, right, f"{where}[{number}]")
    else:
        assert first == other, where


def _codepoints(precedence: Any) -> list[list[str]]:
    return sorted(
        sorted(map(str, entry if isinstance(entry, list) else [entry])) for entry in precedence["by-dscp"]
    )


def _without_repeated(actions: Any) -> list[Any]:
    return [action for at, action in enumerate(actions or []) if [action] != actions[at + 1 : at + 2]]


# A simple evaluator of conditions, one packet at a time: the reference for packet sets.

_PROTOCOLS = {"icmp": 1, "tcp": 6, "udp": 17}
_COLORS = {"green": 0, "yellow": 1, "red": 2}


def _protocol(value: str | int) -> int:
    return _PROTOCOLS[value] if value in _PROTOCOLS else int(value)  # type: ignore[index]


def _color(value: str | int) -> int:
    return _COLORS[value] if value in _COLORS else int(str(value).removeprefix("dp"))  # type: ignore[index]


def _range(value: str | int) -> tuple[int, int]:
    first, _, last = str(value).partition("-")
    return int(first), int(last or first)


_READ: dict[str, Any] = {
    "dscp": codepoints.dscp_number,
    "protocol": _protocol,
    "color": _color,
    "cos": int,
    "mpls-exp": int,
}


def matches(match: Mapping[str, Any] | None, packet: Mapping[str, Any]) -> bool:
    return all(_of_key(name, value, packet) for name, value in (match or {}).items())


def _of_key(name: str, value: Any, packet: Mapping[str, Any]) -> bool:
    if name == "any":
        return any(matches(condition, packet) for condition in value)
    if name == "all":
        return all(matches(condition, packet) for condition in value)
    if name == "not":
        return not matches(value, packet)
    values = value if isinstance(value, list) else [value]
    if name in {"source", "destination"}:
        return any(ip_address(packet[name]) in ip_network(prefix, strict=False) for prefix in values)
    if name in {"source-port", "destination-port", "length"}:
        ranges = [_range(entry) for entry in values]
        return any(low <= packet[name] <= high for low, high in ranges)
    if name == "precedence":
        return packet["dscp"] >> 3 in [codepoints.precedence_number(entry) for entry in values]
    return packet[name] in [_READ.get(name, lambda unread: unread)(entry) for entry in values]


def _named_values(match: Any, found: dict[str, set[Any]]) -> dict[str, set[Any]]:
    """The values that a condition names, and adjacent values."""
    if isinstance(match, list):
        for condition in match:
            _named_values(condition, found)
    elif isinstance(match, Mapping):
        for name, value in match.items():
            if name in {"any", "all", "not"}:
                _named_values(value, found)
                continue
            for entry in value if isinstance(value, list) else [value]:
                found.setdefault(name, set()).add(entry)
    return found


def _packet(draw: random.Random, named: Mapping[str, set[Any]]) -> dict[str, Any]:
    def number(names: tuple[str, ...], highest: int, parse: Any) -> int:
        known = [parse(entry) for name in names for entry in sorted(named.get(name, set()), key=str)]
        ends = [end for parsed in known for end in (parsed if isinstance(parsed, tuple) else (parsed,))]
        near = [end + step for end in ends for step in (-1, 0, 1)]
        chosen = draw.choice(near) if near and draw.random() < 0.8 else draw.randint(0, highest)
        return min(max(chosen, 0), highest)

    def address(name: str, version: int) -> str:
        networks = [ip_network(prefix, strict=False) for prefix in sorted(named.get(name, set()))]
        networks = [network for network in networks if network.version == version]
        if networks and draw.random() < 0.8:
            network = draw.choice(networks)
            value = draw.choice([int(network.network_address), int(network.broadcast_address)]) + draw.choice(
                [0, 0, 1, -1]
            )
        else:
            value = draw.getrandbits(32 if version == 4 else 128)
        return str(ip_address(min(max(value, 0), 2**32 - 1)) if version == 4 else
                   ip_network((value % 2**128, 128)).network_address)  # fmt: skip

    version = 6 if draw.random() < 0.3 else 4
    precedences = {
        8 * codepoints.precedence_number(precedence) for precedence in named.get("precedence", set())
    }
    dscp = number(("dscp",), 63, codepoints.dscp_number)
    if precedences and draw.random() < 0.5:
        dscp = draw.choice(sorted(precedences)) + draw.randint(0, 7)
    return {
        "source": address("source", version),
        "destination": address("destination", version),
        "protocol": draw.choice([1, 6, 17, number(("protocol",), 255, _protocol)]),
        "source-port": number(("source-port",), 65535, _range),
        "destination-port": number(("destination-port",), 65535, _range),
        "dscp": dscp,
        "length": number(("length",), 65535, _range),
        "color": number(("color",), 7, _color),
        "label": number(("label",), 255, int),
        "cos": number(("cos",), 7, int),
        "mpls-exp": number(("mpls-exp",), 7, int),
        "input": draw.choice([*sorted(named.get("input", set())), "elsewhere"]),
    }


def _same_packets(first: Any, other: Any, where: str) -> None:
    draw = drawing(where)
    values = _named_values([first, other], {})
    for _ in range(300):
        packet = _packet(draw, values)
        assert matches(first, packet) == matches(other, packet), (where, packet)


def _random_match(draw: random.Random, depth: int) -> dict[str, Any]:
    kind = draw.random()
    if depth and kind < 0.5:
        inner = [_random_match(draw, depth - 1) for _ in range(draw.randint(1, 3))]
        return {"any": inner} if kind < 0.25 else {"all": inner}
    if depth and kind < 0.65:
        return {"not": _random_match(draw, depth - 1)}
    choices: dict[str, Any] = {
        "dscp": draw.choice(["ef", "af11", ["cs1", "af12"], "default"]),
        "precedence": draw.choice(["critical", ["routine", "flash"]]),
        "source": draw.choice(["10.0.0.0/8", ["10.1.0.0/16", "192.0.2.7/32"], "2001:db8::/32", "0.0.0.0/0"]),
        "protocol": draw.choice(["tcp", "udp", ["tcp", "icmp"], 50]),
        "destination-port": draw.choice([80, "5000-5010", [443, "8000-8080"]]),
        "length": draw.choice(["0-200", "1000-65535"]),
        "label": draw.choice([1, [1, 2]]),
        "color": draw.choice(["green", ["yellow", "red"]]),
    }
    return {name: choices[name] for name in draw.sample(sorted(choices), draw.randint(1, 3))}


@pytest.mark.parametrize("name", RUN)
def test_policies_as_yaml_run_as_the_configuration(name: str, tmp_path: Path, perhop: Command) -> None:
    file = next(file for file in CONFIGURATIONS if file.stem == name)
    written = tmp_path / "policies.yaml"
    expected = 2 if name == "undefined-elsewhere" else 0
    assert perhop("convert", file, "--to", "yaml", "-o", written).code == expected
    assert perhop("check", written).code == 0
    by_text = Scenario.infer(file).set("duration", "3s").set("seed", 7)
    resolved = json.loads(_resolved(by_text))
    policies = {attachment.name: attachment for attachment in read_source(written).attached}
    taken = 0
    for old, config in resolved["policies"].items():
        same = [attachment for attachment in policies.values() if attachment.policy == config]
        if same:
            resolved["policies"][old] = same[0].policy
            taken += 1
        elif config.get("conditioners") and old not in by_text["policies"]:
            pytest.fail(f"no converted policy is {old}")
    assert taken
    for router in resolved["routers"].values():
        router.pop("configuration", None)
    for link in resolved["links"]:
        for interface in link.get("interfaces", {}).values():
            interface.pop("name", None)
    by_policies = Scenario(resolved)
    expected, got = by_text.run(threads=1), by_policies.run(threads=1)
    # As text, because a value that was not measured is NaN, which no number equals.
    assert json.dumps(expected.classes.to_dicts()) == json.dumps(got.classes.to_dicts())


def _resolved(scenario: Scenario) -> str:
    from perhop import _core

    return _core.load_json(scenario.to_json(), scenario.base, []).resolved


def test_an_interface_of_arrival_is_listed(perhop: Command) -> None:
    file = ROOT / "tests" / "configurations" / "input-interface.cfg"
    ended = perhop("convert", file, "--to", "yaml", "--json")
    constructs = {remark["construct"] for remark in ended.json()["remarks"]}
    assert any(construct.startswith("match input ") for construct in constructs)


def test_the_list_goes_to_standard_error_and_strict_ends_with_2(tmp_path: Path, perhop: Command) -> None:
    file = tmp_path / "drr.yaml"
    file.write_text(
        "policies:\n  out:\n    queueing:\n      scheduler: drr\n      classes:\n"
        "        - { name: gold, match: { dscp: ef }, share: { quantum: 3000B } }\n"
        "        - { name: rest, share: { quantum: 1500B } }\n"
    )
    plain = perhop("convert", file, "--to", "ios", "--rate", "10Mb/s")
    assert plain.code == 0
    assert "bandwidth remaining ratio 2" in plain.out
    assert "note: policy out output: scheduler drr: IOS shares by its own scheduler" in plain.err
    strict = perhop("convert", file, "--to", "ios", "--rate", "10Mb/s", "--strict", "--json")
    assert strict.code == 2
    remarks = strict.json()["remarks"]
    assert {"construct", "where", "why"} == set(remarks[0])
    assert remarks[0]["construct"] == "scheduler drr"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--interface", "Serial9"], "has no policy at Serial9"),
        (["--policy", "WAM"], "did you mean `WAN`?"),
        (["--rate", "fast"], "`fast` is not a rate"),
        (["--platform", "pdp11"], "pdp11"),
    ],
)
def test_bad_arguments_are_one_error(arguments: list[str], said: str, perhop: Command) -> None:
    ended = perhop("convert", ROOT / "vectors" / "ios" / "enterprise-wan-edge.cfg", "--to", "ios", *arguments)
    assert ended.code == 2
    assert said in ended.err
    assert ended.out == ""


def test_a_file_without_policies_is_one_error(perhop: Command) -> None:
    for file, to in (("no-policy.cfg", "yaml"), ("fragment-wan.cfg", "ios")):
        ended = perhop("convert", ROOT / "tests" / "configurations" / file, "--to", to)
        assert (ended.code, ended.err.count("error:")) == (2, 1)
    with pytest.raises(InvalidInputError, match="no policies"):
        convert.convert(ROOT / "examples" / "first-steps.perhop.yaml", to="yaml")


@pytest.mark.parametrize("name", ["router.cfg", "nested-classes.perhop.yaml", "class-based-wfq.perhop.yaml"])
def test_standard_input_is_read_like_a_file(name: str, perhop: Command, tmp_path: Path) -> None:
    file = ROOT / "examples" / name
    with file.open("rb") as given:
        ended = subprocess.run(
            command_line(["convert", "-", "--to", "ios"]),
            stdin=given,
            capture_output=True,
            text=True,
            check=True,
        )
    assert ended.stdout == perhop("convert", file, "--to", "ios").out


@pytest.mark.parametrize("platform", [None, "linux", "ios-xe"])
def test_linux_policies_are_attached_to_router_interfaces(platform: str | None) -> None:
    converted = convert.convert(ROOT / "examples" / "uplink.tc", to="ios", platform=platform)
    ports = checked(converted.text)["router"]["ports"]
    assert [port["name"] for port in ports] == ["GigabitEthernet0/0", "GigabitEthernet0/1"]
    shaped = ports[0]["output"]["queueing"]["classes"][0]
    assert shaped["shape"]["rate"] == "1900kb/s"
    assert [inner["name"] for inner in shaped["queueing"]["classes"]] == ["10:1", "10:2", "others"]
    # The platform of the router, not one of Linux commands.
    assert "qdisc" not in converted.text
    assert not any("nothing" in str(remark) for remark in converted.remarks)


def test_one_interface_by_an_abbreviated_name(perhop: Command) -> None:
    file = ROOT / "vectors" / "ios" / "enterprise-wan-edge.cfg"
    text = perhop("convert", file, "--to", "ios", "--interface", "se0/0").out
    assert "service-policy output WAN" in text
    assert "MARK" not in text


def test_ios_by_hand(tmp_path: Path) -> None:
    # 512 kb/s of priority with 200 ms of burst, the default of IOS, is written without the burst.
    file = tmp_path / "edge.yaml"
    file.write_text("""\
policies:
  edge:
    overhead: 14
    conditioners:
      - name: web
        match: { source: 192.0.2.0/24, protocol: tcp, destination-port: [80, 443] }
        meter: { token-bucket: { rate: 1Mb/s, burst: 31250B } }
        green: [{ mark: af21 }, transmit]
        red: [drop]
    queueing:
      scheduler: priority
      classes:
        - name: voice
          match: { dscp: ef }
          police: { rate: 512kb/s, burst: 12800B }
        - name: others
          queueing:
            scheduler: scfq
            classes:
              - { name: business, match: { dscp: [af21, af22] }, share: { bandwidth: 2Mb/s } }
              - { name: class-default, share: { bandwidth: 7488kb/s } }
""")
    text = convert.convert(file, to="ios", rate="10Mb/s").text
    assert (
        text.splitlines()
        == """\
!
version 15.2
!
ip access-list extended web
 permit tcp 192.0.2.0 0.0.0.255 any eq 80
 permit tcp 192.0.2.0 0.0.0.255 any eq 443
!
class-map match-all web
 match access-group name web
!
class-map match-all voice
 match dscp ef
!
class-map match-all business
 match dscp af21 af22
!
policy-map edge
 class web
  police cir 1000000 bc 31250
    conform-action set-dscp-transmit af21
    exceed-action drop
 class voice
  priority 512
 class business
  bandwidth 2000
!
interface GigabitEthernet0/0
 bandwidth 10000
 service-policy output edge
!
end""".splitlines()
    )


def test_codepoints_beyond_the_last_drop_precedence_have_its_thresholds(tmp_path: Path) -> None:
    file = tmp_path / "edge.yaml"
    file.write_text("""\
policies:
  edge:
    queueing:
      scheduler: scfq
      classes:
        - name: data
          match: { dscp: [af11, af12, af13] }
          share: { bandwidth: 2Mb/s }
          precedence: { by-dscp: [af11, af12, af13] }
          buffer:
            wred:
              drop-spacing: geometric
              averaging: { exponent: 9 }
              precedences:
                - { min: 25 packets, max: 40 packets, max-probability: 0.1 }
                - { min: 15 packets, max: 40 packets, max-probability: 0.1 }
        - { name: class-default, share: { bandwidth: 8Mb/s } }
""")
    text = convert.convert(file, to="ios", rate="10Mb/s").text
    assert [line.strip() for line in text.splitlines() if "random-detect dscp " in line] == [
        "random-detect dscp 10 25 40 10",
        "random-detect dscp 12 15 40 10",
        "random-detect dscp 14 15 40 10",
    ]


def test_codepoints_without_a_word_of_ios_get_their_numbers(tmp_path: Path) -> None:
    policy = tmp_path / "wan.yaml"
    policy.write_text(
        "policies:\n  wan:\n    conditioners:\n"
        "      - { name: games, match: { dscp: [nqb, ef] }, actions: [{ mark: nqb }] }\n"
        "    queueing:\n      scheduler: scfq\n      classes:\n"
        "        - { name: games, match: { dscp: [nqb, ef] }, share: { weight: 2 } }\n"
        "        - { name: le, match: { dscp: le }, share: { weight: 1 } }\n"
        "        - { name: rest }\n"
    )
    text = convert.convert(policy, to="ios", rate="10Mb/s").text
    assert "match dscp 45 ef" in text and "match dscp 1" in text and "set dscp 45" in text, text
