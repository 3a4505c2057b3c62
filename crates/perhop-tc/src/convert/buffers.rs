//! Conversion of classless disciplines to buffer managers.

use perhop_qos::buffer::{
    Averages, AveragingConfig, BufferConfig, CeThresholdConfig, CeThresholdOf, CodelConfig, CodelLaw,
    DualPi2Config, DualPi2Law, EcnConfig, EcnMarking, FqCodelConfig, FqPieConfig, Law, MredConfig,
    NativeMarking, PieConfig, PieLaw, PrecedenceConfig, TailDropConfig,
};
use perhop_qos::queue::{CoupledScheduler, FairQueueingConfig, FlowIdentity, FlowWeights};
use perhop_qos::{ByteSize, QueueSize, Rate};

use crate::log::Log;
use crate::model::{Device, Qdisc};
use crate::options::{Options, Value};
use crate::red_average::exponent_of;
use crate::rules;

/// The parent of a queue, which determines when RED's idle clock runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Above {
    /// The device, or a discipline that polls its queues even if they are empty.
    Device,
    /// A class that the scheduler polls only while the class has packets.
    Class,
}

pub(super) fn tail_drop(limit: QueueSize) -> BufferConfig {
    BufferConfig::TailDrop(TailDropConfig { limit })
}

/// Returns the buffer manager of a discipline; `None` if perhop has no equivalent.
pub(super) fn from_qdisc(
    qdisc: &Qdisc,
    device: &Device,
    above: Above,
    log: &mut Log,
) -> Option<BufferConfig> {
    let options = &qdisc.options;
    let packets = |limit: u64| QueueSize::Packets(limit.max(1));
    Some(match qdisc.kind.name {
        "pfifo" => {
            let limit = options.number("limit").unwrap_or_else(|| device.tx_queue_len());
            tail_drop(packets(limit))
        }
        "bfifo" => {
            let limit = options.number("limit").unwrap_or_else(|| device.tx_queue_len() * device.frame());
            counts_frames(qdisc.line, log);
            tail_drop(QueueSize::Bytes(limit.max(1)))
        }
        "codel" => codel(options),
        "fq_codel" => fq_codel(options, device),
        "pie" => pie(options),
        "fq_pie" => fq_pie(options, device),
        "cake" => super::cake::from_qdisc(qdisc, device, log)?,
        "dualpi2" => dualpi2(qdisc, log),
        "red" => red(qdisc, above, log)?,
        "gred" => gred(qdisc, log)?,
        _ => return None,
    })
}

/// Adds a note that byte limits in Linux include the Ethernet header.
fn counts_frames(line: usize, log: &mut Log) {
    log.note(
        line,
        "in limits and thresholds Linux counts 14 bytes of Ethernet header per packet; perhop does not",
    );
}

fn ecn(options: &Options, default: EcnMarking) -> EcnMarking {
    match options.last(&["ecn", "noecn"]) {
        Some("ecn") => EcnMarking::Mark,
        Some(_) => EcnMarking::Ignore,
        None => default,
    }
}

fn ce_threshold(options: &Options) -> Option<CeThresholdConfig> {
    let wait = options.time("ce_threshold")?;
    let of = match options.value("ce_threshold_selector") {
        Some(Value::Pair(1, 3)) => CeThresholdOf::Ect1,
        _ => CeThresholdOf::Capable,
    };
    Some(CeThresholdConfig { wait, of })
}

fn codel(options: &Options) -> BufferConfig {
    let usual = CodelConfig::default();
    BufferConfig::Codel(CodelConfig {
        law: CodelLaw::Linux,
        target: options.time("target").unwrap_or(usual.target),
        interval: options.time("interval").unwrap_or(usual.interval),
        limit: options.number("limit").map_or(usual.limit, QueueSize::Packets),
        ecn: ecn(options, EcnMarking::Ignore),
        ce_threshold: ce_threshold(options),
        mtu: usual.mtu,
    })
}

