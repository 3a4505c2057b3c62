//! What a connection sends next, and how it becomes a segment.

use perhop_qos::packet::Ecn;
use perhop_qos::units::Time;

use super::connection::{Connection, Stage};
use super::receiver::Due;
use super::segment::{SackBlocks, Segment, Timestamps};
use super::transmit::Piece;
use perhop_scenario::tcp::Flags;
use perhop_scenario::tcp::Recovery;

/// What became of asking for the next segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Transmitted {
    /// There is none.
    Nothing,
    /// It is written, and there may be another.
    Segment,
    /// It is written, and it is known that there is no other now: who asks again is told so.
    Last,
}

#[allow(clippy::inline_always)] // every segment takes them
impl Connection {
    /// Writes the next segment to send into `segment`, whatever that was before, if there is one. The answer is what became
    /// of it, and the IP bytes of its packet.
    ///
    /// Most are full segments of data in the middle of the stream, or acknowledgments of what arrived in order.
    #[inline(always)]
    pub(crate) fn transmit(&mut self, now: Time, segment: &mut Segment) -> (Transmitted, u32) {
        let due = self.receiver.due();
        if self.stage >= Stage::Open {
            if self.sender.flight() > 0
                && due != Due::Alone
                && let Some(piece) = self.sender.poll_foreseen(now)
            {
                self.write_data(now, piece, segment);
                let transmitted = if piece.is_last { Transmitted::Last } else { Transmitted::Segment };
                return (transmitted, self.sender.full_packet);
            }
            if !self.sender.has_work() {
                if matches!(due, Due::Nothing | Due::Delayed) {
                    return (Transmitted::Nothing, 0);
                }
                if !self.has_blocks() {
                    self.write_acknowledgment(now, segment);
                    return (Transmitted::Last, Segment::plain_packet(&self.sender.parameters, 0));
                }
            }
        }
        self.transmit_any(now, segment)
    }

    /// The same whatever is to be sent.
    #[inline(never)]
    fn transmit_any(&mut self, now: Time, segment: &mut Segment) -> (Transmitted, u32) {
        let transmitted = self.write_any(now, segment);
        (transmitted, segment.counted_length(&self.sender.parameters))
    }

    fn write_any(&mut self, now: Time, segment: &mut Segment) -> Transmitted {
        if self.stage < Stage::Open {
            return self.transmit_syn(now, segment);
        }
        let due = self.receiver.due();
        if due != Due::Alone {
            if self.sender.has_work()
                && let Some(piece) = self.sender.poll(now)
            {
                self.write_data(now, piece, segment);
                return if piece.is_last { Transmitted::Last } else { Transmitted::Segment };
            }
            if due != Due::Now {
                return Transmitted::Nothing;
            }
        }
        self.write_acknowledgment(now, segment);
        if self.has_blocks() {
            let most = SackBlocks::MOST - usize::from(segment.timestamps.is_some());
            self.receiver.write_blocks(most, &mut segment.sack);
        }
        if due == Due::Alone && self.sender.has_work() { Transmitted::Segment } else { Transmitted::Last }
    }

    /// Whether an acknowledgment says what arrived out of order.
    #[inline(always)]
    fn has_blocks(&self) -> bool {
        self.receiver.misses_something() && self.sender.parameters.recovery == Recovery::Sack
    }

    /// What all segments have in common.
    #[inline]
    pub(super) fn begin(&self, now: Time, segment: &mut Segment) {
        segment.ecn = Ecn::NotCapable;
        segment.sack.clear();
        segment.timestamps = None;
        if self.sender.parameters.timestamps {
            segment.timestamps = Some(Timestamps { value: now, echo: self.receiver.echo() });
        }
    }

    #[inline(always)]
    fn write_acknowledgment(&mut self, now: Time, segment: &mut Segment) {
        self.begin(now, segment);
        segment.sequence = self.sender.next;
        segment.length = 0;
        segment.flags = Flags::default();
        self.receiver.stamp(segment);
    }

