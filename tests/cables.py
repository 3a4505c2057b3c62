"""Network namespaces, cables between them and a forwarder, for tests. All end with their processes."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

READY_WITHIN_S = 60.0

_FORWARD = "import pathlib, sys; from perhop import _core; _core.{}(pathlib.Path(sys.argv[1]).read_text())"

# Sends frames, read in hexadecimal, one per line, by a raw socket, and repeats them on request.
_SEND = """
import socket, sys
with socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as sending:
    sending.bind((sys.argv[1], 0))
    frames = [bytes.fromhex(line) for line in sys.stdin]
    for _ in range(int(sys.argv[2])):
        for frame in frames:
            sending.send(frame)
"""


def missing_right() -> str | None:
    """Return the reason why this machine cannot run such tests; `None` if it can."""
    if sys.platform != "linux" or os.geteuid() != 0:
        return "network namespaces and packet sockets need Linux and root"
    for program in ("unshare", "nsenter", "ip"):
        if shutil.which(program) is None:
            return f"the program {program} is missing"
    tried = subprocess.run(
        ["unshare", "--net", "ip", "link", "add", "near0", "type", "veth", "peer", "name", "far0"],
        capture_output=True,
        text=True,
        check=False,
    )
    return f"no namespaces with veth pairs here: {tried.stderr.strip()}" if tried.returncode else None


class Namespace:
    """A network namespace that exists as long as a process in it."""

    def __init__(self) -> None:
        """Create the namespace. The kernel sends no packets by itself in this namespace."""
        quiet = "echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6; echo; exec sleep infinity"
        self._holder = subprocess.Popen(["unshare", "--net", "sh", "-c", quiet], stdout=subprocess.PIPE)
        assert self._holder.stdout is not None
        with self._holder.stdout as output:
            output.readline()
        self.pid = self._holder.pid

    def end(self) -> None:
        """End the namespace, which removes all its interfaces and their other ends."""
        self._holder.kill()
        self._holder.wait()

    def within(self, *command: str) -> list[str]:
        """Return the command line that runs `command` in the namespace."""
        return ["nsenter", f"--net=/proc/{self.pid}/ns/net", *command]

    def run(self, *command: str) -> str:
        """Run `command` in the namespace."""
        return subprocess.run(self.within(*command), check=True, stdout=subprocess.PIPE, text=True).stdout

    def cable(self, near: str, other: Namespace, far: str) -> None:
        """Connect the namespace with another namespace."""
        self.run("ip", "link", "add", near, "type", "veth", "peer", "name", far, "netns", str(other.pid))
        self.run("ip", "link", "set", near, "up")
        other.run("ip", "link", "set", far, "up")

    def send(self, device: str, frames: list[bytes], times: int = 1) -> None:
        """Send raw frames."""
        subprocess.run(
            self.within(sys.executable, "-c", _SEND, device, str(times)),
            input="\n".join(frame.hex() for frame in frames),
            text=True,
            check=True,
        )


class Forwarder:
    """A forwarder's process."""

    def __init__(self, process: subprocess.Popen[str], control: Path, result: Path) -> None:
        """Wrap a forwarder process that has just been started."""
        self.process = process
        self._control = control
        self._result = result

    def ask(self, line: str = "") -> str:
        """Send a request to the forwarder's control socket."""
        with socket.socket(socket.AF_UNIX) as asking:
            asking.settimeout(READY_WITHIN_S)
            asking.connect(str(self._control))
            asking.sendall(line.encode())
            return b"".join(iter(lambda: asking.recv(65536), b"")).decode()

    def status(self) -> dict[str, Any]:
        """Return the forwarder's counters."""
        return json.loads(self.ask())

    def await_status(self, reached: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """Return the forwarder's counters once they meet a condition."""
        status: dict[str, Any] = {}

        def there() -> bool:
            nonlocal status
            status = self.status()
            return reached(status)

        wait_until(there)
        return status

    def end(self) -> dict[str, Any]:
        """End the forwarder and return its result."""
        self.process.send_signal(signal.SIGTERM)
        return self.result()

    def result(self) -> dict[str, Any]:
        """Return the forwarder's result once it has ended."""
        assert self.process.wait(READY_WITHIN_S) == 0
        return json.loads(self._result.read_text())


def wait_until(there: Callable[[], bool]) -> None:
    """Wait until a condition holds, or fail."""
    until = time.monotonic() + READY_WITHIN_S
    while not there():
        assert time.monotonic() < until, "waited in vain"
        time.sleep(0.02)


@contextmanager
def forwarding(
    namespace: Namespace, folder: Path, config: dict[str, Any], *, entry: str = "live_forward", **more: Any
) -> Iterator[Forwarder]:
    """Run a forwarder in a namespace; it is killed at the end of the block."""
    control, result, path = folder / "control", folder / "result.json", folder / "config.json"
    path.write_text(json.dumps(config | {"control": str(control), "result": str(result)}))
    more = {"stdin": subprocess.DEVNULL, "stderr": subprocess.PIPE} | more
    with subprocess.Popen(namespace.within(*forward_command(path, entry)), text=True, **more) as process:
        try:
            wait_until(lambda: control.exists() or process.poll() is not None)
            if process.poll() is not None:
                raise RuntimeError(process.stderr.read() if process.stderr else "it did not start")
            yield Forwarder(process, control, result)
        finally:
            process.kill()


def forward_command(config: Path, entry: str = "live_forward") -> list[str]:
    """Return the command line of a forwarder."""
    return [sys.executable, "-c", _FORWARD.format(entry), str(config)]


def direction(near: str, far: str, **more: Any) -> dict[str, Any]:
    """Return a direction from one interface to another, by default at the rate of the interfaces."""
    name = f"{near}->{far}"
    ends = {"name": name, "from": near, "to": far, "receives-on": near, "sends-on": far}
    return ends | {"rate": "10Gb/s"} | more


def datagram(length: int = 60, codepoint: int = 0, tag: int | None = None) -> bytes:
    """Return a frame with a UDP datagram, of `length` bytes without its VLAN tag."""
    header = bytearray(20)
    header[0:4] = bytes([0x45, codepoint << 2, *(length - 14).to_bytes(2, "big")])
    header[8:10] = bytes([64, 17])
    header[12:20] = bytes([10, 0, 0, 1, 10, 0, 1, 1])
    total = sum(int.from_bytes(header[place : place + 2], "big") for place in range(0, 20, 2))
    header[10:12] = (0xFFFF - (total % 0xFFFF)).to_bytes(2, "big")
    udp = bytes([0x10, 0, 0x20, 0, *(length - 34).to_bytes(2, "big"), 0, 0])
    tagging = b"" if tag is None else b"\x81\x00" + tag.to_bytes(2, "big")
    addresses = bytes.fromhex("020000000002020000000001")
    return addresses + tagging + b"\x08\x00" + bytes(header) + udp + bytes(length - 42)


class Row:
    """Three namespaces: `left: l0 — m0 | middle | m1 — r0 :right`, and a second path with l1, m2, m3, r1."""

    def __init__(self) -> None:
        """Create the namespaces and their cables."""
        self.left, self.middle, self.right = Namespace(), Namespace(), Namespace()
        for near, end, far in (("m0", self.left, "l0"), ("m1", self.right, "r0")):
            self.middle.cable(near, end, far)

    def end(self) -> None:
        """End the namespaces."""
        for namespace in (self.left, self.middle, self.right):
            namespace.end()

    def arrived(self, device: str) -> int:
        """Return the number of frames that a device of the right namespace has received."""
        shown = json.loads(self.right.run("ip", "-json", "-statistics", "link", "show", device))
        return int(shown[0]["stats64"]["rx"]["packets"])


#: Prints the arriving frames: seconds, frame, tag.
LISTEN = """
import socket, struct, sys, time
listening = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x0003))
listening.setsockopt(263, 8, 1) # SOL_PACKET, PACKET_AUXDATA
listening.bind((sys.argv[1], 0x0003))
listening.settimeout(60)
print("ready", flush=True)
left = int(sys.argv[2])
while left:
    frame, control, _, (_, _, kind, _, _) = listening.recvmsg(2000, 100)
    if kind == socket.PACKET_OUTGOING:
        continue
    status, _, _, _, _, tag, _ = struct.unpack("IIIHHHH", control[0][2])
    print(time.monotonic(), frame.hex(), tag if status & 16 else "", flush=True)
    left -= 1
"""


@contextmanager
def started(namespace: Namespace, program: str, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    """Start a program, and wait until it reports that it is ready."""
    command = namespace.within(sys.executable, "-c", program, *arguments)
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
            yield process
        finally:
            process.kill()


def listening(
    namespace: Namespace, device: str, frames: int
) -> AbstractContextManager[subprocess.Popen[str]]:
    """Listen on a device until a number of frames have arrived."""
    return started(namespace, LISTEN, device, str(frames))


def heard(listener: subprocess.Popen[str]) -> list[tuple[float, bytes, int | None]]:
    """Return the frames that arrived: seconds, frame, and the tag that the kernel has removed."""
    output, _ = listener.communicate(timeout=90)
    rows = [line.split(" ") for line in output.splitlines()]
    return [(float(at), bytes.fromhex(frame), int(tag) if tag else None) for at, frame, tag in rows]
