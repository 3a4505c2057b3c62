"""Conditioners as lines of IOS: `set`, `police` and `rate-limit`."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from perhop.convert.conditions import color_number
from perhop.convert.ios_class import size
from perhop.convert.ios_match import InexpressibleError, ios_name
from perhop.quantity import bits_per_second

Action = str | Mapping[str, Any]
_LAST = ("transmit", "drop", "continue")
_COLORS = ("green", "yellow", "red")
_OF_STAGE = (*_COLORS, "actions")
# A field of perhop's packets as `set` names it.
_SET = {
    "mark": "dscp",
    "mark-precedence": "precedence",
    "mark-cos": "cos",
    "mark-exp": "mpls experimental imposition",
    "label": "qos-group",
    "color": "discard-class",
}
_COPIED = {
    "dscp": "dscp",
    "precedence": "precedence",
    "cos": "cos",
    "mpls-exp": "mpls experimental topmost",
    "label": "qos-group",
    "color": "discard-class",
}
# The same as an action of a policer names it.
_ACTION = {
    "dscp": "set-dscp-transmit",
    "precedence": "set-prec-transmit",
    "cos": "set-cos-transmit",
    "mpls experimental imposition": "set-mpls-exp-imposition-transmit",
    "mpls experimental topmost": "set-mpls-exp-topmost-transmit",
    "qos-group": "set-qos-transmit",
    "discard-class": "set-discard-class-transmit",
}
_HIGHEST_GROUP = 99


class TableMaps:
    """The table-maps that some actions need."""

    def __init__(self) -> None:
        self._by_content: dict[str, tuple[str, list[str]]] = {}

    def name(self, copied: Mapping[str, Any]) -> str:
        """Return the table-map of a `copy`."""
        content = json.dumps([copied.get("map"), copied.get("default")], sort_keys=True)
        if content not in self._by_content:
            lines = [f"map from {key} to {value}" for key, value in (copied.get("map") or {}).items()]
            lines.append(f"default {copied.get('default', 'copy')}")
            self._by_content[content] = (f"TABLE-{len(self._by_content) + 1}", lines)
        return self._by_content[content][0]

    def lines(self) -> list[str]:
        """Return them as lines of a configuration."""
        lines = []
        for name, own in self._by_content.values():
            lines += [f"table-map {name}", *(f" {one}" for one in own), "!"]
        return lines


def ending(actions: Sequence[Action]) -> str:
    """Return where a packet goes after some actions: `transmit` where nothing is said."""
    return str(actions[-1]) if actions and actions[-1] in _LAST else "transmit"


def steps(actions: Sequence[Action]) -> list[Action]:
    """Return the actions without the one that says where the packet goes."""
    return list(actions[:-1]) if actions and actions[-1] in _LAST else list(actions)


def of_colors(stage: Mapping[str, Any]) -> dict[str, list[Action]]:
    """Return the actions of each color, as a stage carries them out."""
    every = stage.get("actions") or []
    return {color: list(stage.get(color) or every) for color in _COLORS}


def stage_lines(stage: Mapping[str, Any], tables: TableMaps, *, inner: bool = False) -> list[str]:
    """Return the lines of a class for one conditioner; raises `InexpressibleError`.

    A class of a policy inside another sends its packets on to the class around it.
    """
    if inner:
        stage = {key: _sent(value) if key in _OF_STAGE else value for key, value in stage.items()}
    if stage.get("per", "aggregate") != "aggregate":
        raise InexpressibleError("meter per flow", "a policer of a class is one for all its flows")
    meter = stage.get("meter")
    if not meter:
        return _unmetered(list(stage.get("actions") or stage.get("green") or []), tables)
    line, number = _police(meter)
    colors = ["green", _excess(meter)] if number == 2 else list(_COLORS)
    actions = of_colors(stage)
    of_stage = {color: actions[color] for color in colors}
    if any(ending(one) == "continue" for one in of_stage.values()):
        raise InexpressibleError("continue after a policer", "a class of IOS sends its packets on")
    shared = _shared(list(of_stage.values()))
    lines = [f"set {words}" for one in shared for words in _setting(one, tables)] + [line]
    for word, color in zip(("conform", "exceed", "violate"), colors, strict=False):
        own = [one for one in steps(of_stage[color]) if one not in shared]
        if ending(of_stage[color]) == "drop" or not own:
            lines.append(f"  {word}-action {ending(of_stage[color])}")
        else:
            lines += [f"  {word}-action {words}" for one in own for words in _acting(one, tables)]
    return lines


def _sent(actions: list[Action]) -> list[Action]:
    return [*actions[:-1], "transmit"] if actions and actions[-1] == "continue" else actions


def _unmetered(actions: list[Action], tables: TableMaps) -> list[str]:
    if ending(actions) == "drop":
        return ["drop"]
    if ending(actions) == "continue" and steps(actions):
        raise InexpressibleError("continue", "a packet meets one class of a policy")
    return [f"set {words}" for one in steps(actions) for words in _setting(one, tables)]


def _shared(lists: list[list[Action]]) -> list[Action]:
    """Return what every list begins with: what the class sets besides its policer."""
    found: list[Action] = []
    for several in zip(*(steps(one) for one in lists), strict=False):
        if any(one != several[0] for one in several):
            break
        found.append(several[0])
    return found


def _setting(action: Action, tables: TableMaps) -> list[str]:
    """Return what follows `set` for one action."""
    if not isinstance(action, Mapping):
        raise InexpressibleError(f"action {action}", "only at the end of a list")
    ((kind, value),) = action.items()
    if kind == "copy":
        target, source = _COPIED[value["to"]], _COPIED[value["from"]]
        has_table = value.get("map") or value.get("default", "copy") != "copy"
        has_value = not value.get("map") and str(value.get("default", "copy")).isdigit()
        if value["to"] == value["from"] == "mpls-exp" and has_value:
            return [f"{target} {value['default']}"]
        return [f"{target} {source}" + (f" table {tables.name(value)}" if has_table else "")]
    if kind == "label" and value > _HIGHEST_GROUP:
        raise InexpressibleError(f"label {value}", f"qos-group goes to {_HIGHEST_GROUP}")
    return [f"{_SET[kind]} {color_number(value) if kind == 'color' else value}"]


def _acting(action: Action, tables: TableMaps) -> list[str]:
    """Return a policer's action that sets something and transmits."""
    found = []
    for words in _setting(action, tables):
        field = next(field for field in sorted(_ACTION, key=len, reverse=True) if words.startswith(field))
        found.append(f"{_ACTION[field]}{words[len(field) :]}")
    return found


