"""Values as YAML for people: short parts in one line with braces, text without quotes where possible.

PyYAML writes the values but no comments. The caller inserts comments between the parts of a file.
"""

from __future__ import annotations

import math
import re
from io import StringIO
from typing import Any

import yaml

# Text that needs no quotes in YAML, also within braces and between commas.
_PLAIN = re.compile(r"[A-Za-z0-9/_.][A-Za-z0-9/_.+%-]*(?: [A-Za-z0-9/_.+%-]+)*")
# Texts that YAML 1.2 may parse as another type; PyYAML implements only YAML 1.1.
_NOT_TEXT = re.compile(r"(true|false|null|yes|no|on|off|~|[0-9._+-]+([eE][0-9+-]+)?|0[xo].*)", re.IGNORECASE)
# The longest list or mapping in one line, characters.
_LINE = 90


class _Dumper(yaml.SafeDumper):  # type: ignore[misc] # PyYAML has no types
    """PyYAML with spaces within braces, with lists further in than their keys, and without `?` for keys."""

    _is_empty = False

    def ignore_aliases(self, data: object) -> bool:  # a value with two references is written twice
        return True

    def check_simple_key(self) -> bool:
        return True

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        super().increase_indent(flow, False)

    def write_indicator(self, indicator: str, *given: bool, **named: bool) -> None:
        if indicator == "{":
            self._is_empty = self.check_empty_mapping()
        spaced = indicator if self._is_empty else {"{": "{ ", "}": " }"}.get(indicator, indicator)
        if indicator == "}":
            self._is_empty = False
        super().write_indicator(spaced, *given, **named)


def _text(dumper: _Dumper, text: str) -> yaml.Node:
    is_plain = _PLAIN.fullmatch(text) and not _NOT_TEXT.fullmatch(text)
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=None if is_plain else '"')


_Dumper.add_representer(str, _text)


def flow(value: Any) -> str:  # noqa: ANN401 - any value of a scenario
    """Return a value in one line of YAML."""
    return _written(_node(value))


def block(value: Any, indent: int) -> list[str]:  # noqa: ANN401 - any value of a scenario
    """Return a mapping or a list as lines of YAML that begin with `indent` spaces."""
    node = _node(value)
    _open(node, indent)
    return [f"{' ' * indent}{line}" for line in _written(node).split("\n")]


def _node(value: Any) -> yaml.Node:  # noqa: ANN401 - any value of a scenario
    return _Dumper(StringIO(), default_flow_style=True, sort_keys=False).represent_data(value)


def _written(node: yaml.Node) -> str:
    text: str = yaml.serialize(node, Dumper=_Dumper, width=math.inf, allow_unicode=True)
    # PyYAML adds an end mark to a document that is a plain text.
    return text.removesuffix("\n").removesuffix("\n...")


def _open(node: yaml.Node, indent: int) -> None:
    """Write each part of a mapping or list on its own line; open parts that are too long in the same way."""
    node.flow_style = False
    if isinstance(node, yaml.MappingNode):
        parts = [(len(key.value), part) for key, part in node.value]
    else:
        parts = [(0, part) for part in node.value if isinstance(part, yaml.MappingNode)]
    for before, part in parts:
        is_long = indent + before + len(_written(part)) > _LINE
        if isinstance(part, yaml.CollectionNode) and is_long:
            _open(part, indent + 2)
