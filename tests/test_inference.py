"""Scenarios inferred from router configurations: `perhop run router.cfg`, `perhop init --from router.cfg`."""

from __future__ import annotations

import json
import shutil
import subprocess
from ipaddress import ip_address, ip_interface, ip_network
from pathlib import Path

import pytest

import perhop
from conftest import ROOT, Command, command_line
from perhop import Scenario, _core
from perhop.inference import infer
from perhop.inference.text import as_yaml
from perhop.ports import ports

VECTORS = sorted((ROOT / "vectors" / "ios").glob("*.cfg"))

# A typical branch router: marking from the LAN, four classes to the WAN. Packets of phones are marked;
# packets with cs3 lose their mark, so no packet reaches the class of signalling.
BRANCH = """\
hostname Branch-17
class-map match-all VOICE
 match ip dscp ef
class-map match-any SIGNALLING
 match ip dscp cs3
class-map match-any BUSINESS
 match access-group name SAP
class-map match-all PHONES
 match access-group name PHONES
policy-map MARK
 class PHONES
  set ip dscp ef
 class class-default
  set ip dscp default
policy-map WAN
 class VOICE
  priority 512
 class SIGNALLING
  bandwidth 64
 class BUSINESS
  bandwidth 768
 class class-default
  fair-queue
interface FastEthernet0/0
 ip address 10.17.0.1 255.255.255.0
 service-policy input MARK
interface Serial0/0/0
 bandwidth 2048
 ip address 192.0.2.18 255.255.255.252
 encapsulation ppp
 clock rate 2048000
 service-policy output WAN
interface Serial0/0/1
 shutdown
 bandwidth 2048
 service-policy output WAN
ip access-list extended PHONES
 permit udp 10.17.0.128 0.0.0.127 any range 16384 32767
ip access-list extended SAP
 permit tcp any 10.1.20.0 0.0.0.255 range 3200 3299
"""


@pytest.fixture
def branch(tmp_path: Path) -> Path:
    file = tmp_path / "branch.cfg"
    file.write_text(BRANCH)
    return file


def test_three_commands_check_simulate_and_plot(perhop: Command, branch: Path, tmp_path: Path) -> None:
    assert perhop("check", branch).code == 0
    ran = perhop("run", branch, "-o", "results")
    assert ran.code == 0
    assert "inferred: traffic from an added interface to Serial0/0/0, 2,048 kb/s:\n" in ran.err
    assert "\n  VOICE           452 kb/s  voice (90 % of limit): 200-byte packets\n" in ran.err
    # The policy of the LAN would remark all packets.
    assert "packets enter at an interface that perhop adds, because FastEthernet0/0 would" in ran.err
    assert f"to edit it: perhop init --from {branch}" in ran.err
    assert all(name in ran.out for name in ("VOICE", "SIGNALLING", "BUSINESS", "class-default"))
    assert perhop("plot", "throughput", "results").code == 0
    assert (tmp_path / "throughput.svg").read_text().count("b/s")


@pytest.mark.parametrize(
    ("police", "rate"),
    [
        ("police cir 256000", "226kb/s"),
        ("police cir 256000 pir 512000", "226kb/s"),
        ("set dscp ef\n  police cir percent 25", "452kb/s"),
    ],
)
def test_a_policed_class_gets_voice_not_tcp(branch: Path, police: str, rate: str) -> None:
    branch.write_text(branch.read_text().replace("priority 512", f"priority\n  {police}"))
    voice = Scenario.infer(branch)["traffic"][0]
    assert voice["source"]["cbr"]["rate"] == rate, "90 % of what the class may send, headers included"


def test_headers_match_the_access_lists(branch: Path) -> None:
    """Packets that arrive from the LAN have the addresses that its input policy matches."""
    scenario = Scenario.infer(branch, "FastEthernet0/0")
    traffic = {flow["name"]: flow for flow in scenario["traffic"]}
    addresses = {name: host["address"] for name, host in scenario["hosts"].items()}
    # The packets are marked as the voice class expects.
    phones = traffic["VOICE"]
    assert phones["destination-port"] == 16384
    assert ip_address(addresses[phones["from"]]) in ip_network("10.17.0.128/25")
    business = next(flow for flow in Scenario.infer(branch)["traffic"] if flow["name"] == "BUSINESS")
    assert business["destination-port"] == 3200
    hosts = Scenario.infer(branch)["hosts"]
    assert hosts[business["to"]]["address"].startswith("10.1.20.")
    assert "web" in business["source"], "transactions are short transfers"
    # Traffic without a matching access list comes from the subnet of the LAN.
    assert addresses[traffic["class-default"]["from"]].startswith("10.17.0.")


