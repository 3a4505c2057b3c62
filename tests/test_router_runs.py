"""`perhop run` of router configurations of many kinds: packets sent and lost, messages and refusals."""

from __future__ import annotations

import os
import pty
import re
import subprocess
from contextlib import suppress
from pathlib import Path

import pytest

import perhop as library
from conftest import ROOT, Command, command_line
from perhop import Scenario, _core

CONFIGURATIONS = ROOT / "tests" / "configurations"
# Class-maps and policy-maps alone need an interface; if there are two policies, one is selected.
FRAGMENTS = {"fragment-wan": {"rate": "50Mb/s"}, "fragment-two": {"rate": "50Mb/s", "policy": "UPLINK"}}
# The switch is left out, because perhop refuses it (test_unsupported_systems.py).
FILES = sorted(set(CONFIGURATIONS.glob("*.cfg")) - {CONFIGURATIONS / "catalyst-9300.cfg"})

# The neighbors of the router whose configuration is read.
NEAR, FAR = "near-side", "far-side"
# A line of the inferred load: class, rate, kind of traffic.
OFFER = re.compile(r"^  (?P<name>\S.*?) +(?P<above>> )?(?P<rate>[\d.,]+) (?P<unit>[kMG]b/s)  (?P<kind>.+)$")
UNITS = {"kb/s": 1e3, "Mb/s": 1e6, "Gb/s": 1e9}


def offers(text: str) -> dict[str, tuple[float, bool, str]]:
    """The printed load of each class: rate, whether the rate is a minimum, and kind of traffic."""
    found = {}
    for line in text.splitlines():
        if offer := OFFER.match(line):
            rate = float(offer["rate"].replace(",", "")) * UNITS[offer["unit"]]
            found[offer["name"]] = (rate, bool(offer["above"]), offer["kind"])
    return found


@pytest.fixture(scope="module", params=FILES, ids=lambda file: file.stem)
def ran(request: pytest.FixtureRequest) -> tuple[Scenario, library.Results]:
    file: Path = request.param
    scenario = Scenario.infer(file, **FRAGMENTS.get(file.stem, {}))
    return scenario, scenario.run(threads=1)


def test_nothing_is_lost_outside_the_router(ran: tuple[Scenario, library.Results]) -> None:
    scenario, results = ran
    (router,) = (name for name, settings in scenario["routers"].items() if settings.get("configuration"))
    port, before = f"{router}->{FAR}", f"{NEAR}->{router}"
    for row in results.ports.iter_rows(named=True):
        if row["port"] == port:
            continue
        # The drops of the router's input conditioners count at the link that leads to the router, in both
        # directions.
        is_conditioned = row["queue"] == "(beyond)" and row["port"] in (before, f"{FAR}->{router}")
        assert row["dropped_packets"] == 0 or is_conditioned, row
        assert row["dropped_policed"] == row["dropped_packets"], row


def test_the_reported_offered_load_is_offered(ran: tuple[Scenario, library.Results]) -> None:
    scenario, results = ran
    offered = offers(scenario.inferred or "")
    seconds = results.summary["duration_s"] - results.summary["warmup_s"]
    classes = {row["class"]: row for row in results.summary["classes"]}
    assert list(offered) == [traffic_class["name"] for traffic_class in scenario["traffic"]]
    for name, (rate, may_be_more, kind) in offered.items():
        sent = 8 * classes[name]["offered_bytes"]["mean"] / seconds
        if "TCP transfers" in kind:
            # Retransmissions increase it, behind a policer up to twice; the windows of a congested class
            # reduce it.
            assert 0.4 * rate < sent < 2.5 * rate, (name, rate, sent)
        elif not may_be_more:
            assert sent == pytest.approx(rate, rel=0.25 if "bursts" in kind else 0.1), name


def test_a_role_has_its_own_kind_of_traffic(ran: tuple[Scenario, library.Results]) -> None:
    """No greedy TCP in signalling, routing and management; voice at a constant rate."""
    scenario, _ = ran
    for traffic_class in scenario["traffic"]:
        role = _core.named_role(traffic_class["name"])
        wanted = {"datagrams": "poisson", "constant": "cbr", "bursts": "on-off"}
        if role and role[0] in wanted:
            assert next(iter(traffic_class["source"])) == wanted[role[0]], traffic_class


