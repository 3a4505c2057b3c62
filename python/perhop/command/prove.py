"""`perhop prove`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

from perhop.command.lines import limited, show_lines
from perhop.command.options import Assume, Json, Platform, assumptions
from perhop.command.parameter import Parameter
from perhop.command.terminal import print_json
from perhop.errors import Exit, InvalidInputError
from perhop.network.comparing import proved
from perhop.printable import printable
from perhop.proving import Counterexample, Proof, Verdict, prove

#: The sign between two configurations, as in `perhop prove A == B`.
_EQUALS = "=="
#: The exit code of each verdict.
EXITS: dict[Verdict, Exit] = {"equal": Exit.OK, "differ": Exit.NOT_MET, "not-decided": Exit.FINDINGS}
# The maximum width of values that are printed next to each other.
_MOST_WIDTH = 40


def prove_(
    first: Path,
    second: Path,
    third: Annotated[Path | None, Parameter(show=False)] = None,
    /,
    *,
    at: Annotated[list[str] | None, Parameter(name="--at", negative=())] = None,
    policy: Annotated[list[str] | None, Parameter(name="--policy", negative=())] = None,
    rate: str | None = None,
    platform: Platform = None,
    assume: Assume = None,
    json: Json = False,
) -> Exit:
    """Prove that two configurations treat all packets equally, or show a packet that they treat differently.

    Compares access lists, marks, policers, queues with their guarantees and buffers, and drops, for all
    packets. The configurations may belong to different vendors. For two folders of configurations, it
    compares all packets between all sites. Exit code 0: equal; 4: different; 1: not decided.

    Parameters
    ----------
    first
        The configuration of a device, or a folder of configurations.
    second
        The other configuration; `==` may precede it.
    third
        The other configuration, if the second argument is `==`.
    at
        The port to compare. If given twice: first the port of FIRST, then the port of SECOND. Default: all
        ports, paired by name. If each configuration has only one port with a policy, and the names of these
        two ports differ, perhop compares these two.
    policy
        The policy to compare. If given twice: first the policy of FIRST, then the policy of SECOND.
    rate
        The rate of the interface, for example 50Mb/s, for a policy that is not attached to one.

    """
    files = _files(first, second, third)
    assumed = assumptions(assume)
    if any(file.is_dir() for file in files):
        if at or policy or rate:
            raise InvalidInputError("--at, --policy and --rate are for two configurations", "leave them out")
        proof = proved(*files, platform=platform, assume=assumed)
    else:
        proof = prove(*files, at=at or (), policy=policy or (), rate=rate, platform=platform, assume=assumed)
    names = (str(files[0]), str(files[1]))
    if json:
        print_json({"schema_version": 1, "first": names[0], "second": names[1], **proof})
    else:
        show_lines("\n".join(map(printable, _lines(proof, names))), {})
    return EXITS[proof["verdict"]]


def _files(first: Path, second: Path, third: Path | None) -> tuple[Path, Path]:
    if str(second) == _EQUALS and third is not None:
        return first, third
    if third is not None or str(second) == _EQUALS:
        raise InvalidInputError(
            "prove compares two configurations", "perhop prove A B, or perhop prove A == B"
        )
    return first, second


def _lines(proof: Proof, names: tuple[str, str]) -> Iterator[str]:
    match proof["verdict"]:
        case "equal":
            yield f"equal: {names[0]} and {names[1]} treat all packets equally"
        case "differ":
            assert proof["counterexample"] is not None
            yield from counterexample_lines(proof["counterexample"], proof["place"], names)
            if proof["not_decided"]:
                yield "the example is valid only if no line listed below changes the treatment of this packet"
        case _:
            both = f"{names[0]} and {names[1]}"
            yield f"not decided: perhop found no packet that {both} treat differently, but has no proof"
    yield from limited("not compared", proof["not_decided"])
    yield from limited("compared", proof["compared"])
    yield from limited("assumed", proof["assumed"])
    yield from limited("not looked at", proof["not_looked_at"])


def counterexample_lines(found: Counterexample, place: str | None, names: tuple[str, str]) -> Iterator[str]:
    """Generate the lines of a packet that is treated differently, both treatments next to each other."""
    company = f", together with {found['with']}" if found["with"] else ""
    yield f"differ: {found['packet']}{company}"
    if place:
        yield f"  {place}"
    rows = [("", *names)]
    rows += [
        (aspect["what"], aspect["first"] or "-", aspect["second"] or "-") for aspect in found["treatment"]
    ]
    first = max(len(row[0]) for row in rows)
    width = max(len(row[1]) for row in rows)
    if width <= _MOST_WIDTH:
        yield from (
            f"  {what:<{first}}  {first_value:<{width}}  {second_value}"
            for what, first_value, second_value in rows
        )
        return
    for what, first_value, second_value in rows[1:]:
        if first_value == second_value:
            yield f"  {what:<{first}}  both: {first_value}"
        else:
            yield f"  {what:<{first}}  {names[0]}: {first_value}"
            yield f"  {'':<{first}}  {names[1]}: {second_value}"
