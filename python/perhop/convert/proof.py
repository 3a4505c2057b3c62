"""The proof that a written policy treats all packets like its source policy."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from perhop.configuration import reading_platform
from perhop.convert.policies import Attached, Source
from perhop.convert.written import Written
from perhop.errors import InvalidInputError
from perhop.proving import Proof, prove_texts


@dataclass(frozen=True)
class PolicyProof:
    """Whether a written policy treats all packets as before."""

    #: The place of the policy, as remarks name it.
    where: str
    proof: Proof


def proved(source: Source, written: Written, platform: str | None) -> Iterator[PolicyProof]:
    """Generate the proof for each policy of a configuration that `written` has in another language.

    `platform` is the platform of the text. A policy that is not attached to a port is omitted.
    """
    if source.text is None:
        return
    for attached, interface in zip(source.attached, written.interfaces, strict=True):
        for proof in _proof(source, written.text, (attached, interface), platform):
            yield PolicyProof(attached.where, proof)


def _proof(
    source: Source, text: str, port: tuple[Attached, str | None], platform: str | None
) -> Iterator[Proof]:
    attached, interface = port
    first = {
        "name": str(source.file),
        "text": source.text,
        "platform": source.profile,
        "at": attached.interface,
        "policy": attached.port and _name(attached),
        "direction": attached.direction,
    }
    second = {
        "name": "the output",
        "text": text,
        "platform": reading_platform(text, platform),
        "at": interface,
        "policy": None,
    }
    try:
        yield prove_texts(first, second)
    except InvalidInputError:
        return


def _name(attachment: Attached) -> str | None:
    """Return the name of an attached policy; a language without such names has none."""
    policies = attachment.port.get("policies") if attachment.port else None
    attached = policies[attachment.direction] if policies and attachment.direction else None
    return attached["name"] if attached else None