def test_a_class_without_matching_packets_is_reported(perhop: Command, branch: Path) -> None:
    """A class above it matches all of its packets, and the message reports this class."""
    above = " class VOICE\n  priority 512\n"
    branch.write_text(BRANCH.replace(above, f" class EVERYTHING\n  bandwidth 100\n{above}") + EVERYTHING)
    stderr = perhop("run", branch).err
    for name in ("VOICE", "SIGNALLING", "BUSINESS"):
        instead = "packets that match it go to class `EVERYTHING`"
        assert f"class `{name}`: no packet that perhop tried reaches it: {instead}\n" in stderr
    assert "class `EVERYTHING`: " not in stderr


EVERYTHING = """\
class-map match-any EVERYTHING
 match access-group name BOTH
ip access-list extended BOTH
 permit tcp any any
 permit udp any any
"""


def test_an_address_is_on_one_side_of_the_router(perhop: Command, tmp_path: Path) -> None:
    """Access lists often name a server in both directions; its packets arrive at another interface."""
    file = tmp_path / "server.cfg"
    file.write_text("""\
access-list 101 permit tcp host 10.9.9.9 any
access-list 102 permit tcp any host 10.9.9.9
class-map match-all from-server
 match access-group 101
class-map match-all to-server
 match access-group 102
policy-map wan
 class from-server
  bandwidth 500
 class to-server
  bandwidth 300
interface Serial0/0
 bandwidth 2000
 ip address 192.168.1.1 255.255.255.252
 service-policy output wan
""")
    ended = perhop("run", file)
    assert ended.code == 0, ended.err
    why = "its packets enter the router at another interface"
    assert f"class `to-server`: no packet that perhop tried reaches it: {why}\n" in ended.err
    assert "from-server" in ended.out


def test_each_class_gets_its_guarantee(branch: Path) -> None:
    """Voice sends at its maximum rate, and the other classes share the remaining rate."""
    results = Scenario.infer(branch, load="overload").run()
    row = {str(entry["class"]): entry for entry in results.classes.iter_rows(named=True)}
    assert row["VOICE"]["dropped_packets"] == row["VOICE"]["dropped_policed"] > 0
    assert row["VOICE"]["throughput_bps"] == pytest.approx(200 / 204 * 512e3, rel=0.02)
    # The framing uses a part of the rate: the line is busy.
    total = sum(row[name]["throughput_bps"] for name in ("VOICE", "SIGNALLING", "BUSINESS", "class-default"))
    assert 1.9e6 < total < 2.048e6
    assert row["BUSINESS"]["throughput_bps"] > 0.98 * 768e3


def test_the_file_equals_the_scenario(perhop: Command, branch: Path, tmp_path: Path) -> None:
    (tmp_path / "lab").mkdir()
    made = perhop("init", "lab/branch", "--from", branch)
    assert made.code == 0
    file = tmp_path / "lab" / "branch.perhop.yaml"
    written = Scenario.load(file)
    assert written["routers"]["branch-17"]["configuration"]["file"] == "../branch.cfg"
    written["routers"]["branch-17"]["configuration"]["file"] = "branch.cfg"
    assert json.loads(written.to_json()) == json.loads(Scenario.infer(branch).to_json())
    assert (
        "#   SIGNALLING     56.5 kb/s  signalling (90 % of guarantee): 200-byte datagrams" in file.read_text()
    )
    assert perhop("check", file).code == 0
    assert perhop("init", "lab/branch", "--from", branch).code == 2, "an existing file is kept"


@pytest.mark.parametrize("own", ["10.0.0.1 255.255.255.252", "10.0.0.1 255.0.0.0"])
def test_hosts_of_an_added_interface_have_their_own_subnet(tmp_path: Path, own: str) -> None:
    """If the configuration has one interface, perhop adds another, with hosts in a different subnet."""
    file = tmp_path / "excerpt.cfg"
    file.write_text(f"interface Serial0/0\n bandwidth 2000\n fair-queue\n ip address {own}\n")
    addresses = {name: host["address"] for name, host in Scenario.infer(file)["hosts"].items()}
    subnet = ip_interface(own.replace(" ", "/")).network
    assert ip_address(addresses["receiver"]) in subnet
    assert ip_address(addresses["sender"]) not in subnet


