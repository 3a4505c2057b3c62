"""PIE and PI2 before connections that respond."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

import perhop

_RATE_BPS = 10e6


def _scenario(buffer: dict[str, Any]) -> perhop.Scenario:
    bulk = {"bulk": {"tcp": {"profile": "rfc5681-reno", "window": "1MiB"}}}
    flow = {"name": "bulk", "count": 30, "from": "a", "to": "b", "start-within": "1s", "source": bulk}
    access = {"between": ["a", "r"], "rate": "1Gb/s", "delay": "1ms"}
    bottleneck = {"between": ["r", "b"], "rate": "10Mb/s", "delay": "19ms"}
    return perhop.Scenario({
        "perhop": 1,
        "name": "steered",
        "duration": "60s",
        "hosts": {"a": {}, "b": {}},
        "routers": {"r": {}},
        "links": [access, bottleneck | {"interfaces": {"r": {"output": "steered"}}}],
        "policies": {"steered": {"queueing": {"classes": [{"name": "all", "buffer": buffer}]}}},
        "traffic": [flow],
        "measure": {"warmup": "20s", "queues": [{"from": "r", "to": "b", "every": "10ms"}]},
    })  # fmt: skip


@pytest.mark.parametrize("target_ms", [15, 30])
@pytest.mark.parametrize("law", ["rfc", "linux"])
def test_the_delay_settles_at_the_target(law: str, target_ms: int) -> None:
    """A controller with an integral term settles only at its target.

    The drop probability p cannot be negative, so deviations are upward.
    """
    results = perhop.run(_scenario({"pie": {"law": law, "target": f"{target_ms}ms"}}), seed=1)
    assert results.queues is not None
    delay_ms = 8e3 * float(results.queues["bytes"].mean()) / _RATE_BPS
    assert target_ms * 0.95 < delay_ms < target_ms * 1.1, delay_ms
    assert results.classes["throughput_bps"].sum() > 0.95 * _RATE_BPS


@pytest.mark.parametrize("target_ms", [15, 30])
@pytest.mark.parametrize("law", ["rfc", "linux"])
def test_a_single_pi2_queue_settles_at_its_target(law: str, target_ms: int) -> None:
    """The controller with the square of p also settles at its target; under heavy load p stays above zero.

    The controller measures the wait of the packet at the head, without the rest of the transmission before
    it, half of a packet's time on average. Packets are dropped at the head, so the queue length counts some
    packets that will need no time on the wire.
    """
    dual = {"dualpi2": {"law": law, "queues": "one", "target": f"{target_ms}ms"}}
    results = perhop.run(_scenario(dual), seed=1)
    assert results.queues is not None
    packet_ms = 8e3 * 1500 / _RATE_BPS
    bulk = results.classes.filter(pl.col("class") == "bulk")
    wait_ms = 1e3 * float(bulk["delay_mean_s"].mean()) - 20 - packet_ms - 8e3 * 1500 / 1e9
    assert wait_ms == pytest.approx(target_ms + packet_ms / 2, abs=1.0)
    port = results.ports.filter((pl.col("port") == "r->b") & (pl.col("queue") == "all"))
    passed = 1 - float(port["dropped_packets"].sum()) / float(port["arrived_packets"].sum())
    held_ms = 8e3 * float(results.queues["bytes"].mean()) / _RATE_BPS
    assert held_ms * passed == pytest.approx(wait_ms, rel=0.03)
    assert results.classes["throughput_bps"].sum() > 0.95 * _RATE_BPS
