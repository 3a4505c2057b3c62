"""Report the share of the QoS lines of configurations that perhop recognizes and models.

    python tools/recognition.py [--platform NAME] [--sample N [--seed N]] [--open] FILE ...

QoS lines are the lines inside classes, policies and tables, and the QoS commands of interfaces and outside of
all blocks. Lines in classes and policies of the control plane, of inspection and of subscribers do not count.
In a Markdown file, only code blocks are read. `--open` lists the lines that are not modeled, `--sample` draws
lines with their states for a reader who judges the states.
"""

from __future__ import annotations

import argparse
import html
import random
import re
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "python"))

from perhop.configuration import examined  # noqa: E402
from perhop.errors import InvalidInputError  # noqa: E402

# Blocks in which every line is a QoS line.
BLOCK = re.compile(r"(class-map|policy-map|table-map|system qos)\b")
# Blocks that have QoS commands, but do not treat transit packets.
OTHER_BLOCK = re.compile(
    r"control-plane|(class-map|policy-map) (type (control|pbr|inspect|traffic|redirect|accounting|perf)|"
    r".*\bsystem-cpp-)"
)
# QoS commands outside of these blocks.
COMMAND = re.compile(
    r"(no )?(service-policy|mls qos|auto qos|qos|srr-queue|priority-queue|queue-set|queue-limit|wrr-queue|"
    r"rcv-queue|tx-queue|priority-flow-control|flowcontrol|random-detect|fair-queue|rate-limit|hold-queue|"
    r"hardware qos|hw-module profile qos|platform qos|trust|table-map|storm-control)\b"
)
FENCE = re.compile(r"\s*(```|~~~)")
PREFORMATTED = re.compile(r"<(/?)pre\b")
TAG = re.compile(r"</?\w[^<>]*>")
STATES = ("modelled", "irrelevant", "suspicious", "not-modelled", "not-recognized")


@dataclass(frozen=True)
class QosLine:
    """A line with its state."""

    file: str
    number: int
    text: str
    state: str
    note: str


def configuration(file: Path) -> str:
    """Return the text of a configuration, or a page in which lines outside code blocks are empty."""
    text = file.read_text(encoding="utf-8", errors="replace")
    if file.suffix != ".md":
        return text
    lines, is_code = [], False
    for line in text.splitlines():
        tag = PREFORMATTED.search(line)
        if FENCE.match(line):
            is_code = not is_code
        elif tag:
            is_code = not tag[1]
        is_content = is_code and not FENCE.match(line)
        lines.append(html.unescape(TAG.sub("", line)).rstrip() if is_content else "!")
    return "\n".join(line or "!" for line in lines) + "\n"


def qos_lines(file: Path, platform: str | None) -> Iterator[QosLine]:
    """Generate the QoS lines of a file."""
    report = examined(configuration(file), platform, detail="lines")
    if not report["platform"]["supported"]:
        raise InvalidInputError(f"{file}: {report['platform']['system']} is not read", "give --platform")
    by_number = {line["number"]: line for line in report["lines"]}
    for line in report["lines"]:
        text = line["text"].strip()
        outer = line
        while (block := outer.get("block")) is not None and block in by_number:
            outer = by_number[block]
        header = outer["text"].strip()
        if not OTHER_BLOCK.match(header) and (BLOCK.match(header) or COMMAND.match(text)):
            yield QosLine(file.name, line["number"], text, line["state"], line.get("note") or "")


def share(part: int, whole: int) -> str:
    """Return a share in percent."""
    return f"{100 * part / whole:.1f} %" if whole else "-"


def main() -> int:
    """Print the shares of each file and of all files together."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--platform")
    parser.add_argument("--sample", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--open", action="store_true")
    options = parser.parse_args()
    found: list[QosLine] = []
    print(f"{'file':50} lines recognized  modeled  {'  '.join(STATES)}")
    for file in options.files:
        try:
            own = list(qos_lines(file, options.platform))
        except InvalidInputError as error:
            print(f"{file.name[:50]:50} {error}")
            continue
        found += own
        print_shares(file.name, own)
    print_shares("all", found)
    if options.open:
        seen = Counter(
            (line.state, line.text, line.note)
            for line in found
            if line.state not in ("modelled", "irrelevant")
        )
        for (state, text, note), count in sorted(seen.items()):
            print(f"{count:5} {state:14} {text}   {note}")
    for line in random.Random(options.seed).sample(found, min(options.sample, len(found))):
        print(f"{line.state:14} {line.file}:{line.number}: {line.text}   {line.note}")
    return 0


def print_shares(name: str, lines: list[QosLine]) -> None:
    """Print the shares of states among `lines`."""
    states = Counter(line.state for line in lines)
    recognized = len(lines) - states["not-recognized"]
    # A suspicious line counts as modeled, because its finding is about other lines of the file.
    modeled = states["modelled"] + states["suspicious"]
    relevant = len(lines) - states["irrelevant"]
    counts = "  ".join(f"{states[state]:{len(state)}}" for state in STATES)
    row = f"{name[:50]:50} {len(lines):5} {share(recognized, len(lines)):>10} {share(modeled, relevant):>8}"
    print(f"{row}  {counts}")


if __name__ == "__main__":
    raise SystemExit(main())
