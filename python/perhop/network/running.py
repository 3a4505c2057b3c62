"""A network as one scenario, and its results for each pair of sites and class, with the deciding hop."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from perhop.configuration import LoadLevel
from perhop.errors import InvalidInputError
from perhop.inference.table import Row
from perhop.network import Network
from perhop.network.matrix import read_matrix
from perhop.results import Results
from perhop.scenario import Scenario, with_shorter_warmup

# The name for drops before a port's queues: by policers, and of packets without a class.
_BEFORE_QUEUES = "(none)"


@dataclass(frozen=True)
class NetworkRun:
    """A network as a scenario, with traffic between its sites."""

    network: Network
    scenario: Scenario
    #: The load in a sentence.
    load: str
    #: The traffic of each pair of sites and class: `name`, `from`, `to`, `class`, `packet`, `rate`, `kind`,
    #: and `ways`, which list the hops (`device`, `interface`, and in results `port` and `queue`).
    pairs: list[dict[str, Any]]
    #: Traffic that is not run, with the reason.
    left_out: list[dict[str, Any]]
    #: Classes and ports without traffic.
    missing: list[str]
    assumed: list[str]
    #: Parts of the network that may change the results and are not in the run.
    not_modeled: list[str]
    #: The traffic of each pair as a demand, for another network.
    demands: list[dict[str, Any]]

    @classmethod
    def from_network(
        cls,
        network: Network,
        *,
        traffic: Path | None = None,
        load: LoadLevel | None = None,
        changes: Mapping[str, object] | None = None,
    ) -> NetworkRun:
        """Make a scenario of a network.

        Args:
            network: the network.
            traffic: a matrix of traffic between sites as CSV, in place of a guess.
            load: the load of each access link in a guess, by default `busy`.
            changes: values of the scenario to replace, by their path.

        Raises:
            InvalidInputError: the matrix is wrong, or no traffic can run.
            ScenarioError: a device itself would refuse a feature that the run needs.

        """
        if traffic is not None and load is not None:
            raise InvalidInputError(
                "--load and --traffic exclude each other",
                "leave out --load: the file of --traffic contains the rates",
            )
        demands, rows = (None, []) if traffic is None else read_matrix(traffic)
        return cls._asked(network, {"load": load or "busy", "demands": demands}, rows, changes or {})

    @classmethod
    def from_demands(
        cls,
        network: Network,
        demands: Sequence[Mapping[str, Any]],
        changes: Mapping[str, object] | None = None,
    ) -> NetworkRun:
        """Make a scenario of a network with the traffic of another run (`demands`).

        Raises:
            InvalidInputError: the network lacks a site, or no traffic can run.
            ScenarioError: a device itself would refuse a feature that the run needs.

        """
        return cls._asked(network, {"demands": list(demands)}, [], changes or {})

    @classmethod
    def _asked(
        cls,
        network: Network,
        request: Mapping[str, Any],
        rows: Sequence[Row],
        changes: Mapping[str, object],
    ) -> NetworkRun:
        named = {"name": network.folder.resolve().name, **request}
        try:
            found = json.loads(network.core.scenario(json.dumps(named)))
        except ValueError as error:
            message, help, row = (*error.args, None, None)[:3]
            if row is not None and rows:
                raise rows[row].wrong(str(message), str(help)) from error
            raise InvalidInputError(f"{network.folder}: {message}", help) from error
        demands = [pair.pop("demand") for pair in found["pairs"]]
        scenario = Scenario(found["scenario"], network.folder).check()
        return cls(
            network=network,
            scenario=scenario.changed(with_shorter_warmup(scenario, changes)),
            load=found["load"],
            pairs=found["pairs"],
            left_out=found["left_out"],
            missing=found["missing"],
            assumed=found["assumed"],
            not_modeled=found["not_modeled"],
            demands=demands,
        )

    @property
    def ports(self) -> set[str]:
        """The used ports of devices, in results."""
        return {stop["port"] for pair in self.pairs for stop in stops_of(pair)}

    def document(self, results: Results, verdicts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        """Return the keys that a network adds to the summary of its run."""
        return {
            "pairs": pair_results(self.pairs, results, verdicts),
            "left_out": self.left_out,
            "load": self.load,
            "missing": self.missing,
            "assumed": self.assumed,
            "not_modeled": self.not_modeled,
        }


def pair_results(
    pairs: Sequence[Mapping[str, Any]], results: Results, verdicts: Sequence[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """Return the results of each pair of sites and class, with the hops of highest loss and longest delay."""
    summary = results.summary
    classes = {row["class"]: row for row in summary["classes"]}
    judged = {verdict["class"]: verdict for verdict in verdicts}
    figures = queue_figures(results)
    drops, waits = _by_queue(figures, "lost_percent"), _by_queue(figures, "wait_s")
    measured = summary["duration_s"] - summary["warmup_s"]
    found = []
    for pair in pairs:
        own, verdict = classes[pair["name"]], judged.get(pair["name"], {})
        lost = _mean(own["dropped_percent"])
        found.append(
            {
                **pair,
                "offered_bps": 8 * _mean(own["offered_bytes"]) / measured,
                "delivered_bps": _mean(own["throughput_bps"]),
                "loss_percent": lost,
                "delay_mean_s": own["delay_mean_s"]["mean"],
                "delay_p99_s": own["delay_p99_s"]["mean"],
                "mos": verdict["mos"]["mean"] if verdict.get("role") == "voice" else None,
                "verdict": verdict.get("verdict"),
                "loss_at": _worst(pair, drops) if lost else None,
                "delay_at": _worst(pair, waits),
            }
        )
    return found


def queue_figures(results: Results) -> list[dict[str, Any]]:
    """Return for each queue of a run its arrivals, departures, drops and mean wait.

    `wait_s` is `None` for queues that are not sampled. A queue called `(none)` counts the packets that the
    port drops before its queues.
    """
    summary = results.summary
    measured = summary["duration_s"] - summary["warmup_s"]
    counts: dict[tuple[str, str], list[float]] = defaultdict(lambda: [0.0, 0.0, 0.0])
    for row in summary["ports"]:
        # Each drop precedence of a queue has a row.
        count = counts[row["port"], row["queue"]]
        for place, key in enumerate(("arrived_packets", "dropped_packets", "sent_bytes")):
            count[place] += _mean(row[key])
    backlogs = _backlogs(results)
    found = []
    for (port, queue), (arrived, dropped, sent) in counts.items():
        rate, backlog = sent / measured, backlogs.get((port, queue))
        found.append(
            {
                "port": port,
                "queue": queue,
                "arrived": arrived,
                "sent_bps": 8 * rate,
                "lost_percent": 100 * dropped / arrived if arrived else 0.0,
                # Little's law (1961): the mean wait is the mean backlog divided by the rate.
                "wait_s": backlog / rate if backlog is not None and rate else None,
            }
        )
    return found


def _backlogs(results: Results) -> dict[tuple[str, str], float]:
    """Return the mean bytes in each sampled queue."""
    samples: dict[tuple[str, str], dict[tuple[int, float], float]] = defaultdict(dict)
    table = results.queues
    columns = ("replication", "time_s", "port", "queue", "bytes")
    for replication, time, port, queue, backlog in zip(*(table[column] for column in columns), strict=True):
        samples[port, queue][replication, time] = backlog
    return {key: sum(values.values()) / len(values) for key, values in samples.items()}


def _by_queue(figures: Sequence[Mapping[str, Any]], key: str) -> dict[tuple[str, str | None], float]:
    """Return a figure by port and queue; the greatest figure if the port's queue has no name."""
    found: dict[tuple[str, str | None], float] = {}
    for figure in figures:
        value = figure[key] or 0.0
        found[figure["port"], figure["queue"]] = value
        found[figure["port"], None] = max(value, found.get((figure["port"], None), 0.0))
    return found


def _worst(pair: Mapping[str, Any], values: Mapping[tuple[str, str | None], float]) -> dict[str, Any] | None:
    """Return the hop with the greatest value on the paths of a pair; `None` without a value."""
    found = [(_value(stop, values), stop) for stop in stops_of(pair)]
    value, stop = max(found, key=lambda candidate: candidate[0], default=(0.0, None))
    return {**stop, "value": value} if stop is not None and value > 0 else None


def _value(stop: Mapping[str, Any], values: Mapping[tuple[str, str | None], float]) -> float:
    own = values.get((stop["port"], stop["queue"]), 0.0)
    return own or values.get((stop["port"], _BEFORE_QUEUES), 0.0)


def stops_of(pair: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Generate the hops on all paths of a pair."""
    for way in pair["ways"]:
        yield from way


def _mean(value: Mapping[str, Any]) -> float:
    return float(value["mean"] or 0.0)
