"""`perhop run router.cfg --traffic FILE`: rates by class, flow records, captures."""

from __future__ import annotations

import re
import struct
from collections import Counter
from ipaddress import ip_address
from pathlib import Path

import pytest

from conftest import ROOT, Command
from tshark import fields, needs_tshark

ROUTER = """\
hostname edge
class-map match-any VOICE
 match dscp ef
class-map match-any ERP
 match access-group name ERP
policy-map WAN
 class VOICE
  priority 512
 class ERP
  bandwidth 600
interface FastEthernet0/0
 ip address 10.1.0.1 255.255.255.0
interface Serial0/0
 bandwidth 2000
 ip address 192.0.2.1 255.255.255.252
 service-policy output WAN
ip access-list extended ERP
 permit tcp any host 10.9.0.5 eq 3200
"""


@pytest.fixture
def router(tmp_path: Path) -> Path:
    file = tmp_path / "edge.cfg"
    file.write_text(ROUTER)
    return file


def given(folder: Path, text: str, name: str = "traffic.csv") -> Path:
    file = folder / name
    file.write_text(text)
    return file


def rates(document: dict[str, list[dict[str, dict[str, float]]]]) -> dict[str, float]:
    """The rate offered by each class in a JSON document, in bits per second."""
    seconds = document["duration_s"] - document["warmup_s"]  # type: ignore[operator]
    return {
        str(row["class"]): 8 * row["offered_bytes"]["mean"] / seconds
        for row in document["classes"]
        if "(back)" not in str(row["class"])
    }


def offers(text: str) -> list[list[str]]:
    """The printed load: class, rate and kind of traffic."""
    return [re.split(r" {2,}", line.strip()) for line in text.splitlines() if line.startswith("  ")]


def test_rates_by_class(perhop: Command, router: Path, tmp_path: Path) -> None:
    file = given(
        tmp_path,
        "# what we measured in May\nclass,rate,packet_bytes,kind\nVOICE,300kb/s,120,voice\n"
        "ERP,500kb/s,,transactional\nclass-default,400kb/s,700,poisson\nclass-default,,,tcp\n",
    )
    ended = perhop("run", router, "--traffic", file, "--json")
    assert ended.code == 0, ended.err
    offered = rates(ended.json())
    assert offered["VOICE"] == pytest.approx(300e3, rel=0.01)
    assert offered["ERP"] == pytest.approx(500e3, rel=0.2)
    assert offered["class-default"] > 700e3, "datagrams, and TCP that takes the rest"
    voice = next(row for row in ended.json()["classes"] if row["class"] == "VOICE")
    assert voice["offered_bytes"]["mean"] == 120 * voice["offered_packets"]["mean"]
    assert ["VOICE", "300 kb/s", "120-byte packets"] in offers(ended.err)
    assert ["class-default", "unlimited", "4 greedy TCP connections"] in offers(ended.err)


def test_classes_that_are_not_in_the_file_have_no_traffic(
    perhop: Command, router: Path, tmp_path: Path
) -> None:
    ended = perhop("run", router, "--traffic", given(tmp_path, "class;rate\nERP;2.5Mb/s\n"), "--json")
    assert ended.code == 0, ended.err
    assert set(rates(ended.json())) == {"ERP"}
    assert "class `VOICE` gets no traffic, because it is not in the file" in ended.err


def test_a_rate_of_greedy_tcp_is_explained(perhop: Command, router: Path, tmp_path: Path) -> None:
    """Greedy TCP has no rate: if a rate is given, another kind of TCP offers it, and the run reports this."""
    rows = "class,rate,kind\nERP,500kb/s,greedy\nVOICE,100kb/s,voice\nclass-default,,tcp\n"
    ended = perhop("run", router, "--duration", "2s", "--traffic", given(tmp_path, rows))
    assert ended.code == 0, ended.err
    assert ended.err.count("greedy TCP has no configured rate") == 1
    assert "class `ERP`: greedy TCP has no configured rate, so TCP transfers of " in ended.err
    assert "offer 500 kb/s instead; leave `rate` empty for greedy TCP" in ended.err


FLOWS = "src,dst,proto,bytes,first,last"
FLOW = "10.1.0.9,10.9.0.5,6"


POLICED = """\
version 12.2
interface Serial0/0
 bandwidth 2048
 ip address 192.0.2.1 255.255.255.252
 rate-limit output 500000 {burst} {burst} conform-action transmit exceed-action drop
interface FastEthernet0/0
 ip address 10.0.1.1 255.255.255.0
"""