fn fq_codel(options: &Options, device: &Device) -> BufferConfig {
    let usual = FqCodelConfig::default();
    let small = |name: &str| options.number(name).map(|number| number.min(65_535));
    BufferConfig::FqCodel(FqCodelConfig {
        law: CodelLaw::Linux,
        target: options.time("target").unwrap_or(usual.target),
        interval: options.time("interval").unwrap_or(usual.interval),
        flows: small("flows").map_or(usual.flows, |flows| flows as u16),
        // No option of tc sets this, because the sockets of the hosts determine whether a flow has a hash.
        flow_hash: usual.flow_hash,
        quantum: ByteSize::from_bytes(options.number("quantum").unwrap_or_else(|| device.frame())),
        limit: options.number("limit").map_or(usual.limit, QueueSize::Packets),
        drop_batch: options.number("drop_batch").map_or(usual.drop_batch, |batch| batch as u32),
        ecn: ecn(options, EcnMarking::Mark),
        ce_threshold: ce_threshold(options),
        mtu: ByteSize::from_bytes(device.mtu.unwrap_or(usual.mtu.as_bytes())),
    })
}

/// Returns a gain of PIE, which tc counts in sixteenths.
fn sixteenths(options: &Options, name: &str, usual: f64) -> f64 {
    options.number(name).map_or(usual, |number| number as f64 / 16.0)
}
/// Returns how PIE treats ECN-capable packets. By default, it drops them like other packets.
fn marks_early(options: &Options) -> EcnConfig {
    match ecn(options, EcnMarking::Ignore) {
        EcnMarking::Mark => EcnConfig::Mark,
        EcnMarking::Ignore => EcnConfig::Ignore,
    }
}

fn pie(options: &Options) -> BufferConfig {
    let usual = PieConfig::default();
    BufferConfig::Pie(PieConfig {
        law: PieLaw::Linux,
        target: options.time("target").unwrap_or(usual.target),
        update_interval: options.time("tupdate").unwrap_or(usual.update_interval),
        alpha: sixteenths(options, "alpha", usual.alpha),
        beta: sixteenths(options, "beta", usual.beta),
        limit: options.number("limit").map_or(usual.limit, QueueSize::Packets),
        ecn: marks_early(options),
        ..usual
    })
}

fn fq_pie(options: &Options, device: &Device) -> BufferConfig {
    let usual = FqPieConfig::default();
    BufferConfig::FqPie(FqPieConfig {
        law: PieLaw::Linux,
        target: options.time("target").unwrap_or(usual.target),
        update_interval: options.time("tupdate").unwrap_or(usual.update_interval),
        alpha: sixteenths(options, "alpha", usual.alpha),
        beta: sixteenths(options, "beta", usual.beta),
        flows: options.number("flows").map_or(usual.flows, |flows| flows.min(65_535) as u16),
        quantum: ByteSize::from_bytes(options.number("quantum").unwrap_or_else(|| device.frame())),
        limit: options.number("limit").map_or(usual.limit, QueueSize::Packets),
        ecn: marks_early(options),
        // `ecn_prob` is in percent.
        mark_up_to: options.number("ecn_prob").map_or(usual.mark_up_to, |percent| percent as f64 / 100.0),
        ..usual
    })
}

