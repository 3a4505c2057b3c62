"""The picture of a router configuration: the input and output policy of each interface."""

from __future__ import annotations

import json
from typing import cast

from perhop import _core
from perhop.configuration import checked
from perhop.core_types import QueueDescription, RouterPort
from perhop.draw import stacked, svg, words
from perhop.draw.policy import conditioner_picture, port_picture
from perhop.draw.svg import Picture
from perhop.errors import InvalidInputError
from perhop.ports import Port
from perhop.quantity import counted
from perhop.schema_types import LinkConfig

# The name of a router without a hostname.
_NAMELESS = "router"


def router(text: str) -> str:
    """Return one SVG of a configuration: for each interface classifier, queues, scheduler, ring and wire.

    Raises:
        InvalidInputError: the configuration has no interface.

    """
    found = checked(text)["router"]
    name, interfaces = found["hostname"] or _NAMELESS, found["ports"]
    pictures = [picture for interface in interfaces for picture in _interface(name, interface)]
    if not pictures:
        raise InvalidInputError(
            "the configuration has no interface", "`perhop check` reports the state of its lines"
        )
    heading = f"{name}: policies of {counted(len(interfaces), 'interface')}"
    title = Picture(
        svg.width_of(heading, 17) * 1.1 + 56, 44, "", svg.text(28, 34, heading, size=17, kind="head")
    )
    return stacked(name, title, pictures).svg()


def _interface(router: str, interface: RouterPort) -> list[Picture]:
    """Return the pictures of an interface's input policy, if any, and of its output policy."""
    name, wire = str(interface["name"]), interface["wire"]
    state = ", shut down" if interface["shutdown"] else ""
    found = []
    stages = interface["input"].get("conditioners")
    if stages:
        found.append(conditioner_picture(f"{name}{state}: input", stages))
    addresses = ", ".join(f"{address}/{length}" for address, length in interface["addresses"])
    # A picture needs no other key of the link, and shows unknown values as text.
    assumed = interface.get("assumed_rate")
    unset = f"{words.quantity(assumed)}, assumed" if assumed else interface["bandwidth"]
    rate = wire["rate"] or unset or "unknown rate"
    port = Port(
        sender=router,
        receiver=addresses or "no address",
        link=cast(LinkConfig, {"rate": rate, "framing": wire["framing"] or "unknown framing"}),
        interface={"ring": wire["ring"]},
        policy=interface["output"],
        policy_name=None,
    )
    found.append(port_picture(port, _described(port), f"{name}{state}: output"))
    return found


def _described(port: Port) -> list[QueueDescription]:
    """Return the descriptions of a port's queues, through a scenario with only this port."""
    scenario = {
        "perhop": 1,
        "name": "",
        "duration": "1s",
        "hosts": {port.receiver: {}},
        "routers": {port.sender: {}},
        "links": [
            {
                "between": [port.sender, port.receiver],
                # No description depends on the rate, and a Linux device has no rate.
                "rate": "1Mb/s",
                "interfaces": {port.sender: {"output": "output"}},
            }
        ],
        "policies": {"output": dict(port.policy or {})},
        "traffic": [],
    }
    found: list[QueueDescription] = json.loads(_core.queue_descriptions(json.dumps(scenario)))
    return found
