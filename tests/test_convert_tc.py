"""`perhop convert --to tc`: filters select the packets of their classes, and Linux applies the commands."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import time
from collections.abc import Iterator
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import pytest

from cables import Namespace, missing_right
from conftest import ROOT, Command
from perhop import convert
from perhop.convert.policies import read_source
from seeds import drawing
from test_convert import WITH_POLICIES, _named_values, _packet
from test_convert import matches as matches_condition

# Two classes by codepoint and one for all other packets, without disciplines that small kernels lack.
POLICY = """\
policies:
  wan:
    overhead: 14
    queueing:
      scheduler: priority
      classes:
        - name: voice
          match: { dscp: ef }
          police: { rate: 1Mb/s, burst: 5kB, when: always }
          buffer: { tail-drop: { limit: 20 packets } }
        - name: others
          queueing:
            scheduler: three-parameter
            classes:
              - name: business
                match: { dscp: [af21, af22], destination-port: "5000-5100" }
                share: { minimum: 2Mb/s, weight: 3 }
                buffer: { tail-drop: { limit: 30kB } }
              - name: class-default
                share: { weight: 1 }
                buffer: { tail-drop: { limit: 50 packets } }
"""
CLASS = 'tc class add dev "$DEV" parent 1:1 classid '
# Messages of tc about features that its kernel lacks; any other message is an error in a command.
LACKS = re.compile(r"Specified qdisc kind is unknown|Failed to load TC action module|Qdisc not classful")

needs_namespaces = pytest.mark.skipif(
    (reason := missing_right() or ("" if shutil.which("tc") else "the program tc is missing")) != "",
    reason=f"{reason}",
)


@pytest.fixture
def policy(tmp_path: Path) -> Path:
    file = tmp_path / "wan.yaml"
    file.write_text(POLICY)
    return file


def _bytes(packet: dict[str, Any]) -> tuple[str, bytes]:
    """The protocol and the first bytes of a packet: network header, then ports."""
    source, destination = ip_address(packet["source"]), ip_address(packet["destination"])
    ports = packet["source-port"].to_bytes(2, "big") + packet["destination-port"].to_bytes(2, "big")
    length = packet["length"].to_bytes(2, "big")
    if source.version == 4:
        head = bytes([0x45, packet["dscp"] << 2]) + length + bytes(4) + bytes([64, packet["protocol"], 0, 0])
        return "ip", head + source.packed + destination.packed + ports
    payload = max(packet["length"] - 40, 0).to_bytes(2, "big")
    head = (6 << 12 | packet["dscp"] << 6).to_bytes(2, "big") + bytes(2) + payload
    return "ipv6", head + bytes([packet["protocol"], 64]) + source.packed + destination.packed + ports


def _meets(words: list[str], data: bytes, mark: int) -> bool:
    """Whether a packet fulfills the `match` words of a u32 filter."""
    at = 0
    while at < len(words):
        assert words[at] == "match"
        kind, value, mask = words[at + 1], int(words[at + 2], 0), int(words[at + 3], 0)
        if kind == "mark":
            seen, at = mark, at + 4
        elif words[at + 2 : at + 4] == ["0", "0"]:
            seen, at = 0, at + 4
        else:
            offset, size = int(words[at + 5]), {"u8": 1, "u16": 2, "u32": 4}[kind]
            seen, at = int.from_bytes(data[offset : offset + size], "big"), at + 6
        if seen & mask != value:
            return False
    return True


def _chosen(text: str, packet: dict[str, Any]) -> str | None:
    """The class that the filters of a script choose for a packet."""
    protocol, data = _bytes(packet)
    found = []
    for line in text.splitlines():
        match = re.match(
            r'tc filter add dev "\$DEV" parent 1: protocol (ip|ipv6) pref (\d+) u32 (.*) flowid (1:\w+)', line
        )
        if match and match[1] == protocol and _meets(match[3].split(), data, packet["label"]):
            found.append((int(match[2]), match[4]))
    return min(found)[1] if found else None


def _leaves(queueing: Any, around: list[Any], found: list[tuple[str, list[Any]]]) -> None:
    """Classes with a queue in the order of their conditions, with those conditions."""
    for entry in queueing["classes"]:
        own = [*around, *([entry["match"]] if entry.get("match") else [])]
        if entry.get("queueing"):
            _leaves(entry["queueing"], own, found)
        else:
            found.append((entry["name"], own))


@pytest.mark.parametrize("file", WITH_POLICIES, ids=lambda file: f"{file.parent.name}-{file.stem}")
def test_filters_choose_the_class_of_every_packet(file: Path) -> None:
    source = read_source(file)
    for attached in source.attached:
        if attached.direction != "output" or not attached.policy.get("queueing") or attached.port is None:
            continue
        converted = convert.convert(file, to="tc", interface=attached.interface)
        leaves: list[tuple[str, list[Any]]] = []
        _leaves(attached.policy["queueing"], [], leaves)
        # Classes are numbered by a comment in front of them.
        names = re.findall(r'# (.+)\ntc class add dev "\$DEV" parent \S+ classid (1:\w+)', converted.text)
        number = dict(names)
        unseen = ("match", "a condition")
        refused = [remark for remark in converted.remarks if remark.construct.startswith(unseen)]
        if refused or len(number) != len(names):
            continue
        draw = drawing(file.name)
        values = _named_values([match for _, matches in leaves for match in matches], {})
        for _ in range(150):
            packet = {**_packet(draw, values), "cos": 0, "mpls-exp": 0, "color": 0, "input": "elsewhere"}
            packet["length"] = max(packet["length"], 40)
            if packet["protocol"] not in {6, 17}:
                # Filters must not read the ports of packets without ports; perhop's packets always have
                # ports.
                packet["protocol"] = 17
            meeting = (
                name
                for name, matches in leaves
                if all(matches_condition(condition, packet) for condition in matches)
            )
            expected = next(meeting, None)
            chosen = _chosen(converted.text, packet)
            default = re.search(r"htb default (\w+)", converted.text)
            got = chosen or (f"1:{default[1]}" if default and default[1] != "0" else None)
            shared = [name for name, minor in number.items() if minor == got]
            together = [name for names in shared for name in names.split(", ")]
            assert (expected in together) if expected else got is None, (attached.where, packet)


def test_nearly_all_conditions_are_filters() -> None:
    filtered, ports = 0, 0
    for file in WITH_POLICIES:
        for attached in read_source(file).attached:
            if attached.direction == "output" and attached.policy.get("queueing"):
                converted = convert.convert(file, to="tc", interface=attached.interface)
                ports += 1
                filtered += not any(remark.construct.startswith("match") for remark in converted.remarks)
    # The other policies match colors, tags or labels of frames, or the interface of arrival.
    assert (ports, filtered) >= (70, 65)


def test_tc_by_hand(policy: Path) -> None:
    # 2 Mb/s of 10, and a hundredth for the class without a minimum; quanta of 3 : 1.
    converted = convert.convert(policy, to="tc", rate="10Mb/s")
    lines = [line for line in converted.text.splitlines() if line.startswith("tc") and "del" not in line]
    assert lines == [
        'tc qdisc add dev "$DEV" root handle 1: htb default 4',
        'tc class add dev "$DEV" parent 1: classid 1:1 htb rate 10000000bit ceil 10000000bit quantum 1514',
        CLASS + "1:2 htb rate 1000000bit ceil 1000000bit prio 0 quantum 1514",
        'tc qdisc add dev "$DEV" parent 1:2 handle 102: pfifo limit 20',
        CLASS + "1:3 htb rate 2000000bit ceil 10000000bit prio 1 quantum 4542",
        'tc qdisc add dev "$DEV" parent 1:3 handle 103: bfifo limit 30000',
        CLASS + "1:4 htb rate 90000bit ceil 10000000bit prio 1 quantum 1514",
        'tc qdisc add dev "$DEV" parent 1:4 handle 104: pfifo limit 50',
        'tc filter add dev "$DEV" parent 1: protocol ip pref 1 u32 match u8 0xb8 0xfc at 1 flowid 1:2',
        'tc filter add dev "$DEV" parent 1: protocol ipv6 pref 2 u32 match u16 0x0b80 0x0fc0 at 0 flowid 1:2',
        *(line for line in lines if line.endswith("flowid 1:3")),
    ]
    remarks = {(remark.construct, remark.where.rpartition(" ")[2]) for remark in converted.remarks}
    assert ("limit of 1000000 b/s", "voice") in remarks
    assert any(construct.startswith("excess of a three-parameter") for construct, _ in remarks)


def test_features_that_linux_lacks_are_listed(perhop: Command) -> None:
    file = ROOT / "vectors" / "ios" / "enterprise-wan-edge.cfg"
    ended = perhop("convert", file, "--to", "tc", "--interface", "Serial0/0", "--json")
    constructs = " ".join(remark["construct"] for remark in ended.json()["remarks"])
    for construct in ("under congestion", "scheduler scfq", "thresholds by drop precedence", "by precedence"):
        assert construct in constructs
    # The script contains each remark too.
    assert ended.json()["text"].count("# Different from perhop:") == len(ended.json()["remarks"])


def test_commands_are_for_one_interface(perhop: Command) -> None:
    several = perhop("convert", ROOT / "vectors" / "ios" / "pre-classify.cfg", "--to", "tc")
    assert (several.code, several.out) == (2, "")
    assert "choose with --interface: GigabitEthernet0/0, GigabitEthernet0/1" in several.err
    # One script contains the policies of both directions of an interface.
    single = perhop("convert", ROOT / "examples" / "router.cfg", "--to", "tc")
    assert single.code == 0


def test_a_policy_without_a_rate_is_one_error(policy: Path, perhop: Command) -> None:
    ended = perhop("convert", policy, "--to", "tc")
    assert (ended.code, ended.out) == (2, "")
    assert "--rate 50Mb/s" in ended.err


@pytest.fixture
def ends() -> Iterator[tuple[Namespace, Namespace]]:
    """Two namespaces with a cable and addresses."""
    near, far = Namespace(), Namespace()
    try:
        near.cable("near0", far, "far0")
        near.run("ip", "address", "add", "192.0.2.1/24", "dev", "near0")
        far.run("ip", "address", "add", "192.0.2.2/24", "dev", "far0")
        yield near, far
    finally:
        near.end()
        far.end()


# Sends a number of datagrams of 1000 bytes with each type of service to each port.
_DATAGRAMS = """
import json, socket, sys
for service, port, count in json.loads(sys.argv[1]):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sending:
        sending.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, service)
        # SO_SNDBUFFORCE: waiting packets must not stop the sender.
        sending.setsockopt(socket.SOL_SOCKET, 32, 1 << 22)
        for _ in range(count):
            sending.sendto(bytes(972), ("192.0.2.2", port))
