//! Loss detection and congestion control of QUIC (RFC 9002; its appendices A and B name the functions).
//!
//! Every transmission is a packet with a number of its own, and acknowledgments name packets. The records
//! tell which data are missing; windows are whole packets.

use std::collections::VecDeque;

use perhop_qos::units::Time;
use perhop_scenario::tcp::{Acknowledgment, Parameters};

use super::super::congestion::Cause;
use super::super::segment::{SackBlocks, Segment};
use super::super::sender::Sender;
use super::super::transmit::Piece;
use super::acknowledged::Ack;
use super::output::Forced;
use super::records::{Marks, Records};
use super::timer::Timer;
use super::{LinuxSender, State, microseconds};

/// `kPacketThreshold`.
const PACKET_THRESHOLD: u32 = 3;
/// `kGranularity`.
const GRANULARITY: Time = Time::from_milliseconds(1);
/// `kInitialRtt`.
const INITIAL_ROUND_TRIP: Time = Time::from_milliseconds(333);
/// `kPersistentCongestionThreshold`.
const PERSISTENT_CONGESTION: u64 = 3;
/// `kMinimumWindow`, datagrams.
const LEAST_WINDOW: u32 = 2;
/// RFC 9002 §6.2.4: packets that a probe timeout sends at most.
const PROBES: u8 = 2;
/// The record of packets that carry none.
const NO_RECORD: u64 = u64::MAX;

/// What became of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Outstanding,
    /// Or it does not count.
    Acknowledged,
    Lost,
}

#[derive(Clone, Copy, Debug)]
struct Packet {
    /// The segment that it carries.
    record: u64,
    sent: Time,
    fate: Fate,
}

/// Packets that an acknowledgment acknowledges for the first time.
#[derive(Clone, Copy, Debug, Default)]
struct Newly {
    count: u32,
    /// Of these, packets sent after the last recovery period began.
    growing: u32,
    /// The largest number, and when that packet was sent.
    largest: Option<(u32, Time)>,
}

/// Packets that are found to be lost.
#[derive(Clone, Copy, Debug, Default)]
struct Lost {
    /// When the last of them was sent; `None` if there is none.
    latest: Option<Time>,
    /// The longest time between two of them with nothing but losses between.
    longest: Time,
}

/// State of loss detection.
#[derive(Clone, Debug)]
pub(super) struct Quic {
    /// Packets from number `first` on; those before are no longer outstanding.
    packets: VecDeque<Packet>,
    first: u32,
    outstanding: u32,
    /// `largest_acked_packet`.
    largest: Option<u32>,
    /// `latest_rtt`, `min_rtt`, `smoothed_rtt`, `rttvar`.
    latest: Time,
    least: Time,
    smoothed: Time,
    variation: Time,
    /// `first_rtt_sample`.
    first_sample: Option<Time>,
    /// `max_ack_delay`.
    longest_delay: Time,
    /// `loss_time`: when the first packet that may be late is lost.
    loss_time: Option<Time>,
    /// `congestion_recovery_start_time`.
    recovery_began: Option<Time>,
    /// `time_of_last_ack_eliciting_packet`.
    last_sent: Time,
    /// Probes that are still to be sent, and the first segment that they may repeat.
    probes: u8,
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
    /// The number of the packet that was sent last.
    pub(super) fn last_number(&self) -> u32 {
        (self.first + self.packets.len() as u32).wrapping_sub(1)
    }
    /// `smoothed_rtt`, once there is a sample.
    pub(super) fn smoothed(&self) -> Option<Time> {
        self.first_sample.map(|_| self.smoothed)
    }

    /// §A.7, `UpdateRtt`: a round trip took `sample`; its acknowledgment says that it was delayed by `delay`.
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
        let (smoothed, adjusted) = (self.smoothed.as_picoseconds(), adjusted.as_picoseconds());
        let variation = self.variation.as_picoseconds();
        self.variation = Time::from_picoseconds((3 * variation + smoothed.abs_diff(adjusted)) / 4);
        self.smoothed = Time::from_picoseconds((7 * smoothed + adjusted) / 8);
    }
    /// §6.2.1: the probe timeout without back-off.
    fn probe_timeout(&self) -> Time {
        let variation = Time::from_picoseconds(4 * self.variation.as_picoseconds());
        self.smoothed + variation.max(GRANULARITY) + self.longest_delay
    }
    /// §7.6.1: losses over so long a time, with nothing delivered in between, are persistent congestion.
    fn persistent_congestion(&self) -> Time {
        Time::from_picoseconds(PERSISTENT_CONGESTION * self.probe_timeout().as_picoseconds())
    }
    /// §6.1.2: a packet sent so long before an acknowledged one is lost.
    fn loss_delay(&self) -> Time {
        let round_trip = self.latest.max(self.smoothed).as_picoseconds();
        Time::from_picoseconds(round_trip * 9 / 8).max(GRANULARITY)
    }

    /// Takes the packet with `number` for acknowledged. Returns its segment, if it is the first time.
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
        // What was held to be lost has arrived after all: its data need not be sent again.
        (fate != Fate::Acknowledged).then_some(packet.record)
    }
    /// §A.10, `DetectAndRemoveLostPackets`, at `now`.
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
                    // Only packets sent after the first sample count (§7.6.2).
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
    /// Forgets packets at the front that are not outstanding.
    fn trim(&mut self) {
        while self.packets.front().is_some_and(|packet| packet.fate != Fate::Outstanding) {
            self.packets.pop_front();
            self.first += 1;
        }
    }
}

