"""`perhop prove`: equal treatment of all packets, or a packet that is treated differently.

The expected verdicts of random pairs are those of brute force: every packet of a small space is traced
through both configurations, and its treatment is compared with the properties of policers and queues.
"""

from __future__ import annotations

import json
import random
import time
from collections import defaultdict
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from conftest import Command
from perhop import _core
from perhop.proving import prove
from seeds import drawing

Proof = dict[str, Any]

CODEPOINTS = ("ef", "cs5", "af41", "af31", "af33", "cs1", "default")
PORTS = (80, 443, 5060)
PROTOCOLS = ("udp", "tcp")


def configuration(classes: dict[str, list[str]], policy: list[tuple[str, list[str]]], acl: list[str]) -> str:
    """Return a router with one policy for departing packets."""
    lines = ["version 15.4", "ip access-list extended APP", *(f" {line}" for line in acl)]
    for name, matches in classes.items():
        lines += [f"class-map match-any {name}", *(f" match {match}" for match in matches)]
    lines.append("policy-map WAN")
    for name, actions in policy:
        lines += [f" class {name}", *(f"  {action}" for action in actions)]
    lines += ["interface GigabitEthernet0/0", " bandwidth 10000", " ip address 192.0.2.1 255.255.255.252"]
    lines += [" service-policy output WAN", "interface GigabitEthernet0/1"]
    lines += [" ip address 10.0.0.1 255.255.255.0", "ip route 0.0.0.0 0.0.0.0 192.0.2.2"]
    return "\n".join(lines) + "\n"


BASE_CLASSES = {
    "VOICE": ["dscp ef", "dscp cs5"],
    "APP": ["access-group name APP"],
    "DATA": ["dscp af31 af33"],
}
BASE_POLICY = [
    ("VOICE", ["priority 1000"]),
    ("APP", ["bandwidth 2000", "set dscp af41"]),
    ("DATA", ["bandwidth 3000", "police cir 2000000 conform-action transmit exceed-action drop"]),
    ("class-default", ["fair-queue"]),
]
BASE_ACL = ["permit tcp any any eq 443", "permit udp any any range 5000 5100"]
BASE = configuration(BASE_CLASSES, BASE_POLICY, BASE_ACL)


@pytest.fixture
def proved(perhop: Command, tmp_path: Path) -> Any:
    def ask(first: str, second: str, *options: str) -> Proof:
        for name, text in (("a.cfg", first), ("b.cfg", second)):
            (tmp_path / name).write_text(text)
        ended = perhop("prove", tmp_path / "a.cfg", tmp_path / "b.cfg", *options, "--json")
        found: Proof = ended.json()
        assert ended.code == {"equal": 0, "differ": 4, "not-decided": 1}[found["verdict"]], ended.err
        return found

    return ask


def aspects(proof: Proof) -> dict[str, tuple[str | None, str | None]]:
    """Return the aspects that differ."""
    rows = proof["counterexample"]["treatment"]
    return {row["what"]: (row["first"], row["second"]) for row in rows if row["first"] != row["second"]}


def test_a_configuration_equals_itself(proved: Any) -> None:
    proof = proved(BASE, BASE)
    assert (proof["verdict"], proof["counterexample"], proof["not_decided"]) == ("equal", None, [])


def test_the_spelling_with_two_equals_signs(perhop: Command, tmp_path: Path) -> None:
    (tmp_path / "a.cfg").write_text(BASE)
    ended = perhop("prove", "a.cfg", "==", "a.cfg")
    assert ended.code == 0
    assert ended.out.startswith("equal: a.cfg and a.cfg treat all packets equally")
    wrong = perhop("prove", "a.cfg", "a.cfg", "a.cfg")
    assert wrong.code == 2
    assert "perhop prove A == B" in wrong.err


def test_names_and_the_order_of_disjoint_classes_do_not_matter(proved: Any) -> None:
    classes = {"V": ["dscp cs5", "dscp ef"], "APP": BASE_CLASSES["APP"], "DATA": ["dscp af33", "dscp af31"]}
    policy = [("V", BASE_POLICY[0][1]), *BASE_POLICY[1:]]
    assert proved(BASE, configuration(classes, policy, BASE_ACL))["verdict"] == "equal"


