"""Small healthy networks with serial lines, and circuits of frame relay and ATM, as files."""

from __future__ import annotations

Files = dict[str, str]

_POLICY = """class-map match-any VOICE
 match ip dscp ef
class-map match-any DATA
 match ip dscp af21
policy-map WAN
 class VOICE
  priority 160
 class DATA
  bandwidth 128
"""


def _frame_relay(number: int) -> str:
    """Return one of two ends of a circuit with a class of its own."""
    return f"""version 12.4
hostname fr{number}
{_POLICY}interface Serial0/0
 no ip address
 encapsulation frame-relay
 frame-relay traffic-shaping
interface Serial0/0.10 point-to-point
 bandwidth 512
 ip address 192.0.2.{number} 255.255.255.252
 frame-relay interface-dlci 10{number}
  class LINE
 frame-relay ip rtp header-compression
map-class frame-relay LINE
 frame-relay cir 512000
 frame-relay mincir 512000
 frame-relay fragment 640
 service-policy output WAN
"""


def _hub() -> str:
    """Return a hub whose interface has the circuits of two spokes."""
    return """version 12.4
hostname hub
interface Serial1/0
 bandwidth 512
 ip address 198.51.100.1 255.255.255.0
 encapsulation frame-relay
 frame-relay traffic-shaping
 frame-relay class SPOKES
 frame-relay map ip 198.51.100.2 202 broadcast
 frame-relay map ip 198.51.100.3 203 broadcast
 frame-relay interface-dlci 203
  class SECOND
map-class frame-relay SPOKES
 frame-relay cir 256000
 frame-relay fragment 320
 frame-relay ip rtp priority 16384 16383 96
map-class frame-relay SECOND
 frame-relay cir 256000
 frame-relay fragment 320
 frame-relay ip rtp priority 16384 16383 96
"""


def _spoke(number: int) -> str:
    return f"""version 12.4
hostname spoke{number}
interface Serial0/0
 no ip address
 encapsulation frame-relay
 frame-relay traffic-shaping
interface Serial0/0.1 point-to-point
 bandwidth 512
 ip address 198.51.100.{number} 255.255.255.0
 frame-relay class TO-HUB
 frame-relay interface-dlci 100
map-class frame-relay TO-HUB
 frame-relay cir 256000
 frame-relay fragment 320
 frame-relay ip rtp priority 16384 16383 96
"""


def _atm(number: int, name: str) -> str:
    """Return one of two ends of a circuit of ATM. One of them has the settings in a class."""
    lines = "vbr-nrt 2048 2048 1\n encapsulation aal5snap"
    first = "interface ATM1/0.3 point-to-point\n bandwidth 2048\n"
    address = f" ip address 203.0.113.{number} 255.255.255.252\n"
    if name:
        return (
            f"version 12.4\nhostname atm{number}\nvc-class atm CONTRACT\n {lines}\n"
            f"interface ATM1/0\n no ip address\n{first}{address} pvc to-atm1 0/103\n  class-vc CONTRACT\n"
        )
    inside = lines.replace("\n ", "\n  ")
    return (
        f"version 12.4\nhostname atm{number}\ninterface ATM1/0\n no ip address\n"
        f"{first}{address} pvc 0/103\n  {inside}\n"
    )


def _serial(number: int, encapsulation: str) -> str:
    """Return one of two ends of a serial line with a priority for voice."""
    return f"""version 12.4
hostname line{number}
interface Serial0/0
 bandwidth 1024
 ip address 192.0.2.{16 + number} 255.255.255.252
 encapsulation {encapsulation}
 ip rtp header-compression
 ip tcp header-compression
 fair-queue
 ip rtp priority 16384 16383 384
"""


def _edge(number: int) -> str:
    """Return one of two ends of a cable of Ethernet. The first one passes routes on to OSPF."""
    routing = (
        """interface FastEthernet0/1
 ip address 10.1.0.5 255.255.255.252
router eigrp 100
 network 10.1.0.4 0.0.0.3
 no auto-summary
router ospf 1
 redistribute eigrp 100 metric 20 subnets
 network 192.0.2.32 0.0.0.3 area 0
"""
        if number == 1
        else "router ospf 1\n network 192.0.2.32 0.0.0.3 area 0\n"
    )
    return f"""version 12.4
hostname edge{number}
interface FastEthernet0/0
 ip address 192.0.2.{32 + number} 255.255.255.252
 speed 100
 {"full-duplex" if number == 1 else "duplex full"}
{routing}"""


NETWORKS: dict[str, Files] = {
    "frame relay": {f"fr{number}.cfg": _frame_relay(number) for number in (1, 2)},
    "hub": {"hub.cfg": _hub(), "spoke2.cfg": _spoke(2), "spoke3.cfg": _spoke(3)},
    "ATM": {"atm1.cfg": _atm(1, ""), "atm2.cfg": _atm(2, "CONTRACT")},
    "PPP": {f"line{number}.cfg": _serial(number, "ppp") for number in (1, 2)},
    "HDLC": {f"line{number}.cfg": _serial(number, "hdlc") for number in (1, 2)},
    "Ethernet": {f"edge{number}.cfg": _edge(number) for number in (1, 2)},
}
