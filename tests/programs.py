"""Programs outside of perhop: a test that needs a program is skipped if it is missing."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

# Programs whose Debian package has another name.
_PACKAGES = {
    "cc": "gcc",
    "ip": "iproute2",
    "node": "nodejs",
    "ns": "ns2",
    "rsvg-convert": "librsvg2-bin",
    "tc": "iproute2",
    "umount": "mount",
    "unshare": "util-linux",
}


def lacking(*programs: str) -> str | None:
    """Return the reason why a test that needs these programs cannot run; `None` if all exist."""
    missing = [program for program in programs if shutil.which(program) is None]
    if not missing:
        return None
    packages = sorted({_PACKAGES.get(program, program) for program in missing})
    return f"no program {', '.join(missing)}: apt-get install {' '.join(packages)}"


def needs(*programs: str) -> pytest.MarkDecorator:
    """Return the mark of a test that needs these programs."""
    reason = lacking(*programs)
    return pytest.mark.skipif(reason is not None, reason=reason or "")


def _not_a_checkout() -> str | None:
    reason = lacking("git")
    if reason is None:
        line = ["git", "rev-parse"]
        outside = subprocess.run(line, cwd=ROOT, capture_output=True, check=False).returncode != 0
        reason = "not a git checkout" if outside else None
    return reason


_MISSING = _not_a_checkout()
needs_checkout = pytest.mark.skipif(_MISSING is not None, reason=str(_MISSING))
