//! Output of a connection: selects the next segment and writes its header.

use perhop_qos::packet::Ecn;
use perhop_qos::units::Time;

use super::connection::{Connection, Stage};
use super::receiver::PendingAck;
use super::segment::{Numbering, PacketNumbers, SackBlocks, Segment, Timestamps};
use super::transmit::Piece;
use perhop_scenario::tcp::{CongestionControl, EcnFeedback, Flags, Recovery};

/// The result of [`Connection::transmit`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Transmitted {
    /// No segment is due.
    Nothing,
    /// A segment was written, and another may follow.
    Segment,
    /// A segment was written, and no segment follows now. Another call would return [`Transmitted::Nothing`].
    Last,
}

#[allow(clippy::inline_always)] // the fast path of every segment
impl Connection {
    /// Returns the next segment to send. After each call of another method, the caller must repeat this call
    /// until the result is `None`.
    pub fn poll_transmit(&mut self, now: Time) -> Option<Segment> {
        let mut segment = Segment::default();
        (self.transmit(now, &mut segment).0 != Transmitted::Nothing).then_some(segment)
    }

    /// Writes the next segment to `segment`, if one is due. Returns the result and the length of the IP
    /// packet, bytes.
    ///
    /// The fast path covers full segments of data in the middle of the stream, and acknowledgments of data
    /// that arrived in order.
    #[inline(always)]
    pub(crate) fn transmit(&mut self, now: Time, segment: &mut Segment) -> (Transmitted, u32) {
        let pending_ack = self.receiver.pending_ack();
        if self.stage >= Stage::Open {
            if self.sender.flight() > 0
                && pending_ack != PendingAck::Pure
                && let Some(piece) = self.sender.poll_fast_path(now)
            {
                self.write_data(now, piece, segment);
                let transmitted = if piece.is_last { Transmitted::Last } else { Transmitted::Segment };
                return (transmitted, self.sender.full_packet);
            }
            if !self.sender.has_work() {
                if matches!(pending_ack, PendingAck::None | PendingAck::Delayed) {
                    return (Transmitted::Nothing, 0);
                }
                if pending_ack == PendingAck::Immediate && !self.has_blocks() && !self.numbers_packets() {
                    self.write_acknowledgment(now, segment);
                    return (Transmitted::Last, Segment::plain_ip_length(&self.sender.parameters, 0));
                }
            }
        }
        self.transmit_slow_path(now, segment)
    }

    /// Does the same as [`Connection::transmit`] without the fast path.
    #[inline(never)]
    fn transmit_slow_path(&mut self, now: Time, segment: &mut Segment) -> (Transmitted, u32) {
        let transmitted = self.write_slow_path(now, segment);
        (transmitted, segment.counted_length(&self.sender.parameters))
    }

    fn write_slow_path(&mut self, now: Time, segment: &mut Segment) -> Transmitted {
        if self.stage < Stage::Open {
            return self.transmit_syn(now, segment);
        }
        let pending_ack = self.receiver.pending_ack();
        if pending_ack != PendingAck::Pure {
            if self.sender.has_work()
                && let Some(piece) = self.sender.poll(now)
            {
                self.write_data(now, piece, segment);
                self.receiver.on_data_sent(now);
                return if piece.is_last { Transmitted::Last } else { Transmitted::Segment };
            }
            if pending_ack != PendingAck::Immediate {
                return Transmitted::Nothing;
            }
        }
        if self.receiver.marks.owed.is_some() {
            self.write_common(now, segment);
            (segment.sequence, segment.length, segment.flags) = (self.sender.next, 0, Flags::default());
            self.receiver.write_owed(segment);
            return Transmitted::Segment;
        }
        self.write_acknowledgment(now, segment);
        self.receiver.end_handshake_ack();
        if self.has_blocks() || self.reports_duplicate() {
            let most = SackBlocks::MOST - usize::from(segment.timestamps().is_some());
            self.receiver.write_blocks(most, &mut segment.sack);
        }
        if pending_ack == PendingAck::Pure && self.sender.has_work() {
            Transmitted::Segment
        } else {
            Transmitted::Last
        }
    }

