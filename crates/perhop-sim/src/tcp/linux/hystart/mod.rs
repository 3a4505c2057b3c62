//! HyStart: the end of slow start before a loss (Ha and Rhee 2011), with both detectors of Linux
//! (`net/ipv4/tcp_cubic.c`, `hystart_update`).

mod hooks;

use perhop_scenario::tcp::{Parameters, SlowStartExit};

/// The maximum size of a batch that the network device divides into segments, bytes (`gso_max_size`).
const BATCH: u64 = 65_536;
/// The maximum time for four batches, microseconds.
const MOST_FOR_BATCHES: u64 = 1000;

/// The state of the current round. Times are in microseconds.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Hystart {
    /// Whether the end of slow start was detected.
    is_done: bool,
    began: u64,
    last_ack: u64,
    /// The offset whose acknowledgment ends the round.
    ends: u64,
    least: u64,
    samples: u32,
}

impl Hystart {
    pub(super) fn is_wanted(parameters: &Parameters) -> bool {
        parameters.slow_start_exit == SlowStartExit::Hystart
    }
    /// Starts the detection again after a timeout.
    pub(super) fn reset(&mut self, now: u64, next: u64) {
        self.is_done = false;
        self.start_round(now, next);
    }
    /// Begins a round at `now`. The round ends when data beyond `ends` are acknowledged.
    pub(super) fn start_round(&mut self, now: u64, ends: u64) {
        *self =
            Hystart { is_done: self.is_done, began: now, last_ack: now, ends, least: u64::MAX, samples: 0 };
    }
}
