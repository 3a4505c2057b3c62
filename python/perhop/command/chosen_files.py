"""The files that `perhop check` reads: named files, files of a folder, files that match a pattern."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from perhop.command.options import found_file
from perhop.configuration import STANDARD_INPUT, router_text
from perhop.errors import InvalidInputError, PerhopError
from perhop.limits import processors

_PATTERN = re.compile(r"[*?\[]")
# The first keys of perhop's own files: scenarios, policies, tests.
_OWN_FILE = re.compile(rb"^(perhop|policies|perhop-tests)\s*:", re.MULTILINE)
# Bytes at the beginning of a file that determine whether it is text, as in git.
_BEGINNING = 8000


@dataclass
class Chosen:
    """The files to check, in order and each once."""

    files: list[Path] = field(default_factory=list)
    #: Files of folders that are neither configurations nor files of perhop.
    passed_over: int = 0
    #: Whether an argument is a folder or a pattern.
    is_search: bool = False
    #: The folders among the arguments, each of which is a network.
    folders: list[Path] = field(default_factory=list)


def chosen_files(arguments: Sequence[str]) -> Chosen:
    """Return the files of the arguments: for a folder the configurations below it, for a pattern its matches.

    Below a folder, folders and files whose name begins with a dot are skipped.

    Raises:
        InvalidInputError: a pattern matches nothing, or a folder has no configuration.

    """
    found = Chosen()
    for argument in arguments:
        path = Path(argument)
        if path.is_dir():
            found.is_search = True
            found.folders.append(path)
            _search(path, found)
        elif _PATTERN.search(argument) and not path.exists():
            found.is_search = True
            matches = sorted(glob.glob(argument, recursive=True))  # noqa: PTH207 - absolute patterns, too
            if not matches:
                raise InvalidInputError(f"no file matches `{argument}`", "`**` matches any number of folders")
            found.files += [Path(match) for match in matches if not Path(match).is_dir()]
        else:
            found.files.append(found_file(path))
    found.files = list(dict.fromkeys(found.files))
    return found


def _search(folder: Path, found: Chosen) -> None:
    before = len(found.files)
    files = list(_files_below(folder))
    # The content decides about a file without a known suffix, so such files must be read.
    with ThreadPoolExecutor(max_workers=processors()) as pool:
        for file, is_one in zip(files, pool.map(is_checkable, files), strict=True):
            if is_one:
                found.files.append(file)
            else:
                found.passed_over += 1
    if len(found.files) == before:
        raise InvalidInputError(
            f"{folder}: the folder has no configurations, scenarios or test files",
            "name the files to see why perhop does not recognize them",
        )


def _files_below(folder: Path) -> Iterator[Path]:
    """Generate the files below a folder in order; links to folders are not followed."""
    for parent, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        yield from (Path(parent, name) for name in sorted(files) if not name.startswith("."))


def is_checkable(file: Path) -> bool:
    """Return whether `perhop check` reads a file.

    An unreadable file is included, so that `perhop check` reports the error.
    """
    if file == STANDARD_INPUT or not file.is_file():
        return file == STANDARD_INPUT
    try:
        with file.open("rb") as stream:
            beginning = stream.read(_BEGINNING)
        if b"\0" in beginning:
            return False
        return bool(_OWN_FILE.search(beginning)) or router_text(file) is not None
    except (OSError, PerhopError):
        return True
