"""One live run of a scenario: build the testbed, run forwarders and hosts, collect their reports."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from perhop import _core
from perhop.document import Document
from perhop.errors import InvalidInputError, PerhopError
from perhop.live import children, control
from perhop.live.children import Child
from perhop.live.planning import Plan, plan
from perhop.live.testbed import LiveTestbed

#: The sockets of forwarders: packet sockets, or AF_XDP where the kernel supports it.
Socket = Literal["af-packet", "af-xdp"]

# Interval of polling a run.
_POLL_EVERY_S = 0.05
# Time for a forwarder to answer, on a busy machine.
_READY_WITHIN_S = 20.0
# The wait for the exit status of a killed process, whose connections close before the status is available.
_DEATH_KNOWN_WITHIN_S = 2.0
# The time from the start of the hosts' programs until they send: a constant, and a time for each host.
_LEAD_S = 1.0
_LEAD_PER_HOST_S = 0.1
# Time after the end in which packets in flight arrive and reports are written.
_OVERTIME_S = 30.0


@dataclass(frozen=True)
class Program:
    """A program to run in a host."""

    host: str
    #: A shell command.
    command: str


@dataclass(frozen=True)
class Ended:
    """A program that has ended."""

    program: Program
    #: The exit code, negative for the signal that ended the program.
    code: int
    #: Whether the program was still running at the end of the run.
    cut_short: bool
    output: str

    def to_dict(self) -> dict[str, Any]:
        """Return the program's result as plain data."""
        return {
            "host": self.program.host,
            "command": self.program.command,
            "exit_code": self.code,
            "cut_short": self.cut_short,
            "output": self.output,
        }


@dataclass(frozen=True)
class Account:
    """The reports of one run."""

    #: The final counters of each forwarder, by node.
    forwarders: Mapping[str, dict[str, Any]]
    #: The files of the final counters, by node.
    forwarder_files: Mapping[str, Path]
    #: The files of the hosts' reports, by host; empty if the scenario's traffic did not run.
    hosts: Mapping[str, Path]
    programs: Sequence[Ended] = ()
    #: Settings that the system refused.
    refused: Sequence[str] = ()


@dataclass(frozen=True)
class Watching:
    """Callbacks of a run."""

    #: Called with the completed share of the run, from 0 to 1.
    progress: Callable[[float], None] | None = None
    #: Called with a host and a line of output of its program.
    line: Callable[[str, str], None] | None = None
    #: Called once all processes run.
    ready: Callable[[LiveTestbed], None] | None = None


@dataclass
class _Running:
    """The processes of one run."""

    testbed: LiveTestbed
    #: The folder of the reports.
    files: Path
    forwarders: dict[str, Child] = field(default_factory=dict)
    hosts: dict[str, Child] = field(default_factory=dict)
    programs: list[tuple[Program, Child]] = field(default_factory=list)
    output: dict[Child, str] = field(default_factory=dict)

    def file(self, kind: str, index: int) -> Path:
        """Return the file for the report of a forwarder or a host."""
        return self.files / f"{kind}-{index}.json"


def play(
    scenario: Document,
    *,
    seed: int,
    replication: int = 0,
    programs: Sequence[Program] = (),
    with_traffic: bool = True,
    until_interrupted: bool = False,
    congestion_controls: Mapping[str, str] | None = None,
    socket: Socket = "af-packet",
    watching: Watching | None = None,
    files: Path,
) -> Account:
    """Run a scenario live once, in its own testbed, which is removed afterwards.

    Args:
        scenario: a scenario with embedded router configurations (`Document.embedded`).
        seed: seed for all random streams; hosts send the simulator's packets.
        replication: number of the replication, from 0.
        programs: further programs to run in hosts; they end with the run.
        with_traffic: whether the scenario's traffic runs.
        until_interrupted: run until Ctrl-C instead of the scenario's duration.
        congestion_controls: TCP congestion control by host; by default the system's.
        socket: the sockets of forwarders.
        watching: callbacks.
        files: a folder for the reports; created if needed.

    Raises:
        MissingCapabilityError: this user may not create networks.
        ScenarioError: the scenario needs a feature that real packets cannot have.
        InvalidInputError: a program names an unknown host.
        PerhopError: a process failed; the message describes it.

    """
    watching = watching or Watching()
    planned = plan(scenario, seed, replication)
    for program in programs:
        if program.host not in planned.network.addresses:
            hosts = ", ".join(planned.network.addresses)
            raise InvalidInputError(f"--exec: there is no host `{program.host}`", f"hosts: {hosts}")
    files.mkdir(parents=True, exist_ok=True)
    duration_s = float("inf") if until_interrupted else seconds(scenario["duration"])
    with LiveTestbed(planned.network, scenario["name"], congestion_controls=congestion_controls) as testbed:
        running = _Running(testbed, files)
        lead_s = _LEAD_S + _LEAD_PER_HOST_S * len(planned.network.addresses)
        _start_forwarders(running, planned, socket)
        start_at_ns = time.monotonic_ns() + round(lead_s * 1e9)
        if with_traffic:
            _start_hosts(running, scenario, seed, replication, start_at_ns)
            warmup_ns = round(seconds(scenario["measure"]["warmup"]) * 1e9)
            _count_from(running, start_at_ns + warmup_ns)
        for program in programs:
            shell = testbed.start(
                program.host, f"{program.command} in {program.host}", "program", "sh", "-c", program.command
            )
            running.programs.append((program, shell))
        if watching.ready is not None:
            watching.ready(testbed)
        try:
            _wait(running, start_at_ns, duration_s, watching)
        except KeyboardInterrupt:
            if not until_interrupted:
                raise
        return _account(running, watching)


