"""Temporary folders for the files of hosts and forwarders, which a killed command leaves behind."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path

from perhop.live import private
from perhop.live.owner import PREFIX, Owner

# The owner file, which identifies a folder of perhop and names the process that made the folder.
_FILE = "owner.json"


@contextmanager
def scratch() -> Iterator[Path]:
    """Yield a temporary folder that `perhop live clean` recognizes after a crash."""
    owner = Owner.current()
    with tempfile.TemporaryDirectory(prefix=f"{PREFIX}{owner.tag}-") as folder:
        (Path(folder) / _FILE).write_text(json.dumps(asdict(owner)), encoding="utf-8")
        yield Path(folder)


def scratch_folders() -> Iterator[tuple[Owner, Path]]:
    """Generate this user's temporary folders, with the processes that made them."""
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        owner = Owner.of_name(folder.name)
        if owner is not None and _is_of(owner, folder):
            yield owner, folder


def _is_of(owner: Owner, folder: Path) -> bool:
    """Whether `folder` belongs to `owner`.

    The owner file names the process, or the folder contains at most the owner file.
    """
    with suppress(OSError, private.StrangeFolderError), private.opened(folder) as inner:
        text = private.text_in(inner, _FILE)
        with suppress(ValueError):
            if text is not None and json.loads(text) == asdict(owner):
                return True
        return set(private.names_in(inner)) <= {_FILE}
    return False
