"""Defaults of `perhop check` in a file `perhop.toml`, in the current folder or the nearest one above it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from perhop.errors import InvalidInputError
from perhop.inputs import SETTINGS, read_input

FILE = "perhop.toml"
_LISTS = ("select", "ignore")
_TEXTS = ("fail-on", "output-format", "platform")


@dataclass(frozen=True)
class CheckSettings:
    """The table `[check]`; an option of the command line has precedence."""

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    fail_on: str | None = None
    output_format: str | None = None
    platform: str | None = None
    #: The file with these defaults.
    file: Path | None = None


def nearest(folder: Path) -> Path | None:
    """Return the file `perhop.toml` of a folder or of the nearest one above it."""
    return next((file for above in (folder, *folder.parents) if (file := above / FILE).is_file()), None)


def check_settings() -> CheckSettings:
    """Return the defaults of `perhop check` in the current folder; without a file, no defaults are set.

    Raises:
        InvalidInputError: the file is not TOML, or has a key or a value that perhop does not know.

    """
    try:
        file = nearest(Path.cwd())
    except FileNotFoundError:
        # The current folder was removed.
        file = None
    if file is None:
        return CheckSettings()
    import tomllib  # lazy: most folders have no settings

    try:
        content = tomllib.loads(read_input(file, SETTINGS).decode())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InvalidInputError(f"{file}: {error}", "the file is TOML, for example: [check]") from error
    _require(file, content, ("check",), "tables")
    table = content.get("check", {})
    if not isinstance(table, dict):
        raise InvalidInputError(f"{file}: `check` must be a table", "write the line [check] above its keys")
    _require(file, table, (*_LISTS, *_TEXTS), "keys")
    select, ignore = (_names(file, table, key) for key in _LISTS)
    fail_on, output_format, platform = (_text(file, table, key) for key in _TEXTS)
    return CheckSettings(select, ignore, fail_on, output_format, platform, file)


def _require(file: Path, given: Mapping[str, Any], known: tuple[str, ...], what: str) -> None:
    for key in given:
        if key not in known:
            raise InvalidInputError(f"{file}: unknown key `{key}`", f"{what}: {', '.join(known)}")


def _names(file: Path, table: Mapping[str, Any], key: str) -> tuple[str, ...]:
    value = table.get(key, [])
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise InvalidInputError(
            f"{file}: `{key}` must be a list of rules", f'for example {key} = ["queue-delay"]'
        )
    return tuple(value)


def _text(file: Path, table: Mapping[str, Any], key: str) -> str | None:
    value = table.get(key)
    if value is not None and not isinstance(value, str):
        raise InvalidInputError(f"{file}: `{key}` must be a string", f'for example {key} = "warning"')
    return value
