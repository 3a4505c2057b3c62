"""Routers for the tests of `perhop show`: configurations, and traffic that makes every counter move."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Router:
    """A router between two hosts: packets enter at the LAN and leave via the WAN."""

    name: str
    #: The lines above the interfaces: the release, classes and policies.
    policies: str
    wan: str = "service-policy output WAN"
    lan: str = ""
    #: Rates in kb/s by codepoint.
    offered: tuple[tuple[str, int], ...] = (("ef", 600), ("af31", 900), ("af33", 500), ("default", 900))

    def configuration(self, lan: str = "FastEthernet0/0", wan: str = "Serial0/1/0") -> str:
        inside = "\n".join(f" {line.strip()}" for line in self.lan.splitlines())
        outside = "\n".join(f" {line.strip()}" for line in self.wan.splitlines())
        return (
            f"hostname branch\n{self.policies}"
            f"interface {lan}\n ip address 10.0.1.1 255.255.255.0\n{inside}\n"
            f"interface {wan}\n bandwidth 2000\n ip address 10.0.2.1 255.255.255.252\n{outside}\n"
        )

    def scenario(self, folder: Path, *, duration: str = "4s") -> Path:
        """Write the scenario and its router's configuration."""
        (folder / f"{self.name}.cfg").write_text(self.configuration())
        traffic = [
            {
                "name": dscp,
                "from": "source",
                "to": "sink",
                "dscp": dscp,
                "source-port": 5000 + number,
                "source": {"poisson": {"rate": f"{rate}kb/s", "packet": {"ip": "500B"}}},
            }
            for number, (dscp, rate) in enumerate(self.offered)
        ]
        scenario = {
            "perhop": 1,
            "name": self.name,
            "duration": duration,
            "hosts": {"source": {"address": "10.0.1.2"}, "sink": {"address": "10.0.2.2"}},
            "routers": {"branch": {"configuration": {"file": f"{self.name}.cfg"}}},
            "links": [
                {
                    "between": ["source", "branch"],
                    "rate": "100Mb/s",
                    "interfaces": {"branch": {"name": "FastEthernet0/0"}},
                },
                {
                    "between": ["branch", "sink"],
                    "rate": "2Mb/s",
                    "interfaces": {"branch": {"name": "Serial0/1/0"}},
                },
            ],
            "traffic": traffic,
            "measure": {"warmup": "1s"},
        }
        file = folder / f"{self.name}.perhop.yaml"
        file.write_text(json.dumps(scenario))
        return file


_CLASSES = """\
class-map match-any VOICE
 match ip dscp ef
class-map match-all DATA
 match ip dscp af31 af32 af33
class-map match-any BULK
 match ip dscp af11
 match ip precedence 0
"""
IOS = f"version 15.2\n{_CLASSES}"
XE = f"version 16.9\nlicense udi pid ISR4351/K9 sn ABC\n{_CLASSES}"

ROUTERS = (
    Router(
        "llq",
        f"""{IOS}policy-map WAN
 class VOICE
  priority percent 20
 class DATA
  bandwidth percent 40
  queue-limit 30 packets
 class class-default
  fair-queue
""",
    ),
    Router(
        "priority-kbps",
        f"""{IOS}policy-map WAN
 class VOICE
  priority 512
 class DATA
  bandwidth 400
""",
    ),
    Router(
        "nested",
        f"""{IOS}policy-map QUEUES
 class VOICE
  priority percent 10
 class DATA
  bandwidth percent 30
 class class-default
  bandwidth percent 20
policy-map WAN
 class class-default
  shape average 1500000
  service-policy QUEUES
""",
        wan="load-interval 30\nservice-policy output WAN",
    ),
    Router(
        "nested-police",
        f"""{IOS}policy-map QUEUES
 class VOICE
  police cir percent 10
   conform-action transmit
   exceed-action drop
 class DATA
  bandwidth percent 60
policy-map WAN
 class class-default
  shape average 1500000
  service-policy QUEUES
""",
    ),
    Router(
        "levels",
        f"""{XE}policy-map WAN
 class VOICE
  priority level 1
  police cir 400000
 class DATA
  priority level 2 percent 20
 class class-default
  bandwidth remaining percent 50
""",
    ),
    Router(
        "ratios",
        f"""{XE}policy-map WAN
 class VOICE
  bandwidth remaining ratio 5
 class DATA
  bandwidth remaining ratio 2
""",
    ),
    Router(
        "shapers",
        f"""{IOS}policy-map WAN
 class VOICE
  shape average 300000
 class DATA
  shape peak 400000
""",
    ),
    Router(
        "wred-precedence",
        f"""{IOS}policy-map WAN
 class DATA
  bandwidth percent 20
  random-detect
  random-detect precedence 3 10 20 5
 class class-default
  random-detect
""",
    ),
    Router(
        "wred-dscp",
        f"""{IOS}policy-map WAN
 class DATA
  bandwidth percent 20
  random-detect dscp-based
  random-detect dscp af33 5 15 4
""",
    ),
    Router(
        "two-rates",
        f"""{IOS}policy-map LAN
 class DATA
  police cir 400000 bc 4000 pir 800000 be 8000
   conform-action transmit
   exceed-action set-dscp-transmit af32
   violate-action drop
 class VOICE
  set dscp cs5
""",
        wan="",
        lan="service-policy input LAN",
    ),
    Router(
        "two-buckets",
        f"""{IOS}policy-map WAN
 class VOICE
  police 300000 3000 6000 conform-action transmit exceed-action set-dscp-transmit cs1 violate-action drop
 class DATA
  bandwidth percent 50
""",
    ),
    Router(
        "marks",
        f"""{XE}policy-map LAN
 class VOICE
  set dscp cs5
 class BULK
  set qos-group 2
 class class-default
  police cir 500000
   conform-action transmit
   exceed-action drop
""",
        wan="",
        lan="service-policy input LAN",
    ),
    Router(
        "both-sides",
        f"""{IOS}policy-map LAN
 class BULK
  police cir 500000
 class DATA
  set dscp af33
policy-map WAN
 class VOICE
  priority percent 20
 class class-default
  random-detect dscp-based
""",
        lan="service-policy input LAN",
    ),
)
