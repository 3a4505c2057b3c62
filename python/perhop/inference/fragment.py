"""Policies without an interface: class-maps and policy-maps alone, which an interface is made for."""

from __future__ import annotations

from difflib import get_close_matches

from perhop.core_types import RouterReport
from perhop.errors import InvalidInputError
from perhop.inference.selection import has_input_policy, has_output_policy
from perhop.quantity import bits_per_second, quantity
from perhop.references import Name, References

#: The interface made for a policy: a serial line has the rate that its `bandwidth` says.
MADE = "Serial99/0"


def made_for(report: RouterReport, rate: str, policy: str | None) -> list[str]:
    """Return the commands for an interface of `rate` that carries the outermost policy, or `policy`.

    Raises:
        InvalidInputError: the rate is none, or which policy is meant is not clear.

    """
    if quantity(rate) is None or (quantity(rate) or (0, ""))[1] != "b/s":
        raise InvalidInputError(f"--rate: `{rate}` is not a rate", "for example --rate 50Mb/s")
    ports = [port for port in report["router"]["ports"] if not port["shutdown"]]
    attached = [port["name"] for port in ports if has_output_policy(port) or has_input_policy(port)]
    if attached and policy is None:
        raise InvalidInputError(
            f"--rate makes an interface for a policy, and the configuration has one at {attached[0]}",
            "choose with --interface, or name the policy with --policy",
        )
    name = chosen_policy(report, policy)
    kilobits = max(round(bits_per_second(rate) / 1000), 1)
    return [f"interface {MADE}", f"bandwidth {kilobits}", f"service-policy output {name}"]


def chosen_policy(report: RouterReport, policy: str | None) -> str:
    """Return the policy that is meant: `policy`, or the one that no other uses."""
    references = References(report["lines"])
    names = references.names("policy-map")
    if policy is not None:
        if policy in names:
            return policy
        near = get_close_matches(policy, names, n=3)
        said = ", ".join(near or names) or "none"
        raise InvalidInputError(
            f"the configuration has no policy-map `{policy}`",
            f"did you mean {' or '.join(f'`{one}`' for one in near)}?" if near else f"policy-maps: {said}",
        )
    used = {one for name in names for one in references.uses(Name("policy-map", name))}
    outermost = [name for name in names if Name("policy-map", name) not in used]
    if len(outermost) == 1:
        return outermost[0]
    if not names:
        raise InvalidInputError("the configuration has no policy-map", "--rate makes an interface for one")
    raise InvalidInputError(
        f"the configuration has {len(outermost)} policies that no other uses",
        f"choose one with --policy: {', '.join(outermost or names)}",
    )


def unattached(report: RouterReport) -> list[str]:
    """Return the policies that are attached nowhere, not even by way of others."""
    references = References(report["lines"])
    places = {
        user for name in references.names("interface") for user in references.uses(Name("interface", name))
    }
    return [
        name
        for name in references.names("policy-map")
        if not places & references.users(Name("policy-map", name))
    ]
