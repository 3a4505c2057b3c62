"""Types of the data that the extension module returns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NotRequired, TypedDict

if TYPE_CHECKING:
    from perhop.schema_types import PolicyConfig


class DropPrecedence(TypedDict):
    """The drop probability of one drop precedence, as corners `[average, probability]`."""

    shared: list[list[float]]
    #: The curve of a further test on the precedence's own packets, if there is one.
    own: list[list[float]] | None


class DescriptionLine(TypedDict):
    """A line of a queue's description."""

    text: str
    #: The drop precedence that the line is about.
    precedence: int | None


class QueueDescription(TypedDict):
    """The description of a queue: its manager, limit and thresholds as text, for every drawing and view."""

    port: str
    queue: str
    #: The limit; `None` if the queue has no limit, or a limit in bytes.
    limit_packets: int | None
    #: The buffer manager with its limit, then its parameters and thresholds.
    lines: list[DescriptionLine]


class DropCurves(TypedDict):
    """The configured drop probabilities of one queue."""

    port: str
    queue: str
    unit: Literal["packets", "bytes"]
    precedences: list[DropPrecedence]


class RouterLine(TypedDict):
    """A line of a router configuration and its state."""

    number: int
    text: str
    state: str
    note: NotRequired[str | None]
    #: The line of the command whose block contains the line, if any.
    block: NotRequired[int]


class RouterDiagnostic(TypedDict):
    """An error or a warning about a line of a router configuration, with the router's reaction."""

    line: int
    severity: Literal["error", "warning", "note"]
    rule: str
    message: str
    router: str
    #: The interfaces whose policies the diagnostic concerns.
    interfaces: list[str]
    #: The number of omitted interfaces, in the report of a large configuration.
    further_interfaces: NotRequired[int]
    #: The corrected line, if a change of words is enough.
    fixed: NotRequired[str]
    #: The class without a definition that an assumption can define.
    assumable: NotRequired[str]


class Wire(TypedDict):
    """The wire of a router's interface; `None` for values that the configuration does not define."""

    rate: str | None
    framing: str | None
    headers: NotRequired[list[Any]]
    ring: Any
    mtu: NotRequired[str]
    adjust_mss: NotRequired[str]


class ResolvedGuarantee(TypedDict):
    """`bandwidth` of a class: as written, and as a rate."""

    kind: Literal["kbps", "percent", "remaining-percent", "remaining-ratio"]
    value: int
    rate_bps: int


class ResolvedPriority(TypedDict):
    """`priority` of a class; `None` if nothing bounds it."""

    level: int
    #: Whether the configuration contains the level.
    has_level: NotRequired[bool]
    kind: Literal["strict", "kbps", "percent"]
    value: int
    rate_bps: int | None
    burst_bytes: int | None


class ResolvedPolice(TypedDict):
    """`police` of a class, with the actions as the router prints them."""

    kind: Literal["bps", "percent", "pps"]
    value: int
    #: The rate in bits per second, or in packets per second if the configuration has that unit.
    cir_bps: int
    #: The burst in bytes, or in packets.
    bc_bytes: int
    pir_bps: int | None
    be_bytes: int | None
    colors: Literal[2, 3]
    conform: list[str]
    exceed: list[str]
    violate: list[str]


class ResolvedShape(TypedDict):
    """`shape` of a class."""

    kind: Literal["average", "peak"]
    cir_bps: int
    bc_bits: int
    be_bits: int
    target_bps: int
    value_percent: int | None


class ResolvedLimit(TypedDict):
    """A limit of a queue; `bytes` is the value of a limit in bytes or time."""

    unit: Literal["packets", "bytes", "us", "ms"]
    value: int
    bytes: NotRequired[int | None]


class ResolvedPriorityLimit(ResolvedLimit):
    """The limit of the queue that the priority classes of a level share."""

    level: int


class ResolvedFairQueue(TypedDict):
    """`fair-queue` of a class."""

    flow_limit_packets: int
    queues: int


class RandomDetectRow(TypedDict):
    """WRED's thresholds of a precedence (by its number) or a codepoint (by its name)."""

    value: str
    #: Whether the configuration contains the thresholds.
    is_written: NotRequired[bool]
    min: int
    max: int
    unit: str
    mark_denominator: int


class ResolvedRandomDetect(TypedDict):
    """`random-detect` of a class."""

    basis: Literal["precedence", "dscp", "discard-class", "cos"]
    exponent: int
    ecn: bool
    rows: list[RandomDetectRow]


