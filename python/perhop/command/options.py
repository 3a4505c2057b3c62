"""Options that several commands share, each described once.

The docstring of a command describes its own options, and those of a type without a help here. Where an option
means something else in a command, the annotation there has a help of its own.
"""

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
Seed = Annotated[
    int | None,
    Parameter(
        validator=Number(gte=0, lt=2**64),
        help="Seed for all random streams; by default that of the scenario or the study.",
    ),
]
RoutesFile = Annotated[
    Path | None,
    Parameter(
        name="--routes",
        help="Of a folder of configurations: a CSV of routes (device,prefix,next_hop, or Batfish's answer to"
        " `routes`), which replace the routes that perhop computes for these devices.",
    ),
]
Replications = Annotated[int | None, Parameter(validator=Number(gte=1, lt=2**32))]
SnapLength = Annotated[int | None, Parameter(validator=Number(gte=1, lte=LARGEST_FRAME))]
Threads = Annotated[
    int | None,
    Parameter(
        validator=Number(gte=1, lte=1024),
        help="Number of replications that run at the same time; the results do not depend on it.",
    ),
]
Output = Annotated[Path | None, Parameter(name=["--output", "-o"])]
Force = Annotated[
    bool,
    Parameter(
        negative=(),
        help="Where the output folder holds anything but an earlier result of the same kind, move it aside"
        " as DIR.old-1, DIR.old-2 and so on, in place of refusing.",
    ),
]
Json = Annotated[bool, Parameter(name="--json", help="Print one JSON document in place of text.")]
#: Whether a report shows the classes of replies.
Back = Annotated[
    bool, Parameter(name="--back", negative=(), help="Show the classes of replies, as '(back)', too.")
]
Quiet = Annotated[bool, Parameter(name=["--quiet", "-q"], help="Show neither progress nor results.")]
#: Where a run is shown while it goes on.
View = Literal["terminal", "web"]
Watch = Annotated[View | None, Parameter(name="--watch")]
Opened = Annotated[bool, Parameter(name="--open", negative="--no-open")]
Speed = Annotated[str | None, Parameter(name="--speed", allow_leading_hyphen=True)]
Overrides = Annotated[
    list[str] | None,
    Parameter(
        name="--set", help="Replace a value of the scenario, as path=value; may be given several times."
    ),
]


Interface = Annotated[
    str | None,
    Parameter(name="--interface", help="Of a router configuration: the interface that packets leave by."),
]
Platform = Annotated[
    str | None,
    Parameter(
        name="--platform",
        help="Of a router configuration: the platform whose rules apply, `linux` for tc; by default "
        "recognized.",
    ),
]
Assume = Annotated[
    list[str] | None,
    Parameter(
        name="--assume",
        negative=(),
        help="Of a router configuration: what a class-map matches, as in 'VOICE = dscp ef', in place of "
        "its own criteria; may be given several times.",
    ),
]
Traffic = Annotated[
    Path | None,
    Parameter(
        name="--traffic",
        help="Of a router configuration: the load in place of a guess, as `perhop run --help` describes it.",
    ),
]
Over = Annotated[str | None, Parameter(name="--over")]
Load = Annotated[
    LoadLevel | None,
    Parameter(
        name="--load",
        help="Of a router configuration: each class is offered 70 % (quiet), 90 % (busy, the default) or "
        "120 % (overload) of what it is promised.",
    ),
]
Asserted = Annotated[list[str] | None, Parameter(name="--assert", negative=())]
CodecName = Annotated[str | None, Parameter(name="--codec")]
JitterBuffer = Annotated[str | None, Parameter(name="--jitter-buffer")]

Duration = Annotated[
    str | None, Parameter(help="Simulated time with its unit, as in 60s; by default the scenario's own.")
]
Policy = Annotated[str | None, Parameter(help="With --rate: the policy, where several are attached nowhere.")]
Wide = Annotated[
    bool,
    Parameter(negative=(), help="Show every column of the table, in several parts on a narrow terminal."),
]
Against = Annotated[
    str | None,
    Parameter(
        help="Of a sweep and for share: the path of the parameter on the x axis, as for `perhop run "
        "--set`; by default the first with several values."
    ),
]
Series = Annotated[
    str | None,
    Parameter(
        help="Of a sweep: the parameter whose values have a color each, in one chart in place of one for "
        "each value."
    ),
]
Classes = Annotated[
    list[str] | None,
    Parameter(
        name="--class",
        negative=(),
        help="Of a sweep: a class to plot; may be given several times; by default all.",
    ),
]
LogY = Annotated[bool, Parameter(negative=(), help="Of a sweep: plot the metric on a logarithmic axis.")]
Scheduler = Annotated[
    str | None,
    Parameter(
        help="With --engine dask: the address of the cluster's scheduler, as tls://10.0.0.1:8786; without,"
        " a cluster within this process is started and ended."
    ),
]


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