def test_the_interface_can_be_chosen(perhop: Command, branch: Path) -> None:
    made = perhop("init", "lan", "--from", branch, "--interface", "fastethernet0/0")
    assert "inferred: traffic from FastEthernet0/0 to Serial0/0/0" in made.err, "it has an input policy only"
    refused = perhop("init", "other", "--from", branch, "--interface", "Serial0/0/1")
    assert refused.code == 2
    assert "interface `Serial0/0/1` is shut down" in refused.err
    unknown = perhop("init", "other", "--from", branch, "--interface", "Serial0/0/7")
    assert unknown.code == 2
    assert "no interface `Serial0/0/7`\nhelp: did you mean `Serial0/0/0`" in unknown.err
    assert perhop("init", "other", "--interface", "Serial0/0/0").code == 2


def test_a_configuration_that_the_router_refuses_is_refused(perhop: Command, branch: Path) -> None:
    branch.write_text(BRANCH.replace("class-map match-any BUSINESS", "class-map match-any RENAMED"))
    refused = perhop("run", branch)
    assert refused.code == 2
    assert "class-map BUSINESS is not defined" in refused.err
    assert "branch.cfg:20:" in refused.err
    assert "--assume 'BUSINESS = dscp af21'" in refused.err
    branch.write_text("hostname bare\n")
    assert "no interface that is up" in perhop("run", branch).err


def test_set_changes_an_inferred_scenario(perhop: Command, branch: Path) -> None:
    options = ("--set", "traffic.VOICE.count=3", "--set", "measure.warmup=0s", "--duration", "5s", "--json")
    flows = {row["class"]: row["flows"] for row in perhop("run", branch, *options).json()["classes"]}
    assert flows["VOICE"]["mean"] == 3
    assert perhop("draw", branch).code == 0


@pytest.mark.parametrize("file", VECTORS, ids=lambda file: file.stem)
def test_every_class_of_any_configuration_has_traffic_or_is_reported(file: Path, tmp_path: Path) -> None:
    text = file.read_bytes().decode("utf-8", errors="replace")
    read = json.loads(_core.check_router(text))
    errors = [finding["message"] for finding in read["diagnostics"] if finding["severity"] == "error"]
    try:
        made = infer(text, {"file": file.name}, file.parent)
    except perhop.ScenarioError as error:
        assert any(message in str(error) for message in errors)
        return
    except perhop.InvalidInputError:
        assert not read["platform"]["supported"]
        return
    shutil.copy(file, tmp_path)
    written = tmp_path / "written.yaml"
    written.write_text(as_yaml(made.data, made.missing, file.name))
    scenario = Scenario.load(written)
    assert json.loads(scenario.to_json()) == json.loads(Scenario(made.data, file.parent).check().to_json())
    results = perhop.run(scenario, set={"measure.warmup": "0s"}, threads=1)
    sent = {str(row["class"]): row["offered_packets"] for row in results.classes.iter_rows(named=True)}
    assert all(sent[flow["name"]] for flow in scenario["traffic"])
    reached = {row["queue"] for row in results.summary["ports"] if row["arrived_packets"]["mean"]}
    named = [line.partition("class `")[2].partition("`")[0] for line in made.missing]
    (router,) = (name for name, node in scenario["routers"].items() if node.get("configuration"))
    (leaving,) = (port for port in ports(scenario) if port.name == f"{router}->far-side")
    for queue in leaving.queues():
        assert queue.name in reached or queue.config["name"] in named, queue.name


@pytest.mark.parametrize("name", ["router", "branch-15-subrate", "qos-group"])
def test_the_scenario_is_that_of_the_playground(name: str) -> None:
    """The test of the page's module expects the same file (`crates/perhop-web/tests/it/session.rs`)."""
    folder = ROOT / ("examples" if name == "router" else "tests/configurations")
    text = (folder / f"{name}.cfg").read_text()
    data = infer(text, {"text": text}, folder).data
    expected = ROOT / "crates/perhop-inference/tests/scenarios" / f"{name}.json"
    assert json.dumps(data, ensure_ascii=False, separators=(",", ":")) + "\n" == expected.read_text()


