//! Writing of queues as queueing disciplines.

use perhop_device::NotesAt;
use perhop_qos::QueueSize;
use perhop_qos::buffer::BufferConfig;
use perhop_qos::policy::ClassConfig;

use super::condition::Conditions;
use super::words::kind;
use super::{codel, fair, red};

/// The default queue of a class.
const USUAL: &str = "pfifo limit 64";

/// Returns the queueing discipline of a class with an approximate rate of `rate_bps` bits per second.
pub(super) fn discipline(
    class: &ClassConfig,
    rate_bps: u64,
    conditions: &mut Conditions,
    notes: &mut NotesAt,
) -> String {
    if class.pause.is_some() {
        notes.report("pause", "a queueing discipline does not pause the neighbor");
    }
    if let Some(flows) = &class.fair_queueing {
        if let Some(buffer) = &class.buffer {
            let reason = "only the limits of flows are written";
            notes.report(format!("{} together with fair queueing", kind(buffer)), reason);
        }
        return fair::sfq(flows, notes);
    }
    let Some(buffer) = &class.buffer else { return USUAL.to_owned() };
    match buffer {
        BufferConfig::TailDrop(config) => fifo(config.limit),
        BufferConfig::WeightedTailDrop(config) => {
            // The first of several equal limits applies.
            let longer = |size: QueueSize, other: &QueueSize| {
                if other.count() > size.count() { *other } else { size }
            };
            let first = config.limits.first().copied().unwrap_or(QueueSize::Packets(64));
            let most = config.limits.iter().fold(first, longer);
            let reason = format!("one limit of {most} for all packets of the class");
            notes.report("limits by drop precedence", reason);
            fifo(most)
        }
        BufferConfig::FillProfile(config) => {
            let reason = format!("tail drop at {} instead", config.limit);
            notes.report(kind(buffer), reason);
            fifo(config.limit)
        }
        BufferConfig::SharedMemory(_) => {
            notes.report(kind(buffer), "queues of tc share no memory: tail drop of 64 packets instead");
            USUAL.to_owned()
        }
        BufferConfig::Codel(config) => codel::codel(config, notes),
        BufferConfig::FqCodel(config) => codel::fq_codel(config, notes),
        BufferConfig::Pie(config) => codel::pie(config, notes),
        BufferConfig::FqPie(config) => codel::fq_pie(config, notes),
        BufferConfig::DualPi2(config) => codel::dualpi2(config, rate_bps, notes),
        BufferConfig::Red(config)
        | BufferConfig::Wred(config)
        | BufferConfig::RioC(config)
        | BufferConfig::RioDc(config)
        | BufferConfig::Mred(config) => {
            let rows = red::thresholds(class, config, conditions, notes);
            let Some(row) = rows.first() else {
                notes.report(format!("{} by a model", kind(buffer)), "tail drop of 64 packets instead");
                return USUAL.to_owned();
            };
            if !matches!(buffer, BufferConfig::Red(_) | BufferConfig::Wred(_)) {
                notes.report(kind(buffer), "one RED instead of several averages");
            }
            red::red(row, config, rate_bps, notes)
        }
        BufferConfig::Cake(_) => {
            notes.report("cake", "cake is the discipline of a whole port: tail drop of 64 packets instead");
            USUAL.to_owned()
        }
    }
}

fn fifo(limit: QueueSize) -> String {
    match limit {
        QueueSize::Packets(packets) => format!("pfifo limit {packets}"),
        QueueSize::Bytes(bytes) => format!("bfifo limit {bytes}"),
    }
}
