"""Whether a run on real packets may be believed: what went wrong with the measuring itself."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

# Live and simulated delays are compared to a millisecond: what is sent later than that is no longer the
# scenario's.
_LATE_S = 1e-3
_NANOSECONDS = 1e9


@dataclass(frozen=True)
class Fidelity:
    """A verdict on a run, with its reasons."""

    #: Each a reason not to trust the run.
    doubts: tuple[str, ...]
    #: How late the forwarders' frames left: the worst 99th percentile, seconds.
    forwarders_late_s: float
    #: How late the hosts' datagrams were sent: the worst 99th percentile, seconds.
    hosts_late_s: float
    #: The highest share of the time that a forwarder was at work.
    load: float

    @property
    def trustworthy(self) -> bool:
        """Whether there is no reason not to trust it."""
        return not self.doubts

    def __str__(self) -> str:
        """Say the verdict in one line."""
        measured = (
            f"forwarders {_time(self.forwarders_late_s)} late (p99), at most {100 * self.load:.0f} % busy,"
            f" senders {_time(self.hosts_late_s)} late (p99)"
        )
        if self.trustworthy:
            return f"fidelity: good: {measured}"
        return f"fidelity: NOT TRUSTWORTHY: {'; '.join(self.doubts)}"

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {
            "trustworthy": self.trustworthy,
            "doubts": list(self.doubts),
            "forwarders_late_p99_s": self.forwarders_late_s,
            "hosts_late_p99_s": self.hosts_late_s,
            "load": self.load,
        }


def judge(
    forwarders: Iterable[Mapping[str, Any]], hosts: Iterable[Mapping[str, Any]], refused: Iterable[str] = ()
) -> Fidelity:
    """Return the verdict on a run (or several), from the final counters of its forwarders and hosts' reports.

    `refused` is what the system did not grant the laboratory.
    """
    forwarders, hosts = list(forwarders), list(hosts)
    doubts = [f"{one['node']}: {doubt}" for one in forwarders for doubt in one["doubts"]]
    for host in hosts:
        late_s = host["lateness"]["p99-ns"] / _NANOSECONDS
        if late_s > _LATE_S:
            doubts.append(
                f"{host['host']}: one datagram in a hundred was sent {_time(late_s)} or more too late"
            )
        if host["refused-packets"]:
            doubts.append(f"{host['host']}: the system refused to send {host['refused-packets']} datagrams")
        if host["unseen-packets"]:
            doubts.append(f"{host['host']}: {host['unseen-packets']} packets of TCP went by unseen")
    doubts += [f"the system refused a setting: {setting}" for setting in refused]
    return Fidelity(
        tuple(dict.fromkeys(doubts)),
        max((one["lateness"]["p99-s"] for one in forwarders), default=0.0),
        max((host["lateness"]["p99-ns"] / _NANOSECONDS for host in hosts), default=0.0),
        max((one["load"] for one in forwarders), default=0.0),
    )


def _time(seconds: float) -> str:
    return f"{seconds * 1e3:.1f} ms" if seconds >= _LATE_S else f"{seconds * 1e6:.0f} µs"
