"""The results of a live run on a terminal."""

from __future__ import annotations

from perhop.command.class_table import show_classes
from perhop.command.live_table import queue_table, rows
from perhop.command.terminal import console, print_json
from perhop.live.measuring import Measured
from perhop.live.running import Ended


def show(measured: Measured, *, wide: bool, json: bool, quiet: bool) -> None:
    """Print the results: classes as after `perhop run`, programs, and measurement fidelity."""
    if json:
        print_json(measured.summary())
        return
    if quiet:
        return
    if measured.results is not None:
        show_classes(measured.results, wide=wide)
    else:
        console().print(queue_table(measured.scenario, list(rows(measured.forwarders))))
    for ended in measured.programs:
        print(_ending(ended))
    print(measured.fidelity)


def _ending(ended: Ended) -> str:
    how = "was still running at the end" if ended.cut_short else f"exit code {ended.code}"
    return f"{ended.program.host}: {ended.program.command}: {how}"
