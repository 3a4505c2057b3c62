"""The target of a folder of results, and whether its content may be replaced."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from perhop import manifest
from perhop.errors import InvalidInputError, UnreadableFileError
from perhop.loading import is_file
from perhop.manifest import MANIFEST, Kind
from perhop.saved import WORDS, is_own


@dataclass(frozen=True)
class Place:
    """The target of a folder of results."""

    #: The folder without symbolic links, so that a link to the folder remains a link.
    folder: Path
    #: Whether the path exists.
    is_there: bool
    #: Whether the folder is renamed instead of removed, because it has files that perhop did not write.
    aside: bool


def place_of(target: Path, kind: Kind, *, force: bool) -> Place:
    """Return the target of a folder of this kind; raises `InvalidInputError` if it cannot be written."""
    with as_invalid(target):
        folder = Path(os.path.realpath(target))
        if target.is_symlink() and not folder.exists():
            raise InvalidInputError(
                f"`{target}` is a symbolic link to `{folder}`, which does not exist",
                "create it, or remove the link",
            )
        if not folder.exists():
            return Place(folder, is_there=False, aside=False)
        if not folder.is_dir():
            raise InvalidInputError(f"`{target}` is a file", "give the name of a folder")
        _refuse_in_use(target, folder)
        foreign = _foreign(folder, kind)
    if foreign and not force:
        raise InvalidInputError(
            f"`{target}` {foreign}", "choose a new or an empty folder, or move it aside with --force"
        )
    return Place(folder, is_there=True, aside=foreign is not None)


def refuse_inside(target: Path, folder: Path) -> None:
    """Refuse a folder inside a folder that perhop wrote, because the outer manifest does not list it.

    Raises:
        InvalidInputError: a folder above `folder` has a manifest; the message names `target`.

    """
    for above in folder.parents:
        if is_own(above):
            raise InvalidInputError(
                f"`{target}` is inside of `{above}`, which has results of perhop", "choose another folder"
            )


def _refuse_in_use(target: Path, folder: Path) -> None:
    """Refuse a mount point, and the current folder, in which a shell would remain after its removal."""
    if Path.cwd().is_relative_to(folder):
        raise InvalidInputError(
            f"`{target}` is the current folder or contains it, so it cannot be replaced",
            f"give a folder in it, for example -o {target / 'results'}",
        )
    if folder.is_mount():
        raise InvalidInputError(
            f"`{target}` is a mount point, which cannot be replaced",
            f"give a folder in it, for example -o {target / 'results'}",
        )


def _foreign(folder: Path, kind: Kind) -> str | None:
    """Return the reason why a folder is not an earlier result of this kind; `None` if it is, or if empty."""
    if not any(folder.iterdir()):
        return None
    if not is_file(folder / MANIFEST):
        return "is not empty and has no earlier result of perhop"
    try:
        found = manifest.read(folder)
    except UnreadableFileError as error:
        return f"has no earlier result of perhop that can be replaced: {error}"
    if found["kind"] != kind:
        what, command = WORDS.get(found["kind"], (f"results of kind `{found['kind']}`", "another command"))
        return f"has an earlier result of another kind: {what} (`{command}`)"
    names = sorted(manifest.foreign(folder, found))
    if not names:
        return None
    more = f" and {len(names) - 1} more" if len(names) > 1 else ""
    return f"has files that are not part of the saved results: `{names[0]}`{more}"


@contextmanager
def as_invalid(target: Path) -> Iterator[None]:
    """Report a folder that cannot be searched as invalid input."""
    try:
        yield
    except OSError as error:
        raise InvalidInputError(f"cannot read folder `{target}`: {error.strerror}") from error