"""


def _drained(near: Namespace) -> None:
    """Wait until the queues are empty, because a class counts packets when they leave, at its rate."""
    for _ in range(200):
        waiting = re.findall(r"backlog \w+ (\d+)p", near.run("tc", "-s", "qdisc", "show", "dev", "near0"))
        if not any(map(int, waiting)):
            return
        time.sleep(0.05)
    raise AssertionError("packets wait forever")


@needs_namespaces
def test_linux_puts_packets_into_their_classes(
    policy: Path, tmp_path: Path, ends: tuple[Namespace, Namespace]
) -> None:
    near, _ = ends
    script = tmp_path / "wan.sh"
    script.write_text(convert.convert(policy, to="tc", rate="10Mb/s").text)
    near.run("sh", str(script), "near0")
    # EF on any port, AF21 on a port of the range, AF21 on another port, best effort; few enough to fit.
    sent = [(0xB8, 4000, 5), (0x48, 5050, 7), (0x48, 6000, 3), (0, 5050, 4)]
    near.run("python3", "-c", _DATAGRAMS, json.dumps(sent))
    _drained(near)
    classes = _classes(near)
    assert {number: row["rate"] for number, row in classes.items()} == {
        "1:1": 10e6, "1:2": 1e6, "1:3": 2e6, "1:4": 90e3,
    }  # fmt: skip
    assert {number: row["ceil"] for number, row in classes.items()} == {
        "1:1": 10e6, "1:2": 1e6, "1:3": 10e6, "1:4": 10e6,
    }  # fmt: skip
    # The class for the rest also gets ARP packets, whose lengths are not counted here.
    assert classes["1:2"]["packets"] == 5
    assert classes["1:3"]["packets"] == 7
    assert classes["1:4"]["packets"] >= 7
    # 1000 IP bytes and the Ethernet header: overhead 14.
    assert classes["1:2"]["bytes"] == 5 * 1014
    assert classes["1:3"]["bytes"] == 7 * 1014
    shown = near.run("tc", "qdisc", "show", "dev", "near0")
    kinds = re.findall(r"qdisc (\w+) (\w+): (?:root|parent (1:\w+))", shown)
    assert sorted(kinds) == [
        ("bfifo", "103", "1:3"),
        ("htb", "1", ""),
        ("pfifo", "102", "1:2"),
        ("pfifo", "104", "1:4"),
    ]
    filters = near.run("tc", "filter", "show", "dev", "near0", "parent", "1:")
    assert set(re.findall(r"flowid (1:\w+)", filters)) == {"1:2", "1:3"}
    assert "match 00b80000/00fc0000 at 0" in filters


@needs_namespaces
def test_linux_counts_the_bytes_that_the_policy_counts(
    policy: Path, tmp_path: Path, ends: tuple[Namespace, Namespace]
) -> None:
    near, _ = ends
    script = tmp_path / "wan.sh"
    policy.write_text(POLICY.replace("overhead: 14", "overhead: 0"))
    script.write_text(convert.convert(policy, to="tc", rate="10Mb/s").text)
    near.run("sh", str(script), "near0")
    near.run("python3", "-c", _DATAGRAMS, json.dumps([(0xB8, 4000, 5)]))
    _drained(near)
    assert _classes(near)["1:2"]["bytes"] == 5 * 1000


@needs_namespaces
def test_linux_drops_packets_above_the_limit(
    policy: Path, tmp_path: Path, ends: tuple[Namespace, Namespace]
) -> None:
    near, _ = ends
    script = tmp_path / "wan.sh"
    # 8 kb/s: one packet a second, so that 20 packets wait and the others are lost.
    policy.write_text(POLICY.replace("rate: 1Mb/s", "rate: 8kb/s"))
    script.write_text(convert.convert(policy, to="tc", rate="10Mb/s").text)
    near.run("sh", str(script), "near0")
    near.run("python3", "-c", _DATAGRAMS, json.dumps([(0xB8, 4000, 40)]))
    queue = re.search(
        r"qdisc pfifo 102:.*?\(dropped (\d+),.*?backlog \w+ (\d+)p",
        near.run("tc", "-s", "qdisc", "show", "dev", "near0"),
        re.DOTALL,
    )  # fmt: skip
    assert queue is not None
    dropped, waiting = int(queue[1]), int(queue[2])
    assert 18 <= waiting <= 20
    assert 40 - 20 - 5 <= dropped <= 20


@needs_namespaces
def test_linux_sends_no_more_than_the_rate(tmp_path: Path, ends: tuple[Namespace, Namespace]) -> None:
    # An unlimited priority class and a lower class with a guarantee of the whole rate together send at most
    # the rate of the port.
    near, _ = ends
    file, script = tmp_path / "strict.yaml", tmp_path / "strict.sh"
    file.write_text("""\
