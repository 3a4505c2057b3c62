"""Valid texts and bytes, damaged at random."""

from __future__ import annotations

import random
import re
import struct
from collections.abc import Callable

# Replacements of a value or a line.
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
    match = draw.choice(found)
    return text[: match.start()] + draw.choice(_PIECES) + text[match.end() :]


def _number(text: str, draw: random.Random) -> str:
    found = list(re.finditer(r"\d+", text))
    if not found:
        return text
    match = draw.choice(found)
    number = int(match[0][:30])
    other = draw.choice([number * 1000, number * 10**9, -number, number + 1, 0, 2**64, number // 2])
    return text[: match.start()] + str(other) + text[match.end() :]


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
    """Change bytes in one to eight places: flip bits, insert words, remove or repeat parts, cut the end."""
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
