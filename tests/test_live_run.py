"""`perhop live run|up|top|exec|clean`: scenarios on real packets, and complete removal afterwards."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from conftest import Command, command_line, leftovers
from live_testbed import WITHIN_S, left_behind, needs_rights, own_run
from perhop.live import namespaces
from perhop.live.state import State, running

pytestmark = [needs_rights, own_run]

# The router's drops of 2.4 Mb/s do not depend on the timing of a busy machine: steady packets have priority,
# and the others get the rest of the line. If both shared a queue, late packets would meet another queue
# length than punctual ones.
SCENARIO = """\
perhop: 1
name: Live overload
duration: 2s
hosts: { source: {}, sink: {} }
routers: { router: {} }
links:
  - { between: [source, router], rate: 100Mb/s, delay: 1ms }
  - { between: [router, sink], rate: 1Mb/s, delay: 10ms, interfaces: { router: { output: steady-first } } }
policies:
  steady-first:
    queueing:
      scheduler: priority
      classes:
        - { name: steady, match: { dscp: ef }, share: { level: 0 } }
        - { name: rest, share: { level: 1 }, buffer: { tail-drop: { limit: 10 packets } } }
traffic:
  - name: steady
    from: source
    to: sink
    dscp: ef
    source: { cbr: { rate: 400kb/s, packet: { ip: 500B } } }
  - name: random
    from: source
    to: sink
    source: { poisson: { rate: 2Mb/s, packet: { ip: 1000B } } }
measure: { warmup: 500ms }
"""

PING = """
import socket, sys, time
udp = socket.socket(type=socket.SOCK_DGRAM)
if sys.argv[1] == "answer":
    udp.bind(("", 7))
    while True:
        data, sender = udp.recvfrom(2000)
        udp.sendto(data, sender)
udp.settimeout(0.2)
times = []
for attempt in range(50):
    began = time.monotonic()
    said = b"%100d" % attempt
    udp.sendto(said, (sys.argv[1], 7))
    try:
        while udp.recv(2000) != said: # the answer to an earlier one, late
            pass
    except TimeoutError:
        continue
    times.append(1000 * (time.monotonic() - began))
    if len(times) == 5:
        break
if times:
    print("milliseconds", min(times), flush=True)
"""


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    file = tmp_path / "live.perhop.yaml"
    file.write_text(SCENARIO)
    return file


@pytest.fixture
def ping(tmp_path: Path) -> str:
    file = tmp_path / "ping.py"
    file.write_text(PING)
    return f"{sys.executable} {file}"


@contextmanager
def started(*arguments: str | Path) -> Iterator[subprocess.Popen[str]]:
    """A running command line; killed if the test has not ended it."""
    process = subprocess.Popen(
        command_line(arguments), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()
        subprocess.run(command_line(["live", "clean"]), check=False, capture_output=True)


def find_testbed(process: subprocess.Popen[str]) -> State:
    """The testbed of a process, once all its forwarders answer."""
    until = time.monotonic() + WITHIN_S
    while time.monotonic() < until:
        for state in running():
            if state.owner.pid == process.pid and state.sockets:
                return state
        assert process.poll() is None, process.communicate()
        time.sleep(0.05)
    pytest.fail("there was no testbed")


def by_class(summary: dict[str, Any], metric: str) -> dict[str, float]:
    return {group["class"]: group[metric]["mean"] for group in summary["classes"]}


def test_results_have_the_tables_of_a_simulation(perhop: Command, scenario: Path) -> None:
    ended = perhop("live", "run", scenario, "--json", "-o", "out")
    assert ended.code == 0, ended.err
    live = ended.json()
    simulated = perhop("run", scenario, "--replications", "1", "--json").json()
    assert live["kind"] == "live"
    # The same seed, the same packets.
    assert by_class(live, "offered_packets") == pytest.approx(by_class(simulated, "offered_packets"), abs=3)
    for name, dropped in by_class(live, "dropped_percent").items():
        assert dropped == pytest.approx(by_class(simulated, "dropped_percent")[name], abs=5.0)
    assert set(live["fidelity"]) >= {"trustworthy", "warnings", "doubts"}
    from perhop import Results

    saved = Results.load(scenario.parent / "out")
    assert saved.summary == live
    assert {"classes", "flows", "ports"} <= set(saved.names)
    assert leftovers(scenario.parent) == []


def test_the_express_data_path_measures_the_same(perhop: Command, scenario: Path) -> None:
    ended = perhop("live", "run", scenario, "--socket", "af-xdp", "--real-time", "--json")
    if ended.code == 5:
        pytest.skip(ended.err.strip())
    assert ended.code == 0, ended.err
    simulated = perhop("run", scenario, "--replications", "1", "--json").json()
    for name, dropped in by_class(ended.json(), "dropped_percent").items():
        assert dropped == pytest.approx(by_class(simulated, "dropped_percent")[name], abs=5.0)


def test_the_printed_output(perhop: Command, scenario: Path) -> None:
    ended = perhop("live", "run", scenario, "--time-scale", "0.5")
    assert ended.code == 0, ended.err
    assert "Live overload" in ended.out and "steady" in ended.out
    assert ended.out.rstrip().splitlines()[-1].startswith("fidelity: ")


def test_user_programs_run_in_hosts(perhop: Command, scenario: Path, ping: str) -> None:
    ended = perhop(
        "live", "run", scenario, "--no-traffic", "--duration", "20s", "--json", "-o", "out",
        "--exec", f"sink={ping} answer", "--exec", f"source={ping} sink; exit 3",
    )  # fmt: skip
    assert ended.code == 0, ended.err
    summary = ended.json()
    answer, asked = summary["programs"]
    # The serving program still runs when the duration is over; the network existed until then.
    assert answer["cut_short"] and answer["exit_code"] == -signal.SIGTERM
    assert (asked["cut_short"], asked["exit_code"]) == (False, 3)
    word, milliseconds = asked["output"].split()
    # Both links twice: 1 ms and 10 ms.
    assert word == "milliseconds" and 22.0 <= float(milliseconds) < 200.0
    assert f"source | {asked['output'].strip()}" in ended.err
    assert (scenario.parent / "out" / "program-1.txt").read_text() == asked["output"]


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 3), (signal.SIGTERM, 3)])
def test_a_run_is_interrupted(scenario: Path, number: signal.Signals, code: int) -> None:
    out = scenario.parent / "out"
    with started("live", "run", scenario, "--duration", "100s", "-o", out, "--json") as process:
        find_testbed(process)
        process.send_signal(number)
        output, complained = process.communicate(timeout=WITHIN_S)
        assert process.returncode == code
        assert "Traceback" not in complained
        assert '"error"' in output
        assert not out.exists()
        assert leftovers(scenario.parent) == []
        assert left_behind(process.pid) == []


def test_a_forwarder_is_killed(scenario: Path) -> None:
    with started("live", "run", scenario, "--duration", "100s") as process:
        state = find_testbed(process)
        os.kill(forwarder_of("router", state), signal.SIGKILL)
        _, complained = process.communicate(timeout=WITHIN_S)
        assert process.returncode == 75
        assert "the forwarder of router was killed by SIGKILL" in complained
        assert left_behind(process.pid) == []


def forwarder_of(router: str, state: State) -> int:
    """The one process in the router's namespace."""
    (pid,) = namespaces.processes([state.namespaces[router]])
    return pid


