//! Weighted round robin (Katevenis, Sidiropoulos, Courcoubetis 1991): turns that are counted in packets.

use super::contract::Scheduler;
use super::rounds::Rounds;
use super::share::{Numbers, Takes, error_in};
use crate::policy::ClassConfig;
use crate::{ConfigError, Time};

const TAKES: Takes = Takes {
    scheduler: "wrr",
    shares: &["weight", "bandwidth"],
    help: "wrr accepts the key weight (packets per round) or the key bandwidth (divided by the smallest \
        bandwidth)",
};

/// The number of steps of one packet. Weights are counted in steps of 2⁻³² packet.
const PACKET: u64 = 1 << 32;

/// Weighted round robin: in each round, each child with packets sends `weight` packets. Fractions are kept
/// for the next round: a child with weight 2.5 sends 2 and 3 packets alternately.
///
/// Turns count packets, not bytes. A class whose packets are twice as long has twice the rate with the same
/// weight.
#[derive(Clone, Debug)]
pub struct Wrr {
    rounds: Rounds,
}

impl Wrr {
    pub(super) fn build(classes: &[ClassConfig]) -> Result<Wrr, ConfigError> {
        let Numbers { mut values, key } = TAKES.numbers(classes)?;
        if key == "bandwidth" {
            // After this division, a round sends at least one packet of each class.
            let smallest = values.iter().copied().fold(f64::INFINITY, f64::min);
            for value in &mut values {
                *value /= smallest;
            }
        }
        let grant = |(index, value): (usize, &f64)| {
            // With a weight below 0.001, more than a thousand rounds could be necessary to select one packet.
            if (0.001..=1e6).contains(value) {
                Ok(libm::round(value * PACKET as f64) as u64)
            } else {
                Err(error_in(index, key, format!("{value} packets per round are out of range")).help(
                    "use weights from 0.001 to 1000000, or bandwidths of which the largest is at most \
                           1000000 times the smallest",
                ))
            }
        };
        let grants: Vec<u64> = values.iter().enumerate().map(grant).collect::<Result<_, _>>()?;
        Ok(Wrr { rounds: Rounds::new(grants) })
    }
}

impl Scheduler for Wrr {
    #[inline]
    fn enqueued(&mut self, _: Time, child: usize, _: u32) {
        self.rounds.enqueued(child);
    }
    #[inline]
    fn select(&mut self, _: Time, heads: &[u32]) -> Option<usize> {
        self.rounds.select(heads, |_| PACKET)
    }
    #[inline]
    fn dequeued(&mut self, _: Time, child: usize, _: u32, _: u32) {
        self.rounds.dequeued(child, PACKET);
    }
    fn dropped(&mut self, _: Time, child: usize, _: u32, _: u32) {
        self.rounds.dequeued(child, 0);
    }
}
