"""The pages of `--help`, laid out for the width of the terminal."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cyclopts import App
    from rich.console import Console, ConsoleOptions

# Line ends within a paragraph come from the source.
_WITHIN_PARAGRAPH = re.compile(r"(?<!\n)\n(?!\n)")
# A word of a command line (with spaces if it is quoted), or an option with its value.
_WORD = r"(?:'[^']*'|\"[^\"]*\"|[^\s'\"])+"
_PART = re.compile(rf"--?\w\S* (?!-){_WORD}|{_WORD}")
# An example and the remark behind it.
_EXAMPLE = re.compile(r"  (?P<command>\S.*?)(?P<remark>\s{3,}\S.*)?")
_CONTINUED = " \\\n    "
#: The options that print the help.
FLAGS = ("--help", "-h")


def lay_out_examples(app: App, words: Sequence[str]) -> None:
    """Wrap the examples in the help of the command that `words` name, at the width of the terminal."""
    _, apps, _ = app.parse_commands([word for word in words if word not in FLAGS])
    if (examples := apps[-1].help_epilogue) is not None:
        from rich.console import Console as Usual  # lazy: only for help

        apps[-1].help_epilogue = laid_out(examples, Usual().width)


class Formatter:
    """The default layout of cyclopts, but paragraphs are wrapped at the width of the terminal."""

    def __call__(self, console: Console, options: ConsoleOptions, panel: Any) -> None:  # noqa: ANN401 - as cyclopts calls it
        """Print the options or commands of a group."""
        for entry in panel.entries:
            _flow(entry.description)
        _default_formatter()(console, options, panel)

    def render_usage(self, console: Console, options: ConsoleOptions, usage: Any) -> None:  # noqa: ANN401 - as cyclopts calls it
        """Print the usage line."""
        _default_formatter().render_usage(console, options, usage)

    def render_description(self, console: Console, options: ConsoleOptions, description: Any) -> None:  # noqa: ANN401 - as cyclopts calls it
        """Print the help of a command."""
        _flow(description)
        _default_formatter().render_description(console, options, description)


def _default_formatter() -> Any:  # noqa: ANN401 - a formatter of cyclopts
    from cyclopts.help.formatters import DefaultFormatter  # lazy: only for help

    return DefaultFormatter()


def _flow(text: Any) -> None:  # noqa: ANN401 - a text of cyclopts
    """Join the lines of each paragraph."""
    inner = getattr(text, "primary_renderable", None)
    if (plain := getattr(inner, "plain", None)) is not None:
        inner.plain = _WITHIN_PARAGRAPH.sub(" ", plain.rstrip("\n")) + "\n" * plain.endswith("\n")  # type: ignore[union-attr]


def laid_out(examples: str, width: int) -> str:
    """Return examples and paragraphs wrapped at a width; a command continues after a backslash."""
    blocks = examples.replace(_CONTINUED, " ").rstrip().split("\n\n")
    return "\n\n".join("\n".join(_block(block.split("\n"), width)) for block in blocks)


def _block(lines: list[str], width: int) -> Iterator[str]:
    if not any(line.startswith("  ") for line in lines):
        yield from textwrap.wrap(" ".join(lines), width, break_long_words=False, break_on_hyphens=False)
        return
    for line in lines:
        example = _EXAMPLE.fullmatch(line)
        if len(line) <= width or example is None:
            yield from textwrap.wrap(line, width, break_long_words=False, break_on_hyphens=False)
            continue
        yield from _command(example["command"], width)
        if example["remark"]:
            yield from textwrap.wrap(
                example["remark"].strip(), width, initial_indent=" " * 6, subsequent_indent=" " * 6
            )


def _command(text: str, width: int) -> Iterator[str]:
    """Generate the lines of a command, which a shell reads as one."""
    words = _PART.findall(text)
    line, room = f"  {words[0]}", width - len(" \\")
    for place, word in enumerate(words[1:], start=2):
        longer = f"{line} {word}"
        if len(longer) > (width if place == len(words) else room):
            yield f"{line} \\"
            line = f"    {word}"
        else:
            line = longer
    yield line
