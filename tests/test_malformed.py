"""Malformed inputs cause exit code 2 and a message, within limits of time and memory, and no traceback.

`PERHOP_MALFORMED` is the number of malformed inputs: 300, or 10,000 where a reader has changed.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from forks import MODULES, Ended, Forks
from malformed import Inputs
from seeds import drawing
from tiers import touched

NUMBER = int(os.environ.get("PERHOP_MALFORMED", "150"))
# Limits of a refusal. The time is processor time, because the machine may be busy.
MOST_S = 2.0
MOST_MB = 200
# The limit for files that are valid after all, and cause work.
VALID_S = 30


def _wrong(ended: Ended) -> Iterator[str]:
    """Generate the broken promises."""
    if re.search("internal error|Traceback|Panic|panicked|Exception ignored", ended.said):
        yield "what it says is for its developers"
    # 4: the input is valid after all, but a goal or an assertion is not met.
    if ended.code not in (0, 1, 2, 4):
        yield f"exit code {ended.code}"
    if ended.code in (1, 2) and not re.search(r"\berror|\bnot ok|\bnot supported", ended.said):
        yield "no message"
    if ended.processor_s > (MOST_S if ended.code == 2 else VALID_S):
        yield f"{ended.processor_s:.1f} s"
    if ended.megabytes > MOST_MB and ended.code != 0:
        yield f"{ended.megabytes:.0f} MB"


@pytest.mark.parametrize("part", touched("abc", but="a"))
def test_malformed_inputs_are_refused(
    tmp_path: Path, part: str, record_property: Callable[[str, object], None]
) -> None:
    inputs, forks = Inputs(tmp_path), Forks(tmp_path, MODULES)
    wrong, codes = [], Counter[str]()
    most_s, most_mb = 0.0, 0.0
    for number in range(NUMBER // 3):
        seed = f"{part}/{number}"
        for arguments in inputs.draw(drawing(seed)):
            ended = forks.run(tmp_path, arguments, shows=True)
            found = [*_wrong(ended)]
            if found:
                wrong.append(f"{seed} {' '.join(arguments)}: {'; '.join(found)}: {ended.said[:300]}")
            codes[f"{arguments[0]} {ended.code}"] += 1
            if ended.code == 2:
                most_s, most_mb = max(most_s, ended.processor_s), max(most_mb, ended.megabytes)
    forks.end()
    record_property("ended", dict(codes))
    record_property("most_s", most_s)
    record_property("most_mb", most_mb)
    assert wrong == []
