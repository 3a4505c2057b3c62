"""Errors of a configuration: those on the path refuse a run, and the others are left out of it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from perhop.core_types import RouterDiagnostic, RouterPort, RouterReport
from perhop.errors import ScenarioError
from perhop.inference.roles import role_named
from perhop.quantity import counted
from perhop.references import Name, References

# The number of errors that are named.
_MOST_REMARKS = 5
# Errors that say that a name has no definition; `--assume` can stand for both.
_UNDEFINED = re.compile(r"(?P<kind>class-map|access list) (?P<name>\S+) is not defined")


class Faults:
    """The errors of a configuration, by what they affect."""

    def __init__(self, report: RouterReport, path: Iterable[RouterPort]) -> None:
        self._references = References(report["lines"])
        interfaces = {self._references.of_line(port["line"]).name for port in path}
        errors = [one for one in report["diagnostics"] if one["severity"] == "error"]
        #: The errors that affect the interfaces of the path, and the others.
        self.on_path = [one for one in errors if self._references.interfaces(one["line"]) & interfaces]
        self.elsewhere = [one for one in errors if one not in self.on_path]

    def left_out(self) -> list[str]:
        """Return the commands that remove the other errors, and what refers to them."""
        gone = {self._references.of_line(one["line"]) for one in self.elsewhere}
        users = set().union(*(self._references.users(name) for name in gone))
        wrong = users - {name for name in users if name.kind == "interface"}
        lines = {
            name: list(self._references.lines_naming(name, wrong))
            for name in users
            if name.kind == "interface"
        }
        for one in self.elsewhere:
            name = self._references.of_line(one["line"])
            if name.kind == "interface":
                lines.setdefault(name, []).append(self._references.text(one["line"]))
        commands = []
        for name in sorted(lines, key=lambda name: name.name):
            commands += [self._references.top(name), *(f"no {line}" for line in dict.fromkeys(lines[name]))]
        for kind in ("policy-map", "class-map"):
            commands += [
                f"no {kind} {name.name}" for name in sorted(wrong, key=_by_name) if name.kind == kind
            ]
        return commands

    def remarks(self) -> list[str]:
        """Say what is left out."""
        rest = len(self.elsewhere) - _MOST_REMARKS
        more = [f"left out likewise: {counted(rest, 'further error')}"] if rest > 0 else []
        why = "left out, as the path does not use it"
        named = [f"{why}: line {one['line']}: {one['message']}" for one in self.elsewhere[:_MOST_REMARKS]]
        return [*named, *more]

    def explained(self, error: ScenarioError) -> ScenarioError:
        """Return the error of the scenario, with the remedy for names that are not defined."""
        remedy = self.remedy()
        if remedy is None:
            return error
        told = ScenarioError(f"{str(error).rstrip()}\n\nhelp: {remedy}")
        told.colored = f"{error.colored.rstrip()}\n\nhelp: {remedy}"
        told.diagnostics, told.help = error.diagnostics, remedy
        return told

    def remedy(self) -> str | None:
        """Return how to run in spite of names that are not defined."""
        classes = dict.fromkeys(name for one in self.on_path if (name := self._class_of(one)))
        if not classes:
            return None
        options = " ".join(f"--assume '{name} = {_usual_match(name)}'" for name in classes)
        return f"say what the class matches, for example {options}"

    def _class_of(self, diagnostic: RouterDiagnostic) -> str | None:
        """Return the class that lacks a definition, or matches a list that does."""
        found = _UNDEFINED.search(diagnostic["message"])
        if found is None:
            return None
        around = self._references.of_line(diagnostic["line"])
        if around.kind == "class-map":
            return around.name
        return found["name"] if found["kind"] == "class-map" else None


def _by_name(name: Name) -> str:
    return name.name


def _usual_match(name: str) -> str:
    role = role_named(name)
    return f"dscp {role.dscps[0]}" if role and role.dscps[0] != "default" else "dscp af21"


def path_ports(ports: Sequence[RouterPort | None]) -> list[RouterPort]:
    """Return the ports of a path that are the router's own."""
    return [port for port in ports if port is not None]
