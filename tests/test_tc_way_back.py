"""Policies as commands of tc, and read back: a table lists the differences with their reasons."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from conftest import ROOT
from perhop import _core, convert
from perhop.configuration import checked
from perhop.convert.policies import Attached, read_source
from perhop.errors import InvalidInputError

FILES = [
    *sorted((ROOT / "examples").glob("*.perhop.yaml")),
    *sorted((ROOT / "python" / "perhop" / "templates").glob("*.perhop.yaml")),
]

# The differences between a policy and the one read back: the path, the remark of `convert`, and the reason. A
# path without a remark has an equivalent value.
TABLE = [
    (r"stages\[.*\]\.name", None, "stages are called after their lines"),
    (r"stages\[.*\]\.meter\.token-bucket\.excess|stages\[.*\]\.(yellow|red)", None,
     "tc has no packet colors: packets above the rate of a policer are red, with the same actions"),
    (r"stages\[.*\]\.meter\.single-rate-tcm|stages\[.*\]\.meter\.token-bucket|stages\[.*\]\.yellow",
     "meter single-rate-tcm", "one bucket of both bursts"),
    (r"stages.*", "meter .*|a color-aware meter", "a meter that tc does not have"),
    (r"buffer\..*\.(target|update-interval|limit|coupling)", None, "the default of Linux, written out"),
    (r"buffer\.dualpi2\.low-latency", "low-latency by codepoint", "a filter of the discipline"),
    (r"buffer\.(codel|fq-codel|pie|dualpi2)\.law", ".* of RFC .*|law: rfc", "Linux' own law"),
    (r"buffer\.(red|wred|rio-c|rio-dc|mred)(\.(law|limit|mean-packet-size|precedences.*))?",
     ".*thresholds.*", "one curve for a class, in bytes"),
    (r"buffer\.(red|mred|tail-drop)", ".* by a model", "tail drop in place of a model"),
    (r"buffer\.red\.averaging", None, "a weight that is left out is 0.002, and 1/512 in Linux"),
    (r"buffer\.red\.idle-rate", None, "the rate of the class, as Linux needs it for idle times"),
    (r"buffer\.red\.above-max", "above-max: gentle", "red drops all above the maximum"),
    (r"fair-queueing\.(flows|queues)", None, "sfq tells flows by a hash"),
    (r"fair-queueing\.weights", "fair queueing by precedence", "sfq serves all flows equally"),
    (r"overhead of cake", None, "CAKE counts its own bytes, regardless of the policy"),
    (r"buffer\.red\.scalable", "scalable", "red of Linux marks by its average alone"),
    (r"buffer\.(shared-memory|tail-drop)", "shared-memory", "queues in Linux share no packet memory"),
    (r"leaf direct", "packets without a class", "HTB sends them, perhop drops them"),
]  # fmt: skip


def _leaves(
    queueing: Mapping[str, Any], around: tuple[Any, ...] = (), others: tuple[Any, ...] = ()
) -> Iterator[tuple[Mapping[str, Any], Mapping[str, Any] | None]]:
    """Return the classes with a queue, each with the condition for its packets."""
    earlier: list[Any] = []
    for queue in queueing["classes"]:
        own = (*around, *([queue["match"]] if queue.get("match") else []))
        if queue.get("queueing"):
            yield from _leaves(queue["queueing"], own, (*others, *earlier))
        else:
            parts = [*own, *({"not": other} for other in (*others, *earlier))]
            yield queue, {"all": parts} if parts else None
        if not queue.get("match"):
            return
        earlier.append(queue["match"])


def _names(commands: str) -> dict[str, str]:
    """Return the names of classes, which are comments above their commands."""
    found = re.findall(r"^# (.*)\ntc class add .* classid (1:[0-9a-f]+) ", commands, re.MULTILINE)
    return {number: name for name, number in found}


def _between(policy: Mapping[str, Any], other: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    yield from _core.policy_differences(json.dumps(policy), json.dumps(other))


def _same(condition: Any, other: Any) -> bool:
    """Whether two conditions match the same packets."""
    stages = (
        {"name": "all", "actions": ["transmit"], **({"match": match} if match else {})}
        for match in (condition, other)
    )
    return not list(_between(*({"conditioners": [stage]} for stage in stages)))


def _queue_of(leaf: Mapping[str, Any]) -> dict[str, Any]:
    return {key: leaf[key] for key in ("buffer", "fair-queueing") if leaf.get(key)}


def _of_class(leaf_queue: Mapping[str, Any], other: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Return the differences between the queues of two classes."""
    policies = ({"queueing": {"classes": [{"name": "leaf", **queue}]}} for queue in (leaf_queue, other))
    for path, *both in _between(*policies):
        yield path.removeprefix("queueing.classes[leaf]."), *both


