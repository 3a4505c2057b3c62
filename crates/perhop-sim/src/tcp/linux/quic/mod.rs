//! Loss detection and congestion control of QUIC (RFC 9002). The comments name the functions of the
//! appendices A and B.
//!
//! Every transmission is a packet with its own number, and acknowledgments list packets. [`Records`] has the
//! segments whose data are not acknowledged. Windows count whole packets.

mod hooks;

use std::collections::VecDeque;

use perhop_qos::units::Time;
use perhop_scenario::tcp::{Acknowledgment, Parameters};

use super::microseconds;
use super::records::{Marks, Records};

/// `kPacketThreshold`: a packet is lost if a packet sent at least three packets later is acknowledged.
const PACKET_THRESHOLD: u32 = 3;
/// `kGranularity`: the granularity of timers.
const GRANULARITY: Time = Time::from_milliseconds(1);
/// `kInitialRtt`: the round-trip time before the first sample.
const INITIAL_ROUND_TRIP: Time = Time::from_milliseconds(333);
/// `kPersistentCongestionThreshold`: losses over this number of probe timeouts are persistent congestion.
const PERSISTENT_CONGESTION: u64 = 3;

/// The fate of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Outstanding,
    /// Acknowledged, or not tracked because the packet is a probe of a closed window.
    Acknowledged,
    Lost,
}

#[derive(Clone, Copy, Debug)]
struct Packet {
    /// The segment that the packet carries.
    record: u64,
    sent: Time,
    fate: Fate,
}

/// The packets that an acknowledgment is the first to acknowledge.
#[derive(Clone, Copy, Debug, Default)]
struct Newly {
    count: u32,
    /// The number of these packets that were sent after the last recovery period began.
    growing: u32,
    /// The largest number of these packets, and the send time of this packet.
    largest: Option<(u32, Time)>,
}

/// Packets that were declared lost.
#[derive(Clone, Copy, Debug, Default)]
struct Lost {
    /// The send time of the last lost packet; `None` if no packet was lost.
    latest: Option<Time>,
    /// The longest time between two lost packets without a delivery in between.
    longest: Time,
}

/// State of loss detection.
#[derive(Clone, Debug)]
pub(super) struct Quic {
    /// The packets from number `first` on. Earlier packets are no longer outstanding.
    packets: VecDeque<Packet>,
    first: u32,
    outstanding: u32,
    /// `largest_acked_packet`: the largest acknowledged packet number.
    largest: Option<u32>,
    /// `latest_rtt`: the last round-trip sample.
    latest: Time,
    /// `min_rtt`: the minimum round-trip sample.
    least: Time,
    /// `smoothed_rtt`: the smoothed round-trip time.
    smoothed: Time,
    /// `rttvar`: the smoothed variation of the round-trip time.
    variation: Time,
    /// `first_rtt_sample`: the time of the first round-trip sample.
    first_sample: Option<Time>,
    /// `max_ack_delay`: the longest delay of an acknowledgment by the receiver.
    longest_delay: Time,
    /// `loss_time`: the time at which the first late packet is declared lost.
    loss_time: Option<Time>,
    /// `congestion_recovery_start_time`: the start of the last recovery period.
    recovery_began: Option<Time>,
    /// `time_of_last_ack_eliciting_packet`: the send time of the last packet that the receiver must
    /// acknowledge.
    last_sent: Time,
    /// The number of probes that remain to be sent.
    probes: u8,
    /// The number of the first segment that the next probe may repeat.
    probe_from: u64,
}

impl Quic {
    pub(super) fn new(parameters: &Parameters) -> Quic {
        let longest_delay = match parameters.acknowledgment {
            Acknowledgment::Delayed { timeout, .. } => timeout,
            _ => Time::ZERO,
        };
        Quic {
            packets: VecDeque::new(),
            first: 0,
            outstanding: 0,
            largest: None,
            latest: Time::ZERO,
            least: Time::ZERO,
            smoothed: INITIAL_ROUND_TRIP,
            variation: Time::from_picoseconds(INITIAL_ROUND_TRIP.as_picoseconds() / 2),
            first_sample: None,
            longest_delay,
            loss_time: None,
            recovery_began: None,
            last_sent: Time::ZERO,
            probes: 0,
            probe_from: 0,
        }
    }
    pub(super) fn outstanding(&self) -> u32 {
        self.outstanding
    }
    /// The number of the packet sent last.
    pub(super) fn last_number(&self) -> u32 {
        (self.first + self.packets.len() as u32).wrapping_sub(1)
    }
    /// `smoothed_rtt`, once there is a sample.
    pub(super) fn smoothed(&self) -> Option<Time> {
        self.first_sample.map(|_| self.smoothed)
    }

