"""The Rust side of perhop: scenarios in, results out."""

from collections.abc import Sequence
from os import PathLike
from typing import Any, Literal, final

import numpy as np
import numpy.typing as npt

__all__ = [
    "Loaded",
    "Run",
    "ScenarioError",
    "Warnings",
    "__version__",
    "check",
    "check_router",
    "confidence_95",
    "drop_curves",
    "envelope",
    "is_router_configuration",
    "live_bridge",
    "live_forward",
    "live_host",
    "live_plan",
    "live_results",
    "load",
    "load_json",
    "quantity",
    "resolve",
    "router_text",
    "schema",
    "start",
]

__version__: str

class ScenarioError(Exception):
    """A scenario that cannot be read or built.

    The message is the rendered text; `colored` is the same text for a terminal; `diagnostics` is the
    list of what was found, and where.
    """

    diagnostics: list[dict[str, Any]]
    colored: str

@final
class Loaded:
    """A scenario that was read, completed with its defaults and found to be sound."""

    @property
    def json(self) -> str:
        """The scenario with every default written out."""

    @property
    def embedded(self) -> str:
        """The same with the texts of routers' configurations in place of their files."""

    @property
    def resolved(self) -> str:
        """The same with what routers' configurations say put in place as policies, rates and rings."""

    @property
    def base(self) -> str:
        """The directory that relative paths in the scenario start from."""

    @property
    def warnings(self) -> Warnings:
        """What is suspicious, though not wrong."""

@final
class Warnings:
    """What is suspicious about a file, though not wrong."""

    @property
    def diagnostics(self) -> list[dict[str, Any]]:
        """Each with the place it is about."""

    @property
    def colored(self) -> str:
        """All of them as text for a terminal; `str()` gives the same without colors."""

    def __len__(self) -> int: ...

@final
class Run:
    """A simulation that is running, or has ended."""

    def progress(self) -> tuple[float, float, int]:
        """`(fraction done, simulated seconds over all replications, packet-hops)`."""

    def snapshot(
        self,
    ) -> tuple[float, list[tuple[str, str, int, int]], list[tuple[str, int]]] | None:
        """`(seconds, [(port, queue, packets, bytes)], [(class, bytes received since the warm-up)])`.

        What the first replication looked like when it was last asked for; asks for the next. None where
        nothing is new, or the run is not watched.
        """

    def cancel(self) -> None:
        """Ask the simulation to stop; `wait` says when it has."""

    def wait(self, timeout_s: float) -> bool:
        """Wait at most `timeout_s` seconds, other Python threads running; true once the run has ended."""

    def result(
        self,
    ) -> tuple[
        str,
        dict[str, dict[str, npt.NDArray[Any] | tuple[npt.NDArray[np.uint32], list[str]]]],
        dict[str, dict[str, str]],
        str,
    ]:
        """Return what was found: `(summary, tables, units, captures)`.

        `(summary as JSON, {table: {column: array or (codes, names)}}, {table: {column: unit}}, captured files
        as JSON)`. Once only, since the memory is handed over.
        """

def load(path: str | PathLike[str], overrides: Sequence[tuple[str, str]]) -> Loaded:
    """Read a scenario file; each override `(path, value)` replaces one value in it first."""

def load_json(json: str, base: str | PathLike[str], overrides: Sequence[tuple[str, str]]) -> Loaded:
    """Read a scenario from JSON text, overrides as for a file; relative paths in it start from `base`."""

def resolve(json: str, base: str | PathLike[str]) -> str:
    """Return a scenario, unchecked, with what its routers' configurations say put in place."""

def check(path: str | PathLike[str]) -> tuple[Literal["scenario", "policies"], Warnings]:
    """Check a file that holds a scenario or policies alone; what it holds, and what is suspicious in it."""

def check_router(text: str) -> str:
    """Read a router's configuration.

    JSON with `lines` (number, state, text, note, block), `counts` by state, `diagnostics` and `router`,
    what the configuration amounts to.
    """

def is_router_configuration(text: str) -> bool:
    """Return whether a text looks like a router's configuration."""

def router_text(bytes: bytes) -> str:
    """Return the text of a router's configuration in a file: UTF-8, or UTF-16 that says so."""

def schema() -> str:
    """Return the JSON Schema of scenario files, as text."""

def live_forward(config_json: str) -> None:
    """Run a forwarder of the laboratory, described by its configuration as JSON; other Python threads run on.

    Until SIGTERM or SIGINT, until whoever started it dies or closes its end of standard input, or until
    no interface is left; then its result is written.
    """

def live_bridge(config_json: str) -> None:
    """Run policies between two existing interfaces, until SIGTERM or SIGINT or the end of piped input.

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
    watched: bool = False,
    captures: str | PathLike[str] | None = None,
    snap_length: int | None = None,
    most_packets: int | None = None,
) -> Run:
    """Start a simulation in a thread of its own; `watched` where its snapshots will be asked for.

    Captures go into the folder `captures`, `snap_length` bytes of each frame or the headers, and end after
    `most_packets` packets in a file.
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
    """Play the part of one host of a scenario on real sockets, from its beginning to its end.

    Writes a report to `result_path`, and what was sent and what arrived, packet by packet, into files beside
    it.
    Raises `OSError` where the system refuses something.
    """

def live_results(
    scenario_json: str, base: str | PathLike[str], seed: int, runs_json: str
) -> tuple[
    str,
    dict[str, dict[str, npt.NDArray[Any] | tuple[npt.NDArray[np.uint32], list[str]]]],
    dict[str, dict[str, str]],
]:
    """Return the results of live runs as `Run.result` does, from what their hosts and forwarders wrote down.

    `runs_json` is a list of `{"hosts": [files], "forwarders": [files]}`, one for each replication.
    """

def confidence_95(samples: Sequence[float]) -> tuple[float, float, float] | None:
    """Mean and 95 % confidence interval of the mean of independent samples, by Student's t.

    `(mean, low, high)`, or `None` for fewer than two samples.
    """

def live_plan(scenario_json: str, base: str | PathLike[str], seed: int, replication: int = 0) -> str:
    """Say who runs which port when a scenario is made of real processes and cables.

    JSON with `hosts` (name, address, devices, routes), `forwarders` (their configurations), `cables` (pairs
    of node and device) and `mtu`, the longest IP packet that must get through. Devices are called by the node
    at the other end: whoever makes the devices puts their real names in place.
    """

def drop_curves(scenario_json: str) -> list[dict[str, Any]]:
    """Return the drop probabilities that a scenario configures, for every queue that drops early.

    Each is `{"port", "queue", "unit": "packets" or "bytes", "precedences": [{"shared", "own"}]}`, a curve
    being a list of corners `[average, probability]`, and `own` None without a further test.
    """

def envelope(values: npt.NDArray[np.float64], buckets: int) -> npt.NDArray[np.uint32]:
    """Return indices of at most `4 * buckets` of `values` that draw the same line.

    Of each bucket of points the first, the least, the greatest and the last.
    """

def quantity(text: str) -> tuple[float, Literal["s", "b/s", "packets", "bytes"]] | None:
    """Return number and base unit of a time, a rate or a size as a scenario writes it, else None."""
