//! The rules of QUIC for the sender: acknowledgments, losses, probes.

use perhop_qos::units::Time;

use super::super::super::congestion::Cause;
use super::super::super::segment::{SackBlocks, Segment};
use super::super::super::sender::Sender;
use super::super::super::transmit::Piece;
use super::super::acknowledged::Ack;
use super::super::output::Forced;
use super::super::timer::Timer;
use super::super::{LinuxSender, State, microseconds};
use super::{Fate, Newly, Packet};

/// `kMinimumWindow`: the minimum window, datagrams.
const LEAST_WINDOW: u32 = 2;
/// RFC 9002 §6.2.4: maximum number of packets that a probe timeout sends.
const PROBES: u8 = 2;
/// The value of the record number for packets without a record.
const NO_RECORD: u64 = u64::MAX;

impl LinuxSender {
    /// The number of the packet that is being written, if packets have numbers.
    pub(in crate::tcp) fn packet_number(&self) -> Option<u32> {
        self.quic.as_ref().map(|quic| quic.last_number())
    }
    /// Starts the rules of QUIC when the connection opens. `round_trip` is the sample of the handshake, if
    /// any.
    pub(in crate::tcp::linux) fn open_quic(
        &mut self,
        stream: &mut Sender,
        now: Time,
        round_trip: Option<Time>,
    ) {
        let Some(quic) = &mut self.quic else { return };
        if let Some(round_trip) = round_trip {
            quic.update_round_trip(now, round_trip, Time::ZERO);
        }
        stream.rtt.set_base(&stream.parameters, quic.probe_timeout());
    }
    /// Records that segment `record` is sent in a packet with a new number (§A.5, `OnPacketSent`).
    pub(in crate::tcp::linux) fn note_packet(&mut self, stream: &mut Sender, now: Time, record: u64) {
        let Some(quic) = &mut self.quic else { return };
        quic.packets.push_back(Packet { record, sent: now, fate: Fate::Outstanding });
        quic.outstanding += 1;
        quic.last_sent = now;
        self.set_loss_timer(stream);
    }
    /// Records a probe of a closed window, which is a packet without a record.
    pub(in crate::tcp) fn note_window_probe(&mut self, now: Time) {
        if let Some(quic) = &mut self.quic {
            quic.packets.push_back(Packet { record: NO_RECORD, sent: now, fate: Fate::Acknowledged });
        }
    }
    /// Arms the timer for late losses or for a probe (§A.8, `SetLossDetectionTimer`).
    pub(in crate::tcp::linux) fn set_loss_timer(&mut self, stream: &mut Sender) {
        let Some(quic) = &self.quic else { return };
        let probe = || quic.last_sent + stream.rtt.rto();
        let expires = quic.loss_time.or_else(|| (quic.outstanding > 0).then(probe));
        self.timer = if expires.is_some() { Timer::LossDetection } else { Timer::Off };
        self.expires = expires.unwrap_or(Time::MAX);
        self.arm(stream);
    }

    /// Processes an acknowledgment (§A.7, `OnAckReceived`).
    pub(in crate::tcp::linux) fn on_quic_acknowledgment(
        &mut self,
        stream: &mut Sender,
        now: Time,
        segment: &Segment,
    ) {
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
        if self.read_marks(stream, &ack, segment) && self.on_congestion_event(stream, now, sent, Cause::Mark)
        {
            stream.statistics.congestion_marks += 1;
        }
        self.lose_packets(stream, now);
        let Some(quic) = &mut self.quic else { return };
        quic.trim();
        stream.rtt.set_base(&stream.parameters, quic.probe_timeout());
        // §B.5, `OnPacketsAcked`: packets that were sent before a recovery period began do not grow the
        // window. A recovery period may have begun in this function.
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
    /// Marks the packets that `segment` acknowledges, and records the delivery of their data.
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
        // If the segment has the maximum number of ranges, further ranges may be missing. In this case, all
        // data below the lowest range count as arrived.
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
    /// Processes the round-trip time `sample`, if `segment` is the first to acknowledge the largest packet
    /// number (§5.1).
    fn sample_packet(&mut self, stream: &Sender, ack: &Ack, segment: &Segment, largest: u32, sample: Time) {
        let is_largest = segment.sack.iter().next().is_some_and(|(_, end)| end == u64::from(largest) + 1);
        let (Some(quic), Some(packet), true) = (&mut self.quic, segment.packet(), is_largest) else { return };
        quic.update_round_trip(ack.time, sample, Time::from_microseconds(u64::from(packet.delay)));
        let sample = microseconds(sample).max(1);
        self.least.add(ack.now, sample);
        self.on_round_trip(stream, ack, sample);
    }

    /// Detects losses and reduces the window (§B.8, `OnPacketsLost`).
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
    /// Reduces the window once per recovery period (§B.6, `OnCongestionEvent`). The period ends with the
    /// acknowledgment of a packet that was sent after the period began. Returns whether the window was
    /// reduced.
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

    /// Declares late packets lost, or sends probes (§A.9, `OnLossDetectionTimeout`).
    pub(in crate::tcp::linux) fn on_loss_timer(&mut self, stream: &mut Sender, now: Time) {
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
            stream.rtt.back_off(&stream.parameters);
            self.output.force(Forced::Probe);
        }
        self.set_loss_timer(stream);
    }
    /// Returns the next probe: a lost segment, otherwise new data, otherwise the first segment that is not
    /// known to have arrived (§6.2.4).
    pub(in crate::tcp::linux) fn send_quic_probe(&mut self, stream: &mut Sender, now: Time) -> Option<Piece> {
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
    /// Discards the outstanding packets, because all data have arrived. QUIC would send a PING, which has no
    /// data.
    fn forget_packets(&mut self, stream: &mut Sender) {
        let Some(quic) = &mut self.quic else { return };
        quic.first += quic.packets.len() as u32;
        quic.packets.clear();
        quic.outstanding = 0;
        self.set_loss_timer(stream);
    }
}