def test_standard_input_is_a_scenario_or_a_configuration(branch: Path, scenario: Path) -> None:
    for file, message in ((branch, "-: router, ok"), (scenario, "-: scenario, ok")):
        ended = subprocess.run(
            command_line(["check", "-"]),
            input=file.read_bytes(),
            capture_output=True,
            check=False,
            timeout=60,
        )
        assert ended.returncode == 0
        assert message in ended.stdout.decode()
    with branch.open("rb") as given:
        ended = subprocess.run(
            command_line(["run", "-", "--json"]), stdin=given, capture_output=True, check=False, timeout=60
        )
    assert json.loads(ended.stdout)["scenario"] == "Inferred from branch-17"
    assert b"perhop init" not in ended.stderr


@pytest.mark.parametrize("codepoint", ["ef", "44", "1", "cs6", "af41"])
def test_traffic_reaches_a_class_of_any_codepoint(tmp_path: Path, codepoint: str) -> None:
    file = tmp_path / "router.cfg"
    file.write_text(
        f"version 15.1\nhostname r\nclass-map A\n match dscp {codepoint}\n"
        "policy-map P\n class A\n  bandwidth 300\n class class-default\n  bandwidth 500\n"
        "interface FastEthernet0/0\n ip address 192.0.2.1 255.255.255.0\n"
        "interface Serial0/0\n bandwidth 2000\n ip address 198.51.100.1 255.255.255.252\n"
        " service-policy output P\n"
    )
    traffic = Scenario.load(file)["traffic"]
    assert {flow.get("class") or flow["name"] for flow in traffic} == {"A", "class-default"}


@pytest.mark.parametrize("tins", ["diffserv3", "diffserv4", "diffserv8", "precedence"])
@pytest.mark.parametrize(("bandwidth", "duration"), [("bandwidth 18mbit", "2s"), ("unlimited", "50ms")])
def test_each_tin_of_cake_has_traffic_and_calls_lose_nothing(
    perhop: Command, tmp_path: Path, tins: str, bandwidth: str, duration: str
) -> None:
    (tmp_path / "uplink.tc").write_text(f"tc qdisc add dev eth0 root cake {bandwidth} {tins}\n")
    ended = perhop("run", "uplink.tc", "--duration", duration, "--json")
    assert ended.code == 0, ended.err
    ports = [row for row in ended.json()["ports"] if row["port"] == "router->far-side"]
    reached = {row["queue"]: row["arrived_packets"]["mean"] for row in ports}
    names = [f"cake/{name}" for name, _, _ in _core.cake_tins(tins)]
    assert list(reached) == names
    rates = [row for row in ended.json()["rates"] if row["port"] == "router->far-side"]
    assert [row["queue"] for row in rates] == names
    assert {row["limit_bps"] for row in rates} == {None if bandwidth == "unlimited" else 18e6}
    assert all(reached.values()), reached
    voice = [row for row in ended.json()["classes"] if row["class"] in ("voice", "tin-6")]
    dropped = [sum(row[cause]["mean"] for cause in row if cause.startswith("dropped_")) for row in voice]
    assert dropped == [0] * len(dropped)


def test_nothing_enters_by_the_loopback_device(tmp_path: Path) -> None:
    shown = "qdisc noqueue 0: dev lo root refcnt 2\nqdisc fq_codel 0: dev eth0 root refcnt 2\n"
    made = infer(shown, {"text": shown}, tmp_path)
    assert (made.entering, made.leaving) == (None, "eth0")


def test_a_filter_for_the_usual_hosts_does_not_stop_inference(tmp_path: Path) -> None:
    """A filter for 10.0.0.0/8 contains the usual addresses of senders and receivers."""
    file = tmp_path / "uplink.tc"
    file.write_text(
        "tc qdisc add dev eth0 root handle 1: htb default 20\n"
        "tc class add dev eth0 parent 1: classid 1:10 htb rate 20mbit\n"
        "tc class add dev eth0 parent 1: classid 1:20 htb rate 30mbit\n"
        "tc filter add dev eth0 parent 1: protocol ip u32 match ip dst 10.0.0.0/8 flowid 1:10\n"
    )
    made = infer(file.read_text(), {"file": file.name}, tmp_path)
    assert [name for name, _, _ in made.offered] == ["1:10", "1:20"]
    assert [line for line in made.missing if not line.startswith("the line of eth0")] == []
    hosts = made.data["hosts"]
    address = {flow["name"]: hosts[flow["to"]]["address"] for flow in made.data["traffic"]}
    assert address["1:10"].startswith("10.")
    assert not address["1:20"].startswith("10.")


