//! Conversion of CAKE, which is the only discipline of a port. Source of the keywords:
//! `tc/q_cake.c:cake_parse_opt`.

use perhop_qos::buffer::BufferConfig;
use perhop_qos::cake::{CakeAckFilter, CakeCells, CakeConfig, CakeIsolation, CakeTins};
use perhop_qos::queue::FlowHash;
use perhop_qos::{ByteSize, Rate, Time};

use crate::log::Log;
use crate::model::{Device, ETHERNET, Place, Qdisc};
use crate::options::{Options, Value};

/// Converts CAKE at the root of a device. Returns `None` below another discipline.
pub(super) fn from_qdisc(qdisc: &Qdisc, device: &Device, log: &mut Log) -> Option<BufferConfig> {
    let is_of_mq = device.root().is_some_and(|root| root.kind.name == "mq");
    if qdisc.place != Place::Root && !is_of_mq {
        let note = "perhop models cake only at the root of a device: move cake there, with `bandwidth`";
        log.not_modelled(qdisc.line, note);
        return None;
    }
    if let Some(filter) = qdisc.filters.first() {
        log.not_modelled(filter.line(), "perhop does not model filters that choose a tin of cake");
    }
    let options = &qdisc.options;
    let (overhead, mpu, cells) = lengths(options);
    Some(BufferConfig::Cake(CakeConfig {
        bandwidth: bandwidth(options),
        tins: tins(options),
        isolation: isolation(options),
        // An option of tc cannot set this: the sockets of the hosts decide whether they set the hash of a
        // flow.
        flow_hash: FlowHash::Headers,
        rtt: round_trip(options),
        overhead,
        mpu,
        cells,
        memory_limit: options.number("memlimit").filter(|bytes| *bytes > 0).map(ByteSize::from_bytes),
        wash: options.last(&["wash", "nowash"]) == Some("wash"),
        ingress: options.last(&["ingress", "egress"]) == Some("ingress"),
        ack_filter: match options.last(&["ack-filter", "ack-filter-aggressive", "no-ack-filter"]) {
            Some("ack-filter") => CakeAckFilter::Filter,
            Some("ack-filter-aggressive") => CakeAckFilter::Aggressive,
            _ => CakeAckFilter::None,
        },
    }))
}

fn bandwidth(options: &Options) -> Option<Rate> {
    if options.last(&["bandwidth", "unlimited"]) == Some("unlimited") {
        return None;
    }
    options.rate("bandwidth").filter(|rate| *rate > 0).map(Rate::from_bits_per_second)
}

fn tins(options: &Options) -> CakeTins {
    match options.last(&["besteffort", "precedence", "diffserv8", "diffserv4", "diffserv3"]) {
        Some("besteffort") => CakeTins::BestEffort,
        Some("precedence") => CakeTins::Precedence,
        Some("diffserv8") => CakeTins::Diffserv8,
        Some("diffserv4") => CakeTins::Diffserv4,
        _ => CakeTins::Diffserv3,
    }
}

fn isolation(options: &Options) -> CakeIsolation {
    const PAIRS: [(&str, CakeIsolation); 8] = [
        ("flowblind", CakeIsolation::Flowblind),
        ("srchost", CakeIsolation::Srchost),
        ("dsthost", CakeIsolation::Dsthost),
        ("hosts", CakeIsolation::Hosts),
        ("flows", CakeIsolation::Flows),
        ("dual-srchost", CakeIsolation::DualSrchost),
        ("dual-dsthost", CakeIsolation::DualDsthost),
        ("triple-isolate", CakeIsolation::TripleIsolate),
    ];
    let last = options.last(&PAIRS.map(|(name, _)| name));
    PAIRS.iter().find(|(name, _)| last == Some(name)).map_or(CakeIsolation::default(), |(_, found)| *found)
}

/// Returns `rtt`, or one of the presets, microseconds.
fn round_trip(options: &Options) -> Time {
    const PRESETS: [(&str, u64); 8] = [
        ("datacentre", 100),
        ("lan", 1000),
        ("metro", 10_000),
        ("regional", 30_000),
        ("internet", 100_000),
        ("oceanic", 300_000),
        ("satellite", 1_000_000),
        ("interplanetary", 1_000_000_000),
    ];
    let usual = CakeConfig::default().rtt;
    let names: Vec<&str> = PRESETS.iter().map(|(name, _)| *name).chain(["rtt"]).collect();
    let last = options.last(&names);
    match PRESETS.iter().find(|(name, _)| last == Some(name)) {
        Some((_, micros)) => Time::from_microseconds(*micros),
        None => options.time("rtt").filter(|time| *time > Time::ZERO).unwrap_or(usual),
    }
}

/// Returns the overhead of a link keyword, bytes.
fn added(keyword: &str) -> Option<i64> {
    Some(match keyword {
        "ether-vlan" => 4,
        "ipoa-vcmux" => 8,
        "pppoa-vcmux" => 10,
        "pppoa-llc" => 14,
        "ipoa-llcsnap" => 16,
        "docsis" => 18,
        "bridged-ptm" => 22,
        "bridged-vcmux" => 24,
        "pppoe-ptm" => 30,
        "bridged-llcsnap" | "pppoe-vcmux" => 32,
        "ethernet" => 38,
        "pppoe-llcsnap" => 40,
        _ => return None,
    })
}

/// Returns the parameters of the counted length of a packet: overhead and minimum in bytes, and the cell
/// type. Keywords apply in the order of the command, because some keywords set the overhead and others add to
/// it.
fn lengths(options: &Options) -> (Option<i32>, u32, CakeCells) {
    let (mut overhead, mut mpu, mut cells, mut is_raw) = (None, 0, CakeCells::None, false);
    for &keyword in options.names() {
        match keyword {
            "raw" => (overhead, cells, is_raw) = (Some(0), CakeCells::None, true),
            "conservative" => (overhead, cells) = (Some(48), CakeCells::Atm),
            "overhead" => {
                if let Some(Value::Signed(bytes)) = options.value("overhead") {
                    overhead = Some(*bytes);
                }
            }
            "mpu" => mpu = options.number("mpu").unwrap_or(0),
            "atm" => cells = CakeCells::Atm,
            "ptm" => cells = CakeCells::Ptm,
            "noatm" => cells = CakeCells::None,
            _ => {
                let Some(bytes) = added(keyword) else { continue };
                overhead = Some(overhead.unwrap_or(0) + bytes);
                match keyword {
                    "ethernet" => mpu = 84,
                    "ether-vlan" => {}
                    "docsis" => (mpu, cells) = (64, CakeCells::None),
                    "bridged-ptm" | "pppoe-ptm" => cells = CakeCells::Ptm,
                    _ => cells = CakeCells::Atm,
                }
            }
        }
    }
    // `cake_change`: TCA_CAKE_RAW counts the frame of the device, before the overhead.
    let header = if is_raw { ETHERNET.cast_signed() } else { 0 };
    let overhead = overhead.map(|bytes| bytes.saturating_add(header).clamp(-1000, 1000) as i32);
    (overhead, mpu.min(1000) as u32, cells)
}
