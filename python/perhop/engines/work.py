"""The inputs and outputs of engines: tasks, points and finished points."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, Protocol

if TYPE_CHECKING:
    import polars as pl

#: The names of the engines.
Name = Literal["embedded", "dask"]
#: A point to simulate: its number, and its changes of the scenario as paths and YAML texts.
Assignment = tuple[int, Sequence[tuple[str, str]]]


@dataclass(frozen=True)
class Task:
    """The properties that all points share."""

    #: The scenario as JSON, with the texts of router configurations in it.
    scenario: str
    #: The folder at which relative paths of traces start.
    base: str
    #: The tables of results to keep for each point.
    tables: tuple[str, ...]
    #: Seed of every point; `None` for the scenario's own, which a point may change.
    seed: int | None = None
    #: Replications of every point; `None` for the scenario's own.
    replications: int | None = None
    #: A stop rule: class, column of `classes`, maximum half-width of the 95 % interval, whether it is
    #: relative to the mean, and the maximum number of replications.
    until: tuple[str, str, float, bool, int] | None = None


@dataclass(frozen=True)
class Finished:
    """The points that have ended since the engine last returned points."""

    #: The kept tables by name, with the column `point`; names are text.
    tables: dict[str, pl.DataFrame] = field(default_factory=dict)
    #: Points with results, and the number of their replications.
    ended: Sequence[tuple[int, int]] = ()
    #: Failed points, with reasons.
    failed: Sequence[tuple[int, str]] = ()
    #: The points completed since the beginning; running points count by their completed share.
    points_done: float = 0.0
    #: The seconds simulated since the beginning, and the sum of the links that packets crossed.
    simulated_s: float = 0.0
    packet_hops: int = 0


class Engine(Protocol):
    """An engine that simulates points."""

    def simulate(self, task: Task, points: Iterator[Assignment]) -> Generator[Finished]:
        """Generate finished points several times a second, until every point has finished.

        Points are taken from the iterator as they are needed. Closing the generator stops the work. Returned
        points are finished; their order is not defined.
        """
        ...

    def session(self) -> AbstractContextManager[Engine]:
        """Keep the resources for simulations, such as a cluster, for several calls within the block."""
        ...
