"""An inferred scenario as a readable YAML file: one line for each host, link and entry of traffic."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from perhop.readable_yaml import flow

# The comment at the top of the file.
_HEAD = """\
# yaml-language-server: $schema=perhop.schema.json
# Inferred from {file} by `perhop init --from`. The router is as configured: `perhop check {file}`
# reports the state of every line. Inferred: {inferred}.
# Change these if the real network differs.
"""
_ORDER = ("perhop", "name", "duration", "hosts", "routers", "links", "policies", "traffic", "measure")
# Comments above keys.
_ABOVE = {
    "hosts": "Addresses are taken from the router's access lists and subnets.",
    "links": "The router's own interfaces keep their rates and framing; these rates apply to the far ends.",
    "policies": "The queues around the router are long enough: all losses are in the router.",
    "traffic": "One entry for each class of the router: the head has the load.",
}


def as_yaml(data: Mapping[str, Any], missing: Sequence[str], file: str) -> str:
    """Return the scenario as YAML, with a comment about the assumptions."""
    text = _HEAD.format(file=file, inferred="the hosts, the delay of the line and the traffic")
    text += "".join(f"# {line}\n" for line in missing)
    for key in _ORDER:
        value = data[key]
        if isinstance(value, (dict, list)):
            text += "\n"
        if key in _ABOVE:
            text += f"# {_ABOVE[key]}\n"
        text += f"{key}:{_block(value)}\n"
    return text


def _block(value: Any) -> str:  # noqa: ANN401 - any value of a scenario
    if isinstance(value, dict):
        return "".join(f"\n  {flow(key)}: {flow(part)}" for key, part in value.items())
    if isinstance(value, list):
        return "".join(f"\n  - {flow(element)}" for element in value)
    return f" {flow(value)}"
