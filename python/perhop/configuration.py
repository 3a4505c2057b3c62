"""Router configurations with the state of every line, as stored in `configuration.json` with results."""

from __future__ import annotations

import errno
import json
import os
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypedDict, cast

from perhop import _core
from perhop.errors import InvalidInputError
from perhop.inputs import ROUTER, SCENARIO, read_input, read_rest, regular_file, require_regular, unreadable
from perhop.shape import OrNull
from perhop.tables import Cell, Column, Table, notebook

if TYPE_CHECKING:
    from perhop.core_types import RecognizedPlatform, RouterDiagnostic, RouterReport
    from perhop.saved import Saved
    from perhop.schema_types import RouterConfiguration

#: The file: a list of `{"file", "lines": [{"line", "text", "state", "message"}]}`.
FILE = "configuration.json"
_SHAPE = [{"file": str, "lines": [{"line": int, "text": str, "state": str, "message": OrNull(str)}]}]
# States that need no attention.
_QUIET = ("modelled", "irrelevant")
# Longer configurations are collapsed in a report.
_SHORT = 40

# The top-level keys of perhop's own files; words of policies occur in both formats. The playground has the
# same rule (crates/perhop-web/src/check.rs).
_SCENARIO = re.compile(r"^(perhop|policies)\s*:", re.MULTILINE)
#: The extent of a report: with the resulting policies, with every line, or only lines with findings.
Detail = Literal["policies", "lines", "remarks"]
#: The offered load of each class relative to its guaranteed rate: 70, 90 and 120 %.
LoadLevel = Literal["quiet", "busy", "overload"]
#: The suffixes of files that are configurations regardless of their content.
ROUTER_SUFFIXES = (".cfg", ".tc")
#: The name of standard input.
STANDARD_INPUT = Path("-")


def router_text(file: Path) -> str | None:
    """Return the text of `file` if its name or its content is that of a router configuration, else `None`.

    `-` is standard input, which can still be read afterwards.
    """
    if file.suffix in (".yaml", ".yml"):
        require_regular(file, SCENARIO)
        return None
    try:
        content = _peeked() if file == STANDARD_INPUT else _content(file)
    except OSError as error:
        if file.suffix in ROUTER_SUFFIXES or error.errno == errno.EINVAL:
            raise unreadable(file, error) from error
        # The reader of scenarios then reports the error.
        return None
    # A scenario is one object; the output of `tc -j` is a list of objects.
    if file.suffix == ".json" and not content.lstrip().startswith(b"["):
        return None
    text = _core.router_text(content)
    is_router = file.suffix in ROUTER_SUFFIXES or (
        not _SCENARIO.search(text) and _core.is_router_configuration(text)
    )
    return text if is_router else None


def read(file: Path) -> str:
    """Return the text of a router configuration; raises `UnreadableFileError`."""
    return _core.router_text(read_input(file, ROUTER))


def _content(file: Path) -> bytes:
    """Return the content of a file that may be a configuration; raises `OSError`, `UnreadableFileError`."""
    with regular_file(file) as stream:
        return read_rest(stream, ROUTER, file)


def checked(text: str, platform: str | None = None, assume: Mapping[str, str] | None = None) -> RouterReport:
    """Parse a router configuration by the rules of `platform` and with assumed class-maps.

    Raises:
        InvalidInputError: perhop does not simulate the system, there is no such platform, or an assumption is
            invalid or names no class of the configuration.

    """
    report = examined(text, platform, assume)
    refuse_unsupported(report)
    return report


def examined(
    text: str,
    platform: str | None = None,
    assume: Mapping[str, str] | None = None,
    *,
    detail: Detail = "policies",
    hardware: Mapping[str, Any] | None = None,
) -> RouterReport:
    """Parse a configuration of any system; without policies if perhop does not simulate the system.

    The key `router`, by far the largest part, exists only with the `detail` `policies`. `remarks` omits lines
    that need no attention. `hardware` is the `platform` of the configuration in a scenario.

    Raises:
        InvalidInputError: the platform does not exist, or an assumption is invalid or names no class.

    """
    properties = json.dumps(dict(hardware)) if hardware else None
    try:
        report = _checked(text, platform, tuple((assume or {}).items()), detail, properties)
        found: RouterReport = json.loads(report)
    except ValueError as error:
        raise refused_option(error) from error
    return found


