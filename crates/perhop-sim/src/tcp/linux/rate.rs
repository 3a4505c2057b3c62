//! [`DeliveryRate`]: samples of the delivery rate of the network (draft-ietf-ccwg-bbr §4.1; Linux
//! `net/ipv4/tcp_rate.c`). Times are in microseconds.

use std::collections::VecDeque;

/// The state of the connection when a segment was last sent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Departure {
    /// `tx.first_tx_mstamp`: the send time of the segment that was the last to be delivered before this
    /// departure.
    first_sent: u64,
    /// `tx.delivered_mstamp`: the time of the last delivery before this departure.
    delivered_at: u64,
    /// The number of segments that had been delivered before this departure.
    delivered: u32,
    /// The number of delivered segments that had arrived marked.
    marked: u32,
    /// The number of segments that had been declared lost.
    pub(super) lost: u32,
    /// The number of segments in flight, including this segment.
    pub(super) in_flight: u32,
    /// Whether the sender was limited by the application.
    pub(super) is_app_limited: bool,
    /// Whether the segment was SACKed, so that its cumulative acknowledgment is not a further sample.
    is_delivered: bool,
}

/// The latest segment of an acknowledgment: the segment that was sent last of all segments that the
/// acknowledgment delivers.
#[derive(Clone, Copy, Debug)]
struct Latest {
    departure: Departure,
    end: u64,
    /// The duration of the sending phase.
    sending: u64,
}

/// The sample of one acknowledgment (`struct rate_sample`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools)] // each is one of Linux's flags
pub(super) struct RateSample {
    /// The number of segments delivered between the departure of the latest segment and this acknowledgment.
    /// `None` if the acknowledgment delivers no segment with a departure.
    pub(super) delivered: Option<u32>,
    /// The number of segments delivered before the departure of the latest segment.
    pub(super) delivered_before: u32,
    /// The duration of the interval of `delivered`; `None` if it is shorter than the minimum round-trip time.
    pub(super) interval: Option<u64>,
    /// The number of segments in `delivered` that had arrived marked.
    pub(super) marked: u32,
    /// The number of segments in flight when the latest segment was sent.
    pub(super) sent_in_flight: u32,
    /// The number of segments declared lost since the departure of the latest segment.
    pub(super) lost: u32,
    /// Whether the sender was application-limited when the latest segment was sent.
    pub(super) is_app_limited: bool,
    /// The number of segments that this acknowledgment delivers.
    pub(super) newly_delivered: u32,
    /// The number of segments that this acknowledgment shows to be lost.
    pub(super) newly_lost: u32,
    /// The number of segments in flight before the acknowledgment.
    pub(super) prior_in_flight: u32,
    /// The round-trip sample.
    pub(super) round_trip: Option<u64>,
    /// Whether the receiver may have delayed the acknowledgment.
    pub(super) may_be_delayed: bool,
    /// Whether the acknowledgment reports marks.
    pub(super) has_mark: bool,
    /// Whether the acknowledgment covers a tail loss probe, which may have repaired a loss.
    pub(super) answers_probe: bool,
}

/// The counters of the connection at a time.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Totals {
    pub(super) now: u64,
    pub(super) delivered: u32,
    pub(super) marked: u32,
    pub(super) lost: u32,
    pub(super) in_flight: u32,
}

/// The delivery rate of a connection.
#[derive(Clone, Debug, Default)]
pub(super) struct DeliveryRate {
    /// The departures of the segments in flight, in stream order.
    departures: VecDeque<Departure>,
    /// The number of the first segment in flight.
    first: u64,
    /// `first_tx_mstamp`: the send time of the last delivered segment.
    first_sent: u64,
    /// `delivered_mstamp`: the time of the last delivery.
    delivered_at: u64,
    /// `app_limited`: samples show the rate of the application until the delivery count exceeds this value.
    app_limited: Option<u32>,
    latest: Option<Latest>,
    /// Whether the segment that a tail loss probe repeated was application-limited.
    pub(super) probe_is_app_limited: bool,
}

impl DeliveryRate {
    /// Records that the segment `number` is sent, with the counters `totals` (`tcp_rate_skb_sent`).
    /// `is_first` means that no other segment is outstanding.
    pub(super) fn on_sent(&mut self, number: u64, totals: &Totals, is_first: bool) {
        if is_first {
            self.first_sent = totals.now;
            self.delivered_at = totals.now;
        }
        let departure = Departure {
            first_sent: self.first_sent,
            delivered_at: self.delivered_at,
            delivered: totals.delivered,
            marked: totals.marked,
            lost: totals.lost,
            in_flight: totals.in_flight + 1,
            is_app_limited: self.app_limited.is_some(),
            is_delivered: false,
        };
        let index = (number - self.first) as usize;
        match self.departures.get_mut(index) {
            Some(known) => *known = departure,
            None => self.departures.push_back(departure),
        }
    }
    pub(super) fn departure(&self, number: u64) -> Option<&Departure> {
        self.departures.get(number.checked_sub(self.first)? as usize)
    }

