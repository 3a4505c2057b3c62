"""A scenario on real packets: laboratory built, forwarders and hosts run, their accounts collected."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from perhop.errors import InvalidInputError, PerhopError
from perhop.live import children, control
from perhop.live.children import Child
from perhop.live.laboratory import Laboratory
from perhop.live.planning import Plan, plan
from perhop.scenario import Scenario

#: How forwarders receive and send frames: packet sockets, or the express data path where a kernel has it.
Socket = Literal["af-packet", "af-xdp"]

# How often a run is looked at.
_LOOK_EVERY_S = 0.05
# What it may take a forwarder until it answers, on a machine that does other things too.
_READY_WITHIN_S = 20.0
# A killed process's connections break before its death is known.
_DEATH_KNOWN_WITHIN_S = 2.0
# From the start of the hosts' programs until they send: what it takes them to be ready, with each host's
# share.
_LEAD_S = 1.0
_LEAD_PER_HOST_S = 0.1
# After the end, packets still under way arrive, and accounts are written.
_OVERTIME_S = 30.0


@dataclass(frozen=True)
class Program:
    """A program to run in a host."""

    host: str
    #: For the shell.
    command: str


@dataclass(frozen=True)
class Ended:
    """A program that has ended."""

    program: Program
    #: Its exit code, negative for the signal that ended it.
    code: int
    #: Whether it was still running when the run was over.
    cut_short: bool
    output: str

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {
            "host": self.program.host,
            "command": self.program.command,
            "exit_code": self.code,
            "cut_short": self.cut_short,
            "output": self.output,
        }


@dataclass(frozen=True)
class Account:
    """What the processes of one run wrote down."""

    #: The final counters of each forwarder, by node.
    forwarders: Mapping[str, dict[str, Any]]
    #: The files that they come from.
    forwarder_files: Mapping[str, Path]
    #: The file of each host's report, by host; none where the scenario's traffic did not run.
    hosts: Mapping[str, Path]
    programs: Sequence[Ended] = ()
    #: What the system did not grant.
    refused: Sequence[str] = ()


@dataclass(frozen=True)
class Watching:
    """Who is told how a run goes."""

    #: Called with the share of the run that is over, from 0 to 1.
    progress: Callable[[float], None] | None = None
    #: Called with a host and a line that a program wrote in it.
    line: Callable[[str, str], None] | None = None
    #: Called once everything runs.
    ready: Callable[[Laboratory], None] | None = None


@dataclass
class _Running:
    """The processes of one run."""

    laboratory: Laboratory
    #: Where they write down what happened.
    files: Path
    forwarders: dict[str, Child] = field(default_factory=dict)
    hosts: dict[str, Child] = field(default_factory=dict)
    programs: list[tuple[Program, Child]] = field(default_factory=list)
    said: dict[Child, str] = field(default_factory=dict)

    def file(self, kind: str, index: int) -> Path:
        """Return the file for the account of a forwarder or a host."""
        return self.files / f"{kind}-{index}.json"


def play(
    scenario: Scenario,
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
    """Run a scenario on real packets once, in a laboratory of its own that is gone afterwards.

    Args:
        scenario: with the configurations of its routers in it (`Scenario.embedded`).
        seed: of every random stream; what hosts send is what the simulator would send.
        replication: which repetition, from 0.
        programs: what else to run in hosts; they are ended with the run.
        with_traffic: whether the scenario's traffic runs.
        until_interrupted: lasts until Ctrl-C instead of the scenario's duration.
        congestion_controls: TCP's by host; by default the system's.
        socket: how forwarders receive and send frames.
        watching: who is told.
        files: a folder for what the processes write down; made if it is not there.

    Raises:
        MissingCapabilityError: this user may make no networks.
        PerhopError: a process failed; it says which and how.

    """
    watching = watching or Watching()
    planned = plan(scenario, seed, replication)
    for program in programs:
        if program.host not in planned.network.addresses:
            there = ", ".join(planned.network.addresses)
            raise InvalidInputError(f"--exec: there is no host {program.host!r}", f"there are {there}")
    files.mkdir(parents=True, exist_ok=True)
    duration_s = float("inf") if until_interrupted else seconds(scenario["duration"])
    with Laboratory(planned.network, scenario["name"], congestion_controls=congestion_controls) as laboratory:
        running = _Running(laboratory, files)
        lead_s = _LEAD_S + _LEAD_PER_HOST_S * len(planned.network.addresses)
        _start_forwarders(running, planned, socket)
        start_at_ns = time.monotonic_ns() + round(lead_s * 1e9)
        if with_traffic:
            _start_hosts(running, scenario, seed, replication, start_at_ns)
            warmup_ns = round(seconds(scenario["measure"]["warmup"]) * 1e9)
            _count_from(running, start_at_ns + warmup_ns)
        for program in programs:
            shell = laboratory.start(
                program.host, f"{program.command} in {program.host}", "program", "sh", "-c", program.command
            )
            running.programs.append((program, shell))
        if watching.ready is not None:
            watching.ready(laboratory)
        try:
            _wait(running, start_at_ns, duration_s, watching)
        except KeyboardInterrupt:
            if not until_interrupted:
                raise
        return _account(running, watching)


def seconds(text: str) -> float:
    """Return a time as a scenario writes it in seconds."""
    from perhop import _core

    found = _core.quantity(str(text))
    if found is None or found[1] != "s":
        raise InvalidInputError(f"{text!r} is no time", "write it with its unit, as in 60s")
    return found[0]


def _start_forwarders(running: _Running, planned: Plan, kind: Socket) -> None:
    laboratory = running.laboratory
    for index, (node, configuration) in enumerate(planned.forwarders.items()):
        socket = f"forwarder-{index}.sock"
        files = {
            "control": str(laboratory.folder / socket),
            "result": str(running.file("forwarder", index)),
        }
        text = laboratory.folder / f"forwarder-{index}.json"
        text.write_text(json.dumps(configuration | files | {"socket": kind}), encoding="utf-8")
        running.forwarders[node] = laboratory.start(node, f"the forwarder of {node}", "forward", str(text))
        laboratory.state.sockets[node] = socket
    until = time.monotonic() + _READY_WITHIN_S
    for node, child in running.forwarders.items():
        _until_it_answers(laboratory.folder / laboratory.state.sockets[node], child, until)
    laboratory.state.save()


def _until_it_answers(socket: Path, child: Child, until: float) -> None:
    while True:
        if child.code is not None:
            raise child.failure()
        try:
            control.ask(socket)
        except OSError as error:
            if time.monotonic() > until:
                raise PerhopError(f"{child.name} does not answer", child.said() or None) from error
            time.sleep(_LOOK_EVERY_S)
        else:
            return


def _count_from(running: _Running, nanoseconds: int) -> None:
    """Have all forwarders begin their counts at a reading of the monotonic clock."""
    for node, child in running.forwarders.items():
        try:
            control.count_from(
                running.laboratory.folder / running.laboratory.state.sockets[node], nanoseconds
            )
        except OSError as error:
            with suppress(subprocess.TimeoutExpired):
                child.process.wait(timeout=_DEATH_KNOWN_WITHIN_S)
            raise (
                PerhopError(f"{child.name}: {error}") if child.code is None else child.failure()
            ) from error


def _start_hosts(
    running: _Running, scenario: Scenario, seed: int, replication: int, start_at_ns: int
) -> None:
    laboratory = running.laboratory
    text = laboratory.folder / "scenario.json"
    text.write_text(scenario.to_json(), encoding="utf-8")
    ends = {traffic[end] for traffic in scenario["traffic"] for end in ("from", "to")}
    for index, host in enumerate(laboratory.network.addresses):
        if host in ends:
            running.hosts[host] = laboratory.start(
                host, f"the traffic of {host}", "host",
                str(text), str(scenario.base), host, str(seed), str(replication), str(start_at_ns),
                str(running.file("host", index)), *filter(None, [laboratory.congestion_controls.get(host)]),
            )  # fmt: skip


def _wait(running: _Running, start_at_ns: int, duration_s: float, watching: Watching) -> None:
    """Wait for the end of the run: the hosts' programs, or the duration where they do not run."""
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
                raise PerhopError(f"the traffic of {late} does not end")
        elif elapsed_s >= duration_s or _all_ended(running.programs):
            return
        time.sleep(_LOOK_EVERY_S)


