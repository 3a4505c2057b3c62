//! Writing of random early detection as `red`.

use perhop_analysis::Field;
use perhop_device::NotesAt;
use perhop_qos::buffer::{AboveMaxConfig, AveragingConfig, EcnConfig, Law, MredConfig, PrecedenceConfig};
use perhop_qos::policy::ClassConfig;
use perhop_qos::queue::PrecedenceSource;
use perhop_qos::{QueueSize, Rate};

use super::condition::Conditions;
use super::words::AVERAGE;
use crate::red_average::{MOST_EXPONENT, burst_of};

const DEFAULT_EXPONENT: u32 = 9;

/// Returns the distinct thresholds of the packets of a class. `red` uses the first of them for all packets.
pub(super) fn thresholds(
    class: &ClassConfig,
    config: &MredConfig,
    conditions: &mut Conditions,
    notes: &mut NotesAt,
) -> Vec<PrecedenceConfig> {
    let rows = &config.precedences;
    let Some(last) = rows.last() else { return Vec::new() };
    let mut held = || conditions.values(class.matches.as_ref(), Field::Dscp);
    let row = |number: usize| rows.get(number).unwrap_or(last);
    let met: Vec<&PrecedenceConfig> = match &class.precedence {
        PrecedenceSource::ByDscp(groups) => {
            let group =
                |dscp: u8| groups.iter().position(|group| group.0.iter().any(|own| own.value() == dscp));
            held().into_iter().map(|dscp| group(dscp).map_or(last, row)).collect()
        }
        PrecedenceSource::IpPrecedence => {
            let mut precedences: Vec<u8> = held().into_iter().map(|dscp| dscp >> 3).collect();
            precedences.dedup();
            precedences.into_iter().map(|number| row(usize::from(number))).collect()
        }
        PrecedenceSource::Color | PrecedenceSource::Dscp | PrecedenceSource::Cos => rows.iter().collect(),
    };
    let mut different: Vec<PrecedenceConfig> = Vec::new();
    for row in met {
        if !different.contains(row) {
            different.push(row.clone());
        }
    }
    if different.len() > 1 {
        let construct = format!("{} thresholds by drop precedence", different.len());
        let reason = "red has only one set of thresholds, here the first of the class; gred selects \
                      thresholds by tc_index, which no filter sets";
        notes.report_with_change(construct, reason, "write a class for each drop precedence");
    }
    different
}

/// Returns `red` with its options, for a class with an approximate rate of `rate_bps` bits per second.
pub(super) fn red(row: &PrecedenceConfig, config: &MredConfig, rate_bps: u64, notes: &mut NotesAt) -> String {
    let (low, high) = (row.min.count(), row.max.count());
    let mut scale = 1;
    if let QueueSize::Packets(_) = row.min {
        let construct = format!("thresholds of {low} and {high} packets");
        let reason = format!("red counts bytes: packets of {AVERAGE} bytes are assumed");
        notes.report_with_change(construct, reason, "write the thresholds in bytes");
        scale = AVERAGE;
    }
    let (low, high) = (low * scale, high * scale);
    let is_linux = matches!(config.law, Some(Law::LinuxRed | Law::LinuxRedInClass));
    let average = if is_linux { config.mean_packet_size.as_bytes().max(1) } else { AVERAGE };
    let bandwidth = config.idle_rate.map_or(rate_bps, Rate::as_bits_per_second);
    let limit = match config.limit {
        Some(QueueSize::Packets(packets)) => (packets * AVERAGE).max(high),
        Some(QueueSize::Bytes(bytes)) => bytes.max(high),
        None => high,
    };
    let exponent = exponent(config.averaging, notes);
    let burst = burst_of(exponent, low, average).unwrap_or_else(|| {
        let reason = "no burst gives this exponent: the burst of tc-red(8) is used";
        notes.report(format!("averaging exponent {exponent}"), reason);
        ((2 * low + high) / (3 * average)).max(low / average + 1)
    });
    if config.above_max == Some(AboveMaxConfig::Gentle) {
        notes.report("above-max: gentle", "red drops every packet above the maximum");
    }
    if config.scalable.is_some() {
        notes.report("scalable", "red does not mark by the current queue length");
    }
    // tc-red(8): with `ecn` alone, packets above the maximum are also marked.
    let ecn = match config.ecn {
        EcnConfig::Ignore => "",
        EcnConfig::Mark => " ecn harddrop",
        EcnConfig::MarkAll => " ecn",
    };
    format!(
        "red limit {limit} min {low} max {high} avpkt {average} burst {burst} probability {} bandwidth \
         {bandwidth}bit{ecn}",
        row.max_probability
    )
}

/// Returns the n for which 2⁻ⁿ is closest to the weight of an average.
fn exponent(averaging: Option<AveragingConfig>, notes: &mut NotesAt) -> u32 {
    match averaging {
        Some(AveragingConfig::Weight(weight)) => {
            let nearest = (-weight.log2()).round_ties_even().clamp(1.0, f64::from(MOST_EXPONENT));
            if (-nearest).exp2().to_bits() != weight.to_bits() {
                notes.report(
                    format!("averaging weight {weight}"),
                    format!("red accepts only powers of two, here 2^-{nearest}"),
                );
            }
            nearest as u32
        }
        Some(AveragingConfig::Exponent(exponent)) => exponent,
        None => DEFAULT_EXPONENT,
    }
}
