"""Links that descriptions of interfaces suggest: listed with their reason, and not used by walks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from conftest import Command
from perhop.network import Network


def router(name: str, **interfaces: str) -> str:
    """Return a router with interfaces, each with its lines between commas: `Gi0_1="description to B"`."""
    lines = [f"hostname {name}"]
    for interface, text in interfaces.items():
        lines.append("interface " + interface.replace("Gi", "GigabitEthernet").replace("_", "/"))
        lines += [f" {line.strip()}" for line in text.split(",")]
    return "\n".join(lines) + "\n"


def guesses(folder: Path, *routers: str) -> list[Any]:
    """Return the ends of each guess, and the devices whose descriptions suggest it."""
    for number, text in enumerate(routers):
        (folder / f"r{number}.cfg").write_text(text)
    found = []
    for guess in Network.read(folder).summary()["guesses"]:
        ends = " - ".join(f"{end['device']}:{end['interface'][-3:]}" for end in guess["ends"])
        found.append((ends, [description["device"] for description in guess["described"]]))
    return found


LAN = "ip address 10.1.0.1 255.255.255.0"


@pytest.mark.parametrize(
    ("here", "there", "expected"),
    [
        # One end names the port of the other, in several notations.
        ("description to HQ Gi0/1", "ip address dhcp", ["NORTH"]),
        ("description -> hq:Gi0/1", "ip address dhcp", ["NORTH"]),
        ("description [HQ.example.net] GigabitEthernet 0/1 20Mb/s", "ip address dhcp", ["NORTH"]),
        # Both ends name each other, with or without ports.
        ("description to HQ Gi0/1", "description NORTH (Gi0/1)", ["HQ", "NORTH"]),
        ("description line to HQ", "description line to NORTH", ["HQ", "NORTH"]),
        # Addresses of different subnets do not show a link.
        (
            "description to HQ Gi0/1, ip address 192.0.2.1 255.255.255.252",
            "ip address 198.51.100.1 255.255.255.252",
            ["NORTH"],
        ),
        # No port, no other device, a missing port, or a description of another device.
        ("description line to HQ", "ip address dhcp", None),
        ("description line to the provider", "description line to NORTH", None),
        ("description to HQ Gi0/7", "description to NORTH", None),
        ("description to HQ Gi0/1", "description to NORTH Gi0/2", None),
        ("description to HQ Gi0/1, shutdown", "description to NORTH Gi0/1", None),
    ],
)
def test_descriptions_suggest_a_link(
    tmp_path: Path, here: str, there: str, expected: list[str] | None
) -> None:
    north = router("NORTH", Gi0_1=here, Gi0_2=LAN)
    found = guesses(tmp_path, north, router("HQ", Gi0_1=there, Gi0_2="ip address 10.2.0.1 255.255.255.0"))
    assert found == ([("HQ:0/1 - NORTH:0/1", expected)] if expected else [])


def test_what_contradicts_is_not_guessed(tmp_path: Path) -> None:
    """Two ports cannot be connected to one, and a description with two devices counts for neither."""
    north, other = (router(name, Gi0_1="description to HQ Gi0/1") for name in ("NORTH", "SOUTH"))
    assert guesses(tmp_path, north, other, router("HQ", Gi0_1="ip address dhcp")) == []
    several = router("SOUTH", Gi0_1="description NORTH or HQ Gi0/1")
    assert guesses(tmp_path, north, several, router("HQ", Gi0_1="ip address dhcp")) == [
        ("HQ:0/1 - NORTH:0/1", ["NORTH"])
    ]


def test_addresses_come_first(tmp_path: Path) -> None:
    """A stale description does not change the link of a subnet, and suggests no guess."""
    north = router("NORTH", Gi0_1="description to SOUTH Gi0/1, ip address 192.0.2.1 255.255.255.252")
    hq = router("HQ", Gi0_1="ip address 192.0.2.2 255.255.255.252")
    south = router("SOUTH", Gi0_1="description to NORTH Gi0/1, ip address dhcp")
    assert guesses(tmp_path, north, hq, south) == []
    (link,) = Network.read(tmp_path).summary()["links"]
    assert ({end["device"] for end in link["ends"]}, link["reason"]) == ({"HQ", "NORTH"}, "subnet")


def test_parts_of_an_interface_are_connected_with_it(tmp_path: Path) -> None:
    """The interface around sub-interfaces of a link has a description, but no separate link."""
    ends = []
    for number, (name, other) in enumerate((("HQ", "NORTH"), ("NORTH", "HQ")), 1):
        tagged = f"interface GigabitEthernet0/1.10\n encapsulation dot1q 10\n ip address 192.0.2.{number} "
        ends.append(router(name, Gi0_1=f"description to {other} Gi0/1") + tagged + "255.255.255.252\n")
    assert guesses(tmp_path, *ends) == []


def test_the_answer_gives_the_reason_and_no_walk_takes_it(perhop: Command, tmp_path: Path) -> None:
    folder = tmp_path / "configs"
    folder.mkdir()
    route = "ip route 0.0.0.0 0.0.0.0 GigabitEthernet0/1\n"
    for number, (name, other) in enumerate((("HQ", "NORTH"), ("NORTH", "HQ")), 1):
        lan = f"ip address 10.{number}.0.1 255.255.255.0"
        text = router(name, Gi0_1=f"description to {other}, ip address dhcp", Gi0_2=lan) + route
        (folder / f"{name}.cfg").write_text(text)
    shown = perhop("network", folder)
    assert "1 guess, not used; write the correct ones to network.yaml:" in shown.out
    line = "HQ:GigabitEthernet0/1 - NORTH:GigabitEthernet0/1  (HQ:GigabitEthernet0/1 has the description"
    assert line in " ".join(shown.out.split()).replace(" (HQ", "  (HQ")
    ends = ("--from", "10.1.0.5", "--to", "10.2.0.5", "--packet", "udp")
    assert json.loads(perhop("network", folder, "--json").out)["links"] == []
    assert "2. NORTH" not in perhop("trace", folder, *ends).out
    assert perhop("network", folder, "--write").code == 0
    facts = folder / "network.yaml"
    assert "#  - [HQ:GigabitEthernet0/1, NORTH:GigabitEthernet0/1]\n" in facts.read_text()
    assert json.loads(perhop("network", folder, "--json").out)["links"] == []
    facts.write_text(facts.read_text().replace("#  - [", "  - ["))
    found = json.loads(perhop("network", folder, "--json").out)
    assert (len(found["links"]), found["guesses"]) == (1, [])
    assert "2. NORTH" in perhop("trace", folder, *ends).out
