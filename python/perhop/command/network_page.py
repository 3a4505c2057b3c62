"""The page of a network's run: a map, the queues of each link, the walk of each pair."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from perhop.command.network_trace import walk_lines
from perhop.draw.devices import Look, devices_picture
from perhop.network import Network, packet_between
from perhop.network.running import queue_figures, stops_of
from perhop.page import render
from perhop.printable import printable
from perhop.quantity import NOTHING, number, rate_words
from perhop.results import Results
from perhop.saving import replace_file
from perhop.tables import Cell, Column, Table, described

# The maximum loss of a yellow link, percent. A link with more loss is red.
_BAD = 1.0
_COLUMNS = ("offered", "delivered", "loss %", "delay mean, ms", "delay p99, ms", "MOS")
_QUEUE_COLUMNS = (
    Column("port"),
    Column("queue"),
    Column("arrived packets", numeric=True),
    Column("sent", numeric=True),
    Column("lost %", numeric=True),
    Column("mean wait, ms", numeric=True),
)


def write_network_page(
    network: Network, rows: Sequence[Mapping[str, Any]], results: Results, file: Path, remarks: Sequence[str]
) -> None:
    """Write the page, completely or not at all; `rows` are the results of pairs."""
    summary = network.summary()
    ports = _ports_of_links(summary, rows)
    figures = queue_figures(results)
    looks, links = {}, []
    for place, named in ports.items():
        table = _queues(named, figures)
        title = " - ".join(f"{end['device']}:{end['interface']}" for end in summary["links"][place]["ends"])
        lost = max((figure["lost_percent"] for figure in figures if figure["port"] in named), default=0.0)
        kind = "bad" if lost > _BAD else "doubtful" if lost > 0 else "good"
        words = f"{number(lost, 3)} % lost in its worst queue"
        looks[place] = Look(kind, words, f"link-{place}")
        links.append({"anchor": f"link-{place}", "title": printable(title), "table": table})
    page = render(
        "network.html",
        title=f"Network {results.summary['scenario']}",
        parts=[],
        load=remarks[0],
        described=described(results.summary),
        map=devices_picture(summary, looks),
        links=links,
        columns=_COLUMNS,
        pairs=[_pair(network, summary, place, row) for place, row in enumerate(rows)],
        remarks=[printable(remark) for remark in remarks[1:]],
    )
    replace_file(file, page)


def _ports_of_links(
    summary: Mapping[str, Any], rows: Sequence[Mapping[str, Any]]
) -> dict[int, dict[str, str]]:
    """Return the used ports of each link in results, each with its name in the network."""
    link_of = {
        (end["device"], end["interface"]): place
        for place, link in enumerate(summary["links"])
        for end in link["ends"]
    }
    found: dict[int, dict[str, str]] = defaultdict(dict)
    for row in rows:
        for stop in stops_of(row):
            place = link_of.get((stop["device"], stop["interface"]))
            if place is not None:
                found[place][stop["port"]] = f"{stop['device']}:{stop['interface']}"
    return dict(sorted(found.items()))


def _queues(named: Mapping[str, str], figures: Sequence[Mapping[str, Any]]) -> Table:
    def cells() -> Iterator[list[Cell]]:
        for figure in figures:
            if figure["port"] in named:
                wait = figure["wait_s"]
                yield [
                    Cell(printable(named[figure["port"]])),
                    Cell(printable(figure["queue"])),
                    Cell(number(figure["arrived"]), figure["arrived"]),
                    Cell(rate_words(figure["sent_bps"]), figure["sent_bps"]),
                    Cell(number(figure["lost_percent"], 3), figure["lost_percent"]),
                    Cell(NOTHING if wait is None else number(1e3 * wait, 3), wait),
                ]

    return Table("Queues", _QUEUE_COLUMNS, list(cells()))


def _pair(network: Network, summary: Mapping[str, Any], place: int, row: Mapping[str, Any]) -> dict[str, Any]:
    address = {site["name"]: site["address"] for site in summary["sites"]}
    walk = network.walk(packet_between(address[row["from"]], address[row["to"]], row["packet"]))
    at = row["loss_at"] or row["delay_at"]
    where = f"{at['device']}:{at['interface']} {at['queue'] or ''}".strip() if at else NOTHING
    delays = [
        NOTHING if row[key] is None else number(1e3 * row[key], 3) for key in ("delay_mean_s", "delay_p99_s")
    ]
    return {
        "anchor": f"pair-{place}",
        "name": printable(row["name"]),
        "tone": "bad" if row["loss_percent"] > _BAD else "",
        "cells": [
            rate_words(row["offered_bps"]),
            rate_words(row["delivered_bps"]),
            number(row["loss_percent"], 3),
            *delays,
            number(row["mos"], 2) if row["mos"] else NOTHING,
        ],
        "where": printable(where),
        "walk": "\n".join(printable(line) for line in walk_lines(walk, "there")),
    }