def test_a_killed_run_is_cleaned_up(perhop: Command, scenario: Path) -> None:
    with started("live", "run", scenario, "--duration", "100s") as process:
        find_testbed(process)
        process.kill()
        process.wait()
        assert left_behind(process.pid)
        cleaned = perhop("live", "clean", "--json").json()
        assert len([name for name in cleaned["namespaces"] if f"-{process.pid}." in name]) == 3
        assert left_behind(process.pid) == []


def test_an_interactive_testbed(perhop: Command, scenario: Path, ping: str) -> None:
    with started("live", "up", scenario) as process:
        find_testbed(process)
        pid = ("--pid", str(process.pid))
        line = command_line(["live", "exec", *pid, "sink", "--", *ping.split(), "answer"])
        with subprocess.Popen(line) as answer:
            asked = perhop("live", "exec", *pid, "source", "--", *ping.split(), "sink")
            answer.terminate()
        assert (asked.code, asked.out.split()[0]) == (0, "milliseconds"), asked.err
        watched = perhop("live", "top", *pid, "--json").json()
        (router,) = watched["forwarders"]
        assert router["node"] == "router" and router["frames"]["received"] >= 2
        assert "router->sink" in perhop("live", "top", *pid).out
        process.send_signal(signal.SIGINT)
        output, complained = process.communicate(timeout=WITHIN_S)
        assert process.returncode == 0, complained
        assert "router->sink" in output
        assert left_behind(process.pid) == []


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["run", "SCENARIO", "--exec", "nowhere=true"], "there is no host `nowhere`"),
        (["run", "SCENARIO", "--exec", "source"], "expected HOST=COMMAND, got `source`"),
        (["run", "SCENARIO", "--no-traffic"], "--no-traffic needs --exec"),
        (["run", "SCENARIO", "--congestion-control", "nowhere=reno"], "there is no host `nowhere`"),
        (["top", "--pid", "1"], "process 1 has no testbed"),
        (["exec", "source", "--pid", "1"], "process 1 has no testbed"),
    ],
)
def test_wrong_usage(perhop: Command, scenario: Path, arguments: list[str], words: str) -> None:
    ended = perhop("live", *[str(scenario) if word == "SCENARIO" else word for word in arguments])
    assert ended.code == 2
    assert words in ended.err
