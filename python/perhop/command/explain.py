"""`perhop explain`."""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import fill, indent
from typing import Annotated

from cyclopts import Parameter

from perhop.command.options import Json
from perhop.command.terminal import print_json
from perhop.errors import Exit
from perhop.rules import Rule, rule, rules

_WIDTH = 100


def explain(
    names: Annotated[list[str] | None, Parameter(negative=())] = None, /, *, json: Json = False
) -> Exit:
    """Say what a rule of `perhop check` finds, why it matters, where it comes from and what to do.

    Parameters
    ----------
    names
        The rules; all of them, a line each, where none is named.
    json
        Print them in full as one JSON document.

    """
    chosen = [rule(name) for name in names] if names else list(rules().values())
    if json:
        print_json({"schema_version": 1, "rules": [vars(one) for one in chosen]})
    elif names:
        print("\n\n".join("\n".join(_page(one)) for one in chosen))
    else:
        width = max(len(one.id) for one in chosen)
        for one in chosen:
            print(f"{one.severity:7}  {one.id:{width}}  {one.what}")
    return Exit.OK


def _page(rule: Rule) -> Iterator[str]:
    yield f"{rule.id} ({rule.severity})"
    yield ""
    yield fill(rule.what, _WIDTH)
    for head, text in [("Why", rule.why), ("Source", rule.source), ("Remedy", rule.remedy)]:
        yield ""
        yield fill(f"{head}: {text}", _WIDTH, break_long_words=False, break_on_hyphens=False)
    for head, example in [("Bad", rule.bad), ("Good", rule.good)]:
        if example is not None:
            yield f"\n{head}:\n"
            yield indent(example.rstrip("\n"), "    ")
