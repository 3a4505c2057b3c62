"""Reading a folder that perhop wrote: the whole folder at once, every file checked against the manifest."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from perhop import disk, manifest
from perhop.errors import InvalidInputError, UnreadableFileError
from perhop.inputs import parsed_json
from perhop.loading import damaged, is_file, read_bytes, unreadable
from perhop.manifest import MANIFEST, Kind, is_safe
from perhop.shape import require

# The number of retries if another process replaces the folder during the read.
_ATTEMPTS = 20

#: The name of a folder's content in messages, and the command that writes such a folder.
WORDS: Mapping[Kind, tuple[str, str]] = {
    "run": ("results of a run", "perhop run -o"),
    "live": ("results of a live run", "perhop live run -o"),
    "sweep": ("sweep", "perhop sweep -o"),
    "tuning": ("tuning", "perhop tune -o"),
    "comparison": ("comparison", "perhop compare -o"),
    "study": ("study", "perhop study run -o"),
    "captures": ("captures", "perhop run --pcap"),
    "tables": ("tables as CSV", "perhop export csv -o"),
}
# Files that only perhop writes, and that identify a folder whose manifest is missing.
_MARKS = ("summary.json", "sweep.json", "tuning.json", "comparison.json", "study.json")


@dataclass(frozen=True)
class Saved:
    """A folder as it was saved: its manifest, and the verified content of every file.

    The object does not change when the folder on the disk changes.
    """

    folder: Path
    manifest: Mapping[str, Any]
    contents: Mapping[str, bytes]

    @classmethod
    def open(cls, folder: str | os.PathLike[str], *kinds: Kind) -> Saved:
        """Read a folder of one of some kinds; equal files share memory.

        Raises:
            InvalidInputError: the folder has other content.
            UnreadableFileError: a file is missing, damaged or cannot be read.

        """
        folder = Path(folder)
        for attempt in range(1, _ATTEMPTS + 1):
            try:
                opened = _opened(folder)
            except (FileNotFoundError, NotADirectoryError) as error:
                raise _nothing(folder, kinds) from error
            except OSError as error:
                raise unreadable(folder, error) from error
            try:
                return cls._read(folder, opened, kinds)
            except UnreadableFileError:
                # Files of the earlier folder vanish when another process has replaced it.
                if attempt == _ATTEMPTS or not _is_replaced(folder, opened):
                    raise
            finally:
                if opened is not None:
                    os.close(opened)
        raise AssertionError

    @classmethod
    def _read(cls, folder: Path, opened: int | None, kinds: tuple[Kind, ...]) -> Saved:
        inside = Path() if opened is not None else folder
        try:
            os.stat(inside / MANIFEST, dir_fd=opened, follow_symlinks=False)
        except FileNotFoundError as error:
            raise _nothing(folder, kinds) from error
        content = read_bytes(inside / MANIFEST, within=opened, shown=folder / MANIFEST)
        found = manifest.parse(folder / MANIFEST, content)
        if kinds and found["kind"] not in kinds:
            raise InvalidInputError(
                f"`{folder}` has no {WORDS[kinds[0]][0]}: its kind is `{found['kind']}`",
                f"give a folder that `{WORDS[kinds[0]][1]}` wrote",
            )
        contents = {MANIFEST: content}
        equal: dict[str, bytes] = {}
        wrong: dict[str, UnreadableFileError] = {}
        for name, entry in found["files"].items():
            try:
                contents[name] = equal.setdefault(entry["sha256"], _verified(folder, name, entry, opened))
            except UnreadableFileError as error:
                wrong[name] = error
        if wrong:
            raise _all_wrong(wrong)
        return cls(folder, found, contents)

    @property
    def kind(self) -> Kind:
        """The kind of results in the folder."""
        kind: Kind = self.manifest["kind"]
        return kind

    def __contains__(self, name: str) -> bool:
        """Whether the folder has a file of this name."""
        return name in self.contents

    def content(self, name: str) -> bytes:
        """Return the content of a file; raises `UnreadableFileError` if none was saved."""
        if name not in self.contents:
            raise UnreadableFileError(f"`{self.folder}` was saved without {name}")
        return self.contents[name]

    def json(self, name: str, shape: object) -> Any:  # noqa: ANN401 - what has that shape
        """Return the contents of a JSON file; raises `UnreadableFileError` if their shape is different."""
        try:
            found = parsed_json(self.content(name), _refused)
        except ValueError as error:
            raise damaged(self.folder / name, str(error)) from error
        require(self.folder / name, found, shape)
        return found

    def within(self, name: str) -> Saved:
        """Return a folder inside this folder, which has a separate manifest."""
        begin = f"{name}/"
        inside = {
            path.removeprefix(begin): content
            for path, content in self.contents.items()
            if path.startswith(begin)
        }
        folder = self.folder / name
        if MANIFEST not in inside:
            raise UnreadableFileError(f"`{self.folder}` was saved without {name}")
        return Saved(folder, manifest.parse(folder / MANIFEST, inside[MANIFEST]), inside)

    def inner(self) -> list[str]:
        """Return the names of the folders inside this folder that have separate manifests."""
        ends = f"/{MANIFEST}"
        return [name.removesuffix(ends) for name in self.contents if name.endswith(ends)]


def _refused(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")


def kind_of(folder: Path) -> Kind | None:
    """Return the kind of a folder; `None` if perhop did not write the folder.

    Raises:
        UnreadableFileError: the manifest is missing, damaged or of another version.

    """
    marked = any(is_file(folder / name) for name in _MARKS)
    if not marked and not is_own(folder):
        return None
    kind: Kind = manifest.read(folder)["kind"]
    return kind


def is_own(folder: Path) -> bool:
    """Return whether a folder has a manifest in perhop's format, intact or not."""
    if not is_file(folder / MANIFEST):
        return False
    try:
        found = parsed_json(read_bytes(folder / MANIFEST))
    except ValueError:
        return False
    return isinstance(found, dict) and (found.get("format") == manifest.FORMAT or "perhop" in found)


