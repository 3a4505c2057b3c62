"""Compare the live forwarder with a loop that only copies frames, between its own network namespaces.

    python benchmarks/live.py [--socket KIND]... [--runs N] [--frames N] [--seconds S] [--output FILE]

The results for each kind of socket are: the CPU time per 64-byte frame with four classes, WRED and a meter,
compared with the plain loop (in alternating runs, because a shared machine disturbs both); the frames lost at
80 % of the rate of the plain loop; and the deviation of departures at a port of 10 Mb/s from their scheduled
times. The program needs root and two CPUs. The last two results are meaningful only on an idle machine. The
namespaces and veth pairs are removed when the processes of the program end.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from building import build_benchmark

_KINDS = ("af-packet", "af-xdp")
_TARGETS = {"ratio": 1.3, "lost": 0, "pacing_p99_us": 100.0}
# Expedited forwarding, two assured classes, best effort.
_CODEPOINTS = ("46", "26", "10", "0")
_FRAME_BYTES = 64
_PACED_BITS_PER_SECOND = 10_000_000
_PACED_IP_BYTES = 1000
_ETHERNET_BYTES = 14
# The offered rate as a multiple of the port's rate, so that the port always has a packet to send.
_OVERLOAD = 1.2
_READY_WITHIN_S = 30.0


def main() -> int:
    """Measure the forwarder with each socket, print the results, and write them to `--output`."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--socket", action="append", choices=_KINDS, help="only this kind of socket (repeatable)"
    )
    parser.add_argument("--runs", type=int, default=5, help="pairs of runs for the ratio (default: 5)")
    parser.add_argument(
        "--frames", type=int, default=1_000_000, help="number of frames of a run (default: 1,000,000)"
    )
    parser.add_argument(
        "--seconds", type=float, default=5.0, help="duration of the other runs, seconds (default: 5)"
    )
    parser.add_argument("--output", type=Path, default=Path("results/live.json"))
    parser.add_argument("--program", type=Path, help="the compiled benchmark `wire` (default: compile it)")
    arguments = parser.parse_args()
    missing = _missing()
    if missing:
        sys.stderr.write(f"error: {missing}\n")
        return 5
    wire = arguments.program or build_benchmark("perhop-live", "wire")
    measured = []
    for kind in arguments.socket or _KINDS:
        with Cable(wire) as cable:
            row: dict[str, Any] = {"socket": kind, **_ratio(cable, kind, arguments.runs, arguments.frames)}
            row |= _loss(cable, kind, 0.8 * row["plain_frames_per_s"], arguments.seconds)
            row |= _pacing(cable, kind, arguments.seconds)
        measured.append(row)
        _print(row)
    arguments.output.parent.mkdir(parents=True, exist_ok=True)
    arguments.output.write_text(json.dumps({"targets": _TARGETS, "measured": measured}, indent=2) + "\n")
    sys.stdout.write(f"written to {arguments.output}\n")
    return 0


def _missing() -> str | None:
    if sys.platform != "linux" or os.geteuid() != 0:
        return "packet sockets and network namespaces need Linux and root"
    if len(os.sched_getaffinity(0)) < 2:
        return "a generator and a forwarder need a processor each; here is one"
    return None