@pytest.mark.parametrize(("others", "tried_all"), [(65, True), (66, False)])
def test_entrances_that_were_not_tried_are_reported(others: int, tried_all: bool, tmp_path: Path) -> None:
    """One interface of `others` has an input policy and is the entrance; no policy sets the class's group."""
    interface = "interface Ethernet0/{0}\n ip address 10.{0}.0.1 255.255.255.0\n"
    entrances = "".join(interface.format(number) for number in range(1, others + 1))
    file = tmp_path / "edge.cfg"
    file.write_text(
        "class-map marked\n match qos-group 9\npolicy-map in\n class class-default\n  set qos-group 3\n"
        "policy-map out\n class marked\n  bandwidth percent 20\n"
        "interface Serial0/0\n bandwidth 1544\n ip address 10.99.0.1 255.255.255.252\n"
        f" service-policy output out\n{entrances} service-policy input in\n"
    )
    missing = infer(file.read_text(), {"file": file.name}, tmp_path, interface="Serial0/0").missing
    tried = "perhop tried only 64 of the other interfaces"
    assert any(text.startswith(tried) for text in missing) == (not tried_all), missing


TEXTBOOK = """\
class-map match-any VOICE
 match dscp ef
class-map match-any SIGNALING
 match dscp cs3
class-map match-any CRITICAL
 match dscp af21
policy-map WAN-EDGE
 class VOICE
  priority percent 33
 class SIGNALING
  bandwidth percent 5
 class CRITICAL
  bandwidth percent 37
 class class-default
  fair-queue
policy-map SHAPE
 class class-default
  shape average 10000000
  service-policy WAN-EDGE
interface GigabitEthernet0/0
 ip address 192.0.2.1 255.255.255.252
 service-policy output SHAPE
interface GigabitEthernet0/1
 ip address 10.0.0.1 255.255.255.0
"""


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_textbook_policy_serves_every_class_when_busy(tmp_path: Path, seed: int) -> None:
    (tmp_path / "edge.cfg").write_text(TEXTBOOK)
    scenario = Scenario.infer(tmp_path / "edge.cfg")
    assert "load: busy: the load of each class is 90 % of the rate that it gets while all" in (
        scenario.inferred or ""
    )
    rows = {str(row["class"]): row for row in scenario.run(seed).classes.iter_rows(named=True)}
    # The largest loss in percent, and the largest mean delay.
    for name, loss, delay_s in [
        ("VOICE", 0, 0.006),
        ("SIGNALING", 0, 0.02),
        ("CRITICAL", 1, 0.05),
        ("class-default", 2, 0.1),
    ]:
        row = rows[name]
        assert 100 * row["dropped_packets"] <= loss * row["offered_packets"], name
        assert row["delay_mean_s"] < delay_s, name


def test_a_forgotten_class_for_voice_is_named(perhop: Command, tmp_path: Path) -> None:
    (tmp_path / "edge.cfg").write_text(TEXTBOOK.replace(" class VOICE\n  priority percent 33\n", ""))
    ended = perhop("run", "edge.cfg", "--json")
    assert "no class matches EF, the codepoint of telephony" in ended.err
    assert "`voice`, a call of 80 kb/s, which waits in class-default" in ended.err
    assert [verdict["class"] for verdict in ended.json()["verdicts"] if verdict["class"] == "voice"] == [
        "voice"
    ]


def test_a_load_is_for_a_guess_and_for_a_configuration(perhop: Command, branch: Path, scenario: Path) -> None:
    (branch.parent / "rates.csv").write_text("class,rate\nVOICE,100kb/s\n")
    both = perhop("run", branch, "--load", "quiet", "--traffic", "rates.csv")
    assert (both.code, "--load and --traffic exclude each other" in both.err) == (2, True)
    other = perhop("run", scenario, "--load", "quiet")
    assert (other.code, "`load` applies only to router configurations" in other.err) == (2, True)
    assert "--load overload" in perhop("run", branch, "--load", "overload", "--duration", "1s").err