fn dualpi2(qdisc: &Qdisc, log: &mut Log) -> BufferConfig {
    let options = &qdisc.options;
    // `q_dualpi2.c:parse_alpha_beta`: 256ths, rounded down.
    let gain = |name: &str| options.fraction(name).map(|gain| (gain * 256.0 + 1e-9).floor() / 256.0);
    let native = match options.value("step_thresh") {
        Some(Value::Time(step)) => Some(NativeMarking::Step(*step)),
        Some(_) => {
            log.not_modelled(qdisc.line, "`step_thresh` in packets is not modeled: write a time such as 1ms");
            None
        }
        None => None,
    };
    let share = options
        .fraction("classic_protection")
        .map(|part| CoupledScheduler::ClassicShare((part * 100.0).round()));
    let mut found = DualPi2Config {
        law: DualPi2Law::Linux,
        target: options.time("target"),
        update_interval: options.time("tupdate"),
        alpha: gain("alpha"),
        beta: gain("beta"),
        coupling: options.number("coupling_factor").map(|factor| factor.min(255) as u8),
        native,
        min_qlen_step: options.number("min_qlen_step").map(|packets| packets as u32),
        scheduler: share,
        limit: options.number("limit").map(QueueSize::Packets),
        ..DualPi2Config::default()
    };
    by_round_trip(options, &mut found);
    BufferConfig::DualPi2(found)
}

/// Derives the other parameters from `max_rtt` and `typical_rtt` (`q_dualpi2.c:dualpi2_parse_opt`).
fn by_round_trip(options: &Options, found: &mut DualPi2Config) {
    let micros = |name: &str| options.time(name).map(|time| time.as_picoseconds() / 1_000_000);
    let (longest, usual) = match (micros("max_rtt"), micros("typical_rtt")) {
        (None, None) => return,
        (Some(longest), None) => (longest, (longest / 6).max(1)),
        (None, Some(usual)) => (usual * 6, usual),
        (Some(longest), Some(usual)) => (longest, usual),
    };
    let longest = longest.max(1) as f64;
    let update = (usual as f64).min(longest / 3.0).floor().max(1.0);
    let scaled = |gain: f64| Some((gain * 256.0).floor() / 256.0);
    found.target = Some(perhop_qos::Time::from_microseconds(usual));
    found.update_interval = Some(perhop_qos::Time::from_microseconds(update as u64));
    found.alpha = scaled(update / longest / longest * 1e6 * 0.1);
    found.beta = scaled(0.3 / longest * 1e6);
}

/// The common parameters of RED and GRED.
struct Thresholds {
    min: u64,
    max: u64,
    exponent: u32,
    probability: f64,
    average: u64,
    rate: Rate,
}

/// The default bandwidth of RED, bits per second (tc: `RED: set bandwidth to 10Mbit`).
const RED_RATE: u64 = 10_000_000;

fn thresholds(line: usize, options: &Options, limit: u64, log: &mut Log) -> Option<Thresholds> {
    let refuse = |log: &mut Log, message: String| {
        log.found(&rules::TC_COMMAND_REFUSED, line, message, "tc refuses the command");
        None
    };
    // `q_red.c:red_parse_opt`.
    let max = options.number("max").unwrap_or_else(|| match options.number("min") {
        Some(min) => min * 3,
        None => limit / 4,
    });
    let min = options.number("min").unwrap_or(max / 3);
    if min >= max {
        return refuse(log, format!("max {max} bytes is not above min {min} bytes"));
    }
    if max > limit {
        let note =
            format!("max {max} is above limit {limit} bytes: perhop's RED needs a limit of at least max");
        log.not_modelled(line, note);
        return None;
    }
    let average = options.number("avpkt").unwrap_or(1000).max(1);
    let exponent = if let Some(shown) = options.number("ewma") {
        shown as u32
    } else {
        let burst = options.number("burst").unwrap_or((2 * min + max) / (3 * average));
        let Some(exponent) = exponent_of(burst, min, average) else {
            let least = min / average + 1;
            return refuse(log, format!("burst {burst} is too small for min {min}: write {least} or more"));
        };
        exponent
    };
    let rate = match options.value("bandwidth") {
        Some(Value::Rate(bits)) => *bits,
        Some(_) => {
            log.not_modelled(line, "`bandwidth` in percent: perhop does not know the device's speed here");
            RED_RATE
        }
        None => RED_RATE,
    };
    let probability = options.fraction("probability").unwrap_or(0.02);
    Some(Thresholds {
        min,
        max,
        exponent,
        probability,
        average,
        rate: Rate::from_bits_per_second(rate.max(8)),
    })
}

