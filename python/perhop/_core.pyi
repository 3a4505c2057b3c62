"""The extension module of perhop, in Rust: from scenarios to results."""

from collections.abc import Sequence
from os import PathLike
from typing import Any, Literal, Self, final

import numpy as np
import numpy.typing as npt

from perhop.core_types import DropCurves
from perhop.errors import Diagnostic

__all__ = [
    "Batch",
    "Device",
    "Loaded",
    "Network",
    "Playback",
    "Run",
    "TableColumns",
    "Warnings",
    "__version__",
    "added_interface",
    "bounds",
    "cake_tins",
    "calls_burst",
    "check",
    "check_router",
    "class_rates",
    "codecs",
    "compare_configurations",
    "compare_policies",
    "compare_shown",
    "confidence_95",
    "distinct_packets",
    "drop_curves",
    "envelope",
    "findings",
    "infer_scenario",
    "interface_for",
    "is_counter_output",
    "is_device_output",
    "is_router_configuration",
    "judge",
    "judge_roles",
    "live_bridge",
    "live_forward",
    "live_host",
    "live_plan",
    "live_results",
    "load",
    "load_json",
    "moved_packets",
    "named_role",
    "open_thresholds",
    "packet_hops",
    "platform_rules",
    "policers",
    "policies",
    "policy_differences",
    "print_configured",
    "print_show",
    "prove",
    "quantity",
    "queue_descriptions",
    "rate_calls",
    "reach_queues",
    "read_show",
    "reading_platform",
    "require_way",
    "resolve",
    "router_text",
    "rules",
    "schema",
    "shown_links",
    "speech_category",
    "start",
    "switch_memory",
    "tcp_burst",
    "unattached_policies",
    "waits",
    "write_policies",
    "written_languages",
]

__version__: str

@final
class Loaded:
    """A valid scenario, completed with its defaults."""

    @property
    def json(self) -> str:
        """The scenario with every default written out."""

    @property
    def embedded(self) -> str:
        """The scenario with the texts of router configurations in place of their files."""

    @property
    def resolved(self) -> str:
        """The scenario with router configurations replaced by policies, rates and rings."""

    @property
    def base(self) -> str:
        """The directory that relative paths in the scenario start from."""

    @property
    def warnings(self) -> Warnings:
        """Warnings about the scenario."""

@final
class Warnings:
    """Warnings about a file."""

    @property
    def diagnostics(self) -> list[Diagnostic]:
        """The warnings as data."""

    @property
    def colored(self) -> str:
        """All warnings as text for a terminal; `str()` returns them without colors."""

    def __len__(self) -> int: ...

@final
@final
class Batch:
    """Points of one scenario that wait, run or have ended."""

    def __new__(
        cls,
        scenario_json: str,
        base: str | PathLike[str],
        threads: int,
        tables: list[str],
        *,
        seed: int | None = None,
        replications: int | None = None,
        until: tuple[str, str, float, bool, int] | None = None,
    ) -> Batch:
        """Begin a batch without points.

        `until` is `(class, column, half-width, whether that is a part of the mean, most replications)`.
        """

    def submit(self, points: list[tuple[int, list[tuple[str, str]]]]) -> None:
        """Hand over points: number, and changes as `(path, text)`."""

    def take(
        self, timeout_s: float
    ) -> tuple[dict[str, dict[str, Any]], list[tuple[int, int]], list[tuple[int, str]]]:
        """Return what has ended since the last call, in order of the points' numbers.

        `(tables with the column point, [(point, replications)], [(point, why it failed)])`. Waits until no
        point is left to run, and at most for `timeout_s` seconds, without the GIL.
        """

    def progress(self) -> tuple[float, float, int]:
        """`(points done, simulated seconds, packet-hops)`; points that run count by the part that is done."""

    def unfinished(self) -> int:
        """Return how many points wait or run."""

    def cancel(self) -> None:
        """Let no further point begin, and ask those that run to stop."""

