"""Writes folders and files completely or not at all, also after failures and interruptions.

A folder is written under a hidden name next to its path, synchronized (fsync), and exchanged with the
existing folder in one step (`disk.exchange`). Then only the files of the earlier manifest are removed. If a
file system cannot exchange two names, the earlier folder is renamed first and the new folder second; the next
writer restores the earlier folder if the second rename did not happen.

Signals are deferred during operations that must not be interrupted (`interrupts`). The written files are
recorded for the message of a command that ends early.
"""

from __future__ import annotations

import atexit
import os
import re
import warnings
from collections.abc import Collection, Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import replace
from pathlib import Path

from perhop import disk, manifest
from perhop.caller import made_folder
from perhop.errors import InvalidInputError, UnreadableFileError
from perhop.interrupts import Deferral, deferred, written
from perhop.locking import forget_all, held, is_abandoned, locked, release_all, reserve, stem
from perhop.manifest import MANIFEST, Kind, json_text
from perhop.targets import Place, as_invalid, place_of, refuse_inside

__all__ = [
    "check_target",
    "give_up",
    "json_text",
    "put_on_disk",
    "replace_file",
    "unseal",
    "whole_file",
    "whole_folder",
    "write_new",
]

# The existing hidden names, which are removed at the end of the process.
_unfinished: set[Path] = set()
# The number of files that are synchronized between checks for signals: 0.1 s or more on a slow disk.
_UNINTERRUPTED = 64
# The suffixes of hidden names: of new content, and of earlier content.
_NEW, _OLD = "new", "old"


def check_target(target: Path, kind: Kind, *, force: bool = False) -> None:
    """Refuse a folder that could not be written, before a run starts, and lock it.

    With `force`, a folder with other content is accepted, because `save` renames it.

    Raises:
        InvalidInputError: the folder cannot be used.

    """
    place = place_of(target, kind, force=force)
    refuse_inside(target, place.folder)
    above = place.folder.parent
    with as_invalid(target):
        while not above.exists():
            above = above.parent
    if not above.is_dir():
        raise InvalidInputError(f"`{above}` is a file, so `{target}` cannot be a folder in it")
    # The test creates a real file, because permission bits do not cover root, read-only mounts and similar
    # cases.
    import tempfile  # lazy: only for results that are saved

    try:
        with tempfile.TemporaryFile(dir=above):
            pass
    except OSError as error:
        raise InvalidInputError(f"cannot write to `{above}`: {error.strerror}") from error
    reserve(place.folder)


@contextmanager
def whole_folder(target: Path, kind: Kind, *, force: bool = False, aside: bool = False) -> Iterator[Path]:
    """Yield a hidden folder next to `target`, which replaces `target` at the end of the block.

    The block ends with a manifest (`manifest.seal`). If writing is interrupted or fails, `target` is
    unchanged. `target` may contain only an earlier result of the same kind; with `force`, other content is
    renamed to `target.old-1` and so on, and with `aside` also an earlier result. A symbolic link is followed.

    Raises:
        InvalidInputError: the folder cannot be used, or another process is writing it.
        OSError: a file cannot be written.

    """
    place = place_of(target, kind, force=force)
    # A hidden folder needs no lock, because no other process writes in it. A lock file that cannot be removed
    # would also become a file of the folder.
    lock = nullcontext() if _is_within_hidden(place.folder) else locked(place.folder)
    with deferred() as signals, _created_parents(place.folder.parent), lock:
        _clear_remains(place.folder)
        # Check again, because another writer may have changed the folder before the lock was taken.
        place = place_of(target, kind, force=force)
        if aside and place.is_there and any(place.folder.iterdir()):
            place = replace(place, aside=True)
        new = _hidden(place.folder, _NEW)
        try:
            with named(new, target):
                disk.make_folder(new)
                with made_folder(new):
                    with signals.admitted():
                        yield new
                    put_on_disk(new, signals)
                _put_in_place(new, place, target)
        finally:
            _forget(new)


def put_on_disk(new: Path, signals: Deferral) -> None:
    """Synchronize the files and names in a new folder; signals are handled between files.

    A signal during a synchronization is deferred, because an exception within the locks of a thread pool
    makes the pool wait forever.
    """
    paths = [new, *manifest.inside(new)]
    for begin in range(0, len(paths), _UNINTERRUPTED):
        disk.sync_all(paths[begin : begin + _UNINTERRUPTED])
        with signals.admitted():
            pass


