"""The classes on a path through a router, and headers that reach them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import chain, islice
from types import MappingProxyType
from typing import Any

from perhop.inference.headers import Header, candidates
from perhop.inference.network import Ends, Network
from perhop.inference.roles import Kind, Role, role_of
from perhop.inference.shares import Leaf
from perhop.inference.trial import REST, Place, places_of
from perhop.schema_types import ConditionerConfig, MatchConfig, QueueingConfig

# Number of headers tried for one class.
_TRIALS = 48
# Number of headers tried in one simulation, after the first.
_AT_ONCE = 10
# Protocols that sources have.
_TCP, _UDP = "tcp", "udp"
_ANY: Mapping[str, Kind] = MappingProxyType({})


@dataclass(frozen=True)
class Target:
    """A class of the router: a conditioning stage or a queue."""

    place: Place
    #: Its name, which no other class has.
    name: str
    matches: list[MatchConfig]
    #: Whether its queue has strict priority; of a stage, that of the queue that is called like it.
    priority: bool
    #: Its name in its own policy, which classes of other policies may have as well.
    own_name: str


@dataclass(frozen=True)
class Hit:
    """Headers that reach a class."""

    target: Target
    header: Header
    role: Role
    #: The kind of traffic that was wanted: that of the role, or the user's.
    kind: Kind
    #: All classes that they reach.
    places: set[Place]

    def leaf(self, network: Network) -> Leaf | None:
        """Return the queue that they wait in."""
        known = network.leaf_places
        places = (known[path] for kind, path in self.places if kind == "queue" and path in known)
        place = min(places, default=None)
        return None if place is None else network.leaves[place]


@dataclass(frozen=True)
class Miss:
    """A class that no header reaches."""

    target: Target
    why: str
    #: Whether headers reach the class's conditioner, but then not its queue.
    is_queue_only: bool = False

    def __str__(self) -> str:
        """Say it in one line."""
        what = "the queue of class" if self.is_queue_only else "class"
        return f"{what} `{self.target.name}`: no header reaches it{self.why}"


#: Stages that stand for no class: what the router does by itself, and what tells a policer colors.
_OF_ROUTER = ("new tag", "discard class 0")
_OF_COLORS = (" conform-color", " exceed-color", " other colors")
#: Marks that the packets of an inferred scenario do not have.
_UNSEEN = {"cos": "the CoS of a VLAN tag", "mpls-exp": "the EXP of a label"}


def targets(network: Network) -> Iterator[Target]:
    """Return the classes on the path, from where packets enter to where they leave."""
    first = {leaf.name for leaf in network.leaves if leaf.priority}
    names_of = network.leaf_names
    names = set(names_of.values())
    for side, stage in stages(network):
        name = stage.get("name") or ""
        if name in _OF_ROUTER or name.endswith(_OF_COLORS):
            continue
        last = name.rpartition(".")[2] if "." in name else name
        # The stage of an inner class, in the same words as its queue.
        whole = name.replace(".", "/")
        shown = whole if whole in names else last
        match = stage.get("match")
        yield Target((side, name), shown, [match] if match else [], last in first, last)
    for leaf in network.leaves:
        yield Target(("queue", leaf.path), names_of[leaf.path], leaf.matches, leaf.priority, leaf.name)
    if not network.leaves:
        yield Target(REST, REST[1], [], priority=False, own_name=REST[1])


def stages(network: Network) -> Iterator[tuple[str, ConditionerConfig]]:
    """Return the conditioners that packets pass, each with its side."""
    for interface, side in ((network.entering, "input"), (network.leaving, "output")):
        for stage in interface.side(side).get("conditioners") or []:
            yield side, stage


def found(network: Network, kinds: Mapping[str, Kind] = _ANY) -> tuple[list[Hit], list[Miss]]:
    """Return headers for each class of the path, and the classes that none reaches.

    Headers have the protocol that suits the class's role, or the kind in `kinds` for its name, if possible.
    """
    reached = _Reached(network)
    misses: list[Miss] = []
    for target in targets(network):
        if any(_covers(hit, target) for hit in reached.by_place.get(target.place, ())):
            continue
        hit = _try(network, target, reached, kinds)
        if isinstance(hit, Hit):
            reached.add(hit)
        elif target.place != REST and not (
            target.place in reached.by_place or target.place in reached.parents
        ):
            misses.append(replace(hit, is_queue_only=target.name in reached.names))
    return reached.hits, misses


class _Reached:
    """The classes that headers reach so far, by place and by name."""

    def __init__(self, network: Network) -> None:
        self.hits: list[Hit] = []
        #: The hits that reach a place.
        self.by_place: dict[Place, list[Hit]] = {}
        #: The names of their targets, and the stages of the classes around their targets.
        self.names: set[str] = set()
        self.parents: set[Place] = set()
        self.ends = Ends(network)

    def add(self, hit: Hit) -> None:
        """Add a hit."""
        self.hits.append(hit)
        self.names.add(hit.target.name)
        for place in hit.places:
            self.by_place.setdefault(place, []).append(hit)
        side, name = hit.target.place
        while side != "queue" and (name := name.rpartition(".")[0]):
            self.parents.add((side, name))
        self.ends.add(hit.header)


def _covers(hit: Hit, target: Target) -> bool:
    """Whether a hit is also one of a class: of a stage, or of the queue of the hit's own class."""
    # Several classes without a queue of their own, on the way out, may share that of class-default.
    is_shared = (
        hit.target.place[0] == "output" and target.place[0] == "queue" and hit.target.name != target.name
    )
    return target.place in hit.places and not is_shared