@pytest.mark.parametrize(
    ("before", "after", "packet", "what"),
    [
        ("dscp ef\n", "dscp ef cs6\n", "dscp cs6", "queue"),
        ("priority 1000", "priority 1500", "", "guarantee"),
        ("set dscp af41", "set dscp af42", "", "marks"),
        ("cir 2000000", "cir 3000000", "dscp af31", "policer"),
        ("exceed-action drop", "exceed-action set-dscp-transmit default", "dscp af31", "fate"),
        ("eq 443", "eq 444", "tcp", "queue"),
        ("bandwidth 2000", "bandwidth 2000\n  queue-limit 128 packets", "", "buffer"),
    ],
)
def test_a_change_has_an_example_packet(before: str, after: str, packet: str, what: str, proved: Any) -> None:
    proof = proved(BASE, BASE.replace(before, after))
    assert proof["verdict"] == "differ"
    assert packet in proof["counterexample"]["packet"]
    assert what in aspects(proof)


def test_a_policer_for_two_classes_differs_from_one_for_each(proved: Any) -> None:
    police = "police cir 1000000 conform-action transmit exceed-action drop"
    together = configuration({"A": ["dscp ef", "dscp cs5"]}, [("A", [police])], [])
    apart = configuration({"A": ["dscp ef"], "B": ["dscp cs5"]}, [("A", [police]), ("B", [police])], [])
    proof = proved(together, apart)
    assert proof["verdict"] == "differ"
    assert {"ef", "cs5"} == {
        text.split(" dscp ")[1].split()[0]
        for text in (proof["counterexample"]["packet"], proof["counterexample"]["with"])
    }
    assert aspects(proof)["policer"] == ("both packets share one", "each packet has its own")


def test_a_line_that_is_not_modeled_leaves_it_undecided(proved: Any) -> None:
    changed = BASE.replace("interface GigabitEthernet0/1\n", "interface GigabitEthernet0/1\n foo bar\n")
    proof = proved(BASE, changed)
    assert proof["verdict"] == "not-decided"
    assert any("`foo bar`" in reason for reason in proof["not_decided"])
    # The same line in both configurations has the same effect.
    assert proved(changed, changed)["verdict"] == "equal"


def test_a_route_leaves_it_undecided_and_a_port_decides(proved: Any) -> None:
    other = BASE + "ip route 10.9.0.0 255.255.0.0 192.0.2.2\n"
    assert proved(BASE, other)["verdict"] == "not-decided"
    assert proved(BASE, other, "--at", "Gi0/0")["verdict"] == "equal"


def test_an_access_list_of_a_port_counts(proved: Any) -> None:
    group = "ip access-list extended IN\n permit ip any any\n"
    attach = "interface GigabitEthernet0/1\n ip access-group IN in\n"
    open_port = group + BASE.replace("interface GigabitEthernet0/1\n", attach)
    closed = open_port.replace(" permit ip any any\n", " deny udp any any eq 53\n permit ip any any\n")
    proof = proved(open_port, closed)
    assert proof["verdict"] == "differ"
    assert ":53 " in proof["counterexample"]["packet"]
    assert aspects(proof)["fate"] == ("passes", "dropped")


def test_linux_and_ios_are_compared_at_a_port_of_each(perhop: Command, tmp_path: Path) -> None:
    """A tail-drop queue of 64 packets is equal in both languages."""
    policy = "policy-map P\n class class-default\n  queue-limit 64 packets\n"
    port = "interface GigabitEthernet0/0\n service-policy output P\n"
    (tmp_path / "router.cfg").write_text(policy + port)
    ends = {64: ("equal", 0), 65: ("differ", 4)}
    for limit, (verdict, code) in ends.items():
        (tmp_path / "linux.tc").write_text(f"tc qdisc add dev eth0 root handle 1: pfifo limit {limit}\n")
        options = ("--at", "Gi0/0", "--at", "eth0")
        ended = perhop("prove", "router.cfg", "linux.tc", *options, "--json")
        found = ended.json()
        assert (found["verdict"], ended.code) == (verdict, code), found


def test_schedulers_with_equal_rates_leave_the_order_of_packets_undecided(
    perhop: Command, tmp_path: Path
) -> None:
    """Deficit round robin and HFSC give two classes half of the link each, in different orders of packets."""
    leaves = "".join(f"tc qdisc add dev eth0 parent 1:{n} handle 1{n}: pfifo limit 50\n" for n in (1, 2))
    filters = (
        "tc filter add dev eth0 parent 1: protocol ip prio 1 u32 match ip dsfield 0xb8 0xfc flowid 1:1\n"
        "tc filter add dev eth0 parent 1: protocol all prio 2 u32 match u32 0 0 flowid 1:2\n"
    )
    for name, kind, share in (("drr", "drr", "quantum 1500"), ("hfsc", "hfsc", "ls rate 500mbit")):
        classes = "".join(f"tc class add dev eth0 parent 1: classid 1:{n} {kind} {share}\n" for n in (1, 2))
        text = f"tc qdisc add dev eth0 root handle 1: {kind}\n{classes}{leaves}{filters}"
        (tmp_path / f"{name}.tc").write_text(text)
    proof = perhop("prove", "drr.tc", "hfsc.tc", "--json").json()
    assert proof["verdict"] == "not-decided"
    assert any("schedulers are drr and hfsc" in reason for reason in proof["not_decided"]), proof


