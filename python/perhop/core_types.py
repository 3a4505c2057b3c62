"""Types of the data that the extension module returns."""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypedDict

from perhop.schema_types import PolicyConfig


class DropPrecedence(TypedDict):
    """The drop probability of one drop precedence, as corners `[average, probability]`."""

    shared: list[list[float]]
    #: The curve of a further test on the precedence's own packets, if there is one.
    own: list[list[float]] | None


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


class RouterDiagnostic(TypedDict):
    """An error or a warning about a line of a router configuration, and what the router does with it."""

    line: int
    severity: Literal["error", "warning"]
    message: str
    router: str


class Wire(TypedDict):
    """The wire of a router's interface; `None` for what the configuration does not define."""

    rate: str | None
    framing: str | None
    ring: Any


class RouterPort(TypedDict):
    """An interface of a router, or a part or circuit of one."""

    name: str
    shutdown: bool
    addresses: list[tuple[str, int]]
    bandwidth: str | None
    wire: Wire
    input: PolicyConfig
    output: PolicyConfig


class Router(TypedDict):
    """What a router configuration defines."""

    hostname: str | None
    ports: list[RouterPort]


class RouterReport(TypedDict):
    """The result of checking a router configuration."""

    lines: list[RouterLine]
    counts: dict[str, int]
    diagnostics: list[RouterDiagnostic]
    router: Router


class Value(TypedDict):
    """A metric of a summary: mean over the replications, and its 95 % confidence interval from two on."""

    mean: float | None
    ci95: list[float] | None
    unit: str
