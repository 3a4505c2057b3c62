"""`perhop run`."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypedDict

from cyclopts import Parameter

from perhop.capturing import Captures
from perhop.command.options import (
    Json,
    Output,
    Overrides,
    Quiet,
    Replications,
    Seed,
    SnapLength,
    Threads,
    changes,
)
from perhop.command.terminal import print_json, progress_bar, say_written, show_guess, show_warnings
from perhop.errors import Exit, InvalidInputError
from perhop.saving import check_target, whole_folder

if TYPE_CHECKING:
    from perhop.results import Results
    from perhop.running import Progress, Snapshot
    from perhop.scenario import Scenario


def run(
    scenario: Path,
    /,
    *,
    set_: Overrides = None,
    seed: Seed = None,
    replications: Replications = None,
    duration: str | None = None,
    output: Output = None,
    plot: Annotated[list[str] | None, Parameter(negative=())] = None,
    watch: Annotated[bool, Parameter(negative=())] = False,
    pcap: Path | None = None,
    pcap_link: Annotated[list[str] | None, Parameter(negative=())] = None,
    snap_length: SnapLength = None,
    json: Json = False,
    quiet: Quiet = False,
    threads: Threads = None,
) -> Exit:
    """Simulate a scenario and show what each class of traffic got.

    Parameters
    ----------
    scenario
        The scenario file, or a router's configuration, around which hosts and traffic are then guessed;
        - is standard input.
    set_
        Replace a value of the scenario, as path=value; may be given several times.
    seed
        Of every random stream; by default the scenario's own.
    replications
        How often the experiment is repeated with other random draws; from two on, with confidence intervals.
    duration
        Simulated time with its unit, as in 60s.
    output
        Folder for summary.json and the tables as Parquet; it appears as a whole or not at all.
    plot
        Plot the results: KIND, or KIND=FILE as in delay-cdf=delay.html; by default KIND.svg in the output
        folder, or here (KIND.html where matplotlib is not installed). May be given several times;
        `perhop plot --help` names the kinds.
    watch
        Show queues and shares as they evolve, in a terminal; the first replication takes longer for it.
    pcap
        Folder for captures of the first replication: one pcapng file for each link, dropped packets with a
        comment that says why. It appears as a whole or not at all.
    pcap_link
        A direction of a link to capture, as in 'C1->E3' (quoted: shells take > for themselves); may be given
        several times. By default what the scenario's measure.captures says, else every link with a policy.
    snap_length
        Bytes to keep of each captured frame; by default its headers.
    json
        Print the summary as one JSON document.
    quiet
        Show neither progress nor table.
    threads
        How many replications run at the same time; the results do not depend on it.

    """
    from perhop.command.watching import watching
    from perhop.scenario import Scenario

    wanted = [_plot(one, output) for one in plot or []]
    captures = Captures.of(pcap, pcap_link, snap_length)
    for target in (output, pcap):
        if target is not None:
            check_target(target)
    loaded = Scenario.load(scenario, changes(set_, duration))
    _check_samples(loaded, wanted)
    show_guess(loaded, scenario)
    show_warnings(loaded.warnings)
    with watching(loaded, quiet=quiet) if watch else progress_bar(loaded["name"], quiet=quiet) as shown:
        progress, see = shown if isinstance(shown, tuple) else (shown, None)
        options: _Options = {
            "seed": seed,
            "replications": replications,
            "threads": threads,
            "progress": progress,
            "watch": see,
        }
        results = _simulate(loaded, options, captures, output)
    if not quiet:
        _say_what_was_written(results, output, pcap)
    if json:
        print_json(results.summary)
    elif not quiet:
        from perhop.command.class_table import show_classes

        show_classes(results)
    # Last of all: whatever a plot lacks, the results are saved and shown.
    _write_plots(results, wanted, quiet=quiet)
    return Exit.OK


class _Options(TypedDict):
    seed: int | None
    replications: int | None
    threads: int | None
    progress: Callable[[Progress], None] | None
    watch: Callable[[Snapshot], None] | None


def _simulate(
    scenario: Scenario, options: _Options, captures: Captures | None, output: Path | None
) -> Results:
    """Run, and write results and captures, each folder as a whole or not at all."""
    from perhop.running import simulate

    if output is None:
        return simulate(scenario, **options, captures=captures)
    if captures is None or not captures.folder.absolute().is_relative_to(output.absolute()):
        results = simulate(scenario, **options, captures=captures)
        results.save(output)
        return results
    # The captures are part of the results: both appear at once.
    with whole_folder(output) as new:
        inside = new / captures.folder.absolute().relative_to(output.absolute())
        if inside == new:
            raise InvalidInputError(
                f"results and captures cannot both be {output}", f"for example --pcap {output / 'captures'}"
            )
        results = simulate(scenario, **options, captures=replace(captures, folder=inside))
        results.write_into(new)
    return results


def _say_what_was_written(results: Results, output: Path | None, pcap: Path | None) -> None:
    if output is not None:
        say_written(output)
    for captured in results.captured:
        packets, dropped = captured["packets"], captured["dropped"]
        told = f"{packets:,} packets, {dropped:,} of them dropped"
        print(f"captured in {Path(pcap or '') / captured['file']}: {told}", file=sys.stderr)
        if captured["full_at_s"] is not None:
            print(
                f"warning: {captured['file']} is full and ends after {captured['full_at_s']:g} s of the run: "
                "choose fewer links with --pcap-link, or a shorter --duration",
                file=sys.stderr,
            )


def _plot(argument: str, output: Path | None) -> tuple[str, Path]:
    """Return kind and file of `KIND` or `KIND=FILE`; refuses what could not be written in the end."""
    from perhop.plot.kinds import check_kind
    from perhop.plot.writing import check_file, usual_suffix

    kind, equals, file = argument.partition("=")
    check_kind(kind)
    target = Path(file) if equals else (output or Path()) / (kind + usual_suffix())
    check_file(target, made=output)
    return kind, target


def _check_samples(scenario: Scenario, wanted: list[tuple[str, Path]]) -> None:
    """Refuse a plot of what the scenario does not measure, before any time is spent on a run."""
    if wanted:
        from perhop.plot.kinds import check_samples

        for kind, _ in wanted:
            check_samples(scenario, kind)


def _write_plots(results: Results, wanted: list[tuple[str, Path]], *, quiet: bool) -> None:
    from perhop import plot
    from perhop.plot.writing import write

    for kind, file in wanted:
        for written in write(plot.charts(results, kind), file):
            if not quiet:
                say_written(written)