def refused_option(error: ValueError) -> InvalidInputError:
    """Return the error for an option that the extension module refuses, by message and help."""
    message, help = (*error.args, None)[:2]
    return InvalidInputError(str(message), help)


def configured(
    source: RouterConfiguration, platform: str | None, assume: Mapping[str, str] | None
) -> RouterConfiguration:
    """Return a router's `configuration` of a scenario with a platform and assumptions added."""
    made: dict[str, Any] = {**source}
    if platform is not None:
        made["platform"] = {"profile": platform}
    if assume:
        made["assume"] = dict(assume)
    return cast("RouterConfiguration", made)


def examined_as(text: str, configuration: RouterConfiguration, detail: Detail = "policies") -> RouterReport:
    """Parse the text of a configuration in a scenario, of any system."""
    keys: Mapping[str, Any] = configuration
    return examined(text, None, keys.get("assume"), detail=detail, hardware=keys.get("platform"))


@lru_cache(maxsize=4)
def _checked(
    text: str,
    platform: str | None,
    assume: tuple[tuple[str, str], ...],
    detail: Detail,
    hardware: str | None,
) -> str:
    options: dict[str, Any] = {"detail": detail}
    if platform is not None:
        options["platform"] = platform
    if assume:
        options["assume"] = dict(assume)
    if hardware:
        options["hardware"] = hardware
    return _core.check_router(text, **options)


def reading_platform(text: str, platform: str | None) -> str | None:
    """Return `platform` for reading a text; `None` if the platform has another language than the text."""
    if platform is None:
        return None
    try:
        return _core.reading_platform(text, platform)
    except ValueError as error:
        raise refused_option(error) from error


#: The rule that refuses a system.
NOT_SUPPORTED = "platform-not-supported"


def platform_words(platform: RecognizedPlatform | None) -> str | None:
    """Return the platform and the reason for it: `platform: hqf (line 3: version 15.1)`."""
    if platform is None:
        return None
    name = platform["profile"] if platform["supported"] else f"{platform['system']}, not supported"
    because = "; ".join(f"line {line['line']}: {line['text'].strip()}" for line in platform["because"])
    if platform["chosen"]:
        reason = "--platform"
    elif not because:
        reason = "assumed, because no line has the version; --platform sets it"
    elif platform["certain"]:
        reason = because
    else:
        reason = f"likely from {because}; --platform sets it"
    words = f"platform: {name} ({reason})"
    rules = platform.get("memory_rules", {})
    return f"{words}; memory: {evidence_words(rules)}" if rules else words


def evidence_words(rules: Mapping[str, Sequence[str]]) -> str:
    """Return the names of rules by their evidence; for the strongest kinds, only the number of rules."""
    certain = [kind for kind in ("documented", "printed", "measured") if rules.get(kind)]
    doubtful = [kind for kind in ("inferred", "recalled") if rules.get(kind)]
    words = [f"{len(rules[kind])} rules {kind}" for kind in certain]
    return "; ".join([*words, *(f"{kind}: {', '.join(rules[kind])}" for kind in doubtful)])


def is_supported(report: RouterReport) -> bool:
    """Whether perhop simulates the device of a configuration; true for a report without a platform."""
    platform = report.get("platform")
    return platform is None or platform["supported"]


def refuse_unsupported(report: RouterReport) -> None:
    """Raise `InvalidInputError` for a configuration of a system that perhop does not simulate."""
    if not is_supported(report):
        (refusal,) = (
            diagnostic for diagnostic in report["diagnostics"] if diagnostic["rule"] == NOT_SUPPORTED
        )
        raise InvalidInputError(refusal["message"], refusal["router"])


#: The prefix of rules about addresses, which do not concern policies.
_NOT_OF_POLICIES = "address-"