def test_one_connection_shows_what_a_small_burst_costs(perhop: Command, tmp_path: Path) -> None:
    """Several connections fill a limit that a single connection does not fill."""
    obtained = {}
    for burst in (6_000, 94_000):
        (tmp_path / "edge.cfg").write_text(POLICED.format(burst=burst))
        for connections in (1, 8):
            given(tmp_path, f"class,rate,kind,connections\nrate-limit all,,greedy,{connections}\n")
            ended = perhop("run", "edge.cfg", "--traffic", "traffic.csv", "--duration", "20s", "--json")
            [of_class] = [row for row in ended.json()["classes"] if row["class"] == "rate-limit all"]
            assert of_class["flows"]["mean"] == connections
            obtained[burst, connections] = of_class["throughput_bps"]["mean"]
    assert obtained[6_000, 1] < 300e3
    assert obtained[6_000, 8] > 400e3
    assert obtained[94_000, 1] > 450e3


def test_a_class_can_be_named_by_its_queue(perhop: Command, tmp_path: Path) -> None:
    """`perhop trace --reach` prints queues by their paths."""
    nested = ROUTER.replace("  bandwidth 600\n", "  bandwidth 600\n  service-policy INNER\n")
    inner = "policy-map INNER\n class VOICE\n  priority 100\n"
    nested = nested.replace("policy-map WAN", f"{inner}policy-map WAN")
    nested = nested.replace(" class VOICE\n  priority 512\n", "")
    (tmp_path / "edge.cfg").write_text(nested)
    queues = perhop("trace", "edge.cfg", "--reach", "all", "--json").json()["reach"]
    assert "ERP/VOICE" in queues
    rows = "".join(f"{queue},50kb/s\n" for queue, packet in queues.items() if packet)
    given(tmp_path, f"class,rate\n{rows}")
    ended = perhop("run", "edge.cfg", "--traffic", "traffic.csv", "--duration", "5s", "--json")
    assert ended.code == 0, ended.err
    classes = {row["class"] for row in ended.json()["classes"] if "(back)" not in row["class"]}
    assert len(classes) == sum(1 for packet in queues.values() if packet)


@pytest.mark.parametrize(
    ("text", "line", "said", "help"),
    [
        ("class,rate\nVOIC,1Mb/s\n", 2, "Serial0/0 has no class `VOIC`", "did you mean `VOICE`?"),
        ("class,rate\nVOICE,fast\n", 2, "`fast` is not a rate", "512kb/s or 2.5Mb/s"),
        ("class,rate\n\nVOICE,\n", 3, "`` is not a rate", "512kb/s or 2.5Mb/s"),
        ("class,rate\nVOICE,1Mb/s,9\n", 2, "3 cells, but 2 in the header", "the columns are class,rate"),
        ("class,rate,size\nVOICE,1Mb/s,9\n", 1, "no column `size`", "class,rate,packet_bytes,kind"),
        ("class,rate,packet_bytes\nVOICE,1Mb/s,9\n", 2, "`9` is not a packet size", "from 28 to 65535"),
        ("class,rate,kind,connections\nVOICE,,greedy,0\n", 2, "`0` is not a number of connections", "from 1"),
        ("class,rate,connections\nVOICE,1Mb/s,2\n", 2, "applies only to greedy TCP", "`greedy`"),
        (f"class,rate,packet_bytes\nVOICE,1Mb/s,{'9' * 5000}\n", 2, "is not a packet size", "from 28"),
        ("class,rate,kind\nVOICE,1Mb/s,avian\n", 2, "no kind of traffic `avian`", "kinds: signalling,"),
        ("class,rate\n", 1, "no class follows the header", "VOICE,512kb/s,200,voice"),
        ("class,speed\nVOICE,1Mb/s\n", 1, "not recognized as rates by class", "class,rate,packet_bytes,kind"),
        ("", 1, "not recognized as rates by class, flow records", "a capture must be pcap or pcapng"),
        ("src,dst,bytes,first\n", 1, "have no column `proto`", "src,dst,proto,bytes,first, and either last"),
        ("src,dst,proto,bytes,first\n", 1, "have no column `last`", "first, and either last or duration"),
        (f"{FLOWS}\n", 1, "no flow follows the header", "one line for each flow"),
        (f"{FLOWS}\n10.1.0.9,10.9.0.256,6,1,0,1\n", 2, "`10.9.0.256` is not an address", "192.0.2.1"),
        (f"{FLOWS}\n{FLOW},many,0,1\n", 2, "`many` is not a number of bytes", "a plain number"),
        (f"{FLOWS}\n{FLOW},1,noon,1\n", 2, "`noon` is not a time", "2024-06-28 23:17:41.5"),
        (f"{FLOWS}\n{FLOW},1,nan,1\n", 2, "`nan` is not a time", "2024-06-28 23:17:41.5"),
        (f"{FLOWS}\n{FLOW},1,5,1\n", 2, "the flow ends before it starts", "not before `first`"),
        (f"{FLOWS},dport\n{FLOW},1,0,1,70000\n", 2, "`70000` is not a port", "0 to 65535"),
        (f"{FLOWS},tos\n{FLOW},1,0,1,300\n", 2, "`300` is not a TOS byte", "0 to 255"),
        (f"{FLOWS},tos\n{FLOW},1,0,1,0x0g\n", 2, "`0x0g` is not a TOS byte", "a plain number"),
        (f"{FLOWS},tos\n{FLOW},1,0,1,0x100\n", 2, "`0x100` is not a TOS byte", "0 to 255"),
        (f"{FLOWS},dscp\n{FLOW},1,0,1,64\n", 2, "`64` is not a codepoint", "0 to 63"),
        (f"{FLOWS}\n10.9.0.5,10.1.0.9,6,9,0,1\n", 1, "no flow leaves via this interface", "10.1.0.0/24"),
    ],
)
def test_a_wrong_line_is_one_error(
    perhop: Command, router: Path, tmp_path: Path, text: str, line: int, said: str, help: str
) -> None:
    file = given(tmp_path, text)
    ended = perhop("run", router, "--traffic", file)
    assert (ended.code, ended.out) == (2, "")
    message, remedy = ended.err.splitlines()
    assert message.startswith(f"error: `{file}`, line {line}: ")
    assert said in message
    assert help in remedy


