//! The buffer of a queue: its bytes, and its drop profiles.

use perhop_qos::buffer::{
    AveragingConfig, BufferConfig, DropSpacing, MredConfig, PrecedenceConfig, TailDropConfig,
    WeightedTailDropConfig,
};
use perhop_qos::{QueueSize, Rate};

use super::device::{Device, Findings};
use crate::cos::{Buffer, DropProfile, LossPriority, Scheduler};
use crate::families::Rules;

/// The rounding of buffers of 64 KiB or more.
const COARSE: u64 = 65_536;
/// The rounding of smaller buffers and of those of slow nodes.
const FINE: u64 = 8192;
/// Ports of this rate have the smaller delay buffer, bits per second.
const FAST: u64 = 1_000_000_000;

/// Returns the bytes of the delay buffer of `rate` for `percent` of it.
///
/// On MX an MX960 (1 Gb/s, 95 %: 12 124 160 bytes) and another MX (10 Gb/s, 4 %: 5 111 808 bytes) print
/// 100 ms of the rate, times 1.024, in whole blocks of 64 KiB.
pub(super) fn share_bytes(rules: &Rules, rate: Rate, percent: f64) -> u64 {
    let rate = rate.as_bits_per_second();
    let milliseconds = if rate >= FAST { rules.delay_buffer.fast_ms } else { rules.delay_buffer.slow_ms };
    let bytes = rate as f64 / 8.0 * milliseconds as f64 / 1000.0 * percent / 100.0;
    rounded(rules, bytes, rate >= FAST)
}

fn rounded(rules: &Rules, bytes: f64, is_fast: bool) -> u64 {
    if rules.delay_buffer.fast_ms == rules.delay_buffer.slow_ms {
        return (bytes as u64).max(rules.delay_buffer.least_bytes);
    }
    let coarse = (bytes * 1.024) as u64 / COARSE * COARSE;
    let found = if is_fast && coarse > 0 { coarse } else { (bytes as u64).div_ceil(FINE) * FINE };
    found.max(rules.delay_buffer.least_bytes)
}

/// The parts of the delay buffer that the schedulers of a port leave.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rest {
    /// Percent that the remainder of one queue has.
    pub(super) percent_each: f64,
}

/// Returns the bytes of a queue with a scheduler, of the delay buffer of a rate. Without `buffer-size` the
/// `share` of the transmit rate counts, percent. `guarantee` is that rate, bits per second.
pub(super) fn queue_bytes(
    rules: &Rules,
    scheduler: Option<&Scheduler>,
    (reference, share): (Rate, f64),
    guarantee: u64,
    rest: Rest,
) -> u64 {
    match scheduler.and_then(|scheduler| scheduler.buffer).map(|at| at.value) {
        Some(Buffer::Percent(percent)) => share_bytes(rules, reference, f64::from(percent)),
        Some(Buffer::Remainder) => share_bytes(rules, reference, rest.percent_each),
        // Junos CoS User Guide, "buffer-size": microseconds at the transmit rate.
        Some(Buffer::Temporal(microseconds)) => {
            let bytes = guarantee as f64 / 8.0 * microseconds as f64 / 1e6;
            (bytes as u64).max(rules.delay_buffer.least_bytes)
        }
        None => share_bytes(rules, reference, share.min(100.0)),
    }
}

/// The drops of one loss priority.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Ramp {
    /// Only a full queue drops.
    Tail,
    /// All packets are dropped from this fill level on, percent.
    Step(u8),
    /// The probability rises from 0 at the first fill level to the second number (percent) at the second
    /// level, and is 1 from there on.
    Line { from: u8, to: u8, probability: u8 },
}

/// Returns the buffer of `bytes` with the drop profiles of a scheduler.
pub(super) fn buffer(
    device: Device,
    scheduler: Option<&Scheduler>,
    bytes: u64,
    findings: &mut Findings,
) -> BufferConfig {
    let limit = QueueSize::Bytes(bytes);
    let mut ramps = [Ramp::Tail; 4];
    for map in scheduler.iter().flat_map(|scheduler| &scheduler.drops) {
        let Some(profile) = device.cos.drop_profiles.get(&map.profile) else { continue };
        if let Some(ramp) = ramp(profile) {
            map.losses.iter().for_each(|loss| ramps[*loss as usize] = ramp);
        } else {
            let note = "a profile that is not one line from probability 0: perhop drops at the tail alone";
            findings.not_modeled(map.line, note);
            findings.not_modeled(profile.line, note);
        }
    }
    let at = |percent: u8| (bytes as u128 * u128::from(percent) / 100) as u64;
    let size = |ramp: &Ramp| match ramp {
        Ramp::Step(percent) => at(*percent).max(1),
        Ramp::Tail | Ramp::Line { .. } => bytes,
    };
    if ramps.iter().all(|ramp| *ramp == Ramp::Tail) {
        return BufferConfig::TailDrop(TailDropConfig { limit });
    }
    if ramps.iter().all(|ramp| !matches!(ramp, Ramp::Line { .. })) {
        let limits = ramps.iter().map(|ramp| QueueSize::Bytes(size(ramp))).collect();
        return BufferConfig::WeightedTailDrop(WeightedTailDropConfig { limits });
    }
    let precedence = |ramp: &Ramp| {
        let (min, max, max_probability) = match ramp {
            Ramp::Line { from, to, probability } => (at(*from), at(*to), f64::from(*probability) / 100.0),
            Ramp::Tail | Ramp::Step(_) => (size(ramp) - 1, size(ramp), 1.0),
        };
        PrecedenceConfig {
            min: QueueSize::Bytes(min),
            max: QueueSize::Bytes(max.max(min + 1)),
            max_probability,
            own: None,
        }
    };
    debug_assert_eq!(ramps.len(), LossPriority::ALL.len());
    BufferConfig::Wred(MredConfig {
        precedences: ramps.iter().map(precedence).collect(),
        averaging: Some(AveragingConfig::Exponent(0)),
        drop_spacing: Some(DropSpacing::Geometric),
        limit: Some(limit),
        ..MredConfig::default()
    })
}

/// Returns the form of a profile; `None` if it has none of [`Ramp`].
fn ramp(profile: &DropProfile) -> Option<Ramp> {
    let corners = profile.corners();
    let first = corners.iter().position(|(_, probability)| *probability > 0);
    let Some(first) = first else { return Some(Ramp::Tail) };
    let (level, probability) = corners[first];
    if probability == 100 && (first == 0 || is_step(profile) || corners[first - 1].0 + 1 >= level) {
        return Some(if level >= 100 { Ramp::Tail } else { Ramp::Step(level) });
    }
    if is_step(profile) || first == 0 {
        return None;
    }
    let (from, _) = corners[first - 1];
    let full = corners.iter().find(|(_, probability)| *probability == 100);
    let (to, reached) = full.or(corners.last()).copied()?;
    // The device has whole percent at 64 fill levels.
    let is_near = |(fill, sampled): (u8, u8)| {
        let line = f64::from(reached) * f64::from(fill.saturating_sub(from)) / f64::from(to - from);
        (line - f64::from(sampled)).abs() <= 1.0
    };
    let is_line = to > from && profile.table().into_iter().filter(|(fill, _)| *fill <= to).all(is_near);
    is_line.then_some(Ramp::Line { from, to, probability: reached })
}

fn is_step(profile: &DropProfile) -> bool {
    profile.form == crate::cos::drop_profiles::Form::Steps
}
