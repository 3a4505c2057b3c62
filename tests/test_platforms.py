"""What is said of the platform that a router configuration was read by."""

from __future__ import annotations

from typing import Any

import pytest

from perhop.configuration import platform_words, refuse_unsupported, unsupported
from perhop.core_types import RecognizedPlatform
from perhop.errors import InvalidInputError


def platform(**changes: Any) -> RecognizedPlatform:
    found: RecognizedPlatform = {
        "profile": "hqf",
        "dialect": "ios",
        "chosen": False,
        "certain": True,
        "because": [{"line": 3, "text": "version 15.1", "says": "IOS 15: HQF"}],
    }
    return {**found, **changes}  # type: ignore[typeddict-item]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({}, "platform: hqf (line 3: version 15.1)"),
        ({"chosen": True}, "platform: hqf (--platform)"),
        ({"certain": False, "because": []}, "platform: hqf (assumed: no version line; --platform)"),
        ({"certain": False}, "platform: hqf (probably: line 3: version 15.1; --platform)"),
        (
            {
                "dialect": "nx-os",
                "because": [{"line": 1, "text": "!Command: show running-config", "says": ""}],
            },
            "platform: NX-OS, not supported (line 1: !Command: show running-config)",
        ),
    ],
)
def test_the_platform_is_said_with_its_reason(changes: dict[str, Any], words: str) -> None:
    assert platform_words(platform(**changes)) == words


def test_a_platform_that_is_not_known_is_not_mentioned() -> None:
    assert platform_words(None) is None
    refuse_unsupported(None)


@pytest.mark.parametrize(
    ("dialect", "name"),
    [("ios-xr", "IOS XR"), ("nx-os", "NX-OS"), ("catalyst-mls", "Catalyst (mls qos)")],
)
def test_a_dialect_that_is_not_modelled_is_refused(dialect: str, name: str) -> None:
    assert unsupported(platform(dialect=dialect)) == dialect
    with pytest.raises(
        InvalidInputError, match=rf"a configuration of {name}".replace("(", r"\(").replace(")", r"\)")
    ):
        refuse_unsupported(platform(dialect=dialect))


@pytest.mark.parametrize("dialect", ["ios", "ios-xe", "catalyst-uadp"])
def test_other_dialects_run(dialect: str) -> None:
    refuse_unsupported(platform(dialect=dialect))
