"""The picture of a router's configuration: what each interface does to what enters and leaves it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from perhop import _core
from perhop.draw import stacked, svg
from perhop.draw.policy import conditioner_picture, port_picture
from perhop.draw.svg import Picture
from perhop.errors import InvalidInputError
from perhop.ports import Port

# What a router is called that does not say.
_NAMELESS = "router"


def router(text: str) -> str:
    """Return one SVG of a configuration: for each interface classifier, queues, scheduler, ring and wire."""
    found = json.loads(_core.check_router(text))["router"]
    name, interfaces = found["hostname"] or _NAMELESS, found["ports"]
    pictures = [picture for one in interfaces for picture in _interface(name, one)]
    if not pictures:
        raise InvalidInputError(
            "the configuration has no interface", "`perhop check` says what became of its lines"
        )
    heading = f"{name}, and what its {len(interfaces)} interfaces do with packets"
    title = Picture(
        svg.width_of(heading, 17) * 1.1 + 56, 44, "", svg.text(28, 34, heading, size=17, kind="head")
    )
    return stacked(name, title, pictures).svg()


def _interface(router: str, said: Mapping[str, Any]) -> list[Picture]:
    """Return the pictures of what an interface does to packets that enter, if anything, and that leave."""
    name, wire = str(said["name"]), said["wire"]
    state = ", shut down" if said["shutdown"] else ""
    found = []
    stages = said["input"].get("conditioners")
    if stages:
        found.append(conditioner_picture(f"{name}{state}: what enters", stages))
    addresses = ", ".join(f"{address}/{length}" for address, length in said["addresses"])
    port = Port(
        sender=router,
        receiver=addresses or "no address",
        link={"rate": wire["rate"] or said["bandwidth"], "framing": wire["framing"] or "framing not known"},
        interface={"ring": wire["ring"]},
        policy=said["output"],
        policy_name=None,
    )
    found.append(port_picture(port, _curves(port), f"{name}{state}: what leaves"))
    return found


def _curves(port: Port) -> list[dict[str, Any]]:
    """Return the drop curves of a port: those of a scenario with it alone."""
    scenario = {
        "perhop": 1,
        "name": "",
        "duration": "1s",
        "hosts": {port.receiver: {}},
        "routers": {port.sender: {}},
        "links": [
            {
                "between": [port.sender, port.receiver],
                "rate": port.rate,
                "interfaces": {port.sender: {"output": "output"}},
            }
        ],
        "policies": {"output": dict(port.policy or {})},
        "traffic": [],
    }
    return _core.drop_curves(json.dumps(scenario))
