//! The end of slow start by HyStart.

use super::super::super::sender::Sender;
use super::{BATCH, Hystart, MOST_FOR_BATCHES};

/// The minimum window, segments, at which HyStart ends slow start.
const LEAST_WINDOW: u32 = 16;
/// The maximum gap between acknowledgments of one train, microseconds.
const TRAIN_GAP: u64 = 2000;
/// The number of round-trip samples whose minimum is the delay of a round.
const SAMPLES: u32 = 8;
/// The limits of the delay increase that ends slow start, microseconds.
const LEAST_DELAY: u64 = 4000;
const MOST_DELAY: u64 = 16_000;

/// Returns the time in which four batches are sent at `rate` bytes per second, at most [`MOST_FOR_BATCHES`],
/// microseconds (`hystart_ack_delay`).
fn time_for_batches(rate: u64) -> u64 {
    (4 * BATCH * 1_000_000).checked_div(rate).map_or(0, |time| time.min(MOST_FOR_BATCHES))
}

impl Hystart {
    /// Processes an acknowledgment in slow start at a window of `window` segments, with round-trip time
    /// `sample` and minimum `least`. `rate` is the pace, bytes per second. Returns whether slow start is
    /// over.
    pub(in crate::tcp::linux) fn is_over(
        &mut self,
        stream: &Sender,
        now: u64,
        sample: u64,
        least: u64,
        window: u32,
        rate: u64,
    ) -> bool {
        if self.is_done {
            return false;
        }
        if stream.unacknowledged > self.ends {
            self.start_round(now, stream.next);
        }
        if window < LEAST_WINDOW {
            return false;
        }
        if now - self.last_ack <= TRAIN_GAP {
            self.last_ack = now;
            let train = least + time_for_batches(rate);
            // Without pacing, the limit is half of the train, because segments that are sent in pairs arrive
            // at half the rate of the path. With pacing, the limit is the whole train.
            let most = if stream.parameters.pacing { train } else { train / 2 };
            self.is_done |= now - self.began > most;
        }
        self.least = self.least.min(sample);
        if self.samples < SAMPLES {
            self.samples += 1;
        } else {
            self.is_done |= self.least > least + (least / 8).clamp(LEAST_DELAY, MOST_DELAY);
        }
        self.is_done
    }
}
