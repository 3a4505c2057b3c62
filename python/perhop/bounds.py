"""Bounds by network calculus: the guarantees of each queue and each class of a scenario.

The bounds apply to all traffic within its contract; docs/bounds.md has the formulas.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypedDict

from perhop import _core
from perhop.deprecation import former_name
from perhop.document import Document
from perhop.errors import InvalidInputError
from perhop.quantity import NOTHING, number, quantity, scale
from perhop.tables import Cell, Column, Table

if TYPE_CHECKING:
    import polars as pl

    from perhop.results import Results


class Bucket(TypedDict):
    """A token bucket: the burst in IP bytes and the rate in bits per second."""

    burst_bytes: float
    rate_bps: float


class Line(TypedDict):
    """A line of a service curve: a rate in bits per second after a latency in seconds."""

    rate_bps: float
    latency_s: float


class Step(TypedDict):
    """A step of a derivation: its rule, the formula and its source."""

    rule: str
    formula: str
    source: str


class QueueBound(TypedDict):
    """The bounds of one queue; `None` for missing bounds."""

    port: str
    queue: str
    #: The classes of traffic that arrive at the queue.
    classes: list[str]
    guaranteed_bps: float | None
    #: Arrival curves that bound the arrivals at the queue; empty without a bound.
    arrival: list[Bucket]
    #: The service curve, which is the maximum of these lines; empty without a guarantee.
    service: list[Line]
    #: The bound of the delay from arrival to the last bit on the wire.
    delay_s: float | None
    #: The bounds of the waiting IP bytes and packets.
    backlog_bytes: float | None
    backlog_packets: float | None
    #: The bound of its backlog, as text.
    limit: str | None
    #: Whether packets can find the queue full; `None` if the queue has no limit.
    overflows: bool | None
    #: The reason why the delay has no bound.
    reason: str | None
    rules: list[Step]


#: The end-to-end bounds of one class of traffic: `class` as in results, `delay_s`, `hops`, `pays_bursts_once`
#: (over several ports) and `reason` for a missing bound.
ClassBound = dict[str, Any]


class SeenQueue(TypedDict):
    """The maxima of one queue in a run."""

    port: str
    queue: str
    delay_max_s: float
    backlog_max_bytes: int
    backlog_max_packets: int


class Expedited(TypedDict):
    """The error terms of RFC 3246 of one queue at one rate, seconds."""

    port: str
    queue: str
    rate_bps: int
    packets: int
    #: The error term E_a of RFC 3246.
    aggregate_s: float
    #: The error term E_p of RFC 3246.
    packet_s: float


@dataclass(frozen=True)
class Seen:
    """The measured queues of one replication of a scenario."""

    queues: list[SeenQueue]
    expedited: list[Expedited]

    def queue(self, port: str, queue: str) -> SeenQueue | None:
        """Return the measurements of a queue; `None` if no packet arrived."""
        return next(
            (bounds for bounds in self.queues if (bounds["port"], bounds["queue"]) == (port, queue)), None
        )

    of = former_name("Seen.of", queue)


@dataclass(frozen=True)
class Bounds:
    """The bounds of a scenario."""

    queues: list[QueueBound]
    classes: list[ClassBound]

    def to_dict(self) -> dict[str, Any]:
        """Return the bounds as in the document of `--json`."""
        return {"queues": self.queues, "classes": self.classes}

    def frame(self) -> pl.DataFrame:
        """Return the bounds of queues as a polars frame, without the derivations.

        `burst_bytes` and `rate_bps` are the long-run token bucket of the arrivals.
        """
        import polars as pl  # lazy: importing polars takes longer than the bounds

        from perhop.frames import TableFrame  # lazy: polars

        rows = [_row(bound) for bound in self.queues]
        return TableFrame(rows, schema=_schema(pl), orient="row")

    def class_frame(self) -> pl.DataFrame:
        """Return the end-to-end bounds of classes as a polars frame."""
        import polars as pl  # lazy: imports of perhop load no polars

        from perhop.frames import TableFrame  # lazy: polars

        schema = {
            "class": pl.String,
            "delay_s": pl.Float64,
            "hops": pl.UInt32,
            "pays_bursts_once": pl.Boolean,
            "reason": pl.String,
        }
        return TableFrame(self.classes, schema=schema, orient="row")

    def of_class(self, name: str) -> Bounds:
        """Return the bounds of one class of traffic and of the queues in which its packets wait.

        Raises:
            InvalidInputError: the class does not exist.

        """
        if all(row["class"] != name for row in self.classes):
            known = ", ".join(str(row["class"]) for row in self.classes)
            raise InvalidInputError(f"there is no traffic class `{name}`", f"classes: {known}")
        queues = [bound for bound in self.queues if name in bound["classes"]]
        return Bounds(queues, [row for row in self.classes if row["class"] == name])

    def presented(self, ports: Iterable[str]) -> Bounds:
        """Return the bounds to show: all, or those at the `ports` of an inferred scenario's router.

        The hosts around an inferred router are assumed, and so are their queues of millions of packets.
        """
        wanted = set(ports)
        return self.at(wanted) if wanted else self

    def at(self, ports: Iterable[str]) -> Bounds:
        """Return the bounds of the queues of only some ports."""
        wanted = set(ports)
        return Bounds([bounds for bounds in self.queues if bounds["port"] in wanted], [])

    def delays_by_class(self) -> dict[str, float]:
        """Return the guaranteed maximum delay of each class with a bound, in seconds.

        It is the end-to-end delay or, if only ports of a router are shown, the sum over their queues.
        """
        if self.classes:
            return {str(row["class"]): row["delay_s"] for row in self.classes if row["delay_s"] is not None}
        delays: dict[str, float | None] = {}
        for queue in self.queues:
            for name in queue["classes"]:
                before, delay = delays.get(name, 0.0), queue["delay_s"]
                delays[name] = None if before is None or delay is None else before + delay
        return {name: delay for name, delay in delays.items() if delay is not None}

    def queue_table(self, seen: Seen | None = None) -> Table:
        """Return the bounds of queues as a table, with the maxima of `seen`."""
        found = [seen.queue(bound["port"], bound["queue"]) if seen else None for bound in self.queues]
        columns = [_texts("port", (bound["port"] for bound in self.queues))]
        columns.append(_texts("queue", (bound["queue"] for bound in self.queues)))
        rates = [bound["guaranteed_bps"] for bound in self.queues]
        columns.append(_numbers("guaranteed", "b/s", rates, _typical(rates)))
        columns += _bound_and_maximum(
            "delay", "s", [bound["delay_s"] for bound in self.queues], _delays(seen, found)
        )
        bytes_seen = [queue["backlog_max_bytes"] if queue else None for queue in found] if seen else None
        columns += _bound_and_maximum(
            "backlog", "B", [bound["backlog_bytes"] for bound in self.queues], bytes_seen
        )
        packets_seen = [queue["backlog_max_packets"] if queue else None for queue in found] if seen else None
        packets = [bound["backlog_packets"] for bound in self.queues]
        columns += _bound_and_maximum("backlog", "packets", packets, packets_seen)
        columns.append(_texts("limit", (_limit(bound) for bound in self.queues)))
        columns.append(
            _texts("by", (" ".join(step["rule"] for step in bound["rules"]) for bound in self.queues))
        )
        return _table("Bounds of queues", columns)

    def class_table(self, seen: Mapping[str, float] | None = None) -> Table:
        """Return the end-to-end bounds of classes as a table, with the longest delays of `seen`."""
        columns = [_texts("class", (str(row["class"]) for row in self.classes))]
        columns.append((Column("hops", numeric=True), [Cell(str(row["hops"])) for row in self.classes]))
        simulated = [seen.get(str(row["class"])) for row in self.classes] if seen is not None else None
        columns += _bound_and_maximum("delay", "s", [row["delay_s"] for row in self.classes], simulated)
        columns.append(_texts("", (_note(row) for row in self.classes)))
        return _table("Bounds from end to end", columns)


def bounds_of(scenario: Document | Mapping[str, Any]) -> Bounds:
    """Return the bounds of a scenario.

    Raises:
        ScenarioError: the scenario is not valid.

    """
    document = scenario if isinstance(scenario, Document) else Document(scenario)
    found = json.loads(_core.bounds(document.to_json(), document.base))
    return Bounds(found["queues"], found["classes"])


def seen_in(
    scenario: Document, *, seed: int | None = None, expedited: Iterable[tuple[str, str, int]] = ()
) -> Seen:
    """Simulate one replication; return the longest delays and queues, and the error terms of EF queues.

    Args:
        scenario: the scenario.
        seed: seed for all random streams; by default the scenario's own.
        expedited: EF queues, each as port, queue and configured rate in bits per second.

    Raises:
        ScenarioError: the scenario is not valid.
        ValueError: a queue does not exist.

    """
    number_of_seed = int(scenario["seed"]) if seed is None else seed
    found = json.loads(_core.waits(scenario.to_json(), scenario.base, number_of_seed, list(expedited)))
    return Seen(found["queues"], found["expedited"])


def expedited_queue(bounds: Bounds, given: str) -> tuple[str, str, int]:
    """Return port, queue and rate of `[PORT:]QUEUE=RATE`.

    Raises:
        InvalidInputError: the text has another form, the queue does not exist, or several ports have it.

    """
    name, _, rate = given.rpartition("=")
    parsed = quantity(rate)
    if not name or parsed is None or parsed[1] != "b/s" or parsed[0] < 1:
        raise InvalidInputError(
            f"--ef: expected [PORT:]QUEUE=RATE, got `{given}`", "for example --ef 'R1->R2:voice=300kb/s'"
        )
    port, _, queue = name.rpartition(":")
    # Names of queues may have colons themselves.
    there = [(bound["port"], bound["queue"]) for bound in bounds.queues]
    found = [
        place for place in there if name in (place[1], f"{place[0]}:{place[1]}") or (port, queue) == place
    ]
    if len(found) != 1:
        several = ", ".join(f"`{place[0]}:{place[1]}`" for place in (found or there))
        problem = "several queues are called" if found else "no packet arrives at a queue called"
        raise InvalidInputError(f"--ef: {problem} `{name}`", f"queues: {several}")
    return (*found[0], round(parsed[0]))


def longest_delays(results: Results) -> dict[str, float]:
    """Return the longest delay of each class over all replications, in seconds."""
    longest: dict[str, float] = {}
    for row in results.classes.select("class", "delay_max_s").drop_nans().iter_rows():
        longest[str(row[0])] = max(row[1], longest.get(str(row[0]), 0.0))
    return longest


def _row(bound: QueueBound) -> dict[str, object]:
    long_run: Mapping[str, object] = bound["arrival"][-1] if bound["arrival"] else {}
    return {
        **{key: value for key, value in bound.items() if key not in {"arrival", "service", "rules"}},
        "burst_bytes": long_run.get("burst_bytes"),
        "rate_bps": long_run.get("rate_bps"),
        "rules": [step["rule"] for step in bound["rules"]],
    }


def _schema(pl: Any) -> dict[str, Any]:  # noqa: ANN401 - the module polars, which is loaded late
    return {
        "port": pl.String,
        "queue": pl.String,
        "classes": pl.List(pl.String),
        "guaranteed_bps": pl.Float64,
        "burst_bytes": pl.Float64,
        "rate_bps": pl.Float64,
        "delay_s": pl.Float64,
        "backlog_bytes": pl.Float64,
        "backlog_packets": pl.Float64,
        "limit": pl.String,
        "overflows": pl.Boolean,
        "reason": pl.String,
        "rules": pl.List(pl.String),
    }


_Shown = tuple[Column, list[Cell]]


def _table(caption: str, columns: list[_Shown]) -> Table:
    heads, cells = [head for head, _ in columns], [cells for _, cells in columns]
    return Table(caption, heads, list(zip(*cells, strict=True)))


def _texts(name: str, values: Iterable[str]) -> _Shown:
    return Column(name), [Cell(value) for value in values]


def _numbers(name: str, unit: str, values: Sequence[float | None], typical: float) -> _Shown:
    divisor, shown = scale(unit, typical)
    texts = [NOTHING if value is None else number(value / divisor) for value in values]
    cells = [Cell(text, value) for text, value in zip(texts, values, strict=True)]
    return Column(f"{name} ({shown})", numeric=True), cells


def _bound_and_maximum(
    name: str, unit: str, values: list[float | None], seen: Sequence[float | None] | None
) -> list[_Shown]:
    """Return the bounds and, after a run, the maxima, in one unit."""
    typical = _typical(values)
    columns = [_numbers(f"{name} at most", unit, values, typical)]
    if seen is not None:
        columns.append(_numbers(f"{name} simulated", unit, seen, typical))
    return columns


def _typical(values: list[float | None]) -> float:
    """Return the median, so that the long queue of one host does not change the unit of all delays."""
    known = sorted(value for value in values if value is not None)
    return known[len(known) // 2] if known else 0.0


def _delays(seen: Seen | None, found: list[SeenQueue | None]) -> list[float | None] | None:
    return [queue["delay_max_s"] if queue else None for queue in found] if seen else None


def _limit(bound: QueueBound) -> str:
    words = bound["limit"] or "none"
    return f"{words}, may overflow" if bound["overflows"] else words


def _note(bound: Mapping[str, Any]) -> str:
    if bound["reason"]:
        return f"no bound: {bound['reason']}"
    return "bursts paid once" if bound["pays_bursts_once"] else ""
