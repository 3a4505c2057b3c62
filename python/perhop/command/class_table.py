"""The tables of a run: packets, drops, rates and delays of each class, and TCP connections."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from perhop.command.columns import Column, fit, most_important, show
from perhop.command.lines import show_lines
from perhop.command.pause_lines import pause_lines
from perhop.configuration import platform_words
from perhop.quantity import NOTHING, column, interval, number, scale
from perhop.results import Results
from perhop.tables import APPLICATIONS, Application, described

_CAUSE = "dropped_"
_NOT_CAUSES = {"dropped_packets", "dropped_percent"}
#: The port and the queue of each class, by the class's name.
Queues = Mapping[str, tuple[str, str]]
# The replies of TCP, as results call them.
_BACK = " (back)"
# The first column to omit if the terminal is too narrow.
_FAIRNESS_SPARE = 2
_TCP = [
    ("goodput", "goodput_bps"),
    ("segments", "segments"),
    ("retransmitted", "retransmissions"),
    ("timeouts", "timeouts"),
]
_TRANSACTIONS = [
    ("transactions\n1/s", "transactions_per_s"),
    ("completion\nmean", "completion_mean_s"),
    ("completion\np50", "completion_p50_s"),
    ("completion\np95", "completion_p95_s"),
    ("completion\np99", "completion_p99_s"),
]
# The maximum number of queues in a table; longer tables are only in the JSON document.
_MOST_QUEUES = 40


def show_classes(results: Results, queues: Queues | None = None, *, wide: bool = False) -> None:
    """Print the results of each class, one row each.

    With `queues`, the queue of each class in the router under test, the configured rate is next to the
    obtained rate. Without it, the queues have a separate table. On a narrow terminal the table has the most
    important columns, or with `wide` all columns in several parts.
    """
    summary = results.summary
    _show_platforms(summary.get("platforms", {}), queues)
    classes = [row for row in summary["classes"] if not (queues and _is_quiet_reply(row))]
    names = _names(classes)
    columns = [*_packets(classes, summary, queues), *_rates_and_delays(classes, summary, queues)]
    if wide or fit([names, *columns]):
        show(described(summary), [names], columns)
    else:
        _show_short(classes, summary, queues)
    if not queues:
        _show_queues(summary.get("rates", []))
    _show_marks(summary["ports"])
    _show_pools(summary.get("pools", []))
    if summary["tcp"] and not queues:
        _show_tcp(summary["tcp"])
    for application in APPLICATIONS:
        _show_application(application, summary.get(application.key) or [])
    for line in pause_lines(summary):
        show_lines(line, {})


def _show_platforms(platforms: Mapping[str, Any], queues: Queues | None) -> None:
    """Print the platform of each router, unless the report of the inference has it."""
    if queues and sys.stdout.isatty() and sys.stderr.isatty():
        return
    for name, platform in platforms.items():
        words = platform_words(platform) or ""
        show_lines(f"{name}: {words}" if len(platforms) > 1 else words, {})


def _show_short(
    classes: Sequence[Mapping[str, Any]], summary: Mapping[str, Any], queues: Queues | None
) -> None:
    """Print the most important columns for a narrow terminal, without intervals that do not fit."""
    names, more = _names(classes), ["drops by cause"]
    columns = [*_packets_in_short(classes), *_rates_and_delays(classes, summary, queues)]
    if summary["replications"] > 1 and not fit([names, *columns]):
        means = [_without_intervals(row) for row in classes]
        columns = [*_packets_in_short(means), *_rates_and_delays(means, summary, queues)]
        more.append("intervals")
    shown = most_important([names], columns)
    show(described(summary), [names], shown)
    left_out = [column.name.split("\n") for column in columns if column not in shown]
    listed = ", ".join([*more, *(" ".join(lines[:2]) for lines in left_out)])
    show_lines(f"more with --wide: {listed}", {})


def _without_intervals(group: Mapping[str, Any]) -> dict[str, Any]:
    return {
        key: {**value, "ci95": None} if isinstance(value, Mapping) else value for key, value in group.items()
    }


def _rates_and_delays(
    classes: Sequence[Mapping[str, Any]], summary: Mapping[str, Any], queues: Queues | None
) -> Iterator[Column]:
    """Return the rates and delays of classes, and the fairness of their flows."""
    yield from _rates(classes, summary, queues)
    yield from _delays(classes)
    # Fairness of a single flow is always 1.
    if not queues and any(_mean(group["flows"]) > 1 for group in classes):
        yield replace(_column("fairness", "fairness", classes), spare=_FAIRNESS_SPARE)


def _is_quiet_reply(group: Mapping[str, Any]) -> bool:
    """Whether a class contains the replies of inferred traffic, and all of them arrived."""
    return str(group["class"]).endswith(_BACK) and not _mean(group["dropped_packets"])


def _packets(
    classes: Sequence[Mapping[str, Any]], summary: Mapping[str, Any], queues: Queues | None
) -> Iterator[Column]:
    """Return the fates of the packets: the offered packets are the sum of the other columns."""
    yield _column("offered", "offered_packets", classes)
    yield _column("delivered", "delivered_packets", classes)
    causes = [
        name
        for name in (classes[0] if classes else {})
        if name.startswith(_CAUSE) and name not in _NOT_CAUSES and any(_mean(row[name]) for row in classes)
    ]
    for cause in causes:
        yield _column(_stacked(cause.removeprefix(_CAUSE)), cause, classes)
    waiting = _waiting(classes, summary, queues)
    if waiting is None:
        yield _column("in the\nnetwork", "in_network_packets", classes)
    else:
        yield Column("still\nqueued", [number(count) for count in waiting], with_next=True)
        flying = [_mean(row["in_network_packets"]) - part for row, part in zip(classes, waiting, strict=True)]
        yield Column("in\nflight", [number(count) for count in flying])


def _packets_in_short(classes: Sequence[Mapping[str, Any]]) -> Iterator[Column]:
    """Return the fates of the packets in few columns. The first column is the sum of the others."""
    yield _column("offered", "offered_packets", classes)
    yield _column("delivered", "delivered_packets", classes)
    yield _column("dropped", "dropped_packets", classes)
    yield _column("in the\nnetwork", "in_network_packets", classes)


def _delays(classes: Sequence[Mapping[str, Any]]) -> Iterator[Column]:
    yield replace(_column("delay\nmean", "delay_mean_s", classes), spare=1)
    yield _column("delay\np99", "delay_p99_s", classes)


def _waiting(
    classes: Sequence[Mapping[str, Any]], summary: Mapping[str, Any], queues: Queues | None
) -> list[float] | None:
    """Return how many packets of each class are still queued; `None` if that is not known for all classes.

    The number is known for classes with their own queue in the router under test.
    """
    left = {(row["port"], row["queue"]): row["queued_packets"] for row in summary.get("rates", [])}
    places = [(queues or {}).get(str(row["class"])) for row in classes]
    found = [left.get(place) if place else None for place in places]
    if len(set(places)) < len(places) or None in found:
        return None
    # The queue may contain packets from the warm-up, which no class counts.
    inside = [_mean(row["in_network_packets"]) for row in classes]
    return [min(part or 0.0, whole) for part, whole in zip(found, inside, strict=True)]


def _rates(
    classes: Sequence[Mapping[str, Any]], summary: Mapping[str, Any], queues: Queues | None
) -> Iterator[Column]:
    if not queues:
        yield _column("throughput", "throughput_bps", classes)
        return
    figures = [_class_figures(str(row["class"]), summary, queues) for row in classes]
    yield from _configured_and_obtained(figures, [row["throughput_bps"] for row in classes])


def _class_figures(name: str, summary: Mapping[str, Any], queues: Queues) -> dict[str, Any] | None:
    """Return the rates that the router's policies set for the queue and policers of a class."""
    place = queues.get(name)
    # The rate of a queue that several classes share is not the rate of one class.
    own = place is not None and (list(queues.values()).count(place) == 1 or place[1].endswith(name))
    rows = {(row["port"], row["queue"]): row for row in summary.get("rates", [])}
    figures = rows.get(place) if place is not None and own else None
    limits = [row["limit_bps"] for row in summary.get("policers", []) if row["class"] == name]
    limits += [figures["limit_bps"]] if figures and figures["limit_bps"] is not None else []
    if not limits:
        return figures
    usual = figures or {"guaranteed_bps": None, "remaining": None, "priority": False}
    return {**usual, "limit_bps": min(limits)}


