//! The output of `tc -s qdisc show`.

use perhop_qos::buffer::{BufferConfig, CodelConfig, EcnConfig, EcnMarking, PieConfig};
use perhop_qos::{QueueSize, Time};
use serde_json::{Value, json};

use super::counters::{Counters, DeviceCounters};
use super::values::{rate, size, time};
use crate::convert::buffer_of;
use crate::model::{Device, Place, Qdisc};
use crate::options::{self, Options};
use crate::units::shown_id;

/// Appends the output for the disciplines of a device. Returns the disciplines with their counters.
pub(super) fn print(device: &Device, counters: &DeviceCounters, lines: &mut Vec<String>) -> Vec<Value> {
    let mut found = Vec::new();
    for qdisc in device.qdiscs.iter().filter(|qdisc| qdisc.place != Place::Hooks) {
        let (kind, handle) = (qdisc.kind.name, shown_id(qdisc.handle));
        let place = match qdisc.place {
            Place::Class(id) => format!("parent {}", shown_id(id)),
            _ => "root".to_owned(),
        };
        let options = options_of(device, qdisc, counters.direct());
        lines.push(format!("qdisc {kind} {handle} {place} {options}"));
        let mut document = json!({"qdisc": handle, "kind": kind, "place": place});
        if let Some(own) = counters.of_qdisc(qdisc) {
            let overlimits = overlimits(kind, own);
            own.print(overlimits, lines);
            let mut numbers = own.document();
            if let Some(overlimits) = overlimits {
                numbers.insert("overlimits".to_owned(), json!(overlimits));
            }
            if let Some((line, further)) = further(kind, own) {
                lines.push(line);
                numbers.extend(further.iter().map(|(name, value)| ((*name).to_owned(), json!(value))));
            }
            document["counters"] = numbers.into();
        }
        found.push(document);
    }
    found
}

/// Returns the number of packets that exceeded a limit; `None` if perhop does not count them.
fn overlimits(kind: &str, counters: Counters) -> Option<u64> {
    match kind {
        "red" => Some(counters.early + counters.marked),
        "pfifo" | "bfifo" | "pfifo_fast" | "codel" | "fq_codel" | "pie" | "fq_pie" | "sfq" | "prio"
        | "drr" | "ets" | "mq" => Some(0),
        _ => None,
    }
}

