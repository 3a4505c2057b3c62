"""What two policies have otherwise: conditions by the packets that meet them, shares by their proportions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import isclose
from typing import Any

from perhop.codepoints import dscp_number
from perhop.convert.conditions import codepoints, listed, same
from perhop.convert.ios_conditioner import ending, steps
from perhop.policy_rates import weight_of

_ACTIONS = ("green", "yellow", "red", "actions")
# Schedulers that share all of the rate in proportion to one number.
_PROPORTIONAL = ("scfq", "wfq", "wf2q-plus", "drr", "wrr")
_SAID = 60
_HIGHEST_LABEL = 255
# Shares that agree so far differ by rounding to bits per second.
_ROUNDED = 1e-5
# The buffer of a class that says nothing.
_USUAL_BUFFER = {"tail-drop": {"limit": "64 packets"}}

Difference = tuple[str, str, str]


def differences(one: Mapping[str, Any], other: Mapping[str, Any]) -> list[Difference]:
    """Return where two policies differ: the path, what the first has and what the other has."""
    return list(_of(one, other, ""))


def with_counted_labels(policy: Mapping[str, Any]) -> dict[str, Any]:
    """Return an output policy whose own labels are counted down from the highest, as its stages set them.

    Its own are the labels that it sets and matches: their numbers have no effect outside. A label that
    another policy sets or matches keeps its number.
    """
    stages = policy.get("conditioners") or []
    given = list(dict.fromkeys(_values([_actions(stage) for stage in stages])))
    matches = [stage.get("match") for stage in stages]
    matched = set(_values([*matches, policy.get("queueing")]))
    own = [label for label in given if label in matched]
    foreign = (matched | set(given)) - set(own)
    free = (number for number in range(_HIGHEST_LABEL, -1, -1) if number not in foreign)
    renamed: dict[str, Any] = _renamed(policy, dict(zip(own, free, strict=False)))
    return renamed


def _actions(stage: Mapping[str, Any]) -> list[Any]:
    return [stage.get(key) for key in ("actions", "green", "yellow", "red")]


def _values(part: Any) -> Iterator[Any]:  # noqa: ANN401 - a part of a policy
    """Return the labels in a part of a policy, in its order."""
    if isinstance(part, Mapping):
        for key, value in part.items():
            if key == "label":
                yield from listed(value)
            else:
                yield from _values(value)
    elif isinstance(part, list):
        for one in part:
            yield from _values(one)


def _renamed(part: Any, names: Mapping[Any, int]) -> Any:  # noqa: ANN401 - a part of a policy
    """Return a part of a policy with other numbers for some labels."""
    if isinstance(part, Mapping):
        return {
            key: _renamed_labels(value, names) if key == "label" else _renamed(value, names)
            for key, value in part.items()
        }
    return [_renamed(one, names) for one in part] if isinstance(part, list) else part


def _renamed_labels(labels: Any, names: Mapping[Any, int]) -> Any:  # noqa: ANN401 - a label, or several
    if isinstance(labels, list):
        return [names.get(one, one) for one in labels]
    return names.get(labels, labels)


def _of(one: Any, other: Any, path: str) -> Iterator[Difference]:  # noqa: ANN401 - parts of policies
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        for key in dict.fromkeys([*one, *other]):
            below = f"{path}.{key}" if path else str(key)
            yield from _of_key(str(key), one, other, below)
    elif isinstance(one, list) and isinstance(other, list):
        yield from _of_lists(one, other, path)
    elif isinstance(one, float) or isinstance(other, float):
        if not (_is_number(one) and _is_number(other) and isclose(one, other, rel_tol=1e-9)):
            yield path, _said(one), _said(other)
    elif one != other:
        yield path, _said(one), _said(other)


def _is_number(value: Any) -> bool:  # noqa: ANN401 - a part of a policy
    return isinstance(value, (int, float))


def _of_key(key: str, one: Mapping[str, Any], other: Mapping[str, Any], path: str) -> Iterator[Difference]:
    left, right = one.get(key), other.get(key)
    if key == "name" and not one.get("match") and not other.get("match"):
        # Classes of all packets have the names that the router gives them.
        return
    if key == "match":
        if not same(left, right):
            yield path, _said(left), _said(right)
    elif key in _ACTIONS and not isinstance(left or right, Mapping):
        # A buffer may be called `red` as well, and is no list.
        left, right = left or [], right or []
        if (_effective(left), ending(left)) != (_effective(right), ending(right)):
            yield path, _said(left), _said(right)
    elif key == "scheduler" and len(one.get("classes", ())) == len(other.get("classes", ())) == 1:
        # One class gets all, whatever the scheduler.
        return
    elif key == "classes":
        by_proportion = {one.get("scheduler"), other.get("scheduler")} <= set(_PROPORTIONAL)
        yield from _of_classes(left or [], right or [], path, by_proportion=by_proportion)
    else:
        yield from _of(left, right, path)


def _effective(actions: list[Any]) -> list[Any]:
    """Return the actions without those that the next one undoes: a color set twice."""
    own = steps(actions)
    kinds = [_kind(one) for one in own]
    return [one for at, one in enumerate(own) if kinds[at : at + 1] != kinds[at + 1 : at + 2]]


def _kind(action: Any) -> str:  # noqa: ANN401 - an action
    return next(iter(action)) if isinstance(action, Mapping) else str(action)


def _of_classes(
    one: Sequence[Any], other: Sequence[Any], path: str, *, by_proportion: bool
) -> Iterator[Difference]:
    if by_proportion and _proportional(one, other):
        one, other = ([{**config, "share": {}} for config in classes] for classes in (one, other))
    alone = len(one) == len(other) == 1
    left, right = ([_plain(config, alone=alone) for config in classes] for classes in (one, other))
    yield from _of_lists(left, right, path)


def _plain(config: Any, *, alone: bool) -> Any:  # noqa: ANN401 - a class of a policy
    """Return a class with thresholds by codepoint, and without a share where it has no siblings."""
    plain = _unwrapped(config)
    if not any(plain.get(key) for key in ("buffer", "fair-queueing", "queueing")):
        plain = {**plain, "buffer": _USUAL_BUFFER}
    if alone:
        plain = {**plain, "share": {}}
    precedence, wred = plain.get("precedence"), (plain.get("buffer") or {}).get("wred")
    if not wred or not isinstance(precedence, Mapping):
        return plain
    groups, rows = precedence["by-dscp"], wred.get("precedences") or []
    pairs = zip(groups, rows, strict=False)
    of_value = {dscp_number(dscp): row for group, row in pairs for dscp in listed(group)}
    last = rows[len(groups) - 1] if 0 < len(groups) <= len(rows) else {}
    by_value = {str(value): of_value.get(value, last) for value in sorted(codepoints(plain.get("match")))}
    return {**plain, "precedence": "dscp", "buffer": {"wred": {**wred, "precedences": by_value}}}


def _unwrapped(config: Any) -> Any:  # noqa: ANN401 - a class of a policy
    """Return the only class inside a class that does nothing itself, in its place."""
    inner = (config.get("queueing") or {}).get("classes") or []
    alone = len(inner) == 1 and not inner[0].get("match") and not inner[0].get("shape")
    if not alone or config.get("shape") or config.get("police"):
        return config
    around = {key: config[key] for key in ("match", "share") if config.get(key)}
    return {**inner[0], "share": {}, **around}


def _proportional(one: Sequence[Any], other: Sequence[Any]) -> bool:
    if len(one) != len(other):
        return False
    weights = [[weight_of(config) for config in classes] for classes in (one, other)]
    sums = [sum(several) for several in weights]
    if not all(sums):
        return False
    pairs = zip(*weights, strict=True)
    return all(isclose(left / sums[0], right / sums[1], rel_tol=_ROUNDED) for left, right in pairs)


def _of_lists(one: list[Any], other: list[Any], path: str) -> Iterator[Difference]:
    if not any(isinstance(value, Mapping) for value in [*one, *other]):
        if one != other:
            yield path, _said(one), _said(other)
        return
    for number in range(max(len(one), len(other))):
        left = one[number] if number < len(one) else None
        right = other[number] if number < len(other) else None
        named: Any = left if left is not None else right
        name = named.get("name") if isinstance(named, Mapping) else None
        below = f"{path}[{name if name is not None else number}]"
        if left is None or right is None:
            yield below, _said(left), _said(right)
        else:
            yield from _of(left, right, below)


def _said(value: Any) -> str:  # noqa: ANN401 - a part of a policy
    if value is None:
        return "nothing"
    text = str(value)
    return text if len(text) <= _SAID else f"{text[:_SAID]}…"