    /// Whether the next acknowledgment carries SACK blocks.
    #[inline(always)]
    fn has_blocks(&self) -> bool {
        self.receiver.has_gap() && self.sender.parameters.recovery.is_selective()
    }
    /// Whether the next acknowledgment reports duplicate data. Such an acknowledgment has no data.
    fn reports_duplicate(&self) -> bool {
        self.receiver.has_duplicate() && self.sender.parameters.recovery.is_selective()
    }

    /// Writes the fields that all segments share.
    #[inline]
    pub(super) fn write_common(&self, now: Time, segment: &mut Segment) {
        segment.ecn = Ecn::NotCapable;
        segment.sack.clear();
        segment.numbering = Numbering::None;
        if self.sender.parameters.timestamps {
            segment.numbering =
                Numbering::Timestamps(Timestamps { value: now, echo: self.receiver.ts_recent() });
        } else if self.numbers_packets() {
            self.write_packet(now, segment);
        }
    }
    /// Whether the segments are packets of QUIC.
    #[inline(always)]
    fn numbers_packets(&self) -> bool {
        self.sender.parameters.recovery == Recovery::Quic
    }
    /// Writes the number of the packet, and the ranges of packets that have arrived.
    #[inline(never)]
    fn write_packet(&self, now: Time, segment: &mut Segment) {
        let number = self.sender.linux.as_ref().and_then(|linux| linux.packet_number()).unwrap_or(0);
        let delay = self.receiver.write_packets(now, &mut segment.sack);
        segment.numbering = Numbering::Packet(PacketNumbers { number, delay });
    }

    #[inline(always)]
    fn write_acknowledgment(&mut self, now: Time, segment: &mut Segment) {
        self.write_common(now, segment);
        segment.sequence = self.sender.next;
        segment.length = 0;
        segment.flags = Flags::default();
        self.receiver.write_acknowledgment(segment);
    }

