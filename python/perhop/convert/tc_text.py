"""The policies of one interface as a shell script of `tc` commands."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from perhop.convert.ios_match import InexpressibleError
from perhop.convert.policies import Attached, Remark, Source, one_line
from perhop.convert.tc_cake import discipline_of_port, whole_port
from perhop.convert.tc_class import Leaf, Tree
from perhop.convert.tc_conditioner import Conditioners
from perhop.convert.tc_match import filters
from perhop.errors import InvalidInputError

# Bytes besides those of IP that Linux counts of a packet that leaves by Ethernet.
_ETHERNET = 14
_HEAD = """\
#!/bin/sh
# The policies of {what}, by `perhop convert`: sh {name} INTERFACE
#
# Packets are counted whole only where the interface does not join them: ethtool -K INTERFACE gro off gso off
# tso off. Filters look at IPv4 without options and at IPv6 without extension headers; other frames go to the
# class of all packets.
set -e
DEV=${{1:?usage: $0 INTERFACE}}
"""
# Policers have numbers of their own, for all interfaces together.
_NUMBER = """\
# The numbers of policers begin with that of the interface.
P=$(ip -o link show dev "$DEV" | cut -d : -f 1)"""
_CLEAR = """\
tc qdisc del dev "$DEV" root 2> /dev/null || true
tc qdisc del dev "$DEV" clsact 2> /dev/null || true
"""


def to_tc(source: Source) -> tuple[str, list[Remark]]:
    """Return the commands for the policies of one interface, and what Linux has otherwise.

    Raises:
        InvalidInputError: the policies are of several interfaces, or the rate of the interface is not known.

    """
    sides = _sides(source)
    remarks: list[Remark] = []
    lines: list[str] = []
    policers = 0
    for hook, one in sides.items():
        policy = cast("Mapping[str, Any]", one.policy)
        own: list[str] = []
        if policy.get("conditioners"):
            conditioners = Conditioners(hook, int(policy.get("overhead") or 0), one.where, policers)
            for number, stage in enumerate(policy["conditioners"], start=1):
                conditioners.add(stage, number)
            own += conditioners.lines
            remarks += conditioners.remarks
            policers = conditioners.policers
        if hook == "egress" and policy.get("queueing"):
            tree_lines, found = _tree(one, policy)
            own += tree_lines
            remarks += found
        lines += ["", f"# {one_line(one.where)}", *own]
    remarks = list(dict.fromkeys(remarks))
    notes = [f"# Otherwise than in perhop: {one_line(str(remark))}" for remark in remarks]
    names = ", ".join(dict.fromkeys(one.name for one in sides.values()))
    head = _HEAD.format(what=one_line(f"{names} of {source.file.name}"), name="SCRIPT")
    needs_hooks = any(" ingress " in line or " egress " in line for line in lines)
    begin = [*([_NUMBER] if policers else []), _CLEAR.rstrip("\n")]
    begin += ['tc qdisc add dev "$DEV" clsact'] if needs_hooks else []
    return "\n".join([head.rstrip("\n"), *notes, *begin, *lines]) + "\n", remarks


def _sides(source: Source) -> dict[str, Attached]:
    """Return the policy of each direction."""
    found: dict[str, Attached] = {}
    for one in source.attached:
        hook = "ingress" if one.direction == "input" else "egress"
        if hook in found:
            several = sorted({str(other.interface or other.name) for other in source.attached})
            option = "--interface" if one.interface else "--policy"
            raise InvalidInputError(
                f"`{source.file}` has several policies, and commands are for one interface",
                f"choose with {option}: {', '.join(several)}",
            )
        found[hook] = one
    return found


def _tree(one: Attached, policy: Mapping[str, Any]) -> tuple[list[str], list[Remark]]:
    rate = one.rate_bps
    if rate is None:
        raise InvalidInputError(
            f"{one.where}: the rate of the interface is not known",
            "give it: --rate 50Mb/s",
        )
    cake = whole_port(policy["queueing"])
    if cake is not None:
        return _cake(cake, one, policy)
    tree = Tree(rate, one.where)
    tree.add(policy["queueing"], rate)
    remarks = tree.remarks
    more = int(policy.get("overhead") or 0) - _ETHERNET
    # HTB counts what the size table says: the frame, and these bytes more or less.
    table = f" stab overhead {more} linklayer ethernet" if more else ""
    default = next((leaf for leaf in tree.leaves if not leaf.matches), None)
    last = default.minor if default else 0
    root = f'tc qdisc add dev "$DEV" root handle 1:{table} {tree.kind} default {last:x}{tree.words}'
    lines = [root, *tree.lines]
    for number, leaf in enumerate(tree.leaves):
        if leaf.matches:
            lines += _classified(leaf, number, one.where, remarks)
    if default is None:
        why = "perhop drops them; HTB sends them unshaped, before others"
        # HFSC drops them as well.
        is_same = tree.kind == "hfsc" or tree.has_direct
        remarks += [] if is_same else [Remark("packets without a class", one.where, why)]
    return lines, remarks


def _cake(
    cake: Mapping[str, Any], one: Attached, policy: Mapping[str, Any]
) -> tuple[list[str], list[Remark]]:
    """Return CAKE as the discipline of the whole interface."""
    remarks: list[Remark] = []
    if policy.get("overhead"):
        remarks.append(
            Remark(f"overhead: {policy['overhead']}", one.where, "CAKE counts by its own `overhead`")
        )
    words = discipline_of_port(cake, lambda construct, why: remarks.append(Remark(construct, one.where, why)))
    return [f'tc qdisc add dev "$DEV" root handle 1: {words}'], remarks


def _classified(leaf: Leaf, number: int, where: str, remarks: list[Remark]) -> list[str]:
    """Return the filters of a class; the first class in order takes a packet, as in perhop."""
    try:
        found = filters(leaf.match)
    except InexpressibleError as error:
        remarks.append(Remark(error.construct, f"{where}, class {leaf.name}", error.why))
        return []
    preferences = {"ip": 2 * number + 1, "ipv6": 2 * number + 2}
    return [
        f'tc filter add dev "$DEV" parent 1: protocol {protocol} pref {preferences[protocol]} u32 {line} '
        f"flowid 1:{leaf.minor:x}"
        for protocol, line in found
    ]
