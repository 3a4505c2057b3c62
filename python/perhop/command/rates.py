"""`perhop rates`."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import fill
from typing import Annotated

from perhop.command.columns import Column, show
from perhop.command.lines import limited
from perhop.command.options import Assume, Interface, Json, Platform, ScenarioFile, assumptions
from perhop.command.parameter import Parameter
from perhop.command.terminal import print_json, show_left_out
from perhop.configuration import router_text
from perhop.errors import Exit
from perhop.port_rates import PortRates, port_rates
from perhop.printable import printable
from perhop.quantity import NOTHING, number, rate_words, scale
from perhop.rates import QueueRates
from perhop.scenario import RouterOptions

#: Columns of the sentences below a table.
WIDTH = 80


def rates(
    file: ScenarioFile,
    /,
    *,
    interface: Annotated[
        Interface, Parameter(help="Show only this port: an interface, or in a scenario NODE->NEIGHBOR.")
    ] = None,
    rate: str | None = None,
    policy: str | None = None,
    platform: Platform = None,
    assume: Assume = None,
    json: Annotated[
        Json, Parameter(help="Print one JSON document instead of text; rates are in bits per second.")
    ] = False,
) -> Exit:
    """Show the guaranteed rate, the maximum rate and the share of spare bandwidth of each class.

    Nothing is simulated.

    Parameters
    ----------
    file
        A scenario, a file of policies, a router configuration, or commands or output of Linux tc; - reads
        standard input.
    rate
        The line rate, for example 50Mb/s, instead of the rate in the file. For a policy that is not attached
        to an interface: the rate of the interface that perhop adds for it.
    policy
        The policy to show, if the file has policies without an interface.

    """
    of_router: RouterOptions = {
        "interface": interface,
        "platform": platform,
        "assume": assumptions(assume),
        "rate": rate,
        "policy": policy,
        "traffic": None,
    }
    found = port_rates(
        file, interface=interface, rate=rate, policy=policy, platform=platform, assume=of_router["assume"]
    )
    refused = show_left_out(file, of_router) if router_text(file) is not None else 0
    if json:
        print_json({"schema_version": 1, "ports": [port.to_dict() for port in found]})
    elif not found:
        print("no port is shown: see the errors" if refused else "no port has queues")
    else:
        for port in found:
            _show(port)
        ignored = dict.fromkeys(line for port in found for line in port.not_looked_at)
        for text in limited("not looked at", list(ignored)):
            print(printable(text))
    return Exit.INVALID_INPUT if refused and not found else Exit.OK


def _show(port: PortRates) -> None:
    queues = port.queues
    line = "" if port.line_bps is None else f" {rate_words(port.line_bps)},"
    divisor, unit = scale("b/s", max((_rate_for_unit(queue) for queue in queues), default=0.0))

    def column(name: str, values: Sequence[float | None]) -> Column:
        return Column(
            f"{name}\n{unit}", [NOTHING if value is None else number(value / divisor) for value in values]
        )

    names = [queue["queue"] + (" (priority)" if queue["priority"] else "") for queue in queues]
    rest = [NOTHING if queue["excess"] is None else f"{100 * queue['excess']:.3g} %" for queue in queues]
    columns = [
        column("promised", [queue["promised_bps"] for queue in queues]),
        column("all busy", [queue["while_busy_bps"] for queue in queues]),
        column("at most", [queue["maximum_bps"] for queue in queues]),
        Column("of the\nrest", rest),
    ]
    show(
        printable(f"{port.port}: line{line} {port.line}"),
        [Column("queue", list(map(printable, names)), numeric=False)],
        columns,
    )
    for text in port.assumed:
        print(fill(printable(text), WIDTH))
    print()


def _rate_for_unit(queue: QueueRates) -> float:
    """Return the rate by which the unit of a table is chosen."""
    return max(queue["promised_bps"] or 0.0, queue["while_busy_bps"] or queue["maximum_bps"] or 0.0)
