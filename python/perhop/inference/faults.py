"""Errors of a configuration that refuse a run, and how to run in spite of them."""

from __future__ import annotations

import re

from perhop import _core
from perhop.core_types import RouterDiagnostic, RouterReport
from perhop.errors import ScenarioError

# Errors that say that a name has no definition; `--assume` can stand for both.
_UNDEFINED = re.compile(r"(?P<kind>class-map|access list) (?P<name>\S+) is not defined")
_CLASS_MAP = re.compile(r"class-map\s+(?:type\s+\S+\s+)?(?:match-(?:all|any)\s+)?(?P<name>\S+)")


def explained(error: ScenarioError, report: RouterReport, interfaces: set[str]) -> ScenarioError:
    """Return the error of a scenario, with the remedy for names that the interfaces of its path lack."""
    classes = dict.fromkeys(
        name
        for one in report["diagnostics"]
        if one["severity"] == "error"
        if interfaces.intersection(one["interfaces"]) or "further_interfaces" in one
        if (name := _class_of(report, one))
    )
    if not classes:
        return error
    options = " ".join(f"--assume '{name} = {_usual_match(name)}'" for name in classes)
    remedy = f"say what the class matches, for example {options}"
    told = ScenarioError(f"{str(error).rstrip()}\n\nhelp: {remedy}")
    told.colored = f"{error.colored.rstrip()}\n\nhelp: {remedy}"
    told.diagnostics, told.help = error.diagnostics, remedy
    return told


def _class_of(report: RouterReport, diagnostic: RouterDiagnostic) -> str | None:
    """Return the class that lacks a definition, or matches a list that does."""
    found = _UNDEFINED.search(diagnostic["message"])
    if found is None:
        return None
    lines = {line["number"]: line for line in report["lines"]}
    # An assumption has line 0, which the file lacks.
    block = lines[diagnostic["line"]].get("block") if diagnostic["line"] in lines else None
    around = _CLASS_MAP.match(lines[block]["text"].strip()) if block in lines else None
    if around:
        return around["name"]
    return found["name"] if found["kind"] == "class-map" else None


def _usual_match(name: str) -> str:
    role = _core.named_role(name)
    return f"dscp {role[1]}" if role and role[1] != "default" else "dscp af21"