def test_a_protocol_of_thousands_of_digits_is_unknown(perhop: Command, router: Path, tmp_path: Path) -> None:
    text = f"{FLOWS}\n10.1.0.9,10.9.0.5,{'9' * 5000},60000,0,1\n"
    assert perhop("run", router, "--traffic", given(tmp_path, text), "-q").code == 0


def test_a_missing_file_is_one_error(perhop: Command, router: Path, tmp_path: Path) -> None:
    ended = perhop("run", router, "--traffic", "nowhere.csv")
    assert (ended.code, ended.err) == (2, "error: cannot read `nowhere.csv`: there is no such file\n")
    binary = tmp_path / "blob"
    binary.write_bytes(b"\x00\xff\xfe\x01")
    assert "is neither text in UTF-8 nor a capture" in perhop("run", router, "--traffic", binary).err


# The same flows in the formats of several collectors: voice 60 kB, ERP 120 kB, web 30 kB in ten seconds, and
# a reply that does not leave via the WAN.
PLAIN = """\
src,dst,proto,sport,dport,dscp,bytes,packets,first,last
10.1.0.20,10.9.7.7,17,20000,20002,46,60000,300,0,10
10.1.0.21,10.9.0.5,6,40000,3200,0,120000,120,0,10
10.1.0.22,10.9.8.8,TCP,41000,443,0,30000,40,1,9
10.9.8.8,10.1.0.22,TCP,443,41000,0,500000,400,1,9
"""
NFDUMP = """\
ts,te,td,sa,da,sp,dp,pr,flg,fwd,stos,ipkt,ibyt,opkt
2024-06-28 23:17:40,2024-06-28 23:17:50,10.000,10.1.0.20,10.9.7.7,20000,20002,UDP,........,0,184,300,60000,0
2024-06-28 23:17:40,2024-06-28 23:17:50,10.000,10.1.0.21,10.9.0.5,40000,3200,TCP,.AP.SF,0,0,120,120000,0
2024-06-28 23:17:41,2024-06-28 23:17:49,8.000,10.1.0.22,10.9.8.8,41000,443,TCP,.AP.SF,0,0,40,30000,0
2024-06-28 23:17:41,2024-06-28 23:17:49,8.000,10.9.8.8,10.1.0.22,443,41000,TCP,.AP.SF,0,0,400,500000,0
Summary
flows,bytes,packets,avg_bps,avg_pps,avg_bpp
4,710000,860,71000,8,825
"""
NFDUMP_SINCE_1_7_5 = """\
firstSeen,duration,proto,srcAddr,srcPort,dstAddr,dstPort,packets,bytes,flows
2024-06-28 23:17:40.000,10.000,UDP,10.1.0.20,20000,10.9.7.7,20002,300,60000,1
2024-06-28 23:17:40.000,10.000,TCP,10.1.0.21,40000,10.9.0.5,3200,120,120000,1
2024-06-28 23:17:41.000,8.000,TCP,10.1.0.22,41000,10.9.8.8,443,40,30000,1
2024-06-28 23:17:41.000,8.000,TCP,10.9.8.8,443,10.1.0.22,41000,400,500000,1
"""
FLOWD = """\
#:unix_secs,unix_nsecs,sysuptime,exaddr,dpkts,doctets,first,last,srcaddr,dstaddr,srcport,dstport,prot,tos
1719616660,0,90000,10.1.0.1,300,60000,80000,90000,10.1.0.20,10.9.7.7,20000,20002,17,184
1719616660,0,90000,10.1.0.1,120,120000,80000,90000,10.1.0.21,10.9.0.5,40000,3200,6,0
1719616660,0,90000,10.1.0.1,40,30000,81000,89000,10.1.0.22,10.9.8.8,41000,443,6,0
1719616660,0,90000,10.1.0.1,400,500000,81000,89000,10.9.8.8,10.1.0.22,443,41000,6,0
"""
IPFIX = (
    "sourceIPv4Address,destinationIPv4Address,protocolIdentifier,sourceTransportPort,destinationTransportPort,"
    """\
ipClassOfService,octetDeltaCount,packetDeltaCount,flowStartMilliseconds,flowEndMilliseconds
10.1.0.20,10.9.7.7,17,20000,20002,0xb8,60000,300,1719616660000,1719616670000
10.1.0.21,10.9.0.5,6,40000,3200,0x00,120000,120,1719616660000,1719616670000
10.1.0.22,10.9.8.8,6,41000,443,0x00,30000,40,1719616661000,1719616669000
10.9.8.8,10.1.0.22,6,443,41000,0x00,500000,400,1719616661000,1719616669000
"""
)


