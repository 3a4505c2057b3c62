"""The text and the Markdown of `perhop diff`."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any

from perhop.command.effects import effect_on_classes
from perhop.differing import Changed, Difference, Example, LineChange, Moved
from perhop.printable import as_code, in_markdown, printable
from perhop.quantity import counted, number

# The maximum number of changed lines of each kind in text; --json has all.
_MOST_LINES = 40


def text_of(found: Difference, old: str) -> Iterator[str]:
    """Generate the lines of a difference from the file called `old`."""
    yield from (printable(line) for line in _findings(found))
    if found.simulated:
        real = [row for row in found.simulated if row["inside_interval"] is False]
        alike = len(found.simulated) - len(real)
        yield f"simulated: {counted(len(real), 'figure')} differ; {alike} others differ only by chance"
        for row in real:
            yield printable(
                f"  {row['class']}, {row['quantity']}: {_figure(row, 'first')} -> {_figure(row, 'second')}"
            )
    yield from (printable(remark) for remark in _remarks(found))
    if not found:
        yield _nothing(found)
    yield from (printable(line) for line in effect_on_classes(found.felt, old))


def _findings(found: Difference) -> Iterator[str]:
    for (interface, arrives), several in groupby(
        found.moved, key=lambda move: (move.interface, move.arrives)
    ):
        by = f" of those that arrive on {arrives}" if arrives else ""
        yield f"{interface}: packets that wait in another queue{by}"
        for move in several:
            yield f"  {_queue(move.before)} -> {_queue(move.after)}: {move.packet}"
    for interface, changes in groupby(found.changed, key=lambda change: change.interface):
        yield f"{interface or 'device'}: changes"
        for change in changes:
            yield f"  {_change(change)}"
    for interface, names in groupby(found.renamed, key=lambda renaming: renaming.interface):
        yield f"{interface}: new names with the same contents"
        yield from (f"  {renaming.before} -> {renaming.after}" for renaming in names)
    for arrives, examples in groupby(found.examples, key=lambda example: example.arrives):
        yield f"{arrives}: packets that a changed input policy treats differently"
        yield from (f"  {_example(example)}" for example in examples)
    for title, lines in _lines(found):
        yield title
        yield from (f"  {_line(line)}" for line in lines[:_MOST_LINES])
        if len(lines) > _MOST_LINES:
            yield f"  and {counted(len(lines) - _MOST_LINES, 'more line')}: --json has all"


def _lines(found: Difference) -> Iterator[tuple[str, list[LineChange]]]:
    """Generate each kind of change with its changed lines."""
    kinds = {"compared": "changed lines", "same": "changed lines with the same effect as before"}
    for effect, title in kinds.items():
        if lines := [line for line in found.lines if line.effect == effect]:
            yield title, lines
    if found.not_compared:
        yield "changed, not compared", found.not_compared


def changed_lines(lines: list[LineChange]) -> Iterator[tuple[str, list[str]]]:
    """Generate the kinds of changed lines that are not irrelevant, each with its lines as text."""
    both = Difference(
        moved=[],
        changed=[],
        lines=[line for line in lines if line.effect != "not-compared"],
        not_compared=[line for line in lines if line.effect == "not-compared"],
    )
    for title, kind in _lines(both):
        yield title, [_line(line) for line in kind]


def _line(line: LineChange) -> str:
    where = f"{line.section[-1]} | " if line.section else ""
    return ": ".join(filter(None, [f"{_numbers(line)}: {where}{_texts(line)}", _consequence(line)]))


def _consequence(line: LineChange) -> str:
    """Return the parts that a line changes, or the reason why it is not compared."""
    parts = ", ".join(f"{part['interface']} {part['part']}".strip() for part in line.parts)
    return ": ".join(filter(None, [parts, line.reason]))


def _numbers(line: LineChange) -> str:
    sides = (("old", line.old), ("new", line.new))
    return ", ".join(f"{name} {side['line']}" for name, side in sides if side)


def _texts(line: LineChange) -> str:
    old, new = (side["text"] if side else None for side in (line.old, line.new))
    if old is None or new is None:
        return f"+ {new}" if old is None else f"- {old}"
    return old if old == new else f"{old} -> {new}"


def _example(example: Example) -> str:
    before, after = map(_end, (example.before, example.after))
    ends = f"{before}, as before" if before == after else f"{before} -> {after}"
    return f"{example.part}, to {example.leaves}: {example.packet}: {ends}"


def _end(end: dict[str, Any]) -> str:
    if end["dropped"]:
        return "dropped"
    return f"leaves with {_marks(end['packet'])}, waits in {_queue(end['queue'])}"


def _marks(packet: str) -> str:
    """Return the marks of a packet."""
    words = packet.split()
    marks = [f"{name} {value}" for name, value in pairwise(words) if name in ("dscp", "cos", "exp")]
    return ", ".join(marks) or "dscp 0"


def _remarks(found: Difference) -> Iterator[str]:
    yield from found.remarks
    yield from (f"not compared: {part}" for part in found.not_looked_at if part not in found.remarks)


def _nothing(found: Difference) -> str:
    return "nothing else differs" if found.remarks or found.not_looked_at else "nothing differs"


def markdown_of(old: Path, new: Path, found: Difference) -> Iterator[str]:
    """Generate the lines of a difference as Markdown."""
    yield f"### QoS: {as_code(old.name)} to {as_code(new.name)}"
    if found.moved:
        yield "\n| interface | queue before | queue after | for example |\n|---|---|---|---|"
        yield from (_moved_row(move) for move in found.moved)
    if found.changed:
        yield "\n| interface | part | what | before | after |\n|---|---|---|---|---|"
        yield from (_changed_row(change) for change in found.changed)
    if found.renamed:
        yield "\n| interface | old name | new name, same meaning |\n|---|---|---|"
        yield from (_row([*map(in_markdown, vars(renaming).values())]) for renaming in found.renamed)
    for title, lines in _lines(found):
        yield f"\n| {title} | line | parts or reason |\n|---|---|---|"
        yield from (_line_row(line) for line in lines)
    real = [row for row in found.simulated if row["inside_interval"] is False]
    if found.simulated:
        total = len(found.simulated)
        yield f"\nSimulated: {counted(len(real), 'figure')} of {total} differ by more than chance."
    if real:
        yield "\n| class | figure | before | after |\n|---|---|---:|---:|"
        for row in real:
            cells = [row["class"], row["quantity"], _figure(row, "first"), _figure(row, "second")]
            yield _row([*map(in_markdown, cells)])
    yield from (f"\n{in_markdown(remark)}" for remark in _remarks(found))
    if not found:
        yield f"\n{_nothing(found).capitalize()}."
    if effects := list(effect_on_classes(found.felt, old.name)):
        yield f"\n{in_markdown(effects[0])}\n" if len(effects) > 1 else f"\n{in_markdown(effects[0])}"
        yield from (f"- {in_markdown(effect.strip())}" for effect in effects[1:])


def _moved_row(moved: Moved) -> str:
    cells = map(in_markdown, (moved.interface, _queue(moved.before), _queue(moved.after)))
    return _row([*cells, as_code(moved.packet)])


def _changed_row(changed: Changed) -> str:
    cells = (changed.interface, changed.part, changed.what, changed.before, changed.after)
    return _row(["-" if cell is None else in_markdown(cell) for cell in cells])


def _line_row(line: LineChange) -> str:
    return _row([_numbers(line), as_code(_texts(line)), in_markdown(_consequence(line))])


def _row(cells: list[str]) -> str:
    # A cell ends at a bar, in code as well (GitHub Flavored Markdown, section 4.10).
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _queue(name: str | None) -> str:
    return name or "no class"


def _change(change: Changed) -> str:
    for kind, value, other in (
        ("added", change.after, change.before),
        ("removed", change.before, change.after),
    ):
        if other is None and change.packet is None:
            return " ".join(filter(None, [f"{kind}:", change.part, change.what, value]))
    example = f"; for example, only one of them matches {change.packet}" if change.packet else ""
    before, after = (value or "all packets" for value in (change.before, change.after))
    return f"{change.part}, {change.what}: {before} -> {after}{example}"


def _figure(row: dict[str, Any], which: str) -> str:
    sample = row[which]
    interval = sample.get("ci95")
    half = f" ± {number((interval[1] - interval[0]) / 2)}" if interval else ""
    mean = sample["mean"]
    return "none" if mean is None else f"{number(mean)}{half} {row['unit']}".rstrip()
