"""`perhop run --watch`: drawn in a terminal, without an effect on the results."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import shlex
import shutil
import signal
import struct
import termios
from collections.abc import Sequence
from pathlib import Path

import pytest

import perhop
from conftest import ROOT, Command, command_line
from perhop.command.watching import View, heights
from perhop.running import QueueState, Snapshot

EXAMPLE = ROOT / "examples" / "wred.perhop.yaml"
BLOCKS = "▁▂▃▄▅▆▇█"


def in_a_terminal(
    arguments: list[str | Path],
    *,
    columns: int,
    rows: int,
    typed: Sequence[tuple[str, str | int]] = (),
    line: Sequence[str] = (),
    **environment: str,
) -> tuple[int, str]:
    """Run the command line in a pseudo-terminal and return its exit code and all that it drew.

    `line` replaces the command line. `typed` are pairs of a text and a key or signal, which is sent once the
    text is drawn; earlier drawings do not count.
    """
    child, terminal = pty.fork()
    if child == 0:
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        # If a test runner runs under nohup, its children ignore SIGHUP.
        signal.signal(signal.SIGHUP, signal.SIG_DFL)
        line = [*line] or command_line(arguments)
        if given := environment.get("PERHOP_TEST_INPUT"):
            os.dup2(os.open(given, os.O_RDONLY), 0)
        # Some test runners set a width for their children, which would override the terminal's own.
        inherited = {key: value for key, value in os.environ.items() if key not in ("COLUMNS", "LINES")}
        os.execve(line[0], line, inherited | {"TERM": "xterm-256color", "LANG": "C.UTF-8"} | environment)
    drawn, since, left = b"", 0, list(typed)
    before = termios.tcgetattr(terminal)
    while True:
        try:
            part = os.read(terminal, 65536)
        except OSError:  # the error of Linux after the other side closed
            break
        if not part:
            break
        drawn += part
        if left and re.search(left[0][0].encode(), drawn[since:]):
            _, key = left.pop(0)
            since = len(drawn)
            if isinstance(key, str):
                os.write(terminal, key.encode())
            else:
                os.kill(child, key)
    assert left == [], drawn.decode()
    # The settings of the terminal on this side remain after the other side closed.
    assert termios.tcgetattr(terminal) == before
    os.close(terminal)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), drawn.decode()


def test_queues_and_shares_are_drawn_in_place() -> None:
    code, drawn = in_a_terminal(
        ["run", EXAMPLE, "--watch", "--duration", "1500s", "--replications", "1", "--json"],
        columns=100,
        rows=30,
    )
    assert code == 0, drawn
    frames = re.split(r"Weighted RED: ", drawn)
    seen = [frame for frame in frames if "edge->core af1" in frame]
    assert len(seen) >= 2, "it was looked at several times"
    row = next(line for line in seen[-1].splitlines() if "edge->core af1" in line)
    assert any(block in row for block in BLOCKS)
    assert re.search(r"\d+ packets", row)
    assert re.search(r"bursts.*100 %.*Mb/s", seen[-1].replace("\n", " "))
    assert "\x1b[?25l" in drawn, "the cursor is hidden,"
    assert drawn.rindex("\x1b[?25h") > drawn.rindex("█"), "and shown again in the end"
    # The last frame of the view remains, without the line of help, and the results follow.
    last = frames[-1]
    assert "1500 s simulated, 100 % of the run" in drawn
    assert "space: pause" in seen[0] and "space: pause" not in last
    screen = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", drawn)
    summary = json.loads(screen[screen.rindex('{"schema_version"') :])
    plain = perhop.run(EXAMPLE, duration="1500s")
    assert summary["classes"] == plain.summary["classes"]


def test_keys_pause_change_the_speed_choose_a_port_and_leave() -> None:
    code, drawn = in_a_terminal(
        ["run", EXAMPLE, "--watch", "--speed", "1x", "--duration", "900s", "--replications", "1", "--json"],
        columns=100,
        rows=40,
        typed=[
            ("speed 1x", "+"),
            ("speed 2x", "+"),
            ("speed 5x", "-"),
            ("speed 2x", " "),
            ("paused", "\x1b[A"),
            ("paused", " "),
            ("speed 2x", "\t"),
            ("speed 2x", "x"),
            ("speed 2x", "q"),
        ],
    )
    assert code == 0, drawn
    # After `q`, the run continues without the view at full speed, with the same results.
    screen = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", drawn)
    summary = json.loads(screen[screen.rindex('{"schema_version"') :])
    assert summary == perhop.run(EXAMPLE, duration="900s").summary | {"verdicts": summary["verdicts"]}


def test_the_next_port_is_shown_alone() -> None:
    view = View({"name": "two", "measure": {}})
    view.add(Snapshot(1.0, [QueueState("a->b", "fifo", 1, 9), QueueState("b->a", "fifo", 2, 9)], {}))
    shown = []
    for _ in range(3):
        shown.append((view.port, view._busy(9)))
        view.next_port()
    assert shown == [
        (None, [("a->b", "fifo"), ("b->a", "fifo")]),
        ("a->b", [("a->b", "fifo")]),
        ("b->a", [("b->a", "fifo")]),
    ]
    assert view.port is None, "and then all of them again"


def test_a_long_run_takes_no_more_memory() -> None:
    view = View({"name": "long", "measure": {}})
    for second in range(1, 10_001):
        view.add(Snapshot(second, [QueueState("a->b", "fifo", second % 5000, 9)], {"all": second}))
    assert len(view.snapshots) < 2000
    assert len(view.queues["a->b", "fifo"]) == len(view.snapshots)
    assert max(view.queues["a->b", "fifo"]) == 4999, "the longest queue stays visible"
    assert view.snapshots[-1].time_s == 10_000


@pytest.mark.parametrize(("sent", "code"), [("\x03", 3), (signal.SIGTERM, 3), (signal.SIGHUP, 3)])
def test_signals_leave_the_terminal_as_it_was(sent: str | int, code: int) -> None:
    ended, drawn = in_a_terminal(
        ["run", EXAMPLE, "--watch", "--speed", "1x"], columns=90, rows=30, typed=[("speed 1x", sent)]
    )
    assert ended == code, drawn
    assert "\x1b[?25h" in drawn[drawn.rindex("\x1b[?25l") :], "the cursor is shown again"


def test_ctrl_z_restores_the_terminal_and_the_run_continues() -> None:
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("no shell with jobs")
    run = shlex.join(command_line(["run", EXAMPLE, "--watch", "--speed", "10x", "--json"]))
    script = f'set -m; {run}; echo "code $?"; stty -a; fg > /dev/null; echo "code $?"; stty -a'
    code, drawn = in_a_terminal(
        [], line=[bash, "--norc", "-c", script], columns=100, rows=30, typed=[("speed 10x", "\x1a")]
    )
    assert code == 0, drawn
    assert "code 148" in drawn, "stopped"
    assert len(re.findall(r"\sicanon.*?\secho\s", drawn, re.DOTALL)) == 2, "as it was, both times"
    assert "-icanon" not in drawn
    assert drawn.index("code 148") < drawn.index('{"schema_version"') < drawn.index("code 0")


def test_the_view_is_shown_without_keys(scenario: Path) -> None:
    # Standard input is a pipe, as if another program wrote the scenario.
    code, drawn = in_a_terminal(
        ["run", "-", "--watch", "--speed", "50x", "--json"],
        columns=90,
        rows=30,
        PERHOP_TEST_INPUT=str(scenario),
    )
    assert code == 0, drawn
    assert "speed 50x" in drawn
    assert "space: pause" not in drawn


def test_a_terminal_that_cannot_show_it_shows_results() -> None:
    code, drawn = in_a_terminal(
        ["run", EXAMPLE, "--watch", "--duration", "10s"], columns=100, rows=30, TERM="dumb"
    )
    assert code == 0
    assert "--watch needs a terminal" in drawn
    assert "bursts" in drawn


def test_without_a_terminal_the_run_goes_on(perhop: Command) -> None:
    ended = perhop("run", EXAMPLE, "--watch", "--duration", "10s", "--json")
    assert ended.code == 0
    assert "needs a terminal" in ended.err
    assert ended.json()["classes"]


def test_the_view_of_a_network_from_python() -> None:
    seen: list[Snapshot] = []
    results = perhop.run(EXAMPLE, duration="600s", replications=2, watch=seen.append)
    assert seen
    assert {(queue.port, queue.queue) for queue in seen[-1].queues} >= {("edge->core", "af1")}
    assert [snapshot.time_s for snapshot in seen] == sorted(snapshot.time_s for snapshot in seen)
    received = results.classes["throughput_bps"][0] * (600 - 5) / 8
    assert 0 < seen[-1].received_bytes["bursts"] <= received * (1 + 1e-9)
    assert results.classes.equals(perhop.run(EXAMPLE, duration="600s", replications=2).classes)


def test_a_view_fits_its_screen() -> None:
    from io import StringIO

    from rich.console import Console

    queues = [QueueState(f"router-{number}->core", "fifo", number, 1000 * number) for number in range(50)]
    view = View({"name": "many", "measure": {"warmup": "1s"}})
    view.add(Snapshot(2.0, queues, {"gold": 125_000, "silver": 375_000}))
    screen = Console(file=StringIO(), width=60, height=20, force_terminal=True, color_system=None)
    screen.print(view.drawn(screen))
    lines = screen.file.getvalue().splitlines()  # type: ignore[attr-defined]
    assert len(lines) < 20
    assert max(map(len, lines)) <= 60
    text = "\n".join(lines)
    assert "router-49->core" in text, "those that hold most are shown"
    assert "router-1->core" not in text
    # 125 kB in the second since the warm-up.
    assert re.search(r"gold .*25 %\s+1 Mb/s", text), text
    assert re.search(r"silver .*75 %\s+3 Mb/s", text), text


def test_lines_of_blocks() -> None:
    assert heights([0, 4, 8], 10) == "▁▄█"
    assert heights([0, 0], 10) == "▁▁"
    assert heights([*range(100)], 4) == "▂▄▆█", "the greatest of each stretch"
    assert heights([1, 1000], 2) == "▁█"


def test_a_narrow_terminal_shows_whole_numbers() -> None:
    """Twelve columns do not fit into 60 characters: several tables show them, each with the classes'
    names."""
    code, drawn = in_a_terminal(["run", EXAMPLE, "--duration", "10s", "-q"], columns=60, rows=30)
    assert (code, drawn) == (0, "")
    _, drawn = in_a_terminal(
        ["run", EXAMPLE, "--duration", "10s", "--replications", "1"], columns=60, rows=30, NO_COLOR="1"
    )
    table = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", drawn[drawn.index("Weighted RED: 10 s simulated") :])
    assert "…" not in table
    lines = [line.rstrip() for line in table.splitlines()]
    assert max(map(len, lines)) <= 60
    assert sum(line.lstrip().startswith("bursts") for line in lines) >= 2
    offered = perhop.run(EXAMPLE, duration="10s").summary["classes"][0]["offered_packets"]["mean"]
    assert f"{offered:,.0f}" in table
