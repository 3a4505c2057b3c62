"""The rates of the classes of a file: a scenario, policies, a router's configuration or commands of tc."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from perhop import _core
from perhop.configuration import (
    STANDARD_INPUT,
    checked,
    configured,
    meant,
    policy_errors,
    router_text,
)
from perhop.core_types import ResolvedPolicy, RouterPort, RouterReport
from perhop.errors import InvalidInputError
from perhop.inference.made import made_for, require_rate
from perhop.ports import ports
from perhop.quantity import bits_per_second, rate_words
from perhop.rates import QueueRates, class_rates
from perhop.scenario import Scenario

if TYPE_CHECKING:
    from perhop.schema_types import ClassConfig, PolicyConfig

#: The minimum weight of a class, as a fraction of the rate (`crates/perhop-device/src/lower/guarantees.rs`).
_LEAST = 1e-6
#: The rule about shapers that exceed the port which they share.
_COMMON_PORT = "shapers-above-port"


@dataclass(frozen=True)
class PortRates:
    """The rates of the queues of one port, or of one policy."""

    #: The name of the port in results, or the name of the interface or of the policy.
    port: str
    #: The rate of the port's line, bits per second; `None` if it is not known.
    line_bps: float | None
    #: The source of `line_bps`, as text.
    line: str
    #: Assumptions that limit the validity of the rates, one sentence each.
    assumed: list[str]
    queues: list[QueueRates]
    #: The configuration lines that perhop does not model and that these rates ignore.
    not_looked_at: list[str] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        """Return all values, as in the document of `--json`."""
        return dict(vars(self))


def port_rates(
    file: Path,
    *,
    interface: str | None = None,
    rate: str | None = None,
    policy: str | None = None,
    platform: str | None = None,
    assume: Mapping[str, str] | None = None,
) -> list[PortRates]:
    """Return the rates of every port of a file whose output policy has queues.

    Args:
        file: a scenario, a file of policies, or a configuration.
        interface: only this port.
        rate: the rate of the line, in place of the rate in the file; for a policy without an interface,
            the rate of the interface that perhop adds.
        policy: only this policy, for a file of policies or policies without an interface.
        platform: of a configuration: the platform whose rules apply.
        assume: of a configuration: match criteria of class-maps.

    Raises:
        InvalidInputError: there is no such port or policy, or the text of the rate is not a rate.
        ScenarioError: the file is not valid.

    """
    if rate is not None:
        require_rate(rate)
    text = router_text(file)
    if text is not None:
        found = _of_router(text, rate, policy, platform, assume)
    elif file != STANDARD_INPUT and (policies := _core.policies(file)) is not None:
        found = _of_policies(json.loads(policies), rate, policy)
    else:
        found = _of_scenario(Scenario.load(file), rate)
    if interface is None:
        return found
    chosen = meant(interface, (port.port for port in found))
    if not chosen:
        known = ", ".join(port.port for port in found) or "none"
        raise InvalidInputError(f"no port `{interface}` has queues", f"ports with queues: {known}")
    return [port for port in found if port.port in chosen]


def _of_scenario(scenario: Scenario, rate: str | None) -> list[PortRates]:
    found = []
    for port in ports(scenario):
        if port.policy and port.queueing:
            line = bits_per_second(rate or port.rate)
            found.append(_port(port.name, port.policy, line, "given" if rate else "the link's rate"))
    return found


def _of_policies(
    policies: Mapping[str, PolicyConfig], rate: str | None, policy: str | None
) -> list[PortRates]:
    if policy is not None and policy not in policies:
        raise InvalidInputError(f"there is no policy `{policy}`", f"policies: {', '.join(policies)}")
    line = None if rate is None else bits_per_second(rate)
    because = "not known; set it with --rate, for example --rate 10Mb/s" if rate is None else "given"
    chosen = policies if policy is None else {policy: policies[policy]}
    return [_port(name, config, line, because) for name, config in chosen.items() if config.get("queueing")]


def _of_router(
    text: str,
    rate: str | None,
    policy: str | None,
    platform: str | None,
    assume: Mapping[str, str] | None,
) -> list[PortRates]:
    report = checked(text, platform, assume)
    with_queues = [port for port in report["router"]["ports"] if _has_own_queues(port)]
    if policy is not None or (rate is not None and not with_queues):
        if rate is None:
            message = "--policy needs --rate"
            raise InvalidInputError(message, "give the rate of an interface for it: --rate 50Mb/s")
        made = made_for(text, configured({"text": text}, platform, assume), rate, policy)
        added = "\n".join(made["commands"])
        text = f"{text.rstrip()}\n{added}\n"
        report = checked(text, platform, assume)
        with_queues = [port for port in report["router"]["ports"] if port["name"] == made["name"]]
    refused = {name for error in policy_errors(report) for name in error["interfaces"]}
    device = _core.Device(text, platform, dict(assume or {}), [])
    return [
        replace(
            _of_interface(port, rate, report),
            not_looked_at=device.open_lines([port["interface"]]),
        )
        for port in with_queues
        if port["interface"] not in refused
    ]


def _has_own_queues(port: RouterPort) -> bool:
    """Whether the configuration defines the queues of a port; otherwise the device defines them."""
    queueing = port["output"].get("queueing")
    is_written = "policies" not in port or port["policies"]["output"] is not None
    # Ports with shaped round robin have queues with a level, but no policy.
    return queueing is not None and (is_written or any(map(_has_level, queueing["classes"])))


def _has_level(config: ClassConfig) -> bool:
    share, inner = config.get("share"), config.get("queueing")
    return bool(share and share.get("level") is not None) or any(
        map(_has_level, inner["classes"] if inner else [])
    )


def _of_interface(port: RouterPort, rate: str | None, report: RouterReport) -> PortRates:
    line, because = _line(port) if rate is None else (bits_per_second(rate), "given")
    found = _port(port["name"], port["output"], line, because)
    shared = [
        f"{diagnostic['message'][0].upper()}{diagnostic['message'][1:]}: then no rate is guaranteed."
        for diagnostic in report["diagnostics"]
        if diagnostic["rule"] == _COMMON_PORT and port["interface"] in diagnostic["interfaces"]
    ]
    found = replace(found, assumed=[*found.assumed, *shared])
    attached = port["policies"]["output"] if "policies" in port else None
    without = set(_without_share(attached))
    if not without:
        return found
    queues = [_with_leftovers(queue, line) if queue["queue"] in without else queue for queue in found.queues]
    names = ", ".join(queue["queue"].rpartition("/")[2] for queue in queues if queue["queue"] in without)
    remark = (
        f"No guaranteed rate, because the share is 0 percent: {names}. "
        "These queues send only at the rate that the other queues do not use."
    )
    return replace(found, queues=queues, assumed=[*found.assumed, remark])


def _with_leftovers(queue: QueueRates, line_bps: float | None) -> QueueRates:
    """Return the rates of a queue with 0 percent, without the minimum weight that schedulers use."""
    busy = queue["while_busy_bps"]
    is_least = busy is not None and line_bps is not None and busy <= 1.01 * _LEAST * line_bps
    return {**queue, "promised_bps": None, "while_busy_bps": 0.0 if is_least else busy, "excess": 0.0}


def _without_share(policy: ResolvedPolicy | None) -> Iterator[str]:
    """Yield the names of the queues whose classes are configured with 0 percent."""
    for config in policy["classes"] if policy else []:
        bandwidth, queue = config["bandwidth"], config["queue"]
        if bandwidth and bandwidth["value"] == 0 and queue:
            yield queue
        yield from _without_share(config["policy"])


def _line(port: RouterPort) -> tuple[float | None, str]:
    """Return the rate of an interface's line, if known, and its source."""
    if not port.get("has_known_line", True):
        return None, "not known, because the interface below the tunnel is unknown; set it with --rate"
    if wire := port["wire"]["rate"]:
        return bits_per_second(wire), "configured"
    if assumed := port.get("assumed_rate"):
        return bits_per_second(assumed), "assumed, because no line sets it; set it with --rate"
    if bandwidth := port["bandwidth"]:
        return bits_per_second(bandwidth), "assumed from the interface's bandwidth; set it with --rate"
    return None, "not known; set it with --rate"


