//! Processing of an acknowledgment, step by step (`net/ipv4/tcp_input.c`, `tcp_ack`).

use perhop_qos::units::Time;

use super::super::segment::Segment;
use super::super::sender::Sender;
use super::{LinuxSender, State, microseconds};

/// The properties of the current acknowledgment: `flag` and `tcp_sacktag_state` of Linux.
#[derive(Clone, Copy, Debug)]
#[allow(clippy::struct_excessive_bools)] // each is one of Linux's flags
pub(super) struct Ack {
    pub(super) time: Time,
    /// `time` in microseconds, the unit of window arithmetic.
    pub(super) now: u64,
    /// SND.UNA before the acknowledgment.
    pub(super) previous: u64,
    /// The offset after the highest SACKed data.
    pub(super) forward_most: u64,
    /// The send time of the segment that the acknowledgment echoes, in whole milliseconds, the unit of
    /// Linux's timestamps.
    pub(super) echo: Option<u64>,
    /// The one-way delay of the echoed segment, including the delay of its acknowledgment by the receiver,
    /// microseconds. In the simulator, both ends have the same clock.
    pub(super) one_way: Option<u64>,
    /// Whether the acknowledgment reports ECN marks.
    pub(super) marked: bool,
    /// The number of marked segments that the acknowledgment reports.
    pub(super) marks: u32,
    /// Whether the acknowledgment covers new data (`FLAG_SND_UNA_ADVANCED`).
    pub(super) advances: bool,
    /// Whether the acknowledgment covers whole new segments (`FLAG_DATA_ACKED`).
    pub(super) delivers: bool,
    /// Whether the acknowledgment covers retransmitted segments (`FLAG_RETRANS_DATA_ACKED`).
    pub(super) delivers_resent: bool,
    /// Whether the acknowledgment SACKs further data (`FLAG_DATA_SACKED`).
    pub(super) selects: bool,
    /// Whether the acknowledgment reports data that arrived twice (`FLAG_DSACKING_ACK`).
    pub(super) repeats: bool,
    /// Whether a tail loss probe explains the data that arrived twice (`FLAG_DSACK_TLP`).
    pub(super) repeats_probe: bool,
    /// Whether the acknowledgment delivers a segment that was sent once, before the state was entered
    /// (`FLAG_ORIG_SACK_ACKED`).
    pub(super) proves_original: bool,
    /// Whether the acknowledgment carries data or changes the offered window, so that it is not a duplicate.
    pub(super) is_not_duplicate: bool,
    /// Whether the timer must be restarted (`FLAG_SET_XMIT_TIMER`).
    pub(super) restarts_timer: bool,
    /// Whether the acknowledgment shows that a retransmission is lost (`FLAG_LOST_RETRANS`).
    pub(super) loses_retransmission: bool,
    /// Whether the receiver may have delayed the acknowledgment (`FLAG_ACK_MAYBE_DELAYED`).
    pub(super) may_be_delayed: bool,
    /// The send time of the first newly SACKed segment that was sent only once, microseconds.
    pub(super) first_selected: Option<u64>,
    /// The send time of the last newly SACKed segment that was sent only once, microseconds.
    pub(super) last_selected: Option<u64>,
    /// The lowest offset of data that arrived after later data.
    pub(super) late: u64,
    /// The number of segments in flight before the acknowledgment.
    pub(super) prior_in_flight: u32,
    /// The round-trip sample of the acknowledgment, microseconds.
    pub(super) round_trip: Option<u64>,
    /// Whether the acknowledgment may be the answer to a tail loss probe or to the data that the probe
    /// repeated.
    pub(super) answers_probe: bool,
    /// The number of segments that had been delivered when the last sent of the newly delivered segments was
    /// sent.
    pub(super) delivered_before: Option<u32>,
}