    /// Processes the round-trip time `sample` (§A.7, `UpdateRtt`). The receiver delayed the acknowledgment by
    /// `delay`.
    fn update_round_trip(&mut self, now: Time, sample: Time, delay: Time) {
        self.latest = sample;
        if self.first_sample.is_none() {
            self.first_sample = Some(now);
            (self.least, self.smoothed) = (sample, sample);
            self.variation = Time::from_picoseconds(sample.as_picoseconds() / 2);
            return;
        }
        self.least = self.least.min(sample);
        let delay = delay.min(self.longest_delay);
        let adjusted = if sample >= self.least + delay { sample - delay } else { sample };
        let error = self.smoothed.max(adjusted) - self.smoothed.min(adjusted);
        self.variation = weighted(self.variation, error, 4);
        self.smoothed = weighted(self.smoothed, adjusted, 8);
    }
    /// Returns the probe timeout without back-off (§6.2.1).
    fn probe_timeout(&self) -> Time {
        let variation = (self.variation * 4).max(GRANULARITY);
        self.smoothed.saturating_add(variation).saturating_add(self.longest_delay)
    }
    /// Returns the time between two losses without a delivery in between from which congestion is persistent
    /// (§7.6.1).
    fn persistent_congestion(&self) -> Time {
        self.probe_timeout() * PERSISTENT_CONGESTION
    }
    /// Returns the loss delay. A packet is lost if it was sent at least this time ago and a later packet was
    /// acknowledged (§6.1.2).
    fn loss_delay(&self) -> Time {
        let round_trip = self.latest.max(self.smoothed);
        round_trip.saturating_add(Time::from_picoseconds(round_trip.as_picoseconds() / 8)).max(GRANULARITY)
    }

    /// Marks the packet with `number` acknowledged. Returns its segment, if it was not acknowledged before.
    fn acknowledge(&mut self, number: u32, newly: &mut Newly) -> Option<u64> {
        let began = self.recovery_began;
        let packet = self.packets.get_mut(number.checked_sub(self.first)? as usize)?;
        let fate = std::mem::replace(&mut packet.fate, Fate::Acknowledged);
        if fate == Fate::Outstanding {
            self.outstanding -= 1;
            newly.count += 1;
            newly.growing += u32::from(began.is_none_or(|began| packet.sent > began));
            newly.largest = newly.largest.max(Some((number, packet.sent)));
        }
        // A packet that was declared lost may still arrive. Then its data need no retransmission.
        (fate != Fate::Acknowledged).then_some(packet.record)
    }
    /// Declares packets lost at `now` (§A.10, `DetectAndRemoveLostPackets`).
    fn detect_losses(&mut self, records: &mut Records, now: Time) -> Lost {
        self.loss_time = None;
        let (delay, mut lost, mut run) = (self.loss_delay(), Lost::default(), None);
        let Some(largest) = self.largest else { return lost };
        for (number, packet) in (self.first..=largest).zip(&mut self.packets) {
            match packet.fate {
                Fate::Acknowledged => run = None,
                Fate::Lost => {}
                Fate::Outstanding if packet.sent + delay > now && largest < number + PACKET_THRESHOLD => {
                    run = None;
                    let late = packet.sent + delay;
                    self.loss_time = Some(self.loss_time.map_or(late, |time| time.min(late)));
                }
                Fate::Outstanding => {
                    packet.fate = Fate::Lost;
                    self.outstanding -= 1;
                    lost.latest = lost.latest.max(Some(packet.sent));
                    // Only packets that were sent after the first sample count (§7.6.2).
                    if self.first_sample.is_some_and(|first| packet.sent > first) {
                        let began = *run.get_or_insert(packet.sent);
                        lost.longest = lost.longest.max(packet.sent - began);
                    }
                    let is_latest = |sent: u64| sent == microseconds(packet.sent);
                    if records.get(packet.record).is_some_and(|record| is_latest(record.sent)) {
                        records.mark_lost(packet.record);
                    }
                }
            }
        }
        lost
    }
    /// Removes packets at the front that are not outstanding.
    fn trim(&mut self) {
        while self.packets.front().is_some_and(|packet| packet.fate != Fate::Outstanding) {
            self.packets.pop_front();
            self.first += 1;
        }
    }
}

/// Returns the mean of `before` and `sample`, with weight 1 / `weight` for `sample`, rounded down to a
/// picosecond.
fn weighted(before: Time, sample: Time, weight: u64) -> Time {
    let [before, sample] = [before, sample].map(|time| u128::from(time.as_picoseconds()));
    let sum = before * u128::from(weight - 1) + sample;
    // The mean is at most the larger value, so it fits into 64 bits.
    Time::from_picoseconds((sum / u128::from(weight)) as u64)
}

/// The effects of acknowledged packets on the records.
impl Records {
    /// Records that the segment `number` is delivered.
    fn deliver(&mut self, number: u64) {
        let Some(marks) = self.get(number).map(|record| record.marks) else { return };
        if marks.has(Marks::SACKED) {
            return;
        }
        self.forget(marks);
        let marks = &mut self.at(number).marks;
        marks.set(Marks::SACKED);
        marks.clear(Marks::LOST);
        marks.clear(Marks::RETRANSMITTED);
        self.sacked += 1;
    }
    /// Subtracts a segment with `marks` from the counts.
    fn forget(&mut self, marks: Marks) {
        self.sacked -= u32::from(marks.has(Marks::SACKED));
        self.lost -= u32::from(marks.has(Marks::LOST));
        self.retransmitted -= u32::from(marks.has(Marks::RETRANSMITTED));
    }
    /// Returns the first segment from number `from` on that is not delivered.
    fn first_missing(&self, from: u64) -> Option<u64> {
        (from.max(self.head_number())..self.head_number() + u64::from(self.len()))
            .find(|number| self.get(*number).is_some_and(|record| !record.marks.has(Marks::SACKED)))
    }
}
