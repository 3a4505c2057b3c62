"""Outputs of the devices of a run, and the output of a real device next to them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from perhop import _core
from perhop.configuration import refused_option
from perhop.core_types import ConfiguredOutput, ShownDevice, ShowReading
from perhop.errors import InvalidInputError
from perhop.results import Results
from perhop.scenario import Scenario
from perhop.show.comparison import Comparison, Tolerances

# Columns of results that are not counters of a port.
_OTHERS = ("replication", "dropped_percent")


def sampled(scenario: Scenario, commands: Sequence[str]) -> Scenario:
    """Add one sample of every queue that `commands` show to a scenario that requests none.

    The other tables do not contain depths and averages of queues.

    Raises:
        InvalidInputError: no device of the scenario has such an output.

    """
    try:
        links = _core.shown_links(scenario.to_json(), str(scenario.base), list(commands))
    except ValueError as error:
        raise refused_option(error) from error
    probes = scenario["measure"].setdefault("queues", [])
    there = {(probe["from"], probe["to"]) for probe in probes}
    for node, neighbor in links:
        if (node, neighbor) not in there:
            probes.append({"from": node, "to": neighbor, "every": scenario["duration"]})
    return scenario


def shown(
    results: Results,
    command: str,
    interface: str | None = None,
    *,
    replication: int = 0,
    style: str | None = None,
    after_s: float | None = None,
) -> list[ShownDevice]:
    """Return the output of a command for the devices of a run.

    `interface` can be abbreviated; with `None`, the output has all interfaces. `after_s` is the duration of
    the traffic so far; with `None`, the traffic is long enough for all averages.

    Raises:
        InvalidInputError: no device has such an output at such an interface, or an option is invalid.

    """
    request = {"command": command, "interface": interface, "style": style, "after_s": after_s}
    tables = json.dumps(_tables(results, replication))
    try:
        text = _core.print_show(json.dumps(results.scenario), tables, json.dumps(request))
    except ValueError as error:
        raise refused_option(error) from error
    found: list[ShownDevice] = json.loads(text)
    return found


def configured(
    text: str, command: str, name: str | None = None, *, platform: str | None = None
) -> ConfiguredOutput:
    """Return the output of a command that shows an object of the configuration `text`, or all objects.

    Raises:
        InvalidInputError: devices of the configuration have no such output, or the configuration has no such
            object.

    """
    try:
        found: ConfiguredOutput = json.loads(_core.print_configured(text, command, name, platform))
    except ValueError as error:
        raise refused_option(error) from error
    return found


def compared(results: Results, output: str, tolerances: Tolerances) -> Comparison:
    """Return the comparison of a real device's output with a run; raises `InvalidInputError`."""
    devices = [device for command in read(output)["commands"] for device in shown(results, command)]
    # The output of the run is also parsed from text, so that both sides have the same rounding.
    return compared_outputs(
        output, "\n".join(text for device in devices for text in device["texts"]), tolerances
    )


def compared_outputs(router: str, run: str, tolerances: Tolerances) -> Comparison:
    """Return the comparison of the outputs of two devices."""
    found: Comparison = json.loads(_core.compare_shown(router, run, tolerances.percent, tolerances.points))
    return found


def read(output: str) -> ShowReading:
    """Return the policies in the output of a device.

    Raises:
        InvalidInputError: the text is not an output that perhop reads.

    """
    try:
        found: ShowReading = json.loads(_core.read_show(output))
    except ValueError as error:
        raise refused_option(error) from error
    return found


def _tables(results: Results, replication: int) -> dict[str, Any]:
    """Return the tables with counters of ports and the last samples, for one replication."""
    import polars as pl  # lazy: it takes long to load

    if not 0 <= replication < results.replications:
        raise InvalidInputError(
            f"there is no replication {replication}",
            f"the results have {results.replications} replications; the number of the first is 0",
        )
    found: dict[str, Any] = {}
    for name in ("ports", "conditioners", "queues"):
        if name in results.names:
            table = results.table(name).filter(pl.col("replication") == replication)
            if name == "queues":
                table = table.filter(pl.col("time_s") == pl.col("time_s").max().over("port", "queue"))
            # JSON has no number for an average without samples.
            table = table.drop(*_OTHERS, strict=False).with_columns(pl.selectors.float().fill_nan(None))
            found[name] = table.to_dicts()
    return found
