"""docs/fidelity.md: what is compared, how much of it agrees, and every miss with its reason."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from fidelity.record import MISSED, Peer, Record, Row, record

if TYPE_CHECKING:
    from fidelity.comparison import Comparison

INTRODUCTION = """\
# Fidelity

This page compares perhop with *peers*: theory, ns-2, the queueing disciplines and TCP of Linux, and published
outputs and measurements of real routers. `make fidelity` measures everything and writes this page and its
data. `fidelity/results.csv` has one row per comparison, with both values, their intervals, the allowed
difference, the rule and the verdict. `fidelity/peers.json` describes the peers. `python -m fidelity --render`
writes the page again from the data. Seeds are fixed: the same perhop gives the same numbers, except for
`kernel` and `live-tcp`, which measure the kernel of the machine in real time.

A comparison is met if its rule allows the difference of the two values, and missed otherwise. *chance* is the
square root of the sum of the squares of the half-widths of both 95 % confidence intervals; a rule such as
"chance + 1 %" adds the two parts. If a rule is only *chance*, one comparison in twenty is missed without a
cause. The reason of a miss is an entry of the [deviations](reference/generated/deviations.md), or unknown."""

REPEAT = """\
```console
$ make fidelity                                                # all peers that are installed
$ .venv/bin/python -m fidelity --only ns-2                     # one peer; prints its page
$ .venv/bin/python -m fidelity --quick --output /tmp/fidelity  # short runs, files in another folder
```

Debian's package `ns2` provides ns-2. The peers `kernel` and `live-tcp` need root and network namespaces. "Not
compared" lists the peers that are not installed. To find the rows of one comparison, use its name:
`grep '^linux-aqm,codel,' fidelity/results.csv`."""

WIDTH = 110
NAMED_CASES = 3


@dataclass(frozen=True)
class Part:
    """The comparisons with one peer."""

    peer: str
    title: str
    #: The peer, and the method of the comparison.
    about: str
    comparisons: Sequence[Comparison] = ()
    #: The comparisons that were not possible, with reasons.
    skipped: Mapping[str, str] = field(default_factory=dict)


def page(parts: Sequence[Part]) -> str:
    """Return the page of all comparisons as Markdown."""
    return render(record(parts))


def render(kept: Record) -> str:
    """Return the page of recorded comparisons as Markdown."""
    sections = [INTRODUCTION, _counts(kept), "## Misses", _misses(kept)]
    skipped = [f"- {peer.title}: {what}: {why}." for peer in kept.peers for what, why in peer.skipped.items()]
    if skipped:
        wrapped = [
            textwrap.fill(line, WIDTH, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)
            for line in skipped
        ]
        sections += ["## Not compared", "\n".join(wrapped)]
    for peer in kept.peers:
        if rows := kept.rows_of(peer):
            sections += [f"## {peer.title}", peer.about, _compared(rows)]
    sections += ["## Repeating the comparisons", REPEAT]
    return "\n\n".join(sections) + "\n"


def _counts(kept: Record) -> str:
    lines = [
        [peer.title, f"`{peer.peer}`", *_verdicts(kept.rows_of(peer)), str(len(peer.skipped) or "")]
        for peer in kept.peers
    ]
    lines.append(["**all**", "", *_verdicts(kept.rows), str(sum(len(peer.skipped) for peer in kept.peers))])
    head = ["peer", "`--only`", "comparisons", "met", "missed", "not compared"]
    return _lines(head, lines, {2, 3, 4, 5})


def _verdicts(rows: Sequence[Row]) -> list[str]:
    missed = sum(row.verdict == MISSED for row in rows)
    return [str(len(rows)), str(len(rows) - missed), str(missed)]


def _misses(kept: Record) -> str:
    """Return the misses by peer and reason, the largest group of each peer first."""
    lines = [line for peer in kept.peers for line in _misses_of(peer, kept.rows_of(peer))]
    if not lines:
        return "None."
    head = ["peer", "compared", "cases", "quantities", "misses", "times allowed", "reason"]
    note = (
        'Misses are grouped by reason. "Times allowed" is the greatest difference of a group, divided by\n'
        "the difference that the rule allows; it is empty if the rule requires equality. `grep ,missed,\n"
        "fidelity/results.csv` prints the rows."
    )
    return f"{note}\n\n{_lines(head, lines, {4, 5})}"


def _misses_of(peer: Peer, rows: Sequence[Row]) -> list[list[str]]:
    missed = [row for row in rows if row.verdict == MISSED]
    reasons = [reason for reason, _ in Counter(row.reason for row in missed).most_common()]
    lines = []
    for reason in reasons:
        group = [row for row in missed if row.reason == reason]
        times = [row.times_allowed for row in group if row.times_allowed]
        lines.append(
            [
                peer.title,
                _counted(row.compared for row in group),
                _few([row.case for row in group]),
                _counted(row.quantity for row in group),
                str(len(group)),
                max(times, key=float, default=""),
                reason,
            ]
        )
    return lines


def _compared(rows: Sequence[Row]) -> str:
    """Return the numbers of compared quantities by subject, with the rules."""
    rules = Counter(row.rule for row in rows)
    text = (
        f"{len(rows)} comparisons: {_counted(row.compared for row in rows)}. "
        f"Rules: {'; '.join(f'{rule} ({count})' for rule, count in rules.most_common())}."
    )
    return textwrap.fill(text, WIDTH, break_long_words=False, break_on_hyphens=False)


def _few(cases: Sequence[str]) -> str:
    """Return distinct cases, or their number if there are many."""
    distinct = list(dict.fromkeys(cases))
    return "; ".join(distinct) if len(distinct) <= NAMED_CASES else f"{len(distinct)} cases"


def _counted(names: Iterable[str]) -> str:
    """Return distinct names with their numbers, in the order of their first appearance."""
    return "; ".join(f"{name} ({count})" if count > 1 else name for name, count in Counter(names).items())


def _lines(head: list[str], rows: Sequence[Sequence[str]], right: set[int]) -> str:
    rule = ["--:" if column in right else "---" for column in range(len(head))]
    escaped = [[cell.replace("|", "\\|") for cell in row] for row in rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in (head, rule, *escaped))
