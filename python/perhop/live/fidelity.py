"""Measurement fidelity of a live run: whether timing and counting were accurate enough."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from perhop.quantity import counted

# The limit on the lateness of packets, seconds: live and simulated delays are compared to within a
# millisecond.
_LATE_S = 1e-3
_NANOSECONDS = 1e9


@dataclass(frozen=True)
class Fidelity:
    """The fidelity of a live run."""

    #: Reasons not to trust the run.
    warnings: tuple[str, ...]
    #: Lateness of the forwarders' frames: the worst 99th percentile, seconds.
    forwarders_late_s: float
    #: Lateness of the hosts' datagrams: the worst 99th percentile, seconds.
    hosts_late_s: float
    #: The highest processor load of a forwarder, from 0 to 1.
    load: float

    @property
    def trustworthy(self) -> bool:
        """Whether there is no fidelity warning."""
        return not self.warnings

    def __str__(self) -> str:
        """Return the verdict in one line."""
        measured = (
            f"forwarders {_time(self.forwarders_late_s)} late (p99), at most {100 * self.load:.0f} % busy,"
            f" senders {_time(self.hosts_late_s)} late (p99)"
        )
        if self.trustworthy:
            return f"fidelity: good: {measured}"
        return f"fidelity: NOT TRUSTWORTHY: {'; '.join(self.warnings)}"

    def to_dict(self) -> dict[str, Any]:
        """Return the fidelity as plain data."""
        return {
            "trustworthy": self.trustworthy,
            "doubts": list(self.warnings),
            "warnings": list(self.warnings),
            "forwarders_late_p99_s": self.forwarders_late_s,
            "hosts_late_p99_s": self.hosts_late_s,
            "load": self.load,
        }


def judge(
    forwarders: Iterable[Mapping[str, Any]], hosts: Iterable[Mapping[str, Any]], refused: Iterable[str] = ()
) -> Fidelity:
    """Return the fidelity of one or several runs, from the forwarders' final counters and the hosts' reports.

    `refused` has the settings that the system refused.
    """
    forwarders, hosts = list(forwarders), list(hosts)
    warnings = [
        f"{forwarder['node']}: {warning}" for forwarder in forwarders for warning in forwarder["doubts"]
    ]
    for host in hosts:
        late_s = host["lateness"]["p99-ns"] / _NANOSECONDS
        if late_s > _LATE_S:
            warnings.append(
                f"{host['host']}: one datagram in a hundred was sent at least {_time(late_s)} late"
            )
        if host["refused-packets"]:
            warnings.append(
                f"{host['host']}: the system refused to send {counted(host['refused-packets'], 'datagram')}"
            )
        if host["unseen-packets"]:
            warnings.append(
                f"{host['host']}: the capture missed {counted(host['unseen-packets'], 'TCP packet')}"
            )
    warnings += [f"the system refused a setting: {setting}" for setting in refused]
    return Fidelity(
        tuple(dict.fromkeys(warnings)),
        max((forwarder["lateness"]["p99-s"] for forwarder in forwarders), default=0.0),
        max((host["lateness"]["p99-ns"] / _NANOSECONDS for host in hosts), default=0.0),
        max((forwarder["load"] for forwarder in forwarders), default=0.0),
    )


def _time(seconds: float) -> str:
    return f"{seconds * 1e3:.1f} ms" if seconds >= _LATE_S else f"{seconds * 1e6:.0f} µs"
