"""Router configurations with the state of every line, as `configuration.json` beside results holds them."""

from __future__ import annotations

import json
import os
import re
import sys
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from perhop.loading import is_file, read_json, unreadable

#: The file: a list of `{"file", "lines": [{"line", "text", "state", "message"}]}`.
FILE = "configuration.json"
# The states of which nothing need be said.
_QUIET = ("modelled", "irrelevant")
# Longer ones are folded away.
_SHORT = 40

# How perhop's own files begin; words such as `class-default` stand in both kinds.
_SCENARIO = re.compile(r"^(perhop|policies)\s*:", re.MULTILINE)
#: How standard input is called.
STANDARD_INPUT = Path("-")


def router_text(file: Path) -> str | None:
    """Return the text of `file` if it is a router's configuration, by its name or by what it holds.

    `-` is standard input, of which nothing is taken away if it is none.
    """
    from perhop import _core

    if file.suffix in (".yaml", ".yml", ".json"):
        return None
    try:
        read = _looked_at() if file == STANDARD_INPUT else file.read_bytes()
    except OSError:
        # Whoever reads it as a scenario says what is wrong.
        return None
    text = _core.router_text(read)
    is_router = file.suffix == ".cfg" or (not _SCENARIO.search(text) and _core.is_router_configuration(text))
    return text if is_router else None


def read(file: Path) -> str:
    """Return the text of a file; raises `InvalidInputError` where there is none."""
    from perhop import _core

    try:
        return _core.router_text(file.read_bytes())
    except OSError as error:
        raise unreadable(file, error) from error


def _looked_at() -> bytes:
    """Return what stands on standard input, and put it back for who reads it next."""
    descriptor = sys.__stdin__.fileno() if sys.__stdin__ else 0
    with os.fdopen(os.dup(descriptor), "rb") as given:
        text = given.read()
    with tempfile.TemporaryFile() as again:
        again.write(text)
        again.seek(0)
        os.dup2(again.fileno(), descriptor)
    return text


@dataclass(frozen=True)
class Configuration:
    """A router's configuration and what became of each of its lines."""

    file: str
    #: Each with its number as ``line``, its ``text``, its ``state``, and a ``message`` or none.
    lines: list[dict[str, Any]]

    @classmethod
    def read(cls, file: str | os.PathLike[str]) -> Configuration:
        """Read a router's configuration and say of each line what becomes of it."""
        from perhop import _core

        path = Path(file)
        read = json.loads(_core.check_router(_core.router_text(path.read_bytes())))
        wrong: dict[int, list[str]] = {}
        for one in read["diagnostics"]:
            wrong.setdefault(one["line"], []).append(f"{one['severity']}: {one['message']}; {one['router']}")
        lines = [
            {
                "line": line["number"],
                "text": line["text"],
                "state": line["state"].replace("-", " "),
                "message": "; ".join([*wrong.get(line["number"], []), *filter(None, [line.get("note")])])
                or None,
            }
            for line in read["lines"]
        ]
        return cls(path.name, lines)

    def _repr_html_(self) -> str:
        """Show every line with its state in a notebook; in the order of the file."""
        from perhop.page.tables import Cell, Column, Table, notebook

        heads = [Column("line", numeric=True), Column("text"), Column("state"), Column("")]
        rows = [
            [
                Cell(str(line["line"])),
                Cell(line["text"].strip()),
                Cell(line["state"]),
                Cell(line["message"] or ""),
            ]
            for line in self.lines
        ]
        counts = f"{len(rows)} lines, {self.remarks} to be looked at"
        return notebook(Table(f"{self.file}: {counts}", heads, rows))

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
    found = [vars(Configuration.read(file)) for file in routers]
    return json.dumps(found, ensure_ascii=False, indent=2) + "\n" if found else None


def configurations(folder: Path) -> list[Configuration]:
    """Return the configurations that were kept with results; none where there were none."""
    file = folder / FILE
    if not is_file(file):
        return []
    return [Configuration(one["file"], one["lines"]) for one in read_json(file)]
