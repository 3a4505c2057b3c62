//! The order of segments: losses, then new data (`tcp_xmit_retransmit_queue`, `tcp_write_xmit`).

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

/// The sends that the last event requested.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Output {
    forced: Option<Forced>,
    /// Whether losses must be repaired.
    repairs: bool,
    /// F-RTO: whether new data precede losses.
    new_first: bool,
    /// New segments since the last check of the use of the window.
    new_segments: u32,
    /// The amount of written data at the expiry of a timer. No new data are sent before the next
    /// acknowledgment, unless the application has written more than this amount.
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
    /// Continues to send when the pace permits it, and also repairs losses, if any.
    pub(super) fn resume(&mut self) {
        self.repairs = true;
    }
    pub(super) fn restrain(&mut self, written: u64) {
        self.restrained = Some(written);
    }
    /// Lifts the restraint after an acknowledgment.
    pub(super) fn release(&mut self) {
        *self = Output { new_segments: self.new_segments, ..Output::default() };
    }
}
