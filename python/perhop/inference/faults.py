"""Errors of a configuration that prevent a run, and how to run despite them."""

from __future__ import annotations

from perhop import _core
from perhop.core_types import RouterReport
from perhop.errors import ScenarioError


def explained(error: ScenarioError, report: RouterReport, interfaces: set[str]) -> ScenarioError:
    """Return the error of a scenario, with the remedy for undefined names on the path of the traffic."""
    classes = dict.fromkeys(
        diagnostic["assumable"]
        for diagnostic in report["diagnostics"]
        if diagnostic["severity"] == "error"
        if interfaces.intersection(diagnostic["interfaces"]) or "further_interfaces" in diagnostic
        if "assumable" in diagnostic
    )
    if not classes:
        return error
    options = " ".join(f"--assume '{name} = {_usual_match(name)}'" for name in classes)
    remedy = f"state what the class matches, for example {options}"
    extended = ScenarioError(f"{str(error).rstrip()}\n\nhelp: {remedy}")
    extended.colored = f"{error.colored.rstrip()}\n\nhelp: {remedy}"
    extended.diagnostics, extended.help = error.diagnostics, remedy
    return extended


def _usual_match(name: str) -> str:
    role = _core.named_role(name)
    return f"dscp {role[1]}" if role and role[1] != "default" else "dscp af21"