def test_offered_packets_add_up(ran: tuple[Scenario, library.Results]) -> None:
    _, results = ran
    for row in results.summary["classes"]:
        causes = sum(
            value["mean"]
            for key, value in row.items()
            if key.startswith("dropped_") and key not in ("dropped_packets", "dropped_percent")
        )
        inside = row["in_network_packets"]["mean"]
        assert row["offered_packets"]["mean"] == row["delivered_packets"]["mean"] + causes + inside


def test_every_queue_has_configured_and_obtained_rates(
    ran: tuple[Scenario, library.Results],
) -> None:
    scenario, results = ran
    rows = {(row["port"], row["queue"]): row for row in results.summary["rates"]}
    if len(set(scenario.queues.values())) > 1:
        assert set(scenario.queues.values()) <= set(rows)
    for row in rows.values():
        assert row["obtained_bps"]["unit"] == "b/s"
        if row["limit_bps"]:
            assert row["obtained_bps"]["mean"] < 1.1 * row["limit_bps"], row


@pytest.mark.parametrize(
    ("name", "class_", "said"),
    [
        ("unreachable", "WEB", "packets that match it go to class `ALL-TCP`"),
        (
            "unreachable",
            "TWICE",
            "its conditions exclude each other, or one of its access lists has no entry",
        ),
        ("input-interface", "class-default", "packets that match it go to class `FROM-GUESTS`"),
    ],
)
def test_a_class_that_no_header_reaches_is_reported(name: str, class_: str, said: str) -> None:
    inferred = Scenario.infer(CONFIGURATIONS / f"{name}.cfg").inferred or ""
    assert f"class `{class_}`: no packet that perhop tried reaches it: {said}\n" in f"{inferred}\n"
    assert class_ not in offers(inferred)


def test_discard_classes_are_entered_by_the_policy_that_sets_them() -> None:
    inferred = Scenario.infer(CONFIGURATIONS / "link-marks.cfg").inferred or ""
    assert "packets enter at GigabitEthernet0/0.10 and its input policy" in inferred
    assert set(offers(inferred)) == {"LATE", "class-default"}


def test_classes_that_an_input_policy_marks_are_entered_by_it() -> None:
    scenario = Scenario.infer(CONFIGURATIONS / "qos-group.cfg")
    assert set(offers(scenario.inferred or "")) == {"OUT-VOICE", "OUT-REST"}
    assert "packets enter at GigabitEthernet0/0 and its input policy, because a class matches" in str(
        scenario.inferred
    )


NOT_APPLIED = """\
version 15.2
access-list 104 permit udp any any
crypto map SITE 10 ipsec-isakmp
 set peer 198.51.100.2
 match address 104
policy-map WAN
 class class-default
  shape average 2000000
interface GigabitEthernet0/0
 ip address 10.1.0.1 255.255.255.0
 ip access-group 104 in
interface GigabitEthernet0/1
 ip address 192.0.2.1 255.255.255.252
 ip access-group 104 out
 crypto map SITE
 service-policy output WAN
interface Tunnel1
 ip address 10.255.1.1 255.255.255.252
 tunnel source GigabitEthernet0/1
 tunnel destination 198.51.100.9
"""


def test_unapplied_lines_come_first(perhop: Command, tmp_path: Path) -> None:
    """A trace applies the line, so the results of a run for such packets may be wrong."""
    (tmp_path / "site.cfg").write_text(NOT_APPLIED)
    ended = perhop("run", "site.cfg", "--duration", "1s")
    first = [line for line in ended.err.partition("inferred: ")[0].splitlines() if "not run: " in line]
    assert [line.partition(" of ")[0] for line in first[:3]] == [
        "not run: line 11, `ip access-group 104 in`",
        "not run: line 14, `ip access-group 104 out`",
        "not run: line 15, `crypto map SITE`",
    ]
    assert first[3].startswith("not run: the packets of Tunnel1, which GigabitEthernet0/1 classifies by")
    answer = perhop("run", "site.cfg", "--duration", "1s", "--json").json()
    assert [f"not run: {line}" for line in answer["not_looked_at"]] == first
    # A policy below the tunnel applies to the tunnel's own packets, but is not part of the run.
    ended = perhop("run", "site.cfg", "--interface", "Tunnel1", "--duration", "1s")
    assert "not run: the output policy of GigabitEthernet0/1: the packets of Tunnel1 leave" in ended.err
    plain = NOT_APPLIED.replace(" crypto map SITE\n", "").replace(" ip access-group 104 in\n", "")
    plain = plain.replace(" ip access-group 104 out\n", "")
    plain = plain.replace("source GigabitEthernet0/1", "source Loopback0")
    (tmp_path / "site.cfg").write_text(plain)
    assert "not run" not in perhop("run", "site.cfg", "--duration", "1s").err


