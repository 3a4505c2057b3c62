"""Measure the reading, checking and walking of a folder of configurations.

    python benchmarks/network.py [--routers N] [--megabytes N] [--keep FOLDER]

The network is generated: hubs in a ring, branches with one site and lines to two hubs, OSPF in one area,
policies that mark at the access and queue on the lines, and access lists that enlarge the files. The target
is for 500 routers with 5,000 interfaces and 50 MB of configurations: reading and checking in 10 s on two
processors, and walking in 60 s, both in less than 2 GB of memory.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from measuring import condition, machine, measure

_PERHOP = Path(sys.prefix) / "bin" / "perhop"
#: Branches for each hub.
_BRANCHES = 24
#: Number of interfaces of a branch: two lines, a site, a loopback, and ports without an address.
_INTERFACES = 10

_POLICIES = """\
class-map match-any VOICE
 match dscp ef
class-map match-any VIDEO
 match dscp af41
class-map match-any BULK
 match dscp af11 cs1
policy-map WAN
 class VOICE
  priority percent 20
 class VIDEO
  bandwidth percent 30
 class BULK
  bandwidth percent 10
 class class-default
  fair-queue
policy-map ACCESS
 class VOICE
  set dscp ef
 class VIDEO
  set dscp af41
 class class-default
  set dscp default
"""


def generate(folder: Path, routers: int, megabytes: float) -> int:
    """Write the configurations of a network, and return the number of its interfaces."""
    hubs = max(2, routers // (_BRANCHES + 1))
    branches = routers - hubs
    size = int(megabytes * 1e6 / routers)
    interfaces = 0
    (folder / "configs").mkdir(parents=True, exist_ok=True)
    for number in range(hubs):
        lines = list(_hub(number, hubs, branches))
        interfaces += sum(line.startswith("interface ") for line in lines)
        _write(folder / "configs" / f"hub{number}.cfg", lines, size)
    for number in range(branches):
        lines = list(_branch(number, hubs))
        interfaces += sum(line.startswith("interface ") for line in lines)
        _write(folder / "configs" / f"branch{number}.cfg", lines, size)
    return interfaces


def _hubs_of(branch: int, hubs: int) -> tuple[int, int]:
    return branch % hubs, (branch + 1) % hubs


def _line(branch: int, side: int, end: int) -> str:
    """Return the address of an end of a branch's line: 10.128.0.0/9 in subnets of four."""
    number = 4 * (2 * branch + side) + end
    return f"10.{128 + (number >> 16)}.{number >> 8 & 255}.{number & 255} 255.255.255.252"


def _ring(hub: int, end: int) -> str:
    number = 4 * hub + end
    return f"172.16.{number >> 8}.{number & 255} 255.255.255.252"


def _port(name: str, address: str, further: str = "") -> str:
    return f"interface {name}\n ip address {address}\n{further}!\n"


def _hub(number: int, hubs: int, branches: int) -> Iterator[str]:
    yield from (f"version 15.4\nhostname HUB{number}\n{_POLICIES}").splitlines()
    ports = [
        ("TenGigabitEthernet0/0", _ring(number, 1)),
        ("TenGigabitEthernet0/1", _ring((number - 1) % hubs, 2)),
    ]
    lines = [
        _line(branch, side, 2)
        for branch in range(branches)
        for side, hub in enumerate(_hubs_of(branch, hubs))
        if hub == number
    ]
    ports += [(f"GigabitEthernet1/{place}", address) for place, address in enumerate(lines)]
    for name, address in ports:
        yield from _port(name, address, " service-policy output WAN\n").splitlines()
    yield from _port("Loopback0", f"172.31.0.{number % 250 + 1} 255.255.255.255").splitlines()
    yield from ("router ospf 1", " network 0.0.0.0 255.255.255.255 area 0")


def _branch(number: int, hubs: int) -> Iterator[str]:
    yield from (f"version 15.4\nhostname BRANCH{number}\n{_POLICIES}").splitlines()
    for side in range(len(_hubs_of(number, hubs))):
        name, address = f"GigabitEthernet0/{side}", _line(number, side, 1)
        yield from _port(
            name, address, f" ip ospf cost {10 + side}\n service-policy output WAN\n"
        ).splitlines()
    site = f"10.{number >> 7}.{(number & 127) * 2}.1 255.255.255.0"
    yield from _port("GigabitEthernet0/2", site, " service-policy input ACCESS\n").splitlines()
    yield from _port("Loopback0", f"172.30.{number >> 8}.{number & 255} 255.255.255.255").splitlines()
    for port in range(_INTERFACES - 4):
        yield from (f"interface FastEthernet2/{port}", " no ip address", " shutdown", "!")
    yield from ("router ospf 1", " passive-interface GigabitEthernet0/2")
    yield " network 0.0.0.0 255.255.255.255 area 0"


def _write(file: Path, lines: list[str], size: int) -> None:
    """Write a configuration of about `size` bytes, enlarged by entries of access lists."""
    text = "\n".join(lines) + "\n"
    entries, length = [], len(text)
    while length < size:
        number = len(entries)
        entry = (
            f" permit tcp 10.{number % 200}.{number // 200 % 250}.0 0.0.0.255 any eq {1024 + number % 5000}"
        )
        if number % 1000 == 0:
            entry = f"ip access-list extended FILTER{number // 1000}\n{entry}"
        entries.append(entry)
        length += len(entry) + 1
    file.write_text(text + "\n".join(entries) + "\nend\n")


def main() -> int:
    """Generate the network, run the commands on it, and print their time and memory."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--routers", type=int, default=500)
    parser.add_argument("--megabytes", type=float, default=50)
    parser.add_argument("--keep", type=Path, help="only generate the network, in this folder")
    arguments = parser.parse_args()
    if arguments.keep:
        sys.stdout.write(f"{generate(arguments.keep, arguments.routers, arguments.megabytes)} interfaces\n")
        return 0
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        interfaces = generate(folder, arguments.routers, arguments.megabytes)
        size = f"{arguments.routers} routers, {interfaces} interfaces, {arguments.megabytes:g} MB"
        sys.stdout.write(f"{size}\n{condition(1, machine())}\n")
        for command in (("network",), ("check",), ("trace", "--matrix")):
            begun = time.perf_counter()
            # The exit code of `check` is 1 if it finds a fault.
            taken = measure(["sh", "-c", '"$0" "$@" > /dev/null; [ $? -le 1 ]', _PERHOP, *command, folder])
            wall = time.perf_counter() - begun
            sys.stdout.write(
                f"perhop {' '.join(command):14} {wall:6.1f} s, {taken.seconds:6.1f} s of processors, "
                f"{taken.peak_bytes / 1e6:,.0f} MB\n"
            )
    return 0


if __name__ == "__main__":
    sys.exit(main())
