//! Growth of the congestion window.

mod hooks;

/// The use of the congestion window.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Usage {
    /// Whether the congestion window limited the sender during the window of data that ends at `ends`, and
    /// the maximum flight, segments.
    is_limited: bool,
    most: u32,
    ends: u64,
    /// The maximum flight since the window was last fully used, segments, and the tick of that time.
    since: u32,
    whole_at: u64,
}

impl Usage {
    /// Whether the window was fully used during the last window of data.
    pub(super) fn is_whole(&self) -> bool {
        self.is_limited
    }
    /// Starts when the connection opens, at tick `now`.
    pub(super) fn begin(&mut self, now: u64) {
        self.whole_at = now;
    }
}