class Cable:
    """Three namespaces in a row: `left0 — middle0 [forwarder] middle1 — right0`."""

    def __init__(self, wire: Path) -> None:
        """Prepare the cable; `with` creates the namespaces."""
        self._wire = wire
        self._holders: dict[str, subprocess.Popen[bytes]] = {}
        self._processors = sorted(os.sched_getaffinity(0))
        self._folder = tempfile.TemporaryDirectory(prefix="perhop-bench-")
        self.folder = Path(self._folder.name)

    def __enter__(self) -> Cable:
        """Create namespaces and veth pairs."""
        try:
            for place in ("left", "middle", "right"):
                self._holders[place] = _namespace()
            for number, end in enumerate(("left", "right")):
                near = f"middle{number}"
                veth = ["type", "veth", "peer", "name", f"{end}0", "netns", str(self._holders[end].pid)]
                self._inside("middle", "ip", "link", "add", near, *veth)
                self._inside("middle", "ip", "link", "set", near, "up")
                self._inside(end, "ip", "link", "set", f"{end}0", "up")
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        """Remove the namespaces and all their devices and processes."""
        for holder in self._holders.values():
            holder.kill()
            holder.wait()
        self._folder.cleanup()

    def _within(self, place: str, *command: str) -> list[str]:
        return ["nsenter", f"--net=/proc/{self._holders[place].pid}/ns/net", *command]

    def _inside(self, place: str, *command: str) -> str:
        return subprocess.run(
            self._within(place, *command), check=True, stdout=subprocess.PIPE, text=True
        ).stdout

    def arrived(self) -> int:
        """Return the number of frames received at the right end."""
        shown = json.loads(self._inside("right", "ip", "-json", "-statistics", "link", "show", "right0"))
        return int(shown[0]["stats64"]["rx"]["packets"])

    def generate(self, length: int, rate: float | None, frames: int) -> dict[str, Any]:
        """Send frames at the left end, on a separate CPU."""
        speed = "max" if rate is None else f"{rate:.0f}"
        command = [str(self._wire), "generate", "left0", str(length), speed, str(frames), *_CODEPOINTS]
        with self._start("left", command, self._processors[0]) as process:
            output, _ = process.communicate()
        return json.loads(output)

    @contextmanager
    def copying(self) -> Iterator[dict[str, Any]]:
        """Run the plain loop in the middle; the result is complete when the loop has ended."""
        report: dict[str, Any] = {}
        with self._start(
            "middle", [str(self._wire), "copy", "middle0", "middle1"], self._processors[1]
        ) as process:
            self._await_socket("middle", "middle1")
            yield report
            process.send_signal(signal.SIGTERM)
            report |= json.loads(process.communicate()[0])

    @contextmanager
    def forwarding(self, directions: list[dict[str, Any]], kind: str) -> Iterator[dict[str, Any]]:
        """Run a forwarder in the middle; the result is complete when the forwarder has ended."""
        control, result = self.folder / "control", self.folder / "result"
        config = {
            "node": "router",
            "seed": 1,
            "directions": directions,
            "socket": kind,
            "control": str(control),
            "result": str(result),
        }
        path = self.folder / "config"
        path.write_text(json.dumps(config))
        report: dict[str, Any] = {}
        with self._start("middle", [str(self._wire), "forward", str(path)], self._processors[1]) as process:
            _await(control.exists, process)
            yield report
            process.send_signal(signal.SIGTERM)
            process.communicate()
            report |= json.loads(result.read_text())

    @contextmanager
    def listening(self) -> Iterator[dict[str, Any]]:
        """Record arrivals at the right end by kernel timestamps."""
        report: dict[str, Any] = {}
        with self._start("right", [str(self._wire), "listen", "right0"], self._processors[0]) as process:
            self._await_socket("right", "right0")
            yield report
            time.sleep(0.2)
            process.send_signal(signal.SIGTERM)
            report |= json.loads(process.communicate()[0])

    def _await_socket(self, place: str, device: str) -> None:
        """Wait until a packet socket on `device` exists, which is the last socket that a program opens."""
        index = json.loads(self._inside(place, "ip", "-json", "link", "show", device))[0]["ifindex"]

        def bound() -> bool:
            rows = Path(f"/proc/{self._holders[place].pid}/net/packet").read_text().splitlines()[1:]
            return any(int(row.split()[4]) == index for row in rows)

        _await(bound, None)

    @contextmanager
    def _start(self, place: str, command: list[str], processor: int) -> Iterator[subprocess.Popen[str]]:
        process = subprocess.Popen(
            self._within(place, "taskset", "--cpu-list", str(processor), *command),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            text=True,
        )
        try:
            yield process
        finally:
            process.kill()
            process.wait()


def _namespace() -> subprocess.Popen[bytes]:
    """Start a process in a new network namespace, which exists as long as the process."""
    quiet = "echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6; echo; exec sleep infinity"
    holder = subprocess.Popen(["unshare", "--net", "sh", "-c", quiet], stdout=subprocess.PIPE)
    assert holder.stdout is not None
    holder.stdout.readline()
    return holder


def _await(there: Callable[[], bool], process: subprocess.Popen[str] | None) -> None:
    until = time.monotonic() + _READY_WITHIN_S
    while not there():
        if time.monotonic() > until or (process is not None and process.poll() is not None):
            raise RuntimeError("a program of the benchmark did not start")
        time.sleep(0.01)


def _policy(rate: str) -> dict[str, Any]:
    """Return a policy of four classes, one of them with WRED, behind a meter that marks."""
    precedence = [
        {"min": "40 packets", "max": "80 packets", "max-probability": 0.02},
        {"min": "10 packets", "max": "40 packets", "max-probability": 0.1},
    ]
    wred = {
        "precedences": precedence,
        "averaging": {"weight": 0.002},
        "mean-packet-size": f"{_FRAME_BYTES}B",
        "limit": "200 packets",
    }
    classes = [
        {"name": "voice", "match": {"dscp": "ef"}, "share": {"weight": 4}},
        {"name": "video", "match": {"dscp": ["af31", "af32"]}, "share": {"weight": 3}},
        {
            "name": "data",
            "match": {"dscp": ["af11", "af12"]},
            "share": {"weight": 2},
            "buffer": {"wred": wred},
        },
        {"name": "rest", "share": {"weight": 1}},
    ]
    meter = {
        "name": "profile",
        "match": {"dscp": ["af11", "af12"]},
        "meter": {"token-bucket": {"rate": "1Mb/s", "burst": "30kB", "excess": "yellow"}},
        "green": [{"mark": "af11"}],
        "yellow": [{"mark": "af12"}],
    }
    return {"rate": rate, "output": [meter], "queueing": {"scheduler": "wf2q-plus", "classes": classes}}


