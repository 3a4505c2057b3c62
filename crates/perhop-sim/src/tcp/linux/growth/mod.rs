//! Growth of the congestion window.

mod hooks;

/// The use of the congestion window.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Usage {
    /// Whether the congestion window limited the sender during the current window of data.
    is_limited: bool,
    /// The maximum flight during the current window of data, segments.
    most: u32,
    /// The offset whose acknowledgment ends the current window of data.
    ends: u64,
    /// The maximum flight since the time at which the window was last fully used, segments.
    since: u32,
    /// The tick at which the window was last fully used.
    whole_at: u64,
}

impl Usage {
    /// Whether the congestion window limited the sender during the current window of data.
    pub(super) fn is_whole(&self) -> bool {
        self.is_limited
    }
    /// Starts the observation at tick `now`, when the connection opens.
    pub(super) fn begin(&mut self, now: u64) {
        self.whole_at = now;
    }
}
