"""What the tables print, counted where the paper counted it: at the core router's port to the bottleneck."""

from perhop import Results

BOTTLENECK = "C1->E3"


def packets_received(results: Results, case: dict[str, str]) -> list[float]:
    """Return the packets that reached the queue, dropped ones included; per replication."""
    return at_core(results, case, "arrived_packets")


def packets_dropped(results: Results, case: dict[str, str]) -> list[float]:
    """Return the packets that the buffer manager dropped; per replication."""
    return at_core(results, case, "dropped_packets")


def dropped_percent(results: Results, case: dict[str, str]) -> list[float]:
    """Return what is dropped of what is received; per replication."""
    return at_core(results, case, "dropped_percent")


def at_core(results: Results, case: dict[str, str], column: str) -> list[float]:
    """Return a column of `ports` for the drop precedence of `case`, one value per replication."""
    precedence = int(case["drop_precedence"].removeprefix("dp"))
    here = results.ports.filter(port=BOTTLENECK, precedence=precedence).sort("replication")
    return [float(value) for value in here[column]]
