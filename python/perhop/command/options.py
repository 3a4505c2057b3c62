"""Options that several commands share, each described once.

The docstring of a command describes its own options, and the shared options that have no help here. An option
with a special meaning in one command has its help in the annotation there.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Literal

from perhop.command.parameter import Number, Parameter
from perhop.configuration import LoadLevel
from perhop.errors import InvalidInputError
from perhop.limits import LARGEST_FRAME
from perhop.pacing import MAX, Pace, speed_of

# Suffix of scenario files; users may leave it out.
_SCENARIO_SUFFIX = ".perhop.yaml"


def found_file(given: Path) -> Path:
    """Return `given`, or `given.perhop.yaml` if only that file exists."""
    whole = given.with_name(given.name + _SCENARIO_SUFFIX) if given.name else given
    return whole if not given.exists() and whole.is_file() else given


def in_order(source: Path, name: str | None) -> tuple[Path, str | None]:
    """Return file and name, which may have the order of a device: `show ... NAME FILE`."""
    if name is not None and not source.exists() and found_file(Path(name)).exists():
        return found_file(Path(name)), str(source)
    return source, name


def _existing_scenario(text: str) -> Path:
    return found_file(Path(text))


ScenarioFile = Annotated[Path, Parameter(converter=_existing_scenario)]
Seed = Annotated[
    int | None,
    Parameter(
        validator=Number(gte=0, lt=2**64),
        help="Seed of all random streams. Default: the seed in the scenario or the study.",
    ),
]
RoutesFile = Annotated[
    Path | None,
    Parameter(
        name="--routes",
        help="For a folder of configurations: a CSV of routes (device,prefix,next_hop, or Batfish's answer to"
        " `routes`), or the output of `show ip route` as a file or a folder of files. These routes replace"
        " those that perhop computes for the devices.",
    ),
]
Replications = Annotated[int | None, Parameter(validator=Number(gte=1, lt=2**32))]
SnapLength = Annotated[int | None, Parameter(validator=Number(gte=1, lte=LARGEST_FRAME))]
Threads = Annotated[
    int | None,
    Parameter(
        validator=Number(gte=1, lte=1024),
        help="Number of threads, by default one for each processor. The threads run replications, and parts"
        " of one network if that is faster. The number does not change the results.",
    ),
]
Output = Annotated[Path | None, Parameter(name=["--output", "-o"])]
Force = Annotated[
    bool,
    Parameter(
        negative=(),
        help="If the output folder has files other than a result of the same kind, rename it to DIR.old-1 "
        "(DIR.old-2 and so on) and write a new one. Without --force, such files are an error.",
    ),
]
Json = Annotated[bool, Parameter(name="--json", help="Print one JSON document instead of text.")]
#: Whether a report shows the classes of replies.
Back = Annotated[
    bool, Parameter(name="--back", negative=(), help="Also show the classes of replies, marked '(back)'.")
]
Quiet = Annotated[bool, Parameter(name=["--quiet", "-q"], help="Show no progress and no results.")]
#: The place of the live view of a run: the terminal, or a page in the browser.
View = Literal["terminal", "web"]
Watch = Annotated[View | None, Parameter(name="--watch")]
Opened = Annotated[bool, Parameter(name="--open", negative="--no-open")]
Speed = Annotated[str | None, Parameter(name="--speed", allow_leading_hyphen=True)]
Overrides = Annotated[
    list[str] | None,
    Parameter(
        name="--set", help="Override a value of the scenario, as path=value. May be given several times."
    ),
]


Interface = Annotated[
    str | None,
    Parameter(name="--interface", help="For router configurations: the output interface."),
]
Platform = Annotated[
    str | None,
    Parameter(
        name="--platform",
        help="For router configurations: the platform whose rules apply; `linux` for tc. Default: detected "
        "from the configuration.",
    ),
]
Assume = Annotated[
    list[str] | None,
    Parameter(
        name="--assume",
        negative=(),
        help="For router configurations: criteria that replace those of a class-map, for example "
        "'VOICE = dscp ef'. May be given several times.",
    ),
]
Traffic = Annotated[
    Path | None,
    Parameter(
        name="--traffic",
        help="For router configurations: file with the offered load; `perhop run --help` lists the formats.",
    ),
]
Over = Annotated[str | None, Parameter(name="--over")]
Load = Annotated[
    LoadLevel | None,
    Parameter(
        name="--load",
        help="For router configurations: offered load of each class, as a fraction of its guaranteed rate: "
        "quiet (70 %), busy (90 %, the default) or overload (120 %).",
    ),
]
Asserted = Annotated[list[str] | None, Parameter(name="--assert", negative=())]
CodecName = Annotated[str | None, Parameter(name="--codec")]
JitterBuffer = Annotated[str | None, Parameter(name="--jitter-buffer")]

Duration = Annotated[
    str | None, Parameter(help="Simulated time, for example 60s. Default: the duration in the scenario.")
]
Policy = Annotated[
    str | None, Parameter(help="With --rate: the policy, if the file has several without an interface.")
]
Wide = Annotated[
    bool,
    Parameter(
        negative=(), help="Show all columns of the table; a narrow terminal shows them in several parts."
    ),
]
Against = Annotated[
    str | None,
    Parameter(
        help="For sweeps and share: path of the parameter on the x axis, as for `perhop run --set`. "
        "Default: the first parameter with several values."
    ),
]
Series = Annotated[
    str | None,
    Parameter(
        help="For sweeps: a parameter whose values become curves in one chart, each with its color. By "
        "default each value has its own chart."
    ),
]
Classes = Annotated[
    list[str] | None,
    Parameter(
        name="--class",
        negative=(),
        help="For sweeps: a class to plot. May be given several times. Default: all.",
    ),
]
LogY = Annotated[bool, Parameter(negative=(), help="For sweeps: use a logarithmic y axis.")]
Scheduler = Annotated[
    str | None,
    Parameter(
        help="With --engine dask: address of the cluster's scheduler, for example tls://10.0.0.1:8786. "
        "Default: start a cluster in this process, and stop it at the end."
    ),
]


def pace_of(speed: str | None, watch: View | None) -> Pace:
    """Return the pace of `--speed`; raises `InvalidInputError`."""
    if speed is not None and watch is None:
        raise InvalidInputError("--speed needs --watch", "runs without a view are never slowed down")
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
    known = list(hosts)
    found: dict[str, str] = {}
    for argument in given or []:
        host, equals, value = argument.partition("=")
        if not equals:
            found.update(dict.fromkeys(known, argument))
        elif host not in known:
            raise InvalidInputError(f"{option}: there is no host `{host}`", f"hosts: {', '.join(known)}")
        else:
            found[host] = value
    return found