def _configured_and_obtained(
    rows: Sequence[Mapping[str, Any] | None], obtained: Sequence[Mapping[str, Any]]
) -> Iterator[Column]:
    """Return the configured and the obtained rates in one unit."""
    largest = max((_mean(rate) for rate in obtained), default=0.0)
    # Rates have the unit of the loads of classes.
    divisor, unit = (1e3, "kb/s") if largest < 1e8 else scale("b/s", largest)
    yield Column(f"configured\n{unit}", [configured(row, divisor) for row in rows], with_next=True)
    texts = [interval(rate["mean"], rate["ci95"], divisor) for rate in obtained]
    yield Column(f"obtained\n{unit}", texts)


def configured(row: Mapping[str, Any] | None, divisor: float) -> str:
    """Return the rate that a policy sets for a queue: at least, at most, of the excess, or priority."""
    if row is None:
        return NOTHING
    least, most = row["guaranteed_bps"], row["limit_bps"]
    words = [f"≥ {number(least / divisor)}"] if least is not None else []
    words += [f"≤ {number(most / divisor)}"] if most is not None else []
    words += [f"{row['remaining']} left"] if row.get("remaining") else []
    return " ".join(words) or ("priority" if row["priority"] else NOTHING)


def _show_queues(rows: Sequence[Mapping[str, Any]]) -> None:
    """Print the configured and the obtained rate of each queue."""
    if not 0 < len(rows) <= _MOST_QUEUES:
        return
    several = len({row["port"] for row in rows}) > 1
    keys = [Column("port", [row["port"] for row in rows], numeric=False)] if several else []
    keys.append(Column("queue", [row["queue"] for row in rows], numeric=False))
    title = "queues" if several else f"queues of {rows[0]['port']}"
    show(title, keys, list(_configured_and_obtained(rows, [row["obtained_bps"] for row in rows])))


