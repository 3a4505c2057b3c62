"""The commands and their groups. The module of a command is imported when the command is called."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field

from perhop.command import examples


@dataclass
class Command:
    """A command: its function as `module:name` of this package, its help and its examples."""

    function: str
    help: str
    examples: str = ""
    is_shown: bool = True


@dataclass
class Group:
    """A named group with its commands and inner groups by name."""

    name: str
    help: str
    examples: str
    entries: dict[str, Command | Group] = field(default_factory=dict)

    def add(self, group: Group) -> None:
        """Add an inner group under its name."""
        self.entries[group.name] = group


COMMANDS = Group(
    "perhop",
    "A DiffServ QoS lab: shows the service that each traffic class gets from a router's policy.",
    examples.PERHOP,
)
_study = Group(
    "study", "Reproduce published studies, and compare published with measured figures.", examples.STUDY
)
_design = Group(
    "design",
    "Compute policy parameters for a goal, with formula, source and IOS lines.",
    examples.DESIGN,
)
_show = Group(
    "show", "Show counters at the end of a run, in the format of a router or of Linux.", examples.SHOW
)
_policy_map = Group("policy-map", "Show policies and their counters.", examples.SHOW)
_interfaces = Group("interfaces", "Show interfaces and their counters.", examples.SHOW)
_class_of_service = Group(
    "class-of-service", "Show parts of a configuration as the router does, without a run.", examples.SHOW
)
# `perhop show platform hardware fed switch active qos queue`, a group for each word.
_CHIP = [
    Group(word, "Show queues in the chip of a Catalyst switch (UADP).", examples.SHOW)
    for word in ("platform", "hardware", "fed", "switch", "active", "qos", "queue")
]
_chip_stats = Group("stats", "Counters of the queues of a port, at the end of a run.", examples.SHOW)
_chip_config = Group("config", "The memory of the queues of a port, without a run.", examples.SHOW)
_live = Group(
    "live",
    "Run scenarios on real packets in network namespaces, or a policy between two interfaces.",
    examples.LIVE,
)


def _add(group: Group, name: str, function: str, help: str, epilogue: str) -> None:
    group.entries[name] = Command(function, help, epilogue)


_add(
    COMMANDS,
    "run",
    "run:run",
    "Simulate a scenario and show the results of each traffic class.",
    examples.RUN,
)
_add(
    COMMANDS,
    "test",
    "test:test",
    "Run policy tests: assertions on the results of scenarios and router configurations.",
    examples.TEST,
)
_add(
    COMMANDS,
    "sweep",
    "sweep:sweep",
    "Simulate a scenario for several values of its parameters.",
    examples.SWEEP,
)
_add(
    COMMANDS,
    "tune",
    "tune:tune",
    "Find parameter values with which a scenario meets goals.",
    examples.TUNE,
)
_add(
    COMMANDS,
    "bufferbloat",
    "bufferbloat:bufferbloat",
    "Show the latency under load for each qdisc, with the grades of public tests.",
    examples.BUFFERBLOAT,
)
_add(
    COMMANDS,
    "check",
    "check:check",
    "Check scenarios and router configurations without running them.",
    examples.CHECK,
)
_add(
    COMMANDS,
    "bounds",
    "bounds:bounds",
    "Show guarantees of each queue and class: rate, worst-case delay and backlog.",
    examples.BOUNDS,
)
_add(
    COMMANDS,
    "explain",
    "explain:explain",
    "Explain the rules of `perhop check`, or the queueing rules of a platform.",
    examples.EXPLAIN,
)
_add(
    COMMANDS,
    "rates",
    "rates:rates",
    "Show the guaranteed rate, the maximum rate and the share of spare bandwidth of each class.",
    examples.RATES,
)
_add(
    COMMANDS,
    "buffers",
    "buffers:buffers",
    "Show how a switch divides its packet memory among queues, and the bursts that fit.",
    examples.BUFFERS,
)
_add(
    COMMANDS,
    "trace",
    "trace:trace",
    "Trace a packet through a configuration, or find a packet that reaches a class.",
    examples.TRACE,
)
_add(
    COMMANDS,
    "convert",
    "convert:convert",
    "Convert policies between perhop's YAML, Cisco IOS, Junos and Linux tc.",
    examples.CONVERT,
)
_add(
    COMMANDS,
    "diff",
    "diff:diff",
    "Show the effects of a change to a router configuration or a scenario.",
    examples.DIFF,
)
_add(
    COMMANDS,
    "prove",
    "prove:prove_",
    "Prove that two configurations treat all packets equally, or show a packet that they treat differently.",
    examples.PROVE,
)
_add(
    COMMANDS,
    "playground",
    "playground:playground",
    "Open a page that runs scenarios and configurations in the browser, packet by packet.",
    examples.PLAYGROUND,
)
_add(
    COMMANDS,
    "plot",
    "plot:plot",
    "Plot results: throughput, queues, delays, drop probabilities.",
    examples.PLOT,
)
_add(
    COMMANDS,
    "draw",
    "draw:draw",
    "Draw the network and policies of a scenario, or the policies of a router.",
    examples.DRAW,
)
_add(
    COMMANDS,
    "report",
    "report:report",
    "Write a report of results as one self-contained HTML file.",
    examples.REPORT,
)
_add(
    COMMANDS,
    "verify",
    "verify:verify",
    "Check saved results against their checksums, and repeat the run.",
    examples.VERIFY,
)
_add(
    COMMANDS,
    "compare",
    "compare:compare",
    "Compare a live run with its simulation, or two results.",
    examples.COMPARE,
)
_add(
    _policy_map,
    "interface",
    "show:policy_map_interface",
    "Show the output of `show policy-map interface` at the end of a run.",
    examples.SHOW,
)
_add(
    _policy_map,
    "control-plane",
    "show:policy_map_control_plane",
    "Show the output of `show policy-map control-plane`.",
    examples.SHOW,
)
_add(
    _interfaces,
    "rate-limit",
    "show:interfaces_rate_limit",
    "Show the output of `show interfaces rate-limit` at the end of a run.",
    examples.SHOW,
)
_add(
    _interfaces,
    "queue",
    "show_junos:queue",
    "Show the output of `show interfaces queue` at the end of a run.",
    examples.SHOW,
)
_add(
    _interfaces,
    "extensive",
    "show_junos:extensive",
    "Show the class of service of `show interfaces extensive` at the end of a run.",
    examples.SHOW,
)
_add(
    _show,
    "firewall",
    "show_junos:firewall",
    "Show the output of `show firewall` at the end of a run.",
    examples.SHOW,
)
_add(
    _chip_stats,
    "interface",
    "show:queue_stats",
    "Show the output of `show platform hardware fed switch active qos queue stats interface`.",
    examples.SHOW,
)
_add(
    _chip_config,
    "interface",
    "show_configured:queue_config",
    "Show the output of `show platform hardware fed switch active qos queue config interface`.",
    examples.SHOW,
)
for _part in ("interface", "scheduler-map", "forwarding-class", "classifier", "drop-profile"):
    _add(
        _class_of_service,
        _part,
        f"show_configured:{_part.replace('-', '_')}",
        f"Show the output of `show class-of-service {_part}`.",
        examples.SHOW,
    )
_add(
    _show,
    "qdisc",
    "show:qdisc",
    "Show the output of `tc -s qdisc show` at the end of a run.",
    examples.SHOW,
)
_add(
    _show,
    "class",
    "show:class_",
    "Show the output of `tc -s class show` at the end of a run.",
    examples.SHOW,
)
_show.add(_policy_map)
_show.add(_interfaces)
_show.add(_class_of_service)
for _outer, _inner in itertools.pairwise([_show, *_CHIP]):
    _outer.add(_inner)
_CHIP[-1].add(_chip_stats)
_CHIP[-1].add(_chip_config)
COMMANDS.add(_show)
_add(COMMANDS, "export", "export:export", "Export results to the formats of other programs.", examples.EXPORT)
_add(
    COMMANDS,
    "schema",
    "schema:schema",
    "Print the JSON Schema of scenarios or of JSON output.",
    examples.SCHEMA,
)
_add(COMMANDS, "init", "init:init", "Write a starter scenario and its schema for the editor.", examples.INIT)
_add(
    COMMANDS,
    "network",
    "network:network",
    "Show the devices, links and sites of a folder of configurations.",
    examples.NETWORK,
)
_add(COMMANDS, "cite", "cite:cite", "Print how to cite perhop.", examples.CITE)
_add(COMMANDS, "help", "help:help_", "Show the help of a command.", examples.HELP)
_add(
    COMMANDS,
    "completion",
    "completion:completion",
    "Print the completion script for a shell.",
    examples.COMPLETION,
)
COMMANDS.entries["complete"] = Command("complete:complete", "", is_shown=False)
_add(_study, "list", "study:list_", "List the studies.", examples.STUDY_LIST)
_add(_study, "show", "study:show", "Show the claims, assumptions and cases of a study.", examples.STUDY_SHOW)
_add(
    _study, "run", "study:run", "Run studies and compare published with measured figures.", examples.STUDY_RUN
)
_add(
    _study,
    "live",
    "study_live:live",
    "Run cases of a study live and compare them with their simulation.",
    examples.STUDY_LIVE,
)
COMMANDS.add(_study)
_add(
    _design,
    "wred",
    "design:wred",
    "Compute WRED thresholds and weight for a delay.",
    examples.DESIGN_WRED,
)
_add(
    _design,
    "star",
    "design:star",
    "Compute the service rate of an EF class under WFQ for a delay.",
    examples.DESIGN_STAR,
)
_add(
    _design,
    "policer",
    "design:policer",
    "Compute the burst of a policer, for TCP or for calls.",
    examples.DESIGN_POLICER,
)
_add(_design, "shaper", "design:shaper", "Compute the committed burst of a shaper.", examples.DESIGN_SHAPER)
_add(
    _design,
    "calls",
    "design:calls",
    "Compute the number of calls that a link carries, for a codec and a framing.",
    examples.DESIGN_CALLS,
)
_add(
    _design,
    "queue",
    "design:queue",
    "Compute queue limit and WRED thresholds for a delay.",
    examples.DESIGN_QUEUE,
)
_add(
    _design,
    "ring",
    "design:ring",
    "Compute the length of the transmit ring for a delay.",
    examples.DESIGN_RING,
)
_add(
    _design,
    "buffers",
    "design:buffers",
    "Compute the buffers of a Catalyst's queue for a burst.",
    examples.DESIGN_BUFFERS,
)
COMMANDS.add(_design)
_add(
    _live,
    "run",
    "live:run",
    "Run a scenario on real packets and show the results of each traffic class.",
    examples.LIVE_RUN,
)
_add(_live, "up", "live:up", "Build a scenario's network and keep it until Ctrl-C.", examples.LIVE_UP)
_add(_live, "exec", "live:exec_in", "Run a program in a host of a running testbed.", examples.LIVE_EXEC)
_add(_live, "top", "live_top:top", "Watch the queues of a running testbed.", examples.LIVE_TOP)
_add(
    _live,
    "bridge",
    "live_bridge:bridge",
    "Apply a policy between two interfaces until Ctrl-C.",
    examples.LIVE_BRIDGE,
)
_add(_live, "clean", "live:clean", "Remove the remains of crashed testbeds.", examples.LIVE_CLEAN)
COMMANDS.add(_live)
_add(
    COMMANDS, "doctor", "doctor:doctor", "Check whether this machine can run live testbeds.", examples.DOCTOR
)
