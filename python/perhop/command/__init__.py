"""The command line.

Nothing heavier than the argument parser is imported here: the module of a command is imported when the
command runs.
"""

from __future__ import annotations

import itertools
import signal
import sys
import warnings
from collections.abc import Iterator, Sequence
from typing import NoReturn, TextIO

from cyclopts import App, Parameter

from perhop import interrupts
from perhop._core import __version__
from perhop.command import examples, failure, streams
from perhop.command.help_pages import FLAGS, Formatter, lay_out_examples
from perhop.errors import Exit, PerhopWarning

_SHOWN = Parameter(negative=(), show_default=False)


def _group(name: str, help: str, epilogue: str) -> App:
    """Return a group of commands."""
    return App(
        name=name,
        help=help,
        help_format="plaintext",
        help_epilogue=epilogue,
        default_parameter=_SHOWN,
    )


app = App(
    name="perhop",
    help="A DiffServ QoS lab: shows the service that each traffic class gets from a router's policy.",
    help_format="plaintext",
    help_formatter=Formatter(),
    help_epilogue=examples.PERHOP,
    version=__version__,
    default_parameter=_SHOWN,
    suppress_keyboard_interrupt=False,
)
study = _group(
    "study", "Reproduce published studies, and compare published with measured figures.", examples.STUDY
)
design = _group(
    "design",
    "Compute policy parameters for a goal, with formula, source and IOS lines.",
    examples.DESIGN,
)
show = _group("show", "Show counters at the end of a run in the format of routers and Linux.", examples.SHOW)
policy_map = _group("policy-map", "Policies and their counters.", examples.SHOW)
interfaces = _group("interfaces", "Interfaces and their counters.", examples.SHOW)
class_of_service = _group(
    "class-of-service", "Parts of a configuration as the router shows them, without a run.", examples.SHOW
)
# `perhop show platform hardware fed switch active qos queue`, a group for each word.
_CHIP = [
    _group(word, "Queues in the chip of a Catalyst switch (UADP).", examples.SHOW)
    for word in ("platform", "hardware", "fed", "switch", "active", "qos", "queue")
]
chip_stats = _group("stats", "Counters of the queues of a port, at the end of a run.", examples.SHOW)
chip_config = _group("config", "The memory of the queues of a port, without a run.", examples.SHOW)
live = _group(
    "live",
    "Run scenarios on real packets in network namespaces, or a policy between two interfaces.",
    examples.LIVE,
)


def _add(group: App, name: str, function: str, help: str, epilogue: str) -> None:
    """Add a command whose module is imported when it is called."""
    group.command(f"perhop.command.{function}", name=name, help=help, help_epilogue=epilogue)