def test_a_packet_names_the_lines_that_it_assumes_to_be_without_effect(
    perhop: Command, tmp_path: Path
) -> None:
    (tmp_path / "a.tc").write_text("tc qdisc add dev eth0 root handle 1: pfifo limit 50\n")
    (tmp_path / "b.tc").write_text("tc qdisc add dev eth0 root handle 1: qfq\n")
    out = perhop("prove", "a.tc", "b.tc").out
    assumption = "the example is valid only if no line listed below changes the treatment of this packet"
    assert out.index("differ: ") < out.index(assumption) < out.index("not compared: b.tc, line 1")


def test_wrong_questions_are_refused(perhop: Command, tmp_path: Path) -> None:
    (tmp_path / "a.cfg").write_text(BASE)
    (tmp_path / "notes.txt").write_text("nothing\n")
    for arguments, message in [
        (("a.cfg", "notes.txt"), "notes.txt is not a configuration"),
        (("a.cfg", "a.cfg", "--at", "Gi9/9"), "has no port `Gi9/9`"),
        (("a.cfg", "a.cfg", "--policy", "LAN"), "no port has a policy `LAN`"),
        (("a.cfg", "a.cfg", "--at", "x", "--at", "y", "--at", "z"), "--at is given 3 times"),
        (("a.cfg", "."), "a.cfg is not a folder"),
    ]:
        ended = perhop("prove", *arguments)
        assert (ended.code, ended.out) == (2, ""), arguments
        assert message in ended.err, ended.err


def test_an_access_list_of_5000_lines(proved: Any) -> None:
    """One line of 5,000 differs, and the reported packet matches this line."""
    draw = drawing("access list of 5000 lines")

    def byte() -> int:
        return draw.randrange(256)

    lines = [
        f"permit tcp 10.{byte()}.{byte()}.0 0.0.0.255 host 10.{byte()}.{byte()}.{byte()} eq {number + 1}"
        for number in range(5_000)
    ]
    classes, policy = {"APP": ["access-group name APP"]}, [("APP", ["bandwidth 2000"])]
    first = configuration(classes, policy, lines)
    assert proved(first, configuration(classes, policy, lines[::-1]))["verdict"] == "equal"
    lines[2_500] = "permit tcp 172.16.0.0 0.0.0.255 host 172.17.0.1 eq 443"
    proof = proved(first, configuration(classes, policy, lines))
    assert proof["verdict"] == "differ"


def test_one_line_of_an_alternating_list(perhop: Command, tmp_path: Path) -> None:
    """Permits and denies alternate: a change of the last line counts like a change of the first."""
    ports = range(1, 601)
    lines = [f"{'deny' if port % 2 else 'permit'} tcp any host 10.0.0.1 eq {port}" for port in ports]
    classes, policy = {"APP": ["access-group name APP"]}, [("APP", ["bandwidth 2000"])]
    (tmp_path / "a.cfg").write_text(configuration(classes, policy, lines))
    for place in (0, 402, 598):
        changed = [*lines[:place], lines[place].replace("deny", "permit"), *lines[place + 1 :]]
        (tmp_path / "b.cfg").write_text(configuration(classes, policy, changed))
        ended = perhop("prove", "a.cfg", "b.cfg")
        assert ended.code == 4, ended.out
        assert f"> 10.0.0.1:{place + 1} " in ended.out, ended.out
        ended = perhop("diff", "a.cfg", "b.cfg", "--no-simulate")
        assert (ended.code, ended.err) == (0, "")
        assert f"> 10.0.0.1:{place + 1} " in ended.out, ended.out


# Pairs of small policies by brute force.