@final
class Playback:
    """The first replication of a scenario, to be looked at packet by packet."""

    def __new__(cls, scenario_json: str, base: str | PathLike[str], seed: int) -> Playback:
        """Prepare it."""

    def about(self) -> str:
        """Return what a drawing needs to know as JSON: the scenario, names of ports, queues and causes."""

    def packets(
        self, port: int, from_s: float, until_s: float, enough: int
    ) -> tuple[float, float, list[tuple[str, list[float]]]]:
        """`(from, until, [(column, numbers)])` of the packets at a port: all until then, or `enough`."""

@final
class Device:
    """A device of a network, whose packets can be traced."""

    def __new__(
        cls,
        text: str,
        platform: str | None = None,
        assume: dict[str, str] | None = None,
        routes: list[str] | None = None,
    ) -> Device:
        """Read a router's configuration, with routes that it does not have; raises `ValueError`."""

    @staticmethod
    def of_scenario(resolved: str, name: str) -> Device:
        """Return the node `name` of a resolved scenario; raises `ValueError`."""

    def trace(self, packet: str, at: str | None = None, out: str | None = None) -> str:
        """Return the paths of a packet as JSON: `packet`, `paths`, `assumed`, `not_looked_at`.

        Raises `ValueError`.
        """

    def interface(self, written: str) -> str:
        """Return the full name of an interface; raises `ValueError`."""

    def open_lines(self, interfaces: list[str]) -> list[str]:
        """Return the lines that perhop does not model and that concern packets at one of `interfaces`."""

    def neighbors(self) -> str:
        """Return the neighbors that the configuration shows, as JSON."""

@final
class Network:
    """The devices of a folder of configurations, with their links and routes."""

    def __new__(cls, files: str, written: str) -> Network:
        """Read configurations and the facts of `network.yaml`, both as JSON; raises `ValueError`."""

    def summary(self) -> str:
        """Return devices, links, guesses, sites, files that are left out, and remarks, as JSON."""

    def walk(self, packet: str) -> str:
        """Return the ways of a packet as JSON; raises `ValueError`."""

    def scenario(self, request: str) -> str:
        """Return a scenario with traffic between the sites, and what it rests on, as JSON."""

    def report(self, file: str, detail: str) -> str | None:
        """Return the report of a device's configuration, as `check_router` does; raises `ValueError`."""

    def report_members(self, file: str) -> str | None:
        """Return the members of a report with policies, without braces, as `json.dumps` writes them."""

    def findings(self) -> str:
        """Return the findings of the rules that need several devices, as JSON."""

    def compare(self, newer: Network, names: tuple[str, str], codepoints: list[str]) -> str:
        """Return the differences between this snapshot and a newer one as JSON.

        It has `differs`, `only`, `devices`, `changes`, `witnesses`, `same`, `sites`, `proof`, `not_compared`,
        `assumed` and `not_looked_at`. Raises `ValueError` of message and help.
        """

    def matrix(self, codepoints: list[str]) -> str:
        """Return the fate of packets of each codepoint between all sites, as JSON; raises `ValueError`."""

@final
class Run:
    """A running or finished simulation."""

    def progress(self) -> tuple[float, float, int]:
        """`(fraction done, simulated seconds over all replications, packet-hops)`."""

    def division(self) -> tuple[int, str | None] | None:
        """Return the number of parts in which a network ran last, and why it could not be divided.

        `None` if no division was tried, or if none was faster.
        """

    def snapshot(
        self,
    ) -> (
        tuple[
            float,
            list[tuple[str, str, int, int]],
            list[tuple[str, int, int, int, list[int], float]],
            int,
        ]
        | None
    ):
        """`(seconds, queues, classes, left out)`: the next snapshot of the first replication.

        Queues are `(port, queue, packets, bytes)`; classes `(class, bytes received since the warm-up, packets
        offered, delivered, dropped by cause, sum of delays in seconds)`. `None` if there is no new one, or
        the run is not watched.
        """

    def hold_at(self, seconds: float) -> None:
        """Let the first replication of a watched run go no further than so many simulated seconds."""

    def cancel(self) -> None:
        """Request the simulation to stop; `wait` returns true once it has."""

    def wait(self, timeout_s: float) -> bool:
        """Wait at most `timeout_s` seconds without the GIL; return whether the run has ended."""

    def result(
        self,
    ) -> tuple[
        str,
        dict[str, TableColumns],
        dict[str, dict[str, str]],
        str,
    ]:
        """Return the results: `(summary, tables, units, captures)`.

        `(summary as JSON, {table: columns}, {table: {column: unit}}, captured files as JSON)`. It can be
        called once, as it hands over the memory.
        """

