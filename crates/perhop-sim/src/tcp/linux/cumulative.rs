//! Cumulative acknowledgments, and round-trip samples (`tcp_clean_rtx_queue`).

use perhop_qos::units::Time;

use super::super::sender::Sender;
use super::LinuxSender;
use super::acknowledged::Ack;
use super::records::{Marks, Record};
use super::selective::MOST_REORDERING;

/// The properties of the segments that the current acknowledgment covers.
#[derive(Clone, Copy, Debug, Default)]
struct Acknowledged {
    segments: u32,
    bytes: u64,
    /// The send time of the first segment that was sent only once, microseconds.
    first_sent: Option<u64>,
    /// The send time of the last segment that was sent only once, microseconds.
    last_sent: u64,
    /// The lowest offset of segments that were sent only once and were not SACKed earlier.
    lowest: Option<u64>,
}

impl LinuxSender {
    /// Removes the records of the acknowledged segments and samples the round-trip time.
    pub(super) fn take_delivered(&mut self, stream: &mut Sender, ack: &mut Ack) {
        let is_selective = stream.parameters.recovery.is_selective();
        let mut gone = Acknowledged::default();
        let ends = stream.unacknowledged;
        while let Some(record) = self.records.pop_acknowledged(ends) {
            if let Some(rate) = &mut self.rate {
                rate.on_delivered(self.records.head_number() - 1, record.sent, record.end);
                rate.forget_first();
            }
            self.take_record(ack, &mut gone, &record, is_selective);
        }
        self.records.trim_transmissions();
        let has_sample = self.sample_round_trip(stream, ack, &gone);
        if ack.delivers {
            ack.restarts_timer = true;
            if !is_selective {
                self.remove_duplicates(gone.segments);
                ack.proves_original &= !ack.delivers_resent;
            } else if gone.lowest.is_some_and(|lowest| lowest < ack.forward_most) {
                self.check_reordering_below(stream, gone.lowest.unwrap_or(0), ack.forward_most);
            }
        } else if has_sample && let (Some(selected), Some(head)) = (ack.first_selected, self.records.head()) {
            // The timer restarts only if the SACKed data were sent before the first segment in flight was
            // last sent. Otherwise SACKs could extend the timeout again and again during a recovery.
            ack.restarts_timer |= selected < head.sent;
        }
    }

    fn take_record(&mut self, ack: &mut Ack, gone: &mut Acknowledged, record: &Record, is_selective: bool) {
        let marks = record.marks;
        if marks.is_sent_again() {
            if marks.has(Marks::RETRANSMITTED) {
                self.records.retransmitted -= 1;
            }
            ack.delivers_resent = true;
        } else if !marks.has(Marks::SACKED) {
            gone.last_sent = record.sent;
            gone.first_sent = gone.first_sent.or(Some(record.sent));
            gone.lowest = gone.lowest.or(Some(record.start));
            ack.proves_original |= record.end <= self.state_ends;
        }
        if marks.has(Marks::SACKED) {
            self.records.sacked -= 1;
        } else if is_selective {
            self.delivered += 1;
            if !(marks.is_sent_again() && ack.echoes_before(record.sent)) {
                self.advance_rack(ack.now, record);
            }
        }
        if marks.has(Marks::LOST) {
            self.records.lost -= 1;
        }
        ack.delivered_before = ack.delivered_before.max(Some(record.delivered));
        gone.segments += 1;
        gone.bytes += record.end - record.start;
        ack.delivers = true;
    }

