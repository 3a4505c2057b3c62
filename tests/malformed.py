"""Malformed inputs of every kind that perhop reads, made of good ones, and the commands that read them."""

from __future__ import annotations

import random
import re
import shutil
import struct
from collections.abc import Callable, Iterator
from pathlib import Path

from conftest import ROOT, SCENARIO
from perhop import Scenario, compare, sweep
from test_traffic_files import FLOWD, IPFIX, NFDUMP, PLAIN, ROUTER

# What a value or a line is replaced by.
_PIECES = [
    *(
        "",
        " ",
        "\t",
        "\n",
        "\r\n",
        "\0",
        "\u00e9",
        "\ufeff",
        "\u202e",
        "\x1b[31m",
        "\U0001f600",
        "'",
        '"',
        "`",
    ),
    *("-1", "0", "1", "1e400", "-0.0", "nan", ".inf", "0x10", "9" * 40, "18446744073709551616", "1e-400"),
    *("0s", "1ns", "1000000h", "0b/s", "1b/s", "10Tb/s", "1B", "999999999B", "0B", "1000000 packets"),
    *(
        "null",
        "~",
        "true",
        "[]",
        "{}",
        "[[]]",
        "{a: {b: {c: []}}}",
        "&a [*a]",
        "*a",
        "<<: *a",
        "!!binary x",
        "---",
    ),
    *(
        "class",
        "policy-map",
        "no",
        "!",
        "exit",
        "any",
        "255.255.255.255",
        "::",
        "interface",
        "permit ip any any",
    ),
    *("..", "/", "/dev/zero", "/proc/self/mem", ".", "%s%n", "$(id)", "[/]", "$\\frac{$", "=1+1", "@x"),
]
_LONG = ["a" * 5000, "[" * 2000, "{a: " * 500, "- " * 500, "1," * 3000, "x\n" * 3000, " " * 5000]
_BRIEFLY = ("--duration", "10ms", "--set", "measure.warmup=0s", "-q")
# Bytes of binary formats: lengths, counts and types at their ends.
_WORDS = [0, 1, 3, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFE, 0xFFFFFFFF, 0x0A0D0D0A, 6, 12, 0x10000]


def mutated_text(text: str, draw: random.Random) -> bytes:
    """Change a text in one to six places: characters, tokens, numbers, lines, its end, or bytes of it."""
    for _ in range(draw.choice([1, 1, 2, 3, 6])):
        text = draw.choice(_TEXT)(text, draw)
    content = text[:300_000].encode("utf-8", "surrogatepass")
    return mutated_bytes(content, draw) if draw.random() < 0.1 else content


def _token(text: str, draw: random.Random) -> str:
    found = list(re.finditer(r"[\w./-]+", text))
    if not found:
        return draw.choice(_PIECES)
    one = draw.choice(found)
    return text[: one.start()] + draw.choice(_PIECES) + text[one.end() :]


