"""`perhop network`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

from perhop.command.lines import show_lines
from perhop.command.options import Json, RoutesFile
from perhop.command.parameter import Parameter
from perhop.command.terminal import print_json, print_written
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
        A folder of configurations in any layout, such as those of Batfish, containerlab, oxidized and RANCID.
    write
        Write the links and sites to network.yaml in the folder, so that you can correct them.

    """
    found = Network.read(_folder(folder), routes)
    summary = found.summary()
    if not summary["devices"]:
        raise InvalidInputError(f"{folder}: no device could be read", _left_out(summary))
    if write:
        file = folder / FACTS
        if file.exists():
            raise InvalidInputError(f"{file} exists", "delete it first, or edit it")
        write_new(file, facts_text(summary))
        print_written(file)
    if json:
        print_json({"schema_version": 1, **summary})
    else:
        show_lines("\n".join(map(printable, _lines(summary))), {})
    return Exit.OK


def _folder(folder: Path) -> Path:
    if not folder.is_dir():
        raise InvalidInputError(f"{folder} is not a folder", "a network is a folder of configurations")
    return folder


def _left_out(summary: Mapping[str, Any]) -> str:
    return "; ".join(f"{omission['file']}: {omission['because']}" for omission in summary["left_out"])


def _lines(summary: Mapping[str, Any]) -> Iterator[str]:
    devices = summary["devices"]
    yield f"{counted(len(devices), 'device')}:"
    width = max(len(device["name"]) for device in devices)
    for device in devices:
        count = counted(device["interfaces"], "interface")
        yield f"  {device['name']:<{width}}  {count}, {device['policies']} with a policy  ({device['file']})"
    yield f"{counted(len(summary['links']), 'link')}:"
    yield from (f"  {link_text(link)}" for link in summary["links"])
    if guesses := summary["guesses"]:
        yield f"{counted(len(guesses), 'guess', 'guesses')}, not used; write the correct ones to {FACTS}:"
        yield from (f"  {_guess_text(guess)}" for guess in guesses)
    linked = {end for link in summary["links"] for end in _ends(link)}
    others = [cable for cable in summary["cables"] if not linked.issuperset(cable["ends"])]
    if others:
        yield f"{counted(len(others), 'other cable')}:"
        yield from (f"  {' - '.join(cable['ends'])}  ({cable['source']})" for cable in others)
    sites = summary["sites"]
    yield f"{counted(len(sites), 'site')}:"
    yield from (f"  {site['name']}  behind {site['device']}:{site['interface']}" for site in sites)
    for omitted in summary["left_out"]:
        yield f"not read: {omitted['file']}: {omitted['because']}"
    if summary["passed_over"]:
        count = counted(summary["passed_over"], "file")
        yield f"skipped: {count}, neither configurations nor outputs of devices"
    yield from (f"note: {remark}" for remark in summary["remarks"])


def link_text(link: Mapping[str, Any]) -> str:
    """Return a link with its reason."""
    ends = " - ".join(_ends(link))
    both = "both" if len(link["ends"]) == 2 else "all"
    match link["reason"]:
        case "written":
            reason = "written"
        case "cable":
            subnet = f", {both} in {link['subnet']}" if link["subnet"] else ""
            reason = f"cable of {link['source']}{subnet}"
        case _:
            reason = f"{both} in {link['subnet']}"
    return f"{ends}  ({reason}{', a tunnel' if link['is_tunnel'] else ''})"


def _ends(link: Mapping[str, Any]) -> list[str]:
    return [f"{end['device']}:{end['interface']}" for end in link["ends"]]


def _guess_text(guess: Mapping[str, Any]) -> str:
    """Return a guess with the descriptions that suggest it."""
    reasons = [
        f'{interface["device"]}:{interface["interface"]} has the description "{interface["description"]}"'
        for interface in guess["described"]
    ]
    return f"{' - '.join(_ends(guess))}  ({', '.join(reasons)})"


def facts_text(summary: Mapping[str, Any]) -> str:
    """Return the text of network.yaml with the inferred facts."""
    lines = [
        "# The facts that perhop inferred from the configurations of this folder. Correct the wrong ones.",
        "links:",
    ]
    for link in summary["links"]:
        if not link["is_tunnel"]:
            lines.append(
                f"  - [{', '.join(_ends(link))}]" + (f"  # {link['subnet']}" if link.get("subnet") else "")
            )
    if guesses := summary["guesses"]:
        lines.append("# Guesses from descriptions, which are not used:")
        lines += [f"#  - [{', '.join(_ends(guess))}]" for guess in guesses]
    lines.append("# Hosts that send and receive; the first address of each subnet without another device.")
    lines.append("hosts:")
    lines += [f'  "{site["name"]}": {site["address"]}' for site in summary["sites"]]
    lines.append("# Routes that perhop does not compute, for example of EIGRP or BGP, by device:")
    lines.append("# routes:")
    lines.append("#   R3: [10.9.0.0/16 = 192.0.2.1]")
    return "\n".join(lines) + "\n"