def _opened(folder: Path) -> int | None:
    """Open a folder, so that its files stay readable if its name is replaced; `None` if not supported."""
    if disk.OPENS_FOLDERS:
        return os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    os.scandir(folder).close()
    return None


def _verified(folder: Path, name: str, entry: Mapping[str, Any], opened: int | None) -> bytes:
    if not is_safe(name):
        raise damaged(folder / MANIFEST, f"it names `{name}`, which is not in the folder")
    file = Path(name) if opened is not None else folder / name
    content = read_bytes(file, within=opened, shown=folder / name, size=entry["bytes"])
    if manifest.digest(content) != entry["sha256"]:
        raise damaged(folder / name, "it has changed since it was saved (SHA-256)")
    return content


def _all_wrong(wrong: Mapping[str, UnreadableFileError]) -> UnreadableFileError:
    """Return the error for files that changed since they were saved: about the first file, with all names."""
    (_, first), *others = wrong.items()
    if not others:
        return first
    names = ", ".join(name for name, _ in others)
    return UnreadableFileError(f"{first}; also changed since they were saved: {names}", first.help)


def _is_replaced(folder: Path, opened: int | None) -> bool:
    if opened is None:
        # The folder may have been replaced; a damaged folder is therefore read several times.
        return True
    try:
        return not os.path.samestat(folder.stat(), os.fstat(opened))
    except FileNotFoundError:
        return True
    except OSError:
        return False


def _nothing(folder: Path, kinds: tuple[Kind, ...]) -> InvalidInputError:
    what, command = WORDS[kinds[0]] if kinds else ("results of perhop", "perhop run -o")
    return InvalidInputError(
        f"`{folder}` has no {what}: there is no {MANIFEST}", f"give a folder that `{command}` wrote"
    )
