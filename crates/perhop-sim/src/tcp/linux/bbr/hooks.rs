//! The interface between the sender and BBR.

use perhop_qos::units::Time;
use perhop_scenario::tcp::EcnFeedback;

use super::super::super::sender::Sender;
use super::super::acknowledged::Ack;
use super::super::rate::{DeliveryRate, Totals};
use super::super::{LinuxSender, microseconds};
use super::facts::{BbrModel, Facts};

impl LinuxSender {
    /// Whether the congestion control sets the window itself in every state, as Prague and BBR do
    /// (`cong_control`).
    pub(in crate::tcp::linux) fn has_own_control(&self) -> bool {
        self.has_prague() || self.bbr.is_some()
    }
    /// BBR's model of the path, if BBR is in use.
    pub(in crate::tcp) fn bbr_model(&self, payload: u64) -> Option<BbrModel> {
        self.bbr.as_ref().map(|bbr| bbr.model(payload))
    }

    fn totals(&self, now: Time) -> Totals {
        Totals {
            now: microseconds(now),
            delivered: self.delivered,
            marked: self.feedback.marked,
            lost: self.records.losses,
            in_flight: self.in_flight(),
        }
    }
    fn facts(&self, stream: &Sender, now: Time) -> Facts {
        let rate = self.rate.as_deref();
        let departs = self.pacer.as_ref().map_or(Time::ZERO, |pacer| pacer.departs());
        let is_exact = stream.parameters.ecn_feedback != EcnFeedback::Classic;
        Facts {
            now: microseconds(now),
            ticks: self.clock.ticks_at(now),
            clock: self.clock,
            delivered: self.delivered,
            delivered_at: rate.map_or(0, DeliveryRate::delivered_at),
            marked: self.feedback.marked,
            lost: self.records.losses,
            in_flight: self.in_flight(),
            is_limited: self.usage.is_whole(),
            is_app_limited: rate.is_some_and(DeliveryRate::is_app_limited),
            state: self.state,
            smoothed: self.smoothed(stream).unwrap_or(0),
            least: self.least.get(),
            payload: stream.payload,
            until_departure: microseconds(departs.saturating_sub(now)),
            has_exact_marks: stream.ecn && is_exact,
            window: self.window,
            threshold: self.threshold,
            ignores_flight: false,
        }
    }
    fn take_answer(&mut self, facts: &Facts) {
        (self.window, self.threshold) = (facts.window, facts.threshold);
        if facts.ignores_flight {
            self.limit_by_application();
        }
    }
    fn limit_by_application(&mut self) {
        let in_flight = self.in_flight();
        if let Some(rate) = &mut self.rate {
            rate.limit_by_application(self.delivered, in_flight);
        }
    }

    /// Opens the connection.
    pub(in crate::tcp::linux) fn open_bbr(&mut self, stream: &Sender, now: Time) {
        if self.bbr.is_none() {
            return;
        }
        let facts = self.facts(stream, now);
        if let Some(bbr) = &mut self.bbr {
            bbr.open(&facts);
        }
    }
    /// Records a write of the application. Until the write, the sender was application-limited if it had less
    /// than a segment to send and no other limit applied (`tcp_rate_check_app_limited`).
    pub(in crate::tcp) fn note_write(&mut self, unsent: u64, payload: u64) {
        let has_room = self.in_flight() < self.window;
        let is_repaired = self.records.lost <= self.records.retransmitted;
        if self.rate.is_some() && unsent < payload && has_room && is_repaired {
            self.limit_by_application();
        }
    }

    /// Records that the segment `number` is about to be sent or retransmitted.
    pub(in crate::tcp::linux) fn note_departure(&mut self, now: Time, number: u64) {
        let (totals, is_first) = (self.totals(now), self.records.is_empty());
        if let Some(rate) = &mut self.rate {
            rate.on_sent(number, &totals, is_first);
        }
    }
    /// Reports to BBR that data are sent after a time without data in flight.
    pub(in crate::tcp::linux) fn restart_bbr(&mut self, stream: &Sender, now: Time) {
        self.report(stream, now, super::Bbr::on_first_in_flight);
    }
    fn report(&mut self, stream: &Sender, now: Time, what: impl FnOnce(&mut super::Bbr, &mut Facts)) {
        if self.bbr.is_none() {
            return;
        }
        let mut facts = self.facts(stream, now);
        if let Some(bbr) = &mut self.bbr {
            what(bbr, &mut facts);
        }
        self.take_answer(&facts);
    }

    /// Begins the rate sample of an acknowledgment.
    pub(in crate::tcp::linux) fn begin_sample(&mut self) {
        if let Some(rate) = &mut self.rate {
            rate.begin();
        }
    }
    /// Reports an acknowledgment with `delivered` delivered and `losses` lost segments to BBR (`bbr_main`).
    pub(in crate::tcp::linux) fn control_bbr(
        &mut self,
        stream: &Sender,
        ack: &Ack,
        delivered: u32,
        losses: u32,
    ) {
        let (totals, least) = (self.totals(ack.time), self.least.get());
        let least = if least == u64::MAX { 0 } else { least };
        let Some(rate) = &mut self.rate else { return };
        let mut sample = rate.sample(&totals, delivered, losses, least);
        sample.prior_in_flight = ack.prior_in_flight;
        sample.round_trip = ack.round_trip;
        sample.may_be_delayed = ack.may_be_delayed;
        sample.has_mark = ack.marked;
        sample.answers_probe = ack.answers_probe;
        self.report(stream, ack.time, |bbr, facts| bbr.on_acknowledgment(facts, &sample));
    }

    /// Reports to BBR the segments that were marked lost since the last call.
    pub(in crate::tcp::linux) fn report_losses(&mut self, stream: &Sender, now: Time) {
        if !self.records.has_fresh_losses() {
            return;
        }
        let mut facts = self.facts(stream, now);
        let all = self.records.losses;
        let fresh = self.records.fresh_losses().len() as u32;
        let (Some(bbr), Some(rate)) = (&mut self.bbr, &self.rate) else { return };
        for (number, before) in self.records.fresh_losses().iter().zip((1..=fresh).rev()) {
            facts.lost = all - (before - 1);
            if let Some(departure) = rate.departure(*number) {
                bbr.on_lost(&facts, departure);
            }
        }
        self.records.forget_fresh_losses();
    }
    /// Reports to BBR that the retransmission timer has expired and the window is reduced.
    pub(in crate::tcp::linux) fn report_timeout(&mut self, stream: &Sender, now: Time) {
        self.report(stream, now, |bbr, facts| bbr.on_timeout(facts));
    }
    /// Records that a tail loss probe retransmits the segment `number`.
    pub(in crate::tcp::linux) fn note_probe(&mut self, number: u64) {
        if let Some(rate) = &mut self.rate {
            rate.probe_is_app_limited = rate.departure(number).is_some_and(|sent| sent.is_app_limited);
        }
    }
    /// Reports to BBR that a tail loss probe repaired a loss.
    pub(in crate::tcp::linux) fn report_probe_recovery(&mut self, stream: &Sender, now: Time) {
        let is_app_limited = self.rate.as_ref().is_some_and(|rate| rate.probe_is_app_limited);
        self.report(stream, now, |bbr, facts| bbr.on_probe_recovery(facts, is_app_limited));
    }
    /// Reports to BBR that the last recovery was spurious. BBR does not use the time of this report.
    pub(in crate::tcp::linux) fn report_undo(&mut self, stream: &Sender) {
        self.report(stream, stream.last_sent, super::Bbr::undo);
    }
}
