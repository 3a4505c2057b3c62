"""Router configurations with the state of every line, as `configuration.json` beside results holds them."""

from __future__ import annotations

import json
from collections.abc import Iterable
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


def kept(routers: Iterable[Path]) -> str | None:
    """Return what `configuration.json` is to hold of routers' configuration files; `None` of no files."""
    from perhop import _core

    found = []
    for file in routers:
        read = json.loads(_core.check_router(file.read_bytes().decode("utf-8", errors="replace")))
        lines = [
            {
                "line": line["number"],
                "text": line["text"],
                "state": line["state"].replace("-", " "),
                "message": line.get("note"),
            }
            for line in read["lines"]
        ]
        found.append({"file": file.name, "lines": lines})
    return json.dumps(found, ensure_ascii=False, indent=2) + "\n" if found else None


def configurations(folder: Path) -> list[Configuration]:
    """Return the configurations that were kept with results; none where there were none."""
    file = folder / FILE
    if not file.is_file():
        return []
    return [Configuration(one["file"], one["lines"]) for one in json.loads(file.read_text(encoding="utf-8"))]
