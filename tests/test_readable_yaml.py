"""Values as YAML for people: reading returns the written values, and short parts stay in one line."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from perhop.readable_yaml import block, flow


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("10 Mb/s", "10 Mb/s"),
        ("50%", "50%"),
        ({"rate": "10Mb/s", "ring": 3}, "{ rate: 10Mb/s, ring: 3 }"),
        ({"none": {}, "each": [{}, []]}, "{ none: {}, each: [{}, []] }"),
        ({"": None}, '{ "": null }'),
        ("a: b", '"a: b"'),
        ("no", '"no"'),
        ("1e3", '"1e3"'),
        (0.5, "0.5"),
    ],
)
def test_text_is_unquoted_if_possible(value: Any, text: str) -> None:
    assert flow(value) == text


@pytest.mark.parametrize(
    "text", [".inf", "0b1", "0o17", "2001-01-01", "\x7f", "a\nb", "", "x" * 200, "a, b", "#"]
)
def test_written_text_is_read_as_text(text: str) -> None:
    assert yaml.safe_load(flow({text: [text]})) == {text: [text]}


def test_a_long_part_is_on_lines_of_its_own() -> None:
    long = {f"queue-{number}": {"limit": number} for number in range(8)}
    lines = block({"short": {"limit": 1}, "long": [long, {"limit": 1}]}, 4)
    assert lines[:4] == ["    short: { limit: 1 }", "    long:", "      - queue-0: { limit: 0 }", lines[3]]
    assert lines[3] == "        queue-1: { limit: 1 }"
    assert lines[-1] == "      - { limit: 1 }"
    assert yaml.safe_load("\n".join(lines)) == {"short": {"limit": 1}, "long": [long, {"limit": 1}]}
