"""Captures of links with headers: tshark dissects each of them, and finds the marks and bytes expected."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import perhop
from tshark import assert_no_complaint, fields, fields_without_complaint, needs_tshark

WHOLE = 65_535

_SCENARIO = """\
perhop: 1
name: Headers
duration: 200ms
hosts: { a: {}, b: {} }
routers: { r: {}, s: {} }
links:
  - { between: [a, r], rate: 100Mb/s, framing: ethernet-frame }
  - between: [r, s]
    rate: 100Mb/s
    interfaces: { r: { output: marking } }
  - { between: [s, b], rate: 100Mb/s, framing: ethernet-frame }
policies:
  marking:
    conditioners:
      - match: { dscp: ef }
        actions: [{ mark-cos: 5 }, { mark-exp: 6 }]
traffic:
  - { name: voice, from: a, to: b, dscp: ef, source: { cbr: { rate: 1Mb/s, packet: { ip: 200B } } } }
  - { name: data, from: a, to: b, dscp: af31, source: { cbr: { rate: 1Mb/s, packet: { ip: 1000B } } } }
  - { name: bulk, from: b, to: a, source: { bulk: { tcp: { profile: linux-modern } } } }
"""


def captured(folder: Path, framing: str, headers: list[Any], family: str = "IPv4", **more: Any) -> Path:
    """Return the capture of a link with these headers."""
    file = folder / "headers.perhop.yaml"
    file.write_text(_SCENARIO)
    scenario = perhop.Scenario.load(file)
    scenario["links"][1] |= {"framing": framing, "headers": headers}
    if family == "IPv6":
        scenario["hosts"] = {"a": {"address": "2001:db8::1"}, "b": {"address": "2001:db8::2"}}
    scenario.run(pcap=folder / "pcap", snap_length=WHOLE, **more)
    return folder / "pcap" / "r--s.pcapng"


def protocols(file: Path, decode_as: str = "") -> set[str]:
    """Return the protocols of all frames, from outside inwards, without Ethernet types and payload.

    Fail where tshark complains.
    """
    left_out = {"ethertype", "data", "pkt_comment"}
    found = fields_without_complaint(file, "frame.protocols", decode_as=decode_as)
    return {
        ":".join(protocol for protocol in line.split(":") if protocol not in left_out) for (line,) in found
    }


ESP = {"cipher": "aes-cbc", "integrity": "sha1"}
DMVPN = [{"gre": {"key": True}}, {"esp": {**ESP, "mode": "transport"}}]

# Framing, headers, and tshark's names of the protocols down to the inner IP packet, or of all protocols if
# there is none.
STACKS: list[tuple[str, list[Any], str]] = [
    ("ethernet-frame", [{"vlan": {"id": 100}}], "eth:vlan:ip"),
    ("ethernet-wire", [{"vlan": {"id": 20}}, {"vlan": {"id": 100}}], "eth:ieee8021ad:vlan:ip"),
    ("ethernet-wire", [{"mpls": {"labels": 3}}], "eth:mpls:ip"),
    ("ethernet-header", ["mpls", {"vlan": {"id": 7}}], "eth:vlan:mpls:ip"),
    ("ppp", ["mpls"], "ppp:mpls:ip"),
    ("hdlc", ["mpls"], "chdlc:mpls:ip"),
    ("aal5-snap", ["mpls"], "llc:mpls:ip"),
    ("aal5-mux", ["mpls"], "ppp:mpls:ip"),
    ("raw", ["mpls"], "ppp:mpls:ip"),
    ("ethernet-frame", ["ethernet", {"mpls": {"control-word": True}}], "eth:mpls:eth:ip"),
    ("ethernet-frame", ["ethernet", {"mpls": {"labels": 2}}], "eth:mpls:eth:ip"),
    ("ethernet-frame", ["gre"], "eth:ip:gre:ip"),
    ("raw", [{"gre": {"key": True, "checksum": True, "sequence": True}}], "raw:ip:gre:ip"),
    ("ppp", [{"gre": {"over": "ipv6"}}], "ppp:ipv6:gre:ip"),
    ("ethernet-frame", ["ethernet", "gre"], "eth:ip:gre:eth:ip"),
    ("ethernet-frame", ["mpls", "gre"], "eth:ip:gre:mpls:ip"),
    ("ethernet-frame", ["ipip"], "eth:ip:ip"),
    ("hdlc", [{"ipip": {"over": "ipv6"}}], "chdlc:ipv6:ip"),
    ("ethernet-frame", ["vxlan"], "eth:ip:udp:vxlan:eth:ip"),
    ("ethernet-wire", ["vlan", {"vxlan": {"over": "ipv6"}}, "vlan"], "eth:vlan:ipv6:udp:vxlan:eth:vlan:ip"),
    ("ethernet-wire", ["pppoe"], "eth:pppoes:ppp:ip"),
    ("ethernet-wire", ["pppoe", "vlan"], "eth:vlan:pppoes:ppp:ip"),
    ("aal5-snap", ["pppoe", "bridged"], "llc:eth:pppoes:ppp:ip"),
    ("aal5-mux", ["bridged"], "eth:ip"),
    ("aal5-mux", ["ppp"], "ppp:ip"),
    ("ppp", ["mlppp"], "ppp:mp:ip"),
    ("ethernet-frame", [{"l2tp": {"length": True, "sequence": True}}], "eth:ip:udp:l2tp:ppp:ip"),
    ("raw", ["frame-relay"], "fr:ip"),
]


@needs_tshark
@pytest.mark.parametrize(("framing", "headers", "stack"), STACKS)
@pytest.mark.parametrize("family", ["IPv4", "IPv6"])
def test_every_header(tmp_path: Path, framing: str, headers: list[Any], stack: str, family: str) -> None:
    file = captured(tmp_path, framing, headers, family)
    # Only the two ends of a pseudowire know its payload (RFC 3985 §5.1), so an option configures tshark.
    word = "pwethcw" if {"mpls": {"control-word": True}} in headers else "pwethnocw"
    decode_as = f"mpls.label==16,{word}" if "eth:mpls:eth" in stack else ""
    inner = stack if family == "IPv4" else stack.removesuffix("ip") + "ipv6"
    assert protocols(file, decode_as) == {f"{inner}:udp", f"{inner}:tcp"}


@needs_tshark
@pytest.mark.parametrize("headers", [[{"esp": ESP}], DMVPN, [{"esp": {**ESP, "nat-t": True}}]])
@pytest.mark.parametrize("family", ["IPv4", "IPv6"])
def test_encrypted_headers_are_opaque(tmp_path: Path, headers: list[Any], family: str) -> None:
    file = captured(tmp_path, "ethernet-frame", headers, family)
    there = fields(file, "esp.spi", "esp.sequence", "frame.len", where="eth.src == 02:00:00:00:00:02")
    assert {index for index, _, _ in there} == {"0x00000102"}
    assert [int(number) for _, number, _ in there] == list(range(1, len(there) + 1))
    nat, gre = "nat-t" in str(headers), "gre" in str(headers)
    assert protocols(file) == {"eth:ip:udp:udpencap:esp" if nat else "eth:ip:esp"}
    # RFC 3602: outer IP 20, index and number 8, vector 16, padded to 16 bytes with a trailer of 2, check 12.
    header, extra = (20, 8) if nat else (20, 0)
    lengths = {
        14 + header + extra + 24 + -(-(ip + 2) // 16) * 16 + 12 for ip in (200 + 8 * gre, 1000 + 8 * gre)
    }
    # Only datagrams have these lengths; acknowledgments are shorter.
    assert {int(length) for _, _, length in there if int(length) > 250} == lengths


@needs_tshark
def test_marks_are_in_the_tag_and_in_the_labels(tmp_path: Path) -> None:
    headers = [{"mpls": {"labels": 2}}, {"vlan": {"id": 20}}, {"vlan": {"id": 100}}]
    file = captured(tmp_path, "ethernet-wire", headers)
    assert_no_complaint(file)
    found = fields(
        file,
        *("ip.dsfield.dscp", "ieee8021ad.priority", "ieee8021ad.id", "vlan.priority", "vlan.id"),
        *("mpls.label", "mpls.exp", "mpls.bottom", "mpls.ttl", "frame.len", "ip.len"),
        where="udp && !frame.comment",
    )
    by_class = {row[:9] for row in found}
    # The policy marked EF. AF31 has no separate CoS, and its precedence as EXP (RFC 3270 §2.6.3).
    assert by_class == {
        ("46", "5", "100", "5", "20", "17", "6", "0", "63"),
        ("26", "0", "100", "0", "20", "17", "3", "0", "63"),
    }
    # Ethernet header 14, two tags, two labels; check sequence, preamble and gap are not in a capture.
    assert {int(frame) - int(ip) for *_, frame, ip in found} == {14 + 8 + 8}
    every = fields(file, "mpls.label", "mpls.exp", "mpls.bottom", where="mpls.bottom == 1 && udp")
    assert len(every) == len(found)


@needs_tshark
def test_fields_of_tunnels_and_sessions(tmp_path: Path) -> None:
    for number, (framing, headers, names, values) in enumerate(
        [
            (
                "ethernet-wire",
                [{"vxlan": {"id": 77}}],
                ("vxlan.vni", "udp.dstport", "ip.dsfield.dscp"),
                "77 4789 46",
            ),
            ("ethernet-wire", ["pppoe"], ("pppoe.session_id", "pppoe.payload_length"), "0x0001 202"),
            ("raw", [{"gre": {"key": True}}], ("gre.key", "ip.dsfield.dscp", "ip.len"), "0x00000001 46 228"),
            ("raw", [{"gre": {"checksum": True}}], ("gre.checksum.status", "ip.len"), "1 228"),
            ("ppp", ["mlppp"], ("mp.first", "mp.last"), "1 1"),
            ("raw", ["frame-relay"], ("fr.dlci",), "100"),
        ]
    ):
        folder = tmp_path / str(number)
        folder.mkdir()
        file = captured(folder, framing, headers)
        # Datagrams of 200 bytes.
        found = fields(file, *names, where="udp.length == 180")
        assert {" ".join(row) for row in found} == {values}, headers


def test_a_capture_with_tags_and_labels_is_a_source(tmp_path: Path) -> None:
    """A policy matches the marks of packets that another link replays from a capture."""
    headers = ["mpls", "vlan"]
    file = captured(tmp_path, "ethernet-wire", headers)
    scenario = perhop.Scenario.load(tmp_path / "headers.perhop.yaml")
    scenario["traffic"] = [
        {
            "name": "again",
            "from": "a",
            "to": "b",
            "source": {"pcap": {"file": str(file), "interface": "r->s", "match": {"cos": 5, "mpls-exp": 6}}},
        }
    ]
    scenario["links"][0] |= {"framing": "ethernet-wire", "headers": headers}
    scenario["links"][1]["interfaces"] = {"r": {"output": "classes"}}
    scenario["links"][1] |= {"framing": "ethernet-wire", "headers": headers}
    scenario["policies"]["classes"] = {
        "queueing": {
            "scheduler": "priority",
            "classes": [{"name": "five", "match": {"cos": 5}}, {"name": "rest"}],
        }
    }
    results = scenario.run()
    rows = results.ports.filter(results.ports["port"].cast(str) == "r->s")
    sent = dict(zip(rows["queue"].to_list(), rows["sent_packets"].to_list(), strict=True))
    # 1 Mb/s in packets of 200 bytes, for 200 ms.
    assert sent == {"five": pytest.approx(125, abs=2)}