/// Returns the additional counters of a kind: the line of output, and the counters by name.
fn further(kind: &str, counters: Counters) -> Option<(String, Vec<(&'static str, u64)>)> {
    let Counters { full, early, marked, arrived, .. } = counters;
    let (limit, marks) = (("limit_drops", full), ("marked_packets", marked));
    let queued = arrived.saturating_sub(full + early);
    Some(match kind {
        "red" => {
            let line = format!("  marked {marked} early {early} pdrop {full} other 0");
            (line, vec![marks, ("early_drops", early), limit])
        }
        "codel" => (format!("  ecn_mark {marked} drop_overlimit {full}"), vec![marks, limit]),
        "fq_codel" => (format!("  drop_overlimit {full} ecn_mark {marked}"), vec![limit, marks]),
        "pie" | "fq_pie" => {
            let line = format!("  pkts_in {queued} overlimit {full} dropped {early} ecn_mark {marked}");
            (line, vec![("queued_packets", queued), limit, ("early_drops", early), marks])
        }
        _ => return None,
    })
}

fn options_of(device: &Device, qdisc: &Qdisc, direct: u64) -> String {
    let options = &qdisc.options;
    let number = |name: &str, usual| options.number(name).unwrap_or(usual);
    match qdisc.kind.name {
        "htb" => format!(
            "r2q {} default {:#x} direct_packets_stat {direct} direct_qlen {}",
            number("r2q", 10),
            number("default", 0),
            number("direct_qlen", device.tx_queue_len())
        ),
        "hfsc" => options.number("default").map(|minor| format!("default {minor:#x} ")).unwrap_or_default(),
        "prio" | "pfifo_fast" => {
            let usual = [1, 2, 2, 2, 1, 2, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1];
            format!("bands {} priomap {}", number("bands", 3), numbers(options, "priomap", &usual))
        }
        "ets" => {
            let strict = number("strict", 0);
            let quanta = numbers(options, "quanta", &[]);
            let count = quanta.split_whitespace().count() as u64;
            let bands = number("bands", strict + count);
            let strict = if strict > 0 { format!(" strict {strict}") } else { String::new() };
            let quanta = if count > 0 { format!(" quanta {quanta}") } else { String::new() };
            let map = numbers(options, "priomap", &[bands.saturating_sub(1); 16]);
            format!("bands {bands}{strict}{quanta} priomap {map} ")
        }
        "tbf" => bucket(options),
        "sfq" => {
            let (limit, depth) = (number("limit", 127), number("depth", 127));
            let quantum = size(number("quantum", device.frame()));
            format!("limit {limit}p quantum {quantum} depth {depth} divisor {} ", number("divisor", 1024))
        }
        _ => buffer_of(qdisc, device).map(|buffer| buffer_words(&buffer)).unwrap_or_default(),
    }
}

/// Returns the numbers of an option as text; `usual` if the option is missing.
fn numbers(options: &Options, name: &str, usual: &[u64]) -> String {
    let numbers = match options.value(name) {
        Some(options::Value::Numbers(numbers)) => numbers.as_slice(),
        _ => usual,
    };
    numbers.iter().map(u64::to_string).collect::<Vec<_>>().join(" ")
}

/// Returns the options of tbf (`q_tbf.c:tbf_print_opt`).
fn bucket(options: &Options) -> String {
    let (bits, burst) = (options.rate("rate").unwrap_or(0), options.number("burst").unwrap_or(0));
    let latency = options.time("latency").or_else(|| options.time("lat"));
    let by_limit = || {
        let behind = options.number("limit")?.saturating_sub(burst);
        let micros = (behind as f64 * 8e6 / bits.max(1) as f64) as u64;
        Some(Time::from_microseconds(micros))
    };
    let latency = latency.or_else(by_limit).map(|latency| format!("lat {} ", time(latency)));
    format!("rate {} burst {} {}", rate(bits), size(burst), latency.unwrap_or_default())
}

fn limit_words(limit: QueueSize) -> String {
    match limit {
        QueueSize::Packets(packets) => format!("limit {packets}p"),
        QueueSize::Bytes(bytes) => format!("limit {}", size(bytes)),
    }
}

fn buffer_words(buffer: &BufferConfig) -> String {
    match buffer {
        BufferConfig::TailDrop(tail) => match tail.limit {
            // Only `q_fifo.c` prints plain bytes.
            QueueSize::Bytes(bytes) => format!("limit {bytes}b"),
            QueueSize::Packets(_) => limit_words(tail.limit),
        },
        BufferConfig::Codel(CodelConfig { limit, target, interval, ecn, .. }) => {
            let ecn = if *ecn == EcnMarking::Mark { "ecn " } else { "" };
            format!("{} target {} interval {} {ecn}", limit_words(*limit), time(*target), time(*interval))
        }
        BufferConfig::FqCodel(config) => format!(
            "{} flows {} quantum {} target {} interval {} {}drop_batch {} ",
            limit_words(config.limit),
            config.flows,
            config.quantum.as_bytes(),
            time(config.target),
            time(config.interval),
            if config.ecn == EcnMarking::Mark { "ecn " } else { "" },
            config.drop_batch
        ),
        BufferConfig::Pie(config) => pie_words(config),
        BufferConfig::Red(config) => {
            let [curve] = config.precedences.as_slice() else { return String::new() };
            let bytes = |size_: QueueSize| match size_ {
                QueueSize::Bytes(bytes) | QueueSize::Packets(bytes) => size(bytes),
            };
            let limit = config.limit.map(limit_words).unwrap_or_default();
            let ecn = match config.ecn {
                EcnConfig::Ignore => "",
                EcnConfig::Mark => "ecn harddrop ",
                EcnConfig::MarkAll => "ecn ",
            };
            format!("{limit} min {} max {} {ecn}", bytes(curve.min), bytes(curve.max))
        }
        _ => String::new(),
    }
}

fn pie_words(config: &PieConfig) -> String {
    let sixteenths = |gain: f64| (gain * 16.0).round();
    format!(
        "{} target {} tupdate {} alpha {} beta {} {}",
        limit_words(config.limit),
        time(config.target),
        time(config.update_interval),
        sixteenths(config.alpha),
        sixteenths(config.beta),
        if config.ecn == EcnConfig::Ignore { "" } else { "ecn " }
    )
}
