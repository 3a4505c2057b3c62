"""The cables and the names of devices in the descriptions of labs: containerlab, GNS3 and EVE-NG."""

from __future__ import annotations

import base64
import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import yaml

from perhop import _core
from perhop.errors import InvalidInputError
from perhop.inputs import SCENARIO, read_input

#: The forms of interface names in the labels of cables: `f0/0`, `Gi0/1`, `e0`, `Ethernet1/0`.
_INTERFACE = re.compile(r"[A-Za-z][A-Za-z-]*\s?\d[\d/.:]*")
#: Short names of interfaces by the letters in the name of an adapter: `C7200-IO-FE`, `PA-GE`, `PA-8T`.
_ADAPTERS = (("GE", "gi"), ("FE", "fa"), ("ESW", "fa"), ("E", "e"), ("T", "se"))


@dataclass
class Lab:
    """The cables of a lab, and the names of devices by the paths of their files."""

    cables: list[dict[str, Any]] = field(default_factory=list)
    names: dict[str, str] = field(default_factory=dict)

    def add(self, ends: Iterable[str], source: str) -> None:
        """Add a cable between ends `DEVICE:INTERFACE`, which the file `source` names."""
        written = list(dict.fromkeys(ends))
        if len(written) > 1:
            self.cables.append({"ends": written, "source": source})


def read_labs(folder: Path) -> Lab:
    """Return the cables and names of all descriptions below a folder.

    Raises:
        InvalidInputError: a description has the wrong type or keys.
        UnreadableFileError: a file cannot be read.

    """
    lab = Lab()
    for pattern, read in _READERS.items():
        for file in sorted(folder.rglob(pattern)):
            if not any(part.startswith(".") for part in file.relative_to(folder).parts):
                read(lab, folder, file)
    return lab


def yaml_mapping(file: Path, help: str) -> Mapping[str, Any]:
    """Return the content of a YAML file.

    Raises:
        InvalidInputError: the content is not a mapping.

    """
    text = read_input(file, SCENARIO).decode("utf-8-sig", "replace")
    try:
        data = yaml.safe_load(text)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f", line {mark.line + 1}" if mark else ""
        problem = getattr(error, "problem", None) or "not YAML"
        raise InvalidInputError(f"{file}{line}: {problem}", "write it as YAML") from error
    if data is None:
        return {}
    if not isinstance(data, dict):
        raise InvalidInputError(f"{file}: not a mapping", help)
    return data


def _containerlab(lab: Lab, folder: Path, file: Path) -> None:
    """Add a topology of containerlab (its manual, "Topology definition")."""
    topology = yaml_mapping(file, "its keys are name and topology").get("topology") or {}
    for name, node in (topology.get("nodes") or {}).items():
        written = (node or {}).get("startup-config")
        if isinstance(written, str) and (file.parent / written).is_file():
            path = (file.parent / written).resolve()
            if path.is_relative_to(folder.resolve()):
                lab.names[path.relative_to(folder.resolve()).as_posix()] = str(name)
    for link in topology.get("links") or []:
        ends = link.get("endpoints") if isinstance(link, dict) else None
        if isinstance(ends, list):
            lab.add(filter(None, map(_containerlab_end, ends)), file.name)


def _containerlab_end(end: object) -> str | None:
    """Return an end as `DEVICE:INTERFACE`; containerlab writes an end as a text or as a mapping."""
    if isinstance(end, str):
        return end
    if isinstance(end, dict) and "node" in end and "interface" in end:
        return f"{end['node']}:{end['interface']}"
    return None


def _gns3(lab: Lab, folder: Path, file: Path) -> None:
    """Add a project of GNS3 (its documentation, "The GNS3 files")."""
    try:
        data = json.loads(read_input(file, SCENARIO))
        topology = data.get("topology") or {}
        nodes = {node["node_id"]: node for node in topology.get("nodes") or []}
        links = [
            [(nodes[end["node_id"]], end) for end in link["nodes"]] for link in topology.get("links") or []
        ]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise InvalidInputError(
            f"{file}: not a project of GNS3: {error}", "give the file as GNS3 2.0 or later saves it"
        ) from error
    for link in links:
        lab.add((f"{node['name']}:{_gns3_port(node, end)}" for node, end in link), file.name)
    _name_files(lab, folder, {str(identifier): str(node["name"]) for identifier, node in nodes.items()})


