"""The configurations below a folder, in the layouts that people have.

Batfish keeps them in `configs/`, containerlab names them in a topology file (`*.clab.yml`), oxidized and
RANCID keep one file for each device without a suffix, GNS3 and EVE-NG export `*_startup-config.cfg`. All of
them are text below the folder; the content shows which are configurations.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from perhop.configuration import router_text
from perhop.errors import InvalidInputError, PerhopError
from perhop.network.written import FACTS, Facts
from perhop.running import processors

# What is not a configuration by its name: data, documents, pictures, and outputs of devices.
_OTHER_SUFFIXES = frozenset(
    f".{suffix}"
    for suffix in (
        *("yaml", "yml", "json", "csv", "md", "rst", "html", "png", "svg", "jpg", "pdf"),
        *("zip", "gz", "py", "sh", "pcap", "pcapng"),
    )
)
# Folders of Batfish's snapshots that have other files than configurations of network devices.
_OTHER_FOLDERS = frozenset({"hosts", "iptables", "aws_configs", "sonic_configs", "checkpoint_management"})


@dataclass(frozen=True)
class ConfigurationFile:
    """The configuration of a device."""

    #: Its path, relative to the folder.
    file: Path
    text: str
    #: The name of the device where something else than the configuration gives it.
    name: str | None
    platform: str | None


@dataclass
class FoundFiles:
    """The configurations of a folder in order."""

    files: list[ConfigurationFile] = field(default_factory=list)
    passed_over: int = 0


def configurations(folder: Path, facts: Facts) -> FoundFiles:
    """Return the configurations below a folder.

    Raises:
        InvalidInputError: there is none.

    """
    candidates = list(_candidates(folder))
    with ThreadPoolExecutor(max_workers=processors()) as pool:
        texts = list(pool.map(_text, candidates))
    found = FoundFiles()
    for path, text in zip(candidates, texts, strict=True):
        if text is None:
            found.passed_over += 1
            continue
        own = path.relative_to(folder)
        name, platform = facts.device_of(own)
        found.files.append(ConfigurationFile(own, text, name, platform))
    if not found.files:
        raise InvalidInputError(
            f"{folder}: no file below it is a configuration of a device",
            f"a network is a folder of configurations; links, routes and hosts may stand in {FACTS}",
        )
    return found


def _candidates(folder: Path) -> Iterator[Path]:
    for parent, folders, files in os.walk(folder):
        kept = (name for name in folders if not name.startswith(".") and name not in _OTHER_FOLDERS)
        folders[:] = sorted(kept)
        for name in sorted(files):
            if not name.startswith(".") and Path(name).suffix.lower() not in _OTHER_SUFFIXES:
                yield Path(parent, name)


def _text(path: Path) -> str | None:
    try:
        return router_text(path)
    except (OSError, PerhopError):
        return None