@final
class TableColumns:
    """The columns of a table. They become arrays when these are first used, which loads numpy."""

    def __new__(
        cls, arrays: dict[str, npt.NDArray[Any] | tuple[npt.NDArray[np.uint32], list[str]]]
    ) -> Self: ...
    def __len__(self) -> int:
        """Return the number of rows."""

    def __reduce__(self) -> tuple[object, tuple[dict[str, Any]]]:
        """Return how to copy and to pickle the columns."""

    def arrays(self) -> dict[str, npt.NDArray[Any] | tuple[npt.NDArray[np.uint32], list[str]]]:
        """Return an array by column; for text, codes and the names that they stand for."""

    def lists(self, names: Sequence[str]) -> dict[str, list[Any]]:
        """Return some columns as lists; raises `KeyError` if there is none of a name."""

def load(path: str | PathLike[str], overrides: Sequence[tuple[str, str]]) -> Loaded:
    """Read a scenario file; each override `(path, value)` replaces one value in it first."""

def load_json(json: str, base: str | PathLike[str], overrides: Sequence[tuple[str, str]]) -> Loaded:
    """Read a scenario from JSON text, with overrides as for a file; relative paths start from `base`."""

def resolve(json: str, base: str | PathLike[str]) -> str:
    """Return a scenario, unchecked, with router configurations replaced by policies, rates and rings."""

def packet_hops(scenario_json: str, base: str | PathLike[str]) -> float:
    """Return the estimated packet-hops of one replication of a scenario."""

def bounds(scenario_json: str, base: str | PathLike[str]) -> str:
    """Return the bounds of a scenario by network calculus: JSON with `queues` and `classes`."""

def class_rates(policy: str, line_bps: int | None = None) -> str:
    """Return the rates of each queue of a policy: a JSON list, bits per second.

    Each has `queue`, `priority`, `promised_bps`, `while_busy_bps`, `limit_bps`, `limit_holds`, `maximum_bps`
    and `excess`. `line_bps` is the rate that the classes share, where it is known.
    """

def policers(policy: str) -> str:
    """Return the conditioners of a policy that drop above a rate: a JSON list of `name` and `limit_bps`."""

def interface_for(text: str, configuration: str, rate: str, policy: str | None = None) -> str:
    """Return an interface of `rate` that carries a policy of a configuration, as JSON; raises `ValueError`.

    `configuration` is that of a router in a scenario. The interface has `name`, `policy` and `commands`.
    """

def unattached_policies(text: str, configuration: str) -> list[str]:
    """Return the policies of a configuration that nothing attaches; raises `ValueError`."""

def open_thresholds(text: str, commands: Sequence[str]) -> str:
    """Return the thresholds with placeholders in commands that are added to a configuration, as JSON.

    Each has `rate_bps` of its class, `precedence`, `min`, `max` and `denominator`.
    """

def reading_platform(text: str, platform: str) -> str | None:
    """Return `platform`, or `None` if the text is in another language; raises `ValueError`."""

def shown_links(scenario: str, base: str, commands: Sequence[str]) -> list[tuple[str, str]]:
    """Return the links, as node and neighbor, whose queues `commands` show; raises `ValueError`."""

def print_show(scenario: str, tables: str, request: str) -> str:
    """Return the output of a command for the devices of a run as JSON; raises `ValueError`.

    Each has `node`, `hostname`, `profile`, `heading`, `texts`, `documents` and `without_link`. `request` has
    `command`, `interface`, `style` and `after_s`.
    """

def print_configured(text: str, command: str, name: str | None = None, platform: str | None = None) -> str:
    """Return the output of a command that shows a configuration as JSON; raises `ValueError`.

    It has `hostname`, `profile` and `objects`, each with `name`, `text` and `document`.
    """