    #[inline(always)]
    fn write_data(&mut self, now: Time, piece: Piece, segment: &mut Segment) {
        self.write_common(now, segment);
        segment.sequence = piece.sequence;
        segment.length = piece.length;
        segment.flags = if piece.fin { Flags::FIN } else { Flags::default() };
        if self.sender.ecn && piece.length > 0 {
            self.write_ecn(piece, segment);
        }
        self.receiver.write_acknowledgment(segment);
    }
    fn write_ecn(&mut self, piece: Piece, segment: &mut Segment) {
        let parameters = &self.sender.parameters;
        // RFC 3168 §6.1.4 to §6.1.6: only data that were never sent are ECN-capable. In Linux, the congestion
        // control decides whether retransmissions are ECN-capable (`tcp_ca_needs_ecn`).
        if !piece.is_new && !parameters.repeats_capable() {
            return;
        }
        // RFC 9331 §4.1: ECT(1) means that the sender's response to marks is scalable.
        let is_prague = parameters.congestion == CongestionControl::Prague;
        segment.ecn = if is_prague { Ecn::Capable1 } else { Ecn::Capable0 };
        let has_cwr = parameters.ecn_feedback != EcnFeedback::Accurate;
        if piece.is_new && std::mem::take(&mut self.sender.cwr_due) && has_cwr {
            segment.flags |= Flags::CWR;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use proptest::prelude::*;

    use super::*;
    use crate::tcp::{ConnectionEvent, Reading, Role};
    use perhop_scenario::tcp::{Growth, Handshake, Parameters, Profile, Recovery, TcpConfig};

    fn state_of(end: &Connection) -> String {
        format!("{end:?}")
    }

    /// Transmits as the simulator does, and checks the shortcuts of the simulator. The fast path must write
    /// the same segment as the slow path. After the last segment, and after an event to which the application
    /// does not react, no segment may follow and the state must not change.
    fn send(end: &mut Connection, now: Time, segments: &mut Vec<Segment>) {
        loop {
            // The segment overwrites an earlier segment, as in the simulator.
            let mut segment = segments.last().cloned().unwrap_or_default();
            segment.sack.push(7, 9);
            let mut slow = end.clone();
            let (transmitted, length) = end.transmit(now, &mut segment);
            let mut slow_segment = Segment::default();
            let (slow_result, slow_length) = slow.transmit_slow_path(now, &mut slow_segment);
            assert_eq!(slow_result, transmitted);
            assert_eq!(state_of(end), state_of(&slow));
            if transmitted == Transmitted::Nothing {
                break;
            }
            assert_eq!(segment.to_string(), slow_segment.to_string());
            assert_eq!(
                (segment.window, segment.numbering, length),
                (slow_segment.window, slow_segment.numbering, slow_length)
            );
            segments.push(segment);
            if transmitted == Transmitted::Last {
                break;
            }
        }
        nothing_follows(end, now);
    }

    fn nothing_follows(end: &Connection, now: Time) {
        let mut polled = end.clone();
        assert_eq!(polled.poll_transmit(now), None);
        if end.stage >= Stage::Open && !end.sender.has_work() {
            polled.sender.restart_if_idle(now);
            assert_eq!(polled.sender.next_in_window(now), None);
        }
        assert_eq!(format!("{polled:?}"), format!("{end:?}"));
    }

    /// Passes `segment` to `end`, and checks the shortcuts of the simulator. The fast path must have the same
    /// effect as the slow path. A redundant acknowledgment must change nothing. An application that reads at
    /// once must leave no data unread.
    fn receive(end: &mut Connection, now: Time, segment: &Segment) {
        if end.sender.is_redundant_ack(segment) {
            let mut sender = end.sender.clone();
            sender.on_duplicate_ack(now, segment);
            assert_eq!(format!("{sender:?}"), format!("{:?}", end.sender));
        }
        let is_new = segment.acknowledgment > end.sender.unacknowledged
            && segment.acknowledgment <= end.sender.highest;
        if end.sender.is_fast_path() && is_new {
            let [mut sender, mut slow] = [end.sender.clone(), end.sender.clone()];
            sender.on_acknowledgment(now, segment);
            slow.on_new_ack_slow_path(now, segment);
            assert_eq!(format!("{sender:?}"), format!("{slow:?}"));
        }
        if segment.has_text() {
            let [mut receiver, mut slow] = [end.receiver.clone(), end.receiver.clone()];
            assert_eq!(receiver.on_data(now, segment), slow.on_unpredicted_data(now, segment));
            assert_eq!(format!("{receiver:?}"), format!("{slow:?}"));
        }
        let mut slow = end.clone();
        slow.on_segment_slow_path(now, segment);
        end.on_segment(now, segment);
        assert_eq!(state_of(end), state_of(&slow));
        if end.reading == Reading::AtOnce {
            assert_eq!(end.receiver.unread(), 0);
            let mut receiver = end.receiver.clone();
            receiver.open_whole_window();
            assert_eq!(format!("{receiver:?}"), format!("{:?}", end.receiver));
        }
    }

    /// A step of the test with a connection.
    #[derive(Clone, Copy, Debug)]
    enum Step {
        /// The next segment in flight arrives, is lost, or arrives with a congestion mark.
        Arrives,
        Lost,
        Marked,
        /// Milliseconds pass, and timers expire.
        Passes(u64),
        /// The application sends bytes, closes, or reads bytes.
        Sends(u64),
        Closes,
        Reads(u64),
    }

    fn any_step() -> impl Strategy<Value = Step> {
        prop_oneof![
            20 => Just(Step::Arrives),
            2 => Just(Step::Lost),
            1 => Just(Step::Marked),
            4 => (1u64..400).prop_map(Step::Passes),
            3 => (1u64..20_000).prop_map(Step::Sends),
            1 => Just(Step::Closes),
            1 => (1u64..20_000).prop_map(Step::Reads),
        ]
    }

    fn any_parameters() -> impl Strategy<Value = Parameters> {
        let recovery =
            prop::sample::select(vec![Recovery::Tahoe, Recovery::Reno, Recovery::NewReno, Recovery::Sack]);
        let handshake = prop::sample::select(vec![Handshake::ThreeWay, Handshake::None]);
        let growth = prop::sample::select(vec![Growth::Always, Growth::WhenLimited]);
        // A sender with a record of every segment has no fast path.
        let profile = prop::sample::select(Profile::ALL[1..5].to_vec());
        let switches = (any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>(), 1u64..40);
        (profile, recovery, handshake, growth, switches).prop_map(
            |(profile, recovery, handshake, growth, switches)| {
                let (timestamps, limited_transmit, ecn, idle_restart, window) = switches;
                let config = TcpConfig {
                    recovery: Some(recovery),
                    timestamps: Some(timestamps),
                    limited_transmit: Some(limited_transmit),
                    ecn: Some(ecn),
                    idle_restart: Some(idle_restart),
                    window: Some(perhop_qos::QueueSize::Packets(window)),
                    ..TcpConfig::new(profile)
                };
                Parameters { growth, handshake, ..config.build().unwrap() }
            },
        )
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

        /// Windows are truncated to whole segments, as by `libm::floor`.
        #[test]
        fn windows_are_truncated(segments in -1e3f64..1e6, whole in 0u32..1000) {
            for segments in [segments, f64::from(whole), segments / 1e6] {
                prop_assert_eq!(u64::from((segments as u32).max(1)), libm::floor(segments).max(1.0) as u64);
            }
        }

        #[test]
        fn the_fast_path_equals_the_slow_path(
            parameters in any_parameters(),
            reads_on_demand in any::<bool>(),
            script in prop::collection::vec((0usize..2, any_step()), 1..300),
        ) {
            let parameters = Arc::new(parameters);
            let mut ends = [Role::Active, Role::Passive].map(|role| Connection::new(&parameters, role, Time::ZERO));
            if reads_on_demand {
                for end in &mut ends {
                    end.set_reading(Reading::OnDemand);
                }
            }
            // The segments in flight, by receiving end.
            let mut in_flight = [std::collections::VecDeque::new(), std::collections::VecDeque::new()];
            let mut now = Time::ZERO;
            for (end, step) in std::iter::once((0, Step::Sends(5000))).chain(script) {
                let connection = &mut ends[end];
                match step {
                    Step::Arrives | Step::Marked => {
                        let Some(mut segment): Option<Segment> = in_flight[end].pop_front() else { continue };
                        if matches!(step, Step::Marked) && segment.ecn != Ecn::NotCapable {
                            segment.ecn = Ecn::CongestionExperienced;
                        }
                        now += Time::from_milliseconds(1);
                        receive(connection, now, &segment);
                    }
                    Step::Lost => drop(in_flight[end].pop_front()),
                    Step::Passes(ms) => {
                        now += Time::from_milliseconds(ms);
                        connection.on_timer(now);
                    }
                    Step::Sends(bytes) => connection.send(bytes),
                    Step::Closes => connection.close(),
                    Step::Reads(bytes) => connection.read(bytes),
                }
                let mut sent = Vec::new();
                send(connection, now, &mut sent);
                while let Some(event) = connection.poll_event() {
                    nothing_follows(connection, now);
                    if event == ConnectionEvent::PeerClosed {
                        connection.close();
                        send(connection, now, &mut sent);
                    }
                }
                in_flight[1 - end].extend(sent);
            }
        }
    }
}