def _all_ended(programs: Sequence[tuple[Program, Child]]) -> bool:
    return bool(programs) and all(child.code is not None for _, child in programs)


def _pass_on(running: _Running, watching: Watching) -> None:
    """Keep what programs have written, and pass whole lines on."""
    for program, child in running.programs:
        new = child.said()
        if not new:
            continue
        kept = running.said.get(child, "")
        running.said[child] = kept + new
        if watching.line is not None:
            unfinished = kept.rpartition("\n")[2]
            for line in (unfinished + new).split("\n")[:-1]:
                watching.line(program.host, line)


def _account(running: _Running, watching: Watching) -> Account:
    """End what still runs, programs first, and read what was written down."""
    laboratory = running.laboratory
    still = {child for _, child in running.programs if child.code is None}
    children.end(child for _, child in running.programs)
    _pass_on(running, watching)
    deaf = children.end(running.forwarders.values())
    for child in deaf:
        raise PerhopError(f"{child.name} did not end when it was asked to", child.said() or None)
    for child in running.forwarders.values():
        if child.code != 0:
            raise child.failure()
    written = {node: running.file("forwarder", index) for index, node in enumerate(running.forwarders)}
    hosts = {
        host: running.file("host", index)
        for index, host in enumerate(laboratory.network.addresses)
        if host in running.hosts
    }
    ended = [
        Ended(program, child.code or 0, child in still, running.said.get(child, ""))
        for program, child in running.programs
    ]
    counters = {node: json.loads(file.read_text(encoding="utf-8")) for node, file in written.items()}
    return Account(counters, written, hosts, ended, laboratory.refused)
