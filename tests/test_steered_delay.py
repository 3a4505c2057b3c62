"""PIE and PI2 before connections that respond."""

from __future__ import annotations

from typing import Any

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
def test_the_equilibrium_is_the_target(law: str, target_ms: int) -> None:
    """A controller with an integral rests nowhere else; below p = 0 it cannot go, so it errs upwards."""
    results = perhop.run(_scenario({"pie": {"law": law, "target": f"{target_ms}ms"}}), seed=1)
    assert results.queues is not None
    delay_ms = 8e3 * float(results.queues["bytes"].mean()) / _RATE_BPS
    assert target_ms * 0.95 < delay_ms < target_ms * 1.1, delay_ms
    assert results.classes["throughput_bps"].sum() > 0.95 * _RATE_BPS


@pytest.mark.parametrize("law", ["rfc", "linux"])
def test_one_queue_of_pi2_rests_at_its_target(law: str) -> None:
    """The same controller with its square; where it has to drop much, nothing keeps it from zero."""
    dual = {"dualpi2": {"law": law, "queues": "one", "target": "30ms"}}
    results = perhop.run(_scenario(dual), seed=1)
    assert results.queues is not None
    delay_ms = 8e3 * float(results.queues["bytes"].mean()) / _RATE_BPS
    assert 30 * 0.9 < delay_ms < 30 * 1.1, delay_ms
    assert results.classes["throughput_bps"].sum() > 0.95 * _RATE_BPS
