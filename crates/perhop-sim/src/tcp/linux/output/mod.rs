//! The order in which segments are sent: lost segments, then new data (`tcp_xmit_retransmit_queue`,
//! `tcp_write_xmit`).

mod hooks;

/// A segment that is sent regardless of the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Forced {
    /// The first segment in flight, after a timeout.
    Head,
    /// The first lost segment.
    FirstLoss,
    /// A tail loss probe, with new data or the last segment.
    NewProbe,
    TailProbe,
    /// A probe of QUIC.
    Probe,
}

/// The transmissions that the last event requested.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Output {
    forced: Option<Forced>,
    /// Whether losses must be repaired.
    repairs: bool,
    /// F-RTO: whether new data precede losses.
    new_first: bool,
    /// The number of new segments since the use of the window was last checked.
    new_segments: u32,
    /// The amount of written data when a timer expired. Until the next acknowledgment, new data are sent only
    /// if the application has written more than this amount.
    restrained: Option<u64>,
}

impl Output {
    pub(super) fn retransmit_losses(&mut self) {
        self.repairs = true;
    }
    pub(super) fn send_new_first(&mut self) {
        self.new_first = true;
    }
    pub(super) fn force(&mut self, forced: Forced) {
        self.forced = Some(forced);
    }
    /// Continues with retransmissions and new data when the pace permits them.
    pub(super) fn resume(&mut self) {
        self.repairs = true;
    }
    pub(super) fn restrain(&mut self, written: u64) {
        self.restrained = Some(written);
    }
    /// Permits new data again after an acknowledgment.
    pub(super) fn release(&mut self) {
        *self = Output { new_segments: self.new_segments, ..Output::default() };
    }
}
