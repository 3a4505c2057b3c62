//! Writing of queues that control delay: `CoDel`, PIE and `DualPI2`.

use perhop_device::NotesAt;
use perhop_qos::QueueSize;
use perhop_qos::buffer::{
    CeThresholdConfig, CeThresholdOf, CodelConfig, CodelLaw, DualPi2Config, DualPi2Law, EcnConfig,
    EcnMarking, FqCodelConfig, FqPieConfig, NativeMarking, PieConfig, PieLaw,
};
use perhop_qos::queue::{CoupledQueues, CoupledScheduler, LowLatencyEcn};

use super::words::{microseconds, packets};

/// The change after which the policy agrees with Linux.
const WRITE_LINUX: &str = "write `law: linux`";

/// Returns `codel` with its options, which have the same names in tc-codel(8).
pub(super) fn codel(config: &CodelConfig, notes: &mut NotesAt) -> String {
    let limit = packets(config.limit, "codel", "limit", notes);
    check_law(config.law, "CoDel of RFC 8289", notes);
    check_mtu(config.mtu, notes);
    let mut words = vec![format!("codel limit {limit}")];
    words.push(format!("target {}", microseconds(config.target)));
    words.push(format!("interval {}", microseconds(config.interval)));
    words.push(ecn(config.ecn).to_owned());
    if let Some(CeThresholdConfig { wait, of }) = config.ce_threshold {
        words.push(format!("ce_threshold {}", microseconds(wait)));
        if of == CeThresholdOf::Ect1 {
            notes.report("ce-threshold of ECT(1)", "codel also marks ECT(0) above it");
        }
    }
    words.join(" ")
}

/// Returns `fq_codel` with its options, which have the same names in tc-fq_codel(8).
pub(super) fn fq_codel(config: &FqCodelConfig, notes: &mut NotesAt) -> String {
    let usual = FqCodelConfig::default();
    let limit = packets(config.limit, "codel", "limit", notes);
    check_law(config.law, "FQ-CoDel of RFC 8290", notes);
    check_mtu(config.mtu, notes);
    let mut words = vec![format!("fq_codel limit {limit}"), format!("flows {}", config.flows)];
    words.push(format!("quantum {}", config.quantum.as_bytes()));
    if config.drop_batch != usual.drop_batch {
        words.push(format!("drop_batch {}", config.drop_batch));
    }
    words.push(format!("target {}", microseconds(config.target)));
    words.push(format!("interval {}", microseconds(config.interval)));
    words.push(ecn(config.ecn).to_owned());
    if let Some(CeThresholdConfig { wait, of }) = config.ce_threshold {
        words.push(format!("ce_threshold {}", microseconds(wait)));
        if of == CeThresholdOf::Ect1 {
            words.push("ce_threshold_selector 0x1/0x3".to_owned());
        }
    }
    words.join(" ")
}

fn check_law(law: CodelLaw, source: &str, notes: &mut NotesAt) {
    if law == CodelLaw::Rfc {
        let reason = "Linux approximates square roots, so the second drop is early";
        notes.report_with_change(source, reason, WRITE_LINUX);
    }
}

fn check_mtu(mtu: perhop_qos::ByteSize, notes: &mut NotesAt) {
    if mtu != CodelConfig::default().mtu {
        notes.report(format!("mtu: {mtu}"), "the device's");
    }
}

fn ecn(marking: EcnMarking) -> &'static str {
    match marking {
        EcnMarking::Ignore => "noecn",
        EcnMarking::Mark => "ecn",
    }
}

/// Returns `pie` with its options (tc-pie(8)).
pub(super) fn pie(config: &PieConfig, notes: &mut NotesAt) -> String {
    format!("pie {}", pie_words(config, notes))
}

/// Returns the options of `pie`: times in microseconds, gains in sixteenths.
fn pie_words(config: &PieConfig, notes: &mut NotesAt) -> String {
    let limit = packets(config.limit, "pie", "pie limit", notes);
    if config.law == PieLaw::Rfc {
        let reason = "the pie of Linux has its own burst allowance, spacing and updates";
        notes.report_with_change("law: rfc", reason, WRITE_LINUX);
    }
    let (target, interval) = (microseconds(config.target), microseconds(config.update_interval));
    let (alpha, beta) = (sixteenths(config.alpha), sixteenths(config.beta));
    let ecn = if config.ecn == EcnConfig::Ignore { "noecn" } else { "ecn" };
    format!("limit {limit} target {target} tupdate {interval} alpha {alpha} beta {beta} {ecn}")
}

fn sixteenths(gain: f64) -> u64 {
    (16.0 * gain).round_ties_even() as u64
}

/// Returns `fq_pie` with its options (tc-fq_pie(8)).
pub(super) fn fq_pie(config: &FqPieConfig, notes: &mut NotesAt) -> String {
    let FqPieConfig { law, target, update_interval, alpha, beta, ecn, limit, .. } = *config;
    let queue = PieConfig { law, target, update_interval, alpha, beta, ecn, limit, ..PieConfig::default() };
    let words = pie_words(&queue, notes);
    let percent = (100.0 * config.mark_up_to).round_ties_even() as u64;
    let quantum = config.quantum.as_bytes();
    format!("fq_pie {words} flows {} quantum {quantum} ecn_prob {percent}", config.flows)
}

/// Returns `dualpi2` with its options (tc-dualpi2(8)).
pub(super) fn dualpi2(config: &DualPi2Config, rate_bps: u64, notes: &mut NotesAt) -> String {
    let limit = match (config.law, config.limit) {
        (DualPi2Law::Rfc, None) => QueueSize::Bytes(rate_bps / 32),
        (_, limit) => limit.unwrap_or(QueueSize::Packets(10_000)),
    };
    if config.law == DualPi2Law::Rfc {
        let reason = "Linux marks at random, with a step of 1 ms instead of the ramp";
        notes.report_with_change("DualPI2 of RFC 9332", reason, WRITE_LINUX);
    }
    let limit = packets(limit, "dualpi2", "limit", notes);
    if config.queues == CoupledQueues::One {
        notes.report("queues: one", "dualpi2 has two queues");
    }
    notes.report("dualpi2", "needs Linux 6.17 and its iproute2");
    let usual = PieConfig::default();
    let target = microseconds(config.target.unwrap_or(usual.target));
    let interval = config.update_interval.map_or_else(|| "16000us".to_owned(), microseconds);
    let mut words = vec![format!("dualpi2 limit {limit} target {target} tupdate {interval}")];
    words.extend(config.alpha.map(|gain| format!("alpha {gain}")));
    words.extend(config.beta.map(|gain| format!("beta {gain}")));
    words.push(format!("coupling_factor {}", config.coupling.unwrap_or(2)));
    if config.low_latency.ecn == LowLatencyEcn::AnyEct {
        words.push("any_ect".to_owned());
    }
    if config.low_latency.dscp.is_some() {
        notes.report("low-latency by codepoint", "a filter of the qdisc would name its class 2");
    }
    if let Some(NativeMarking::Step(step)) = config.native {
        words.push(format!("step_thresh {}", microseconds(step)));
    }
    words.extend(config.min_qlen_step.map(|packets| format!("min_qlen_step {packets}")));
    if let Some(CoupledScheduler::ClassicShare(share)) = config.scheduler {
        words.push(format!("classic_protection {}%", share.round_ties_even()));
    }
    words.join(" ")
}
