"""`perhop run FOLDER`: the results of a network for each pair of sites and class."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from perhop import disk
from perhop.command.columns import Column, show_groups
from perhop.command.lines import show_lines
from perhop.command.network_trace import end_text
from perhop.errors import InvalidInputError
from perhop.manifest import json_text
from perhop.network import Network
from perhop.network.running import NetworkRun, pair_results
from perhop.printable import printable
from perhop.quantity import NOTHING, counted, number, scale
from perhop.results import Results
from perhop.scenario import RouterOptions
from perhop.tables import described
from perhop.verdicts import Telephony, document

# The results of pairs in a folder of results.
_PAIRS = "network.json"
# The options of a router that also apply to a network.
_OPTIONS = ("platform", "assume", "traffic", "load")
# The maximum number of rows in the text output. Of more rows, the output has those with the worst values. The
# JSON document contains all rows.
_MOST_ROWS = 60
# The maximum number of lines of one kind below the table.
_MOST_LINES = 12
# Longer names of interfaces are abbreviated in the table.
_LONGEST_INTERFACE = 10


def network_run(
    folder: Path, of_router: RouterOptions, routes: Path | None, changes: Mapping[str, object]
) -> NetworkRun:
    """Return the scenario of a folder of configurations; refuses options of one router."""
    for key, value in of_router.items():
        if value and key not in _OPTIONS:
            raise InvalidInputError(
                f"--{key.replace('_', '-')} does not apply to {folder}, a network of several devices",
                f"use {', '.join(f'--{option}' for option in _OPTIONS)}, "
                "or options that apply to every scenario",
            )
    traffic = of_router["traffic"]
    network = Network.read(folder, routes, platform=of_router["platform"], assume=of_router["assume"])
    return NetworkRun.from_network(
        network,
        traffic=None if traffic is None else Path(traffic),
        load=of_router.get("load"),
        changes=changes,
    )


def show_network(run: NetworkRun, results: Results, verdicts: Sequence[Mapping[str, Any]]) -> None:
    """Print the results of each pair and class, the omissions, and the assumptions."""
    rows = pair_results(run.pairs, results, verdicts)
    shown = rows if len(rows) <= _MOST_ROWS else _worst_first(rows)[:_MOST_ROWS]
    groups = [printable(f"{row['from']} > {row['to']}") for row in shown]
    keys = [Column("class", [printable(row["class"]) for row in shown], numeric=False)]
    show_groups(described(results.summary), groups, keys, list(_columns(shown)))
    if len(shown) < len(rows):
        show_lines(f"the {len(shown)} worst of {len(rows)} rows (pair and class); --json prints all rows", {})
    show_remarks(run)


def show_remarks(run: NetworkRun) -> None:
    """Print the load, the omissions, and the assumptions."""
    lines = [line for kind in _remarks(run) for line in _limited(kind)]
    show_lines("\n".join(map(printable, lines)), {})


def _worst_first(rows: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    return sorted(rows, key=lambda row: (-row["loss_percent"], -(row["delay_p99_s"] or 0.0)))


def _columns(rows: Sequence[Mapping[str, Any]]) -> Iterator[Column]:
    yield from _scaled(rows, {"offered": "offered_bps", "delivered": "delivered_bps"}, "b/s")
    yield Column("loss\n%", [number(row["loss_percent"], 3) for row in rows])
    yield from _scaled(rows, {"delay mean": "delay_mean_s", "delay p99": "delay_p99_s"}, "s")
    if any(row["mos"] for row in rows):
        yield Column("MOS", [number(row["mos"], 2) if row["mos"] else NOTHING for row in rows])
    yield Column("where", [printable(_place(row)) for row in rows], numeric=False, spare=1)


def _scaled(rows: Sequence[Mapping[str, Any]], keys: Mapping[str, str], unit: str) -> Iterator[Column]:
    """Generate columns in one unit, which fits the greatest value. A narrow table omits the first of them."""
    values = {name: [row[key] for row in rows] for name, key in keys.items()}
    greatest = max((value or 0.0 for column in values.values() for value in column), default=0.0)
    divisor, words = scale(unit, greatest)
    for place, (name, column) in enumerate(values.items()):
        cells = [NOTHING if value is None else number(value / divisor, 3) for value in column]
        yield Column(f"{name}\n{words}", cells, spare=0 if place else 2)


def _place(row: Mapping[str, Any]) -> str:
    """Return the hop where most packets are lost, otherwise the hop where they wait longest."""
    at = row["loss_at"] or row["delay_at"]
    if at is None:
        return NOTHING
    queue = (at["queue"] or "").rpartition("/")[2]
    return " ".join([at["device"], _short(at["interface"]), queue]).rstrip()


def _short(interface: str) -> str:
    """Return a long name of an interface as its first two letters and its number."""
    digit = next((place for place, letter in enumerate(interface) if letter.isdigit()), len(interface))
    is_long = len(interface) > _LONGEST_INTERFACE and digit > 2
    return interface[:2] + interface[digit:] if is_long else interface


def write_page(run: NetworkRun, results: Results, file: Path) -> None:
    """Write the page of a network's run."""
    from perhop.command.network_page import write_network_page  # lazy: pages

    rows = pair_results(run.pairs, results, _verdicts(results))
    write_network_page(run.network, rows, results, file, [line for kind in _remarks(run) for line in kind])


def write_pairs(run: NetworkRun, results: Results, folder: Path) -> None:
    """Write the results of pairs, and their inputs, into a folder of results."""
    disk.write(folder / _PAIRS, json_text(run.document(results, _verdicts(results))))


def _verdicts(results: Results) -> list[dict[str, Any]]:
    return [document(verdict) for verdict in results.judged(Telephony.from_options())]


def _remarks(run: NetworkRun) -> list[list[str]]:
    """Return the load, and the remarks of each kind."""
    return [
        [run.load],
        [f"left out: {left_out_text(omission)}" for omission in run.left_out],
        [f"no traffic: {name}" for name in run.missing],
        [f"assumed: {assumption}" for assumption in run.assumed],
        [f"not modeled: {part}" for part in run.not_modeled],
    ]


def _limited(lines: Sequence[str]) -> Iterator[str]:
    yield from lines[:_MOST_LINES]
    if len(lines) > _MOST_LINES:
        kind = lines[0].partition(":")[0]
        yield f"{kind}: {counted(len(lines) - _MOST_LINES, 'more line')} with --json"


def left_out_text(omitted: Mapping[str, Any]) -> str:
    """Return the traffic that is not run, and the reason."""
    name = f"{omitted['from']} > {omitted['to']}" + (f": {omitted['class']}" if omitted["class"] else "")
    why = end_text(omitted) if "end" in omitted else omitted["because"]
    return f"{name}: {'its replies: ' if omitted['is_reply'] else ''}{why}"
