"""A network namespace with a pair of virtual interfaces, and `tc` in it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

_COUNTERS = re.compile(
    r"^(?:qdisc|class) \w+ (\w+:\w*) .*?Sent (\d+) bytes (\d+) pkt \(dropped (\d+),.*?backlog \w+ (\d+)p",
    re.DOTALL | re.MULTILINE,
)
_COUNTED = ("bytes", "packets", "drops", "waiting")


def missing() -> str | None:
    """Why this machine cannot be compared with, if so."""
    if sys.platform != "linux" or os.geteuid() != 0:
        return "network namespaces need Linux and root"
    for program in ("unshare", "nsenter", "ip", "tc"):
        if shutil.which(program) is None:
            return f"there is no program `{program}`"
    pair = ["unshare", "--net", "ip", "link", "add", "near0", "type", "veth", "peer", "name", "far0"]
    tried = subprocess.run(pair, capture_output=True, text=True, check=False)
    return f"no virtual interfaces in namespaces here: {tried.stderr.strip()}" if tried.returncode else None


class Namespace:
    """A network namespace with a pair of interfaces, for the lifetime of a process in it."""

    def __init__(self) -> None:
        quiet = "echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6; echo; exec sleep infinity"
        self._holder = subprocess.Popen(["unshare", "--net", "sh", "-c", quiet], stdout=subprocess.PIPE)
        assert self._holder.stdout is not None
        with self._holder.stdout as output:
            output.readline()

    def wire(self) -> None:
        """Connect near0 with far0; datagrams to 10.9.0.2 leave via near0 and end behind far0."""
        far = "02:00:00:00:00:02"
        for words in (
            "link add near0 type veth peer name far0",
            f"link set far0 address {far} up",
            "addr add 10.9.0.1/24 dev near0",
            "link set near0 up",
            f"neigh add 10.9.0.2 lladdr {far} dev near0 nud permanent",
        ):
            self.run("ip", *words.split())

    def end(self) -> None:
        """End it, and the interfaces in it."""
        self._holder.kill()
        self._holder.wait()

    def within(self, *command: str) -> list[str]:
        """Return the command line that runs a command in it."""
        return ["nsenter", f"--net=/proc/{self._holder.pid}/ns/net", *command]

    def run(self, *command: str) -> str:
        """Run a command in it and return what it prints."""
        ended = subprocess.run(self.within(*command), check=True, capture_output=True, text=True)
        return ended.stdout

    def tc(self, words: str) -> None:
        """Run a command of `tc` on near0: object, verb, `dev near0`, and the rest."""
        what, verb, *rest = words.split()
        self.run("tc", what, verb, "dev", "near0", *rest)

    def counters(self, what: str) -> dict[str, dict[str, int]]:
        """Return bytes, packets, drops and backlog (packets) of all classes, or of all qdiscs, by handle."""
        # As text: `tc -j` of some versions prints no JSON for the classes of HTB.
        text = self.run("tc", "-s", what, "show", "dev", "near0")
        return {
            found[1]: dict(zip(_COUNTED, map(int, found.groups()[1:]), strict=True))
            for found in _COUNTERS.finditer(text)
        }


@contextmanager
def namespace() -> Iterator[Namespace]:
    """Make a namespace with its interfaces, and end it."""
    made = Namespace()
    try:
        made.wire()
        yield made
    finally:
        made.end()