def mutated(draw: random.Random) -> tuple[str, str]:
    """Return a small configuration and a changed one; some changes change nothing."""
    classes = {name: list(matches) for name, matches in BASE_CLASSES.items()}
    policy = [(name, list(actions)) for name, actions in BASE_POLICY]
    acl = list(BASE_ACL)
    for _ in range(draw.randrange(3)):
        mutate(draw, classes, policy, acl)
    first = configuration(classes, policy, acl)
    for _ in range(draw.randrange(1, 3)):
        mutate(draw, classes, policy, acl)
    return first, configuration(classes, policy, acl)


def mutate(
    draw: random.Random, classes: dict[str, list[str]], policy: list[tuple[str, list[str]]], acl: list[str]
) -> None:
    """Change a small configuration in place."""
    place = draw.randrange(len(policy) - 1)
    name, actions = policy[place]
    match draw.randrange(9):
        case 0:
            classes[name].append(f"dscp {draw.choice(CODEPOINTS)}")
        case 1:
            classes[name].reverse()
        case 2:
            other = draw.randrange(len(policy) - 1)
            policy[place], policy[other] = policy[other], policy[place]
        case 3:
            kept = [action for action in actions if not action.startswith("set")]
            actions[:] = [*kept, f"set dscp {draw.choice(CODEPOINTS)}"]
        case 4:
            kept = [action for action in actions if not action.startswith("police")]
            rate, end = draw.choice((1_000_000, 2_000_000)), draw.choice(("drop", "set-dscp-transmit cs1"))
            actions[:] = [*kept, f"police cir {rate} conform-action transmit exceed-action {end}"]
        case 5:
            acl.append(f"permit {draw.choice(PROTOCOLS)} any any eq {draw.choice(PORTS)}")
        case 6:
            acl.insert(0, f"deny {draw.choice(PROTOCOLS)} any any eq {draw.choice(PORTS)}")
        case 7:
            actions[:] = [action for action in actions if not action.startswith("queue-limit")]
            if actions and not actions[0].startswith("priority"):
                actions.append(f"queue-limit {draw.choice((64, 100))} packets")
        case _:
            duplicate = f"{name}2"
            if duplicate not in classes and not actions[0].startswith("priority"):
                # Two classes replace one: packets of the second do not share a queue with those of the first.
                classes[duplicate] = [classes[name].pop()] if len(classes[name]) > 1 else ["dscp cs1"]
                policy.insert(place + 1, (duplicate, [a for a in actions if not a.startswith("bandwidth")]))


class Traced:
    """The treatments of all packets of a small space by one configuration."""

    def __init__(self, text: str) -> None:
        device = _core.Device(text)
        report = json.loads(_core.check_router(text))
        port = next(port for port in report["router"]["ports"] if port["name"] == "GigabitEthernet0/0")
        policy = port["output"]
        self.stages = {conditioner["name"]: conditioner for conditioner in policy.get("conditioners", [])}
        rates = json.loads(_core.class_rates(json.dumps(policy), 10_000_000))
        self.rates = {row["queue"]: row for row in rates}
        self.classes = dict(_leaves(policy["queueing"], ""))
        ways = {packet: list(self.ways(device, packet)) for packet in packets()}
        # A policer whose color changes nothing for any packet has no effect.
        busy = set()
        for own in ways.values():
            meters = {meter for meter, *_ in own if meter}
            if len({json.dumps(outcome) for *_, outcome in own}) > 1:
                busy |= meters
        self.packets = {packet: self.treatment(own, busy) for packet, own in ways.items()}

    def ways(self, device: _core.Device, packet: str) -> Iterator[tuple[str | None, str | None, Any]]:
        """Generate the paths of a packet: its policer, its color, and its mark and queue or a drop."""
        traced = json.loads(device.trace(packet, "GigabitEthernet0/1", "GigabitEthernet0/0"))
        for path in traced["paths"]:
            meters = [stage for stage in path["stages"] if stage["stage"] == "conditioner" and stage["meter"]]
            assert len(meters) < 2
            name, color = (meters[0]["name"], meters[0]["color"]) if meters else (None, None)
            if path["end"] == "dropped":
                yield name, color, "dropped"
            else:
                yield name, color, [path["packet"].split(" dscp ")[1].split()[0], path["queue"]]

    def treatment(self, ways: list[Any], busy: set[str]) -> tuple[Any, dict[str, str]]:
        """Return the treatment of a packet without names, and the names of its policer and its queue."""
        found, used = [], {}
        for meter, color, outcome in ways:
            own = (None, None)
            if meter in busy:
                used["policer"] = meter
                own = (self.stages[meter]["meter"], color)
            if outcome == "dropped":
                found.append(json.dumps((own, outcome)))
            else:
                mark, used["queue"] = outcome
                found.append(json.dumps((own, mark, self.queue(used["queue"]))))
        return sorted(set(found)), used

    def queue(self, name: str) -> Any:
        """Return the properties of a queue."""
        rates = {key: _rounded(value) for key, value in self.rates[name].items() if key != "queue"}
        ignored = ("name", "match", "share")
        return rates, {key: value for key, value in self.classes[name].items() if key not in ignored}