class ResolvedClass(TypedDict):
    """A class of a policy as a port applies it."""

    name: str
    line: int
    combination: Literal["match-all", "match-any"]
    #: The match lines of the class, as the router prints them.
    matches: list[str]
    #: The queue of the class in results; `None` if its packets wait in the queue of another class.
    queue: str | None
    #: The conditioner of the class in results, if the class polices or marks.
    conditioner: str | None
    bandwidth: ResolvedGuarantee | None
    priority: ResolvedPriority | None
    police: ResolvedPolice | None
    shape: ResolvedShape | None
    queue_limit: ResolvedLimit | None
    fair_queue: ResolvedFairQueue | None
    random_detect: ResolvedRandomDetect | None
    #: The marks that the class sets, as the router prints them.
    marks: list[str]
    #: Whether the class drops every packet.
    drop: NotRequired[bool]
    policy: ResolvedPolicy | None


class ResolvedPolicy(TypedDict):
    """A policy-map as a port applies it. Every percentage is a rate, and every default is a number."""

    name: str
    line: int
    #: The rate to which percentages refer.
    rate_bps: int
    classes: list[ResolvedClass]
    priority_limits: list[ResolvedPriorityLimit]


class CountedBytes(TypedDict):
    """Bytes that a router counts for each packet in addition to IP."""

    #: The bytes added in counters of classes, and in policers.
    classes: int
    #: The bytes added in queues and shapers.
    queues: int


class PortPolicies(TypedDict):
    """The policy-maps attached to a port."""

    input: ResolvedPolicy | None
    output: ResolvedPolicy | None


class PortLimiter(TypedDict):
    """A limiter in front of a policy."""

    line: int
    #: The place of the limiter among the conditioners of its side.
    conditioner: int


class PortLimiters(TypedDict):
    """The limiters of a port."""

    input: list[PortLimiter]
    output: list[PortLimiter]


class RouterPort(TypedDict):
    """An interface of a router, or a part or circuit of one."""

    name: str
    #: The interface itself, or the interface of which it is a part or circuit.
    interface: str
    #: The line that defines the interface.
    line: int
    shutdown: bool
    addresses: list[tuple[str, int]]
    bandwidth: str | None
    #: Whether the outgoing interface is known; false for a tunnel without a line that determines it.
    has_known_line: NotRequired[bool]
    #: The assumed rate of the wire, if the configuration does not set it; `bandwidth` can then be the rate of
    #: a shaper.
    assumed_rate: NotRequired[str]
    wire: Wire
    input: PolicyConfig
    output: PolicyConfig
    policies: NotRequired[PortPolicies]
    limiters: NotRequired[PortLimiters]
    counted_bytes: NotRequired[CountedBytes]
    #: Whether the packets of the port go to the device itself.
    leads_to_device: NotRequired[bool]
    #: The reason why the queues of departing packets are not modeled.
    unmodeled_queues: NotRequired[str]


class Router(TypedDict):
    """The definitions of a router configuration."""

    hostname: str | None
    ports: list[RouterPort]


class PlatformSign(TypedDict):
    """A line by which a platform is recognized, and its meaning."""

    line: int
    text: str
    says: str


class RecognizedPlatform(TypedDict):
    """The platform by whose rules perhop reads a configuration."""

    profile: str
    dialect: str
    #: The name of the operating system that wrote the configuration.
    system: str
    #: Whether perhop simulates the queues of the device. A platform that the user chose for Cisco IOS counts
    #: as simulated.
    supported: bool
    #: Whether the user chose the platform.
    chosen: bool
    certain: bool
    because: list[PlatformSign]
    #: The names of the rules by which a switch divides its packet memory, by their evidence.
    memory_rules: NotRequired[dict[str, list[str]]]


class RouterReport(TypedDict):
    """The result of checking a router configuration."""

    lines: list[RouterLine]
    counts: dict[str, int]
    diagnostics: list[RouterDiagnostic]
    #: Whether one of the interfaces is certainly usable.
    has_interface_up: bool
    router: Router
    platform: NotRequired[RecognizedPlatform]


class MadeInterface(TypedDict):
    """An interface that perhop adds for a policy."""

    name: str
    policy: str
    #: The commands that add it.
    commands: list[str]


class ShownDevice(TypedDict):
    """The output of a command for a device."""

    node: str
    hostname: str
    profile: str
    #: The command with which a user requests the output.
    heading: str
    #: A text for each interface, with the same numbers in `documents`.
    texts: list[str]
    documents: list[Any]
    #: Interfaces without a link, whose counters are zero.
    without_link: list[str]


class ShownObject(TypedDict):
    """The output of a command for one object of a configuration."""

    name: str
    text: str
    #: The content of the text.
    document: Any


class ConfiguredOutput(TypedDict):
    """The output of a command that shows a configuration."""

    #: The hostname; `None` if the configuration has none.
    hostname: str | None
    profile: str
    objects: list[ShownObject]


class ShowReading(TypedDict):
    """The policies in the output of a device."""

    #: The policies, each with `interface`, `side`, `name` and `classes`.
    policies: list[dict[str, Any]]
    #: The commands that have such output.
    commands: list[str]


class Value(TypedDict):
    """A metric of a summary: mean over the replications; with two or more, its 95 % confidence interval."""

    mean: float | None
    ci95: list[float] | None
    unit: str
