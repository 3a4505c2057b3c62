//! Growth of the congestion window: when, and by how much.

mod hooks;

/// How much of the congestion window is used.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Usage {
    /// Whether the congestion window limited the sender during the window of data that ends at `ends`, and
    /// the most segments in flight.
    is_limited: bool,
    most: u32,
    ends: u64,
    /// The most segments in flight since the window was used whole, and when that was, in ticks.
    since: u32,
    whole_at: u64,
}

impl Usage {
    /// Whether the window was used whole during the last window of data.
    pub(super) fn is_whole(&self) -> bool {
        self.is_limited
    }
    /// The connection is open, at tick `now`.
    pub(super) fn begin(&mut self, now: u64) {
        self.whole_at = now;
    }
}