def is_counter_output(text: str) -> bool:
    """Whether a text is an output of a device with the counters of a policy.

    Raises a `ValueError` of message and help if it is incomplete.
    """

def read_show(output: str) -> str:
    """Return the `policies` in the output of a device and its `commands`, as JSON; raises `ValueError`."""

def compare_shown(router: str, run: str, percent: float, points: float) -> str:
    """Return the comparison of the output of a device with that of a run, as JSON; raises `ValueError`."""

def waits(
    scenario_json: str,
    base: str | PathLike[str],
    seed: int,
    expedited: Sequence[tuple[str, str, int]],
) -> str:
    """Simulate one replication; return the longest delays and queues.

    JSON with `queues`, and `expedited`: E_a and E_p of RFC 3246 of the given queues, each as port, queue and
    bits per second. Raises `ValueError` for a queue that does not exist.
    """

def check(path: str | PathLike[str]) -> tuple[Literal["scenario", "policies"], Warnings]:
    """Check a file with a scenario or only policies; return its kind and the warnings."""

def policies(path: str | PathLike[str]) -> str | None:
    """Return the policies of a file that holds nothing else, by name, as JSON; none for a scenario."""

def findings(json: str, base: str | PathLike[str]) -> Warnings:
    """Return what the rules for policies find in a scenario as JSON text, without further checks."""

def check_router(
    text: str,
    platform: str | None = None,
    assume: dict[str, str] | None = None,
    detail: Literal["policies", "lines", "remarks"] = "policies",
    hardware: str | None = None,
) -> str:
    """Read a router's configuration; `hardware` is the JSON of its `platform` in a scenario.

    JSON with `lines` (number, state, text, note, block), `counts` by state, `diagnostics`, and, where
    `detail` is `policies`, `router`, the configured interfaces and policies; see
    `perhop.core_types.RouterReport`. With `remarks`, `lines` are only those that may change what packets
    experience or have a diagnostic.
    """

def infer_scenario(request: str, capture: bytes | None = None) -> str:
    """Infer a scenario from a router's configuration.

    `request` is JSON with `text`, `configuration`, `base`, `interface`, `rate`, `ring`, `loads` and `given`;
    `capture` is the content of a given capture. JSON with `scenario`, `leaving`, `entering`, `rate`, `wire`,
    `port`, `offered`, `missing`, `queues` and `platform`. Raises `ScenarioError` with the attribute
    `interfaces`, or `ValueError` with a message, help, and the index of the line of given traffic, if any.
    """

def require_way(request: str) -> None:
    """Refuse a configuration whose classes no packet reaches, by the errors of `infer_scenario`."""

def added_interface(platform: str | None = None) -> tuple[str, str]:
    """Return an interface that can be added to a router of a platform: its name, the command for it."""

def named_role(name: str) -> tuple[str, str] | None:
    """Return the kind of traffic that the name of a class says, and its usual codepoint, if it says one."""

def reach_queues(node: str) -> str:
    """Return for every queue of a node's output policy a packet that gets there, or none, as JSON.

    Raises `ValueError`.
    """

def moved_packets(before: str, after: str) -> str:
    """Return packets that wait in another queue of the second node than of the first, as JSON.

    Raises `ValueError`.
    """

def compare_configurations(
    texts: list[str],
    names: list[str],
    platform: str | None = None,
    assume: dict[str, str] | None = None,
    at: str | None = None,
    only: list[str] | None = None,
) -> str:
    """Return what differs between two router configurations, as JSON; see `perhop.differing.Difference`.

    Packets arrive on the interface `at`, by default on any. Compares the interfaces of `only`, by default
    all. Raises `ValueError` of message and help.
    """

def compare_policies(interface: str, side: str, old: str, new: str, interfaces: list[str]) -> str:
    """Return the changed and the renamed parts between two policies, all as JSON. Raises `ValueError`."""

def distinct_packets(capture: bytes) -> str:
    """Return the distinct packets of a capture and their counts, as JSON. Raises `ValueError`."""

def written_languages() -> list[str]:
    """Return the names of the languages of devices that policies can be written in."""

