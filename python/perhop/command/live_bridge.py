"""`perhop live bridge`."""

from __future__ import annotations

import json as json_text
import shutil
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

from cyclopts import Parameter

from perhop.command.options import Json, Quiet
from perhop.command.terminal import console, print_json
from perhop.errors import Exit


def bridge(
    *,
    policy: Path,
    in_: Annotated[str, Parameter(name="--in")],
    out: str,
    name: str | None = None,
    rate: str | None = None,
    both: bool = False,
    json: Json = False,
    quiet: Quiet = False,
) -> Exit:
    """Put a policy between two interfaces of this machine, and back, until Ctrl-C.

    What comes in at one interface leaves by the other, through the policy's conditioners and queues. Frames
    keep their addresses, and what is not IP passes at once. `perhop live top` shows the queues meanwhile.

    Parameters
    ----------
    policy
        A router's configuration (Cisco IOS), or a file with policies.
    in_
        The interface by which packets come that the policy is for, as DEVICE, or DEVICE=INTERFACE where a
        router's configuration has several interfaces.
    out
        The interface by which they leave, through the policy's queues; as for --in.
    name
        Which policy of a file with several.
    rate
        The rate at which packets leave by --out, as 10Mb/s: where none is set, queues hardly ever fill.
        By default what the router's configuration says.
    both
        Let a file's policy work on the way back too, at the same rate.
    json
        Print the counters as one JSON document in the end.
    quiet
        Show nothing.

    """
    from perhop import _core
    from perhop.command.live_table import queue_table, rows
    from perhop.live import bridging, rights
    from perhop.live.cleaning import clean
    from perhop.live.owner import PREFIX, Owner
    from perhop.live.state import State

    inner, outer = bridging.Side.of(in_), bridging.Side.of(out)
    configuration = bridging.configuration(policy, inner, outer, name=name, rate=rate, both=both)
    bridging.require([inner.device, outer.device])
    rights.require("interfaces of this machine")
    clean()
    state = State(
        Owner.current(), f"bridge {inner.device} - {outer.device}", sockets={"bridge": "bridge.sock"}
    )
    state.folder.mkdir(parents=True)
    try:
        with (
            TemporaryDirectory(prefix=f"{PREFIX}{state.owner.tag}-") as files,
            bridging.bare([inner.device, outer.device]) as state.offloads,
        ):
            state.save()
            result = Path(files) / "bridge.json"
            if not quiet:
                print(f"bridging {inner.device} and {outer.device} until Ctrl-C", file=sys.stderr, flush=True)
            _core.live_bridge(
                json_text.dumps(
                    configuration
                    | {"control": str(state.folder / state.sockets["bridge"]), "result": str(result)}
                )
            )
            report = json_text.loads(result.read_text(encoding="utf-8"))
    finally:
        shutil.rmtree(state.folder, ignore_errors=True)
    if json:
        print_json({"schema_version": 1, "bridge": report})
    elif not quiet:
        console().print(queue_table(state.scenario, list(rows({"bridge": report}))))
        for doubt in report["doubts"]:
            print(f"note: {doubt}")
    return Exit.OK
