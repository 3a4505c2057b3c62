//! BBR: congestion control with a model of the path, which has a delivery rate and a minimum round-trip time
//! (Cardwell et al. 2016, draft-ietf-ccwg-bbr). Times are in microseconds, or in ticks where stated.
//!
//! `bbr1` is version 1 of Linux 6.1 (`net/ipv4/tcp_bbr.c`), and `policed` is its mode for policers. `bbr3` is
//! version 3 (google/bbr, branch v3), with its phases in `probing` and its limits in `signals` and `bounds`.
//! Both versions read the state of the connection from [`Facts`] and each acknowledgment from a
//! [`RateSample`]. The sender calls them in `hooks`.

mod aggregation;
mod bbr1;
mod bbr3;
mod bounds;
mod facts;
mod hooks;
mod phase;
mod policed;
mod probing;
mod signals;

// The plain model of the tests and its comparison with `Bbr1` need the type `Facts`, which is private.
#[cfg(test)]
#[path = "../../../../tests/bbr/plain/mod.rs"]
mod plain;
#[cfg(test)]
#[path = "../../../../tests/bbr/plain_agrees.rs"]
mod plain_agrees;

use perhop_qos::random::Streams;
use perhop_qos::units::Time;
use perhop_scenario::tcp::CongestionControl;

use super::State;
use super::rate::{Departure, RateSample};
use bbr1::Bbr1;
use bbr3::Bbr3;
use facts::Facts;
pub use facts::{BbrMode, BbrModel};

/// BBR version 1 or 3.
#[derive(Clone, Debug)]
pub(super) enum Bbr {
    V1(Bbr1),
    V3(Bbr3),
}

impl Bbr {
    /// Creates the version that `control` names; `None` for other algorithms. `seed` differs between
    /// connections.
    pub(super) fn new(control: CongestionControl, seed: Time) -> Option<Box<Bbr>> {
        let random = || Streams::new(seed.as_picoseconds(), 0).child("bbr").stream();
        let bbr = match control {
            CongestionControl::Bbr => Bbr::V1(Bbr1::new(random())),
            CongestionControl::Bbr3 => Bbr::V3(Bbr3::new(random())),
            CongestionControl::Reno
            | CongestionControl::Cubic
            | CongestionControl::Dctcp
            | CongestionControl::Prague
            | CongestionControl::Ledbat => return None,
        };
        Some(Box::new(bbr))
    }
    /// Opens the connection (`bbr_init`).
    fn open(&mut self, facts: &Facts) {
        match self {
            Bbr::V1(bbr) => bbr.open(facts),
            Bbr::V3(bbr) => bbr.open(facts),
        }
    }
    /// Processes an acknowledgment (`bbr_main`).
    fn on_acknowledgment(&mut self, facts: &mut Facts, sample: &RateSample) {
        match self {
            Bbr::V1(bbr) => bbr.on_acknowledgment(facts, sample),
            Bbr::V3(bbr) => bbr.on_acknowledgment(facts, sample),
        }
    }
    /// Reports that data are sent while no data are in flight (`CA_EVENT_TX_START`).
    fn on_first_in_flight(&mut self, facts: &mut Facts) {
        if !facts.is_app_limited {
            return;
        }
        match self {
            Bbr::V1(bbr) => bbr.on_restart(facts),
            Bbr::V3(bbr) => bbr.on_restart(facts),
        }
    }
    /// Reports a congestion event, at which other algorithms would begin to reduce `window` (`bbr_ssthresh`).
    pub(super) fn on_reduction(&mut self, window: u32) {
        match self {
            Bbr::V1(bbr) => bbr.save_window(window),
            Bbr::V3(bbr) => bbr.on_reduction(window),
        }
    }
    /// Reports that the retransmission timer has expired (`bbr_set_state`).
    fn on_timeout(&mut self, facts: &Facts) {
        match self {
            Bbr::V1(bbr) => bbr.on_timeout(facts),
            Bbr::V3(bbr) => bbr.on_timeout(facts),
        }
    }
    /// Reports that loss recovery enters `state` with a window of `window` segments. Returns the new window
    /// (`bbr_set_state`).
    pub(super) fn window_in(&mut self, state: State, window: u32) -> u32 {
        match self {
            Bbr::V1(_) => window,
            Bbr::V3(bbr) => bbr.window_in(state, window),
        }
    }
    /// Reports that the segment of `departure` is marked lost. `facts` already counts it
    /// (`bbr_skb_marked_lost`).
    fn on_lost(&mut self, facts: &Facts, departure: &Departure) {
        if let Bbr::V3(bbr) = self {
            bbr.on_lost(facts, departure);
        }
    }
    /// Reports that a tail loss probe repaired a loss (`CA_EVENT_TLP_RECOVERY`).
    fn on_probe_recovery(&mut self, facts: &Facts, is_app_limited: bool) {
        if let Bbr::V3(bbr) = self {
            bbr.on_probe_recovery(facts, is_app_limited);
        }
    }
    /// Reports that the last recovery was spurious (`bbr_undo_cwnd`).
    fn undo(&mut self, facts: &mut Facts) {
        match self {
            Bbr::V1(bbr) => bbr.undo(facts),
            Bbr::V3(bbr) => bbr.undo(facts),
        }
    }
    /// Whether this version of BBR needs a report of each loss.
    pub(super) fn wants_losses(&self) -> bool {
        matches!(self, Bbr::V3(_))
    }
    /// The pace, bytes per second.
    pub(super) fn pacing_rate(&self) -> u64 {
        match self {
            Bbr::V1(bbr) => bbr.pacing_rate(),
            Bbr::V3(bbr) => bbr.pacing_rate(),
        }
    }
    pub(super) fn model(&self, payload: u64) -> BbrModel {
        match self {
            Bbr::V1(bbr) => bbr.model(payload),
            Bbr::V3(bbr) => bbr.model(payload),
        }
    }
}
