"""Comments that disable rules of `perhop check`.

`! perhop: ignore RULE, RULE` before a command of a router's configuration, or `# perhop: ignore RULE` before
a key of a file of policies, applies to that line and the lines that are further indented below it. At the end
of a line with a command or a key, the comment applies only to that line. `perhop: ignore-file RULE` applies
to the whole file.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from perhop.errors import UnknownNameError
from perhop.rules import named

_COMMENT = re.compile(
    r"^(?P<before>.*?)[!#]\s*perhop:\s*(?P<what>ignore(?:-file)?)\s+(?P<rules>[\w, -]+?)\s*$"
)


@dataclass
class Suppression:
    """The rules that are switched off, in the whole file and by line."""

    everywhere: set[str] = field(default_factory=set)
    by_line: dict[int, set[str]] = field(default_factory=dict)

    def hides(self, rule: str, line: int | None) -> bool:
        """Whether a finding of `rule` at `line` is suppressed."""
        return rule in self.everywhere or (line is not None and rule in self.by_line.get(line, ()))


def suppression(text: str, ignored: frozenset[str] = frozenset()) -> Suppression:
    """Return the suppressions of the comments in `text` and of the rules `ignored`.

    Raises:
        UnknownNameError: a comment names a rule that does not exist.

    """
    found = Suppression(set(ignored))
    if "perhop:" not in text:
        return found
    lines = text.splitlines()
    for number, line in enumerate(lines, 1):
        comment = _COMMENT.match(line)
        if comment is None:
            continue
        try:
            rules = named([comment["rules"]])
        except UnknownNameError as error:
            raise UnknownNameError(f"line {number}: {error}", error.help) from error
        if comment["what"] == "ignore-file":
            found.everywhere |= rules
        else:
            covered = [number] if comment["before"].strip() else _block(lines, number)
            for line_number in covered:
                found.by_line.setdefault(line_number, set()).update(rules)
    return found


def _block(lines: list[str], after: int) -> list[int]:
    """Return the numbers of the first line with content after line `after`, and of its indented block."""
    numbers = [number for number in range(after + 1, len(lines) + 1) if _has_content(lines[number - 1])]
    if not numbers:
        return []
    depth = _indentation(lines[numbers[0] - 1])
    covered = [numbers[0]]
    for number in numbers[1:]:
        if _indentation(lines[number - 1]) <= depth:
            break
        covered.append(number)
    return covered


def _has_content(line: str) -> bool:
    return bool(line.strip()) and line.strip()[0] not in "!#"


def _indentation(line: str) -> int:
    return len(line) - len(line.lstrip())