def write_policies(name: str, policies: str) -> str:
    """Return policies in the language `name` as JSON: `text` and `remarks`.

    `policies` is JSON: `file` and `policies`, each with `name`, `interface`, `direction`, `rate` and
    `policy`. Raises `ValueError` of message and help.
    """

def policy_differences(first: str, second: str) -> list[tuple[str, str, str]]:
    """Return where two policies differ, both as JSON: the path, what the first has and what the second has.

    Labels that a policy sets and matches by itself may have any numbers. Raises `ValueError`.
    """

def switch_memory(text: str, request: str) -> str:
    """Return the packet memory of a switch from its configuration or its output, as JSON.

    The document is that of `perhop_device::SwitchMemory`, with `room` and `burst` of each threshold and
    `printed` of each port. `request` is JSON with `model`, `port_units`, `frame_bytes` and `arrival_bps`.
    Raises a `ValueError` of message and help.
    """

def prove(sides: str, assume: dict[str, str] | None = None, rate: str | None = None) -> str:
    """Return whether two configurations treat all packets equally, as JSON.

    `sides` is JSON: two objects with `name`, `text`, `platform`, `at` and `policy`. The answer has `verdict`,
    `place`, `counterexample`, `not_decided`, `compared`, `not_looked_at` and `assumed`. Raises `ValueError`
    of message and help.
    """

def platform_rules(name: str) -> str:
    """Return the rules of a platform's profile as JSON.

    Each has `rule`, `meaning`, `value`, `certainty`, `source`, and `note` where there is one. Raises
    `ValueError` of message and help.
    """

def rules() -> str:
    """Return all rules of `perhop check` as JSON: `id`, `severity` and `page`, which is Markdown."""

def is_device_output(text: str) -> bool:
    """Whether a text is an output of a device with routes or neighbors."""

def is_router_configuration(text: str) -> bool:
    """Return whether a text looks like a router configuration."""

def router_text(bytes: bytes) -> str:
    """Decode the text of a router configuration: UTF-8, or UTF-16 with a byte order mark."""

def schema() -> str:
    """Return the JSON Schema of scenario files, as text."""

def live_forward(config_json: str) -> None:
    """Run a forwarder of a testbed without the GIL, from its configuration as JSON.

    It ends on SIGTERM or SIGINT, when standard input closes, or when no interface is left; then it writes
    its result. Raises `OSError` and `ValueError`.
    """

def live_bridge(config_json: str) -> None:
    """Run policies between two existing interfaces until SIGTERM, SIGINT or the end of piped input.

    The configuration, as JSON, has `devices` (both names), `forth` and `back` (each with `rate`, `framing`,
    `ring`, `input`, `output`, `queueing`, `delay` and `loss`, all optional), `control`, `result`, `socket`,
    `scheduling`, `seed` and `node`.
    """

def start(
    scenario_json: str,
    base: str | PathLike[str],
    seed: int,
    replications: int,
    threads: int,
    *,
    engine: str = "fast",
    watched: bool = False,
    hold_at: float | None = None,
    captures: str | PathLike[str] | None = None,
    snap_length: int | None = None,
    most_packets: int | None = None,
) -> Run:
    """Start a simulation in its own thread; `watched` enables snapshots, and a wait at `hold_at` seconds.

    `engine` is `fast`, `parallel`, which divides the network, or `plain`, the specification of the others.

    Captures go into the folder `captures`, with `snap_length` bytes of each frame, by default its headers,
    and at most `most_packets` packets in a file.
    """

def live_host(
    scenario_json: str,
    base: str | PathLike[str],
    host: str,
    seed: int,
    start_at_monotonic_ns: int,
    result_path: str | PathLike[str],
    replication: int = 0,
    congestion_control: str | None = None,
) -> None:
    """Run one host of a scenario on real sockets for the whole run.

    Writes a report to `result_path`, and the sent and received packets to files next to it. Raises `OSError`
    if the system refuses a socket or a file.
    """

def live_results(
    scenario_json: str, base: str | PathLike[str], seed: int, runs_json: str
) -> tuple[
    str,
    dict[str, TableColumns],
    dict[str, dict[str, str]],
]:
    """Return the results of live runs like `Run.result`, from the reports of hosts and forwarders.

    `runs_json` is a list of `{"hosts": [files], "forwarders": [files]}`, one for each replication.
    """

