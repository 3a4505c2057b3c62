"""Output to a terminal: consoles, progress, warnings."""

from __future__ import annotations

import json
import os
import shlex
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TextIO

from perhop.command.lines import columns_of, table_width, wrapped
from perhop.configuration import STANDARD_INPUT, checked, policy_errors, router_text
from perhop.printable import printable

if TYPE_CHECKING:
    from rich.progress import Progress as Bar

    from perhop.command.screen import Screen
    from perhop.running import Progress
    from perhop.scenario import RouterOptions, Scenario


# Runs shorter than this time have no progress bar, because importing rich would take a large part of the
# time, seconds.
_QUICK_S = 0.15
# The maximum number of warnings about a configuration that a run shows.
_MOST_WARNINGS = 4


def colors(stream: TextIO) -> bool:
    """Return whether to print colors to `stream`: it is a terminal, and NO_COLOR is not set."""
    return stream.isatty() and not os.environ.get("NO_COLOR")


def console(stream: TextIO | None = None) -> Screen:
    """Return a screen for `stream`, by default stdout, for terminals and files."""
    from perhop.command.screen import Screen  # lazy: rich, until something is shown

    stream = sys.stdout if stream is None else stream
    return Screen(file=stream, width=table_width(stream))


def print_json(document: object) -> None:
    """Print the document of `--json`."""
    print(json_text(document))


def json_text(value: object) -> str:
    """Return a value as `--json` prints it."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def print_json_rows(key: str, rows: Iterable[object]) -> None:
    """Print the document of `--json` that is a long list, row by row."""
    print_json_texts({"schema_version": 1}, key, map(json_text, rows))


def print_json_texts(head: Mapping[str, object], key: str, texts: Iterable[str]) -> None:
    """Print the document of `--json` that ends with a long list, whose elements are texts in JSON."""
    before = f"{json_text(head)[:-1]}, {json_text(key)}: ["
    for text in texts:
        sys.stdout.write(before + text)
        before = ", "
    print("]}" if before == ", " else f"{before}]}}")


def print_note(text: str) -> None:
    """Print a line on stderr."""
    # In one call, so that no signal interrupts the line and the next message begins on a new line.
    sys.stderr.write(f"{printable(wrapped(printable(text), columns_of(sys.stderr)))}\n")


def print_written(file: Path) -> None:
    """Report on stderr that a file or folder was written."""
    print_note(f"written to {file}")


def show_warnings(scenario: Scenario) -> None:
    """Print the warnings about a scenario on stderr; a warning about a configuration is one line."""
    warnings = scenario.warnings
    if not warnings:
        return
    if not scenario.inferred:
        print(warnings.colored if colors(sys.stderr) else warnings, file=sys.stderr)
        return
    for diagnostic in warnings.diagnostics[:_MOST_WARNINGS]:
        line = f" (line {diagnostic['line']})" if diagnostic["line"] else ""
        print_note(f"warning[{diagnostic['rule']}]: {diagnostic['message']}{line}")
    more = len(warnings) - _MOST_WARNINGS
    if more > 0:
        print_note(f"{more} more warning{'s' * (more > 1)}: `perhop check` lists all, with corrections")


def show_inferred(scenario: Scenario, file: Path, options: RouterOptions | None = None) -> None:
    """Report on stderr the assumptions about a router configuration, and how to change them.

    Interfaces that are excluded from the run because of an error come first.
    """
    if scenario.inferred:
        show_left_out(file, options)
        print_note(scenario.inferred)
        if file != STANDARD_INPUT:
            words = " ".join(
                map(shlex.quote, ["perhop", "init", "--from", str(file), *_as_arguments(options)])
            )
            print_note(f"to edit it: {words}")


def show_left_out(file: Path, options: RouterOptions | None) -> int:
    """Report on stderr each error in a policy of an interface, and return how many there are."""
    lines = list(_left_out(file, options))
    for line in lines:
        print_note(line)
    return len(lines)


def _left_out(file: Path, options: RouterOptions | None) -> Iterator[str]:
    """Generate a line for each error in a policy of an interface outside of the run."""
    platform, assume = (options["platform"], options["assume"]) if options else (None, None)
    for error in policy_errors(checked(router_text(file) or "", platform, assume)):
        names = ", ".join(error["interfaces"])
        yield f"left out: {names}: error in line {error['line']}: {error['message']}"


def _as_arguments(options: RouterOptions | None) -> Iterator[str]:
    """Return the options of a router configuration as arguments."""
    for key, value in (options or {}).items():
        name = key.replace("_", "-")
        if isinstance(value, Mapping):
            for class_name, criteria in value.items():
                yield from (f"--{name}", f"{class_name} = {criteria}")
        elif value is not None:
            yield from (f"--{name}", str(value))


def new_bar(screen: Screen, *columns: Literal["share", "work", "remaining", "elapsed"]) -> Bar:
    """Return a progress bar with a title before and `columns` after it. It disappears at the end."""
    from rich import progress  # lazy: rich, until something is shown

    made = {
        "share": progress.TaskProgressColumn(),
        "work": progress.TextColumn("{task.fields[work]}", markup=False),
        "remaining": progress.TimeRemainingColumn(compact=True),
        "elapsed": progress.TimeElapsedColumn(),
    }
    title = progress.TextColumn("{task.description}", markup=False)
    behind = [made[column] for column in columns]
    return progress.Progress(title, progress.BarColumn(), *behind, console=screen, transient=True)


@contextmanager
def progress_bar(title: str, *, quiet: bool) -> Iterator[Callable[[Progress], None] | None]:
    """Show the progress of a run on stderr; yield the callback, or `None` if nothing is shown."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    started = time.monotonic()
    with ExitStack() as until_end:
        bar: Bar | None = None

        def show(progress: Progress) -> None:
            nonlocal bar
            after_s = time.monotonic() - started
            if bar is None and after_s < _QUICK_S:
                return
            if bar is None:
                bar = until_end.enter_context(new_bar(console(sys.stderr), "share", "work", "remaining"))
                bar.add_task(printable(title), total=1.0, work="")
            rate = progress.packet_hops / max(after_s, 1e-3)
            work = f"{progress.simulated_s:,.0f} s at {rate / 1e6:.1f} M packet-hops/s"
            bar.update(bar.task_ids[0], completed=progress.fraction, work=work)

        yield show


@contextmanager
def share_bar(title: str, *, quiet: bool) -> Iterator[Callable[[float], None] | None]:
    """Show the completed share on stderr; yield the callback, or `None` if nothing is shown."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    bar = new_bar(console(sys.stderr), "share", "elapsed")
    with bar:
        task = bar.add_task(printable(title), total=1.0)
        yield lambda share: bar.update(task, completed=share)
