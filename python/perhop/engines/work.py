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
#: A point to simulate: its number, and what it changes in the scenario as paths and YAML texts.
Assignment = tuple[int, Sequence[tuple[str, str]]]


@dataclass(frozen=True)
class Task:
    """The properties that all points share."""

    #: The scenario as JSON, with the texts of router configurations in it.
    scenario: str
    #: The folder that relative paths of traces start from.
    base: str
    #: The tables of results that are kept of each point.
    tables: tuple[str, ...]
    #: Seed of every point; `None` for the scenario's own, which a point may change.
    seed: int | None = None
    #: Replications of every point; `None` for the scenario's own.
    replications: int | None = None
    #: A stop rule: class, column of `classes`, greatest half-width of the 95 % interval, whether that is a
    #: part of the mean, and the most replications.
    until: tuple[str, str, float, bool, int] | None = None


@dataclass(frozen=True)
class Finished:
    """The points that have ended since an engine last gave any."""

    #: The kept tables by name, with the column `point`; names are text.
    tables: dict[str, pl.DataFrame] = field(default_factory=dict)
    #: Points that gave results, with the number of their replications.
    ended: Sequence[tuple[int, int]] = ()
    #: Points that failed, and why.
    failed: Sequence[tuple[int, str]] = ()
    #: Since the beginning: points that have ended, those that run counting by the part that is done.
    points_done: float = 0.0
    #: Since the beginning: simulated seconds, and packets times links crossed.
    simulated_s: float = 0.0
    packet_hops: int = 0


class Engine(Protocol):
    """Somewhere to simulate points."""

    def simulate(self, task: Task, points: Iterator[Assignment]) -> Generator[Finished]:
        """Generate finished points several times a second, until every point has finished.

        Points are taken from the iterator as they are needed. Closing the generator stops the work. What is
        given is finished; the order is any.
        """
        ...

    def session(self) -> AbstractContextManager[Engine]:
        """Keep the resources for simulations, such as a cluster, for several calls within the block."""
        ...