def test_an_entrance_that_remarks_all_packets_is_not_chosen() -> None:
    scenario = Scenario.infer(CONFIGURATIONS / "branch-2900-marking.cfg")
    assert set(offers(scenario.inferred or "")) == {"VOICE", "BUSINESS", "class-default"}
    assert "packets enter at an interface that perhop adds, because GigabitEthernet0/0 would" in str(
        scenario.inferred
    )


def test_an_entrance_slower_than_the_line_is_not_chosen() -> None:
    """An Ethernet interface of 10 Mb/s cannot fill FastEthernet."""
    scenario = Scenario.infer(CONFIGURATIONS / "hub-slow-lan.cfg")
    assert "inferred: traffic from an added interface to FastEthernet1/0" in str(scenario.inferred)


def test_datagrams_stand_for_tcp_that_gets_no_replies() -> None:
    scenario = Scenario.infer(CONFIGURATIONS / "replies-dropped.cfg")
    assert {next(iter(traffic_class["source"])) for traffic_class in scenario["traffic"]} == {"poisson"}
    assert "1000-byte datagrams, because TCP gets no replies" in str(scenario.inferred)


GROUPS = """\
class-map match-any MARKET
 match access-group name FEED
policy-map OUT
 class MARKET
  priority 500
interface Serial0/0
 bandwidth 2000
 service-policy output OUT
ip access-list extended FEED
 permit udp host 192.0.2.10 host 232.10.10.10 eq 15000
"""


def test_addresses_without_a_host_are_reported(tmp_path: Path) -> None:
    (tmp_path / "feed.cfg").write_text(GROUPS)
    inferred = Scenario.infer(tmp_path / "feed.cfg").inferred or ""
    why = "the class matches addresses that no host can have"
    assert f"class `MARKET`: no packet that perhop tried reaches it: {why}" in inferred


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ("GigabitEthernet0/1.101", "GigabitEthernet0/1.101"),
        ("gi0/1.102", "GigabitEthernet0/1.102"),
        ("gigabitethernet 0/1.102", "GigabitEthernet0/1.102"),
    ],
)
def test_an_interface_is_chosen_by_its_name(perhop: Command, given: str, name: str) -> None:
    ended = perhop("run", CONFIGURATIONS / "subinterfaces-shaper.cfg", "--interface", given, "--quiet")
    assert ended.code == 0, ended.err
    rate = {"101": "20,000", "102": "50,000"}[name[-3:]]
    assert f"inferred: traffic from GigabitEthernet0/0 to {name}, {rate} kb/s:\n" in ended.err
    assert f"--interface '{given}'" in ended.err or f"--interface {given}\n" in ended.err


def test_a_tunnel_can_be_the_output(perhop: Command) -> None:
    ended = perhop("run", CONFIGURATIONS / "dmvpn-hub.cfg", "--interface", "Tunnel100", "--json")
    assert ended.code == 0, ended.err
    queues = [row["queue"].rpartition("/")[2] for row in ended.json()["rates"]]
    assert queues == ["VOICE", "CALL-SIGNALING", "BULK", "class-default"]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (
            "GigabitEthernet0/1.103",
            "did you mean `GigabitEthernet0/1.102`, `GigabitEthernet0/1.101`, `GigabitEthernet0/1`?",
        ),
        ("Dialer1", "interfaces: GigabitEthernet0/0, GigabitEthernet0/1, GigabitEthernet0/1.101"),
        ("Gi0", "did you mean `GigabitEthernet0/0`, `GigabitEthernet0/1`"),
    ],
)
def test_an_unknown_interface_is_one_error(perhop: Command, given: str, said: str) -> None:
    ended = perhop("run", CONFIGURATIONS / "subinterfaces-shaper.cfg", "--interface", given)
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.startswith(f"error: the configuration has no interface `{given}`\nhelp: ")
    assert said in ended.err
    assert len(ended.err.splitlines()) == 2