def _put_in_place(new: Path, place: Place, target: Path) -> None:
    """Put the new folder in its place, and remove or rename the earlier folder."""
    folder = place.folder
    if not place.is_there:
        disk.rename(new, folder)
        _record(target, folder)
        _keep(folder.parent, target)
        return
    new.chmod(folder.stat().st_mode & 0o7777)
    old = _move_aside(new, folder) if place.aside else _exchange(new, folder)
    # The folder is now an earlier result, and no longer unfinished.
    _unfinished.discard(new)
    _record(target, folder)
    try:
        _keep(folder.parent, target)
    except OSError:
        _show(old, folder)
        raise
    if place.aside:
        warnings.warn(f"the earlier content of `{target}` is now in `{old}`", disk.MovedWarning, stacklevel=2)
    else:
        _remove_old(old, folder)


def _move_aside(new: Path, folder: Path) -> Path:
    """Move the new folder to its path, and return the visible name of the earlier folder.

    The new folder first has that visible name, so that no failure hides data of the user.
    """
    aside = _unused(folder)
    disk.rename(new, aside)
    try:
        old = _exchange(aside, folder)
    except BaseException:
        disk.rename(aside, new)
        raise
    if old != aside:
        disk.rename(old, aside)
    return aside


def _exchange(new: Path, folder: Path) -> Path:
    """Exchange two folders, atomically if the system can, and return the new path of the earlier folder."""
    if disk.exchange(new, folder):
        return new
    old = _hidden(folder, _OLD)
    disk.rename(folder, old)
    try:
        disk.rename(new, folder)
    except BaseException:
        disk.rename(old, folder)
        raise
    return old


def _remove_old(old: Path, folder: Path) -> None:
    """Remove an earlier result; files that are new or cannot be removed get a visible name."""
    with suppress(OSError, UnreadableFileError):
        if (old / MANIFEST).is_file():
            manifest.remove_own(old, manifest.read(old))
        else:
            disk.remove_folder(old)
    _show(old, folder)


def _show(old: Path, folder: Path) -> None:
    """Rename the remains of an earlier folder, if any, to a visible name."""
    if not old.exists() or not old.name.startswith("."):
        return
    shown = _unused(folder)
    try:
        disk.rename(old, shown)
    except OSError:
        shown = old
    warnings.warn(f"the rest of the earlier folder is in `{shown}`", disk.LeftoverWarning, stacklevel=2)


def _remains(path: Path) -> Iterator[tuple[Path, str]]:
    """Generate the hidden names next to a path that were created for it, with their suffixes."""
    pattern = re.compile(rf"\.{re.escape(stem(path))}-[0-9a-f]{{12}}\.({_NEW}|{_OLD})")
    for beside in sorted(path.parent.iterdir()):
        if found := pattern.fullmatch(beside.name):
            yield beside, found[1]


def _clear_abandoned(file: Path) -> None:
    """Remove the remains of killed writers of this file."""
    with suppress(OSError):
        for path, _ in _remains(file):
            if is_abandoned(path):
                path.unlink(missing_ok=True)


def _clear_remains(folder: Path) -> None:
    """Remove remains of killed writers and finish their exchanges; the caller has the lock of the folder."""
    for path, suffix in _remains(folder):
        # perhop creates no links. The target of a link must not be renamed or removed.
        if path.is_symlink() or not path.is_dir():
            continue
        if suffix == _OLD and not folder.exists():
            disk.rename(path, folder)
        elif suffix == _OLD or (path / MANIFEST).is_file():
            # The folder may be the earlier folder, so only the files of its manifest are removed.
            _remove_old(path, folder)
        else:
            _remove_tree(path)


def _keep(folder: Path, target: Path) -> None:
    """Synchronize a folder after `target` was created in it."""
    try:
        disk.sync(folder)
    except OSError as error:
        reason = f"{error.strerror}: it is written, but may be lost if the power fails now"
        raise OSError(error.errno, reason, str(target)) from error


def _record(path: Path, place: Path) -> None:
    """Record a written path, unless it is in an unfinished folder."""
    if not _is_within_hidden(place):
        written.append(f"`{path}`")


def _is_within_hidden(path: Path) -> bool:
    """Whether a path is in an unfinished folder of this process."""
    return any(path.is_relative_to(folder) for folder in _unfinished)


@contextmanager
def _created_parents(folder: Path) -> Iterator[None]:
    """Create a folder and its parents; if the block fails, remove the created folders that are empty."""
    missing = []
    while not folder.exists():
        missing.append(folder)
        folder = folder.parent
    try:
        for parent in reversed(missing):
            # Another process may create the folder at the same time.
            with suppress(FileExistsError):
                disk.make_folder(parent)
                with made_folder(parent):
                    disk.sync(parent.parent)
        yield
    except BaseException:
        for parent in missing:
            with suppress(OSError):
                parent.rmdir()
        raise