def policy_errors(report: RouterReport) -> list[RouterDiagnostic]:
    """Return the errors that affect policies of interfaces: perhop does not run these interfaces."""
    return [
        diagnostic
        for diagnostic in report["diagnostics"]
        if diagnostic["severity"] == "error" and diagnostic["interfaces"]
        if not diagnostic["rule"].startswith(_NOT_OF_POLICIES)
    ]


def folded(name: str) -> str:
    """Return the name of an interface in the form for comparisons."""
    return name.lower().replace(" ", "")


def is_short_for(short: str, name: str) -> bool:
    """Whether `short` is an abbreviation of `name`: the same numbers after the beginning of the word."""
    parts = [re.fullmatch(r"([a-z-]+)(.*)", folded(word)) for word in (short, name)]
    if not parts[0] or not parts[1]:
        return folded(short) == folded(name)
    return parts[1][1].startswith(parts[0][1]) and parts[0][2] == parts[1][2]


def meant(short: str, names: Iterable[str]) -> list[str]:
    """Return the names that `short` means: the equal name, otherwise all names that it abbreviates."""
    known = list(names)
    equal = [name for name in known if name.lower() == short.lower()]
    return equal or [name for name in known if is_short_for(short, name)]


def _peeked() -> bytes:
    """Return the content of standard input and leave it there for the next reader."""
    descriptor = sys.__stdin__.fileno() if sys.__stdin__ else 0
    with os.fdopen(os.dup(descriptor), "rb") as given:
        content = read_rest(given, SCENARIO, "standard input")
    import tempfile  # lazy: only for standard input

    with tempfile.TemporaryFile() as again:
        again.write(content)
        again.seek(0)
        os.dup2(again.fileno(), descriptor)
    return content


class Line(TypedDict):
    """A line of a router configuration with its state and a message or `None`."""

    line: int
    text: str
    state: str
    message: str | None


@dataclass(frozen=True)
class Configuration:
    """A router configuration with the state of each line."""

    file: str
    lines: list[Line]

    @classmethod
    def read(cls, file: str | os.PathLike[str]) -> Configuration:
        """Read a router configuration and classify each line; raises `UnreadableFileError`."""
        path = Path(file)
        found = examined(read(path))
        wrong: dict[int, list[str]] = {}
        for diagnostic in found["diagnostics"]:
            wrong.setdefault(diagnostic["line"], []).append(
                f"{diagnostic['severity']}: {diagnostic['message']}; {diagnostic['router']}"
            )
        lines: list[Line] = [
            {
                "line": line["number"],
                "text": line["text"],
                "state": line["state"].replace("-", " "),
                "message": "; ".join([*wrong.get(line["number"], []), *filter(None, [line.get("note")])])
                or None,
            }
            for line in found["lines"]
        ]
        return cls(path.name, lines)

    def _repr_html_(self) -> str:
        """Show every line with its state in a notebook, in the order of the file."""
        heads = [Column("line", numeric=True), Column("text"), Column("state"), Column("")]
        rows = [
            [
                Cell(str(line["line"])),
                Cell(line["text"].strip()),
                Cell(line["state"]),
                Cell(line["message"] or ""),
            ]
            for line in self.lines
        ]
        counts = f"{len(rows)} lines, {self.remarks} to review"
        return notebook(Table(f"{self.file}: {counts}", heads, rows))

    @property
    def remarks(self) -> int:
        """The number of lines that need attention."""
        return sum(line["state"].lower() not in _QUIET for line in self.lines)

    @property
    def open(self) -> bool:
        """Whether the configuration is short enough to be shown expanded."""
        return len(self.lines) <= _SHORT


def kept(routers: Iterable[Path]) -> str | None:
    """Return the content of `configuration.json` for router configuration files; `None` without files."""
    found = [vars(Configuration.read(file)) for file in routers]
    return json.dumps(found, ensure_ascii=False, indent=2) + "\n" if found else None


def configurations(saved: Saved) -> list[Configuration]:
    """Return the router configurations stored with results."""
    found = saved.json(FILE, _SHAPE) if FILE in saved else []
    return [Configuration(entry["file"], entry["lines"]) for entry in found]
