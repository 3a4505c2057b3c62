"""A scenario inferred from a router configuration, presented.

The configuration defines the interfaces and the policies at them, but no hosts, links or traffic. The crate
`perhop-inference` infers these; this package reads the files that a user gives, and presents the result.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from perhop import _core
from perhop.configuration import (
    Detail,
    LoadLevel,
    examined_as,
    platform_words,
    refuse_unsupported,
    refused_option,
)
from perhop.core_types import RouterReport
from perhop.errors import InvalidInputError, ScenarioError
from perhop.inference.faults import explained
from perhop.inference.given import Given, read_traffic
from perhop.inference.made import made_for, require_rate

if TYPE_CHECKING:
    from perhop.schema_types import RouterConfiguration, ScenarioConfig


@dataclass(frozen=True)
class InferredScenario:
    """A scenario inferred from a router configuration."""

    #: The keys of a scenario file.
    data: ScenarioConfig
    #: The interfaces where packets leave and enter the router; `None` for an added interface.
    leaving: str | None
    entering: str | None
    #: The rate at which packets can leave, as text.
    rate: str
    #: The load in a sentence.
    load: str
    #: The offered load: the class, the rate, the kind of traffic.
    offered: list[tuple[str, str, str]]
    #: The assumptions, and the parts that could not be inferred, one line each.
    missing: list[str]
    #: The router's platform and the reason for it, if known.
    platform: str | None
    #: The port and the queue of the router where each class of traffic waits, as in results.
    queues: dict[str, tuple[str, str]] = field(default_factory=dict)
    #: Parts of the configuration on the path that the run does not apply.
    not_looked_at: list[str] = field(default_factory=list)

    @property
    def assumptions(self) -> list[str]:
        """The platform, the path of the traffic, and each assumption, one line each."""
        path = f"{self.entering or 'an added interface'} to {self.leaving or 'an added interface'}"
        found = [f"traffic goes from {path}, {self.rate}", self.load, *self.missing]
        return [self.platform, *found] if self.platform else found

    @property
    def summary(self) -> str:
        """A line for each part that the run does not apply, each assumption and each offered load."""
        path = f"{self.entering or 'an added interface'} to {self.leaving or 'an added interface'}"
        lines = [f"not run: {part}" for part in self.not_looked_at]
        lines += [f"inferred: traffic from {path}, {self.rate}:", *self.offers, self.load, *self.missing]
        return "\n".join([self.platform, *lines] if self.platform else lines)

    @property
    def offers(self) -> list[str]:
        """The offered load of each class, one line each."""
        wide = [max((len(row[place]) for row in self.offered), default=0) for place in (0, 1)]
        return [f"  {name:<{wide[0]}}  {rate:>{wide[1]}}  {kind}" for name, rate, kind in self.offered]


def infer(
    text: str,
    configuration: RouterConfiguration,
    base: Path,
    *,
    interface: str | None = None,
    whole_port: str | None = None,
    rate: str | None = None,
    policy: str | None = None,
    traffic: Path | None = None,
    load: LoadLevel | None = None,
    over: str | None = None,
) -> InferredScenario:
    """Infer a scenario from the router configuration `text`.

    Args:
        text: the configuration.
        configuration: the scenario's `configuration` of the router, which names the file or contains the
            text.
        base: the folder at which relative paths in the scenario start.
        interface: the interface where packets leave; by default the interface whose policy has most classes.
        whole_port: in place of `interface`, the interface whose tunnels and sub-interfaces run together.
        rate: the rate of the line if the configuration cannot state it, as in `tc`; otherwise the rate of an
            added interface for an unattached policy.
        policy: the unattached policy, if there are several.
        traffic: rates by class, flow records, an output of the device or a capture, in place of a guess.
        load: the load of each class relative to its guaranteed rate in a guess, by default `busy`.
        over: the time between two outputs of the device, or the counting time of a single output.

    Raises:
        ScenarioError: the router itself would refuse a feature of the interface.
        InvalidInputError: the interface does not exist, no interface is up, or the traffic cannot be read.

    """
    remarks: list[str] = []
    chosen = interface
    line = None
    report = _report(text, configuration) if rate is not None else None
    if report is not None:
        refuse_unsupported(report)
    if rate is not None and policy is None and report is not None and _has_assumed_line(report):
        require_rate(rate)
        line = rate
    elif rate is not None:
        made = made_for(text, configuration, rate, policy)
        configuration = {**configuration, "add": [*configuration.get("add", []), *made["commands"]]}
        chosen = interface or made["name"]
        remarks.append(f"perhop adds the interface {made['name']} for {made['policy']}")
    elif policy is not None:
        raise InvalidInputError(
            "--policy needs --rate", "give the rate of an interface for it: --rate 50Mb/s"
        )
    elif configuration.get("assume"):
        # An assumption about no class is refused.
        _report(text, configuration, "lines")
    if traffic is not None and load is not None:
        raise InvalidInputError(
            "--load and --traffic exclude each other",
            "leave out --load: the file of --traffic contains the rates of the classes",
        )
    if traffic is None and over is not None:
        raise InvalidInputError("--over needs --traffic", "give the output of the device: --traffic show.txt")
    given = None if traffic is None else read_traffic(traffic, base, over)
    request = {"interface": chosen, "whole-port": whole_port, "rate": line, "load": load or "busy"}
    found = _found(text, configuration, base, request, given)
    remarks += [*found["assumed"], *found["missing"]]
    if chosen is None and whole_port is None and found["queues"] <= 1:
        remarks += _unattached(text, configuration)
    offered = found["offered"]
    return InferredScenario(
        data=found["scenario"],
        leaving=found["leaving"],
        entering=found["entering"],
        rate=found["rate"],
        load=found["load"],
        offered=[(offer["class"], offer["rate"], offer["kind"]) for offer in offered],
        missing=remarks,
        platform=platform_words(found["platform"]),
        not_looked_at=found["not_looked_at"],
        queues={offer["class"]: (found["port"], offer["queue"]) for offer in offered if offer["queue"]},
    )


def require_way(text: str, configuration: RouterConfiguration) -> None:
    """Refuse a configuration with unreachable classes, as `infer` does.

    Raises:
        InvalidInputError: no interface is up, or no packet reaches a class.

    """
    try:
        _core.require_way(json.dumps({"text": text, "configuration": dict(configuration)}))
    except ValueError as error:
        raise refused_option(error) from error


def _found(
    text: str,
    configuration: RouterConfiguration,
    base: Path,
    choices: Mapping[str, str | None],
    given: Given | None,
) -> dict[str, Any]:
    """Return the answer of the extension module; raise its errors as errors of the package."""
    request = {
        "text": text,
        "configuration": dict(configuration),
        "base": str(base),
        **choices,
        "given": given.data if given else None,
    }
    try:
        answer = _core.infer_scenario(json.dumps(request), given.capture if given else None)
    except ScenarioError as error:
        report = _report(text, configuration, "lines")
        raise explained(error, report, set(getattr(error, "interfaces", ()))) from error
    except ValueError as error:
        row = error.args[2] if len(error.args) == 3 else None
        if row is None or given is None:
            raise refused_option(error) from error
        raise given.rows[row].wrong(*error.args[:2]) from error
    found: dict[str, Any] = json.loads(answer)
    return found


def _report(text: str, configuration: RouterConfiguration, detail: Detail = "policies") -> RouterReport:
    """Parse a configuration with additional commands."""
    whole = "\n".join([text.rstrip("\n"), *configuration.get("add", []), ""])
    return examined_as(whole, configuration, detail)


def _has_assumed_line(report: RouterReport) -> bool:
    """Whether a line has an assumed rate, because no line of the text sets it."""
    return any(port.get("assumed_rate") for port in report["router"]["ports"])


def _unattached(text: str, configuration: RouterConfiguration) -> list[str]:
    names = _core.unattached_policies(text, json.dumps(dict(configuration)))
    if not names:
        return []
    shown = ", ".join(f"`{name}`" for name in names)
    return [
        f"not attached to an interface: {shown};"
        f" --rate 50Mb/s --policy {names[0]} runs it on an interface that perhop adds"
    ]
