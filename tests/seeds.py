"""Random numbers of tests: the same in every run with the same `PERHOP_SEED`, by default 1."""

from __future__ import annotations

import os
import random

SEED = int(os.environ.get("PERHOP_SEED", "1"))


def drawing(name: str) -> random.Random:
    """Return the random numbers of a test; each `name` has its own."""
    return random.Random(f"{SEED} {name}")