policies:
  strict:
    overhead: 14
    queueing:
      scheduler: priority
      classes:
        - { name: voice, match: { dscp: ef }, buffer: { tail-drop: { limit: 500 packets } } }
        - name: others
          queueing:
            scheduler: scfq
            classes:
              - name: gold
                match: { dscp: af11 }
                share: { bandwidth: 1Mb/s }
                buffer: { tail-drop: { limit: 500 packets } }
              - { name: rest, share: { bandwidth: 1Mb/s }, buffer: { tail-drop: { limit: 500 packets } } }
""")
    script.write_text(convert.convert(file, to="tc", rate="1Mb/s").text)
    near.run("sh", str(script), "near0")
    before = time.monotonic()
    near.run("python3", "-c", _DATAGRAMS, json.dumps([(0, 4000, 400), (0x28, 4000, 400), (0xB8, 4000, 400)]))
    # The queued packets need nine seconds in total. On a busy machine they arrive late.
    waiting, first = time.monotonic(), 8 * _classes(near)["1:1"]["bytes"]
    time.sleep(2)
    classes = _classes(near)
    bits = 8 * classes["1:1"]["bytes"]
    ended = time.monotonic()
    # At least half of the rate leaves, and at most the rate plus the bursts.
    assert bits - first > 0.5e6 * 2
    assert bits < 1.05e6 * (ended - before) + 8 * 10_000
    assert bits - first < 1.05e6 * (ended - waiting) + 8 * 10_000
    # Nearly all sent bytes are voice, although voice arrived last.
    assert classes["1:2"]["bytes"] > 0.8 * classes["1:1"]["bytes"]


@needs_namespaces
@pytest.mark.parametrize("around", ["alone", "below voice"])
def test_linux_shares_between_classes_inside_classes(
    around: str, tmp_path: Path, ends: tuple[Namespace, Namespace]
) -> None:
    # Shares of 3 : 1, with a priority class that may borrow inside the first class.
    near, _ = ends
    limit = {"tail-drop": {"limit": "2500 packets"}}
    inner = [{"name": "interactive", "match": {"dscp": "af21"}}, {"name": "bulk", "buffer": limit}]
    shared = {
        "scheduler": "wf2q-plus",
        "classes": [
            {
                "name": "physics",
                "match": {"dscp": ["af21", "af22"]},
                "share": {"weight": 3},
                "queueing": {"scheduler": "priority", "classes": inner},
            },
            {"name": "history", "share": {"weight": 1}, "buffer": limit},
        ],
    }
    voice = [{"name": "voice", "match": {"dscp": "ef"}}, {"name": "others", "queueing": shared}]
    queueing = shared if around == "alone" else {"scheduler": "priority", "classes": voice}
    file, script = tmp_path / "nested.yaml", tmp_path / "nested.sh"
    file.write_text(json.dumps({"policies": {"nested": {"overhead": 14, "queueing": queueing}}}))
    text = convert.convert(file, to="tc", rate="4Mb/s").text
    script.write_text(text)
    near.run("sh", str(script), "near0")
    near.run("python3", "-c", _DATAGRAMS, json.dumps([(0, 4000, 2400), (0x50, 4000, 2400)]))
    before = _classes(near)
    time.sleep(1.5)
    after = _classes(near)
    names = re.findall(r'# (.+)\ntc class add dev "\$DEV" parent \S+ classid (1:\w+)', text)
    sent = {name: after[number]["bytes"] - before[number]["bytes"] for name, number in names}
    assert 2.7 < sent["physics"] / sent["history"] < 3.3


def _classes(near: Namespace) -> dict[str, dict[str, float]]:
    """Rate, ceiling and counters of each HTB class."""
    units = {"": 1.0, "K": 1e3, "M": 1e6, "G": 1e9}
    found = {}
    text = near.run("tc", "-s", "class", "show", "dev", "near0")
    pattern = r"class htb (1:\w+).*? rate (\d+)([KMG]?)bit ceil (\d+)([KMG]?)bit.*?Sent (\d+) bytes (\d+) pkt"
    for match in re.finditer(pattern, text, re.DOTALL):
        found[match[1]] = {
            "rate": int(match[2]) * units[match[3]],
            "ceil": int(match[4]) * units[match[5]],
            "bytes": int(match[6]),
            "packets": int(match[7]),
        }
    return found


def _failures(near: Namespace, lines: list[str]) -> list[str]:
    """Run commands by one process of tc; return its report on each, empty if it accepts the command."""
    known = [line.partition(" 2>")[0].replace('"$DEV"', "near0").replace("${P}", "1") for line in lines]
    commands = "".join(f"{' '.join(shlex.split(line)[1:])}\n" for line in known)
    batch = near.within("tc", "-force", "-batch", "-")
    ended = subprocess.run(batch, input=commands, capture_output=True, text=True, check=False)
    failures = [""] * len(lines)
    # A warning has no line number: it follows the last failure, or precedes the next one.
    *reports, rest = re.split(r"(Command failed -:\d+\n)", ended.stderr)
    for wrong, place in zip(reports[::2], reports[1::2], strict=True):
        failures[int(place.rpartition(":")[2]) - 1] = wrong or place
    assert rest == "", ended.stderr
    assert bool(ended.returncode) == any(failures), ended.stderr
    return failures


@needs_namespaces
def test_tc_accepts_every_command_that_its_kernel_supports(tmp_path: Path) -> None:
    near = Namespace()
    accepted = refused = 0
    try:
        near.run("ip", "link", "add", "near0", "type", "veth", "peer", "name", "far0")
        near.run("ip", "link", "set", "near0", "up")
        for file in WITH_POLICIES:
            source = read_source(file)
            for interface in dict.fromkeys(attached.interface for attached in source.attached):
                text = convert.convert(file, to="tc", interface=interface).text
                lines = [line for line in text.splitlines() if line.startswith("tc ")]
                for line, wrong in zip(lines, _failures(near, lines), strict=True):
                    if " del " in line:
                        continue
                    if LACKS.search(wrong):
                        refused += 1
                        continue
                    assert wrong == "", line
                    accepted += 1
    finally:
        near.end()
    assert accepted > 1000
    if refused:
        pytest.skip(f"{accepted} commands loaded; this kernel lacks what {refused} others ask for")


def test_a_name_cannot_inject_a_command(tmp_path: Path, perhop: Command) -> None:
    # The shell would run a line break in a name as a command, and the router would read it as a line.
    file = tmp_path / "odd.yaml"
    odd = json.dumps("voice\nrm -rf $HOME\n! $(reboot)")
    file.write_text(f"""\
policies:
  {odd}:
    conditioners:
      - name: {odd}
        match: {{ dscp: ef, input: {odd} }}
        actions: [{{ mark: af11 }}, transmit]
    queueing:
      scheduler: scfq
      classes:
        - {{ name: {odd}, match: {{ dscp: ef }}, share: {{ bandwidth: 1Mb/s }} }}
        - {{ name: rest, share: {{ bandwidth: 1Mb/s }} }}
""")
    converted = perhop("convert", file, "--to", "tc", "--rate", "2Mb/s")
    assert converted.code == 0
    fixed = ("#", "set -e", "DEV=", "P=", "tc ")
    assert all(line.startswith(fixed) for line in converted.out.splitlines() if line)
    written = perhop("convert", file, "--to", "ios", "--rate", "2Mb/s")
    assert written.code == 0
    assert not any(line.lstrip().startswith("rm") for line in written.out.splitlines())
    again = tmp_path / "again.yaml"
    assert perhop("convert", file, "--to", "yaml", "-o", again).code == 0
    assert perhop("check", again).code == 0
    assert [attached.policy for attached in read_source(again).attached] == [
        attached.policy for attached in read_source(file).attached
    ]
