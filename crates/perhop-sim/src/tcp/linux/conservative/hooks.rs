//! The use of HyStart++ by the sender.

use super::super::super::sender::Sender;
use super::{ConservativeStart, NONE};

/// The number of samples that determine the delay of a round (`N_RTT_SAMPLE`).
const SAMPLES: u32 = 8;
/// The divisor of growth in CSS (`CSS_GROWTH_DIVISOR`).
const GROWTH_DIVISOR: u32 = 4;
/// The number of rounds of CSS (`CSS_ROUNDS`).
const ROUNDS: u32 = 5;
/// L: the maximum growth for one acknowledgment without pacing, segments.
const MOST_SEGMENTS: u32 = 8;

impl ConservativeStart {
    /// Processes an acknowledgment in slow start with round-trip time `sample`. Returns whether slow start
    /// ends (RFC 9406 §4.2).
    pub(in crate::tcp::linux) fn on_sample(&mut self, stream: &Sender, sample: u64) -> bool {
        if self.is_over {
            return false;
        }
        if stream.unacknowledged >= self.ends {
            self.rounds += u32::from(self.baseline.is_some());
            if self.rounds >= ROUNDS {
                self.is_over = true;
                return true;
            }
            (self.last, self.current, self.samples) = (self.current, NONE, 0);
            self.ends = stream.next;
        }
        self.current = self.current.min(sample);
        self.samples += 1;
        if self.samples >= SAMPLES {
            self.judge_round();
        }
        false
    }
    /// Returns the growth of the window for `segments` acknowledged segments.
    pub(in crate::tcp::linux) fn growth(&mut self, stream: &Sender, segments: u32) -> u32 {
        if self.is_over {
            return segments;
        }
        let counted = if stream.parameters.pacing { segments } else { segments.min(MOST_SEGMENTS) };
        if self.baseline.is_none() {
            return counted;
        }
        self.credit += counted;
        let grown = self.credit / GROWTH_DIVISOR;
        self.credit %= GROWTH_DIVISOR;
        grown
    }
}