def test_packets_do_not_leave_by_a_loopback(perhop: Command, tmp_path: Path) -> None:
    text = (CONFIGURATIONS / "branch-t1.cfg").read_text().replace("end\n", "interface Loopback0\n")
    (tmp_path / "branch.cfg").write_text(text)
    ended = perhop("run", "branch.cfg", "--interface", "lo0")
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.startswith("error: no packets leave the router via `Loopback0`\nhelp: ")


def test_a_fragment_gets_an_interface_of_a_rate(perhop: Command, tmp_path: Path) -> None:
    file = CONFIGURATIONS / "fragment-wan.cfg"
    without = perhop("run", file)
    assert (without.code, without.out) == (2, "")
    assert "no interface that is up" in without.err
    assert "--rate 50Mb/s" in without.err
    ended = perhop("run", file, "--rate", "50Mb/s")
    assert ended.code == 0, ended.err
    # The outermost policy shapes to 20 Mb/s on any line.
    assert "to Serial99/0, 20,000 kb/s:\n" in ended.err
    assert "perhop adds the interface Serial99/0 for WAN\n" in ended.err
    slow = perhop("run", file, "--rate", "5Mb/s", "--load", "overload", "--json")
    obtained = sum(
        row["throughput_bps"]["mean"] for row in slow.json()["classes"] if "(back)" not in row["class"]
    )
    assert 4.6e6 < obtained < 5e6
    made = perhop("init", "made", "--from", file, "--rate", "5Mb/s", "--load", "overload")
    assert made.code == 0, made.err
    assert perhop("run", "made.perhop.yaml", "--json").json()["classes"] == slow.json()["classes"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (
            ["--rate", "50Mb/s"],
            "2 outermost policies\nhelp: choose one with --policy: UPLINK, DOWNLINK",
        ),
        (["--rate", "50Mb/s", "--policy", "UPLNK"], "no policy `UPLNK`\nhelp: did you mean `UPLINK`?"),
        (["--rate", "fast"], "--rate: `fast` is not a rate\nhelp: for example --rate 50Mb/s"),
        (["--policy", "UPLINK"], "--policy needs --rate\nhelp: "),
        (["--assume", "GOLD"], "--assume: expected CLASS = CRITERIA, got `GOLD`\nhelp: "),
    ],
)
def test_an_ambiguous_option_is_one_error(perhop: Command, options: list[str], said: str) -> None:
    ended = perhop("run", CONFIGURATIONS / "fragment-two.cfg", *options)
    assert (ended.code, ended.out) == (2, "")
    assert said in ended.err
    assert len(ended.err.splitlines()) == 2


@pytest.mark.parametrize(("duration", "warmup"), [("30s", 2.0), ("1s", 0.02)])
def test_a_shorter_run_has_a_shorter_warm_up(perhop: Command, duration: str, warmup: float) -> None:
    """Two of the usual 100 s are the warm-up."""
    file = CONFIGURATIONS / "branch-t1.cfg"
    document = perhop("run", file, "--duration", duration, "--json").json()
    assert document["warmup_s"] == warmup


def test_a_policy_without_an_interface_is_reported(perhop: Command) -> None:
    ended = perhop("run", CONFIGURATIONS / "no-policy.cfg", "--quiet")
    assert "not attached to an interface: `SOME-DAY`; --rate 50Mb/s --policy SOME-DAY runs it" in ended.err
    made = perhop(
        "run", CONFIGURATIONS / "no-policy.cfg", "--rate", "5Mb/s", "--policy", "SOME-DAY", "--quiet"
    )
    assert "to Serial99/0, 1,000 kb/s:\n" in made.err, "what it shapes to"


def test_options_of_configurations_are_refused_with_scenarios(perhop: Command, scenario: Path) -> None:
    ended = perhop("run", scenario, "--interface", "Serial0/0")
    assert ended.code == 2
    assert (
        f"error: `interface` applies only to router configurations, and `{scenario}` is a scenario"
        in ended.err
    )


