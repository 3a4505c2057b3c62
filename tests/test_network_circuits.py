"""Rules about serial lines and circuits: each fault is named, and the healthy network has no warning."""

from __future__ import annotations

from pathlib import Path

import pytest

from network_circuits import NETWORKS
from network_warnings import changed, found

SETTING = "network-setting-differs"
RATE = "network-circuit-rate-differs"
PROMISE = "network-promise-differs"


@pytest.mark.parametrize("name", NETWORKS)
def test_a_healthy_network_has_no_warning(tmp_path: Path, name: str) -> None:
    assert found(tmp_path, NETWORKS[name]) == set()


# The network, the edits, and the findings: a file, its line, and the rule.
FAULTS = {
    "fragments of one end": (
        "frame relay",
        [("fr1.cfg", " frame-relay fragment 640\n", "")],
        {("fr1.cfg", "map-class frame-relay LINE", SETTING)},
    ),
    "fragments of the interface at one end": (
        "frame relay",
        [
            ("fr1.cfg", " frame-relay fragment 640\n", ""),
            ("fr2.cfg", " frame-relay fragment 640\n", ""),
            (
                "fr2.cfg",
                "frame-relay traffic-shaping\n",
                "frame-relay traffic-shaping\n frame-relay fragment 640 end-to-end\n",
            ),
        ],
        {("fr1.cfg", "map-class frame-relay LINE", SETTING)},
    ),
    "fragments of the circuit of one spoke": (
        "hub",
        [("spoke3.cfg", " frame-relay fragment 320\n", "")],
        {("spoke3.cfg", "map-class frame-relay TO-HUB", SETTING)},
    ),
    "fragments of the hub to one spoke": (
        "hub",
        [
            (
                "hub.cfg",
                "SECOND\n frame-relay cir 256000\n frame-relay fragment 320\n",
                "SECOND\n frame-relay cir 256000\n",
            )
        ],
        {("hub.cfg", "map-class frame-relay SECOND", SETTING)},
    ),
    "no shaping of the interface": (
        "frame relay",
        [("fr2.cfg", " frame-relay traffic-shaping\n", "")],
        {("fr2.cfg", "interface Serial0/0", "network-block-incomplete")},
    ),
    "no shaping of an interface with a class": (
        "hub",
        [("hub.cfg", " frame-relay traffic-shaping\n", "")],
        {("hub.cfg", "interface Serial1/0", "network-block-incomplete")},
    ),
    "CIR in kbit/s": (
        "frame relay",
        [("fr1.cfg", "frame-relay cir 512000", "frame-relay cir 512")],
        {("fr1.cfg", "frame-relay cir 512", RATE)},
    ),
    "minimum CIR in kbit/s": (
        "frame relay",
        [("fr1.cfg", "frame-relay mincir 512000", "frame-relay mincir 512")],
        {("fr1.cfg", "frame-relay mincir 512", RATE)},
    ),
    "minimum CIR above the CIR": (
        "frame relay",
        [("fr1.cfg", "frame-relay mincir 512000", "frame-relay mincir 768000")],
        {("fr1.cfg", "frame-relay mincir 768000", RATE)},
    ),
    "CIR of a hub": (
        "hub",
        [("hub.cfg", "frame-relay cir 256000", "frame-relay cir 256000000")],
        {("hub.cfg", "frame-relay cir 256000000", RATE)},
    ),
    "guarantees above the circuit": (
        "frame relay",
        [("fr1.cfg", "priority 160", "priority 460")],
        {("fr1.cfg", "priority 460", RATE)},
    ),
    "guarantees above half of the CIR": (
        "frame relay",
        [("fr1.cfg", " frame-relay mincir 512000\n", "")],
        {("fr1.cfg", "priority 160", RATE)},
    ),
    "compression of a circuit at one end": (
        "frame relay",
        [("fr1.cfg", " frame-relay ip rtp header-compression\n", "")],
        {("fr1.cfg", "interface Serial0/0.10 point-to-point", SETTING)},
    ),
    "compression of RTP at one end": (
        "PPP",
        [("line1.cfg", " ip rtp header-compression\n", "")],
        {("line1.cfg", "interface Serial0/0", SETTING)},
    ),
    "compression of TCP at one end": (
        "HDLC",
        [("line2.cfg", " ip tcp header-compression\n", "")],
        {("line2.cfg", "interface Serial0/0", SETTING)},
    ),
    "formats of compression": (
        "PPP",
        [
            ("line1.cfg", "ip rtp header-compression", "ip rtp header-compression iphc-format"),
            ("line2.cfg", "ip rtp header-compression", "ip rtp header-compression ietf-format"),
        ],
        {
            ("line1.cfg", "ip rtp header-compression iphc-format", SETTING),
            ("line2.cfg", "ip rtp header-compression ietf-format", SETTING),
        },
    ),
    "encapsulations of a line": (
        "PPP",
        [("line1.cfg", " encapsulation ppp\n", "")],
        {
            ("line1.cfg", "interface Serial0/0", SETTING),
            ("line2.cfg", "encapsulation ppp", SETTING),
        },
    ),
    "priority for voice": (
        "PPP",
        [("line1.cfg", "16383 384", "16383 38")],
        {
            ("line1.cfg", "ip rtp priority 16384 16383 38", PROMISE),
            ("line2.cfg", "ip rtp priority 16384 16383 384", PROMISE),
        },
    ),
    "priority for voice above the line": (
        "PPP",
        [("line1.cfg", "16383 384", "16383 3840")],
        {("line1.cfg", "ip rtp priority 16384 16383 3840", PROMISE)},
    ),
    "priority for voice of a circuit": (
        "hub",
        [("spoke2.cfg", "16383 96", "16383 9")],
        {
            ("spoke2.cfg", "frame-relay ip rtp priority 16384 16383 9", PROMISE),
            ("hub.cfg", "frame-relay ip rtp priority 16384 16383 96", PROMISE),
        },
    ),
    "priority for voice of one end": (
        "HDLC",
        [("line1.cfg", " ip rtp priority 16384 16383 384\n", "")],
        {("line1.cfg", "interface Serial0/0", "network-policy-missing")},
    ),
    "encapsulations of a circuit": (
        "ATM",
        [("atm1.cfg", "encapsulation aal5snap", "encapsulation aal5mux ip")],
        {
            ("atm1.cfg", "encapsulation aal5mux ip", SETTING),
            ("atm2.cfg", "encapsulation aal5snap", SETTING),
        },
    ),
    "rate above the contract": (
        "ATM",
        [("atm1.cfg", "vbr-nrt 2048 2048 1", "vbr-nrt 4096 4096 1")],
        {("atm1.cfg", "vbr-nrt 4096 4096 1", RATE)},
    ),
    "rate of a class": (
        "ATM",
        [("atm2.cfg", "vbr-nrt 2048 2048 1", "cbr 1024")],
        {("atm2.cfg", "cbr 1024", RATE)},
    ),
    "peak rate above the contract": (
        "ATM",
        [("atm2.cfg", "vbr-nrt 2048 2048 1", "vbr-rt 8192 2048 1")],
        {("atm2.cfg", "vbr-rt 8192 2048 1", RATE)},
    ),
    "circuit without a rate": (
        "ATM",
        [("atm1.cfg", "  vbr-nrt 2048 2048 1\n", "")],
        {("atm1.cfg", "pvc 0/103", RATE)},
    ),
    "duplex against a fixed value": (
        "Ethernet",
        [("edge2.cfg", "duplex full", "duplex auto")],
        {
            ("edge1.cfg", "full-duplex", SETTING),
            ("edge2.cfg", "duplex auto", SETTING),
        },
    ),
    "half duplex of the old form": (
        "Ethernet",
        [("edge1.cfg", "full-duplex", "half-duplex")],
        {
            ("edge1.cfg", "half-duplex", SETTING),
            ("edge2.cfg", "duplex full", SETTING),
        },
    ),
    "routes of subnets": (
        "Ethernet",
        [("edge1.cfg", " metric 20 subnets", " metric 20")],
        {("edge1.cfg", "redistribute eigrp 100 metric 20", "network-route-missing")},
    ),
    "static routes of subnets": (
        "Ethernet",
        [
            ("edge1.cfg", " redistribute eigrp", " redistribute static\n redistribute eigrp"),
            ("edge1.cfg", "router ospf 1\n", "ip route 10.9.9.0 255.255.255.0 10.1.0.6\nrouter ospf 1\n"),
        ],
        {("edge1.cfg", "redistribute static", "network-route-missing")},
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_named(tmp_path: Path, name: str) -> None:
    network, edits, expected = FAULTS[name]
    assert found(tmp_path, changed(NETWORKS[network], *edits)) == expected


# Correct differences between the ends: the network and the edits.
HARMLESS = {
    "no fragments at both ends": (
        "frame relay",
        [(f"fr{number}.cfg", " frame-relay fragment 640\n", "") for number in (1, 2)],
    ),
    "fragments of other sizes": (
        "frame relay",
        [("fr1.cfg", "frame-relay fragment 640", "frame-relay fragment 320")],
    ),
    "policy that shapes": (
        "frame relay",
        [
            ("fr1.cfg", " frame-relay traffic-shaping\n", ""),
            ("fr1.cfg", "policy-map WAN\n", "policy-map WAN\n class class-default\n  shape average 512000\n"),
        ],
    ),
    "rates of the two directions": (
        "frame relay",
        [
            ("fr1.cfg", "frame-relay cir 512000", "frame-relay cir 384000"),
            ("fr1.cfg", "frame-relay mincir 512000", "frame-relay mincir 384000"),
        ],
    ),
    "passive compression": (
        "PPP",
        [("line1.cfg", "ip rtp header-compression", "ip rtp header-compression passive")],
    ),
    "compression by a policy": (
        "PPP",
        [
            ("line1.cfg", " ip rtp header-compression\n ip tcp header-compression\n", ""),
            (
                "line1.cfg",
                "interface",
                "policy-map P\n class class-default\n  compression header ip\ninterface",
            ),
        ],
    ),
    "default encapsulation": ("HDLC", [("line1.cfg", " encapsulation hdlc\n", "")]),
    "nearly the same priority": ("PPP", [("line1.cfg", "16383 384", "16383 360")]),
    "policy instead of a priority": (
        "HDLC",
        [
            ("line1.cfg", " ip rtp priority 16384 16383 384\n", " service-policy output P\n"),
            (
                "line1.cfg",
                "interface",
                "class-map match-all V\n match ip dscp ef\npolicy-map P\n class V\n  priority 384\ninterface",
            ),
        ],
    ),
    "default encapsulation of ATM": ("ATM", [("atm1.cfg", "  encapsulation aal5snap\n", "")]),
    "slower direction of a circuit": (
        "ATM",
        [
            ("atm1.cfg", "vbr-nrt 2048 2048 1", "vbr-nrt 512 512 1"),
            ("atm1.cfg", " bandwidth 2048\n", " bandwidth 512\n"),
        ],
    ),
    "constant rate": ("ATM", [("atm1.cfg", "vbr-nrt 2048 2048 1", "cbr 2048")]),
    "both ends negotiate": (
        "Ethernet",
        [
            ("edge1.cfg", " speed 100\n full-duplex\n", " speed auto\n duplex auto\n"),
            ("edge2.cfg", " speed 100\n duplex full\n", " speed auto\n duplex auto\n"),
        ],
    ),
    "system that implies subnets": (
        "Ethernet",
        [("edge1.cfg", " metric 20 subnets", " metric 20"), ("edge1.cfg", "version 12.4", "version 15.1")],
    ),
    "classful routes": (
        "Ethernet",
        [
            ("edge1.cfg", " metric 20 subnets", " metric 20"),
            ("edge1.cfg", "10.1.0.5 255.255.255.252", "198.18.5.1 255.255.255.0"),
            ("edge1.cfg", "network 10.1.0.4 0.0.0.3", "network 198.18.5.0"),
        ],
    ),
}


@pytest.mark.parametrize("name", HARMLESS)
def test_a_correct_difference_has_no_warning(tmp_path: Path, name: str) -> None:
    network, edits = HARMLESS[name]
    assert found(tmp_path, changed(NETWORKS[network], *edits)) == set()