def _name_files(lab: Lab, folder: Path, names: Mapping[str, str]) -> None:
    """Name the configurations in the folders of nodes, and the exported `NODE_startup-config.cfg`."""
    by_length = sorted(names.values(), key=len, reverse=True)
    for path in folder.rglob("*startup-config.cfg"):
        own = path.relative_to(folder)
        inside = next((names[part] for part in own.parts if part in names), None)
        exported = next((name for name in by_length if path.name.startswith(f"{name}_")), None)
        name = inside or exported
        if name is not None:
            lab.names[own.as_posix()] = name


def _gns3_port(node: Mapping[str, Any], end: Mapping[str, Any]) -> str:
    """Return the name of a port, from its label, otherwise its adapter, otherwise the format of the node."""
    label = str((end.get("label") or {}).get("text") or "")
    if _INTERFACE.fullmatch(label):
        return label
    adapter, port = end.get("adapter_number", 0), end.get("port_number", 0)
    slot = str((node.get("properties") or {}).get(f"slot{adapter}") or "")
    kind = next((short for letters, short in _ADAPTERS if letters in slot), None)
    if kind is not None:
        return f"{kind}{adapter}/{port}"
    pattern = str(node.get("port_name_format") or "Ethernet{0}")
    return pattern.replace("{0}", str(adapter))


def inner_configurations(folder: Path) -> Iterator[tuple[Path, str, str]]:
    """Generate the configurations inside labs of EVE-NG: file, name of the device, text.

    Raises:
        InvalidInputError: a lab has the wrong type or keys.
        UnreadableFileError: a file cannot be read.

    """
    for file in sorted(folder.rglob("*.unl")):
        root = _eve_ng_root(file)
        names = {node.get("id"): node.get("name") for node in root.iter("node")}
        for config in root.iterfind("./objects/configs/config"):
            name = names.get(config.get("id"))
            try:
                content = base64.b64decode(config.text or "", validate=False)
            except ValueError as error:
                raise InvalidInputError(
                    f"{file}: the configuration of {name} is not in base64", "export the lab again"
                ) from error
            if name and content:
                yield file, name, _core.router_text(content)


def _eve_ng_root(file: Path) -> ElementTree.Element:
    try:
        return ElementTree.fromstring(read_input(file, SCENARIO))
    except ElementTree.ParseError as error:
        raise InvalidInputError(
            f"{file}: not a lab of EVE-NG: {error}", "give the file as EVE-NG exports it"
        ) from error


def _eve_ng(lab: Lab, folder: Path, file: Path) -> None:
    """Add a lab of EVE-NG: nodes whose interfaces are in one network, or name each other (serial lines)."""
    root = _eve_ng_root(file)
    nodes = {node.get("id", ""): node for node in root.iter("node")}
    networks: dict[str, list[str]] = defaultdict(list)
    for node in nodes.values():
        for interface in node.iter("interface"):
            end = f"{node.get('name')}:{interface.get('name')}"
            if (network := interface.get("network_id")) not in (None, "0"):
                networks[network].append(end)
            elif (far := _eve_ng_far_end(nodes, interface)) is not None:
                lab.add(sorted((end, far)), file.name)
    for ends in networks.values():
        lab.add(ends, file.name)
    lab.cables = [dict(cable) for cable in {json.dumps(cable): cable for cable in lab.cables}.values()]
    names = {identifier: str(node.get("name")) for identifier, node in nodes.items() if node.get("name")}
    _name_files(lab, folder, {f"node {identifier}": name for identifier, name in names.items()})


def _eve_ng_far_end(nodes: Mapping[str, ElementTree.Element], interface: ElementTree.Element) -> str | None:
    far = nodes.get(interface.get("remote_id", ""))
    if far is None:
        return None
    wanted = interface.get("remote_if")
    names: Iterator[str | None] = (
        candidate.get("name") for candidate in far.iter("interface") if candidate.get("id") == wanted
    )
    name = next(names, None)
    return f"{far.get('name')}:{name}" if name else None


_READERS: dict[str, Callable[[Lab, Path, Path], None]] = {
    "*.clab.y*ml": _containerlab,
    "*.gns3": _gns3,
    "*.unl": _eve_ng,
}
