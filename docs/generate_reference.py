"""Generate docs/reference/generated: the scenario language from its schema, the command line from its help,
the deviations from their list, the limits of the model from the README.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from cyclopts import App

import perhop
from perhop.command.parser import app
from perhop.rules import Rule, rules

FOLDER = Path(__file__).parent / "reference" / "generated"

Schema = dict[str, Any]


def main() -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    (FOLDER / "scenario.md").write_text(scenario_page(perhop.schema()), encoding="utf-8")
    (FOLDER / "command-line.md").write_text(command_page(), encoding="utf-8")
    (FOLDER / "rules.md").write_text(rule_page(rules().values()), encoding="utf-8")
    readme = (FOLDER.parents[2] / "README.md").read_text(encoding="utf-8")
    (FOLDER / "not-modelled.md").write_text(not_modelled_page(readme), encoding="utf-8")
    deviations = tomllib.loads((FOLDER.parents[1] / "deviations.toml").read_text(encoding="utf-8"))
    (FOLDER / "deviations.md").write_text(deviation_page(deviations["deviation"]), encoding="utf-8")


def scenario_page(schema: Schema) -> str:
    parts = [
        "# The scenario language\n",
        "Generated from the schema that `perhop schema` prints. Every key is listed with its type;"
        " keys marked as required must be given.\n",
        section("The file", schema),
    ]
    parts += [section(name, definition) for name, definition in schema["$defs"].items()]
    return "\n".join(parts)


def section(name: str, schema: Schema) -> str:
    """One type: its description, then its keys, its choices or its form."""
    lines = [f"## {name}\n", schema.get("description", ""), ""]
    if "properties" in schema:
        lines += keys(schema)
    for choice in schema.get("oneOf", schema.get("anyOf", [])):
        lines += [f"- {form(choice)}: {described(choice)}" if described(choice) else f"- {form(choice)}"]
    if "properties" not in schema and "oneOf" not in schema and "anyOf" not in schema:
        lines += [f"Written as {form(schema)}."]
    return "\n".join(lines) + "\n"


def keys(schema: Schema) -> list[str]:
    lines = []
    for key, value in schema["properties"].items():
        if key in schema.get("required", []):
            default = "required"
        elif "default" in value:
            default = f"default `{value['default']}`"
        else:
            default = "optional"
        lines += [
            f"`{key}` ({form(value)}; {default})",
            f": {value.get('description') or 'See its type.'}",
            "",
        ]
    return lines


def form(schema: Schema) -> str:
    """Return the form of a value as text."""
    if "$ref" in schema:
        return link(schema["$ref"])
    if "const" in schema:
        return f"`{schema['const']}`"
    if "enum" in schema:
        return " or ".join(f"`{value}`" for value in schema["enum"] if value is not None)
    if "anyOf" in schema or "oneOf" in schema:
        choices = [
            choice for choice in schema.get("anyOf", schema.get("oneOf")) if choice.get("type") != "null"
        ]
        return " or ".join(form(choice) for choice in choices)
    if "allOf" in schema:
        return " and ".join(form(one) for one in schema["allOf"])
    kind = schema.get("type")
    if isinstance(kind, list):
        kind = next(one for one in kind if one != "null")
    if kind == "array":
        return f"list of {form(schema['items'])}" if isinstance(schema.get("items"), dict) else "list"
    if kind == "object":
        if "properties" in schema:
            return ", ".join(f"`{key}`: {form(value)}" for key, value in schema["properties"].items())
        values = schema.get("additionalProperties")
        return f"mapping of names to {form(values)}" if isinstance(values, dict) else "mapping"
    return {
        "integer": "whole number",
        "number": "number",
        "string": "text",
        "boolean": "`true` or `false`",
    }.get(kind, "any value")


def link(reference: str) -> str:
    name = reference.rpartition("/")[2]
    return f"[{name}](#{name.lower()})"


def described(schema: Schema) -> str:
    """The description on one line, so that it stays inside its list."""
    return " ".join(schema.get("description", "").split())


def commands(group: App, name: str = "") -> Iterator[str]:
    """Every command by its words, the groups before those in them."""
    yield name
    for word in group:
        if not word.startswith("-"):
            yield from commands(group[word], f"{name} {word}".strip())


def command_page() -> str:
    parts = [
        "# The command line\n",
        "The help of each command, as `--help` prints it. See also [exit codes](../../exit-codes.md).\n",
    ]
    for command in commands(app):
        line = [sys.executable, "-m", "perhop", *command.split(), "--help"]
        environment = {**os.environ, "NO_COLOR": "1", "COLUMNS": "80"}
        shown = subprocess.run(line, check=True, capture_output=True, text=True, env=environment).stdout
        parts += [f"## perhop {command}".rstrip() + "\n", f"```text\n{shown.strip()}\n```\n"]
    return "\n".join(parts)


def rule_page(all_rules: Iterable[Rule]) -> str:
    parts = [
        "# Rules\n",
        "The rules of `perhop check`. `perhop explain RULE` prints the text of one rule.\n",
    ]
    for rule in all_rules:
        parts += [f"## {rule.id}\n", f"**{rule.severity}.** {rule.what}\n", f"{rule.why}\n"]
        parts += [f"*Source:* {rule.source}\n", f"*Remedy:* {rule.remedy}\n"]
        for head, example in (("Bad", rule.bad), ("Good", rule.good)):
            if example is not None:
                parts.append(f"{head}:\n\n```text\n{example}```\n")
    return "\n".join(parts)


def not_modelled_page(readme: str) -> str:
    """Return the list of the README with links relative to the generated page."""
    _, _, rest = readme.partition("## What is not modeled\n")
    return "# What is not modeled\n" + rest.partition("\n## ")[0].replace("](docs/", "](../../")


def deviation_page(deviations: list[dict[str, str]]) -> str:
    parts = [
        "# Deviations\n",
        "Where perhop departs from a source, with the quoted text and the reason.\n",
    ]
    for algorithm in dict.fromkeys(one["algorithm"] for one in deviations):
        parts += [f"## {algorithm}\n"]
        for one in deviations:
            if one["algorithm"] == algorithm:
                quote = "\n".join(f"> {line}" for line in one["quote"].strip().splitlines())
                parts += [f"**{one['source']}**\n", f"{quote}\n", f"{one['reason'].strip()}\n"]
    return "\n".join(parts)


if __name__ == "__main__":
    main()