def _port(name: str, policy: PolicyConfig, line_bps: float | None, because: str) -> PortRates:
    queues = class_rates(policy, line_bps)
    return PortRates(name, line_bps, because, list(_assumed(policy, line_bps, queues)), queues)


def _bytes_beyond_ip(policy: PolicyConfig) -> int:
    """Return the bytes beyond IP that rates count, which the port or outer classes set."""
    if own := policy.get("overhead"):
        return own
    layers = set()
    if queueing := policy.get("queueing"):
        for config in queueing.get("classes", []):
            share = config.get("share")
            link_layer = share.get("link-layer") if share else None
            layers.add(link_layer.get("overhead", 0) if link_layer else 0)
    return layers.pop() if len(layers) == 1 else 0


def _assumed(policy: PolicyConfig, line_bps: float | None, queues: list[QueueRates]) -> Iterator[str]:
    counted = _bytes_beyond_ip(policy)
    extra = f" and {counted} bytes more" if counted else ""
    yield f"Rates count the IP bytes of a packet{extra}; other headers of the line are extra."
    unlimited = [queue["queue"] for queue in queues if queue["priority"] and queue["limit_bps"] is None]
    if unlimited:
        names = ", ".join(unlimited)
        yield (
            f"Priority without a limit: {names}. "
            "The guaranteed rates of the other queues assume that these queues send nothing."
        )
    for policer in json.loads(_core.policers(json.dumps(policy))):
        if policer["scope"] != "class":
            what = (
                "all packets" if policer["scope"] == "all" else "packets that are not those of a single class"
            )
            name = f" ({policer['name']})" if policer["name"] else ""
            yield (
                f"Before the queues, a policer of {what}{name} drops packets above"
                f" {rate_words(policer['limit_bps'])}. The guaranteed rates apply to the other packets."
            )
    approximate = [queue["queue"] for queue in queues if queue["approximate"]]
    if approximate:
        yield (
            f"HTB: the rates of {', '.join(approximate)} add up to more than the available rate. Bursts"
            " shorten the turns of these queues, so these rates are approximate; `perhop run` measures them."
        )
