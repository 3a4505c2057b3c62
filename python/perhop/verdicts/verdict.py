"""The verdict on a class, as data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from perhop.verdicts.fitness import Fitness
from perhop.verdicts.places import Holder, Queue
from perhop.verdicts.pools import PoolHolder
from perhop.verdicts.telephony import Call

#: `idle`: nothing was sent. `waiting`: nothing has arrived yet, and nothing was lost. `starved`: a small
#: share of all sent packets arrives, and the rate is below the guarantee. `policed`, `congested`, `lossy`:
#: policers, queues, or links and other causes dropped most of the lost packets. `clean`: no losses.
State = Literal["idle", "waiting", "starved", "policed", "congested", "lossy", "clean"]

#: The fraction of a guarantee that counts as obtained, because the last packets of a run are still in the
#: queue.
OBTAINED = 0.95


@dataclass(frozen=True)
class Traffic:
    """The offered load and results of a class, means over the replications."""

    offered_packets: float
    #: The offered rate, IP bits per second.
    offered_bps: float
    obtained_bps: float
    #: Dropped packets per offered packet, percent; `None` if no packet arrived or was dropped.
    loss_percent: float | None
    #: Packets that are queued or in transit at the end, per offered packet, percent.
    unseen_percent: float

    @property
    def served(self) -> float | None:
        """The throughput divided by the offered rate."""
        return self.obtained_bps / self.offered_bps if self.offered_bps else None


@dataclass(frozen=True)
class Verdict:
    """The verdict on a class; unknown values are `None`."""

    name: str
    state: State
    call: Call
    traffic: Traffic
    #: The queue of the class, if a queue has the name of the class.
    queue: Queue | None
    #: Whether the class is fit for its role.
    fitness: Fitness
    #: The first class of ITU-T Y.1541 whose bounds the class meets.
    y1541: int | None
    #: The main cause of the losses, the percentage of that cause, and the port that drops.
    cause: str | None
    cause_percent: float | None
    port: str | None
    #: The rate, bits per second, above which packets of a policed class are dropped; `None` if not known.
    limit_bps: float | None
    #: The class that obtains most of the port, if this class starves or sends less than its guarantee.
    holder: Holder | None
    #: The port that used most of the shared memory at the first drop of a packet at `port` for lack of
    #: memory.
    pool_holder: PoolHolder | None
