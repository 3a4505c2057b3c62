"""Reading the keys of a TOML table with their types; unknown keys are refused."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from perhop.errors import NESTED_TOO_DEEPLY, InvalidInputError, require_levels
from perhop.inputs import STUDY, read_input

_REQUIRED = object()


class Keys:
    """The keys of one TOML table, and its place in the file for messages."""

    def __init__(self, values: Mapping[str, Any], where: str) -> None:
        self._left = dict(values)
        self._where = where

    @classmethod
    def of_file(cls, file: Path) -> Keys:
        """Read a TOML file; raises `InvalidInputError`."""
        try:
            values = tomllib.loads(read_input(file, STUDY).decode())
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise InvalidInputError(f"`{file}`: {error}") from error
        except RecursionError as error:
            raise InvalidInputError(f"`{file}`: {NESTED_TOO_DEEPLY}") from error
        require_levels(values, f"`{file}`")
        return cls(values, str(file))

    def error(self, message: str) -> InvalidInputError:
        """Return an error about this table."""
        return InvalidInputError(f"`{self._where}`: {message}")

    def text(self, key: str, default: object = _REQUIRED) -> str:
        """Return a text; numbers, as in `value = 3`, become text."""
        value = self._take(key, (str, int, float), default)
        return str(value)

    def optional_text(self, key: str) -> str | None:
        """Return a text or `None`."""
        return None if key not in self._left else self.text(key)

    def texts(self, key: str, default: tuple[str, ...]) -> tuple[str, ...]:
        """Return a list of texts."""
        return tuple(str(element) for element in self._take(key, list, list(default)))

    def integer(self, key: str, default: int) -> int:
        """Return a whole number of at least 0."""
        value: int = self._take(key, int, default)
        if value < 0:
            raise self.error(f"`{key}` is negative: {value}")
        return value

    def number(self, key: str) -> float | None:
        """Return a number or `None`."""
        value = self._take(key, (int, float), None)
        return None if value is None else float(value)

    def mapping(self, key: str, default: dict[str, Any] | None) -> dict[str, Any] | None:
        """Return an inline table."""
        value: dict[str, Any] | None = self._take(key, dict, default)
        return value

    def values(self) -> dict[str, Any]:
        """Return all keys, each with an inline table."""
        return {key: self.mapping(key, None) for key in list(self._left)}

    def tables(self, key: str) -> list[Keys]:
        """Return an array of tables."""
        values: list[dict[str, Any]] = self._take(key, list, [])
        return [Keys(value, f"{self._where}: {key}.{index}") for index, value in enumerate(values)]

    def named_tables(self, key: str) -> list[tuple[str, Keys]]:
        """Return a table of tables."""
        values: dict[str, Any] = self._take(key, dict, {})
        return [(name, Keys(value, f"{self._where}: {key}.{name}")) for name, value in values.items()]

    def finish(self) -> None:
        """Refuse keys that were not read; raises `InvalidInputError`."""
        if self._left:
            raise self.error(f"unknown keys: {', '.join(self._left)}")

    def _take(self, key: str, types: type | tuple[type, ...], default: object) -> Any:  # noqa: ANN401 - TOML
        if key not in self._left:
            if default is _REQUIRED:
                raise self.error(f"`{key}` is missing")
            return default
        value = self._left.pop(key)
        if not isinstance(value, types):
            raise self.error(f"`{key}` has the wrong type: {value!r}")
        return value