def test_an_undefined_name_affects_only_its_users(perhop: Command) -> None:
    file = CONFIGURATIONS / "undefined-elsewhere.cfg"
    ended = perhop("run", file, "--interface", "Serial0/0")
    assert ended.code == 0, ended.err
    assert "warning[access-list-undefined]: access list PARTNER-NETS is not defined" in ended.err
    refused = perhop("run", file, "--interface", "FastEthernet0/1")
    assert (refused.code, refused.out) == (2, "")
    assert "warning[access-list-undefined]: access list PARTNER-NETS is not defined" in refused.err
    assert "error[class-map-undefined]: class-map REMOVED is not defined" in refused.err
    assert "help: state what the class matches, for example --assume 'REMOVED = dscp af21'\n" in refused.err
    assert "FORGOTTEN" not in refused.err.rpartition("help:")[2], "no interface uses it"


def test_an_undefined_list_is_a_class_without_packets(perhop: Command, tmp_path: Path) -> None:
    """The router accepts the line, and its class matches nothing until the list has an entry."""
    file = tmp_path / "router.cfg"
    file.write_text(
        "version 15.4\nclass-map match-any PHONES\n match access-group name MISSING\n"
        "policy-map WAN\n class PHONES\n  priority 200\n"
        "interface GigabitEthernet0/0\n ip address 10.0.0.1 255.255.255.0\n"
        "interface Serial0/0\n bandwidth 2000\n ip address 10.0.1.1 255.255.255.0\n"
        " service-policy output WAN\n"
    )
    assert perhop("check", file).code == 0
    assert perhop("check", file, "--strict").code == 1
    ended = perhop("run", file, "--duration", "2s", "--json")
    assert ended.code == 0, ended.err
    assert "warning[access-list-undefined]: access list MISSING is not defined" in ended.err
    assert "left out" not in ended.err
    assert "PHONES" not in {row["class"] for row in ended.json()["classes"]}
    way = perhop("trace", file, "--out", "Serial0/0", "--packet", "udp 192.0.2.1:1 > 198.51.100.1:2 dscp ef")
    assert "class-default" in way.out


def test_an_assumption_replaces_a_definition(perhop: Command) -> None:
    file = CONFIGURATIONS / "undefined-elsewhere.cfg"
    options = (
        "--interface",
        "FastEthernet0/1",
        "--assume",
        "PARTNERS = dscp af21",
        "--assume",
        "REMOVED=dscp cs1",
    )
    ended = perhop("run", file, *options)
    assert ended.code == 0, ended.err
    assert {"PARTNERS", "REMOVED", "class-default"} <= set(offers(ended.err))
    # The command for editing the scenario contains the same assumptions.
    assert "--assume 'PARTNERS = dscp af21' --assume 'REMOVED = dscp cs1'" in ended.err
    checked = perhop("check", file, *options[2:], "--ignore", "access-list-undefined")
    assert (checked.code, "not ok" in checked.out) == (0, False), checked.out
    scenario = Scenario.load(
        file, interface="FastEthernet0/1", assume={"PARTNERS": "dscp af21", "REMOVED": "dscp cs1"}
    )
    assert {traffic_class["name"]: traffic_class["dscp"] for traffic_class in scenario["traffic"]} == {
        "PARTNERS": "af21",
        "REMOVED": "cs1",
        "class-default": "default",
        # Two classes match codepoints, but none matches EF.
        "voice": "ef",
    }


def test_the_platform_can_be_chosen(perhop: Command) -> None:
    """With HQF, classes that only shape share the rest equally; before HQF they had 1 %."""
    file = CONFIGURATIONS / "shape-only.cfg"
    obtained = {}
    for options, line in (
        ((), "platform: hqf (line 1: version 15.1)\n"),
        (("--platform", "pre-hqf"), "platform: pre-hqf (--platform)\n"),
    ):
        assert line in perhop("check", file, *options).out
        ended = perhop("run", file, *options)
        assert ended.code == 0, ended.err
        assert ended.out.startswith(line)
        assert ended.err.startswith(line)
        document = perhop("run", file, *options, "--load", "overload", "--json").json()
        (platform,) = document["platforms"].values()
        assert line.split()[1] == platform["profile"]
        classes = {row["class"]: row["throughput_bps"]["mean"] for row in document["classes"]}
        obtained[platform["profile"]] = classes["CUSTOMER-A"]
    assert obtained["hqf"] == pytest.approx(3.33e6, rel=0.02)
    assert obtained["pre-hqf"] < 0.2e6


