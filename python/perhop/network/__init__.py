"""A network of devices: the configurations of a folder, their links and routes, and the paths of packets."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path
from typing import Any, Self

from perhop import _core
from perhop.errors import InvalidInputError
from perhop.network.folder import device_files, outputs
from perhop.network.written import FACTS, Facts, read_facts

__all__ = ["FACTS", "Network", "packet_between"]

#: The codepoints of `matrix`: the codepoints of RFC 4594, with one drop precedence per class.
CODEPOINTS = ("ef", "cs6", "cs5", "af41", "cs4", "af31", "cs3", "af21", "cs2", "af11", "cs1", "default")
#: The UDP port of a packet without a port. It is dynamic (RFC 6335), so it belongs to no known application.
_PORT = 49152


@dataclass(frozen=True)
class Network:
    """The devices of a folder of configurations."""

    folder: Path
    facts: Facts
    core: _core.Network

    @classmethod
    def read(
        cls,
        folder: Path,
        routes: Path | None = None,
        *,
        platform: str | None = None,
        assume: Mapping[str, str] | None = None,
    ) -> Self:
        """Read the configurations and the `network.yaml` of a folder.

        `platform` and `assume` are as in `perhop check`; `network.yaml` may name another platform. `routes`
        is a CSV of routes (`device,prefix,next_hop`), an output of a device, or a folder of outputs. They
        replace the computed routes of the devices.

        Raises:
            InvalidInputError: a link or a route names an unknown end, or there is no configuration.
            UnreadableFileError: a file cannot be read.

        """
        shown = outputs(routes) if routes is not None else []
        facts = read_facts(folder, None if shown else routes)
        found = [*device_files(folder, facts), *shown]
        files = [
            {
                "file": device.file.as_posix(),
                "name": device.name,
                "text": device.text,
                "platform": device.platform or platform,
                "assume": dict(assume or {}),
                "is_configuration": device.is_configuration,
            }
            for device in found
        ]
        try:
            core = _core.Network(json.dumps(files), facts.to_json())
        except ValueError as error:
            message, help = (*error.args, None)[:2]
            raise InvalidInputError(f"{folder}: {message}", help) from error
        return cls(folder, facts, core)

    def summary(self) -> dict[str, Any]:
        """Return devices, links with their reasons, guesses, cables, sites, ignored files, and remarks."""
        found: dict[str, Any] = json.loads(self.core.summary())
        return found

    def walk(self, packet: str) -> dict[str, Any]:
        """Return the paths of a packet, written as in `perhop trace`.

        Raises:
            InvalidInputError: the packet cannot be read, or no device is near its source.

        """
        try:
            found: dict[str, Any] = json.loads(self.core.walk(packet))
        except ValueError as error:
            message, help = (*error.args, None)[:2]
            raise InvalidInputError(f"{packet}: {message}", help) from error
        return found

    def matrix(self, codepoints: Sequence[str] = CODEPOINTS) -> Iterator[dict[str, Any]]:
        """Generate for each pair of sites whether codepoints are kept, changed or lost, and where.

        A row has the codepoints (`dscp`) with one fate.
        """
        try:
            text = self.core.matrix(list(codepoints))
        except ValueError as error:
            raise InvalidInputError(str(error.args[0])) from error
        return _rows(text)

    def address(self, end: str, option: str) -> str:
        """Return the address of an end: an address, or a host that `network.yaml` names.

        Raises:
            InvalidInputError: `end` is neither an address nor a known host.

        """
        if end in self.facts.hosts:
            return self.facts.hosts[end]
        try:
            return str(ip_address(end))
        except ValueError:
            hosts = ", ".join(self.facts.hosts) or f"none in {FACTS}"
            raise InvalidInputError(
                f"{option} {end}: neither an address nor a host", f"hosts: {hosts}"
            ) from None


def _rows(text: str) -> Iterator[dict[str, Any]]:
    """Generate the elements of a JSON list one by one, because a large network has too many for memory."""
    decoder = json.JSONDecoder()
    place = len("[")
    while place < len(text) - len("]"):
        row, place = decoder.raw_decode(text, place)
        yield row
        place += len(",")


def packet_between(source: str, destination: str, rest: str) -> str:
    """Return a packet with both ends: `udp dscp ef` gives `udp SOURCE:PORT > DESTINATION:PORT dscp ef`.

    Ports may precede the fields: `udp 16384 > 16384 dscp ef`, `tcp > 443`.
    """
    words = rest.split() or ["udp"]
    protocol, fields = words[0], words[1:]
    ports = [_PORT, _PORT]
    if fields and fields[0].isdigit():
        ports[0] = int(fields.pop(0))
    if fields[:1] == [">"]:
        fields.pop(0)
        if not (fields and fields[0].isdigit()):
            raise InvalidInputError(
                f"--packet {rest}: the port behind `>` is missing", "for example 'udp 16384 > 16384 dscp ef'"
            )
        ports[1] = int(fields.pop(0))
    has_ports = protocol in ("tcp", "udp")
    ends = [
        _end(address, port if has_ports else None)
        for address, port in zip((source, destination), ports, strict=True)
    ]
    return " ".join([protocol, ends[0], ">", ends[1], *fields])


def _end(address: str, port: int | None) -> str:
    if port is None:
        return address
    return f"[{address}]:{port}" if ":" in address else f"{address}:{port}"
