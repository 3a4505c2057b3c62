"""`perhop explain`."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from textwrap import fill, indent
from typing import Annotated

from perhop.command.lines import columns_of, show_lines
from perhop.command.options import Json, Platform
from perhop.command.parameter import Parameter
from perhop.command.terminal import print_json
from perhop.errors import Exit, InvalidInputError
from perhop.profiles import PlatformRule, platform_rules
from perhop.rules import Rule, rule, rules

# Longer lines are hard to read.
_WIDEST = 100


def explain(
    names: Annotated[list[str] | None, Parameter(negative=())] = None,
    /,
    *,
    platform: Annotated[
        Platform,
        Parameter(
            help="Show the queueing rules of this platform, one per row, for example `hqf` or `ios-xe`."
        ),
    ] = None,
    json: Json = False,
) -> Exit:
    """Explain rules of `perhop check`, or the queueing rules of a platform.

    A rule of `perhop check` has its reason, its source, a remedy and examples. A rule of a platform has a
    value, its certainty and its source.

    Parameters
    ----------
    names
        The rules to explain. Default: list all rules, one per line.

    """
    if platform is not None:
        if names:
            raise InvalidInputError(
                "--platform prints a profile, and accepts no names of rules", "give only one of the two"
            )
        _explain_platform(platform, as_json=json)
        return Exit.OK
    chosen = [rule(name) for name in names] if names else list(rules().values())
    if json:
        print_json({"schema_version": 1, "rules": [vars(chosen_rule) for chosen_rule in chosen]})
    elif names:
        width = min(columns_of(sys.stdout) or _WIDEST, _WIDEST)
        print("\n\n".join("\n".join(_page(chosen_rule, width)) for chosen_rule in chosen))
    else:
        width = max(len(chosen_rule.id) for chosen_rule in chosen)
        for chosen_rule in chosen:
            show_lines(f"{chosen_rule.severity:7}  {chosen_rule.id:{width}}  {chosen_rule.what}", {})
    return Exit.OK


def _explain_platform(platform: str, *, as_json: bool) -> None:
    """Print the profile of a platform."""
    rows = platform_rules(platform)
    if as_json:
        print_json({"schema_version": 1, "platform": platform, "rules": [vars(row) for row in rows]})
        return
    show_platform_rules(rows)


def show_platform_rules(rows: Sequence[PlatformRule]) -> None:
    """Print rules with their value, certainty and source."""
    cells = [(row.rule, row.text, row.certainty, _source(row)) for row in rows]
    table = [("rule", "value", "certainty", "source"), *cells]
    widths = [max(len(row[column]) for row in table) for column in range(3)]
    for row in table:
        padded = [f"{cell:{width}}" for cell, width in zip(row[:3], widths, strict=True)]
        show_lines("  ".join([*padded, row[3]]), {})


def _source(row: PlatformRule) -> str:
    """Return the source of a value, with the note about the value, if any."""
    return row.source if row.note is None else f"{row.source} [{row.note}]"


def _page(rule: Rule, width: int) -> Iterator[str]:
    yield f"{rule.id} ({rule.severity})"
    yield ""
    yield fill(rule.what, width)
    for head, text in [("Why", rule.why), ("Source", rule.source), ("Remedy", rule.remedy)]:
        yield ""
        yield fill(f"{head}: {text}", width, break_long_words=False, break_on_hyphens=False)
    for head, example in [("Bad", rule.bad), ("Good", rule.good)]:
        if example is not None:
            yield f"\n{head}:\n"
            yield indent(example.rstrip("\n"), "    ")