def test_an_unknown_platform_is_one_error(perhop: Command) -> None:
    for command in ("run", "check"):
        ended = perhop(command, CONFIGURATIONS / "shape-only.cfg", "--platform", "cisco-9000")
        assert (ended.code, ended.out) == (2, "")
        assert ended.err.startswith("error: there is no platform `cisco-9000`\nhelp: platforms: pre-hqf,")


@pytest.mark.parametrize(
    ("assumption", "said"),
    [
        ("CUSTOMER-A = dscp zz", "assume CUSTOMER-A: `match dscp zz`: expected a DSCP (0 to 63 or a name)"),
        (
            "CUSTOMER-C = dscp ef",
            "assume CUSTOMER-C: no policy has a class of this name\nhelp: did you mean `CUSTOMER-",
        ),
        (
            "X=dscp ef",
            "assume X: no policy has a class of this name\nhelp: classes: CUSTOMER-A, CUSTOMER-B\n",
        ),
    ],
)
def test_a_wrong_assumption_is_one_error(perhop: Command, assumption: str, said: str) -> None:
    for command in ("run", "check"):
        ended = perhop(command, CONFIGURATIONS / "shape-only.cfg", "--assume", assumption)
        assert (ended.code, ended.out) == (2, "")
        assert ended.err.startswith(f"error: {said}")
        assert len(ended.err.splitlines()) == 2


def on_a_terminal(arguments: list[str | Path], width: int) -> str:
    """The output of a command on a terminal of a given width, without colors."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        command_line(arguments),
        stdout=theirs,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "COLUMNS": str(width), "NO_COLOR": "1"},
    )
    os.close(theirs)
    found = b""
    # A read fails at the end, because the other side of the terminal is closed.
    with suppress(OSError):
        while part := os.read(ours, 65536):
            found += part
    os.close(ours)
    assert process.wait(timeout=60) == 0
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", found.decode()).replace("\r", "")


def test_the_table_adds_up_on_screen_and_fits_80_columns() -> None:
    file = CONFIGURATIONS / "branch-15-subrate.cfg"
    out = on_a_terminal(["run", file, "--wide", "--replications", "1"], 80)
    assert all(len(line) <= 80 for line in out.splitlines())
    assert {"queued", "flight", "configured", "obtained"} <= set(out.split())
    table = out.partition("offered")[2].partition("configured")[0]
    rows = {row[0]: row[1:] for line in table.splitlines() if len(row := line.split()) > 4}
    names = ["VOICE", "INTERACTIVE-VIDEO", "CRITICAL-DATA", "SCAVENGER", "class-default"]
    assert set(names) <= set(rows)
    for name in names:
        # Offered and delivered packets, the causes of drops, queued packets, packets in flight.
        offered, *parts = (int(cell.replace(",", "")) for cell in rows[name])
        assert offered == sum(parts), name
    # Configured and obtained rates are in adjacent columns.
    assert re.search(r"VOICE +≤ 1,500 +1,262 ", out)


VLANS = """\
tc qdisc add dev eth1 root handle 1: htb default 101
tc class add dev eth1 parent 1: classid 1:64 htb rate 125mbit
tc class add dev eth1 parent 1: classid 1:101 htb rate 750mbit
tc filter add dev eth1 parent 1: protocol all prio 1 basic match "meta(vlan mask 0xfff eq 100)" flowid 1:64
"""


def test_unmodeled_lines_on_the_path_come_first(perhop: Command, tmp_path: Path) -> None:
    file = tmp_path / "uplink.tc"
    file.write_text(VLANS)
    ended = perhop("run", file, "--duration", "100ms", "--json")
    assert ended.code == 0, ended.err
    (left_out,) = ended.json()["not_looked_at"]
    assert left_out.startswith("line 4, `tc filter add dev eth1 parent 1:")
    assert "perhop does not read the expressions of basic filters" in left_out
    assert ended.err.index(f"not run: {left_out}") < ended.err.index("inferred: traffic")


def test_check_lists_unmodeled_lines_off_the_path(perhop: Command, tmp_path: Path) -> None:
    file = tmp_path / "uplink.tc"
    file.write_text(
        VLANS.replace("eth1", "eth2") + "tc qdisc add dev eth1 root tbf rate 5mbit burst 16k latency 50ms\n"
    )
    ended = perhop("run", file, "--interface", "eth1", "--duration", "100ms", "--json")
    assert ended.json()["not_looked_at"] == []