def confidence_95(samples: Sequence[float]) -> tuple[float, float, float] | None:
    """Mean and 95 % confidence interval of the mean of independent samples, by Student's t.

    `(mean, low, high)`, or `None` for fewer than two samples.
    """

def codecs() -> list[tuple[str, str, float, float]]:
    """Return what is known of every codec.

    Its name, what it is in words, seconds of speech in a packet, seconds of coding and packetization.
    """

def tcp_burst(rate_bps: float, rtt_s: float, packet: int) -> tuple[float, float, float, float]:
    """Return the burst of a policer that a TCP connection needs, in bytes.

    The product of bandwidth and delay, the bytes of the sawtooth above the rate, the initial window, and the
    largest of them. `packet` is the longest packet in IP bytes.
    """

def calls_burst(calls: float, packet: int, late: float) -> float:
    """Return the bytes of calls whose packets meet, each `late` packets nearer to the one before it."""

def speech_category(r: float) -> str:
    """Return the category of the quality of speech of R by ITU-T G.109."""

def rate_calls(
    classes: Sequence[tuple[int, str, int, int, float | None, float | None]],
    bins: Sequence[tuple[int, str, float, int]],
    own: Sequence[tuple[int, str, str, float | None, float | None, float | None, float | None, float | None]],
    codec: str,
    fixed_s: float | None,
    burst_ratio: float,
    advantage: float,
) -> list[tuple[str, list[tuple[float | None, float | None, float | None, float | None]], str]]:
    """Return the call through each class, in the order in which `classes` has them.

    `classes` has replication, class, delivered and dropped packets, and least delay in seconds; `bins` their
    distributions of delay: replication, class, upper edge of a bin in seconds, packets. Each class has its
    name, a row for each replication (R, MOS, mouth to ear in seconds, late packets in percent) and a remark.
    """

def judge_roles(summary_json: str, known_json: str) -> str:
    """Judge the classes of a summary by their roles.

    `known_json` has R (`r`) and the guaranteed rate (`guaranteed_bps`) by class. JSON with a list of `class`,
    `role`, `answer` and `compared`.
    """

def judge(exercise_json: str, start_json: str, scenario_json: str, summary_json: str) -> str:
    """Judge a scenario and the summary of its run by an exercise.

    JSON with `met`, `changed` (paths that should have stayed), `conditions` and `goals`, each with `measured`
    and `met`. Both scenarios are resolved ones.
    """

def live_plan(
    scenario_json: str, base: str | PathLike[str], seed: int, replication: int = 0, *, bridge: bool = False
) -> str:
    """Return the plan of a live run.

    JSON with `hosts` (name, address, devices, routes), `forwarders` (their configurations), `cables` (pairs
    of node and device), `mtu`, the longest IP packet that must pass, and `envelope`, the most bytes of tags
    and labels in a frame between two forwarders. Devices are named after the node at the other end; the
    caller substitutes the real names. Without `bridge` it refuses headers that live frames cannot have.
    """

def cake_tins(tins: str) -> list[tuple[str, float, list[int]]]:
    """Return the tins of CAKE, as results name them, where `tins` of a policy says this.

    Each has the part of the bandwidth up to which it is served before those that are named earlier, the first
    having what the others leave; and its codepoints.
    """

def queue_descriptions(scenario_json: str) -> str:
    """Return what every queue of a resolved scenario holds and drops, as text: JSON of a list.

    Each has `port`, `queue`, `limit_packets` or null, and `lines`, each with `text` and `precedence` or null.
    """

def drop_curves(scenario_json: str) -> list[DropCurves]:
    """Return the configured drop probabilities of every queue with early drops."""

def envelope(values: npt.NDArray[np.float64], buckets: int) -> npt.NDArray[np.uint32]:
    """Return the indices of at most `4 * buckets` of `values` that draw an equal line.

    They are the first, least, greatest and last value of each bucket.
    """

def quantity(text: str) -> tuple[float, Literal["s", "b/s", "packets", "bytes"]] | None:
    """Parse a time, a rate or a size of a scenario into number and base unit; `None` for other text."""
