"""Copy the tables of `make bench` into docs/speed.md.

python benchmarks/quoting.py [results/bench.json] [docs/speed.md]
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from measuring import condition

# Words for the parts of the names of cases that are not words.
_WORDS = {
    "srtcm": "srTCM",
    "trtcm": "trTCM",
    "rfc4115": "RFC 4115",
    "car": "CAR",
    "red": "RED",
    "scfq": "SCFQ",
    "wfq": "WFQ",
    "wf2q+": "WF2Q+",
    "wrr": "WRR",
    "drr": "DRR",
    "fifo": "FIFO",
    "three-parameter": "three parameters",
    "hqf": "HQF",
    "1": "one",
    "blind": "color-blind",
    "aware": "color-aware",
    "below-min": "below `min`",
    "in-region": "in its region",
    "priority-drr": "priority and DRR",
}


def quote(found: dict[str, Any], page: Path) -> None:
    """Write the tables of all parts in `found` between their marks in `page`."""
    text = page.read_text()
    tables = {"engine": _engines, "networks": _networks, "data_plane": _data_plane}
    for part in (part for part in tables if part in found):
        measured = f"{condition(found['rounds'], found['machine'])}\n\n{tables[part](found)}"
        text = between(text, part.replace("_", " "), measured)
    page.write_text(text)
    sys.stdout.write(f"written to {page}\n")


def between(text: str, part: str, measured: str) -> str:
    """Return `text` with `measured` between the two marks of `part`."""
    begin, end = f"<!-- measured: {part} -->", f"<!-- end of what was measured: {part} -->"
    before, opened, rest = text.partition(begin)
    _, closed, after = rest.partition(end)
    if not (opened and closed):
        raise ValueError(f"no place for the part `{part}`: its marks are missing")
    return f"{before}{begin}\n\n{measured}\n\n{end}{after}"


def _engines(found: dict[str, Any]) -> str:
    lines = [
        "| scenario | simulator | rounds | seconds | first, s | packet-hops | million packet-hops/s "
        "| peak, MB | times as long | times as long per packet-hop |",
        "|---|---|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for row in found["engine"]:
        lines.append(
            "| {scenario} | {simulator} | {rounds} | {seconds:.2f} | {first_result_seconds:.3f} "
            "| {packet_hops:,} | {million_packet_hops_per_second:.2f} | {peak_megabytes:.0f} "
            "| {times_as_long:.1f} | {times_as_long_per_packet_hop:.1f} |".format(**row)
        )
    start = found.get("start_of_the_command_line_seconds")
    if start is not None:
        lines += ["", f"The command line takes {start:.2f} s to start."]
    return "\n".join(lines)


def _networks(found: dict[str, Any]) -> str:
    lines = [
        "| network | simulator | rounds | seconds | packet-hops | peak, MB | times as long "
        "| times as long per packet-hop |",
        "|---|---|---:|---:|---:|---:|---:|---:|",
    ]
    for row in found["networks"]:
        lines.append(
            "| {network} | {simulator} | {rounds} | {seconds:.2f} | {packet_hops:,} | {peak_megabytes:.0f} "
            "| {times_as_long:.1f} | {times_as_long_per_packet_hop:.1f} |".format(**row)
        )
    return "\n".join(lines)


def _data_plane(found: dict[str, Any]) -> str:
    lines = ["| ns per packet | perhop | DPDK | ratio |", "|---|---:|---:|---:|"]
    for row in found["data_plane"]:
        peer = f"{row['dpdk']:.1f} | {row['ratio']:.2f}" if "dpdk" in row else "|"
        lines.append(f"| {_in_words(row['case'])} | {row['perhop']:.1f} | {peer} |")
    return "\n".join(lines)


def _in_words(case: str) -> str:
    """Return the name of a case in words: `meter/srtcm-blind/1` is `meter: srTCM color-blind, one`."""
    kind, *parts = case.split("/")
    return f"{_WORDS.get(kind, kind)}: " + ", ".join(_part_in_words(part) for part in parts)


def _part_in_words(part: str) -> str:
    if part in _WORDS:
        return _WORDS[part]
    return " ".join(_WORDS.get(word, word) for word in part.split("-"))


if __name__ == "__main__":
    words = [Path(word) for word in sys.argv[1:]]
    root = Path(__file__).parent.parent
    source, target = words + [root / "results" / "bench.json", root / "docs" / "speed.md"][len(words) :]
    quote(json.loads(source.read_text()), target)