_add(app, "run", "run:run", "Simulate a scenario and show the results of each traffic class.", examples.RUN)
_add(
    app,
    "test",
    "test:test",
    "Run policy tests: assertions on the results of scenarios and router configurations.",
    examples.TEST,
)
_add(
    app,
    "sweep",
    "sweep:sweep",
    "Simulate a scenario for several values of its parameters.",
    examples.SWEEP,
)
_add(
    app,
    "tune",
    "tune:tune",
    "Find parameter values with which a scenario meets goals.",
    examples.TUNE,
)
_add(
    app,
    "bufferbloat",
    "bufferbloat:bufferbloat",
    "Show latency under load for each queueing discipline, with grades as public tests give.",
    examples.BUFFERBLOAT,
)
_add(
    app,
    "check",
    "check:check",
    "Check scenarios and router configurations without running them.",
    examples.CHECK,
)
_add(
    app,
    "bounds",
    "bounds:bounds",
    "Show guarantees of each queue and class: rate, worst-case delay and backlog.",
    examples.BOUNDS,
)
_add(
    app,
    "explain",
    "explain:explain",
    "Explain the rules of `perhop check`, or the queueing rules of a platform.",
    examples.EXPLAIN,
)
_add(
    app,
    "rates",
    "rates:rates",
    "Show the guaranteed rate, the maximum rate and the share of spare bandwidth of each class.",
    examples.RATES,
)
_add(
    app,
    "buffers",
    "buffers:buffers",
    "Show how a switch divides its packet memory among queues, and the bursts that fit.",
    examples.BUFFERS,
)
_add(
    app,
    "trace",
    "trace:trace",
    "Trace a packet through a configuration, or find a packet that reaches a class.",
    examples.TRACE,
)
_add(
    app,
    "convert",
    "convert:convert",
    "Convert policies between Cisco IOS and perhop's YAML, or to Linux tc commands.",
    examples.CONVERT,
)
_add(
    app,
    "diff",
    "diff:diff",
    "Show the effects of a change to a router configuration or a scenario.",
    examples.DIFF,
)
_add(
    app,
    "prove",
    "prove:prove_",
    "Prove that two configurations treat all packets equally, or show one that they do not.",
    examples.PROVE,
)
_add(
    app,
    "playground",
    "playground:playground",
    "Open a page that runs scenarios and configurations in the browser, packet by packet.",
    examples.PLAYGROUND,
)
_add(app, "plot", "plot:plot", "Plot results: throughput, queues, delays, drop probabilities.", examples.PLOT)
_add(
    app,
    "draw",
    "draw:draw",
    "Draw the network and policies of a scenario, or the policies of a router.",
    examples.DRAW,
)
_add(
    app,
    "report",
    "report:report",
    "Write a report of results as one self-contained HTML file.",
    examples.REPORT,
)
_add(
    app,
    "verify",
    "verify:verify",
    "Check saved results against their checksums, and repeat the run.",
    examples.VERIFY,
)
_add(
    app,
    "compare",
    "compare:compare",
    "Compare a live run with its simulation, or two results.",
    examples.COMPARE,
)
_add(
    policy_map,
    "interface",
    "show:policy_map_interface",
    "Show the output of `show policy-map interface` at the end of a run.",
    examples.SHOW,
)
_add(
    policy_map,
    "control-plane",
    "show:policy_map_control_plane",
    "Show the output of `show policy-map control-plane`.",
    examples.SHOW,
)
_add(
    interfaces,
    "rate-limit",
    "show:interfaces_rate_limit",
    "Show the output of `show interfaces rate-limit` at the end of a run.",
    examples.SHOW,
)
_add(
    interfaces,
    "queue",
    "show:interfaces_queue",
    "Show the output of `show interfaces queue` at the end of a run.",
    examples.SHOW,
)
_add(
    chip_stats,
    "interface",
    "show:queue_stats",
    "Show the output of `show platform hardware fed switch active qos queue stats interface`.",
    examples.SHOW,
)
_add(
    chip_config,
    "interface",
    "show_configured:queue_config",
    "Show the output of `show platform hardware fed switch active qos queue config interface`.",
    examples.SHOW,
)
for _part in ("interface", "scheduler-map", "classifier", "drop-profile"):
    _add(
        class_of_service,
        _part,
        f"show_configured:{_part.replace('-', '_')}",
        f"Show the output of `show class-of-service {_part}`.",
        examples.SHOW,
    )
_add(
    show,
    "qdisc",
    "show:qdisc",
    "Show the output of `tc -s qdisc show` at the end of a run.",
    examples.SHOW,
)
_add(
    show,
    "class",
    "show:class_",
    "Show the output of `tc -s class show` at the end of a run.",
    examples.SHOW,
)
show.command(policy_map)
show.command(interfaces)
show.command(class_of_service)
for _outer, _inner in itertools.pairwise([show, *_CHIP]):
    _outer.command(_inner)
