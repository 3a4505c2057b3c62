"""`perhop live bridge`."""

from __future__ import annotations

import json as json_text
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from perhop.command.live_table import Row, queue_table, rows
from perhop.command.options import Json, Opened, Quiet, View, Watch
from perhop.command.parameter import Parameter
from perhop.command.terminal import console, print_json, print_note
from perhop.errors import Exit
from perhop.live import bridging, namespaces, rights
from perhop.live.children import Child
from perhop.live.claiming import claimed
from perhop.live.cleaning import clean
from perhop.live.control import read_counters
from perhop.live.inside import Place
from perhop.live.owner import Owner
from perhop.live.scratch import scratch
from perhop.live.state import State

if TYPE_CHECKING:
    from types import FrameType

    from perhop.command.live_view import PageView

_LOOK_EVERY_S = 1.0
_DIGITS = str.maketrans("", "", "0123456789")


def bridge(
    *,
    policy: Path,
    in_: Annotated[str, Parameter(name="--in")],
    out: str,
    name: str | None = None,
    rate: str | None = None,
    both: bool = False,
    watch: Watch = None,
    open_: Opened = True,
    json: Json = False,
    quiet: Quiet = False,
) -> Exit:
    """Apply a policy between two interfaces of this machine until Ctrl-C.

    Packets from one interface leave on the other, through the policy's conditioners and queues. Frames keep
    their addresses; frames other than IP bypass the policy. On a terminal it shows the queues once a second;
    otherwise it reports problems as they occur, and `perhop live top` shows the queues.

    Parameters
    ----------
    policy
        A router configuration, Linux tc commands, or a file of policies.
    in_
        The input interface, as DEVICE. For a router configuration with several interfaces: DEVICE=INTERFACE,
        where INTERFACE is the name in the configuration.
    out
        The output interface, which has the queues of the policy; written like --in.
    name
        Name of the policy, if the file has several.
    rate
        Rate of --out, for example 10Mb/s. Default: the rate in the router configuration. Without a rate,
        queues almost never fill.
    both
        Apply the policy of a file also in the reverse direction, at the same rate.
    watch
        Show the queues in the terminal (the default), or with --watch=web in the browser.
    open_
        With --watch=web: open the browser if there is a display; --no-open only prints the link.

    """
    inner, outer = bridging.Side.parse(in_), bridging.Side.parse(out)
    configuration = bridging.configuration(policy, inner, outer, name=name, rate=rate, both=both)
    bridging.require([inner.device, outer.device])
    rights.require("interfaces of this machine")
    with claimed([inner.device, outer.device]):
        report = _bridged(
            configuration, (inner.device, outer.device), watch, opened=open_, quiet=quiet, json=json
        )
    if json:
        print_json({"schema_version": 1, "bridge": report})
    elif not quiet:
        console().print(queue_table(_title(inner.device, outer.device), list(rows({"bridge": report}))))
        for warning in report["doubts"]:
            print(f"note: {warning}")
    return Exit.OK


def _title(inner: str, outer: str) -> str:
    return f"bridge {inner} - {outer}"


def _bridged(
    configuration: dict[str, Any],
    devices: tuple[str, str],
    watch: View | None,
    *,
    opened: bool,
    quiet: bool,
    json: bool,
) -> dict[str, Any]:
    """Forward between two interfaces until Ctrl-C and return the final counters."""
    clean()
    state = State(
        Owner.current(),
        _title(*devices),
        sockets={"bridge": "bridge.sock"},
        network=list(namespaces.current()),
    )
    state.make_folder()
    try:
        with (
            _page(state.scenario, opened=opened) if watch == "web" else nullcontext() as page,
            scratch() as files,
            bridging.bare(list(devices)) as state.offloads,
        ):
            state.save()
            result = files / "bridge.json"
            if not quiet:
                print(f"bridging {' and '.join(devices)} until Ctrl-C", file=sys.stderr, flush=True)
            control = state.folder / state.sockets["bridge"]
            given = configuration | {"control": str(control), "result": str(result)}
            with _display(state.scenario, control, page, quiet=quiet, json=json) as look:
                _forward(given, files, look)
            report: dict[str, Any] = json_text.loads(result.read_text(encoding="utf-8"))
            if page is not None:
                page.finish({"bridge": report}, "The bridge has ended; its counters are in the terminal.")
    finally:
        shutil.rmtree(state.folder, ignore_errors=True)
    return report


@contextmanager
def _page(title: str, *, opened: bool) -> Iterator[PageView]:
    from perhop.command.live_view import page_view  # lazy: a server, which only --watch=web needs

    with page_view(title, opened=opened) as page:
        page.start()
        yield page


@contextmanager
def _display(
    title: str, control: Path, page: PageView | None, *, quiet: bool, json: bool
) -> Iterator[Callable[[], None]]:
    """Yield the function that shows the queues on a terminal, otherwise each new warning on stderr."""
    reported: set[str] = set()

    def reports() -> Iterator[dict[str, Any]]:
        # The address is known only after the server listens.
        with suppress(OSError, ValueError):
            yield read_counters(control)

    def tell() -> None:
        for report in reports():
            # A warning whose numbers grow is reported once; the final report has the final numbers.
            for doubt in report["doubts"]:
                if (kind := doubt.translate(_DIGITS)) not in reported:
                    reported.add(kind)
                    print_note(f"note: {doubt}")

    if page is not None:
        page.poll({"bridge": control})
    if quiet:
        yield lambda: None
        return
    if json or not sys.stdout.isatty():
        yield tell
        return
    from rich.console import Group  # lazy: rich, until something is shown
    from rich.live import Live  # lazy: the same reason

    then, before = time.monotonic(), list[Row]()
    with Live(console=console(), auto_refresh=False, transient=True) as screen:

        def draw() -> None:
            nonlocal then, before
            for report in reports():
                now, rows_now = time.monotonic(), list(rows({"bridge": report}))
                table = queue_table(title, rows_now, before, now - then)
                notes = (f"note: {doubt}" for doubt in report["doubts"])
                screen.update(Group(table, *notes), refresh=True)
                then, before = now, rows_now

        yield draw


def _forward(configuration: dict[str, Any], files: Path, look: Callable[[], None]) -> None:
    """Forward until SIGINT or SIGTERM, and call `look` once a second.

    A separate process forwards and drops all rights; this process needs some rights to restore the
    interfaces.
    """
    text = files / "configuration.json"
    text.write_text(json_text.dumps(configuration), encoding="utf-8")
    place = Place(namespace=None, parent=os.getpid())
    bridge = Child("bridge", "the bridge", place, ["bridge", str(text)], files / "bridge.log")

    def end(number: int, frame: FrameType | None) -> None:
        bridge.request_end()

    before = {number: signal.signal(number, end) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        while bridge.process.poll() is None:
            with suppress(subprocess.TimeoutExpired):
                bridge.process.wait(timeout=_LOOK_EVERY_S)
            look()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        bridge.end_now()
        bridge.close()
    if bridge.code != 0:
        raise bridge.failure()
