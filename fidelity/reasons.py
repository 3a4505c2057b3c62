"""The named reasons for differences: docs/deviations.toml."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

FILE = Path(__file__).parents[1] / "docs" / "deviations.toml"


@dataclass(frozen=True)
class Reason:
    """A difference from the text of a source, and the reason."""

    source: str
    text: str

    @property
    def sentence(self) -> str:
        """The first sentence of the reason."""
        words = " ".join(self.text.split())
        end = next((at for at in range(len(words)) if words[at : at + 2] in (". ", ".")), len(words))
        return words[: end + 1]


@cache
def _deviations() -> list[dict[str, str]]:
    return list(tomllib.loads(FILE.read_text(encoding="utf-8"))["deviation"])


def reason(algorithm: str, source: str, quote: str = "") -> Reason:
    """Return the reason for an algorithm whose source and quoted text contain these words.

    Raises:
        LookupError: there is no such reason, or more than one.

    """
    found = [
        deviation
        for deviation in _deviations()
        if deviation["algorithm"] == algorithm
        and source in deviation["source"]
        and quote in deviation["quote"]
    ]
    if len(found) != 1:
        raise LookupError(f"{len(found)} deviations of {algorithm} from {source!r} in place of one")
    return Reason(found[0]["source"], found[0]["reason"])
