"""The rules of `perhop check` for wrong and doubtful lines."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from typing import Literal

from perhop import _core
from perhop.errors import UnknownNameError

Severity = Literal["error", "warning", "note"]
_PART = re.compile(r"^## (\w+)\n\n", re.MULTILINE)
_FENCE = re.compile(r"^```\w*\n(.*)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Rule:
    """A rule for configurations or policies, with a stable name."""

    id: str
    severity: Severity
    #: The finding, in a sentence.
    what: str
    why: str
    #: The source of the rule, and the certainty of the source.
    source: str
    remedy: str
    #: A file with the fault that the rule finds, and a file without it; `None` if no file can show the fault.
    bad: str | None
    good: str | None


@cache
def rules() -> dict[str, Rule]:
    """Return all rules by name."""
    return {entry["id"]: _read(**entry) for entry in json.loads(_core.rules())}


def _read(id: str, severity: Severity, page: str) -> Rule:
    first, *rest = _PART.split(page)
    parts = dict(zip(rest[::2], rest[1::2], strict=True))
    example = {name: _FENCE.search(parts.get(name, "")) for name in ("Bad", "Good")}
    return Rule(
        id,
        severity,
        what=_joined(first.partition("\n\n")[2]),
        why=_joined(parts["Why"]),
        source=_joined(parts["Source"]),
        remedy=_joined(parts["Remedy"]),
        bad=example["Bad"][1] if example["Bad"] else None,
        good=example["Good"][1] if example["Good"] else None,
    )


def _joined(text: str) -> str:
    return " ".join(text.split())


def rule(id: str) -> Rule:
    """Return the rule called `id`; raises `UnknownNameError`."""
    known = rules()
    if id not in known:
        near = get_close_matches(id, known, n=1)
        help = f"did you mean `{near[0]}`?" if near else "`perhop explain` lists all rules"
        raise UnknownNameError(f"there is no rule `{id}`", help)
    return known[id]


def named(ids: Iterable[str]) -> frozenset[str]:
    """Return the names of rules in texts, each with one or several names separated by commas.

    Raises `UnknownNameError` for a name without a rule.
    """
    words = [word.strip() for text in ids for word in text.split(",")]
    return frozenset(rule(word).id for word in words if word)
