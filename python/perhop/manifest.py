"""The manifest of a folder that perhop wrote: its kind, and size and SHA-256 of every file in it.

Checksums protect against damage and mistakes, not against an attacker who computes new checksums.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any, Literal

from perhop import _core, disk
from perhop.errors import UnreadableFileError
from perhop.inputs import parsed_json
from perhop.loading import damaged, read_bytes

#: The name of the manifest. perhop may replace a folder with a manifest in its own format.
MANIFEST = "manifest.json"
#: The value of `format` in a manifest of perhop; other programs also write a manifest.json.
FORMAT = "perhop"
#: The version of the layout of manifests. A change that could break a reader increments the version.
VERSION = 2

#: The kind of content of a folder.
Kind = Literal["run", "live", "sweep", "tuning", "comparison", "study", "captures", "tables"]


def json_text(value: object) -> str:
    """Return a value as indented JSON; NaN, which JSON does not have, is refused."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, indent=2) + "\n"


def digest(content: bytes) -> str:
    """Return the SHA-256 of a file's content."""
    import hashlib  # lazy: OpenSSL, only for results that are saved

    return hashlib.sha256(content).hexdigest()


def described(kind: Kind, about: Mapping[str, Any]) -> dict[str, Any]:
    """Return the header of a manifest: all keys except the files."""
    return {"format": FORMAT, "schema_version": VERSION, "perhop": _core.__version__, "kind": kind, **about}


def seal(folder: Path, kind: Kind, about: Mapping[str, Any]) -> None:
    """Write the manifest of a folder with its current content."""
    disk.write(folder / MANIFEST, sealed(folder, kind, about))


def sealed(folder: Path, kind: Kind, about: Mapping[str, Any], names: Collection[str] | None = None) -> str:
    """Return the manifest of a folder with some files, or with all files except a manifest.

    The manifest contains neither date nor machine, so that equal results give equal bytes.
    """
    files = {}
    for name in sorted({*(_names(folder) if names is None else names)} - {MANIFEST}):
        content = (folder / name).read_bytes()
        files[name] = {"bytes": len(content), "sha256": digest(content)}
    manifest = described(kind, about) | {"files": files}
    # The checksum of the manifest covers its text without this key.
    manifest["sha256"] = digest(json_text(manifest).encode())
    return json_text(manifest)


def _names(folder: Path) -> Iterator[str]:
    # A folder that cannot be listed is not empty.
    for above, _, files in os.walk(folder, onerror=_raise):
        for name in files:
            yield (Path(above) / name).relative_to(folder).as_posix()


def parse(file: Path, content: bytes) -> dict[str, Any]:
    """Return the content of a manifest.

    Raises:
        UnreadableFileError: the content is not a manifest of perhop, has another version, or is damaged.

    """
    try:
        found = parsed_json(content)
    except ValueError as error:
        raise damaged(file, str(error)) from error
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        _refuse_older(file, found)
        raise UnreadableFileError(f"`{file}` is not a manifest of perhop", "give a folder that perhop wrote")
    given = found.pop("sha256", None)
    text = json_text(found)
    whole = json_text(found | {"sha256": given})
    # The comparison is of texts, to find changes that do not change the JSON value.
    if given != digest(text.encode()) or whole.encode() != content:
        raise damaged(file, "it has changed since it was saved")
    if found["schema_version"] != VERSION:
        raise UnreadableFileError(
            f"`{file}` has format {found['schema_version']} of a later version of perhop ({found['perhop']})",
            f"this version reads format {VERSION}: update perhop",
        )
    return found


def _refuse_older(file: Path, found: object) -> None:
    """Refuse a manifest of format 1, which had no checksums."""
    if isinstance(found, dict) and "perhop" in found and found.get("schema_version") == 1:
        raise UnreadableFileError(
            f"`{file.parent}` was written by an earlier version of perhop, without checksums: "
            "its content cannot be verified",
            "run its scenario.json again with another folder",
        )


def read(folder: Path) -> dict[str, Any]:
    """Return the manifest of a folder; raises `UnreadableFileError`."""
    return parse(folder / MANIFEST, read_bytes(folder / MANIFEST))


def is_safe(name: str) -> bool:
    """Whether a name in a manifest refers to a file inside its folder."""
    path = PurePosixPath(name)
    return bool(path.parts) and not path.is_absolute() and ".." not in path.parts


def foreign(folder: Path, manifest: Mapping[str, Any]) -> Iterator[str]:
    """Generate the files of a folder that are not in its manifest, because they belong to the user."""
    own = {MANIFEST, *manifest["files"]}
    above = {str(parent) for name in own for parent in PurePosixPath(name).parents}
    for path in inside(folder):
        name = path.relative_to(folder).as_posix()
        is_folder = stat.S_ISDIR(path.lstat().st_mode)
        if name not in above if is_folder else name not in own or not stat.S_ISREG(path.lstat().st_mode):
            yield name


def remove_own(folder: Path, manifest: Mapping[str, Any]) -> None:
    """Remove the files in the manifest of a folder, and the folder if it is then empty.

    Links are not followed, and files that the manifest does not name are not touched. The manifest is removed
    last.
    """
    own = {MANIFEST, *manifest["files"]}
    paths = sorted(inside(folder), reverse=True)
    named = [path for path in paths if path.relative_to(folder).as_posix() in own]
    files = [path for path in named if stat.S_ISREG(path.lstat().st_mode)]
    disk.remove_all([path for path in files if path != folder / MANIFEST])
    disk.remove(folder / MANIFEST)
    for path in paths:
        if path.is_dir() and not path.is_symlink() and not any(path.iterdir()):
            disk.remove_folder(path)
    if not any(folder.iterdir()):
        disk.remove_folder(folder)


def inside(folder: Path) -> Iterator[Path]:
    """Generate the content of a folder without following links; raises `OSError` for unreadable folders."""
    for above, folders, files in os.walk(folder, onerror=_raise):
        yield from (Path(above) / name for name in (*folders, *files))


def _raise(error: OSError) -> None:
    raise error
