"""Received payload of files and datagrams, and the three classes' shares of TCP's payload."""

from perhop import Results

CLASSES = ("af11", "af12", "af13")
DATAGRAM, PACKET = 576, 604


def goodput_kbps(results: Results, case: dict[str, str]) -> list[float]:
    """Return the rate of received payload, of UDP or of all TCP flows; per replication."""
    if case["traffic"] == "udp":
        rows = results.classes.filter(**{"class": "udp"}).sort("replication")
        return [value / 1e3 * DATAGRAM / PACKET for value in rows["throughput_bps"]]
    return [sum(replication.values()) / 1e3 for replication in goodputs(results)]


def af11_percent(results: Results, _case: dict[str, str]) -> list[float]:
    """Return the share of AF11 in TCP's goodput; per replication."""
    return share(results, "af11")


def af12_percent(results: Results, _case: dict[str, str]) -> list[float]:
    """Return the share of AF12 in TCP's goodput; per replication."""
    return share(results, "af12")


def af13_percent(results: Results, _case: dict[str, str]) -> list[float]:
    """Return the share of AF13 in TCP's goodput; per replication."""
    return share(results, "af13")


def udp_kbps(results: Results, _case: dict[str, str]) -> list[float]:
    """Return UDP's goodput; per replication."""
    return goodput_kbps(results, {"traffic": "udp"})


def share(results: Results, name: str) -> list[float]:
    """Return the share of a class in TCP's goodput in percent; per replication."""
    return [100 * replication[name] / sum(replication.values()) for replication in goodputs(results)]


def goodputs(results: Results) -> list[dict[str, float]]:
    """Return the goodput of each class in b/s; per replication."""
    return [
        {
            name: float(results.tcp.filter(**{"class": name, "replication": number})["goodput_bps"].sum())
            for name in CLASSES
        }
        for number in range(results.replications)
    ]
