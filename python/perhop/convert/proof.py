"""The proof that a written policy treats all packets as the one that it was written from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from perhop.convert.policies import Attached, Source
from perhop.errors import InvalidInputError
from perhop.proving import Proof, prove_texts


@dataclass(frozen=True)
class PolicyProof:
    """Whether a written policy treats all packets as before."""

    #: The place of the policy, as remarks name it.
    where: str
    proof: Proof


def proved(source: Source, text: str) -> Iterator[PolicyProof]:
    """Generate the proof for each policy of a configuration that `text` has in another language.

    A text that has the policy at several ports, or at none, is left out.
    """
    if source.text is None:
        return
    for attached in source.attached:
        for proof in _proof(source, text, attached):
            yield PolicyProof(attached.where, proof)


def _proof(source: Source, text: str, attached: Attached) -> Iterator[Proof]:
    first = {
        "name": str(source.file),
        "text": source.text,
        "platform": source.profile,
        "at": attached.interface,
        "policy": attached.port and _name(attached),
    }
    second = {"name": "the output", "text": text, "platform": None, "at": None, "policy": None}
    # The same language keeps the names of interfaces.
    for at in (attached.interface, None):
        try:
            yield prove_texts(first, {**second, "at": at})
        except InvalidInputError:
            continue
        return


def _name(one: Attached) -> str | None:
    """Return the name of an attached policy; a language without such names has none."""
    policies = one.port.get("policies") if one.port else None
    attached = policies[one.direction] if policies and one.direction else None
    return attached["name"] if attached else None