impl LinuxSender {
    /// The number of the packet that is being written, where packets have numbers.
    pub(in crate::tcp) fn packet_number(&self) -> Option<u32> {
        self.quic.as_ref().map(|quic| quic.last_number())
    }
    /// The connection is open; the handshake took `round_trip` if it gave a sample.
    pub(super) fn open_quic(&mut self, stream: &mut Sender, now: Time, round_trip: Option<Time>) {
        let Some(quic) = &mut self.quic else { return };
        if let Some(round_trip) = round_trip {
            quic.update_round_trip(now, round_trip, Time::ZERO);
        }
        stream.rtt.set_base(quic.probe_timeout());
    }
    /// §A.5, `OnPacketSent`: segment `record` leaves in a packet of its own.
    pub(super) fn note_packet(&mut self, stream: &mut Sender, now: Time, record: u64) {
        let Some(quic) = &mut self.quic else { return };
        quic.packets.push_back(Packet { record, sent: now, fate: Fate::Outstanding });
        quic.outstanding += 1;
        quic.last_sent = now;
        self.set_loss_timer(stream);
    }
    /// A closed window is probed: a packet of which nothing is known afterwards.
    pub(in crate::tcp) fn note_window_probe(&mut self, now: Time) {
        if let Some(quic) = &mut self.quic {
            quic.packets.push_back(Packet { record: NO_RECORD, sent: now, fate: Fate::Acknowledged });
        }
    }
    /// §A.8, `SetLossDetectionTimer`.
    pub(super) fn set_loss_timer(&mut self, stream: &mut Sender) {
        let Some(quic) = &self.quic else { return };
        let probe = || quic.last_sent + stream.rtt.rto();
        let expires = quic.loss_time.or_else(|| (quic.outstanding > 0).then(probe));
        self.timer = if expires.is_some() { Timer::LossDetection } else { Timer::Off };
        self.expires = expires.unwrap_or(Time::MAX);
        self.arm(stream);
    }

    /// §A.7, `OnAckReceived`.
    pub(super) fn on_quic_acknowledgment(&mut self, stream: &mut Sender, now: Time, segment: &Segment) {
        let mut ack = Ack::new(self, stream, now, segment);
        self.output.release();
        self.output.retransmit_losses();
        if segment.acknowledgment >= stream.unacknowledged {
            stream.take_window(segment);
            stream.advance(segment.acknowledgment);
        }
        let newly = self.take_packets(stream, segment);
        let Some((largest, sent)) = newly.largest else { return };
        self.delivered += newly.count;
        ack.selects = true;
        self.sample_packet(stream, &ack, segment, largest, now - sent);
        if self.hear_of_marks(stream, &ack, segment)
            && self.on_congestion_event(stream, now, sent, Cause::Mark)
        {
            stream.statistics.congestion_marks += 1;
        }
        self.lose_packets(stream, now);
        let Some(quic) = &mut self.quic else { return };
        quic.trim();
        stream.rtt.set_base(quic.probe_timeout());
        // §B.5, `OnPacketsAcked`: not what was sent before a recovery period began, as one may have now.
        let (growing, is_over) = match quic.recovery_began {
            None => (newly.count, true),
            Some(began) if began == now => (0, false),
            Some(began) => (newly.growing, sent > began),
        };
        if is_over {
            self.state = State::Open;
        }
        self.set_loss_timer(stream);
        if growing > 0 {
            self.grow_window(stream, &ack, growing);
        }
    }
    /// The packets that `segment` acknowledges, and the data that are delivered by them.
    fn take_packets(&mut self, stream: &Sender, segment: &Segment) -> Newly {
        let mut newly = Newly::default();
        let Some(quic) = &mut self.quic else { return newly };
        let all = quic.first..quic.first + quic.packets.len() as u32;
        for (start, end) in segment.sack.iter() {
            for number in all.start.max(start as u32)..all.end.min(end as u32) {
                if let Some(record) = quic.acknowledge(number, &mut newly) {
                    self.records.deliver(record);
                }
            }
            quic.largest =
                quic.largest.max(Some((end as u32).saturating_sub(1).min(all.end.saturating_sub(1))));
        }
        while let Some(record) = self.records.pop_acknowledged(stream.unacknowledged) {
            self.records.forget(record.marks);
        }
        self.records.trim_transmissions();
        // Where there may be more ranges, data that the receiver no longer waits for have arrived.
        let lowest = segment.sack.iter().last().filter(|_| segment.sack.len() == SackBlocks::MOST);
        if let Some((lowest, _)) = lowest {
            for number in all.start..all.end.min(lowest as u32) {
                let packet = quic.packets[(number - all.start) as usize];
                if packet.fate == Fate::Outstanding && packet.record < self.records.head_number() {
                    quic.acknowledge(number, &mut newly);
                }
            }
        }
        newly
    }
    /// A round trip took `sample`, if the packet acknowledged now with the largest number is the largest that
    /// has arrived (§5.1).
    fn sample_packet(&mut self, stream: &Sender, ack: &Ack, segment: &Segment, largest: u32, sample: Time) {
        let is_largest = segment.sack.iter().next().is_some_and(|(_, end)| end == u64::from(largest) + 1);
        let (Some(quic), Some(packet), true) = (&mut self.quic, segment.packet(), is_largest) else { return };
        quic.update_round_trip(ack.time, sample, Time::from_microseconds(u64::from(packet.delay)));
        let sample = microseconds(sample).max(1);
        self.least.add(ack.now, sample);
        self.on_round_trip(stream, ack, sample);
    }

