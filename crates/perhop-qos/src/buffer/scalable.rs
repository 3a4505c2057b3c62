//! Marks for scalable senders. A threshold on the instantaneous queue replaces the average of RED.
//!
//! A scalable congestion control (DCTCP, RFC 8257; Prague, RFC 9331) expects two marks in each round trip.
//! The sender smooths the marks, so an average in the router would only add delay.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::packet::Ecn;
use crate::queue::{LowLatencyEcn, Occupancy};
use crate::units::QueueDepth;
use crate::{ConfigError, Packet, QueueSize, Time};

/// The marking of packets of scalable senders by the instantaneous queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct ScalableConfig {
    /// The depth of the queue from which packets are marked.
    pub mark: ScalableMarking,
    /// The packets of scalable senders. Default: ECT(1) and CE. `any-ect` is for DCTCP, which sends ECT(0).
    #[serde(default, skip_serializing_if = "is_l4s")]
    pub ecn: LowLatencyEcn,
}

/// The marks as a function of the depth of the queue. The depth is the packets or IP bytes that an arriving
/// packet finds, or the wait of a packet that leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ScalableMarking {
    /// Marks every packet above this depth (K of DCTCP).
    Step(QueueDepth),
    /// Marks with a probability that grows from 0 to 1.
    Ramp(DepthRampConfig),
}

/// A probability that grows with the depth of the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct DepthRampConfig {
    /// The depth up to which the probability is 0.
    pub from: QueueDepth,
    /// The additional depth at which the probability is 1, in the same unit.
    pub width: QueueDepth,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_l4s(ecn: &LowLatencyEcn) -> bool {
    *ecn == LowLatencyEcn::L4s
}

/// The unit of a depth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Counts {
    Packets,
    Bytes,
    /// The sojourn time in picoseconds.
    Wait,
}

/// [`ScalableConfig`], compiled for the packet path.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scalable {
    any_ect: bool,
    counts: Counts,
    from: u64,
    /// The width of the ramp. It is 0 for a step.
    width: u64,
}

fn counted(depth: QueueDepth) -> (Counts, u64) {
    match depth {
        QueueDepth::Size(QueueSize::Packets(packets)) => (Counts::Packets, packets),
        QueueDepth::Size(QueueSize::Bytes(bytes)) => (Counts::Bytes, bytes),
        QueueDepth::Wait(wait) => (Counts::Wait, wait.as_picoseconds()),
    }
}

impl ScalableConfig {
    /// Returns the marking rule for the packet path.
    ///
    /// # Errors
    /// A ramp has no width, or its width has another unit than its start.
    pub(super) fn build(&self) -> Result<Scalable, ConfigError> {
        let ((counts, from), width) = match self.mark {
            ScalableMarking::Step(depth) => (counted(depth), 0),
            ScalableMarking::Ramp(DepthRampConfig { from, width }) => {
                let (unit, number) = counted(width);
                let wrong = |message: &str, help: String| {
                    Err(ConfigError::new("width", message).help(help).within("ramp").within("mark"))
                };
                if unit != counted(from).0 {
                    return wrong(
                        "a ramp is in packets, in bytes or in time",
                        format!("write both as `{from}`"),
                    );
                }
                if number == 0 {
                    return wrong(
                        "a ramp without a width is a step",
                        format!("write mark: {{step: {from}}}"),
                    );
                }
                (counted(from), number)
            }
        };
        Ok(Scalable { any_ect: self.ecn == LowLatencyEcn::AnyEct, counts, from, width })
    }
}

impl Scalable {
    // RFC 9331 §5.1: ECT(1) and CE are treated as L4S. RFC 8257 does not specify the codepoint of DCTCP.
    #[inline]
    pub(super) fn applies_to(&self, packet: &Packet) -> bool {
        match packet.marks.ecn() {
            Ecn::NotCapable => false,
            Ecn::Capable0 => self.any_ect,
            Ecn::Capable1 | Ecn::CongestionExperienced => true,
        }
    }
    /// Whether marks depend on the wait of packets. If so, packets are marked when they leave the queue.
    #[inline]
    pub(super) fn marks_by_wait(&self) -> bool {
        self.counts == Counts::Wait
    }
    /// Whether an arriving packet that finds `queue` is marked. `sum` is the sum of the probabilities since
    /// the last mark.
    #[inline]
    pub(super) fn marks_on_arrival(&self, queue: &Occupancy, sum: &mut u64) -> bool {
        match self.counts {
            Counts::Packets => self.marks(queue.packets, sum),
            Counts::Bytes => self.marks(queue.bytes, sum),
            Counts::Wait => false,
        }
    }
    /// Whether a leaving packet that has waited for `waited` is marked.
    #[inline]
    pub(super) fn marks_on_departure(&self, waited: Time, sum: &mut u64) -> bool {
        self.marks_by_wait() && self.marks(waited.as_picoseconds(), sum)
    }

    /// Whether a packet at this `depth` is marked. `sum` is the sum of the probabilities since the last mark,
    /// in units of `width`.
    #[inline]
    fn marks(&self, depth: u64, sum: &mut u64) -> bool {
        let beyond = depth.saturating_sub(self.from);
        // RFC 8257 §3.1: CE is set if the queue is longer than K.
        if beyond == 0 {
            return false;
        }
        // RFC 9332 appendix A.1, `laqm`: `(qdelay - minTh) / range`, and 1 from `maxTh` on.
        if beyond >= self.width {
            return true;
        }
        // `recur` of Linux: `count += likelihood`. If the sum exceeds 1, 1 is subtracted and the packet is
        // marked.
        let room = self.width - *sum;
        let is_due = beyond > room;
        *sum = if is_due { beyond - room } else { *sum + beyond };
        is_due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ramp(from: u64, width: u64) -> Scalable {
        let size = |packets| QueueDepth::Size(QueueSize::Packets(packets));
        let ramp = DepthRampConfig { from: size(from), width: size(width) };
        let config = ScalableConfig { mark: ScalableMarking::Ramp(ramp), ecn: LowLatencyEcn::L4s };
        config.build().unwrap()
    }

    #[test]
    fn a_ramp_marks_with_the_probability_of_its_line() {
        let ramp = ramp(8, 16);
        for depth in 0..40 {
            let (mut sum, mut marked) = (0, 0);
            for _ in 0..1600 {
                marked += u64::from(ramp.marks(depth, &mut sum));
            }
            let expected = (depth.saturating_sub(8) * 100).min(1600);
            // The sum must exceed 1, so there can be one mark less.
            assert!(marked.abs_diff(expected) <= 1, "{depth}: {marked}, expected {expected}");
        }
    }

    #[test]
    fn the_longest_depths_do_not_overflow() {
        let (ramp, mut sum) = (ramp(0, u64::MAX), 0);
        let marked = (0..6).map(|_| ramp.marks(u64::MAX - 1, &mut sum)).collect::<Vec<_>>();
        assert_eq!(marked, [false, true, true, true, true, true]);
        assert!(ramp.marks(u64::MAX, &mut sum));
    }
}