def _directions(there: dict[str, Any]) -> list[dict[str, Any]]:
    forth = {"name": "there", "from": "left", "to": "right", "receives-on": "middle0", "sends-on": "middle1"}
    back = {"name": "back", "from": "right", "to": "left", "receives-on": "middle1", "sends-on": "middle0"}
    return [forth | there, back | {"rate": "10Gb/s"}]


def _ratio(cable: Cable, kind: str, runs: int, frames: int) -> dict[str, Any]:
    """Measure the CPU time per frame with the policy, and the CPU time of the plain loop."""
    plain, policed, carried = [], [], []
    for _ in range(max(1, runs)):
        with cable.copying() as copied:
            sent = cable.generate(_FRAME_BYTES, None, frames)
        plain.append(1e6 * copied["processor-s"] / copied["frames"])
        carried.append(copied["frames"] / sent["elapsed-s"])
        with cable.forwarding(_directions(_policy("10Gb/s")), kind) as forwarded:
            cable.generate(_FRAME_BYTES, None, frames)
        policed.append(1e6 * forwarded["processor-s"] / forwarded["frames"]["sent"])
    paired = [own / other for own, other in zip(policed, plain, strict=True)]
    return {
        "plain_us": statistics.median(plain),
        "policed_us": statistics.median(policed),
        "ratio": statistics.median(paired),
        "plain_frames_per_s": statistics.median(carried),
    }


def _loss(cable: Cable, kind: str, rate: float, seconds: float) -> dict[str, Any]:
    """Count the frames that are lost at `rate`, by reason."""
    before = cable.arrived()
    with cable.forwarding(_directions(_policy("10Gb/s")), kind) as forwarded:
        sent = cable.generate(_FRAME_BYTES, rate, int(rate * seconds))
        time.sleep(0.5)
        arrived = cable.arrived() - before
    return {
        "offered_frames_per_s": sent["frames"] / sent["elapsed-s"],
        "offered": sent["frames"],
        "lost": sent["frames"] - arrived,
        "lost_in_rings": sum(device["lost-frames"] for device in forwarded["devices"]),
        "dropped": forwarded["frames"]["dropped"],
    }


def _pacing(cable: Cable, kind: str, seconds: float) -> dict[str, Any]:
    """Measure the deviation of departures from a backlogged port from their scheduled times."""
    spacing_ns = 8e9 * _PACED_IP_BYTES / _PACED_BITS_PER_SECOND
    rate = _OVERLOAD * 1e9 / spacing_ns
    with (
        cable.listening() as heard,
        cable.forwarding(_directions({"rate": f"{_PACED_BITS_PER_SECOND}b/s"}), kind) as forwarded,
    ):
        cable.generate(_PACED_IP_BYTES + _ETHERNET_BYTES, rate, int(rate * seconds))
    # The first and the last tenth are left out, because the port is idle when the first packets arrive, and
    # no packets follow the last packets.
    stamps = [stamp for _, stamp in heard["arrivals"]]
    steady = stamps[len(stamps) // 10 : -len(stamps) // 10]
    offsets = [stamp - place * spacing_ns for place, stamp in enumerate(steady)]
    middle = statistics.median(offsets)
    errors = sorted(abs(offset - middle) / 1e3 for offset in offsets)
    return {
        "pacing_p50_us": errors[len(errors) // 2],
        "pacing_p99_us": errors[len(errors) * 99 // 100],
        "pacing_max_us": errors[-1],
        "own_lateness_p99_us": 1e6 * forwarded["lateness"]["p99-s"],
        "busy_share": forwarded["waiting"]["busy-share"],
        "processor_share": forwarded["processor-s"] / forwarded["elapsed-s"],
    }


def _print(row: dict[str, Any]) -> None:
    def verdict(name: str) -> str:
        return f"at most {_TARGETS[name]:g}: {'met' if row[name] <= _TARGETS[name] else 'not met'}"

    lines = (
        row["socket"],
        f"  processor time of a frame: {row['policed_us']:.2f} us with four classes, WRED and a meter,",
        f"    {row['plain_us']:.2f} us only copied; ratio {row['ratio']:.2f} ({verdict('ratio')})",
        f"  at 80 % of the plain loop's {row['plain_frames_per_s']:,.0f} frames/s:",
        f"    {row['lost']} of {row['offered']} lost ({verdict('lost')})",
        f"  at 10 Mb/s: pacing error {row['pacing_p50_us']:.1f} us median, "
        f"{row['pacing_max_us']:.1f} us max,",
        f"    {row['pacing_p99_us']:.1f} us p99 ({verdict('pacing_p99_us')}); busy waiting "
        f"{100 * row['busy_share']:.0f} % of the time",
    )
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    sys.exit(main())
