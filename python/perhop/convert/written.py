"""Policies in the languages of devices, by the writers of their front ends."""

from __future__ import annotations

import json

from perhop import _core
from perhop.configuration import refused_option
from perhop.convert.policies import Remark, Source


def to_device(source: Source, language: str) -> tuple[str, list[Remark]]:
    """Return policies in the language of a device, and what that does not have or has otherwise.

    Raises:
        InvalidInputError: the policies do not fit into one text, or the rate of an interface is missing.

    """
    policies = [
        {
            "name": one.name,
            "interface": one.interface,
            "direction": one.direction,
            "rate": None if one.rate_bps is None else f"{one.rate_bps}b/s",
            "policy": one.policy,
        }
        for one in source.attached
    ]
    try:
        text = _core.write_policies(language, json.dumps({"file": str(source.file), "policies": policies}))
    except ValueError as error:
        raise refused_option(error) from error
    written = json.loads(text)
    return written["text"], [Remark(**remark) for remark in written["remarks"]]
