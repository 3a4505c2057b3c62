"""Tests of policies as data, read from a file such as `policy.tests.yaml`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

from perhop.configuration import LoadLevel
from perhop.document import as_text
from perhop.errors import InvalidInputError
from perhop.policy_tests.nodes import Place, read
from perhop.verdicts import Telephony, assertions
from perhop.verdicts.assertions import Assertion

#: The version of the file format, the value of its key `perhop-tests`.
VERSION = 1
_MOST_REPLICATIONS = 2**32 - 1
# The options for reading a router configuration; `Scenario.infer` describes each.
_OF_ROUTER = ("interface", "platform", "rate", "policy")
_SHARED = ("set", "duration", "seed", "replications", "codec", "jitter-buffer", "load", *_OF_ROUTER)
#: The keys of a test.
KEYS = ("name", "scenario", *_SHARED, "assume", "traffic", "assert")


@dataclass(frozen=True)
class Test:
    """A run and the assertions on its results."""

    name: str
    #: The file and the line that define the test.
    file: Path
    line: int
    #: A scenario file or a router configuration.
    scenario: Path
    #: Values of the scenario to replace, by their path.
    changes: Mapping[str, str]
    seed: int | None
    replications: int | None
    #: The arguments of `Scenario.load` for router configurations that are texts.
    of_router: Mapping[str, str | None]
    assume: Mapping[str, str]
    traffic: Path | None
    load: LoadLevel | None
    telephony: Telephony
    asserted: tuple[Assertion, ...]


def read_tests(file: Path) -> list[Test]:
    """Read the tests in a file; relative paths in the file start at its folder.

    Raises:
        InvalidInputError: the file is not valid; the message names line and column.
        UnreadableFileError: the file cannot be read.

    """
    root = read(file)
    keys = root.known("a file of tests", ("perhop-tests", "defaults", "tests"))
    if "perhop-tests" not in keys:
        raise root.error(
            "`perhop-tests` is missing, the version of the format", f"write `perhop-tests: {VERSION}`"
        )
    if (given := keys["perhop-tests"].text("`perhop-tests`")) != str(VERSION):
        raise keys["perhop-tests"].error(
            f"`perhop-tests: {given}` is not a version that perhop reads", f"write `perhop-tests: {VERSION}`"
        )
    defaults = keys["defaults"].known("`defaults`", _SHARED) if "defaults" in keys else {}
    if "tests" not in keys:
        raise root.error("`tests` is missing, the list of tests")
    tests: dict[str, Test] = {}
    for place in keys["tests"].items("`tests`"):
        test = _test(place, file, defaults)
        if test.name in tests:
            raise place.error(f"two tests are called `{test.name}`")
        tests[test.name] = test
    if not tests:
        raise keys["tests"].error("there is no test")
    return list(tests.values())


def _test(place: Place, file: Path, defaults: Mapping[str, Place]) -> Test:
    own = place.known("a test", KEYS)
    for key in ("name", "scenario", "assert"):
        if key not in own:
            raise place.error(f"`{key}` of the test is missing")
    keys = {**defaults, **own}
    changes = {**_changes(defaults), **_changes(own)}
    if "duration" in keys:
        changes["duration"] = keys["duration"].text("`duration`")
    traffic = _text(keys, "traffic")
    return Test(
        name=own["name"].text("`name`"),
        file=file,
        line=place.line,
        scenario=file.parent / own["scenario"].text("`scenario`"),
        changes=changes,
        seed=keys["seed"].integer("`seed`", 0, 2**64 - 1) if "seed" in keys else None,
        replications=_replications(keys),
        of_router={key: _text(keys, key) for key in _OF_ROUTER},
        assume=_assumed(keys),
        traffic=None if traffic is None else file.parent / traffic,
        load=_load(keys),
        telephony=_telephony(place, keys),
        asserted=tuple(_asserted(own["assert"], file)),
    )


def _text(keys: Mapping[str, Place], key: str) -> str | None:
    return keys[key].text(f"`{key}`") if key in keys else None


def _load(keys: Mapping[str, Place]) -> LoadLevel | None:
    text = _text(keys, "load")
    level = next((level_name for level_name in get_args(LoadLevel) if level_name == text), None)
    if text is not None and level is None:
        raise keys["load"].error(f"there is no load `{text}`", f"loads: {', '.join(get_args(LoadLevel))}")
    return level


def _replications(keys: Mapping[str, Place]) -> int | None:
    if "replications" not in keys:
        return None
    return keys["replications"].integer("`replications`", 1, _MOST_REPLICATIONS)


def _changes(keys: Mapping[str, Place]) -> dict[str, str]:
    """Return `set`: paths of a scenario with their values, as `--set` takes them."""
    if "set" not in keys:
        return {}
    return {path: as_text(value.plain()) for path, value in keys["set"].pairs("`set`").items()}


def _assumed(keys: Mapping[str, Place]) -> dict[str, str]:
    if "assume" not in keys:
        return {}
    pairs = keys["assume"].pairs("`assume`")
    return {name: place.text(f"what `{name}` matches") for name, place in pairs.items()}


def _telephony(place: Place, keys: Mapping[str, Place]) -> Telephony:
    try:
        return Telephony.from_options(_text(keys, "codec"), _text(keys, "jitter-buffer"))
    except InvalidInputError as error:
        where = keys.get("codec") or keys.get("jitter-buffer") or place
        raise where.error(str(error), error.help) from error


def _asserted(place: Place, file: Path) -> Iterator[Assertion]:
    """Read the assertions of a test; `@FILE` starts at the folder of the tests."""
    every = place.items("`assert`")
    if not every:
        raise place.error("there is no assertion", "for example `- voice.delay_p99 < 20ms`")
    for entry in every:
        text = entry.text("an assertion")
        try:
            if text.startswith("@"):
                yield from assertions.read([f"@{file.parent / text[1:]}"])
            else:
                yield assertions.parse(text)
        except InvalidInputError as error:
            raise entry.error(str(error), error.help) from error
