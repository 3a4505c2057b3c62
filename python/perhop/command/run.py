"""`perhop run`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypedDict

from perhop.capturing import Captures
from perhop.command.folder import network_of
from perhop.command.judging import Judgement, Judging
from perhop.command.options import (
    Asserted,
    Assume,
    Back,
    CodecName,
    Duration,
    Force,
    Interface,
    JitterBuffer,
    Json,
    Load,
    Opened,
    Output,
    Over,
    Overrides,
    Platform,
    Policy,
    Quiet,
    Replications,
    RoutesFile,
    ScenarioFile,
    Seed,
    SnapLength,
    Speed,
    Threads,
    Traffic,
    Watch,
    Wide,
    assumptions,
    changes,
    pace_of,
)
from perhop.command.parameter import Parameter
from perhop.command.plotting import Plots
from perhop.command.run_burst import Burst
from perhop.command.run_report import RunReport
from perhop.command.run_view import Wanted, viewed
from perhop.command.terminal import print_json, print_note, print_written, show_inferred, show_warnings
from perhop.errors import Exit, InvalidInputError
from perhop.pacing import Pace
from perhop.results import Results
from perhop.running import FITTING, Engine, Progress, Snapshot, simulate
from perhop.saving import check_target, whole_folder
from perhop.scenario import RouterOptions, Scenario

if TYPE_CHECKING:
    from perhop.network.running import NetworkRun
    from perhop.plot.description import Description
    from perhop.plot.writing import Destination


def run(
    scenario: ScenarioFile | None = None,
    /,
    *,
    from_: Annotated[str | None, Parameter(name="--from")] = None,
    set_: Overrides = None,
    seed: Seed = None,
    replications: Replications = None,
    duration: Duration = None,
    interface: Annotated[
        Interface,
        Parameter(
            help="For router configurations: the output interface, sub-interface or tunnel. "
            "Default: the interface whose policy has the most classes."
        ),
    ] = None,
    whole_port: str | None = None,
    platform: Platform = None,
    assume: Assume = None,
    rate: str | None = None,
    policy: Policy = None,
    traffic: Annotated[
        Traffic,
        Parameter(
            help="For router configurations: file with the offered load. Formats: CSV with "
            "class,rate,packet_bytes,kind; flow records as CSV (NetFlow, IPFIX); a capture (pcap, pcapng); "
            "output of the router's counters, or two outputs as before.txt,after.txt with --over. Or "
            "'microburst(10Gb/s->1Gb/s, 200 kB)': a burst of 200 kB into each class, one class after the "
            "other, from a sender with 10 Gb/s to an interface with 1 Gb/s. Or "
            "'microburst(4x10Gb/s, 50 kB, class=VOICE, frame=1518B)': four senders of 50 kB each."
        ),
    ] = None,
    load: Load = None,
    over: Over = None,
    routes: RoutesFile = None,
    output: Output = None,
    force: Force = False,
    plot: Annotated[list[str] | None, Parameter(negative=())] = None,
    report: Path | None = None,
    back: Annotated[
        Back, Parameter(help="With --report: also show the classes of replies, marked '(back)'.")
    ] = False,
    bounds: Annotated[bool, Parameter(negative=())] = False,
    watch: Watch = None,
    speed: Speed = None,
    open_: Opened = True,
    pcap: Path | None = None,
    pcap_link: Annotated[list[str] | None, Parameter(negative=())] = None,
    snap_length: SnapLength = None,
    wide: Wide = False,
    json: Json = False,
    quiet: Quiet = False,
    threads: Threads = None,
    engine: Engine = "fast",
    assert_: Asserted = None,
    codec: CodecName = None,
    jitter_buffer: JitterBuffer = None,
) -> Exit:
    """Simulate a scenario and show the results of each traffic class, with a verdict on each.

    Parameters
    ----------
    scenario
        The scenario file; or a router configuration or a folder of configurations, for which perhop infers
        hosts and traffic and reports what it inferred; - reads standard input.
    from_
        Run a point of a sweep instead of a scenario, for example --from results/sweep:17, with the seed and
        the replications of that point.
    replications
        Number of runs with different random draws; two or more give confidence intervals. Default: the number
        in the scenario, otherwise 3 to 10, as many as fit into 1.5 million packet-hops (one packet on one
        link).
    whole_port
        Instead of --interface: a physical port. All its tunnels and sub-interfaces with policies run at the
        same time, and share the rate of the port.
    rate
        For tc: the line rate, for example 50Mb/s. For class-maps and policy-maps without an interface: the
        rate of the interface that perhop adds for the outermost policy.
    over
        With --traffic: the time between the two outputs of the router, or the time for which the counters of
        one output have counted, for example 300s. Default: perhop uses the rates that the output prints.
    output
        Folder for summary.json and the tables as Parquet. It is written completely or not at all.
    plot
        Plot the results: KIND, or KIND=FILE, for example delay-cdf=delay.html. Default file: KIND.svg
        (KIND.html without matplotlib) in the output folder or the current folder. `perhop plot --help` lists
        the kinds. May be given several times.
    report
        Write a self-contained HTML page with verdicts, the bottleneck, linked charts and assumptions.
    bounds
        Add the worst-case delay of each class by network calculus, next to the longest simulated delay.
    watch
        Show queues and shares during the run, in the terminal; --watch=web shows packets and charts in the
        browser. The first replication runs slower. Keys in the terminal: space pauses, + and - change the
        speed, n shows the next port, q closes the view while the run continues.
    speed
        With --watch: simulated seconds per second, for example 1x, 0.1x or 10x. Default: max.
    open_
        With --watch=web: open the browser if there is a display; --no-open only prints the link.
    pcap
        Folder for captures of the first replication: one pcapng file for each link, with a comment on each
        dropped packet that names the cause. It is written completely or not at all.
    pcap_link
        A direction of a link to capture, for example 'C1->E3' (quoted, because of the >). May be given
        several times. Default: measure.captures of the scenario, else all links with a policy.
    snap_length
        Bytes to keep of each captured frame. Default: the headers.
    engine
        The simulation engine; the results are the same. `fast` (the default) divides a network into parts
        that run at the same time, if --threads permits it and the run becomes faster. `parallel` always
        divides it, one replication after the other. `plain` handles every step as an event and is the
        reference.
    assert_
        A condition on the results of a class, for example 'voice.delay_p99 < 20ms', or @FILE for a file with
        one condition per line. May be given several times. If a condition is not met, the exit code is 4.
    codec
        The codec of calls, for the telephony verdict. Default: g711 with loss concealment.
    jitter_buffer
        The de-jitter buffer of telephones, for the telephony verdict: adaptive (the default), or the length
        of a fixed buffer, for example 60ms.

    """
    pace = pace_of(speed, watch)
    judging = Judging.from_options(assert_, codec, jitter_buffer)
    wanted = [_plot(text, output) for text in plot or []]
    captures = Captures.from_options(pcap, pcap_link, snap_length, force=force)
    _check_targets(output, pcap, force=force)
    of_router: RouterOptions = {
        "interface": interface,
        "whole_port": whole_port,
        "platform": platform,
        "assume": assumptions(assume),
        "rate": rate,
        "policy": policy,
        "traffic": traffic,
        "load": load,
        "over": over,
    }
    network = network_of(scenario, routes, changes(set_, duration), of_router)
    loaded = network.scenario if network else _loaded(scenario, from_, changes(set_, duration), of_router)
    judging.check(loaded)
    loaded = _with_samples(loaded, wanted)
    page = RunReport.requested(report, back=back)
    loaded = page.sampled(loaded) if page else loaded
    if scenario is not None and network is None:
        show_inferred(loaded, scenario, of_router)
    show_warnings(loaded)
    view_options = Wanted(watch, pace, opened=open_, quiet=quiet)
    times: int | Literal["fitting"] = replications or loaded.get("replications") or FITTING
    with viewed(loaded, view_options, seed=seed, replications=1 if times == FITTING else times) as view:
        with view.during() as shown:
            options: _Options = {
                "seed": seed,
                "replications": times,
                "threads": threads,
                "engine": engine,
                "progress": shown.progress,
                "watch": shown.watch,
                "pace": shown.pace,
            }
            results, plots = _simulate(loaded, options, captures, _Targets(output, force, wanted, network))
        view.finish(results)
        if not quiet:
            _report_written(results, output, pcap)
            if engine == "parallel" and results.undivided:
                print_note(f"the network ran on one thread: {results.undivided}")
        judgement = judging.judge(results)
        burst = Burst.requested(traffic, scenario, loaded)
        shown_as = _Shown(json=json, quiet=quiet, wide=wide, bounds=bounds, burst=burst)
        shown_as.present(results, loaded, judgement, network)
        # The plots are written last, so that an error in one does not lose the results.
        plots.write_rest(quiet=quiet)
        if page:
            page.write(results, loaded, scenario, network)
            if not quiet:
                print_written(page.file)
        sys.stdout.flush()
    return judgement.code


@dataclass(frozen=True)
class _Shown:
    """The options for the output of a run."""

    json: bool
    quiet: bool
    wide: bool
    bounds: bool
    burst: Burst | None = None

    def present(
        self, results: Results, loaded: Scenario, judgement: Judgement, network: NetworkRun | None
    ) -> None:
        """Print the results, their verdicts and assertions."""
        verdicts = judgement.document()
        if self.json:
            bounded = {"bounds": _bounds(loaded)} if self.bounds else {}
            left_out = {"not_looked_at": loaded.not_looked_at} if loaded.inferred else {}
            between = network.document(results, verdicts["verdicts"]) if network else {}
            print_json(results.summary | verdicts | bounded | left_out | between)
        elif self.quiet:
            judgement.report_failed()
        elif network is not None:
            from perhop.command.network_run import show_network  # lazy: only for folders

            show_network(network, results, verdicts["verdicts"])
            judgement.report_failed()
        else:
            _show(results, loaded, wide=self.wide, bounds=self.bounds)
            if self.burst is None:
                judgement.show()
            else:
                # Verdicts are about calls and transfers. For a burst, the answer is its losses.
                self.burst.show(results)
                judgement.report_failed()


def _show(results: Results, scenario: Scenario, *, wide: bool, bounds: bool) -> None:
    """Print the table of classes, with `bounds` also their guarantees."""
    from perhop.command.class_table import show_classes  # lazy: rich, which --json does not need

    show_classes(results, scenario.queues, wide=wide)
    if bounds:
        from perhop.bounds import bounds_of, longest_delays  # lazy: only with --bounds
        from perhop.command.bounds_table import show_table  # lazy: the same reason

        found = bounds_of(scenario).presented(port for port, _ in scenario.queues.values())
        if found.classes:
            show_table(found.class_table(longest_delays(results)), keys=1)
        else:
            show_table(found.queue_table(), keys=2)


def _loaded(
    scenario: Path | None, point: str | None, changed: dict[str, str], of_router: RouterOptions
) -> Scenario:
    """Return the scenario of a file, or of a point of a sweep."""
    if (scenario is None) == (point is None):
        raise InvalidInputError(
            "give a scenario, or --from SWEEP:POINT", "for example perhop run --from sweep:17"
        )
    if scenario is not None:
        return Scenario.load(scenario, changed, **of_router)
    folder, colon, number = str(point).rpartition(":")
    if not (colon and folder and number.isdecimal()):
        raise InvalidInputError(
            f"--from: `{point}` is not a point of a sweep", "for example --from results/sweep:17"
        )
    from perhop.sweeping import Sweep  # lazy: polars

    return Sweep.load(folder).scenario_of(int(number)).changed(changed)


class _Options(TypedDict):
    seed: int | None
    replications: int | Literal["fitting"]
    threads: int | None
    engine: Engine
    progress: Callable[[Progress], None] | None
    watch: Callable[[Snapshot], None] | None
    pace: Pace | None


def _check_targets(output: Path | None, pcap: Path | None, *, force: bool) -> None:
    """Refuse folders that cannot be written. Captures inside the folder of results are part of it."""
    if output is not None:
        check_target(output, "run", force=force)
    if pcap is not None and not _is_inside(pcap, output):
        check_target(pcap, "captures", force=force)


def _is_inside(folder: Path, output: Path | None) -> bool:
    return output is not None and folder.absolute().is_relative_to(output.absolute())


@dataclass(frozen=True)
class _Targets:
    """The output: the folder of results, and the plots by kind and file."""

    output: Path | None
    force: bool
    plots: list[tuple[str, Destination]]
    network: NetworkRun | None = None

    def plots_of(self, results: Results) -> Plots:
        """Return the plots of results."""
        return Plots(self.output, [(where, partial(_charts, results, kind)) for kind, where in self.plots])

    def add(self, results: Results, plots: Plots, folder: Path) -> None:
        """Write plots, and the results of a network's pairs, into the folder of results."""
        plots.write_into(folder)
        if self.network is not None:
            from perhop.command.network_run import write_pairs  # lazy: only for folders

            write_pairs(self.network, results, folder)


