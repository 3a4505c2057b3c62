"""The tested line as a scenario: a home, a line, a server, and a qdisc at both ends of the line."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from perhop.configuration import checked
from perhop.design import quantity
from perhop.errors import InvalidInputError
from perhop.scenario import Scenario

#: The name of the queue that most lines have, with its tc command: a FIFO of Linux' default length.
FIFO = {"fifo": "pfifo limit 1000"}
_PACKETS, _PACKET_BITS = 1000, 1500 * 8

#: Classes of the traffic.
PING, PONG, DOWNLOAD, UPLOAD = "ping", "pong", "download", "upload"
#: The number of connections that load the line: the minimum of tests in browsers.
CONNECTIONS = 4
# A ping of 64 bytes each 20 ms, and the time between two samples.
_PING_RATE, _PING_BYTES = "25600b/s", "64B"
SAMPLE_S = 0.2
#: The durations of the idle phase, the loaded phase and the warm-up, seconds.
IDLE_S, LOADED_S, WARMUP_S = 5.0, 10.0, 1.0


@dataclass(frozen=True)
class Line:
    """A line: rates of its directions in bits per second, and its round-trip time while it is idle."""

    down_bps: float
    up_bps: float
    rtt_s: float

    @classmethod
    def read(cls, rate: str, rtt: str) -> Line:
        """Return the line of `50/10Mb/s`, down and up, or `20Mb/s`, and a time such as `20ms`.

        Raises:
            InvalidInputError: `rate` or `rtt` is not a quantity.

        """
        found = re.fullmatch(r"([\d.]+)\s*([A-Za-z]+/s)?\s*(?:/\s*([\d.]+)\s*([A-Za-z]+/s))?", rate.strip())
        if found is None or not (found[2] or found[4]):
            raise InvalidInputError(
                f"rate: `{rate}` is not a rate or a pair of rates",
                "for example 50/10Mb/s (down and up), or 20Mb/s",
            )
        down = f"{found[1]}{found[2] or found[4]}"
        up = f"{found[3]}{found[4]}" if found[3] else down
        return cls(quantity.rate("rate", down), quantity.rate("rate", up), quantity.time("rtt", rtt))

    @property
    def pause_s(self) -> float:
        """The time between downloads and uploads, in which a full queue of the slower direction drains."""
        slower = min(self.down_bps, self.up_bps)
        return max(IDLE_S, math.ceil(_PACKETS * _PACKET_BITS / slower) + 1.0)

    @property
    def downloads(self) -> tuple[float, float]:
        """The start and the end of the downloads, seconds."""
        return IDLE_S, IDLE_S + LOADED_S

    @property
    def uploads(self) -> tuple[float, float]:
        """The start and the end of the uploads, seconds."""
        begin = IDLE_S + LOADED_S + self.pause_s
        return begin, begin + LOADED_S

    def scenario(self, qdisc: str) -> Scenario:
        """Return the scenario with a qdisc, in the words of tc, at both ends of the line.

        Raises:
            InvalidInputError: perhop does not have the qdisc, or tc refuses it.

        """
        ping = {"cbr": {"rate": _PING_RATE, "packet": {"ip": _PING_BYTES}}}
        bulk = {"bulk": {"tcp": {"profile": "linux-6"}}}
        loads = [
            (DOWNLOAD, "server", "home", self.downloads),
            (UPLOAD, "home", "server", self.uploads),
        ]
        document: dict[str, Any] = {
            "perhop": 1,
            "name": f"bufferbloat with {qdisc}",
            "duration": f"{self.uploads[1]}s",
            "hosts": {"home": {}, "server": {}},
            "routers": {"gateway": {}, "provider": {}},
            "links": [
                {"between": ["home", "gateway"], "rate": "10Gb/s"},
                {
                    "between": ["gateway", "provider"],
                    "rate": f"{self.down_bps:.0f}b/s",
                    "delay": f"{self.rtt_s / 2:.9f}s",
                    "interfaces": {
                        "gateway": {"output": "line", "rate": f"{self.up_bps:.0f}b/s"},
                        "provider": {"output": "line"},
                    },
                },
                {"between": ["provider", "server"], "rate": "10Gb/s"},
            ],
            "policies": {"line": policy(qdisc)},
            "traffic": [
                {"name": PING, "from": "home", "to": "server", "source": ping},
                {"name": PONG, "from": "server", "to": "home", "source": ping},
                *(
                    {
                        "name": name, "from": start, "to": end, "count": CONNECTIONS, "source": bulk,
                        "start": f"{times[0]}s", "stop": f"{times[1]}s",
                    }
                    for name, start, end, times in loads
                ),
            ],
            "measure": {
                "warmup": f"{WARMUP_S}s",
                "throughput-every": f"{SAMPLE_S}s",
                "delay-every": f"{SAMPLE_S}s",
            },
        }  # fmt: skip
        return Scenario(json.loads(json.dumps(document)))


def policy(qdisc: str) -> dict[str, Any]:
    """Return the policy of a qdisc at the root of a device.

    Raises:
        InvalidInputError: perhop does not have the qdisc, or tc refuses it.

    """
    words = FIFO.get(qdisc, qdisc)
    report = checked(f"tc qdisc add dev wan root {words}\n", "linux")
    [line] = report["lines"]
    wrong = [
        diagnostic["message"] for diagnostic in report["diagnostics"] if diagnostic["severity"] == "error"
    ]
    output = report["router"]["ports"][0]["output"] if report["router"]["ports"] else {}
    if wrong or line["state"] not in {"modelled", "suspicious"} or "queueing" not in output:
        why = next(iter(wrong), line.get("note") or "it has no queue")
        raise InvalidInputError(
            f"qdisc `{qdisc}`: {why}",
            "for example cake, fq_codel, fifo or 'pfifo limit 200'",
        )
    found: dict[str, Any] = dict(output)
    return found


def disciplines(text: str) -> list[str]:
    """Return the qdiscs of a comma-separated list; raise `InvalidInputError` if a qdisc appears twice."""
    found = [" ".join(part.split()) for part in text.split(",")]
    if not all(found):
        raise InvalidInputError(f"qdisc: `{text}` has an empty name", "for example cake,fq_codel,fifo")
    require_different(found)
    return found


def require_different(qdiscs: Sequence[str]) -> None:
    """Raise `InvalidInputError` if a qdisc appears twice in a list."""
    twice = sorted({qdisc for qdisc in qdiscs if list(qdiscs).count(qdisc) > 1})
    if twice:
        raise InvalidInputError(f"qdisc: `{twice[0]}` is listed twice", "list each discipline once")