def _leaves(queueing: dict[str, Any], around: str) -> Iterator[tuple[str, Any]]:
    for queue in queueing["classes"]:
        if queue.get("queueing"):
            yield from _leaves(queue["queueing"], f"{around}{queue['name']}/")
        else:
            yield f"{around}{queue['name']}", queue


def _rounded(value: Any) -> Any:
    return float(f"{value:.4g}") if isinstance(value, float) else value


def packets() -> Iterator[str]:
    for dscp, port, protocol in product(CODEPOINTS, PORTS, PROTOCOLS):
        yield f"{protocol} 10.0.0.5:50000 > 198.51.100.1:{port} dscp {dscp} len 500"


def are_equal(first: Traced, second: Traced) -> bool:
    """Whether all packets are treated equally, and share each policer and queue with the same packets."""
    partners: list[dict[Any, set[Any]]] = [defaultdict(set), defaultdict(set)]
    for packet, (treatment, used) in first.packets.items():
        other, others = second.packets[packet]
        if treatment != other:
            return False
        for kind, own in used.items():
            partners[0][kind, own].add(others[kind])
            partners[1][kind, others[kind]].add(own)
    return all(len(names) == 1 for side in partners for names in side.values())


def _compare(number: int, folder: Path) -> str:
    texts = mutated(drawing(f"proof {number}"))
    expected = "equal" if are_equal(*map(Traced, texts)) else "differ"
    files = (folder / "a.cfg", folder / "b.cfg")
    for file, text in zip(files, texts, strict=True):
        file.write_text(text)
    proof = prove(*files, at=["Gi0/0"])
    assert proof["verdict"] == expected, f"{number}: {proof}\n{texts[0]}\n{texts[1]}"
    return expected


def test_proofs_agree_with_brute_force(tmp_path: Path) -> None:
    found = [_compare(number, tmp_path) for number in range(60)]
    # Both verdicts occur.
    assert 10 < found.count("differ") < 55


@pytest.mark.thorough
def test_a_thousand_proofs_agree_with_brute_force(tmp_path: Path) -> None:
    for number in range(60, 1_000):
        _compare(number, tmp_path)


def test_the_command_agrees_with_brute_force(proved: Any) -> None:
    for number in range(4):
        texts = mutated(drawing(f"proof {number}"))
        expected = "equal" if are_equal(*map(Traced, texts)) else "differ"
        assert proved(*texts, "--at", "Gi0/0")["verdict"] == expected


def test_convert_proves_its_output(perhop: Command, tmp_path: Path) -> None:
    (tmp_path / "router.cfg").write_text(BASE)
    ended = perhop("convert", "router.cfg", "--to", "ios", "--json")
    assert [proof["verdict"] for proof in ended.json()["proofs"]] == ["equal"]
    shown = perhop("convert", "router.cfg", "--to", "ios")
    assert "the converted policy treats all packets like the input (proved)" in shown.err


def long_list(length: int) -> list[str]:
    """Return entries of a list with different subnets and ports."""
    draw = random.Random(length)
    return [
        f"permit tcp 10.{draw.randrange(256)}.{draw.randrange(256)}.0 0.0.0.{draw.choice((0, 15, 255))} any "
        f"eq {draw.randrange(1, 65000)}"
        for _ in range(length)
    ]


def test_the_time_for_a_list_grows_with_its_length(tmp_path: Path) -> None:
    """A list of 5,000 lines takes at most twice the time per line of one with 1,250 lines."""
    seconds = {}
    for length in (1250, 5000):
        entries = long_list(length)
        shuffled = random.Random(1).sample(entries, length)
        for name, own in (("a.cfg", entries), ("b.cfg", shuffled)):
            (tmp_path / name).write_text(configuration(BASE_CLASSES, BASE_POLICY, own))
        tries = []
        for _ in range(3):
            begun = time.process_time()
            assert prove(tmp_path / "a.cfg", tmp_path / "b.cfg")["verdict"] == "equal"
            tries.append(time.process_time() - begun)
        seconds[length] = min(tries)
    assert seconds[5000] < 8 * seconds[1250], seconds