def _show_marks(rows: Sequence[Mapping[str, Any]]) -> None:
    """Print how many packets each queue marked with CE, in place of drops or for L4S."""
    marking = [row for row in rows if _mean(row["marked_packets"])]
    if not 0 < len(marking) <= _MOST_QUEUES:
        return
    keys = [Column(key, [row[key] for row in marking], numeric=False) for key in ("port", "queue")]
    if any(row["precedence"] for row in marking):
        keys.append(Column("drop\nprecedence", [str(row["precedence"]) for row in marking]))
    # Marked packets may still wait in their queue.
    sent = [_mean(row["sent_packets"]) for row in marking]
    parts = [
        number(100 * _mean(row["marked_packets"]) / count) if count else NOTHING
        for row, count in zip(marking, sent, strict=True)
    ]
    show(
        "marked by ECN",
        keys,
        [
            _column("sent", "sent_packets", marking),
            _column("marked", "marked_packets", marking),
            Column("marked\n%", parts),
        ],
    )


def _show_pools(rows: Sequence[Mapping[str, Any]]) -> None:
    """Print the ports that used a shared memory when it had no room for a packet of a port."""
    if not 0 < len(rows) <= _MOST_QUEUES:
        return
    # Consecutive rows of one port show its name once.
    ports = [row["port"] for row in rows]
    shown = ["" if place and ports[place - 1] == port else port for place, port in enumerate(ports)]
    show(
        "ports with packets in the shared memory when it was full",
        [
            Column("for packets\nat", shown, numeric=False),
            Column("held by", [row["holder"] for row in rows], numeric=False),
        ],
        [
            _column("first\ndrop", "first_drop_s", rows),
            _column("held\nthen", "first_units", rows),
            _column("fullest\ndrop", "fullest_drop_s", rows),
            _column("held\nthen", "fullest_units", rows),
            _column("shared", "pool_units", rows),
        ],
    )


def _show_tcp(groups: list[dict[str, Any]]) -> None:
    timed = any(_mean(group["transactions"]) for group in groups)
    metrics = [*_TCP, *(_TRANSACTIONS if timed else [])]
    show("TCP", [_names(groups)], [_column(name, key, groups) for name, key in metrics])


def _show_application(application: Application, groups: list[dict[str, Any]]) -> None:
    if groups:
        keys = [Column(key, [str(group[key]) for group in groups], numeric=False) for key in application.keys]
        show(application.title, keys, [_column(name, key, groups) for name, key in application.figures])


def _names(groups: Sequence[Mapping[str, Any]]) -> Column:
    return Column("class", [group["class"] for group in groups], numeric=False)


def _column(name: str, key: str, groups: Sequence[Mapping[str, Any]]) -> Column:
    unit, texts = column([dict(group) for group in groups], key)
    return Column(f"{name}\n{unit}" if unit else name, texts)


def _mean(value: Mapping[str, Any]) -> float:
    return float(value["mean"] or 0.0)


def _stacked(cause: str) -> str:
    """Return a cause of drops in two lines, as a narrow heading."""
    return cause.replace("_", "\n", 1).replace("_", " ")
