"""`perhop live`: run, up, exec, clean."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from perhop.command.live_results import show
from perhop.command.live_table import queue_table, rows
from perhop.command.live_top import Pid, find_testbed
from perhop.command.options import (
    Duration,
    Force,
    Json,
    Opened,
    Output,
    Overrides,
    Quiet,
    Replications,
    ScenarioFile,
    Seed,
    View,
    Watch,
    Wide,
    changes,
    on_hosts,
)
from perhop.command.parameter import Number, Parameter
from perhop.command.terminal import console, print_json, print_note, print_written, share_bar, show_warnings
from perhop.document import Document
from perhop.errors import Exit, InvalidInputError, MissingCapabilityError, PerhopError
from perhop.live import rights
from perhop.live.cleaning import clean as clean_up
from perhop.live.measuring import measure
from perhop.live.planning import shortened
from perhop.live.priority import in_real_time
from perhop.live.running import Program, Watching, play
from perhop.live.scratch import scratch
from perhop.live.testbed import LiveTestbed, place_from_outside
from perhop.quantity import counted
from perhop.saving import check_target
from perhop.scenario import Scenario

if TYPE_CHECKING:
    from perhop.command.live_view import PageView


Exec = Annotated[list[str] | None, Parameter(name="--exec", negative=())]
CongestionControl = Annotated[list[str] | None, Parameter(name="--congestion-control", negative=())]
Socket = Literal["af-packet", "af-xdp"]
Scale = Annotated[float, Parameter(validator=Number(gt=0, lte=1000))]


def run(
    scenario: ScenarioFile,
    /,
    *,
    set_: Overrides = None,
    seed: Annotated[
        Seed,
        Parameter(
            help="Seed of all random streams. Hosts send the same packets as in a simulation with this seed."
        ),
    ] = None,
    replications: Replications = None,
    duration: Duration = None,
    time_scale: Scale = 1.0,
    exec_: Exec = None,
    traffic: Annotated[bool, Parameter(negative="--no-traffic")] = True,
    congestion_control: CongestionControl = None,
    socket: Socket = "af-packet",
    real_time: bool = False,
    output: Output = None,
    force: Force = False,
    strict: bool = False,
    watch: Watch = None,
    open_: Opened = True,
    wide: Wide = False,
    json: Json = False,
    quiet: Quiet = False,
) -> Exit:
    """Run a scenario on real packets, in network namespaces, and show the results of each traffic class.

    The run takes the scenario's duration in real time. Required privileges: root, or unprivileged user
    namespaces.

    Parameters
    ----------
    scenario
        The scenario file; - reads standard input.
    replications
        Number of runs with different random draws, one after the other. Default: 1.
    time_scale
        Factor for the duration, the warm-up, the measurement intervals, and the start and stop times of
        traffic. Rates and delays do not change.
    exec_
        Run a program in a host during the traffic, as HOST=COMMAND. The host names of the scenario resolve to
        their addresses. May be given several times.
    traffic
        Run the traffic of the scenario; --no-traffic runs only the programs of --exec.
    congestion_control
        TCP congestion control, as HOST=NAME, or NAME for all hosts; `perhop doctor` lists the names.
    socket
        Sockets of the forwarders: af-packet (packet sockets), or af-xdp, which is faster if the kernel
        supports it.
    real_time
        Run with real-time priority, if the system allows it.
    output
        Folder for the results, in the format of `perhop run -o`. It is written completely or not at all.
    strict
        End with exit code 4 if the measurement is not trustworthy.
    watch
        Show the queues of the forwarders during the run, in the terminal; --watch=web shows them in the
        browser.
    open_
        With --watch=web: open the browser if there is a display; --no-open only prints the link.

    """
    if output is not None:
        check_target(output, "live", force=force)
    if not traffic and not exec_:
        raise InvalidInputError(
            "--no-traffic needs --exec", "to build the network only, use `perhop live up`"
        )
    loaded = _loaded(scenario, set_, duration, time_scale)
    with _page(loaded, opened=open_) if watch == "web" else nullcontext() as page:
        # The rights are obtained before any thread starts, because only a process with one thread can enter a
        # user namespace.
        rights.obtain()
        if page is not None:
            page.start()
        with (
            _watching(loaded["name"], watch, page, json=json, quiet=quiet) as watching,
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
        if page is not None:
            page.finish(measured.forwarders, "The run is over; its results are in the terminal.")
        if output is not None:
            measured.save(output, force=force)
            if not quiet:
                print_written(output)
        show(measured, wide=wide, json=json, quiet=quiet)
        if page is not None:
            sys.stdout.flush()
            page.stay()
    return Exit.NOT_MET if strict and not measured.fidelity.trustworthy else Exit.OK


def up(
    scenario: ScenarioFile,
    /,
    *,
    set_: Overrides = None,
    congestion_control: CongestionControl = None,
    quiet: Quiet = False,
) -> Exit:
    """Build a scenario's network, without its traffic, and keep it until Ctrl-C.

    `perhop live exec HOST COMMAND` runs programs in its hosts, `perhop live top` shows its queues.

    Parameters
    ----------
    scenario
        The scenario file; - reads standard input.
    congestion_control
        TCP congestion control, as HOST=NAME, or NAME for all hosts; `perhop doctor` lists the names.

    """
    loaded = _loaded(scenario, set_, None, 1.0)

    def ready(testbed: LiveTestbed) -> None:
        if not quiet:
            hosts = ", ".join(f"{host} ({address})" for host, address in testbed.state.addresses.items())
            print(f"ready, until Ctrl-C; hosts: {hosts}", file=sys.stderr, flush=True)

    with scratch() as files:
        account = play(
            loaded.embedded(),
            files=files,
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
    """Run a program, by default a shell, in a host of a running testbed.

    Parameters
    ----------
    host
        A host or a router. Routers have no addresses; capture their packets with tcpdump.
    command
        The program and its arguments; write -- before a program with options. Default: a shell.
    pid
        Process id of the testbed, if several run.

    """
    state = find_testbed(pid)
    if host not in state.namespaces:
        raise InvalidInputError(f"there is no node `{host}`", f"nodes: {', '.join(state.namespaces)}")
    inside = place_from_outside(state, host)
    if not inside.outer and rights.missing_capabilities():
        raise MissingCapabilityError("the testbed belongs to root", f"run it as root: {rights.as_root()}")
    line = inside.command("program", *(command or [os.environ.get("SHELL", "/bin/sh")]))
    os.execv(line[0], line)


def clean(*, json: Json = False) -> Exit:
    """Remove the remains of crashed testbeds; running ones are not touched."""
    cleaned = clean_up()
    if json:
        print_json({"schema_version": 1, **asdict(cleaned)})
    elif cleaned.anything:
        print(
            f"removed {counted(len(cleaned.namespaces), 'namespace')},"
            f" {counted(cleaned.processes, 'process', 'processes')}"
            f" and {counted(len(cleaned.folders), 'folder')}"
        )
    elif not cleaned.left and not cleaned.kept:
        still = f"; running: {', '.join(map(str, cleaned.running))}" if cleaned.running else ""
        print(f"nothing to clean{still}")
    if cleaned.kept:
        if json:
            return Exit.FAILED
        for folder, kept in cleaned.kept.items():
            print(f"{folder}: {kept}", file=sys.stderr)
        how = "switch them on with `ethtool -K DEVICE ...` in their namespace, then remove the folder"
        raise PerhopError(f"kept {counted(len(cleaned.kept), 'record')} of unrestored settings", how)
    if cleaned.left:
        if json:
            return Exit.MISSING_CAPABILITY
        raise MissingCapabilityError(
            f"not permitted to remove {', '.join(cleaned.left)}", f"run it as root: {rights.as_root()}"
        )
    return Exit.OK


def _loaded(file: Path, set_: list[str] | None, duration: str | None, scale: float) -> Document:

    loaded = Scenario.load(file, changes(set_, duration))
    show_warnings(loaded)
    return loaded if scale == 1.0 else shortened(loaded, scale)


def _programs(given: list[str] | None, scenario: Document) -> list[Program]:

    found = []
    for argument in given or []:
        host, equals, command = argument.partition("=")
        if not equals or not command.strip():
            raise InvalidInputError(
                f"--exec: expected HOST=COMMAND, got `{argument}`",
                "for example --exec 'server=iperf3 -s'",
            )
        if host not in scenario["hosts"]:
            raise InvalidInputError(
                f"--exec: there is no host `{host}`", f"hosts: {', '.join(scenario['hosts'])}"
            )
        found.append(Program(host, command))
    return found


def _page(scenario: Document, *, opened: bool) -> AbstractContextManager[PageView]:
    from perhop.command.live_view import page_view  # lazy: a server, which only --watch=web needs

    return page_view(scenario["name"], scenario, opened=opened)


@contextmanager
def _watching(
    title: str, watch: View | None, page: PageView | None, *, json: bool, quiet: bool
) -> Iterator[Watching]:
    """Show the progress of a run, the output of programs and, with `watch`, the queues."""

    def print_line(host: str, text: str) -> None:
        print(f"{host} | {text}", file=sys.stderr if json else sys.stdout, flush=True)

    line = None if quiet else print_line
    if page is not None:
        yield Watching(progress=page.progress, line=line, ready=page.ready)
    elif watch == "terminal" and not quiet and sys.stderr.isatty():
        from perhop.command.live_view import terminal_view  # lazy: rich, which --json does not need

        with terminal_view(title) as view:
            yield Watching(progress=view.progress, line=line, ready=view.ready)
    else:
        if watch == "terminal" and not quiet:
            print_note("--watch needs a terminal; continuing without it")
        with share_bar(title, quiet=quiet) as progress:
            yield Watching(progress=progress, line=line)