def _differences(attached: Attached, commands: str) -> Iterator[tuple[str, str, str]]:
    (port,) = checked(commands, "linux")["router"]["ports"]
    back = port["input" if attached.direction == "input" else "output"]
    sent: Any = attached.policy
    for path, *both in _between(
        *({"conditioners": policy.get("conditioners", [])} for policy in (sent, back))
    ):
        yield f"stages{path.removeprefix('conditioners')}", *both
    if not sent.get("queueing"):
        return
    names = _names(commands)
    left = {leaf["name"]: (leaf, match) for leaf, match in _leaves(sent["queueing"])}
    right = {
        names.get(leaf_and_match[0]["name"], leaf_and_match[0]["name"]): leaf_and_match
        for leaf_and_match in _leaves(back["queueing"])
    }
    if len(left) == 1 and len(right) == 1:
        right = dict(zip(left, right.values(), strict=True))
    for name in [*left, *(name for name in right if name not in left)]:
        if name not in left or name not in right:
            yield f"leaf {name}", str(name in left), str(name in right)
            continue
        (leaf, match), (other, same_match) = left[name], right[name]
        if not _same(match, same_match):
            yield f"match of {name}", str(match), str(same_match)
        yield from _of_class(_queue_of(leaf), _queue_of(other))
    if sent.get("overhead", 0) != back.get("overhead", 0):
        is_cake = any("cake" in (leaf.get("buffer") or {}) for leaf, _ in left.values())
        yield (
            "overhead of cake" if is_cake else "overhead",
            str(sent.get("overhead")),
            str(back.get("overhead")),
        )


def _ways(file: Path) -> Iterator[tuple[Attached, convert.Converted]]:
    """Return the policies of a file, each as commands."""
    try:
        source = read_source(file)
    except InvalidInputError:
        return
    for attached in source.attached:
        where = {"interface": attached.interface} if attached.interface else {"policy": attached.name}
        yield attached, convert.convert(file, to="tc", **where)


@pytest.mark.parametrize("file", FILES, ids=lambda file: f"{file.parent.name}-{file.stem.split('.')[0]}")
def test_a_policy_read_back_is_equal_or_its_losses_are_listed(file: Path) -> None:
    for attached, converted in _ways(file):
        assert not [
            found for found in checked(converted.text, "linux")["diagnostics"] if found["severity"] == "error"
        ]
        constructs = [remark.construct for remark in converted.remarks]
        for path, left, right in _differences(attached, converted.text):
            reasons = [
                why
                for place, remark, why in TABLE
                if re.fullmatch(place, path)
                and (remark is None or any(re.fullmatch(remark, construct) for construct in constructs))
            ]
            assert reasons, f"{attached.where}: {path}: {left} came back as {right}; said was {constructs}"


def test_every_row_of_the_table_occurs() -> None:
    met: set[int] = set()
    policies = 0
    for file in FILES:
        for attached, converted in _ways(file):
            policies += 1
            paths = [path for path, *_ in _differences(attached, converted.text)]
            met |= {at for at, row in enumerate(TABLE) if any(re.fullmatch(row[0], path) for path in paths)}
    assert policies > 45
    assert [TABLE[at][0] for at in range(len(TABLE)) if at not in met] == []


@pytest.mark.parametrize("kind", ["hierarchical-token-bucket", "service-curves", "linux-tc"])
def test_schedulers_of_linux_are_read_back_completely(kind: str) -> None:
    """HTB and HFSC are written without changes: all their shares are read back."""
    met = 0
    for attached, converted in _ways(ROOT / "examples" / f"{kind}.perhop.yaml"):
        sent: Any = attached.policy
        if sent["queueing"].get("scheduler") not in {"htb", "hfsc"}:
            continue
        met += 1
        (port,) = checked(converted.text, "linux")["router"]["ports"]
        back = port["output"]["queueing"]
        if kind == "service-curves":
            # No inner class limits the rate to that of the port: a class around all others does.
            (whole,) = back["classes"]
            assert whole["share"]["upper-limit"] == {"m2": "10Mb/s"}
            back = whole["queueing"]
        assert list(_shares(back)) == list(_shares(sent["queueing"]))
    assert met == (kind != "linux-tc")


def _shares(queueing: Mapping[str, Any]) -> Iterator[Any]:
    for queue in queueing["classes"]:
        share = queue.get("share") or {}
        # The written values are the defaults of Linux (q_htb.c): a burst of one packet, the first level.
        usual: dict[str, Any] = {}
        if share.get("rate"):
            usual = {"burst": "1600B", "ceil-burst": "1600B", "level": 0, "ceil": share["rate"]}
        yield {**usual, **share}
        if queue.get("queueing"):
            yield from _shares(queue["queueing"])


def test_a_second_conversion_changes_nothing(tmp_path: Path) -> None:
    """A tree that was converted to Linux once does not change again."""
    met = 0
    for path in FILES:
        for attached, converted in _ways(path):
            if attached.direction == "input" or not attached.policy.get("queueing"):
                continue
            first = _written(tmp_path, converted.text)
            again = convert.convert(first, to="tc", rate=f"{attached.rate_bps}b/s")
            second = _written(tmp_path, again.text)
            texts = [file.read_text() for file in (first, second)]
            (left,), (right,) = (checked(text, "linux")["router"]["ports"] for text in texts)
            found = list(_between(left["output"], right["output"]))
            # The second conversion writes out the bursts of Linux.
            found = [
                difference
                for difference in found
                if not (difference[0].endswith("burst") and difference[1] == "nothing")
            ]
            assert not found, f"{path.name}, {attached.where}: {found[:4]}"
            met += 1
    assert met > 30


def _written(folder: Path, commands: str) -> Path:
    file = folder / f"way{len(list(folder.iterdir()))}.tc"
    file.write_text(commands)
    return file
