"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter, Token
from cyclopts.validators import Number

from perhop.capturing import LARGEST_FRAME
from perhop.configuration import LoadLevel
from perhop.errors import InvalidInputError
from perhop.pacing import MAX, Pace, speed_of

# How files of scenarios end, after the name that people use.
_SCENARIO_SUFFIX = ".perhop.yaml"


def found_file(given: Path) -> Path:
    """Return the file that is meant: `first` is `first.perhop.yaml` where there is no file `first`."""
    whole = given.with_name(given.name + _SCENARIO_SUFFIX) if given.name else given
    return whole if not given.exists() and whole.is_file() else given


def _found(type_: object, tokens: Sequence[Token]) -> Path:
    return found_file(Path(tokens[0].value))


ScenarioFile = Annotated[Path, Parameter(converter=_found)]
Seed = Annotated[int | None, Parameter(validator=Number(gte=0, lt=2**64))]
Replications = Annotated[int | None, Parameter(validator=Number(gte=1, lt=2**32))]
SnapLength = Annotated[int | None, Parameter(validator=Number(gte=1, lte=LARGEST_FRAME))]
Threads = Annotated[int | None, Parameter(validator=Number(gte=1, lte=1024))]
Output = Annotated[Path | None, Parameter(name=["--output", "-o"])]
Force = Annotated[bool, Parameter(negative=())]
Json = Annotated[bool, Parameter(name="--json")]
#: Whether a report shows the classes of replies.
Back = Annotated[bool, Parameter(name="--back", negative=())]
Quiet = Annotated[bool, Parameter(name=["--quiet", "-q"])]
#: Where a run is shown while it goes on.
View = Literal["terminal", "web"]
Watch = Annotated[View | None, Parameter(name="--watch")]
Opened = Annotated[bool, Parameter(name="--open", negative="--no-open")]
Speed = Annotated[str | None, Parameter(name="--speed", allow_leading_hyphen=True)]
Overrides = Annotated[list[str] | None, Parameter(name="--set")]


Interface = Annotated[str | None, Parameter(name="--interface")]
Platform = Annotated[str | None, Parameter(name="--platform")]
Assume = Annotated[list[str] | None, Parameter(name="--assume", negative=())]
Traffic = Annotated[Path | None, Parameter(name="--traffic")]
Over = Annotated[str | None, Parameter(name="--over")]
Load = Annotated[LoadLevel | None, Parameter(name="--load")]
Asserted = Annotated[list[str] | None, Parameter(name="--assert", negative=())]
CodecName = Annotated[str | None, Parameter(name="--codec")]
JitterBuffer = Annotated[str | None, Parameter(name="--jitter-buffer")]


def pace_of(speed: str | None, watch: View | None) -> Pace:
    """Return the pace of `--speed`; raises `InvalidInputError`."""
    if speed is not None and watch is None:
        raise InvalidInputError("--speed needs --watch", "only what is watched goes by a clock")
    return Pace(MAX if speed is None else speed_of(speed))


def assumptions(given: list[str] | None) -> dict[str, str]:
    """Return `CLASS = CRITERIA` arguments as a mapping."""
    found = {}
    for argument in given or []:
        name, equals, criteria = (part.strip() for part in argument.partition("="))
        if not (name and equals and criteria):
            raise InvalidInputError(
                f"--assume: expected CLASS = CRITERIA, got `{argument}`",
                "for example --assume 'VOICE = dscp ef'",
            )
        found[name] = criteria
    return found


def pairs(
    overrides: list[str] | None, option: str = "--set", example: str = "duration=60s"
) -> dict[str, str]:
    """Return `path=value` arguments of an option as a mapping."""
    changes = {}
    for override in overrides or []:
        path, equals, value = override.partition("=")
        if not equals or not path:
            raise InvalidInputError(
                f"{option}: expected PATH=VALUE, got `{override}`",
                f"for example {option} {example}",
            )
        changes[path] = value
    return changes


def changes(overrides: list[str] | None, duration: str | None) -> dict[str, str]:
    """Return the changes of `--set` and `--duration` by path."""
    return pairs(overrides) | ({} if duration is None else {"duration": duration})


def on_hosts(option: str, given: list[str] | None, hosts: Iterable[str]) -> dict[str, str]:
    """Return `HOST=value` arguments as a mapping; a value without a host applies to all hosts."""
    there = list(hosts)
    found: dict[str, str] = {}
    for argument in given or []:
        host, equals, value = argument.partition("=")
        if not equals:
            found.update(dict.fromkeys(there, argument))
        elif host not in there:
            raise InvalidInputError(f"{option}: there is no host `{host}`", f"hosts: {', '.join(there)}")
        else:
            found[host] = value
    return found
