"""`network.yaml`: the facts about a network that are not in configurations.

The module also reads the cables and names of labs, and routes from a CSV.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from perhop.errors import InvalidInputError
from perhop.inputs import TRAFFIC, read_input
from perhop.network.labs import read_labs, yaml_mapping

#: The name of the file.
FACTS = "network.yaml"
_KEYS = ("links", "routes", "hosts", "devices")
_DEVICE_KEYS = ("name", "platform")
# The columns of a CSV of routes (and `vrf`), and the columns of the answer to Batfish's question `routes`.
_COLUMNS = ("device", "prefix", "next_hop")
_BATFISH = ("Node", "Network", "Next_Hop_IP", "Next_Hop_Interface")
# The text of Batfish for a missing value.
_NONE = ("", "AUTO/NONE(-1l)", "null", "dynamic")


@dataclass
class Facts:
    """Links, routes, hosts, and the names and platforms of devices by the paths of their files."""

    links: list[list[str]] = field(default_factory=list)
    #: Cables of the descriptions of labs.
    cables: list[dict[str, Any]] = field(default_factory=list)
    routes: dict[str, list[str]] = field(default_factory=dict)
    hosts: dict[str, str] = field(default_factory=dict)
    devices: dict[str, dict[str, str]] = field(default_factory=dict)

    def to_json(self) -> str:
        """Return the facts in the form for the extension module."""
        keys = ("links", "cables", "routes", "hosts")
        return json.dumps({key: getattr(self, key) for key in keys})

    def device_of(self, file: Path) -> tuple[str | None, str | None]:
        """Return the name and the platform that the facts have for the device of a file, if any."""
        own = self.devices.get(file.as_posix(), {})
        return own.get("name"), own.get("platform")


def read_facts(folder: Path, routes: Path | None) -> Facts:
    """Return the facts of a folder, with the routes of a CSV.

    Raises:
        InvalidInputError: a file has the wrong type or keys.
        UnreadableFileError: a file cannot be read.

    """
    lab = read_labs(folder)
    facts = Facts(cables=lab.cables, devices={path: {"name": name} for path, name in lab.names.items()})
    file = folder / FACTS
    if file.is_file():
        _add_written(facts, file)
    if routes is not None:
        for device, route in _routes(routes):
            facts.routes.setdefault(device, []).append(route)
    return facts


def _add_written(facts: Facts, file: Path) -> None:
    data = yaml_mapping(file, f"its keys are {', '.join(_KEYS)}")

    def wrong(key: str, right: str) -> InvalidInputError:
        return InvalidInputError(f"{file}: `{key}` has the wrong type or keys", right)

    for key in data:
        if key not in _KEYS:
            raise InvalidInputError(f"{file}: there is no key `{key}`", f"keys: {', '.join(_KEYS)}")
    links = data.get("links") or []
    if not isinstance(links, list) or not all(_is_texts(link) and len(link) > 1 for link in links):
        raise wrong("links", "a list of links, for example `- [R1:Gi0/1, R2:Gi0/0]`")
    facts.links += links
    routes = data.get("routes") or {}
    if not isinstance(routes, dict) or not all(_is_texts(own) for own in routes.values()):
        raise wrong("routes", "routes by device, for example `R3: [10.9.0.0/16 = 192.0.2.1]`")
    facts.routes |= {str(device): list(own) for device, own in routes.items()}
    hosts = data.get("hosts") or {}
    if not isinstance(hosts, dict) or not all(isinstance(address, str) for address in hosts.values()):
        raise wrong("hosts", "addresses by name, for example `phone: 10.1.0.5`")
    facts.hosts |= {str(name): address for name, address in hosts.items()}
    devices = data.get("devices") or {}
    if not isinstance(devices, dict) or not all(
        isinstance(own, dict) and set(own) <= set(_DEVICE_KEYS) for own in devices.values()
    ):
        raise wrong("devices", "by file, for example `configs/edge.cfg: {name: R1}`")
    facts.devices |= {
        str(path): {key: str(value) for key, value in own.items()} for path, own in devices.items()
    }


def _is_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(element, str) for element in value)


def _routes(file: Path) -> Iterator[tuple[str, str]]:
    """Generate the device and the route of each line of a CSV."""
    text = read_input(file, TRAFFIC).decode("utf-8-sig", "replace")
    rows = csv.DictReader(text.splitlines())
    columns = rows.fieldnames or []
    batfish = set(_BATFISH) <= set(columns)
    if not batfish and not set(_COLUMNS) <= set(columns):
        raise InvalidInputError(
            f"{file}, line 1: not a table of routes",
            f"its columns are {','.join(_COLUMNS)}, or those of Batfish's question `routes`; or give the "
            "output of `show ip route`",
        )
    for row in rows:
        if batfish:
            target = next((row[key] for key in _BATFISH[2:] if row[key] not in _NONE), None)
            # Connected routes are in the configuration.
            if target is not None and row.get("Protocol") not in ("connected", "local"):
                yield row["Node"], _in_table(row.get("VRF"), f"{row['Network']} = {target}")
        elif not all(row[column] for column in _COLUMNS):
            raise InvalidInputError(f"{file}, line {rows.line_num}: a column is empty", "fill all three")
        else:
            yield row["device"], _in_table(row.get("vrf"), f"{row['prefix']} = {row['next_hop']}")


def _in_table(vrf: str | None, route: str) -> str:
    """Return a route in the table of a VRF, or in the global table."""
    return route if vrf in (None, "", "default") else f"vrf {vrf} {route}"