@pytest.mark.parametrize("text", [PLAIN, NFDUMP, FLOWD, IPFIX], ids=["plain", "nfdump", "flowd", "ipfix"])
def test_flow_records(perhop: Command, router: Path, tmp_path: Path, text: str) -> None:
    ended = perhop("run", router, "--traffic", given(tmp_path, text), "--json")
    assert ended.code == 0, ended.err
    offered = rates(ended.json())
    assert offered["VOICE"] == pytest.approx(48e3, rel=0.01), "60 kB in ten seconds"
    assert offered["ERP"] == pytest.approx(96e3, rel=0.3), "transfers of random sizes"
    assert set(offered) == {"VOICE", "ERP", "class-default"}
    assert "the run leaves out 1 flow to the router's other subnets" in ended.err
    assert ["VOICE", "48 kb/s", "1 flow: 200-byte packets"] in offers(ended.err)
    assert ["ERP", "96 kb/s", "1 flow: TCP transfers of 120 kB"] in offers(ended.err)


def test_records_without_codepoints_have_a_note(perhop: Command, router: Path, tmp_path: Path) -> None:
    ended = perhop("run", router, "--traffic", given(tmp_path, NFDUMP_SINCE_1_7_5), "--json")
    assert ended.code == 0, ended.err
    assert "the file has no column of codepoints: all packets have codepoint 0" in ended.err
    assert set(rates(ended.json())) == {"ERP", "class-default"}


def test_many_flows_are_distinguished_in_few_simulations(
    perhop: Command, router: Path, tmp_path: Path
) -> None:
    lines = [
        f"10.1.0.{20 + number % 200},10.9.{number % 250}.7,17,{20000 + number},5004,"
        f"{46 if number % 3 else 0},1000,5,0,10"
        for number in range(1500)
    ]
    text = "src,dst,proto,sport,dport,dscp,bytes,packets,first,last\n" + "\n".join(lines)
    ended = perhop("run", router, "--traffic", given(tmp_path, text), "--json")
    assert ended.code == 0, ended.err
    assert "the 1000 largest of 1500 conversations carry the load of all conversations" in ended.err
    offered = rates(ended.json())
    assert offered["VOICE"] == pytest.approx(800e3, rel=0.01), "two thirds of 1.5 MB in ten seconds"
    assert offered["class-default"] == pytest.approx(400e3, rel=0.02)


def packet(
    source: str, destination: str, tos: int, ports: tuple[int, int], length: int, protocol: int
) -> bytes:
    ends = ip_address(source).packed + ip_address(destination).packed
    header = struct.pack(">BBHHHBBH", 0x45, tos, length, 0, 0, 64, protocol, 0) + ends
    return header + struct.pack(">HH", *ports) + bytes(24)