fn marking(options: &Options) -> EcnConfig {
    match (options.has("ecn"), options.has("harddrop")) {
        (false, _) => EcnConfig::Ignore,
        (true, true) => EcnConfig::Mark,
        (true, false) => EcnConfig::MarkAll,
    }
}

fn precedence(found: &Thresholds) -> PrecedenceConfig {
    PrecedenceConfig {
        min: QueueSize::Bytes(found.min),
        max: QueueSize::Bytes(found.max),
        max_probability: found.probability,
        own: None,
    }
}

fn red(qdisc: &Qdisc, above: Above, log: &mut Log) -> Option<BufferConfig> {
    let limit = qdisc.options.number("limit").unwrap_or(0);
    let found = thresholds(qdisc.line, &qdisc.options, limit, log)?;
    counts_frames(qdisc.line, log);
    Some(BufferConfig::Red(MredConfig {
        precedences: vec![precedence(&found)],
        law: Some(if above == Above::Device { Law::LinuxRed } else { Law::LinuxRedInClass }),
        averaging: Some(AveragingConfig::Exponent(found.exponent)),
        idle_rate: Some(found.rate),
        mean_packet_size: ByteSize::from_bytes(found.average),
        ecn: marking(&qdisc.options),
        limit: Some(QueueSize::Bytes(limit)),
        ..MredConfig::default()
    }))
}

/// Converts GRED. perhop models no command that sets the index of a queue, so all packets use the default
/// queue.
fn gred(qdisc: &Qdisc, log: &mut Log) -> Option<BufferConfig> {
    let default = qdisc.options.number("default").unwrap_or(0);
    let mut used = None;
    for (line, row) in &qdisc.rows {
        if row.number("vq") == Some(default) {
            used = Some((*line, row));
        } else {
            let note = format!(
                "no packet reaches this queue: no line sets tc_index, so all packets use the default queue \
                 {default}"
            );
            log.note(*line, note);
        }
    }
    let Some((line, row)) = used else {
        log.not_modelled(qdisc.line, format!("queue {default} has no thresholds: packets use a plain queue"));
        return None;
    };
    let limit = row.number("limit").unwrap_or(0);
    let found = thresholds(line, row, limit, log)?;
    counts_frames(line, log);
    let whole = if row.has("ecn") || row.has("harddrop") { row } else { &qdisc.options };
    Some(BufferConfig::Mred(MredConfig {
        precedences: vec![precedence(&found)],
        law: Some(Law::LinuxGred),
        averages: Some(Averages::Single),
        averaging: Some(AveragingConfig::Exponent(found.exponent)),
        idle_rate: Some(found.rate),
        mean_packet_size: ByteSize::from_bytes(found.average),
        ecn: marking(whole),
        limit: Some(QueueSize::Bytes(limit)),
        ..MredConfig::default()
    }))
}

/// Converts SFQ to fair queueing of flows.
pub(super) fn sfq(qdisc: &Qdisc, log: &mut Log) -> FairQueueingConfig {
    let options = &qdisc.options;
    // `sch_sfq.c`: SFQ_MAX_DEPTH and SFQ_DEFAULT_HASH_DIVISOR.
    let number = |name: &str, usual: u64| options.number(name).filter(|number| *number > 0).unwrap_or(usual);
    let divisor = number("divisor", 1024);
    if divisor > 4096 {
        log.not_modelled(qdisc.line, format!("`divisor {divisor}`: perhop has up to 4096 queues"));
    }
    log.note(
        qdisc.line,
        "perhop serves flows byte by byte, and sfq one quantum per turn; the long-term shares are equal",
    );
    FairQueueingConfig {
        queues: divisor.min(4096) as u16,
        flows: FlowIdentity::Hashed,
        weights: FlowWeights::Equal,
        flow_limit: QueueSize::Packets(number("depth", 127)),
        limit: QueueSize::Packets(number("limit", 127)),
    }
}