    /// Samples the round-trip time (`tcp_ack_update_rtt`). If several segments are acknowledged, the first
    /// determines the sample for the timeout, and the last determines the sample for all other uses. Returns
    /// whether there is a sample.
    fn sample_round_trip(&mut self, stream: &mut Sender, ack: &mut Ack, gone: &Acknowledged) -> bool {
        let (mut first, mut last) = (None, None);
        if let Some(sent) = gone.first_sent
            && !ack.delivers_resent
        {
            first = Some(ack.now - sent);
            last = Some(ack.now - gone.last_sent);
            // Less than a segment was acknowledged, and no other data are in flight.
            ack.may_be_delayed = gone.bytes < stream.payload && self.records.is_empty() && !ack.selects;
        }
        if let (Some(selected), Some(latest)) = (ack.first_selected, ack.last_selected) {
            first = first.or(Some(ack.now - selected));
            last = Some(ack.now - latest);
        }
        if first.is_none()
            && ack.delivers
            && let Some(echo) = ack.echo
        {
            // For retransmitted data only a timestamp identifies the transmission that arrived.
            let span = (ack.now / 1000).saturating_sub(echo).max(1) * 1000;
            (first, last) = (Some(span), Some(span));
        }
        ack.round_trip = last;
        let (Some(first), Some(last)) = (first, last) else {
            return false;
        };
        if !(ack.may_be_delayed && last > self.least.get()) {
            self.least.add(ack.now, last.max(1));
        }
        self.take_sample(stream, ack.time, first);
        self.on_round_trip(stream, ack, last);
        true
    }

    /// Processes a round-trip sample, which determines the timeout and ends the back-off.
    pub(super) fn take_sample(&mut self, stream: &mut Sender, now: Time, sample: u64) {
        let Some(estimator) = &mut self.estimator else {
            let sent = now.saturating_sub(Time::from_microseconds(sample));
            stream.rtt.sample(&stream.parameters, sent, now, f64::from(self.window));
            return;
        };
        estimator.sample(sample, stream.unacknowledged, stream.next);
        let timeout = estimator.timeout();
        let ticks = self.ticks_of(timeout);
        stream.rtt.set_base(&stream.parameters, self.clock.span(ticks));
    }

    /// Updates the reordering, because data at `lowest` filled a hole without a retransmission
    /// (`tcp_check_sack_reordering`).
    fn check_reordering_below(&mut self, stream: &Sender, lowest: u64, forward_most: u64) {
        let distance = forward_most - lowest;
        if distance > u64::from(self.reordering) * stream.payload {
            self.reordering = (distance.div_ceil(stream.payload) as u32).min(MOST_REORDERING);
        }
        self.has_reordered = true;
    }

    /// Counts `duplicates` duplicate acknowledgments as delivered segments, for connections without SACK
    /// (`tcp_add_reno_sack`).
    pub(super) fn add_duplicates(&mut self, duplicates: u32) {
        if duplicates == 0 {
            return;
        }
        let before = self.records.sacked;
        self.records.sacked += duplicates;
        self.limit_duplicates(0);
        self.delivered += self.records.sacked.saturating_sub(before);
    }
    /// Removes the duplicates that represented the `acknowledged` segments. The first of these segments
    /// filled a hole, so no duplicate represented it (`tcp_remove_reno_sacks`).
    fn remove_duplicates(&mut self, acknowledged: u32) {
        if acknowledged > 0 {
            self.delivered += acknowledged.saturating_sub(self.records.sacked).max(1);
            self.records.sacked = self.records.sacked.saturating_sub(acknowledged - 1);
        }
        self.limit_duplicates(acknowledged);
    }
    /// Limits the number of duplicates to the segments in flight without holes. A higher number indicates
    /// reordering (`tcp_check_reno_reordering`).
    fn limit_duplicates(&mut self, acknowledged: u32) {
        let flight = self.records.len();
        let holes = self.records.lost.max(1).min(flight);
        if self.records.sacked + holes > flight {
            self.records.sacked = flight - holes;
            self.reordering = (flight + acknowledged).min(MOST_REORDERING);
            self.has_reordered = true;
        }
    }
    /// Sets the number of duplicates to 0 (`tcp_reset_reno_sack`).
    pub(super) fn forget_duplicates(&mut self) {
        self.records.sacked = 0;
    }
}
