"""Scenarios as data: read from a file, changed by path, checked. `perhop.scenario` runs them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, MutableMapping
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, cast

from perhop import _core, paths
from perhop.errors import require_levels
from perhop.inputs import SCENARIO, require_regular

if TYPE_CHECKING:
    from perhop.schema_types import ScenarioConfig


def schema() -> dict[str, Any]:
    """Return the JSON Schema of scenario files."""
    parsed: dict[str, Any] = json.loads(_core.schema())
    return parsed


class Document(MutableMapping[str, Any]):
    """The keys of a scenario file with every default written out, read and changed in place."""

    def __init__(self, data: ScenarioConfig | Mapping[str, Any], base: str | PathLike[str] = ".") -> None:
        """Create a document from the keys of a scenario file. Relative paths in it start at `base`."""
        self._data = dict(data)
        self._base = Path(base)
        #: The warnings of the loader.
        self.warnings: _core.Warnings | None = None

    @classmethod
    def load(cls, path: str | PathLike[str], set: Mapping[str, object] | None = None) -> Self:
        """Read a scenario file; `set` replaces values in it by their path.

        Raises:
            ScenarioError: the file is not a valid scenario; the diagnostics name the errors and their places.

        """
        require_regular(Path(path), SCENARIO)
        return cls._from(_core.load(path, overrides(set or {})))

    @classmethod
    def _from(cls, loaded: _core.Loaded) -> Self:
        document = cls(json.loads(loaded.json), loaded.base)
        document.warnings = loaded.warnings
        return document

    @property
    def base(self) -> Path:
        """The folder at which relative paths of the scenario start."""
        return self._base

    def to_json(self) -> str:
        """Return the scenario as one line of JSON.

        Raises:
            InvalidInputError: lists and mappings of the scenario are nested too deeply.

        """
        require_levels(self._data, "the scenario")
        return json.dumps(self._data, ensure_ascii=False, separators=(",", ":"))

    def set(self, path: str, value: object) -> Self:
        """Replace the value at a path, as `perhop run --set` does: `traffic.voice.source.cbr.rate`.

        Returns the scenario, so that calls can be chained.

        Raises:
            ScenarioError: the path does not exist or the value does not fit; nothing is changed.

        """
        changed = self.changed({path: value})
        self._data, self.warnings = changed._data, changed.warnings
        return self

    def changed(self, changes: Mapping[str, object]) -> Self:
        """Return a copy with the values at some paths replaced, all at once.

        Raises:
            ScenarioError: a path does not exist or a value does not fit.

        """
        return self._from(_core.load_json(self.to_json(), self._base, overrides(changes)))

    def check(self) -> Self:
        """Return the scenario as it would run.

        Raises:
            ScenarioError: the scenario is not valid.

        """
        return self._from(_core.load_json(self.to_json(), self._base, []))

    def embedded(self) -> Self:
        """Return the scenario as it would run, with the texts of router configurations in place of files.

        The result needs no other file except traces.

        Raises:
            ScenarioError: the scenario is not valid.

        """
        loaded = _core.load_json(self.to_json(), self._base, [])
        return type(self)(json.loads(loaded.embedded), loaded.base)

    def __getitem__(self, key: str) -> Any:  # noqa: ANN401 - a scenario holds text, numbers, lists, mappings
        return self._data[key] if key in self._data or "." not in key else paths.at(self._data, key)

    def __setitem__(self, key: str, value: object) -> None:
        if key in self._data or "." not in key:
            self._data[key] = paths.written(key, value)
        else:
            self.set(key, value)

    def __delitem__(self, key: str) -> None:
        del self._data[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._data)

    def __len__(self) -> int:
        return len(self._data)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self._data.get('name', 'without a name')!r}>"


def typed(scenario: ScenarioConfig | Mapping[str, Any]) -> ScenarioConfig:
    """Return a scenario, which may be a `Document`, with the types of its keys."""
    return cast("ScenarioConfig", scenario)


def overrides(changes: Mapping[str, object]) -> list[tuple[str, str]]:
    """Return changes by path in the form for the extension module; numbers are in base units."""
    return [(path, as_text(paths.written(path, value))) for path, value in changes.items()]


def as_text(value: object) -> str:
    """Return a value in the form for a file: text unchanged, anything else as JSON."""
    return value if isinstance(value, str) else json.dumps(value)