_CHIP[-1].command(chip_stats)
_CHIP[-1].command(chip_config)
app.command(show)
_add(app, "export", "export:export", "Export results to the formats of other programs.", examples.EXPORT)
_add(
    app,
    "schema",
    "schema:schema",
    "Print the JSON Schema of scenarios or of JSON output.",
    examples.SCHEMA,
)
_add(app, "init", "init:init", "Write a starter scenario and its schema for the editor.", examples.INIT)
_add(
    app,
    "network",
    "network:network",
    "Show the devices, links and sites of a folder of configurations.",
    examples.NETWORK,
)
_add(app, "cite", "cite:cite", "Print how to cite perhop.", examples.CITE)
_add(app, "help", "help:help_", "Show the help of a command.", examples.HELP)
_add(
    app,
    "completion",
    "completion:completion",
    "Print the completion script for a shell.",
    examples.COMPLETION,
)
app.command("perhop.command.complete:complete", name="complete", show=False)
_add(study, "list", "study:list_", "List the studies.", examples.STUDY_LIST)
_add(study, "show", "study:show", "Show the claims, assumptions and cases of a study.", examples.STUDY_SHOW)
_add(
    study, "run", "study:run", "Run studies and compare published with measured figures.", examples.STUDY_RUN
)
_add(
    study,
    "live",
    "study_live:live",
    "Run cases of a study live and compare them with their simulation.",
    examples.STUDY_LIVE,
)
app.command(study)
_add(
    design,
    "wred",
    "design:wred",
    "Compute WRED thresholds and weight for a delay.",
    examples.DESIGN_WRED,
)
_add(
    design,
    "star",
    "design:star",
    "Compute the service rate of an EF class under WFQ for a delay.",
    examples.DESIGN_STAR,
)
_add(
    design,
    "policer",
    "design:policer",
    "Compute the burst of a policer, for TCP or for calls.",
    examples.DESIGN_POLICER,
)
_add(design, "shaper", "design:shaper", "Compute the committed burst of a shaper.", examples.DESIGN_SHAPER)
_add(
    design,
    "calls",
    "design:calls",
    "Compute the number of calls that a link carries, for a codec and a framing.",
    examples.DESIGN_CALLS,
)
_add(
    design,
    "queue",
    "design:queue",
    "Compute queue limit and WRED thresholds for a delay.",
    examples.DESIGN_QUEUE,
)
_add(
    design,
    "ring",
    "design:ring",
    "Compute the length of the transmit ring for a delay.",
    examples.DESIGN_RING,
)
_add(
    design,
    "buffers",
    "design:buffers",
    "Compute the buffers of a Catalyst's queue for a burst.",
    examples.DESIGN_BUFFERS,
)
app.command(design)
_add(
    live,
    "run",
    "live:run",
    "Run a scenario on real packets and show the results of each traffic class.",
    examples.LIVE_RUN,
)
_add(live, "up", "live:up", "Build a scenario's network and keep it until Ctrl-C.", examples.LIVE_UP)
_add(live, "exec", "live:exec_in", "Run a program in a host of a running testbed.", examples.LIVE_EXEC)
_add(live, "top", "live_top:top", "Watch the queues of a running testbed.", examples.LIVE_TOP)
_add(
    live,
    "bridge",
    "live_bridge:bridge",
    "Apply a policy between two interfaces until Ctrl-C.",
    examples.LIVE_BRIDGE,
)
_add(live, "clean", "live:clean", "Remove the remains of crashed testbeds.", examples.LIVE_CLEAN)
app.command(live)
_add(app, "doctor", "doctor:doctor", "Check whether this machine can run live testbeds.", examples.DOCTOR)


def main(arguments: list[str] | None = None) -> NoReturn:
    """Run the command line and end the process with its exit code."""
    given = sys.argv[1:] if arguments is None else arguments
    tokens = list(_understood(given))
    warnings.showwarning = _warn
    output = streams.watched_output()
    try:
        code = _guarded(tokens, output)
        _end()
        sys.stdout.flush()
    except OSError:
        code = Exit.WRITE_FAILED
    if output.failure is not None:
        streams.give_up(output)
        code = Exit.WRITE_FAILED
    sys.exit(int(code))


def _understood(given: Sequence[str]) -> Iterator[str]:
    """Generate the arguments as the parser reads them."""
    # The command line of another program follows `perhop live exec HOST`.
    is_own = list(given[:2]) != ["live", "exec"]
    for place, token in enumerate(given):
        # The parser reads `-`, which means standard input, as an option.
        if token == "-":
            yield "./-"
        # The parser has no options with an optional value.
        elif token == "--watch" and is_own and "--" not in given[:place]:
            yield "--watch=terminal"
        else:
            yield token


def _guarded(tokens: list[str], output: streams.Output) -> Exit:
    try:
        try:
            # Inside the try: signal handlers raise exceptions, which are caught below.
            interrupts.handle()
            return _dispatch(tokens)
        finally:
            # The rest is short and must not be interrupted.
            interrupts.handle_as(signal.SIG_IGN)
    except BrokenPipeError:
        return Exit.WRITE_FAILED
    except BaseException as error:
        interrupts.handle_as(signal.SIG_IGN)
        # A failure of standard output is reported once, at the end.
        if output.failure is not None:
            return Exit.WRITE_FAILED
        return failure.report(interrupts.behind(error), tokens)


def _dispatch(tokens: list[str]) -> Exit:
    if any(flag in tokens for flag in FLAGS):
        lay_out_examples(app, tokens)
    code = app(tokens, exit_on_error=False, print_error=False, result_action="return_value")
    return code if isinstance(code, Exit) else Exit.OK


def _end() -> None:
    """Remove unfinished files, and let signals end a process whose output is not read."""
    if "perhop.saving" in sys.modules:
        from perhop import saving  # lazy: imported only by commands that write files

        saving.give_up()
    interrupts.handle_as(signal.SIG_DFL)


def _warn(  # noqa: PLR0917 - as Python calls it
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """Print a warning of perhop in one line; warnings of libraries are not shown."""
    if issubclass(category, PerhopWarning):
        print(f"warning: {message}", file=sys.stderr)
