//! The buffer of a queue: its bytes, and its drop profiles.

use perhop_qos::buffer::{BufferConfig, EcnConfig, FillProfileConfig, FillStep, TailDropConfig};
use perhop_qos::{QueueSize, Rate};

use super::device::Device;
use crate::cos::{Buffer, DropProfile, LossPriority, Scheduler};
use crate::families::Rules;

/// The unit to which buffers of 64 KiB or more are rounded.
const COARSE: u64 = 65_536;
/// The unit to which smaller buffers, and buffers of slow nodes, are rounded.
const FINE: u64 = 8192;
/// The lowest rate of ports with the shorter delay buffer, bits per second.
const FAST: u64 = 1_000_000_000;

/// Returns the bytes of `percent` of the delay buffer of `rate`.
///
/// The buffer of MX is 100 ms of the rate times 1.024, in whole blocks of 64 KiB. An MX960 prints 12 124 160
/// bytes for 95 % at 1 Gb/s, and another MX 5 111 808 bytes for 4 % at 10 Gb/s.
pub(super) fn share_bytes(rules: &Rules, rate: Rate, percent: f64) -> u64 {
    let rate = rate.as_bits_per_second();
    let buffer = &rules.delay_buffer;
    let microseconds = if rate >= FAST { buffer.fast_us } else { buffer.slow_us };
    let bytes = rate as f64 / 8.0 * microseconds as f64 / 1e6 * percent / 100.0;
    rounded(rules, bytes, rate)
}

fn rounded(rules: &Rules, bytes: f64, rate: u64) -> u64 {
    let buffer = &rules.delay_buffer;
    if buffer.fast_us == buffer.slow_us {
        return (bytes as u64).max(buffer.least(rate));
    }
    let coarse = (bytes * 1.024) as u64 / COARSE * COARSE;
    let found = if rate >= FAST && coarse > 0 { coarse } else { (bytes as u64).div_ceil(FINE) * FINE };
    found.max(buffer.least(rate))
}

/// The remainder of the delay buffer of a port, after queues with a percentage or a time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rest {
    /// The percentage of each queue with `remainder`.
    pub(super) percent_each: f64,
}

/// Returns the buffer of a queue, bytes. Without `buffer-size`, the queue gets the percentage `share` of the
/// delay buffer, which is its transmit rate in percent. `guarantee` is the transmit rate, bits per second.
pub(super) fn queue_bytes(
    rules: &Rules,
    scheduler: Option<&Scheduler>,
    (reference, share): (Rate, f64),
    guarantee: u64,
    rest: Rest,
) -> u64 {
    let Some(written) = scheduler.and_then(|scheduler| scheduler.buffer) else {
        return share_bytes(rules, reference, share.min(100.0));
    };
    let bytes = match written.value {
        Buffer::Percent(percent) => share_bytes(rules, reference, f64::from(percent)),
        Buffer::Remainder => share_bytes(rules, reference, rest.percent_each),
        // Junos CoS User Guide, "buffer-size": microseconds at the transmit rate.
        Buffer::Temporal(microseconds) => {
            let bytes = guarantee as f64 / 8.0 * microseconds as f64 / 1e6;
            (bytes as u64).max(rules.delay_buffer.least(reference.as_bits_per_second()))
        }
    };
    bytes.min(rules.delay_buffer.most_bytes.unwrap_or(u64::MAX))
}

/// Returns the buffer of `bytes` with the drop profiles of a scheduler.
///
/// Junos CoS User Guide, "RED Drop Profiles": the fill level determines the drop probability. Between two
/// samples of an interpolated profile, the lower sample applies (recalled).
pub(super) fn buffer(device: Device, scheduler: Option<&Scheduler>, bytes: u64) -> BufferConfig {
    of_limit(QueueSize::Bytes(bytes), profiles(device, scheduler, steps), ecn(scheduler))
}

/// Returns the buffer with a limit and the steps of each loss priority. If the steps drop only packets that
/// find the queue full, the result is tail drop.
pub(super) fn of_limit(limit: QueueSize, precedences: Vec<Vec<FillStep>>, ecn: EcnConfig) -> BufferConfig {
    if precedences.iter().flatten().all(|step| step.fill >= 100) {
        return BufferConfig::TailDrop(TailDropConfig { limit });
    }
    BufferConfig::FillProfile(FillProfileConfig { limit, precedences, ecn })
}

/// Returns the steps of the drop profile of each loss priority. A loss priority without a profile has no
/// steps.
pub(super) fn profiles(
    device: Device,
    scheduler: Option<&Scheduler>,
    steps: impl Fn(&DropProfile) -> Vec<FillStep>,
) -> Vec<Vec<FillStep>> {
    let mut found = vec![Vec::new(); LossPriority::ALL.len()];
    for map in scheduler.iter().flat_map(|scheduler| &scheduler.drops) {
        let Some(profile) = device.cos.drop_profiles.get(&map.profile) else { continue };
        map.losses.iter().for_each(|loss| found[*loss as usize] = steps(profile));
    }
    found
}

/// Returns the treatment of ECN-capable packets that a drop profile selects.
///
/// The topic `cos-qfx-series-explicit-congestion-notification-understanding`: they are marked. Packets that
/// are not ECN-capable are dropped by the profile (the same topic for QFX5100; another one for QFX10000 has
/// tail drop for them). Routers: recalled.
pub(super) fn ecn(scheduler: Option<&Scheduler>) -> EcnConfig {
    match scheduler.and_then(|own| own.ecn) {
        Some(_) => EcnConfig::MarkAll,
        None => EcnConfig::Ignore,
    }
}

/// Returns the steps of a profile: the samples at which the probability changes.
fn steps(profile: &DropProfile) -> Vec<FillStep> {
    let mut found: Vec<FillStep> = Vec::new();
    for (fill, drop) in profile.table() {
        if found.last().map_or(0, |last| last.drop) != drop {
            found.push(FillStep { fill, drop });
        }
    }
    found
}
