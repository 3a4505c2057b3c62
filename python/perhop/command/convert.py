"""`perhop convert`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from perhop import convert as converting
from perhop.command.options import Interface, Json, Platform
from perhop.command.parameter import Parameter
from perhop.command.terminal import print_json, print_written
from perhop.errors import Exit
from perhop.printable import printable
from perhop.saving import replace_file

if TYPE_CHECKING:
    Language = str
else:
    #: The languages that front ends write, known when the program starts.
    Language = Literal[converting.TARGETS]


_WORDS = {
    "equal": "the converted policy treats all packets like the input (proved)",
    "differ": "the converted policy treats some packets differently",
    "not-decided": "not decided whether the converted policy treats all packets like the input",
}


def convert(
    file: Path,
    /,
    *,
    to: Language,
    interface: Annotated[
        Interface, Parameter(help="Convert only the policies of this interface; the name may be abbreviated.")
    ] = None,
    policy: str | None = None,
    platform: Annotated[
        Platform,
        Parameter(
            help="Platform of the router configuration that is read, or of the IOS lines that are written."
        ),
    ] = None,
    rate: str | None = None,
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None,
    json: Json = False,
    strict: bool = False,
) -> Exit:
    """Convert policies to another configuration language.

    Standard error lists the constructs that have no exact equivalent, and the lines that the device of the
    input refuses. The output lacks these lines, and the exit code is then 2. Linux commands are for one
    interface.

    Parameters
    ----------
    file
        A router configuration, a scenario or a file of policies; - reads standard input.
    to
        yaml (perhop's policies), ios (Cisco IOS), junos (Junos, MX series) or tc (Linux commands).
    policy
        Convert only the policy of this name.
    rate
        The rate of the interface, for example 50Mb/s, instead of the rate in the file.
    output
        File to write. Default: standard output.
    strict
        End with exit code 2 if anything cannot be converted exactly.

    """
    found = converting.convert(file, to=to, interface=interface, policy=policy, platform=platform, rate=rate)
    if output is not None and output != Path("-"):
        replace_file(output, found.text)
        if not json:
            print_written(output)
    if json:
        print_json({"schema_version": 1, "to": to, **found.to_dict()})
    elif output is None or output == Path("-"):
        print(found.text, end="")
    if not json:
        for line in found.refused:
            print(printable(f"error: {file}, {line}; the output lacks this part"), file=sys.stderr)
        for remark in found.remarks:
            print(printable(f"note: {remark}"), file=sys.stderr)
        for proof in found.proofs:
            print(printable(f"{proof.where}: {_WORDS[proof.proof['verdict']]}"), file=sys.stderr)
    return Exit.INVALID_INPUT if found.refused or (strict and found.remarks) else Exit.OK