def seconds(text: str) -> float:
    """Parse a time of a scenario into seconds."""
    found = _core.quantity(str(text))
    if found is None or found[1] != "s":
        raise InvalidInputError(f"`{text}` is not a time", "write it with its unit, for example 60s")
    return found[0]


def _start_forwarders(running: _Running, planned: Plan, kind: Socket) -> None:
    testbed = running.testbed
    for index, (node, configuration) in enumerate(planned.forwarders.items()):
        socket = f"forwarder-{index}.sock"
        files = {
            "control": str(testbed.folder / socket),
            "result": str(running.file("forwarder", index)),
        }
        text = testbed.folder / f"forwarder-{index}.json"
        text.write_text(json.dumps(configuration | files | {"socket": kind}), encoding="utf-8")
        running.forwarders[node] = testbed.start(node, f"the forwarder of {node}", "forward", str(text))
        testbed.state.sockets[node] = socket
    until = time.monotonic() + _READY_WITHIN_S
    for node, child in running.forwarders.items():
        _wait_for_answer(testbed.folder / testbed.state.sockets[node], child, until)
    testbed.state.save()


def _wait_for_answer(socket: Path, child: Child, until: float) -> None:
    while True:
        if child.code is not None:
            raise child.failure()
        try:
            control.read_counters(socket)
        except OSError as error:
            if time.monotonic() > until:
                raise PerhopError(f"{child.name} does not answer", child.new_output() or None) from error
            time.sleep(_POLL_EVERY_S)
        else:
            return


def _count_from(running: _Running, nanoseconds: int) -> None:
    """Make all forwarders start their counters at a time of the monotonic clock."""
    for node, child in running.forwarders.items():
        try:
            control.count_from(running.testbed.folder / running.testbed.state.sockets[node], nanoseconds)
        except OSError as error:
            with suppress(subprocess.TimeoutExpired):
                child.process.wait(timeout=_DEATH_KNOWN_WITHIN_S)
            raise (
                PerhopError(f"{child.name}: {error}") if child.code is None else child.failure()
            ) from error


def _start_hosts(
    running: _Running, scenario: Document, seed: int, replication: int, start_at_ns: int
) -> None:
    testbed = running.testbed
    text = testbed.folder / "scenario.json"
    text.write_text(scenario.to_json(), encoding="utf-8")
    ends = {traffic[end] for traffic in scenario["traffic"] for end in ("from", "to")}
    for index, host in enumerate(testbed.network.addresses):
        if host in ends:
            running.hosts[host] = testbed.start(
                host, f"the traffic of {host}", "host",
                str(text), str(scenario.base), host, str(seed), str(replication), str(start_at_ns),
                str(running.file("host", index)), *filter(None, [testbed.congestion_controls.get(host)]),
            )  # fmt: skip


def _wait(running: _Running, start_at_ns: int, duration_s: float, watching: Watching) -> None:
    """Wait for the end of the hosts' programs or, without programs, of the duration."""
    while True:
        elapsed_s = (time.monotonic_ns() - start_at_ns) / 1e9
        for child in running.forwarders.values():
            if child.code is not None:
                raise child.failure()
        for child in running.hosts.values():
            if child.code not in (None, 0):
                raise child.failure()
        _pass_on(running, watching)
        if watching.progress is not None and duration_s < float("inf"):
            watching.progress(min(max(elapsed_s / duration_s, 0.0), 1.0))
        if running.hosts:
            if all(child.code == 0 for child in running.hosts.values()):
                return
            if elapsed_s > duration_s + _OVERTIME_S:
                late = ", ".join(name for name, child in running.hosts.items() if child.code is None)
                raise PerhopError(f"the traffic of {late} has not ended")
        elif elapsed_s >= duration_s or _all_ended(running.programs):
            return
        time.sleep(_POLL_EVERY_S)


def _all_ended(programs: Sequence[tuple[Program, Child]]) -> bool:
    return bool(programs) and all(child.code is not None for _, child in programs)


def _pass_on(running: _Running, watching: Watching) -> None:
    """Store the output of programs, and pass complete lines to the callback."""
    for program, child in running.programs:
        new = child.new_output()
        if not new:
            continue
        kept = running.output.get(child, "")
        running.output[child] = kept + new
        if watching.line is not None:
            unfinished = kept.rpartition("\n")[2]
            for line in (unfinished + new).split("\n")[:-1]:
                watching.line(program.host, line)


def _account(running: _Running, watching: Watching) -> Account:
    """End all processes, programs first, and read the reports."""
    testbed = running.testbed
    still = {child for _, child in running.programs if child.code is None}
    children.end(child for _, child in running.programs)
    _pass_on(running, watching)
    for child in children.end(running.forwarders.values()):
        raise PerhopError(f"{child.name} did not end on SIGTERM", child.new_output() or None)
    for child in running.forwarders.values():
        if child.code != 0:
            raise child.failure()
    written = {node: running.file("forwarder", index) for index, node in enumerate(running.forwarders)}
    hosts = {
        host: running.file("host", index)
        for index, host in enumerate(testbed.network.addresses)
        if host in running.hosts
    }
    ended = [
        Ended(program, child.code or 0, child in still, running.output.get(child, ""))
        for program, child in running.programs
    ]
    counters = {node: json.loads(file.read_text(encoding="utf-8")) for node, file in written.items()}
    return Account(counters, written, hosts, ended, testbed.refused)
