"""Folders and files that are there as a whole or not at all."""

from __future__ import annotations

import json
import os
import secrets
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from perhop.errors import InvalidInputError

if TYPE_CHECKING:
    import polars as pl

# A folder that carries this file was written by perhop and may be replaced by it.
MANIFEST = "manifest.json"


def check_target(target: Path) -> None:
    """Refuse a folder that could not be written in the end, before any time is spent on a run."""
    try:
        is_folder = target.is_dir()
        is_strange = is_folder and any(target.iterdir()) and not (target / MANIFEST).is_file()
    except OSError as error:
        raise InvalidInputError(f"{target} cannot be looked into: {error.strerror}") from error
    if is_strange:
        raise InvalidInputError(
            f"{target} is not empty and holds no earlier result of perhop",
            "choose a new or an empty folder",
        )
    if target.exists() and not is_folder:
        raise InvalidInputError(f"{target} is a file", "give the name of a folder")
    above = target.absolute().parent
    while not above.exists():
        above = above.parent
    if not above.is_dir():
        raise InvalidInputError(f"{above} is a file, so {target} cannot be a folder in it")
    # The probe is a real file: permission bits say nothing about root, read-only mounts and the like.
    try:
        with tempfile.TemporaryFile(dir=above):
            pass
    except OSError as error:
        raise InvalidInputError(f"{above} cannot be written to: {error.strerror}") from error


@contextmanager
def whole_folder(target: Path) -> Iterator[Path]:
    """Give a hidden folder beside `target` to write into; at the end it takes `target`'s place.

    Whatever interrupts the writing, `target` is either as it was before or complete.
    """
    check_target(target)
    target = target.absolute()
    target.parent.mkdir(parents=True, exist_ok=True)
    new = _beside(target)
    new.mkdir()
    try:
        yield new
        _replace(new, target)
    except BaseException as error:
        shutil.rmtree(new, ignore_errors=True)
        # Those that are not Python's own have no number, and say themselves what they are about.
        if isinstance(error, OSError) and error.errno is not None and error.filename is None:
            error.filename = str(target)
        raise


def _replace(new: Path, target: Path) -> None:
    """Put `new` where `target` is; folders cannot be exchanged in one step, so the old one steps aside."""
    if not target.exists():
        new.rename(target)
        return
    old = _beside(target)
    target.rename(old)
    try:
        new.rename(target)
    except BaseException:
        old.rename(target)
        raise
    shutil.rmtree(old, ignore_errors=True)


def json_text(value: object) -> str:
    """Return a value as perhop's files have it: indented, and NaN refused, which is no JSON."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, indent=2) + "\n"


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """Give a hidden file beside `path` to write; at the end it takes `path`'s place.

    Whatever interrupts the writing, `path` is either as it was before or complete. What is no file on a disk,
    such as /dev/stdout, is written to as it is.
    """
    if path.is_dir():
        raise InvalidInputError(f"{path} is a folder", "give the name of a file")
    if not path.absolute().parent.is_dir():
        raise InvalidInputError(f"{path.absolute().parent} is no folder", "create it first")
    if path.exists() and not path.is_file():
        yield path
        return
    target = path.resolve()
    temporary = _beside(target)
    try:
        with _errors_of(path):
            yield temporary
            temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)


@contextmanager
def _errors_of(path: Path) -> Iterator[None]:
    """Say of `path` what goes wrong with a hidden file beside it."""
    try:
        yield
    except OSError as error:
        # What is not the system's own has no number, and says itself what it is about.
        if error.errno is None:
            raise
        raise OSError(error.errno, error.strerror, str(path)) from error


def replace_file(path: Path, text: str) -> None:
    """Write a file, whole or not at all; one that exists already is replaced."""
    with whole_file(path) as new:
        new.write_text(text, encoding="utf-8")


def write_new(path: Path, text: str) -> None:
    """Write a file, whole or not at all; one that exists already is refused."""
    temporary = _beside(path.absolute())
    try:
        with _errors_of(path):
            temporary.write_text(text, encoding="utf-8")
            # A link, unlike a rename, never replaces what is there.
            os.link(temporary, path)
    except FileExistsError as error:
        raise InvalidInputError(
            f"{path} exists already", "choose another name, or remove it first"
        ) from error
    finally:
        temporary.unlink(missing_ok=True)


def write_parquet(table: pl.DataFrame, file: Path) -> None:
    """Write a table; not by polars itself, to which a full disk is a file out of specification."""
    content = BytesIO()
    table.write_parquet(content)
    file.write_bytes(content.getbuffer())


def _beside(path: Path) -> Path:
    """Return a hidden name in the same folder, and so on the same file system, that nothing else uses."""
    return path.with_name(f".{path.name}-{secrets.token_hex(6)}")