@contextmanager
def whole_file(path: Path, *, is_result: bool = True) -> Iterator[Path]:
    """Yield a hidden file next to `path`, which replaces `path` at the end of the block.

    If writing is interrupted, `path` stays unchanged. A device or pipe, such as /dev/stdout, is written
    directly.
    """
    if path.is_dir():
        raise InvalidInputError(f"`{path}` is a folder", "give the name of a file")
    if not path.absolute().parent.is_dir():
        raise InvalidInputError(f"`{path.absolute().parent}` is not a folder", "create it first")
    if path.exists() and not path.is_file():
        written.append(f"a part of `{path}`")
        yield path
        written[-1] = f"`{path}`"
        return
    target = Path(os.path.realpath(path))
    temporary = _hidden(target, _NEW)
    with deferred() as signals:
        try:
            with named(temporary, path), held(temporary):
                _clear_abandoned(target)
                with signals.admitted():
                    yield temporary
                    disk.sync(temporary)
                disk.rename(temporary, target)
                _unfinished.discard(temporary)
                if is_result:
                    _record(path, target)
                _keep(target.parent, path)
        finally:
            _forget(temporary)


def replace_file(path: Path, text: str, *, is_result: bool = True) -> None:
    """Write a file completely or not at all; an existing file is replaced.

    An interrupted command names the results that it wrote. `is_result` excludes other files, such as the
    state of a testbed.
    """
    with whole_file(path, is_result=is_result) as new:
        disk.write(new, text)


def unseal(folder: Path, names: Collection[str]) -> None:
    """Mark a complete folder as incomplete before its files are changed one by one.

    Until the folder is sealed again, its manifest lists only some files, as at its start. This shows a reader
    that the same command can continue, even after the writer was killed.

    Raises:
        OSError: the manifest cannot be written.

    """
    found = manifest.read(folder)
    if found["complete"]:
        about = {"seed": found["seed"], "complete": False}
        text = manifest.sealed(folder, found["kind"], about, names)
        replace_file(folder / MANIFEST, text, is_result=False)


def write_new(path: Path, text: str) -> None:
    """Write a file completely or not at all; an existing file is refused."""
    temporary = _hidden(path.absolute(), _NEW)
    try:
        with deferred(), named(temporary, path), held(temporary):
            _clear_abandoned(path.absolute())
            disk.write(temporary, text)
            disk.sync(temporary)
            # A link, unlike a rename, never replaces an existing file.
            disk.link(temporary, path)
            _record(path, path.absolute())
            _keep(path.absolute().parent, path)
    except FileExistsError as error:
        raise InvalidInputError(
            f"`{path}` exists already", "choose another name, or remove it first"
        ) from error
    finally:
        _forget(temporary)


def give_up() -> None:
    """Remove hidden files and locks of this process, at its end."""
    for path in list(_unfinished):
        _forget(path)
    release_all()


atexit.register(give_up)
if hasattr(os, "register_at_fork"):
    # Unfinished folders belong to the process that created them, not to its forks.
    os.register_at_fork(after_in_child=_unfinished.clear)
    os.register_at_fork(after_in_child=forget_all)


def _remove_tree(folder: Path) -> None:
    """Remove a folder as far as possible."""
    import shutil  # lazy: compression, only for remains

    shutil.rmtree(folder, ignore_errors=True)


def _hidden(path: Path, suffix: str) -> Path:
    """Return an unused hidden name in the folder of `path`, which is on the same file system."""
    found = path.with_name(f".{stem(path)}-{os.urandom(6).hex()}.{suffix}")
    if suffix == _NEW:
        _unfinished.add(found)
    return found


def _forget(hidden: Path) -> None:
    """Remove the file or folder with a hidden name, if it exists."""
    if hidden in _unfinished:
        if hidden.is_dir() and not hidden.is_symlink():
            _remove_tree(hidden)
        else:
            with suppress(OSError):
                hidden.unlink(missing_ok=True)
        _unfinished.discard(hidden)


def _unused(folder: Path) -> Path:
    """Return `folder.old-N` with the first unused number from 1 on."""
    number = 1
    while os.path.lexists(found := folder.with_name(f"{folder.name}.old-{number}")):
        number += 1
    return found


@contextmanager
def named(hidden: Path, shown: Path) -> Iterator[None]:
    """Replace the hidden name by `shown` in errors of the block."""
    try:
        yield
    except OSError as error:
        begin, given = str(hidden), error.filename
        if error.errno is None:
            # Errors of libraries have no errno, but a complete message.
            error.args = tuple(str(argument).replace(begin, str(shown)) for argument in error.args)
        elif given is None or Path(str(given)) == hidden:
            error.filename = str(shown)
        elif Path(str(given)).is_relative_to(hidden):
            error.filename = str(shown / Path(str(given)).relative_to(hidden))
        raise
