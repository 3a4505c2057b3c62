"""Valid and invalid commands of `tc` for every queueing discipline, and the response of `tc` to each."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

# Values that some options accept and others refuse: a number, a time, a rate, a size, a share, a word.
_VALUES = ("10", "5ms", "10mbit", "15k", "10%", "abc")
# Values at the limits of a kind of number, for one option of each discipline.
_EDGES = ("10mbps", "1.5Mbit", "0.02", "0x1f", "-3", "8kbit/8", "2e3", "")
#: Options by discipline, with the options that each requires.
OPTIONS: dict[str, tuple[str, str]] = {
    "pfifo": ("", "limit"),
    "bfifo": ("", "limit"),
    "codel": ("", "limit target interval ce_threshold ecn noecn memory_limit"),
    "fq_codel": ("", "limit flows quantum target interval ce_threshold memory_limit drop_batch ecn flow"),
    "pie": ("", "limit target tupdate alpha beta ecn bytemode dq_rate_estimator burst"),
    "fq_pie": ("", "limit flows target tupdate alpha beta quantum memory_limit ecn_prob ecn"),
    "red": (
        "limit 60000 min 15000 max 45000 avpkt 1000 burst 20 bandwidth 10mbit",
        "limit max burst probability ecn",
    ),
    "sfq": ("", "limit depth divisor flows quantum perturb headdrop"),
    "tbf": ("rate 1mbit burst 5k limit 9k", "mpu overhead linklayer rate latency peakrate mtu"),
    "prio": ("", "bands priomap"),
    "drr": ("", "quantum"),
    "htb": ("", "default r2q direct_qlen def burst"),
    "hfsc": ("", "default"),
    "cake": ("", "bandwidth rtt diffserv4 besteffort overhead mpu memlimit ack-filter nat docsis fwmark"),
}
_LACKS = re.compile(r"Specified qdisc kind is unknown|Unknown qdisc|Operation not supported|Exclusivity")
# Commands that iproute2 6.1 accepts and perhop refuses on purpose: the kernel refuses them, or tc reads only
# the first digits (`sscanf`: `probability 10%` is 10) or inverts a sign.
_BEYOND = re.compile(r"prio bands -3|cake bandwidth -3|probability (5ms|10mbit|15k|10%)")
# Errors about values from the kernel, not from tc.
_KERNEL = re.compile(r"RTNETLINK|^Error: (?!argument|duplicate)", re.MULTILINE)


def commands() -> Iterator[str]:
    """Return a command for each option with each value."""
    for kind, (beside, options) in OPTIONS.items():
        for index, option in enumerate(options.split()):
            for value in _VALUES + (_EDGES if index == 0 else ()):
                words = ["tc qdisc add dev near0 root", kind, beside, option, value]
                command = " ".join(word for word in words if word)
                if not _BEYOND.search(command):
                    yield command


def verdicts(within: list[str], all_: list[str]) -> dict[str, bool | None]:
    """Return whether tc accepts each command; `None` if the kernel decides otherwise."""

    def verdict(command: str) -> bool | None:
        ended = subprocess.run([*within, *command.split()], capture_output=True, text=True, check=False)
        if ended.returncode == 0 or _LACKS.search(ended.stderr):
            subprocess.run(
                [*within, *["tc", "qdisc", "del", "dev", "near0", "root"]], capture_output=True, check=False
            )
            return True
        return None if _KERNEL.search(ended.stderr) else False

    with ThreadPoolExecutor(1) as pool:
        return dict(zip(all_, pool.map(verdict, all_), strict=True))
