"""The configurations and outputs of devices below a folder, in the usual layouts.

Batfish keeps them in `configs/`, containerlab names them in a topology file (`*.clab.yml`), oxidized and
RANCID keep one file for each device without a suffix, GNS3 and EVE-NG export `*_startup-config.cfg`. All of
them are text below the folder; the extension module distinguishes configurations and outputs of devices by
their content.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from perhop import _core
from perhop.configuration import ROUTER_SUFFIXES, read
from perhop.errors import InvalidInputError, PerhopError
from perhop.limits import processors
from perhop.network.labs import inner_configurations
from perhop.network.written import Facts

# Suffixes of files that are not configurations: data, documents, pictures, and outputs of devices.
_OTHER_SUFFIXES = frozenset(
    f".{suffix}"
    for suffix in (
        *("yaml", "yml", "json", "csv", "md", "rst", "html", "png", "svg", "jpg", "pdf"),
        *("zip", "gz", "py", "sh", "pcap", "pcapng", "gns3", "unl", "log"),
    )
)
# Folders of Batfish's snapshots without configurations of network devices.
_OTHER_FOLDERS = frozenset({"hosts", "iptables", "aws_configs", "sonic_configs", "checkpoint_management"})


@dataclass(frozen=True)
class DeviceFile:
    """The text of a file that may be a configuration, or an output of a device."""

    #: The path of the file, relative to the folder.
    file: Path
    text: str
    #: The name of the device, if it comes from a source other than the configuration.
    name: str | None
    platform: str | None
    #: Whether the name of the file marks it as a configuration.
    is_configuration: bool


def device_files(folder: Path, facts: Facts) -> list[DeviceFile]:
    """Return the files below a folder that may be configurations or outputs of devices.

    A configuration inside a lab has the path `LAB/NODE`, unless the lab also has an exported file.
    """
    candidates = list(_candidates(folder))
    with ThreadPoolExecutor(max_workers=processors()) as pool:
        texts = list(pool.map(_text, candidates))
    found = []
    for path, text in zip(candidates, texts, strict=True):
        if text is not None:
            own = path.relative_to(folder)
            name, platform = facts.device_of(own)
            found.append(DeviceFile(own, text, name, platform, path.suffix in ROUTER_SUFFIXES))
    exported = {device.name for device in found}
    for lab, name, text in inner_configurations(folder):
        if name not in exported:
            own = lab.relative_to(folder) / name
            found.append(DeviceFile(own, text, name, None, is_configuration=True))
    return found


def outputs(routes: Path) -> list[DeviceFile]:
    """Return the outputs of devices in a file, or in the files of a folder; empty if the file is a table.

    Raises:
        InvalidInputError: a file of the folder has neither routes nor neighbors.
        UnreadableFileError: a file cannot be read.

    """
    files = sorted(path for path in routes.iterdir() if path.is_file()) if routes.is_dir() else [routes]
    found = []
    for file in files:
        text = read(file)
        if _core.is_device_output(text):
            found.append(DeviceFile(file, text, None, None, is_configuration=False))
        elif file != routes:
            raise InvalidInputError(f"{file} has no routes", "give the routes that a device prints")
    return found


def _candidates(folder: Path) -> Iterator[Path]:
    for parent, folders, files in os.walk(folder):
        kept = (name for name in folders if not name.startswith(".") and name not in _OTHER_FOLDERS)
        folders[:] = sorted(kept)
        for name in sorted(files):
            is_other = name.startswith(".") or Path(name).suffix.lower() in _OTHER_SUFFIXES
            # GNS3 stores the keys of a router in `i1_private-config.cfg`.
            if not is_other and "private-config" not in name:
                yield Path(parent, name)


def _text(path: Path) -> str | None:
    try:
        text = read(path)
    except PerhopError:
        return None
    return None if "\0" in text else text
