"""Traffic for every class of a router: headers that reach it, and a load somewhat above its share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from perhop.document import Document
from perhop.inference.headers import Header
from perhop.inference.network import Carried, Network
from perhop.inference.roles import Kind
from perhop.inference.shares import FILLED, Leaf
from perhop.inference.sources import Sending, in_words, sending
from perhop.inference.targets import Hit, stages
from perhop.policy_rates import conditioner_limit, guarantee_of, limit_of
from perhop.running import simulate
from perhop.schema_types import TcpConfig, TrafficConfig

#: What a class is offered of its share, so that its queue fills.
ABOVE = 1.2
# Connections start apart, also in the shortest run.
_START_WITHIN = "20ms"
# What a class is offered of the line where priority classes leave it nothing: enough to see that it is lost.
_STARVED = 0.01
# How the load of a class was chosen that nothing limits and no queue holds.
_FITS = "what fits"
# Datagrams where TCP cannot be used.
_DATAGRAM = 1000
# A window that keeps a trial of TCP short.
_SMALL: TcpConfig = {"profile": "linux-modern", "window": "4KiB"}


@dataclass(frozen=True)
class Flow:
    """An entry of traffic, and the headers that match it to its class."""

    header: Header
    entry: TrafficConfig
    #: The queue of the leaving interface that it waits in, as in results.
    queue: str | None
    #: What is offered to which class, in words: rate, kind of traffic.
    offered: tuple[str, str]
    #: The rate offered, in bits per second; of greedy TCP, what it is sure to take.
    rate: float


@dataclass(frozen=True)
class Traffic:
    """What is sent through the router."""

    flows: list[Flow]
    #: What is to be known about it, one line each.
    remarks: list[str] = field(default_factory=list)
    #: How long it lasts; `None` for as long as the run.
    milliseconds: int | None = None
    #: The headers by which its packets have marks, `mpls` and `vlan`.
    carried: tuple[Carried, ...] = ()


def guessed(network: Network, hits: Sequence[Hit]) -> Traffic:
    """Return traffic for each class that headers reach."""
    silent = without_replies(network, [hit.header for hit in hits])
    sharing = Counter(queue.path for hit in hits if (queue := hit.leaf(network)))
    flows: list[Flow] = []
    names: set[str] = set()
    for number, hit in enumerate(hits):
        leaf = hit.leaf(network)
        crowd = Crowd(len(hits), sharing[leaf.path] if leaf else 0)
        name = _unlike(_class_of(network, hit, leaf), names)
        names.add(name)
        flows.append(_flow(network, crowd, hit, name, has_replies=number not in silent))
    return Traffic(flows)


@dataclass(frozen=True)
class Crowd:
    """The number of classes that there is traffic for, and of those that wait in the queue of one."""

    all: int
    in_queue: int


def _class_of(network: Network, hit: Hit, leaf: Leaf | None) -> str:
    """Return the class that a hit's packets leave by: also of those that an input policy marks for it."""
    is_marked = hit.target.place[0] == "input" and leaf is not None and len(network.leaves) > 1
    return network.leaf_names[leaf.path] if leaf and is_marked else hit.target.name


def _flow(network: Network, crowd: Crowd, hit: Hit, name: str, *, has_replies: bool) -> Flow:
    leaf = hit.leaf(network)
    rate, basis = _load(network, crowd, hit)
    kind = suited(hit.kind, hit.header, has_replies=has_replies)
    if basis == _FITS and kind == "greedy":
        # It would fill the link to the router, and delay all the others there.
        kind = "transfers"
    usual = hit.role.packet_bytes if kind == hit.role.kind else _DATAGRAM
    sent = sending(kind, rate, hit.header.packet_bytes or usual)
    words = f"{hit.role.name} ({basis}): {sent.words}"
    if hit.header.protocol == "tcp" and not has_replies:
        words += ", as TCP gets no replies"
    shown = f"> {in_words(rate)}" if kind == "greedy" else in_words(rate)
    return Flow(hit.header, entry(name, hit.header, sent), leaf.path if leaf else None, (shown, words), rate)


def suited(kind: Kind, header: Header, *, has_replies: bool = True) -> Kind:
    """Return the kind of traffic that the protocol of a header allows, the nearest to `kind`."""
    if kind in ("transfers", "greedy"):
        return kind if header.protocol == "tcp" and has_replies else "datagrams"
    return "transfers" if header.protocol == "tcp" else kind


