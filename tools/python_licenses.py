"""The SPDX licenses of the pinned Python packages, with the rules of requirements/licenses.toml."""

from __future__ import annotations

import re
import tomllib
from importlib import metadata
from pathlib import Path

ROOT = Path(__file__).parent.parent
RULES = tomllib.loads((ROOT / "requirements" / "licenses.toml").read_text())
# The maximum length of a license name. The field may also contain a whole license text, which is longer.
NAME_CHARACTERS = 60


def normalized(name: str) -> str:
    """Return a package's name in the form of package indexes (PEP 503)."""
    return re.sub(r"[-_.]+", "-", name).lower()


def locked() -> dict[str, dict[str, set[str]]]:
    """Read the accepted SHA-256 of each pinned version of each package of dev.lock, by normalized name.

    Most packages have one version. Some have a second version for newer versions of Python.
    """
    packages: dict[str, dict[str, set[str]]] = {}
    hashes: set[str] = set()
    for line in (ROOT / "requirements" / "dev.lock").read_text().splitlines():
        if pin := re.match(r"([A-Za-z0-9._-]+)(?:\[[^]]*\])?==([^\s;]+)", line):
            hashes = packages.setdefault(normalized(pin[1]), {}).setdefault(pin[2], set())
        elif digest := re.match(r"\s+--hash=sha256:([0-9a-f]{64})", line):
            hashes.add(digest[1])
    return packages


def license_of(name: str) -> str | None:
    """Return the SPDX expression of an installed package; `None` if its metadata has no known license."""
    if name in RULES["stated"]:
        return str(RULES["stated"][name])
    fields = metadata.metadata(name)
    if expression := fields.get("License-Expression"):
        return str(expression)
    classifiers = [line for line in fields.get_all("Classifier") or [] if line.startswith("License ::")]
    words = [fields.get("License") or "", *(line.rpartition(" :: ")[2] for line in classifiers)]
    known = [RULES["spelled"].get(word, word) for word in words if word and len(word) < NAME_CHARACTERS]
    return next((word for word in known if word != "UNKNOWN" and "OSI Approved" not in word), None)
