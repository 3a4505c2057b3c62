"""Writing folders and files completely or not at all."""

from __future__ import annotations

import json
import os
import secrets
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from perhop.errors import InvalidInputError

# A folder with this file was written by perhop, which may replace it.
MANIFEST = "manifest.json"


def check_target(target: Path) -> None:
    """Refuse a folder that could not be written, before a run starts; raises `InvalidInputError`."""
    try:
        is_folder = target.is_dir()
        is_strange = is_folder and any(target.iterdir()) and not (target / MANIFEST).is_file()
    except OSError as error:
        raise InvalidInputError(f"cannot read folder `{target}`: {error.strerror}") from error
    if is_strange:
        raise InvalidInputError(
            f"`{target}` is not empty and holds no earlier result of perhop",
            "choose a new or an empty folder",
        )
    if target.exists() and not is_folder:
        raise InvalidInputError(f"`{target}` is a file", "give the name of a folder")
    above = target.absolute().parent
    while not above.exists():
        above = above.parent
    if not above.is_dir():
        raise InvalidInputError(f"`{above}` is a file, so `{target}` cannot be a folder in it")
    # Try a real file: permission bits do not cover root, read-only mounts and the like.
    try:
        with tempfile.TemporaryFile(dir=above):
            pass
    except OSError as error:
        raise InvalidInputError(f"cannot write to `{above}`: {error.strerror}") from error


@contextmanager
def whole_folder(target: Path) -> Iterator[Path]:
    """Give a hidden folder next to `target` to write into; at the end it replaces `target`.

    If writing is interrupted, `target` stays as it was.
    """
    check_target(target)
    target = target.absolute()
    target.parent.mkdir(parents=True, exist_ok=True)
    new = _hidden(target)
    new.mkdir()
    try:
        yield new
        _replace(new, target)
    except BaseException as error:
        shutil.rmtree(new, ignore_errors=True)
        # Errors raised by libraries have no errno, and a complete message.
        if isinstance(error, OSError) and error.errno is not None and error.filename is None:
            error.filename = str(target)
        raise


def _replace(new: Path, target: Path) -> None:
    """Replace `target` by `new`; there is no atomic exchange of folders, so the old one is renamed first."""
    if not target.exists():
        new.rename(target)
        return
    old = _hidden(target)
    target.rename(old)
    try:
        new.rename(target)
    except BaseException:
        old.rename(target)
        raise
    shutil.rmtree(old, ignore_errors=True)


def json_text(value: object) -> str:
    """Return a value as indented JSON; NaN, which JSON does not have, is refused."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, indent=2) + "\n"


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """Give a hidden file next to `path` to write; at the end it replaces `path`.

    If writing is interrupted, `path` stays as it was. A device or pipe, such as /dev/stdout, is written
    directly.
    """
    if path.is_dir():
        raise InvalidInputError(f"`{path}` is a folder", "give the name of a file")
    if not path.absolute().parent.is_dir():
        raise InvalidInputError(f"`{path.absolute().parent}` is not a folder", "create it first")
    if path.exists() and not path.is_file():
        yield path
        return
    target = path.resolve()
    temporary = _hidden(target)
    try:
        with _errors_of(path):
            yield temporary
            temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)


@contextmanager
def _errors_of(path: Path) -> Iterator[None]:
    """Report errors of the hidden file as errors of `path`."""
    try:
        yield
    except OSError as error:
        # Errors raised by libraries have no errno, and a complete message.
        if error.errno is None:
            raise
        raise OSError(error.errno, error.strerror, str(path)) from error


def replace_file(path: Path, text: str) -> None:
    """Write a file completely or not at all; an existing file is replaced."""
    with whole_file(path) as new:
        new.write_text(text, encoding="utf-8")


def write_new(path: Path, text: str) -> None:
    """Write a file completely or not at all; an existing file is refused."""
    temporary = _hidden(path.absolute())
    try:
        with _errors_of(path):
            temporary.write_text(text, encoding="utf-8")
            # A link, unlike a rename, never replaces an existing file.
            os.link(temporary, path)
    except FileExistsError as error:
        raise InvalidInputError(
            f"`{path}` exists already", "choose another name, or remove it first"
        ) from error
    finally:
        temporary.unlink(missing_ok=True)


def _hidden(path: Path) -> Path:
    """Return an unused hidden name in the folder of `path`, and so on the same file system."""
    return path.with_name(f".{path.name}-{secrets.token_hex(6)}")