    #[inline(always)]
    fn write_data(&mut self, now: Time, piece: Piece, segment: &mut Segment) {
        self.begin(now, segment);
        segment.sequence = piece.sequence;
        segment.length = piece.length;
        segment.flags = if piece.fin { Flags::FIN } else { Flags::default() };
        if self.sender.ecn && piece.is_new && piece.length > 0 {
            // RFC 3168 §6.1.4 to §6.1.6: only data that were never sent are ECN-capable.
            segment.ecn = Ecn::Capable0;
            if std::mem::take(&mut self.sender.announce_reduction) {
                segment.flags |= Flags::CWR;
            }
        }
        self.receiver.stamp(segment);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::tcp::{Event, Reading, Role};
    use perhop_scenario::tcp::{Growth, Handshake, Parameters, Profile, TcpConfig};

    /// All there is to know of an end, apart from what it remembers to be spared a look.
    fn state_of(end: &Connection) -> String {
        format!("{:?}", in_doubt(end))
    }

    /// The same end, which looks after everything because it does not know that nothing is the matter.
    fn in_doubt(end: &Connection) -> Connection {
        let mut end = end.clone();
        end.sender.calm = false;
        end
    }

    /// Asks for the next segment as the simulator does, and proves what it leaves out: a segment that is foreseen is the one
    /// that would be found with care, and after the last one, and after an event that the application does not act on, there
    /// is none, and asking has changed nothing.
    fn send(end: &mut Connection, now: Time, segments: &mut Vec<Segment>) {
        loop {
            // Written over what another segment has left.
            let mut segment = segments.last().copied().unwrap_or_default();
            segment.sack.push(7, 9);
            let mut with_care = in_doubt(end);
            let (transmitted, length) = end.transmit(now, &mut segment);
            let mut careful = Segment::default();
            let (carefully, careful_length) = with_care.transmit_any(now, &mut careful);
            assert_eq!(carefully, transmitted);
            assert_eq!(state_of(end), state_of(&with_care));
            if transmitted == Transmitted::Nothing {
                break;
            }
            assert_eq!(segment.to_string(), careful.to_string());
            assert_eq!(
                (segment.window, segment.timestamps, length),
                (careful.window, careful.timestamps, careful_length)
            );
            segments.push(segment);
            if transmitted == Transmitted::Last {
                break;
            }
        }
        nothing_follows(end, now);
    }

    fn nothing_follows(end: &Connection, now: Time) {
        let mut asked = end.clone();
        assert_eq!(asked.poll_transmit(now), None);
        if end.stage >= Stage::Open && !end.sender.has_work() {
            asked.sender.restart_if_idle(now);
            assert_eq!(asked.sender.next_in_window(now), None);
        }
        assert_eq!(format!("{asked:?}"), format!("{end:?}"));
    }

    /// Hands `segment` to `end`, and proves what it leaves out: a segment that is foreseen does what it does where any may
    /// come, the sender need not heed what does not move it, and the application that reads at once has left nothing to read.
    fn receive(end: &mut Connection, now: Time, segment: &Segment) {
        if end.sender.is_unmoved_by(segment) {
            let mut sender = end.sender.clone();
            sender.heed_repetition(now, segment);
            assert_eq!(format!("{sender:?}"), format!("{:?}", end.sender));
        }
        if segment.has_text() {
            let [mut receiver, mut careful] = [end.receiver.clone(), end.receiver.clone()];
            assert_eq!(receiver.on_data(now, segment), careful.on_unexpected_data(now, segment));
            assert_eq!(format!("{receiver:?}"), format!("{careful:?}"));
        }
        let mut with_care = in_doubt(end);
        with_care.on_rare_segment(now, segment);
        end.on_segment(now, segment);
        assert_eq!(state_of(end), state_of(&with_care));
        if end.reading == Reading::AtOnce {
            assert_eq!(end.receiver.unread(), 0);
            let mut receiver = end.receiver.clone();
            receiver.open_whole_window();
            assert_eq!(format!("{receiver:?}"), format!("{:?}", end.receiver));
        }
    }

    /// What may happen to an end, in the order of a script.
    #[derive(Clone, Copy, Debug)]
    enum Step {
        /// The next segment under way to it arrives, is lost, or arrives with a mark.
        Arrives,
        Lost,
        Marked,
        /// Time passes, and its timers expire.
        Passes(u64),
        /// Its application sends so many bytes, closes, or takes so many bytes.
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
        let profile = prop::sample::select(Profile::ALL[1..].to_vec());
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

        /// Whole segments of the window, without a call of the mathematical library.
        #[test]
        fn windows_are_cut_off(segments in -1e3f64..1e6, whole in 0u32..1000) {
            for segments in [segments, f64::from(whole), segments / 1e6] {
                prop_assert_eq!(u64::from((segments as u32).max(1)), libm::floor(segments).max(1.0) as u64);
            }
        }

        #[test]
        fn what_is_not_asked_is_not_missed(
            parameters in any_parameters(),
            reads_on_demand in any::<bool>(),
            script in prop::collection::vec((0usize..2, any_step()), 1..300),
        ) {
            let mut ends = [Role::Active, Role::Passive].map(|role| Connection::new(&parameters, role, Time::ZERO));
            if reads_on_demand {
                for end in &mut ends {
                    end.set_reading(Reading::OnDemand);
                }
            }
            // By receiving end.
            let mut under_way = [std::collections::VecDeque::new(), std::collections::VecDeque::new()];
            let mut now = Time::ZERO;
            for (end, step) in std::iter::once((0, Step::Sends(5000))).chain(script) {
                let connection = &mut ends[end];
                match step {
                    Step::Arrives | Step::Marked => {
                        let Some(mut segment): Option<Segment> = under_way[end].pop_front() else { continue };
                        if matches!(step, Step::Marked) && segment.ecn != Ecn::NotCapable {
                            segment.ecn = Ecn::CongestionExperienced;
                        }
                        now += Time::from_milliseconds(1);
                        receive(connection, now, &segment);
                    }
                    Step::Lost => drop(under_way[end].pop_front()),
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
                    if event == Event::PeerClosed {
                        connection.close();
                        send(connection, now, &mut sent);
                    }
                }
                under_way[1 - end].extend(sent);
            }
        }
    }
}
