"""Reading YAML with places: errors name file, line and column."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import yaml

from perhop.errors import MOST_LEVELS, NESTED_TOO_DEEPLY, InvalidInputError
from perhop.inputs import POLICY_TESTS, read_input
from perhop.quantity import counted

# The maximum number of nodes, because aliases can expand to far more nodes than the file contains.
_MOST_NODES = 100_000
# Characters that names of files and scenarios cannot have; escapes in quotes can produce them.
_NOT_TEXT = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff]")
# The maximum digits of a whole number: the digits of 2**64.
_MOST_DIGITS = 20


class Place:
    """A node of a file."""

    def __init__(self, file: Path, node: yaml.Node) -> None:
        self.file = file
        self.node = node

    def error(self, message: str, help: str | None = None) -> InvalidInputError:
        """Return an error about this place."""
        mark = self.node.start_mark
        return InvalidInputError(f"{self.file}:{mark.line + 1}:{mark.column + 1}: {message}", help)

    @property
    def line(self) -> int:
        """The line of the node, from 1."""
        return int(self.node.start_mark.line) + 1

    def text(self, what: str) -> str:
        """Return a scalar in the words of the file."""
        if not isinstance(self.node, yaml.ScalarNode):
            raise self.error(f"{what} is a text, not {_kind(self.node)}")
        return str(self.node.value)

    def integer(self, what: str, least: int, greatest: int) -> int:
        """Return a whole number from `least` to `greatest`."""
        text = self.text(what)
        is_whole = text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS
        if not is_whole or not least <= int(text) <= greatest:
            raise self.error(f"{what} is a whole number from {least} to {greatest}, not `{text}`")
        return int(text)

    def items(self, what: str) -> list[Place]:
        """Return the elements of a list."""
        if not isinstance(self.node, yaml.SequenceNode):
            raise self.error(f"{what} is a list, not {_kind(self.node)}")
        return [Place(self.file, element) for element in self.node.value]

    def pairs(self, what: str) -> dict[str, Place]:
        """Return the values of a mapping by their keys."""
        if not isinstance(self.node, yaml.MappingNode):
            raise self.error(f"{what} is a mapping, not {_kind(self.node)}")
        found: dict[str, Place] = {}
        for key, value in self.node.value:
            place = Place(self.file, key)
            name = place.text("a key")
            if name in found:
                raise place.error(f"`{name}` appears twice")
            found[name] = Place(self.file, value)
        return found

    def known(self, what: str, keys: Iterable[str]) -> dict[str, Place]:
        """Return the values of a mapping that may only have certain keys."""
        found, allowed = self.pairs(what), list(keys)
        for (key, _), name in zip(self.node.value, found, strict=True):
            if name not in allowed:
                near = get_close_matches(name, allowed, n=1)
                help = f"did you mean `{near[0]}`?" if near else f"keys: {', '.join(allowed)}"
                raise Place(self.file, key).error(f"`{name}` is not a key of {what}", help)
        return found

    def plain(self) -> Any:  # noqa: ANN401 - any YAML value
        """Return the node as plain data: a scalar as it is written; lists and mappings contain numbers."""
        if isinstance(self.node, yaml.ScalarNode):
            return str(self.node.value)
        return _data(self.node)


def read(file: Path) -> Place:
    """Read a file with one YAML document.

    Raises:
        UnreadableFileError: the file cannot be read.
        InvalidInputError: the content is not YAML.

    """
    try:
        text = read_input(file, POLICY_TESTS).decode("utf-8-sig")
        node = yaml.compose(text, yaml.SafeLoader)
        if node is None:
            raise InvalidInputError(f"`{file}` is empty")
        _require_plain(file, node)
    except UnicodeDecodeError as error:
        raise InvalidInputError(f"`{file}` is not UTF-8 text") from error
    except RecursionError as error:
        raise InvalidInputError(f"`{file}`: {NESTED_TOO_DEEPLY}") from error
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f":{mark.line + 1}:{mark.column + 1}" if mark else ""
        raise InvalidInputError(f"{file}{where}: {error.problem or error.context}") from error
    except yaml.YAMLError as error:
        raise InvalidInputError(f"`{file}`: {str(error).splitlines()[0]}") from error
    return Place(file, node)


def _require_plain(file: Path, root: yaml.Node) -> None:
    """Refuse recursive or huge files (aliases), too deep nesting, and texts with control characters."""
    for count, (node, depth) in enumerate(_nodes(root)):
        if count >= _MOST_NODES:
            raise InvalidInputError(f"`{file}` has more than {counted(_MOST_NODES, 'value')}, with aliases")
        if depth > MOST_LEVELS and not isinstance(node, yaml.ScalarNode):
            raise Place(file, node).error(NESTED_TOO_DEEPLY)
        if isinstance(node, yaml.ScalarNode) and _NOT_TEXT.search(node.value):
            raise Place(file, node).error("the text has a control character, or half of a surrogate pair")


def _nodes(root: yaml.Node) -> Iterator[tuple[yaml.Node, int]]:
    """Generate every node once for each reference to it, with its level from 1."""
    left = [(root, 1)]
    while left:
        node, depth = left.pop()
        yield node, depth
        if isinstance(node, yaml.MappingNode):
            left += [(child, depth + 1) for pair in node.value for child in pair]
        elif isinstance(node, yaml.SequenceNode):
            left += [(child, depth + 1) for child in node.value]


def _data(node: yaml.Node) -> Any:  # noqa: ANN401 - any YAML value
    if isinstance(node, yaml.MappingNode):
        return {str(key.value): _data(value) for key, value in node.value}
    if isinstance(node, yaml.SequenceNode):
        return [_data(child) for child in node.value]
    if node.style is not None:
        return str(node.value)
    # An unquoted number, true, false or null of YAML 1.2 has the same type in JSON.
    try:
        return json.loads(node.value)
    except ValueError:
        return str(node.value)


def _kind(node: yaml.Node) -> str:
    return {yaml.MappingNode: "a mapping", yaml.SequenceNode: "a list"}.get(type(node), f"`{node.value}`")