impl Ack {
    pub(super) fn new(linux: &LinuxSender, stream: &Sender, time: Time, segment: &Segment) -> Ack {
        let stamp = segment.timestamps().map(|timestamps| microseconds(timestamps.echo) / 1000);
        Ack {
            time,
            now: microseconds(time),
            previous: stream.unacknowledged,
            forward_most: linux.records.forward_most(stream.unacknowledged),
            echo: stamp.filter(|stamp| *stamp > 0),
            one_way: segment
                .timestamps()
                .map(|stamps| microseconds(stamps.value.saturating_sub(stamps.echo))),
            marked: false,
            marks: 0,
            advances: segment.acknowledgment > stream.unacknowledged,
            delivers: false,
            delivers_resent: false,
            selects: false,
            repeats: false,
            repeats_probe: false,
            proves_original: false,
            is_not_duplicate: segment.has_text(),
            restarts_timer: false,
            loses_retransmission: false,
            may_be_delayed: false,
            first_selected: None,
            last_selected: None,
            late: u64::MAX,
            prior_in_flight: linux.in_flight(),
            round_trip: None,
            answers_probe: false,
            delivered_before: None,
        }
    }
    /// Whether the acknowledgment is not a duplicate (`FLAG_NOT_DUP`).
    pub(super) fn is_no_duplicate(&self) -> bool {
        self.is_not_duplicate || self.delivers
    }
    /// Whether the acknowledgment echoes a segment that was sent before `sent`, microseconds
    /// (`tcp_tsopt_ecr_before`).
    pub(super) fn echoes_before(&self, sent: u64) -> bool {
        self.echo.is_some_and(|echo| echo < sent / 1000)
    }
}

impl LinuxSender {
    /// Processes the acknowledgment in `segment`. `stream` is the sender without the [`LinuxSender`].
    pub(in crate::tcp) fn on_acknowledgment(&mut self, stream: &mut Sender, now: Time, segment: &Segment) {
        if self.quic.is_some() {
            return self.on_quic_acknowledgment(stream, now, segment);
        }
        let mut ack = Ack::new(self, stream, now, segment);
        let (delivered, losses) = (self.delivered, self.records.losses);
        self.output.release();
        self.begin_sample();
        if segment.acknowledgment < stream.unacknowledged {
            // A later acknowledgment overtook this one, but the SACK blocks of this one are still used.
            if !segment.sack.is_empty() {
                self.add_blocks(stream, &mut ack, segment);
                self.alert(stream, &mut ack, 0);
            }
            return;
        }
        if ack.advances {
            self.timeouts = 0;
        }
        let had_flight = !self.records.is_empty();
        ack.is_not_duplicate |= stream.take_window(segment);
        stream.advance(segment.acknowledgment);
        self.update_share(stream);
        self.add_blocks(stream, &mut ack, segment);
        ack.marked = self.read_marks(stream, &ack, segment);
        if !had_flight {
            if ack.repeats {
                self.alert(stream, &mut ack, 0);
            }
            self.process_probe_ack(stream, &mut ack, segment.acknowledgment);
            return;
        }
        self.take_delivered(stream, &mut ack);
        self.count_marks(stream, &mut ack, self.delivered - delivered);
        self.adapt_reordering_window(&ack);
        self.process_probe_ack(stream, &mut ack, segment.acknowledgment);
        if self.is_dubious(&ack) {
            let is_duplicate = !ack.advances && !ack.is_no_duplicate() && !ack.repeats;
            self.alert(stream, &mut ack, u32::from(is_duplicate));
        }
        if ack.restarts_timer {
            self.restart_timer(stream, now);
        }
        let (delivered, losses) = (self.delivered - delivered, self.records.losses - losses);
        self.control_window(stream, &ack, delivered, losses);
    }

    /// Whether the acknowledgment is unusual or a loss may be known (`tcp_ack_is_dubious`).
    fn is_dubious(&self, ack: &Ack) -> bool {
        !ack.is_no_duplicate() || ack.selects || ack.marked || ack.repeats || self.state != State::Open
    }

    /// Grows the window for the delivered data, or continues a reduction (`tcp_cong_control`).
    fn control_window(&mut self, stream: &mut Sender, ack: &Ack, delivered: u32, losses: u32) {
        if self.bbr.is_some() {
            self.control_bbr(stream, ack, delivered, losses);
            return;
        }
        if self.has_prague() {
            self.control_prague(stream, ack, delivered);
            return;
        }
        if matches!(self.state, State::Cwr | State::Recovery) {
            self.reduce_window(stream, delivered, losses, ack.advances);
            return;
        }
        // tcp_may_raise_cwnd: with high reordering, SACKed data count, too.
        let may_grow = if self.reordering > stream.parameters.duplicate_threshold {
            ack.delivers || ack.selects
        } else {
            ack.delivers
        };
        if may_grow {
            self.grow_window(stream, ack, delivered);
        }
    }
}
