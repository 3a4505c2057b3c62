"""Four CUBIC flows of this kernel's TCP in `perhop live`, compared with `linux-6` in the simulation."""

from __future__ import annotations

import pytest
from fidelity import live_tcp
from fidelity.comparison import Comparison
from fidelity.live_tcp import EQUAL, UNEQUAL, Case
from fidelity.simulating import Effort, simulate

from live_testbed import own_run

pytestmark = [
    pytest.mark.touched,
    pytest.mark.skipif(live_tcp.missing() is not None, reason=str(live_tcp.missing())),
    own_run,
]

SECONDS, WARMUP_S = 15.0, 5.0


def rows(case: Case) -> dict[str, Comparison]:
    own = live_tcp.measured(case, simulate(live_tcp.scenario(case, SECONDS, WARMUP_S), Effort(3)))
    found = live_tcp.live(case, 1, SECONDS, WARMUP_S)
    assert found.results is not None
    if not found.fidelity.trustworthy:
        pytest.skip(f"this machine was too busy: {found.fidelity}")
    kernel = live_tcp.measured(case, found.results)
    return {comparison.quantity: comparison for comparison in live_tcp.compared(case, kernel, own)}


def test_fq_codel_gives_four_flows_of_the_kernel_equal_shares() -> None:
    found = rows(Case("fq-codel", EQUAL))
    assert [comparison for comparison in found.values() if not comparison.met] == []
    shares = [found[f"share of flow {number}"].reference.mean for number in live_tcp.FLOWS]
    assert shares == pytest.approx([25] * 4, abs=1)


def test_codel_favours_short_round_trips_as_much_as_in_the_simulation() -> None:
    found = rows(Case("codel", UNEQUAL))
    shares = [found[f"share of flow {number}"] for number in live_tcp.FLOWS]
    # This is a single short run; the limit of 5 points applies to the mean of three long runs.
    assert all(share.distance <= 10 for share in shares), shares
    assert shares[0].reference.mean > 2 * shares[3].reference.mean
    assert found["goodput"].met and found["queue delay, mean"].met, found


def test_a_fifo_would_not_pass_for_codel() -> None:
    """Waits in the two queues differ by much more than the tolerance."""
    waits = {}
    for buffer in ("tail drop", "codel"):
        case = Case(buffer, EQUAL)
        results = simulate(live_tcp.scenario(case, SECONDS, WARMUP_S), Effort(1))
        waits[buffer] = live_tcp.measured(case, results)["queue delay, mean"][0]
    assert waits["tail drop"] > 3 * waits["codel"]