PACKETS = [
    *((0.02 * n, packet("10.1.0.20", "10.9.7.7", 0xB8, (20000, 20002), 200, 17), 200) for n in range(100)),
    *((0.01 * n, packet("10.1.0.21", "10.9.0.5", 0, (40000, 3200), 1500, 6), 1500) for n in range(200)),
    *((0.01 * n, packet("10.9.0.5", "10.1.0.21", 0, (3200, 40000), 52, 6), 52) for n in range(200)),
]


def pcap() -> bytes:
    found = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 101)
    for time, data, length in sorted(PACKETS, key=lambda packet: packet[0]):
        found += struct.pack("<IIII", 1000 + int(time), int(time % 1 * 1e6), len(data), length) + data
    return found


def pcapng() -> bytes:
    # A section header, an interface of raw IP packets with times in nanoseconds, and packets.
    found = struct.pack("<IIIHHqI", 0x0A0D0D0A, 28, 0x1A2B3C4D, 1, 0, -1, 28)
    found += struct.pack("<IIHHI", 1, 32, 101, 0, 65535) + struct.pack("<HHB3xHHI", 9, 1, 9, 0, 0, 32)
    for time, data, length in sorted(PACKETS, key=lambda packet: packet[0]):
        ticks, size = int(time * 1e9), 32 + len(data)
        found += struct.pack("<IIIIIII", 6, size, 0, ticks >> 32, ticks & 0xFFFFFFFF, len(data), length)
        found += data + struct.pack("<I", size)
    return found


@pytest.mark.parametrize("content", [pcap(), pcapng()], ids=["pcap", "pcapng"])
def test_a_capture_is_replayed_by_class(
    perhop: Command, router: Path, tmp_path: Path, content: bytes
) -> None:
    (tmp_path / "office.trace").write_bytes(content)
    ended = perhop("run", router, "--traffic", "office.trace", "--json")
    assert ended.code == 0, ended.err
    document = ended.json()
    # The last packet is sent after 1.99 s.
    assert document["duration_s"] == pytest.approx(1.991, abs=0.001)
    counts = {row["class"]: row["offered_packets"]["mean"] for row in document["classes"]}
    assert counts == {"VOICE": 100, "ERP": 200}, "the answers go to the router's own subnet"
    assert "the run leaves out packets to the router's other subnets, 10.1.0.0/24" in ended.err


def test_a_capture_is_one_class_if_headers_do_not_determine_it(perhop: Command, tmp_path: Path) -> None:
    (tmp_path / "office.pcap").write_bytes(pcap())
    file = ROOT / "tests" / "configurations" / "qos-group.cfg"
    ended = perhop("run", file, "--traffic", "office.pcap")
    assert ended.code == 0, ended.err
    assert "the run shows all packets as one class, `capture`, because a class" in ended.err


def test_a_damaged_capture_is_one_error(perhop: Command, router: Path, tmp_path: Path) -> None:
    (tmp_path / "cut.pcap").write_bytes(pcap()[:-30])
    ended = perhop("run", router, "--traffic", "cut.pcap")
    assert (ended.code, ended.out) == (2, "")
    assert "cannot read the capture" in ended.err
    assert "cut.pcap" in ended.err


# A sub-interface: the link to it has the configured tag.
TAGGED = ROUTER.replace(
    "interface FastEthernet0/0\n", "interface FastEthernet0/0.10\n encapsulation dot1Q 10\n"
)


@pytest.mark.parametrize("name", [ROUTER, TAGGED], ids=["plain", "sub-interface"])
@needs_tshark
def test_tags_of_a_capture_reach_the_router(perhop: Command, tmp_path: Path, name: str) -> None:
    (tmp_path / "edge.cfg").write_text(name)
    file = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1)
    for number in range(300):
        cos = 5 if number % 3 == 0 else 2
        data = packet("10.1.0.20", "10.9.7.7", 0xB8, (20000, 20002), 200, 17)
        frame = bytes(12) + b"\x81\x00" + (cos << 13 | 77).to_bytes(2, "big") + b"\x08\x00" + data
        file += struct.pack("<IIII", 1000, number * 3000, len(frame), 18 + 200) + frame
    (tmp_path / "tagged.pcap").write_bytes(file)
    links = ("--pcap-link", "near-side->edge", "--pcap-link", "edge->far-side")
    ended = perhop("run", "edge.cfg", "--traffic", "tagged.pcap", "--pcap", "pcap", *links)
    assert ended.code == 0, ended.err
    entering = fields(tmp_path / "pcap" / "near-side--edge.pcapng", "vlan.priority")
    assert Counter(entering) == {("5",): 100, ("2",): 200}
    # The serial line has no tags.
    assert set(fields(tmp_path / "pcap" / "edge--far-side.pcapng", "vlan.priority")) == {("",)}
