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
    """Return the reason why the comparison cannot run on this machine; `None` if it can."""
    if sys.platform != "linux" or os.geteuid() != 0:
        return "network namespaces need Linux and root"
    for program in ("unshare", "nsenter", "ip", "tc"):
        if shutil.which(program) is None:
            return f"there is no program `{program}`"
    pair = ["unshare", "--net", "ip", "link", "add", "near0", "type", "veth", "peer", "name", "far0"]
    tried = subprocess.run(pair, capture_output=True, text=True, check=False)
    return f"no virtual interfaces in namespaces here: {tried.stderr.strip()}" if tried.returncode else None


class Namespace:
    """A network namespace with a pair of interfaces. It lasts as long as a process in it."""

    def __init__(self) -> None:
        quiet = "echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6; echo; exec sleep infinity"
        self._holder = subprocess.Popen(["unshare", "--net", "sh", "-c", quiet], stdout=subprocess.PIPE)
        assert self._holder.stdout is not None
        with self._holder.stdout as output:
            output.readline()

    def wire(self) -> None:
        """Connect near0 with far0. Datagrams to 10.9.0.2 leave from near0, and far0 discards them."""
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
        """End the namespace and its interfaces."""
        self._holder.kill()
        self._holder.wait()

    def within(self, *command: str) -> list[str]:
        """Return the command line that runs a command in the namespace."""
        return ["nsenter", f"--net=/proc/{self._holder.pid}/ns/net", *command]

    def run(self, *command: str) -> str:
        """Run a command in the namespace and return its output."""
        ended = subprocess.run(self.within(*command), check=True, capture_output=True, text=True)
        return ended.stdout

    def tc(self, words: str) -> None:
        """Run a command of `tc` on near0. `words` has no `dev near0`."""
        what, verb, *rest = words.split()
        self.run("tc", what, verb, "dev", "near0", *rest)

    def counters(self, what: str) -> dict[str, dict[str, int]]:
        """Return bytes, packets, drops and backlog (packets) of all classes, or of all qdiscs, by handle."""
        # Some versions of `tc -j` print no JSON for the classes of HTB, so the text is parsed.
        text = self.run("tc", "-s", what, "show", "dev", "near0")
        return {
            found[1]: dict(zip(_COUNTED, map(int, found.groups()[1:]), strict=True))
            for found in _COUNTERS.finditer(text)
        }


@contextmanager
def namespace() -> Iterator[Namespace]:
    """Create a namespace with its interfaces, and end it after use."""
    made = Namespace()
    try:
        made.wire()
        yield made
    finally:
        made.end()
