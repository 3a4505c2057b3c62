//! What is sent next: losses, then new data (`tcp_xmit_retransmit_queue`, `tcp_write_xmit`).

mod hooks;

/// A segment that is to be sent whatever the window permits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Forced {
    /// The first in flight, after a timeout.
    Head,
    /// The first that is lost.
    FirstLoss,
    /// A tail loss probe: new data, or the last segment again.
    NewProbe,
    TailProbe,
    /// A probe of QUIC.
    Probe,
}

/// What the last event asked for.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Output {
    forced: Option<Forced>,
    /// Losses are to be repaired.
    repairs: bool,
    /// F-RTO: new data before losses.
    new_first: bool,
    /// New segments since the last look at the use of the window.
    new_segments: u32,
    /// After a timer no new data are sent before the next acknowledgment, unless the application has given
    /// more than this.
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
    /// The pace lets more leave: losses, too, if there are any.
    pub(super) fn go_on(&mut self) {
        self.repairs = true;
    }
    pub(super) fn restrain(&mut self, written: u64) {
        self.restrained = Some(written);
    }
    /// An acknowledgment arrived.
    pub(super) fn release(&mut self) {
        *self = Output { new_segments: self.new_segments, ..Output::default() };
    }
}