    /// Begins the sample of an acknowledgment.
    pub(super) fn begin(&mut self) {
        self.latest = None;
    }
    /// Records that the segment `number`, which ends at `end` and was sent at `sent`, is delivered
    /// (`tcp_rate_skb_delivered`).
    pub(super) fn on_delivered(&mut self, number: u64, sent: u64, end: u64) {
        let Some(departure) = self.departures.get_mut((number - self.first) as usize) else { return };
        if std::mem::replace(&mut departure.is_delivered, true) {
            return;
        }
        let departure = *departure;
        let is_latest = self.latest.is_none_or(|latest| (sent, end) > (self.first_sent, latest.end));
        if is_latest {
            self.first_sent = sent;
            let sending = sent.saturating_sub(departure.first_sent);
            self.latest = Some(Latest { departure, end, sending });
        }
    }
    /// Removes the first segment in flight, which is cumulatively acknowledged.
    pub(super) fn forget_first(&mut self) {
        self.departures.pop_front();
        self.first += 1;
    }
    /// Returns the sample of the acknowledgment at `totals.now`, which shows `delivered` segments delivered
    /// and `lost` segments lost (`tcp_rate_gen`). The minimum round-trip time is `least`.
    pub(super) fn sample(&mut self, totals: &Totals, delivered: u32, lost: u32, least: u64) -> RateSample {
        if self.app_limited.is_some_and(|limit| totals.delivered > limit) {
            self.app_limited = None;
        }
        if delivered > 0 {
            self.delivered_at = totals.now;
        }
        let mut sample = RateSample { newly_delivered: delivered, newly_lost: lost, ..RateSample::default() };
        let Some(Latest { departure, sending, .. }) = self.latest else { return sample };
        sample.delivered = Some(totals.delivered - departure.delivered);
        sample.delivered_before = departure.delivered;
        sample.marked = totals.marked - departure.marked;
        sample.lost = totals.lost - departure.lost;
        sample.sent_in_flight = departure.in_flight;
        sample.is_app_limited = departure.is_app_limited;
        // The interval is the longer of the sending and the receiving phase. Otherwise, acknowledgments that
        // arrive together would result in a rate above the rate of the path.
        let interval = sending.max(totals.now - departure.delivered_at);
        sample.interval = Some(interval).filter(|interval| *interval >= least && *interval > 0);
        sample
    }

    /// Marks all segments in flight as application-limited.
    pub(super) fn limit_by_application(&mut self, delivered: u32, in_flight: u32) {
        self.app_limited = Some(delivered + in_flight);
    }
    pub(super) fn is_app_limited(&self) -> bool {
        self.app_limited.is_some()
    }
    /// The time of the last delivery.
    pub(super) fn delivered_at(&self) -> u64 {
        self.delivered_at
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn totals(now: u64, delivered: u32, in_flight: u32) -> Totals {
        Totals { now, delivered, in_flight, ..Totals::default() }
    }

    /// draft-ietf-ccwg-bbr §4.1.2 by hand: four segments leave 1 ms apart and arrive 2 ms apart. The rate of
    /// the fourth segment is the number of segments delivered since it was sent, divided by the longer of
    /// both phases.
    #[test]
    fn a_sample_is_delivered_bytes_over_the_longer_phase() {
        let mut rate = DeliveryRate::default();
        for number in 0..4_u64 {
            rate.on_sent(number, &totals(1000 * number, 1, number as u32), number == 0);
        }
        for number in 0..4_u64 {
            let (now, delivered) = (20_000 + 2000 * number, 2 + number as u32);
            rate.begin();
            rate.on_delivered(number, 1000 * number, 1000 * (number + 1));
            rate.forget_first();
            let sample = rate.sample(&totals(now, delivered, 3 - number as u32), 1, 0, 20_000);
            assert_eq!(sample.delivered, Some(1 + number as u32));
            assert_eq!(sample.interval, Some(now), "no delivery was known when the segments were sent");
            assert_eq!(sample.sent_in_flight, 1 + number as u32);
        }
        // The next segment's interval begins with the last acknowledgment.
        rate.on_sent(4, &totals(27_000, 5, 0), false);
        rate.begin();
        rate.on_delivered(4, 27_000, 5000);
        let sample = rate.sample(&totals(47_000, 6, 0), 1, 0, 20_000);
        assert_eq!(
            (sample.delivered, sample.interval),
            (Some(1), Some(24_000)),
            "sent 24 ms after the last one that is delivered"
        );
    }

    /// Segments in flight at an application-limited moment count as application-limited until they are
    /// delivered.
    #[test]
    fn segments_in_flight_are_marked_as_application_limited() {
        let mut rate = DeliveryRate::default();
        rate.on_sent(0, &totals(0, 1, 0), true);
        rate.limit_by_application(1, 1);
        rate.on_sent(1, &totals(10, 1, 1), false);
        for (number, delivered, is_app_limited) in [(0, 2, false), (1, 3, true)] {
            rate.begin();
            rate.on_delivered(number, 10 * number, 1000 * (number + 1));
            rate.forget_first();
            let sample = rate.sample(&totals(5000, delivered, 0), 1, 0, 0);
            assert_eq!(sample.is_app_limited, is_app_limited, "segment {number}");
        }
        assert!(!rate.is_app_limited(), "all application-limited segments are delivered");
    }

    /// The cumulative acknowledgment of a SACKed segment is not a second sample. An interval below the
    /// minimum round-trip time is not a sample.
    #[test]
    fn segments_count_once_and_no_faster_than_the_path() {
        let mut rate = DeliveryRate::default();
        rate.on_sent(0, &totals(0, 1, 0), true);
        rate.begin();
        rate.on_delivered(0, 0, 1000);
        assert_eq!(rate.sample(&totals(9000, 2, 0), 1, 0, 10_000).interval, None);
        rate.begin();
        rate.on_delivered(0, 0, 1000);
        assert_eq!(rate.sample(&totals(20_000, 2, 0), 0, 0, 10_000).delivered, None);
    }
}
