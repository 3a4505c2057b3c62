//! The use of the timer by the sender.

use perhop_qos::units::Time;

use super::super::super::sender::Sender;
use super::super::{LinuxSender, State, microseconds};
use super::{SLACK_TICKS, Timer};

impl LinuxSender {
    /// Sets the timer to `ticks` ticks from now. The timer expires one tick later, so that it is never early
    /// (`kernel/time/timer.c`, `calc_index`).
    pub(in crate::tcp::linux) fn set_timer(
        &mut self,
        stream: &mut Sender,
        now: Time,
        timer: Timer,
        ticks: u64,
    ) {
        self.timer = timer;
        self.expires = self.clock.instant(self.clock.ticks_at(now) + ticks + 1);
        self.arm(stream);
    }
    pub(in crate::tcp::linux) fn arm(&self, stream: &mut Sender) {
        stream.deadline = self.expires.min(self.wakes);
    }
    /// Wakes the sender at `departs`, when the pace permits the next segment.
    pub(in crate::tcp::linux) fn wake_at(&mut self, stream: &mut Sender, departs: Time) {
        self.wakes = departs;
        self.arm(stream);
    }
    /// Returns `microseconds` in ticks, rounded up.
    pub(in crate::tcp::linux) fn ticks_of(&self, microseconds: u64) -> u64 {
        let span = Time::from_microseconds(microseconds);
        let whole = self.clock.ticks_in(span);
        whole + u64::from(self.clock.span(whole) < span)
    }
    pub(in crate::tcp::linux) fn rto_ticks(&self, stream: &Sender) -> u64 {
        self.clock.ticks_in(stream.rtt.rto()).max(1)
    }
    /// Returns the time until the retransmission timeout of the first segment, counted from its transmission,
    /// microseconds; `None` if it is over (`tcp_rto_delta_us`).
    fn until_timeout(&self, stream: &Sender, now: Time) -> Option<u64> {
        let sent = self.records.head()?.sent;
        (sent + microseconds(stream.rtt.rto())).checked_sub(microseconds(now)).filter(|left| *left > 0)
    }

    /// Restarts the retransmission timer (`tcp_rearm_rto`). If the timer had another purpose, the timeout
    /// counts from the transmission of the first segment.
    pub(in crate::tcp::linux) fn restart_retransmission(&mut self, stream: &mut Sender, now: Time) {
        if self.quic.is_some() {
            return self.set_loss_timer(stream);
        }
        if self.records.is_empty() {
            self.timer = Timer::Off;
            self.expires = Time::MAX;
            self.arm(stream);
            return;
        }
        let ticks = match self.timer {
            Timer::Probe | Timer::Reordering => self.ticks_of(self.until_timeout(stream, now).unwrap_or(1)),
            Timer::Off | Timer::Retransmission | Timer::LossDetection => self.rto_ticks(stream),
        };
        self.set_timer(stream, now, Timer::Retransmission, ticks);
    }
    /// Restarts the timer after new data were acknowledged (`tcp_set_xmit_timer`).
    pub(in crate::tcp::linux) fn restart_timer(&mut self, stream: &mut Sender, now: Time) {
        let ticks = self.rto_ticks(stream);
        let until = self.clock.span(ticks);
        if !self.schedule_probe(stream, now, Some(microseconds(until))) {
            self.restart_retransmission(stream, now);
        }
    }
    /// Sets the timer for a tail loss probe, if a probe is permitted (`tcp_schedule_loss_probe`). Returns
    /// whether the timer was set. The retransmission timeout is due after `timeout` microseconds; `None`
    /// means at its current time.
    pub(in crate::tcp::linux) fn schedule_probe(
        &mut self,
        stream: &mut Sender,
        now: Time,
        timeout: Option<u64>,
    ) -> bool {
        let parameters = &stream.parameters;
        let wanted = parameters.tail_loss_probe && parameters.recovery.is_selective();
        if !wanted || self.records.is_empty() || !matches!(self.state, State::Open | State::Cwr) {
            return false;
        }
        let mut ticks = match self.smoothed(stream) {
            // RFC 8985 §7.2: 2 SRTT, plus the longest delay of an acknowledgment if a single segment is in
            // flight.
            Some(scaled) => {
                let slack = if self.records.len() == 1 {
                    self.clock.ticks_in(parameters.minimum_rto)
                } else {
                    SLACK_TICKS
                };
                self.ticks_of(scaled >> 2) + slack
            }
            None => self.clock.ticks_in(parameters.initial_rto),
        };
        if let Some(left) = timeout.or_else(|| self.until_timeout(stream, now)) {
            ticks = ticks.min(self.ticks_of(left));
        }
        self.set_timer(stream, now, Timer::Probe, ticks);
        true
    }
    /// Returns 8 times the smoothed round-trip time, microseconds.
    pub(in crate::tcp::linux) fn smoothed(&self, stream: &Sender) -> Option<u64> {
        if let Some(quic) = &self.quic {
            return quic.smoothed().map(|smoothed| microseconds(smoothed) * 8);
        }
        match &self.estimator {
            Some(estimator) => Some(estimator.scaled()).filter(|scaled| *scaled > 0),
            None => stream.smoothed_round_trip().map(|smoothed| microseconds(smoothed) * 8),
        }
    }

    /// Handles the expired timer.
    pub(in crate::tcp) fn on_timer(&mut self, stream: &mut Sender, now: Time) {
        if self.wakes <= now {
            self.wakes = Time::MAX;
            self.output.resume();
        }
        if self.expires > now {
            return self.arm(stream);
        }
        self.expires = Time::MAX;
        self.arm(stream);
        if self.timer != Timer::LossDetection {
            self.output.restrain(stream.written);
        }
        match self.timer {
            Timer::Off => {}
            Timer::Retransmission => self.on_timeout(stream, now),
            Timer::Probe => self.send_probe(stream, now),
            Timer::Reordering => self.on_reordering_timer(stream, now),
            Timer::LossDetection => self.on_loss_timer(stream, now),
        }
    }
}