def _excess(meter: Mapping[str, Any]) -> str:
    """Return the color of what exceeds a meter of two colors."""
    ((_, parameters),) = meter.items()
    excess = str(parameters.get("excess", "red"))
    return excess if excess in _COLORS else "red"


def _police(meter: Mapping[str, Any]) -> tuple[str, int]:
    """Return the `police` line of a meter and how many colors it tells; raises `InexpressibleError`."""
    ((kind, parameters),) = meter.items()
    aware = parameters.get("class-maps") or {}
    if parameters.get("mode", "color-blind") != "color-blind" and not aware:
        raise InexpressibleError("a color-aware meter", "conform-color names class-maps; colors have none")
    colors = "".join(f" {color} {name}" for color, name in aware.items())
    if kind == "token-bucket":
        rate = round(bits_per_second(parameters["rate"]))
        return f"police cir {rate} bc {_bytes(parameters['burst'])}", 2
    if kind == "packet-rate":
        rate = int(str(parameters["rate"]).split()[0])
        return f"police rate {rate} pps burst {size(parameters['burst'])[0]} packets", 2
    if kind == "single-rate-tcm":
        cir = round(bits_per_second(parameters["cir"]))
        return f"police cir {cir} bc {_bytes(parameters['cbs'])} be {_bytes(parameters['ebs'])}{colors}", 3
    if kind == "two-rate-tcm":
        cir, pir = (round(bits_per_second(parameters[key])) for key in ("cir", "pir"))
        bursts = f"bc {_bytes(parameters['cbs'])} pir {pir} be {_bytes(parameters['pbs'])}"
        return f"police cir {cir} {bursts}{colors}", 3
    raise InexpressibleError(f"meter {kind}", "policers of IOS are RFC 2697, RFC 2698 or one token bucket")


def _bytes(text: str) -> int:
    return size(text)[0]


def is_rate_limit(stage: Mapping[str, Any]) -> bool:
    """Whether a conditioner is a `rate-limit` line of an interface: a bucket that packets may borrow from."""
    meter = stage.get("meter") or {}
    return "token-bucket-with-debt" in meter or str(stage.get("name") or "").startswith("rate-limit ")


def rate_limit_line(
    stage: Mapping[str, Any], direction: str, number: int, tables: TableMaps
) -> tuple[str, str]:
    """Return a `rate-limit` line and the access list that it names; raises `InexpressibleError`."""
    ((kind, parameters),) = (stage.get("meter") or {"": {}}).items()
    if kind not in {"token-bucket-with-debt", "token-bucket"}:
        raise InexpressibleError(f"rate-limit with {kind or 'no meter'}", "rate-limit is one bucket")
    burst = _bytes(parameters["burst"])
    extended = _bytes(parameters.get("debt-limit") or parameters["burst"])
    match, name = stage.get("match"), str(stage.get("name") or "")
    words, listed = "", ""
    if match and set(match) == {"dscp"} and isinstance(match["dscp"], (str, int)):
        words = f"dscp {match['dscp']} "
    elif match and set(match) == {"label"} and isinstance(match["label"], int):
        words = f"qos-group {match['label']} "
    elif match:
        given = name.removeprefix("rate-limit access-group ").partition(" (")[0]
        if set(match) == {"precedence"}:
            is_known = name != given and re.fullmatch(r"rate-limit \d{1,3}", given)
            listed = given if is_known else f"rate-limit {number}"
        else:
            named = given if name != given and " " not in given else ""
            listed = ios_name(named or f"{name or 'LIMIT'}-{number}")
        words = f"access-group {listed} "
    of_stage = of_colors(stage)
    actions = [_car_action(of_stage[color], tables) for color in ("green", "red")]
    rate = round(bits_per_second(parameters["rate"]))
    return (
        f"rate-limit {direction} {words}{rate} {burst} {extended} "
        f"conform-action {actions[0]} exceed-action {actions[1]}"
    ), listed


def _car_action(actions: Sequence[Action], tables: TableMaps) -> str:
    last, own = ending(actions), steps(actions)
    if not own:
        return last
    if len(own) > 1 or last == "drop":
        raise InexpressibleError("several actions of a rate-limit", "it has one for each color")
    (words,) = _acting(own[0], tables)
    return words if last == "transmit" else words.replace("-transmit", "-continue")
