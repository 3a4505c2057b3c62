"""Whether two configurations treat all packets equally.

from perhop import proving

proof = proving.prove("old.cfg", "new.cfg")
print(proof["verdict"], proof["counterexample"])
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal, TypedDict

from perhop import _core
from perhop.configuration import reading_platform, refused_option, router_text
from perhop.errors import InvalidInputError

__all__ = ["Aspect", "Counterexample", "Proof", "prove", "prove_texts"]

Verdict = Literal["equal", "differ", "not-decided"]


class Aspect(TypedDict):
    """An aspect of the treatment of a packet by both configurations."""

    what: str
    first: str | None
    second: str | None


#: A packet that is treated differently; `with` is a second packet, if the two packets share a queue or a
#: limit in only one configuration.
Counterexample = TypedDict("Counterexample", {"packet": str, "with": str | None, "treatment": list[Aspect]})


class Proof(TypedDict):
    """The result of a proof."""

    verdict: Verdict
    place: str | None
    counterexample: Counterexample | None
    not_decided: list[str]
    compared: list[str]
    not_looked_at: list[str]
    assumed: list[str]


def prove(
    first: str | os.PathLike[str],
    second: str | os.PathLike[str],
    *,
    at: Sequence[str] = (),
    policy: Sequence[str] = (),
    rate: str | None = None,
    platform: str | None = None,
    assume: Mapping[str, str] | None = None,
) -> Proof:
    """Return whether two configurations treat all packets equally.

    Args:
        first: the configuration of a device.
        second: the other configuration, also in the language of another vendor.
        at: the port to compare: one for both, or one for each.
        policy: the policy to compare: one for both, or one for each.
        rate: the rate of an interface for a policy that is not attached to an interface.
        platform: the platform whose rules apply; by default the recognized one.
        assume: match criteria of class-maps.

    Raises:
        InvalidInputError: a file is not a configuration, or has no such port or policy.

    """
    ports, policies = _each(at, "--at"), _each(policy, "--policy")
    sides: list[Mapping[str, str | None]] = []
    for place, source in enumerate((first, second)):
        file = Path(source)
        text = router_text(file)
        if text is None:
            raise InvalidInputError(
                f"{file} is not a configuration of a device",
                "prove compares configurations, or folders of them",
            )
        sides.append(
            {
                "name": str(file),
                "text": text,
                "platform": reading_platform(text, platform),
                "at": ports[place],
                "policy": policies[place],
            }
        )
    return prove_texts(sides[0], sides[1], rate=rate, assume=assume)


def prove_texts(
    first: Mapping[str, str | None],
    second: Mapping[str, str | None],
    *,
    rate: str | None = None,
    assume: Mapping[str, str] | None = None,
) -> Proof:
    """Return the proof of `prove` for two texts: each with `name`, `text`, `platform`, `at` and `policy`."""
    sides = json.dumps([first, second])
    try:
        found: Proof = json.loads(_core.prove(sides, dict(assume) if assume else None, rate))
    except ValueError as error:
        raise refused_option(error) from error
    return found


def _each(given: Sequence[str], option: str) -> tuple[str | None, str | None]:
    """Return the value of an option for each of the two configurations."""
    if len(given) > 2:
        raise InvalidInputError(f"{option} is given {len(given)} times", "once for both, or once for each")
    if not given:
        return None, None
    return given[0], given[-1]