    /// §B.8, `OnPacketsLost`.
    fn lose_packets(&mut self, stream: &mut Sender, now: Time) {
        let Some(quic) = &mut self.quic else { return };
        let lost = quic.detect_losses(&mut self.records, now);
        let is_persistent = lost.longest > quic.persistent_congestion();
        let Some(latest) = lost.latest else { return };
        if self.on_congestion_event(stream, now, latest, Cause::Loss) {
            stream.statistics.fast_retransmits += 1;
        }
        if is_persistent {
            self.window = LEAST_WINDOW;
            if let Some(quic) = &mut self.quic {
                quic.recovery_began = None;
            }
            if let Some(cubic) = &mut self.cubic {
                cubic.reset();
            }
        }
    }
    /// §B.6, `OnCongestionEvent`: once per recovery period, which what is sent now ends.
    fn on_congestion_event(&mut self, stream: &mut Sender, now: Time, sent: Time, cause: Cause) -> bool {
        let Some(quic) = &mut self.quic else { return false };
        if quic.recovery_began.is_some_and(|began| sent <= began) {
            return false;
        }
        quic.recovery_began = Some(now);
        self.credit = 0;
        self.reduce_threshold(stream, cause);
        self.window = self.threshold.max(LEAST_WINDOW);
        self.state = State::Recovery;
        true
    }

    /// §A.9, `OnLossDetectionTimeout`.
    pub(super) fn on_loss_timer(&mut self, stream: &mut Sender, now: Time) {
        let Some(quic) = &mut self.quic else { return };
        if quic.loss_time.is_some() {
            self.lose_packets(stream, now);
            self.output.retransmit_losses();
            if let Some(quic) = &mut self.quic {
                quic.trim();
            }
        } else {
            (quic.probes, quic.probe_from) = (PROBES, 0);
            stream.statistics.timeouts += 1;
            stream.rtt.back_off();
            self.output.force(Forced::Probe);
        }
        self.set_loss_timer(stream);
    }
    /// The next probe: what is lost, else new data, else the first segment that is not known to have arrived
    /// (§6.2.4).
    pub(super) fn send_quic_probe(&mut self, stream: &mut Sender, now: Time) -> Option<Piece> {
        let quic = self.quic.as_mut()?;
        let is_first = quic.probes == PROBES;
        quic.probes = quic.probes.checked_sub(1)?;
        if quic.probes > 0 {
            self.output.force(Forced::Probe);
        }
        if let Some(number) = self.records.next_lost() {
            return Some(self.resend_lost(stream, now, number));
        }
        if stream.next < stream.end()
            && let Some(piece) = stream.next_piece(now)
        {
            return Some(self.record_new(stream, now, piece));
        }
        let from = self.quic.as_ref().map_or(0, |quic| quic.probe_from);
        let Some(number) = self.records.first_missing(from) else {
            if is_first {
                self.forget_packets(stream);
            }
            return None;
        };
        if let Some(quic) = &mut self.quic {
            quic.probe_from = number + 1;
        }
        Some(self.write_again(stream, now, number))
    }
    /// Packets are outstanding, but all data have arrived: QUIC would send a PING, which carries nothing.
    fn forget_packets(&mut self, stream: &mut Sender) {
        let Some(quic) = &mut self.quic else { return };
        quic.first += quic.packets.len() as u32;
        quic.packets.clear();
        quic.outstanding = 0;
        self.set_loss_timer(stream);
    }
}

/// What an acknowledged packet means to the records.
impl Records {
    /// The segment is delivered.
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
    /// A segment with `marks` is no longer counted among those.
    fn forget(&mut self, marks: Marks) {
        self.sacked -= u32::from(marks.has(Marks::SACKED));
        self.lost -= u32::from(marks.has(Marks::LOST));
        self.retransmitted -= u32::from(marks.has(Marks::RETRANSMITTED));
    }
    /// The first segment from number `from` on that is not delivered.
    fn first_missing(&self, from: u64) -> Option<u64> {
        (from.max(self.head_number())..self.head_number() + u64::from(self.len()))
            .find(|number| self.get(*number).is_some_and(|record| !record.marks.has(Marks::SACKED)))
    }
}
