"""`perhop live`: run, up, exec, clean."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter
from cyclopts.validators import Number

from perhop.command.live_top import Pid, laboratory
from perhop.command.options import Json, Output, Overrides, Quiet, Replications, Seed, changes, on_hosts
from perhop.command.terminal import console, print_json, say_written, share_bar, show_warnings
from perhop.errors import Exit, InvalidInputError
from perhop.saving import check_target

if TYPE_CHECKING:
    from types import FrameType
    from typing import NoReturn

    from perhop.live.laboratory import Laboratory
    from perhop.live.running import Program, Watching
    from perhop.scenario import Scenario

Exec = Annotated[list[str] | None, Parameter(name="--exec", negative=())]
CongestionControl = Annotated[list[str] | None, Parameter(name="--congestion-control", negative=())]
Socket = Literal["af-packet", "af-xdp"]
Scale = Annotated[float, Parameter(validator=Number(gt=0, lte=1000))]


def run(
    scenario: Path,
    /,
    *,
    set_: Overrides = None,
    seed: Seed = None,
    replications: Replications = None,
    duration: str | None = None,
    time_scale: Scale = 1.0,
    exec_: Exec = None,
    traffic: Annotated[bool, Parameter(negative="--no-traffic")] = True,
    congestion_control: CongestionControl = None,
    socket: Socket = "af-packet",
    real_time: bool = False,
    output: Output = None,
    strict: bool = False,
    json: Json = False,
    quiet: Quiet = False,
) -> Exit:
    """Run a scenario on real packets, in network namespaces, and show what each class got.

    Takes as long as the scenario says. Root may do it, and others where the system gives them user
    namespaces.

    Parameters
    ----------
    scenario
        The scenario file; - is standard input.
    set_
        Replace a value of the scenario, as path=value; may be given several times.
    seed
        Of every random stream; what is sent is what the simulation with that seed sends.
    replications
        How often it is run with other random draws, one after the other; 1, whatever the scenario says.
    duration
        How long, with its unit, as in 10s; by default as the scenario says.
    time_scale
        Shorten the duration, the warm-up, the intervals of measurements and the times at which traffic
        starts and stops by this factor; all else keeps its pace.
    exec_
        Run a program in a host, as HOST=COMMAND, while the traffic runs; may be given several times. Hosts
        know each other by their names in the scenario.
    traffic
        Whether the scenario's traffic runs, or only the programs of --exec.
    congestion_control
        TCP's, as HOST=NAME or NAME for all hosts; `perhop doctor` says which there are.
    socket
        How forwarders receive and send frames: packet sockets, or the express data path, which is faster
        where the kernel has it.
    real_time
        Go ahead of all other programs of the machine, where the system allows it.
    output
        Folder for the results, as those of `perhop run`; it appears as a whole or not at all.
    strict
        End with exit code 4 if the measurement is not trustworthy.
    json
        Print the summary as one JSON document.
    quiet
        Show neither progress nor table.

    """
    from perhop.command.live_results import show
    from perhop.live import rights
    from perhop.live.measuring import measure
    from perhop.live.priority import in_real_time

    if output is not None:
        check_target(output)
    if not traffic and not exec_:
        raise InvalidInputError("--no-traffic without --exec: nothing would happen", "see `perhop live up`")
    loaded = _loaded(scenario, set_, duration, time_scale)
    # Before anything starts a thread: a process of several gets no user namespace.
    rights.obtain()
    with (
        _ended_by_the_terminal(),
        _watching(loaded["name"], json=json, quiet=quiet) as watching,
        in_real_time() if real_time else nullcontext(),
    ):
        measured = measure(
            loaded,
            seed=seed,
            replications=replications or 1,
            programs=_programs(exec_, loaded),
            with_traffic=traffic,
            congestion_controls=on_hosts("--congestion-control", congestion_control, loaded["hosts"]),
            socket=socket,
            watching=watching,
        )
    if output is not None:
        measured.save(output)
        if not quiet:
            say_written(output)
    show(measured, json=json, quiet=quiet)
    return Exit.CLAIMS_NOT_MET if strict and not measured.fidelity.trustworthy else Exit.OK


def up(
    scenario: Path,
    /,
    *,
    set_: Overrides = None,
    congestion_control: CongestionControl = None,
    quiet: Quiet = False,
) -> Exit:
    """Build a scenario's network on real packets, without its traffic, and keep it until Ctrl-C.

    `perhop live exec HOST COMMAND` runs programs in its hosts, `perhop live top` shows its queues.

    Parameters
    ----------
    scenario
        The scenario file; - is standard input.
    set_
        Replace a value of the scenario, as path=value; may be given several times.
    congestion_control
        TCP's, as HOST=NAME or NAME for all hosts; `perhop doctor` says which there are.
    quiet
        Show nothing.

    """
    from perhop.command.live_table import queue_table, rows
    from perhop.live.owner import PREFIX, Owner
    from perhop.live.running import Watching, play

    loaded = _loaded(scenario, set_, None, 1.0)

    def ready(laboratory: Laboratory) -> None:
        if not quiet:
            hosts = ", ".join(f"{host} ({address})" for host, address in laboratory.state.addresses.items())
            print(f"ready, until Ctrl-C; hosts: {hosts}", file=sys.stderr, flush=True)

    with _ended_by_the_terminal(), TemporaryDirectory(prefix=f"{PREFIX}{Owner.current().tag}-") as files:
        account = play(
            loaded.embedded(),
            files=Path(files),
            seed=loaded["seed"],
            with_traffic=False,
            until_interrupted=True,
            congestion_controls=on_hosts("--congestion-control", congestion_control, loaded["hosts"]),
            watching=Watching(ready=ready),
        )
    if not quiet:
        console().print(queue_table(loaded["name"], list(rows(account.forwarders))))
    return Exit.OK


def exec_in(
    host: str,
    command: Annotated[list[str] | None, Parameter(allow_leading_hyphen=True, negative=())] = None,
    /,
    *,
    pid: Pid = None,
) -> Exit:
    """Run a program in a host of a running laboratory; without one, a shell.

    Parameters
    ----------
    host
        The host, or a router: its interfaces carry no addresses, but captures can be taken there.
    command
        The program and its arguments; options of its own behind --.
    pid
        The process whose laboratory it is, where several run.

    """
    from perhop.errors import MissingCapabilityError
    from perhop.live import rights
    from perhop.live.laboratory import place_from_outside

    state = laboratory(pid)
    if host not in state.namespaces:
        raise InvalidInputError(f"there is no {host!r}", f"there are {', '.join(state.namespaces)}")
    inside = place_from_outside(state, host)
    if not inside.outer and rights.missing_capabilities():
        raise MissingCapabilityError("the laboratory is root's", "run it as root (sudo perhop live exec ...)")
    line = inside.command("program", *(command or [os.environ.get("SHELL", "/bin/sh")]))
    os.execv(line[0], line)


def clean(*, json: Json = False) -> Exit:
    """Remove what crashed laboratories left behind; those that run are not touched.

    Parameters
    ----------
    json
        Print one JSON document.

    """
    from dataclasses import asdict

    from perhop.errors import MissingCapabilityError
    from perhop.live.cleaning import clean

    cleaned = clean()
    if json:
        print_json({"schema_version": 1, **asdict(cleaned)})
    elif cleaned.anything:
        print(
            f"removed {len(cleaned.namespaces)} namespaces, {cleaned.processes} processes"
            f" and {len(cleaned.folders)} folders"
        )
    elif not cleaned.left:
        still = f"; running: {', '.join(map(str, cleaned.running))}" if cleaned.running else ""
        print(f"nothing to clean{still}")
    if cleaned.left:
        if json:
            return Exit.MISSING_CAPABILITY
        raise MissingCapabilityError(
            f"left for want of rights: {', '.join(cleaned.left)}", "run it as root (sudo perhop live clean)"
        )
    return Exit.OK


def _loaded(file: Path, set_: list[str] | None, duration: str | None, scale: float) -> Scenario:
    from perhop.live.planning import shortened
    from perhop.scenario import Scenario

    loaded = Scenario.load(file, changes(set_, duration))
    show_warnings(loaded.warnings)
    return loaded if scale == 1.0 else shortened(loaded, scale)


def _programs(given: list[str] | None, scenario: Scenario) -> list[Program]:
    from perhop.live.running import Program

    found = []
    for argument in given or []:
        host, equals, command = argument.partition("=")
        if not equals or not command.strip():
            raise InvalidInputError(
                f"--exec {argument}: no host and command to be seen",
                "write --exec HOST=COMMAND, as in --exec 'server=iperf3 -s'",
            )
        if host not in scenario["hosts"]:
            raise InvalidInputError(
                f"--exec: there is no host {host!r}", f"there are {', '.join(scenario['hosts'])}"
            )
        found.append(Program(host, command))
    return found


@contextmanager
def _watching(title: str, *, json: bool, quiet: bool) -> Iterator[Watching]:
    """Show how far a run is, and what programs say as they say it."""
    from perhop.live.running import Watching

    def line(host: str, text: str) -> None:
        print(f"{host} | {text}", file=sys.stderr if json else sys.stdout, flush=True)

    with share_bar(title, quiet=quiet) as progress:
        yield Watching(progress=progress, line=None if quiet else line)


@contextmanager
def _ended_by_the_terminal() -> Iterator[None]:
    """Let a terminal that goes away end a run as SIGTERM does: cleanly."""

    def gone(number: int, frame: FrameType | None) -> NoReturn:
        raise SystemExit(Exit.TERMINATED)

    before: Any = signal.signal(signal.SIGHUP, gone)
    try:
        yield
    finally:
        signal.signal(signal.SIGHUP, before)
