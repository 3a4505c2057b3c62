//! Conversion of shares to guaranteed rates of HTB, and to quanta, by which HTB shares the excess.

use perhop_analysis::rates::weight;
use perhop_device::NotesAt;
use perhop_qos::Rate;
use perhop_qos::policy::ClassConfig;
use perhop_qos::scheduler::{HTB_QUANTA, SchedulerConfig};

/// Length of a frame, bytes. With a smaller quantum, a class needs several rounds to send a frame.
pub(super) const FRAME: u64 = 1514;
/// A class without a guarantee gets the rate divided by this number as guarantee.
pub(super) const LEAST_PART: u64 = 100;

/// Returns the guaranteed rate of each class, bits per second; the sum is at most `inside_bps`.
pub(super) fn promised(
    classes: &[ClassConfig],
    scheduler: SchedulerConfig,
    inside_bps: u64,
    port_bps: u64,
) -> Vec<u64> {
    let weights: Vec<f64> = classes.iter().map(|class| weight(scheduler, class).unwrap_or(1.0)).collect();
    let total: f64 = weights.iter().sum();
    let rates: Vec<u64> = classes
        .iter()
        .zip(weights)
        .map(|(class, weight)| {
            let share = &class.share;
            if scheduler == SchedulerConfig::ThreeParameter {
                let minimum = share.minimum.map(Rate::as_bits_per_second);
                return minimum.unwrap_or((inside_bps / LEAST_PART).max(1));
            }
            if let Some(fraction) = share.fraction {
                return rounded_rate(port_bps as f64 * fraction);
            }
            let written = share.bandwidth.or(share.real_time.map(|curve| curve.m2));
            if let Some(rate) = written.filter(|rate| rate.as_bits_per_second() > 0) {
                return rate.as_bits_per_second();
            }
            if classes.len() == 1 {
                return inside_bps;
            }
            rounded_rate(inside_bps as f64 * weight / total)
        })
        .collect();
    let sum: u64 = rates.iter().sum();
    if sum <= inside_bps {
        return rates;
    }
    let scaled = |rate: u64| (u128::from(rate) * u128::from(inside_bps) / u128::from(sum)) as u64;
    rates.into_iter().map(|rate| scaled(rate).max(1)).collect()
}

fn rounded_rate(bits: f64) -> u64 {
    (bits.round_ties_even() as u64).max(1)
}

/// Returns the weight by which each class shares the excess. `rates` are the guarantees.
pub(super) fn excess(classes: &[ClassConfig], rates: &[u64], scheduler: SchedulerConfig) -> Vec<f64> {
    let own = classes.iter().zip(rates);
    own.map(|(class, rate)| match scheduler {
        SchedulerConfig::Hfsc => weight(scheduler, class).unwrap_or(1.0),
        SchedulerConfig::ThreeParameter => class.share.weight.filter(|weight| *weight > 0.0).unwrap_or(1.0),
        _ => *rate as f64,
    })
    .collect()
}

/// Returns quanta in proportion to weights. If possible, each quantum is at least a frame.
pub(super) fn quanta(weights: &[f64], notes: &mut NotesAt) -> Vec<u64> {
    let least_weight = weights.iter().copied().fold(f64::INFINITY, f64::min);
    let most_weight = weights.iter().copied().fold(0.0, f64::max);
    let (small, most) = (*HTB_QUANTA.start(), *HTB_QUANTA.end());
    let least = (most as f64 * least_weight / most_weight).clamp(small as f64, FRAME as f64);
    let scale = least / least_weight;
    let quanta: Vec<u64> = weights.iter().map(|weight| (weight * scale).round_ties_even() as u64).collect();
    if quanta.iter().any(|quantum| *quantum > most) {
        notes.report(
            format!("shares of the excess from {least_weight} to {most_weight}"),
            format!("HTB accepts quanta up to {most} bytes: larger ones are reduced"),
        );
    }
    quanta.into_iter().map(|quantum| quantum.min(most)).collect()
}
