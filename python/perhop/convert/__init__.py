"""Policies in another language: perhop's own, IOS, Junos, and commands of Linux.

from perhop import convert

converted = convert.convert("router.cfg", to="ios")
print(converted.text, *converted.remarks, sep="; ")
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from perhop import _core
from perhop.convert.policies import RefusedLine, Remark, read_source
from perhop.convert.proof import PolicyProof, proved
from perhop.convert.written import to_device
from perhop.convert.yaml_text import to_yaml
from perhop.errors import InvalidInputError
from perhop.quantity import quantity

__all__ = ["TARGETS", "Converted", "RefusedLine", "Remark", "convert"]

#: perhop's own policies.
_OWN = "yaml"
#: The languages to convert to.
TARGETS: tuple[str, ...] = (_OWN, *_core.written_languages())


@dataclass(frozen=True)
class Converted:
    """Policies in another language, and remarks about the features that the language lacks."""

    text: str
    remarks: tuple[Remark, ...]
    #: For a configuration in the language of a device: for each policy, the proof whether it treats all
    #: packets as before.
    proofs: tuple[PolicyProof, ...] = ()
    #: The lines of the input that its device refuses. The output lacks these parts.
    refused: tuple[RefusedLine, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain data."""
        return {
            "text": self.text,
            "remarks": [remark.to_dict() for remark in self.remarks],
            "proofs": [{"where": proof.where, **proof.proof} for proof in self.proofs],
            "refused": [line.to_dict() for line in self.refused],
        }


def convert(
    file: str | os.PathLike[str],
    *,
    to: str,
    interface: str | None = None,
    policy: str | None = None,
    platform: str | None = None,
    rate: str | None = None,
) -> Converted:
    """Return the policies of a router configuration or of a scenario in another language.

    Args:
        file: a router configuration, a scenario, or a file with `policies:`.
        to: one of `TARGETS`: `yaml`, or the language of a front end.
        interface: only the policies at this interface of a router.
        policy: only the policy of this name.
        platform: the platform whose rules apply to a router configuration, or that IOS is written for.
        rate: the rate of the interface, as `50Mb/s`, if the file does not set it.

    Raises:
        InvalidInputError: the file contains no such policy, or a value is out of range.
        ScenarioError: the file cannot be read.

    """
    source = read_source(
        Path(file), interface=interface, policy=policy, platform=platform, rate_bps=_bits(rate)
    )
    if to == _OWN:
        text, remarks = to_yaml(source)
        return Converted(text, (*source.left_out, *remarks), refused=source.refused)
    if to not in TARGETS:
        raise InvalidInputError(f"cannot convert to `{to}`", f"one of {', '.join(TARGETS)}")
    written = to_device(source, to, platform)
    return Converted(
        written.text,
        (*source.left_out, *written.remarks),
        tuple(proved(source, written, platform)),
        source.refused,
    )


def _bits(rate: str | None) -> int | None:
    if rate is None:
        return None
    found = quantity(rate)
    if found is None or found[1] != "b/s" or found[0] < 1:
        raise InvalidInputError(f"--rate: `{rate}` is not a rate", "for example --rate 50Mb/s")
    return round(found[0])
