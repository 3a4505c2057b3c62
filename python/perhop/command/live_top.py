"""`perhop live top`."""

from __future__ import annotations

import sys
import time
from typing import Annotated, Any

from perhop.command.live_table import queue_table, rows
from perhop.command.options import Json
from perhop.command.parameter import Number, Parameter
from perhop.command.terminal import console, print_json
from perhop.errors import Exit, InvalidInputError, PerhopError
from perhop.live.control import read_counters
from perhop.live.state import State, running

Pid = Annotated[int | None, Parameter(name="--pid")]


def top(
    *,
    pid: Pid = None,
    every: Annotated[float, Parameter(validator=Number(gte=0.1, lte=3600))] = 1.0,
    json: Json = False,
) -> Exit:
    """Watch the queues of a running testbed: packets arrived, sent and dropped, rates and shares.

    Ends with the testbed or with Ctrl-C. With --json, or if standard output is not a terminal, it prints the
    counters once.

    Parameters
    ----------
    pid
        Process id of the testbed, if several run.
    every
        Interval in seconds. Default: 1.

    """
    state = find_testbed(pid)
    reports = _reports(state)
    if json:
        document = {
            "schema_version": 1,
            "pid": state.owner.pid,
            "scenario": state.scenario,
            "forwarders": list(reports.values()),
        }
        print_json(document)
        return Exit.OK
    title = f"{state.scenario} (process {state.owner.pid})"
    if not sys.stdout.isatty():
        console().print(queue_table(title, list(rows(reports))))
        return Exit.OK
    from rich.live import Live  # lazy: rich, which --json does not need

    then, before = time.monotonic(), list(rows(reports))
    with Live(queue_table(title, before), console=console(), auto_refresh=False) as shown:
        while state.owner.alive:
            time.sleep(every)
            try:
                reports = _reports(state)
            except PerhopError:
                break
            now, rows_now = time.monotonic(), list(rows(reports))
            shown.update(queue_table(title, rows_now, before, now - then), refresh=True)
            then, before = now, rows_now
    return Exit.OK


def find_testbed(pid: int | None) -> State:
    """Return the testbed of process `pid`, or the only one that runs."""
    states = running()
    chosen = [state for state in states if pid in (None, state.owner.pid)]
    if len(chosen) == 1:
        return chosen[0]
    there = ", ".join(f"{state.owner.pid} ({state.scenario})" for state in states)
    if not chosen:
        raise InvalidInputError(
            "no testbed of yours is running" if pid is None else f"process {pid} has no testbed",
            f"running: {there}" if there else "start one: perhop live run SCENARIO",
        )
    raise InvalidInputError("several testbeds are running", f"choose one with --pid: {there}")


def _reports(state: State) -> dict[str, dict[str, Any]]:

    try:
        return {node: read_counters(state.folder / socket) for node, socket in state.sockets.items()}
    except (OSError, ValueError) as error:
        raise PerhopError("the testbed has ended or is not ready yet") from error
