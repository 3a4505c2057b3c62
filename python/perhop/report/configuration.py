"""Router configurations with the state of every line, as `configuration.json` beside results holds them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

#: The file: a list of `{"file", "lines": [{"line", "text", "state", "message"}]}`.
FILE = "configuration.json"
# The states of which nothing need be said.
_QUIET = ("modelled", "irrelevant")
# Longer ones are folded away.
_SHORT = 40


@dataclass(frozen=True)
class Configuration:
    """A router's configuration and what became of each of its lines."""

    file: str
    #: Each `{"line": number, "text", "state", "message" or null}`.
    lines: list[dict[str, Any]]

    @property
    def remarks(self) -> int:
        """How many lines are to be looked at."""
        return sum(line["state"].lower() not in _QUIET for line in self.lines)

    @property
    def open(self) -> bool:
        """Whether it is short enough to be shown at once."""
        return len(self.lines) <= _SHORT


def configurations(folder: Path) -> list[Configuration]:
    """Return the configurations that were kept with results; none where there were none."""
    file = folder / FILE
    if not file.is_file():
        return []
    return [Configuration(one["file"], one["lines"]) for one in json.loads(file.read_text(encoding="utf-8"))]
