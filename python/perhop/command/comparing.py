"""Compared runs: the progress of a live run and its simulation, and a real router with a run."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from perhop.command.showing import results_of
from perhop.command.terminal import print_json, share_bar
from perhop.configuration import STANDARD_INPUT, read, router_text
from perhop.errors import InvalidInputError
from perhop.live.comparing import Watched
from perhop.scenario import RouterOptions
from perhop.show.comparison import Tolerances
from perhop.show.output import compared
from perhop.show.output import read as read_output


@contextmanager
def compared_bar(title: str, *, quiet: bool) -> Iterator[Watched]:
    """Show the progress of a simulation and of the following live run; yield the callbacks of both."""
    with share_bar(title, quiet=quiet) as tell:
        if tell is None:
            yield Watched()
        else:
            yield Watched(lambda now: tell(now.fraction / 2), lambda share: tell((1 + share) / 2))


def compared_with_router(
    output: Path,
    what: list[Path],
    tolerances: Tolerances,
    *,
    changed: dict[str, str],
    seed: int | None,
    quiet: bool,
    json: bool,
    options: RouterOptions,
) -> bool:
    """Compare a router's output with a run and show it; return whether the two agree."""
    text = read(output)
    commands = read_output(text)["commands"]
    if len(what) != 1:
        raise InvalidInputError(
            f"--router compares a router with one argument, but there are {len(what)} arguments",
            "give a scenario, a router configuration or a folder of results",
        )
    options = _with_load_of(output, what[0], options)
    results = results_of(what[0], changed, commands, seed=seed, quiet=quiet, options=options)
    found = compared(results, text, tolerances)
    if json:
        print_json(found)
    elif not quiet:
        from perhop.command.router_table import show  # lazy: rich, which --json does not need

        show(found)
    return found["agrees"]


def _with_load_of(output: Path, source: Path, options: RouterOptions) -> RouterOptions:
    """Return the options of a run with the load in the router's output.

    Scenarios and results have their own load, and options may set another load.
    """
    has_load = options["traffic"] is not None or options.get("load") is not None
    if has_load or output == STANDARD_INPUT or source.is_dir() or router_text(source) is None:
        return options
    return {**options, "traffic": output}