def _try(network: Network, target: Target, reached: _Reached, kinds: Mapping[str, Kind]) -> Hit | Miss:
    """Return headers that reach a class along with those before, and all the classes that they reach."""
    variants = islice(_variants(network, target, reached, kinds), _TRIALS)
    elsewhere: Counter[str] = Counter()
    # The first mostly reaches it.
    size = 1
    tried = 0
    while several := list(islice(variants, size)):
        found = places_of(network, [header for header, _, _ in several])
        for (header, role, kind), places in zip(several, found, strict=True):
            if target.place in places:
                return Hit(target, header, role, kind, places)
            elsewhere.update(path for of, path in places if of == "queue")
        size, tried = _AT_ONCE, tried + len(several)
    if unseen := _unseen(target.matches):
        return Miss(target, f": it matches {unseen}; --assume '{target.name} = dscp ef' runs it by another")
    return Miss(target, _shadowed(network, target, elsewhere) if tried else _impossible(network, target))


def _unseen(match: Any) -> str | None:  # noqa: ANN401 - a condition, or a part of one
    """Return what a condition asks for that packets do not have, in words."""
    if isinstance(match, Mapping):
        own = next((words for key, words in _UNSEEN.items() if key in match), None)
        return own or _unseen([match.get(key) for key in ("all", "any")])
    if isinstance(match, list):
        return next((words for one in match if (words := _unseen(one))), None)
    return None


def _variants(
    network: Network, target: Target, reached: _Reached, kinds: Mapping[str, Kind]
) -> Iterator[tuple[Header, Role, Kind]]:
    """Generate headers that may reach a class, each with the protocol of its role first."""
    own = network.own_addresses
    ends = {*own, *network.ends(Header())}
    for header in chain(candidates(target.matches, own), candidates(target.matches, ends)):
        role = role_of(target.own_name, header, priority=target.priority)
        kind = kinds.get(target.name, role.kind)
        usual = [_TCP, _UDP] if kind in ("transfers", "greedy") else [_UDP, _TCP]
        if header.packet_bytes:
            # The segments of TCP have lengths of their own.
            usual = [_UDP]
        for protocol in [header.protocol] if header.protocol else usual:
            one = replace(header, protocol=protocol)
            if one.has_hosts and reached.ends.fits(one):
                yield one, role, kind


def _impossible(network: Network, target: Target) -> str:
    """Say why no header for a class could be tried."""
    headers = list(islice(candidates(target.matches, network.own_addresses), _TRIALS))
    if not headers:
        return ": no packet meets its conditions"
    if not any(header.has_hosts for header in headers):
        return ": it matches addresses that no host has"
    return ": its packets enter by another interface"


def unmatched(network: Network) -> list[str]:
    """Return the classes of the output policy that are configured, and have neither queue nor conditioner.

    The conditions of such a class exclude each other. The packets of a class around others wait in those.
    """
    port = network.leaving.port
    policies = port.get("policies") if port else None
    known = {target.own_name for target in targets(network)}
    known |= set(_running(network.leaving.side("output").get("queueing")))
    configured = _configured(policies["output"]) if policies else []
    return [name for name in configured if name not in known]


def _running(queueing: QueueingConfig | None) -> Iterator[str]:
    for one in queueing["classes"] if queueing else []:
        yield one["name"]
        yield from _running(one.get("queueing"))


def _configured(policy: Mapping[str, Any] | None) -> Iterator[str]:
    for one in (policy or {}).get("classes", []):
        if any(one.get(key) for key in ("bandwidth", "priority", "police", "shape", "marks")):
            yield one["name"]
        yield from _configured(one.get("policy"))


def _shadowed(network: Network, target: Target, elsewhere: Counter[str]) -> str:
    """Say where the packets that should reach a class go instead."""
    names = network.leaf_names
    usual = [names[path] for path, _ in elsewhere.most_common(1) if path in names]
    return f": packets for it reach `{usual[0]}`" if usual and usual[0] != target.name else ""