def _number(text: str, draw: random.Random) -> str:
    found = list(re.finditer(r"\d+", text))
    if not found:
        return text
    one = draw.choice(found)
    number = int(one[0][:30])
    other = draw.choice([number * 1000, number * 10**9, -number, number + 1, 0, 2**64, number // 2])
    return text[: one.start()] + str(other) + text[one.end() :]


def _lines(text: str, draw: random.Random) -> str:
    lines = text.splitlines(keepends=True) or [""]
    at, other = draw.randrange(len(lines)), draw.randrange(len(lines))
    match draw.randrange(5):
        case 0:
            del lines[at]
        case 1:
            lines[at:at] = [lines[other]] * draw.choice([1, 2, 50, 2000])
        case 2:
            lines[at], lines[other] = lines[other], lines[at]
        case 3:
            lines[at] = draw.choice(["  ", "      ", "-", "\t"]) + lines[at]
        case _:
            lines[at] = lines[at].lstrip()
    return "".join(lines)


def _cut(text: str, draw: random.Random) -> str:
    at = draw.randrange(len(text) + 1)
    return text[:at] if draw.random() < 0.5 else text[:at] + text[at + draw.randrange(1, 40) :]


def _insert(text: str, draw: random.Random) -> str:
    at = draw.randrange(len(text) + 1)
    return text[:at] + draw.choice(_LONG if draw.random() < 0.15 else _PIECES) + text[at:]


_TEXT: list[Callable[[str, random.Random], str]] = [_token, _token, _number, _lines, _lines, _cut, _insert]


def mutated_bytes(content: bytes, draw: random.Random) -> bytes:
    """Change bytes in one to eight places: bits, words, what is left out, repeated or missing at the end."""
    for _ in range(draw.choice([1, 1, 2, 4, 8])):
        at = draw.randrange(len(content) + 1)
        match draw.randrange(6):
            case 0:
                content = content[:at] + bytes([draw.randrange(256)]) + content[at + 1 :]
            case 1:
                word = struct.pack(draw.choice("<>") + "I", draw.choice(_WORDS))
                aligned = at // 4 * 4
                content = content[:aligned] + word + content[aligned + 4 :]
            case 2:
                content = content[:at] + content[at + draw.randrange(1, 64) :]
            case 3:
                content = (
                    content[:at] + content[at : at + 200] * draw.choice([2, 3, 100]) + content[at + 200 :]
                )
            case 4:
                content = content[:at] + draw.randbytes(draw.randrange(1, 40)) + content[at:]
            case _:
                content = content[:at]
    return content[:1_000_000]


class Inputs:
    """Makes malformed inputs in a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        examples = sorted((ROOT / "examples").glob("*.yaml"))
        mistakes = sorted((ROOT / "crates/perhop-scenario/tests/diagnostics").glob("*.yaml"))
        self._scenarios = [
            file.read_text(encoding="utf-8", errors="replace") for file in (*examples, *mistakes)
        ]
        self._routers = [
            file.read_text(encoding="utf-8", errors="replace")
            for pattern in ("tests/configurations/*.cfg", "vectors/ios/*.cfg", "examples/*.cfg")
            for file in sorted(ROOT.glob(pattern))
        ]
        self._capture = (ROOT / "examples" / "replay.pcapng").read_bytes()
        self._trace = (ROOT / "examples" / "trace.csv").read_text()
        self._rates = "class,rate,packet_bytes,kind\nVOICE,300kb/s,120,voice\nERP,500kb/s,,transactional\n"
        for name in ("replay.perhop.yaml", "trace.perhop.yaml", "replay.pcapng", "trace.csv", "router.cfg"):
            shutil.copy(ROOT / "examples" / name, folder)
        (folder / "edge.cfg").write_text(ROUTER)
        self._save()

    def _save(self) -> None:
        (self._folder / "overload.yaml").write_text(SCENARIO)
        scenario = Scenario.load(self._folder / "overload.yaml", {"duration": "2s"})
        runs = [scenario.run(seed=seed) for seed in (1, 2)]
        runs[0].save(self._folder / "saved" / "run")
        sweep(scenario, {"seed": [1, 2]}).save(self._folder / "saved" / "sweep")
        compare.compare(*runs).save(self._folder / "saved" / "comparison")

    def draw(self, draw: random.Random) -> Iterator[tuple[str, ...]]:
        """Write a malformed input, and generate the commands that read it."""
        kinds = {
            self._scenario: 40,
            self._router: 30,
            self._result: 12,
            self._captured: 9,
            self._table: 9,
        }
        (kind,) = draw.choices(list(kinds), list(kinds.values()))
        yield from kind(draw)

    def _scenario(self, draw: random.Random) -> Iterator[tuple[str, ...]]:
        text = mutated_text(draw.choice(self._scenarios), draw)
        (self._folder / "scenario.yaml").write_bytes(text)
        yield ("check", "scenario.yaml")
        if draw.random() < 0.25:
            yield ("run", "scenario.yaml", *_BRIEFLY, "--replications", "1")

    def _router(self, draw: random.Random) -> Iterator[tuple[str, ...]]:
        (self._folder / "mutated.cfg").write_bytes(mutated_text(draw.choice(self._routers), draw))
        yield ("check", "mutated.cfg")
        if draw.random() < 0.25:
            yield ("run", "mutated.cfg", *_BRIEFLY)

    def _result(self, draw: random.Random) -> Iterator[tuple[str, ...]]:
        folder = self._folder / "changed"
        shutil.rmtree(folder, ignore_errors=True)
        kind = draw.choice(["run", "sweep", "comparison"])
        shutil.copytree(self._folder / "saved" / kind, folder)
        file = draw.choice(sorted(path for path in folder.rglob("*") if path.is_file()))
        content = file.read_bytes()
        if file.suffix == ".parquet":
            file.write_bytes(mutated_bytes(content, draw))
        else:
            file.write_bytes(mutated_text(content.decode(), draw))
        yield from draw.sample(
            [
                ("report", "changed", "-o", "made.html"),
                ("verify", "changed", "--no-repeat"),
                ("plot", "throughput", "changed", "-o", "made.svg"),
                ("export", "csv", "changed", "-o", "made"),
                ("compare", "changed", "saved/run"),
            ],
            2,
        )

    def _captured(self, draw: random.Random) -> Iterator[tuple[str, ...]]:
        (self._folder / "replay.pcapng").write_bytes(mutated_bytes(self._capture, draw))
        if draw.random() < 0.5:
            yield ("run", "replay.perhop.yaml", *_BRIEFLY)
        else:
            yield ("run", "edge.cfg", "--traffic", "replay.pcapng", *_BRIEFLY)

    def _table(self, draw: random.Random) -> Iterator[tuple[str, ...]]:
        if draw.random() < 0.3:
            (self._folder / "trace.csv").write_bytes(mutated_text(self._trace, draw))
            yield ("run", "trace.perhop.yaml", *_BRIEFLY)
        else:
            text = draw.choice([self._rates, PLAIN, NFDUMP, FLOWD, IPFIX])
            (self._folder / "traffic.csv").write_bytes(mutated_text(text, draw))
            yield ("run", "edge.cfg", "--traffic", "traffic.csv", *_BRIEFLY)
