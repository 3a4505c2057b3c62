"""`perhop convert`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from perhop import convert as converting
from perhop.command.options import Interface, Json, Platform
from perhop.command.terminal import print_json, say_written
from perhop.errors import Exit
from perhop.printable import printable
from perhop.saving import replace_file

if TYPE_CHECKING:
    Language = str
else:
    #: The languages that front ends write, known when the program starts.
    Language = Literal[converting.TARGETS]


def convert(
    file: Path,
    /,
    *,
    to: Language,
    interface: Annotated[
        Interface, Parameter(help="Only the policies at this interface of a router; it may be abbreviated.")
    ] = None,
    policy: str | None = None,
    platform: Annotated[
        Platform,
        Parameter(
            help="The platform whose rules apply to a router configuration, or that IOS is written for."
        ),
    ] = None,
    rate: str | None = None,
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None,
    json: Json = False,
    strict: bool = False,
) -> Exit:
    """Write policies in another language, and list what it does not have.

    The list goes to standard error. Commands of Linux are for one interface.

    Parameters
    ----------
    file
        A router configuration, a scenario or a file with policies; - is standard input.
    to
        yaml (perhop's policies), ios (Cisco IOS) or tc (commands of Linux).
    policy
        Only the policy of this name.
    rate
        The rate of the interface, as 50Mb/s, in place of what the file says.
    output
        File to write; by default standard output.
    strict
        End with code 2 where the list is not empty.

    """
    found = converting.convert(file, to=to, interface=interface, policy=policy, platform=platform, rate=rate)
    if output is not None and output != Path("-"):
        replace_file(output, found.text)
        if not json:
            say_written(output)
    if json:
        print_json({"schema_version": 1, "to": to, **found.to_dict()})
    elif output is None or output == Path("-"):
        print(found.text, end="")
    if not json:
        for remark in found.remarks:
            print(printable(f"note: {remark}"), file=sys.stderr)
    return Exit.INVALID_INPUT if strict and found.remarks else Exit.OK
