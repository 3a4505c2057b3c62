//! Writing of fair queueing as `sfq`.

use perhop_device::NotesAt;
use perhop_qos::queue::{FairQueueingConfig, FlowWeights};

/// Limits of `sch_sfq.c`: packets per queue (`SFQ_MAX_DEPTH`), and in total.
const MOST_DEPTH: u64 = 127;
const MOST_PACKETS: u64 = 65_408;
const ETHERNET_FRAME: u64 = 1514;

/// Returns `sfq` with its options.
pub(super) fn sfq(flows: &FairQueueingConfig, notes: &mut NotesAt) -> String {
    let (depth, limit) = (flows.flow_limit.count(), flows.limit.count());
    let divisor = u64::from(flows.queues.max(2)).next_power_of_two();
    if flows.weights == FlowWeights::ByPrecedence {
        let reason = "sfq serves all flows equally";
        notes.report_with_change("fair queueing by precedence", reason, "write `weights: equal`");
    }
    if depth > MOST_DEPTH {
        notes.report(
            format!("flow-limit {depth} packets"),
            format!("sfq accepts at most {MOST_DEPTH} packets"),
        );
    }
    let depth = depth.min(MOST_DEPTH);
    let limit = limit.min(depth * divisor).min(MOST_PACKETS);
    format!("sfq limit {limit} depth {depth} divisor {divisor} quantum {ETHERNET_FRAME}")
}
