"""Policies in the languages of devices, by the writers of their front ends."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from perhop import _core
from perhop.configuration import refused_option
from perhop.convert.policies import Remark, Source


@dataclass(frozen=True)
class Written:
    """Policies in the language of a device."""

    text: str
    #: The properties that the language lacks or has in another form.
    remarks: tuple[Remark, ...]
    #: The interface of each policy in the text; `None` if the text is for any interface.
    interfaces: tuple[str | None, ...]


def to_device(source: Source, language: str, platform: str | None) -> Written:
    """Return policies in the language of a device.

    Raises:
        InvalidInputError: the policies do not fit into one text, or the rate of an interface is missing.

    """
    policies = [
        {
            "name": attached.name,
            "interface": attached.interface,
            "direction": attached.direction,
            "rate": None if attached.rate_bps is None else f"{attached.rate_bps}b/s",
            "policy": attached.policy,
        }
        for attached in source.attached
    ]
    request: dict[str, Any] = {"file": str(source.file), "policies": policies, "platform": platform}
    if source.profile is not None:
        request["configuration"] = {"text": source.text, "platform": source.profile}
    try:
        text = _core.write_policies(language, json.dumps(request))
    except ValueError as error:
        raise refused_option(error) from error
    written = json.loads(text)
    remarks = tuple(Remark(**remark) for remark in written["remarks"])
    return Written(written["text"], remarks, tuple(written["interfaces"]))
