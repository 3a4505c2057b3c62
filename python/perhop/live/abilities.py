"""The capabilities of this machine for live testbeds, found by trial."""

from __future__ import annotations

import fcntl
import os
import platform
import shutil
import socket
import struct
import sys
import tempfile
from collections.abc import Callable
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

from perhop.live import building, kernel, rights

Need = Literal["required", "optional"]
# <linux/socket.h>, <linux/if_tun.h>: constants that Python's socket module lacks.
_AF_XDP = 44
_TUNSETIFF = 0x400454CA
_IFF_TUN_NO_PI = 0x1001
# One processor for a forwarder that busy-waits, and one for the hosts.
_WANTED_PROCESSORS = 2
_PROGRAMS = {
    "iperf3": "sends traffic with --exec; install iperf3",
    "tshark": "reads captures; install tshark",
    "chromium": "for perhop's own tests of reports; install chromium",
    "ns": "for perhop's own comparison with ns-2; install ns2",
}


@dataclass(frozen=True)
class Ability:
    """A capability that a live testbed needs or can use."""

    name: str
    #: Whether a testbed needs it.
    need: Need
    works: bool
    #: The result of the trial.
    found: str
    #: The way to enable the capability, if it does not work.
    remedy: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the capability as plain data."""
        return asdict(self) | {"remedy": None if self.works else self.remedy}


def abilities() -> list[Ability]:
    """Try every capability, and remove all remains."""
    found = [_linux(), _rights()]
    if not found[-1].works:
        return [*found, *_others()]
    return [
        *found,
        _netlink(),
        _tried(
            "AF_PACKET", "required", _packet_socket, "the forwarders' sockets", "load the module af_packet"
        ),
        _tried(
            "AF_XDP", "optional", _express_socket, "faster sockets", "needs a kernel with CONFIG_XDP_SOCKETS"
        ),
        _tried("TUN", "optional", _tunnel, "for a single interface", "load the module tun"),
        *_others(),
    ]


def _linux() -> Ability:
    return Ability(
        "Linux",
        "required",
        sys.platform == "linux",
        f"{platform.system()} {platform.release()}",
        "a live testbed needs Linux network namespaces",
    )


def _rights() -> Ability:
    missing = rights.missing_capabilities()
    if not missing:
        return Ability("rights", "required", True, "as root")
    refused = _in_child(rights.obtain)
    if refused is None:
        return Ability("rights", "required", True, "in your own user namespace")
    return Ability("rights", "required", False, f"missing {', '.join(missing)}", rights.advice())


def _netlink() -> Ability:
    if find_spec("pyroute2") is None:
        return Ability(
            "namespaces", "required", False, "missing pyroute2", "install it: pip install 'perhop[live]'"
        )
    what = "network namespaces and veth pairs"
    return _tried("namespaces", "required", _veth, what, "needs a kernel with CONFIG_NET_NS and CONFIG_VETH")


def _others() -> list[Ability]:
    count = len(os.sched_getaffinity(0))
    controls = building.offered_congestion_controls()
    programs = [
        Ability(name, "optional", shutil.which(name) is not None, shutil.which(name) or "not installed", use)
        for name, use in _PROGRAMS.items()
    ]
    return [
        Ability(
            "processors",
            "optional",
            count >= _WANTED_PROCESSORS,
            str(count),
            "forwarders and hosts share one processor: packets will be late",
        ),
        Ability(
            "TCP",
            "optional",
            bool(controls),
            ", ".join(controls) or "no congestion control found",
            "load another one: sudo modprobe tcp_bbr",
        ),
        *programs,
    ]


def _tried(name: str, need: Need, probe: Callable[[], None], what: str, remedy: str) -> Ability:
    def inside() -> None:
        rights.obtain()
        kernel.unshare(kernel.NEW_NETWORK)
        probe()

    refused = _in_child(inside)
    return Ability(name, need, refused is None, what if refused is None else refused, remedy)


def _veth() -> None:
    from pyroute2 import IPRoute  # lazy: optional package

    with IPRoute() as ip:
        ip.link("add", ifname="one", kind="veth", peer="other")
        kernel.switch_offloads_off("one")


def _packet_socket() -> None:
    socket.socket(socket.AF_PACKET, socket.SOCK_RAW).close()


def _express_socket() -> None:
    socket.socket(_AF_XDP, socket.SOCK_RAW).close()


def _tunnel() -> None:
    with Path("/dev/net/tun").open("r+b", buffering=0) as device:
        fcntl.ioctl(device, _TUNSETIFF, struct.pack("16sH22x", b"perhop0", _IFF_TUN_NO_PI))


def _in_child(probe: Callable[[], None]) -> str | None:
    """Call `probe` in a child process; return its error message, `None` if it worked."""
    with tempfile.TemporaryFile() as output:
        child = os.fork()
        if child == 0:
            try:
                probe()
            except BaseException as error:
                os.write(output.fileno(), (str(error) or type(error).__name__).encode())
                os._exit(1)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        output.seek(0)
        message = output.read().decode(errors="replace")
    return None if status == 0 else message or f"ended with status {status}"
