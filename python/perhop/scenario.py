"""Scenarios: read from a file or inferred from a router configuration, changed, run and drawn."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NotRequired, Self, TypedDict

from perhop.capturing import Captures
from perhop.configuration import STANDARD_INPUT, LoadLevel, configured, read, router_text
from perhop.document import Document
from perhop.errors import InvalidInputError
from perhop.quantity import quantity
from perhop.results import Results
from perhop.running import Engine, Progress, Snapshot, simulate

if TYPE_CHECKING:
    import polars as pl

    from perhop.schema_types import RouterConfiguration, ScenarioConfig


class RouterOptions(TypedDict):
    """The options for reading and running a router configuration; `Scenario.infer` describes each."""

    interface: str | None
    whole_port: NotRequired[str | None]
    platform: str | None
    assume: Mapping[str, str] | None
    rate: str | None
    policy: str | None
    traffic: str | PathLike[str] | None
    load: NotRequired[LoadLevel | None]
    over: NotRequired[str | None]


class Scenario(Document):
    """A scenario, with every default written out.

    A scenario is a mapping with the keys of the scenario file, to be read and changed in place. `run` and
    `check` report changes that are not valid.

        scenario = perhop.Scenario.load("scenario.yaml")
        scenario["links"][0]["rate"] = "2 Mb/s"
        scenario.set("traffic.video.count", 5)
        results = scenario.run(seed=1)
    """

    def __init__(self, data: ScenarioConfig | Mapping[str, Any], base: str | PathLike[str] = ".") -> None:
        """Create a scenario from the keys of a file. Relative paths in it start at `base`."""
        super().__init__(data, base)
        #: The inferred parts, if the scenario was inferred from a router configuration.
        self.inferred: str | None = None
        #: Parts of the configuration on the path of the traffic that a run does not apply.
        self.not_looked_at: list[str] = []
        #: The port and the queue of the router where each class of inferred traffic waits, as in results.
        self.queues: dict[str, tuple[str, str]] = {}
        #: The origin of an inferred scenario: `file`, `interface`, the `offered` loads and the facts that
        #: were `assumed`.
        self.origin: dict[str, Any] | None = None

    @classmethod
    def load(
        cls,
        path: str | PathLike[str],
        set: Mapping[str, object] | None = None,
        *,
        interface: str | None = None,
        whole_port: str | None = None,
        platform: str | None = None,
        assume: Mapping[str, str] | None = None,
        rate: str | None = None,
        policy: str | None = None,
        traffic: str | PathLike[str] | None = None,
        load: LoadLevel | None = None,
        over: str | None = None,
    ) -> Self:
        """Read a scenario file, or infer a scenario from a router configuration as `infer` does.

        Args:
            path: the file; `-` is standard input.
            set: values to replace, by their path.
            interface: only for router configurations, like all following arguments; `infer` describes them.
            whole_port: instead of `interface`, the port whose tunnels and sub-interfaces run together.
            platform: the platform whose rules apply.
            assume: match criteria of class-maps.
            rate: the rate of the interface that is added for a policy.
            policy: the policy.
            traffic: your traffic.
            load: the load in place of `busy`.
            over: the counting time of the counters in `traffic`.

        Raises:
            ScenarioError: the file is not valid; the diagnostics name the errors and their places.
            InvalidInputError: an argument is wrong, or the router has no interface that is up.

        """
        text = router_text(Path(path))
        options: RouterOptions = {
            "interface": interface,
            "whole_port": whole_port,
            "platform": platform,
            "assume": assume,
            "rate": rate,
            "policy": policy,
            "traffic": traffic,
            "load": load,
            "over": over,
        }
        if text is None:
            given = [name for name, value in options.items() if value]
            if given:
                raise InvalidInputError(
                    f"`{given[0]}` applies only to router configurations, and `{path}` is a scenario",
                    "leave it out: a scenario has its own network and traffic",
                )
            return super().load(path, set)
        inferred = cls.infer(path, **options)
        return inferred.changed(with_shorter_warmup(inferred, set or {}))

    @classmethod
    def infer(
        cls,
        path: str | PathLike[str],
        interface: str | None = None,
        *,
        whole_port: str | None = None,
        platform: str | None = None,
        assume: Mapping[str, str] | None = None,
        rate: str | None = None,
        policy: str | None = None,
        traffic: str | PathLike[str] | None = None,
        load: LoadLevel | None = None,
        over: str | None = None,
    ) -> Self:
        """Infer a scenario from a router configuration: hosts, links, and traffic for each class.

        `inferred` lists the assumptions. Change the scenario if the real network differs.

        Args:
            path: the running configuration, or a part of it.
            interface: the output interface, also a sub-interface or tunnel; by default the interface whose
                policy has most classes.
            whole_port: instead of `interface`, the port whose tunnels and sub-interfaces with policies run
                at the same time, within the rate of the port.
            platform: the platform whose rules apply, for example `hqf`; by default detected.
            assume: criteria that replace those of class-maps, for example `{"VOICE": "dscp ef"}`.
            rate: the rate of the line if the configuration cannot set it, as in `tc`; otherwise the rate of
                the interface made for a policy without one; as `"50Mb/s"`.
            policy: this policy without an interface; by default the one that no other policy uses.
            traffic: a file that replaces the guess: CSV with `class,rate,packet_bytes,kind`, flow records as
                CSV, an output of the device with its counters (two with a comma between them), or a pcap or
                pcapng capture.
            load: the offered load of each class, as a fraction of its guaranteed rate: `quiet` 70 %, `busy`
                (the default) 90 %, `overload` 120 %.
            over: the time between two outputs in `traffic`, or the counting time of a single output, for
                example `"300s"`.

        Raises:
            ScenarioError: the router itself would refuse a feature of the interface.
            InvalidInputError: an argument is wrong, or `interface` does not exist or is down.
            UnreadableFileError: a file cannot be read.

        """
        file = Path(path)
        text = router_text(file)
        text = read(file) if text is None else text
        source: RouterConfiguration = {"text": text} if file == STANDARD_INPUT else {"file": file.name}
        from perhop.inference import infer  # lazy: only for router configurations and captures

        made = infer(
            text,
            configured(source, platform, assume),
            file.parent,
            interface=interface,
            whole_port=whole_port,
            rate=rate,
            policy=policy,
            traffic=None if traffic is None else Path(traffic),
            load=load,
            over=over,
        )
        scenario = cls(made.data, file.parent).check()
        scenario.inferred, scenario.queues = made.summary, made.queues
        scenario.not_looked_at = made.not_looked_at
        scenario.origin = {
            "file": "standard input" if file == STANDARD_INPUT else file.name,
            "interface": whole_port or made.leaving,
            "offered": [list(offer) for offer in made.offered],
            "assumed": made.assumptions,
        }
        return scenario

    def changed(self, changes: Mapping[str, object]) -> Self:
        """Return a copy with the values at some paths replaced; the copy keeps `origin`."""
        return self._described(super().changed(changes))

    def embedded(self) -> Self:
        """Return the scenario with configurations in place of files; the copy keeps `origin`."""
        return self._described(super().embedded())

    def _described(self, copy: Self) -> Self:
        copy.inferred, copy.queues, copy.origin = self.inferred, self.queues, self.origin
        copy.not_looked_at = self.not_looked_at
        return copy

    def run(
        self,
        seed: int | None = None,
        replications: int | Literal["fitting"] | None = None,
        threads: int | None = None,
        progress: Callable[[Progress], None] | None = None,
        *,
        engine: Engine = "fast",
        pcap: str | PathLike[str] | None = None,
        pcap_links: Sequence[str] | None = None,
        snap_length: int | None = None,
    ) -> Results:
        """Simulate the scenario; `perhop.run` describes the arguments and the errors."""
        return simulate(
            self,
            seed=seed,
            replications=replications,
            threads=threads,
            engine=engine,
            progress=progress,
            captures=Captures.from_options(pcap, pcap_links, snap_length),
        )

    def bounds(self, *, end_to_end: bool = False) -> pl.DataFrame:
        """Return the guarantees of each queue, by network calculus, as a polars frame.

        Rates in bits per second, delays in seconds from arrival to the last bit on the wire, backlogs in IP
        bytes and packets; null where there is no bound, and `reason` is the reason. docs/bounds.md has the
        formulas.

        Args:
            end_to_end: return the worst-case delay of each class of traffic from end to end instead.

        Raises:
            ScenarioError: the scenario is not valid.

        """
        from perhop.bounds import bounds_of  # lazy: tables of bounds, which a run does not need

        found = bounds_of(self)
        return found.class_frame() if end_to_end else found.frame()

    def _repr_html_(self) -> str:
        """Draw the network and the policies in a notebook."""
        # A wide policy scrolls instead of shrinking below a readable size.
        from perhop.draw import draw  # lazy: pictures, which a run does not need

        return f'<div style="overflow-x:auto">{draw(self)}</div>'


def with_shorter_warmup(inferred: Document, changes: Mapping[str, object]) -> Mapping[str, object]:
    """Return the changes of an inferred scenario; a shorter duration also shortens the warm-up."""
    duration = quantity(str(changes["duration"])) if "duration" in changes else None
    usual, warmup = (quantity(text) for text in (inferred["duration"], inferred["measure"]["warmup"]))
    if duration is None or usual is None or warmup is None or "measure.warmup" in changes:
        return changes
    if duration[0] > 2 * warmup[0]:
        return changes
    microseconds = round(1e6 * duration[0] * warmup[0] / usual[0])
    return {**changes, "measure.warmup": f"{microseconds}us"}


def run(
    scenario: str | PathLike[str] | Scenario,
    *,
    seed: int | None = None,
    replications: int | Literal["fitting"] | None = None,
    duration: str | None = None,
    set: Mapping[str, object] | None = None,
    threads: int | None = None,
    engine: Engine = "fast",
    progress: Callable[[Progress], None] | None = None,
    watch: Callable[[Snapshot], None] | None = None,
    pcap: str | PathLike[str] | None = None,
    pcap_links: Sequence[str] | None = None,
    snap_length: int | None = None,
) -> Results:
    """Simulate a scenario, given as a file or as a `Scenario`.

    Args:
        scenario: a scenario file, a router configuration, or a scenario.
        seed: seed for all random streams; by default the scenario's own.
        replications: number of runs, each with other random draws; by default the scenario's own, otherwise
            1. `"fitting"` is the default of the command: the number from 3 to 10 that fits a budget of
            packets.
        duration: simulated time with its unit (`"60 s"`); by default the scenario's own.
        set: values to replace, by their path: `{"links.0.rate": "2 Mb/s"}`.
        threads: number of threads, for replications and for parts of one network; by default one for each
            processor.
        engine: `fast`, `parallel` (one replication after the other, each in parts), or `plain`, in which
            everything is an event: the specification of the fast engine. All give the same results.
        progress: called several times a second.
        watch: called several times a second with a snapshot of the first replication; slows it down.
        pcap: a folder for captures of the first replication, one pcapng file for each link.
        pcap_links: directions of links to capture, as `["C1->E3"]`; by default the links of the scenario's
            `measure.captures`, otherwise all links with a policy at an end.
        snap_length: bytes kept of each captured frame; by default its headers.

    Raises:
        ScenarioError: the scenario is not valid; the diagnostics name the errors and their places.
        InvalidInputError: an argument is out of range, or the folder for captures cannot be used.
        OSError: the captures cannot be written.

    The results depend only on the scenario and the seed.

    """
    changes = dict(set or {})
    if duration is not None:
        changes["duration"] = duration
    changed = (
        scenario.changed(changes) if isinstance(scenario, Scenario) else Scenario.load(scenario, changes)
    )
    return simulate(
        changed,
        seed=seed,
        replications=replications,
        threads=threads,
        engine=engine,
        progress=progress,
        watch=watch,
        captures=Captures.from_options(pcap, pcap_links, snap_length),
    )