def _load(network: Network, crowd: Crowd, hit: Hit) -> tuple[float, str]:
    """Return what is offered to a class, in bits per second, and how it was chosen."""
    leaf = hit.leaf(network)
    limit = _limit(network, hit, leaf)
    if leaf is not None and leaf.priority:
        # The share of a priority class is what it may use of its limit.
        return (
            (FILLED * limit, f"{_percent(FILLED)} of limit")
            if limit
            else (max(leaf.share, _STARVED * network.bottleneck), "a third of the line")
        )
    sharing = crowd.in_queue
    if leaf is not None and leaf.part:
        return FILLED * leaf.part / sharing, f"{_percent(FILLED)} of its part"
    guaranteed = guarantee_of(leaf.config) if leaf else None
    if hit.role.kind == "datagrams" and leaf and guaranteed and guaranteed < leaf.share:
        # Signalling and routing need little, however much is left over for them.
        return ABOVE * guaranteed / sharing, f"{_percent(ABOVE)} of guarantee"
    above = _percent(ABOVE)
    if not network.has_queues:
        # Nothing is shared: a class needs no more than its policer lets pass, all no more than can enter.
        share = FILLED * network.bottleneck / crowd.all
        is_limited = limit is not None and limit < share
        return (ABOVE * (limit or 0.0), f"{above} of limit") if is_limited else (share, _FITS)
    share = leaf.share / sharing if leaf else network.bottleneck / crowd.all
    if share <= 0.0:
        why = f"{_percent(_STARVED)} of the line, as nothing is left"
        return _STARVED * network.bottleneck / sharing, why
    if limit is not None and limit < share:
        return ABOVE * limit, f"{above} of limit"
    return ABOVE * share, f"{above} of share"


def _limit(network: Network, hit: Hit, leaf: Leaf | None) -> float | None:
    """Return the lowest rate above which a class's packets are dropped, in bits per second."""
    limits = [limit_of(leaf.config)] if leaf else []
    limits += [
        conditioner_limit(stage)
        for side, stage in stages(network)
        if (side, stage.get("name") or "") in hit.places
    ]
    return min((one for one in limits if one), default=None)


def entry(name: str, header: Header, sent: Sending) -> TrafficConfig:
    """Return an entry of traffic with the headers; the network adds its ends."""
    made: TrafficConfig = {"name": name, "from": "", "to": "", "source": sent.source}
    if header.dscp is not None:
        made["dscp"] = header.dscp
    if header.source_port is not None:
        made["source-port"] = header.source_port
    if header.destination_port is not None:
        made["destination-port"] = header.destination_port
    if header.protocol not in (None, "tcp", "udp"):
        made["protocol"] = header.protocol
    if sent.count > 1:
        made["count"] = sent.count
        made["start-within"] = _START_WITHIN
    return made


def without_replies(network: Network, headers: Sequence[Header]) -> set[int]:
    """Return the numbers of those headers with which TCP cannot work: a policy drops the replies."""
    numbers = [number for number, header in enumerate(headers) if header.protocol == "tcp"]
    if not numbers:
        return set()
    source = Sending({"bulk": {"tcp": _SMALL}}, 1, "")
    entries = [entry(str(number), headers[number], source) for number in numbers]
    # Time for some packets of each to pass the slowest part.
    seconds = 0.5 + len(numbers) * 10 * 8 * 1500 / network.bottleneck
    chosen = [headers[number] for number in numbers]
    scenario = network.scenario(entries, chosen, f"{round(seconds * 1000)}ms")
    summary = simulate(Document({**scenario, "seed": 1}, network.base), threads=1).summary
    answered = {
        row["class"].removesuffix(" (back)")
        for row in summary["classes"]
        if row["class"].endswith(" (back)") and row["delivered_packets"]["mean"]
    }
    return {number for number in numbers if str(number) not in answered}


def _unlike(name: str, others: Collection[str]) -> str:
    number = 2
    wanted = name
    while wanted in others:
        wanted, number = f"{name}-{number}", number + 1
    return wanted


def _percent(part: float) -> str:
    return f"{100 * part:.0f} %"
