"""`perhop network`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from perhop.command.lines import show_lines
from perhop.command.options import Json, RoutesFile
from perhop.command.terminal import print_json, say_written
from perhop.errors import Exit, InvalidInputError
from perhop.network import FACTS, Network
from perhop.printable import printable
from perhop.quantity import counted
from perhop.saving import write_new

Folder = Annotated[Path, Parameter()]
Write = Annotated[bool, Parameter(name="--write", negative=())]


def network(
    folder: Folder,
    /,
    *,
    write: Write = False,
    routes: RoutesFile = None,
    json: Json = False,
) -> Exit:
    """Show the devices, links and sites of a folder of configurations, with the reason for each link.

    Parameters
    ----------
    folder
        A folder of configurations: any layout, also those of Batfish, containerlab, oxidized and RANCID.
    write
        Write the links and sites to network.yaml in the folder, where they can be corrected.

    """
    found = Network.read(_folder(folder), routes)
    summary = found.summary()
    if write:
        file = folder / FACTS
        if file.exists():
            raise InvalidInputError(f"{file} exists", "delete it first, or edit it")
        write_new(file, facts_text(summary))
        say_written(file)
    if json:
        print_json({"schema_version": 1, **summary, "passed_over": found.passed_over})
    else:
        show_lines("\n".join(map(printable, _lines(summary, found.passed_over))), {})
    return Exit.OK


def _folder(folder: Path) -> Path:
    if not folder.is_dir():
        raise InvalidInputError(f"{folder} is not a folder", "a network is a folder of configurations")
    return folder


def _lines(summary: Mapping[str, Any], passed_over: int) -> Iterator[str]:
    devices = summary["devices"]
    yield f"{counted(len(devices), 'device')}:"
    width = max(len(device["name"]) for device in devices)
    for device in devices:
        count = counted(device["interfaces"], "interface")
        yield f"  {device['name']:<{width}}  {count}, {device['policies']} with a policy  ({device['file']})"
    yield f"{counted(len(summary['links']), 'link')}:"
    yield from (f"  {link_text(link)}" for link in summary["links"])
    sites = summary["sites"]
    yield f"{counted(len(sites), 'site')}:"
    yield from (f"  {site['name']}  behind {site['device']}:{site['interface']}" for site in sites)
    for one in summary["left_out"]:
        yield f"not read: {one['file']}: {one['because']}"
    if passed_over:
        yield f"passed over: {counted(passed_over, 'file')} that are not configurations"
    yield from (f"note: {remark}" for remark in summary["remarks"])


def link_text(link: Mapping[str, Any]) -> str:
    """Return a link with its reason."""
    ends = " - ".join(f"{end['device']}:{end['interface']}" for end in link["ends"])
    reason = "written" if link["reason"] == "written" else f"both in {link['subnet']}"
    if len(link["ends"]) > 2 and link["reason"] != "written":
        reason = f"all in {link['subnet']}"
    return f"{ends}  ({reason}{', a tunnel' if link['is_tunnel'] else ''})"


def facts_text(summary: Mapping[str, Any]) -> str:
    """Return the text of network.yaml that states what was inferred."""
    lines = [
        "# What perhop inferred from the configurations of this folder. Correct what is wrong.",
        "links:",
    ]
    for link in summary["links"]:
        if not link["is_tunnel"]:
            ends = ", ".join(f"{end['device']}:{end['interface']}" for end in link["ends"])
            lines.append(f"  - [{ends}]" + (f"  # {link['subnet']}" if "subnet" in link else ""))
    lines.append("# Hosts that send and receive; the first address of each subnet without another device.")
    lines.append("hosts:")
    lines += [f'  "{site["name"]}": {site["address"]}' for site in summary["sites"]]
    lines.append("# Routes that perhop does not compute, for example of EIGRP or BGP, by device:")
    lines.append("# routes:")
    lines.append("#   R3: [10.9.0.0/16 = 192.0.2.1]")
    return "\n".join(lines) + "\n"