def _simulate(
    scenario: Scenario, options: _Options, captures: Captures | None, targets: _Targets
) -> tuple[Results, Plots]:
    """Run, and write results and captures, each folder complete or not at all."""
    output = targets.output
    if output is None or captures is None or not _is_inside(captures.folder, output):
        results = simulate(scenario, **options, captures=captures)
        plots = targets.plots_of(results)
        if output is not None:
            results.save(output, force=targets.force, also=partial(targets.add, results, plots))
        return results, plots
    # If the captures are inside the folder of results, both appear at once.
    with whole_folder(output, "run", force=targets.force) as new:
        inside = new / captures.folder.absolute().relative_to(output.absolute())
        if inside == new:
            raise InvalidInputError(
                f"results and captures cannot both go to `{output}`",
                f"for example --pcap {output / 'captures'}",
            )
        results = simulate(scenario, **options, captures=replace(captures, folder=inside))
        plots = targets.plots_of(results)
        results.write_into(new, partial(targets.add, results, plots))
    return results, plots


def _charts(results: Results, kind: str) -> Sequence[Description]:
    from perhop import plot  # lazy: polars, which only plots need

    return plot.charts(results, kind)


def _report_written(results: Results, output: Path | None, pcap: Path | None) -> None:
    if output is not None:
        print_written(output)
    for captured in results.captured:
        packets, dropped = captured["packets"], captured["dropped"]
        counts = f"{packets:,} {'packet' if packets == 1 else 'packets'}, {dropped:,} of them dropped"
        print(f"captured in {Path(pcap or '') / captured['file']}: {counts}", file=sys.stderr)
        if captured["full_at_s"] is not None:
            print(
                f"warning: {captured['file']} is full and ends at {captured['full_at_s']:g} s of the run: "
                "choose fewer links with --pcap-link, or a shorter --duration",
                file=sys.stderr,
            )


def _plot(argument: str, output: Path | None) -> tuple[str, Destination]:
    """Return kind and destination of `KIND` or `KIND=FILE`; refuses files that cannot be written."""
    from perhop.plot.kinds import check_kind  # lazy: polars, which only plots need
    from perhop.plot.writing import Destination, check_file  # lazy: polars, which only plots need

    kind, equals, file = argument.partition("=")
    check_kind(kind)
    where = Destination(Path(file)) if equals else Destination.usual(kind, output)
    check_file(where.file, made=output)
    return kind, where


def _with_samples(scenario: Scenario, wanted: list[tuple[str, Destination]]) -> Scenario:
    """Report and add the samples that the plots need and the scenario lacks. Return the scenario."""
    if not wanted:
        return scenario
    from perhop.plot.kinds import settings_for  # lazy: polars, which only plots need

    added = settings_for(scenario, [kind for kind, _ in wanted])
    for path, value in added.items():
        print_note(f"measured for the plot: {path} = {value}")
    return scenario.changed(added) if added else scenario


def _bounds(scenario: Scenario) -> dict[str, Any]:
    from perhop.bounds import bounds_of  # lazy: only with --bounds

    return bounds_of(scenario).to_dict()
