//! [`Sender`]: the half of a connection that has data to send: what acknowledgments and timers do to it.

use perhop_qos::units::Time;

use super::congestion::{Congestion, CongestionWindow};
use super::parameters::{Counting, Growth, Handshake, Parameters, Recovery, Reduction, RepeatedTimeout};
use super::rtt::RttEstimator;
use super::scoreboard::Scoreboard;
use super::segment::{Flags, Segment, Timestamps};

/// What was counted of one sender since it was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Segments with payload or FIN, retransmissions among them.
    pub segments: u64,
    /// Segments sent again: all, or from an offset that had been sent before.
    pub retransmissions: u64,
    /// Expirations of the retransmission timer.
    pub timeouts: u64,
    /// Losses noticed by duplicate or selective acknowledgments.
    pub fast_retransmits: u64,
    /// Reductions of the window because of ECN.
    pub congestion_marks: u64,
    /// Probes of a closed window.
    pub probes: u64,
}

impl Statistics {
    /// What was counted since `earlier`.
    pub fn since(&self, earlier: &Statistics) -> Statistics {
        Statistics {
            segments: self.segments - earlier.segments,
            retransmissions: self.retransmissions - earlier.retransmissions,
            timeouts: self.timeouts - earlier.timeouts,
            fast_retransmits: self.fast_retransmits - earlier.fast_retransmits,
            congestion_marks: self.congestion_marks - earlier.congestion_marks,
            probes: self.probes - earlier.probes,
        }
    }
    /// Adds what another sender counted.
    pub fn merge(&mut self, other: &Statistics) {
        self.segments += other.segments;
        self.retransmissions += other.retransmissions;
        self.timeouts += other.timeouts;
        self.fast_retransmits += other.fast_retransmits;
        self.congestion_marks += other.congestion_marks;
        self.probes += other.probes;
    }
}

/// Where the sender stands with regard to loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// No loss that it knows of.
    Open,
    /// Fast recovery: a loss was noticed by acknowledgments.
    Recovery,
    /// It starts again from the first unacknowledged byte, after a timeout or in Tahoe's way.
    Restart,
}

/// A segment whose round trip is being timed (Karn & Partridge 1987: one that was sent once).
#[derive(Clone, Copy, Debug)]
pub(super) struct Timing {
    /// The offset after it, which no acknowledgment reaches where none is timed.
    pub(super) end: u64,
    pub(super) sent: Time,
}

impl Timing {
    pub(super) const NONE: Timing = Timing { end: u64::MAX, sent: Time::ZERO };
}

/// The sending half of a connection.
#[derive(Clone, Debug)]
#[allow(clippy::struct_excessive_bools)] // what the RFCs keep beside the phase
pub(super) struct Sender {
    pub(super) parameters: Parameters,
    /// Payload bytes of a full segment.
    pub(super) payload: u64,
    /// SND.UNA: the first offset not acknowledged.
    pub(super) unacknowledged: u64,
    /// SND.NXT: the next offset to send; goes back to `unacknowledged` to start again.
    pub(super) next: u64,
    /// The offset after the highest ever sent.
    pub(super) highest: u64,
    /// The offset after the last byte that the application has given.
    pub(super) written: u64,
    /// Whether a FIN follows the last byte.
    pub(super) finishing: bool,
    /// The offset up to which the receiver lets us send, and the largest window it ever offered.
    pub(super) edge: u64,
    pub(super) largest_window: u64,
    last_window: u32,
    pub(super) window: CongestionWindow,
    /// Segments by which duplicate acknowledgments have opened the window (Reno, NewReno).
    pub(super) inflation: f64,
    pub(super) congestion: Congestion,
    pub(super) duplicates: u32,
    /// Bytes that limited transmit has let out for these duplicates.
    pub(super) sent_early: u64,
    pub(super) phase: Phase,
    /// `recover`, RecoveryPoint: what was sent when the last loss was noticed.
    pub(super) recovery_point: Option<u64>,
    /// What was sent when ECN last reduced the window.
    pub(super) mark_point: Option<u64>,
    /// NewReno: no partial acknowledgment yet.
    pub(super) impatient: bool,
    /// The first unacknowledged segment is to be sent again at once.
    pub(super) retransmit: bool,
    pub(super) scoreboard: Scoreboard,
    /// HighRxt: the offset after the last retransmission of this recovery.
    pub(super) retransmitted: u64,
    /// RescueRxt.
    pub(super) rescued: bool,
    pub(super) timing: Timing,
    pub(super) rtt: RttEstimator,
    /// When the retransmission timer expires; [`Time::MAX`] while it is off.
    pub(super) deadline: Time,
    /// When a closed window is probed next ([`Time::MAX`]: never), how often it was, and whether it is due.
    pub(super) probe_at: Time,
    pub(super) probes: u32,
    pub(super) probe_due: bool,
    /// Where the segment began whose timer expired last.
    timed_out: Option<u64>,
    /// Whether both ends understand ECN: agreed on in the handshake, given without one.
    pub(super) ecn: bool,
    /// CWR is to be set on the next new segment.
    pub(super) announce_reduction: bool,
    /// Whether the congestion window was what stopped the sender last.
    pub(super) limited: bool,
    pub(super) last_sent: Time,
    pub(super) statistics: Statistics,
}

impl Sender {
    pub(super) fn new(parameters: &Parameters, clock_phase: Time) -> Sender {
        Sender {
            parameters: *parameters,
            payload: u64::from(parameters.payload()),
            unacknowledged: 0,
            next: 0,
            highest: 0,
            written: 0,
            finishing: false,
            edge: u64::from(parameters.window),
            largest_window: u64::from(parameters.window),
            last_window: parameters.window,
            window: CongestionWindow {
                segments: parameters.initial_segments(),
                threshold: f64::from(parameters.initial_ssthresh),
            },
            inflation: 0.0,
            congestion: Congestion::new(parameters.congestion),
            duplicates: 0,
            sent_early: 0,
            phase: Phase::Open,
            recovery_point: None,
            mark_point: None,
            impatient: false,
            retransmit: false,
            scoreboard: Scoreboard::default(),
            retransmitted: 0,
            rescued: false,
            timing: Timing::NONE,
            rtt: RttEstimator::new(parameters, clock_phase),
            deadline: Time::MAX,
            probe_at: Time::MAX,
            probes: 0,
            probe_due: false,
            timed_out: None,
            ecn: parameters.ecn && parameters.handshake == Handshake::None,
            announce_reduction: false,
            limited: false,
            last_sent: Time::ZERO,
            statistics: Statistics::default(),
        }
    }

    /// The offset after everything there is to send, the FIN counted.
    pub(super) fn end(&self) -> u64 {
        self.written.saturating_add(u64::from(self.finishing))
    }
    /// Whether anything was ever given to it.
    pub(super) fn has_work(&self) -> bool {
        self.written > 0 || self.finishing
    }
    /// FlightSize: bytes sent and not acknowledged.
    pub(super) fn flight(&self) -> u64 {
        self.highest - self.unacknowledged
    }

    /// `segment` acknowledges.
    pub(super) fn on_acknowledgment(&mut self, now: Time, segment: &Segment) {
        let acknowledgment = segment.acknowledgment;
        if acknowledgment > self.highest {
            // RFC 9293 §3.10.7.4: it acknowledges what was never sent.
            return;
        }
        if !self.is_unmoved_by(segment) {
            self.heed(now, segment);
        }
    }

    /// Whether nothing is under way that `segment` could acknowledge, and it says of the window what the last one said
    /// that acknowledged as much: then to heed it changes nothing.
    pub(super) fn is_unmoved_by(&self, segment: &Segment) -> bool {
        self.highest == self.unacknowledged
            && segment.acknowledgment == self.unacknowledged
            && segment.window == self.last_window
            && !segment.has(Flags::ECE)
    }

    /// `segment` acknowledges nothing that was never sent.
    pub(super) fn heed(&mut self, now: Time, segment: &Segment) {
        let acknowledgment = segment.acknowledgment;
        let selective = !segment.sack.is_empty() && self.parameters.recovery == Recovery::Sack;
        let news = selective && self.learn(segment);
        let is_new = acknowledgment > self.unacknowledged;
        let is_duplicate = !is_new && self.is_duplicate(segment);
        self.open_to(segment);
        let echoes = segment.has(Flags::ECE) && self.ecn;
        if echoes {
            self.on_congestion_mark(acknowledgment);
        }
        if is_new {
            self.on_new_data(now, segment, echoes);
        } else if is_duplicate {
            self.on_duplicate(now, news);
        }
    }

    /// RFC 6675 §4, Update. Whether the blocks say anything new.
    #[inline(never)]
    fn learn(&mut self, segment: &Segment) -> bool {
        let mut news = false;
        for (start, end) in segment.sack.iter() {
            if start >= self.unacknowledged.max(segment.acknowledgment) && end <= self.highest && start < end
            {
                news |= self.scoreboard.add(start, end);
            }
        }
        news
    }

    /// RFC 5681 §2: an acknowledgment without data, SYN or FIN, of what is already acknowledged, while data
    /// are under way, with the window unchanged.
    fn is_duplicate(&self, segment: &Segment) -> bool {
        segment.acknowledgment == self.unacknowledged
            && self.next > self.unacknowledged
            && !segment.has_text()
            && segment.window == self.last_window
    }

    fn open_to(&mut self, segment: &Segment) {
        if segment.acknowledgment < self.unacknowledged {
            return;
        }
        if segment.window != self.last_window {
            self.last_window = segment.window;
            self.largest_window = self.largest_window.max(u64::from(segment.window));
        }
        self.edge = self.edge.max(segment.acknowledgment + u64::from(segment.window));
    }

    /// `segment` acknowledges something for the first time.
    fn on_new_data(&mut self, now: Time, segment: &Segment, echoes: bool) {
        let acknowledgment = segment.acknowledgment;
        let acknowledged = acknowledgment - self.unacknowledged;
        self.measure(now, segment);
        self.unacknowledged = acknowledgment;
        self.next = self.next.max(acknowledgment);
        if !self.scoreboard.is_empty() {
            self.scoreboard.advance(acknowledgment);
        }
        self.duplicates = 0;
        self.sent_early = 0;
        self.retransmit = false;
        self.probe_at = Time::MAX;
        self.probe_due = false;
        self.probes = 0;
        if self.phase == Phase::Recovery {
            self.recover(now, acknowledged);
            return;
        }
        self.inflation = 0.0;
        self.restart_timer(now);
        let growing = if self.phase == Phase::Restart { 1.0 } else { 2.0 };
        if self.phase == Phase::Restart && self.recovery_point.is_none_or(|point| acknowledgment >= point) {
            self.phase = Phase::Open;
        }
        if !echoes {
            self.grow(now, acknowledged, growing);
        }
    }

    fn measure(&mut self, now: Time, segment: &Segment) {
        let Timing { end, sent } = self.timing;
        let is_timed = segment.acknowledgment >= end;
        if let Some(Timestamps { echo, .. }) = segment.timestamps {
            self.rtt.sample(echo, now, self.window.segments);
        } else if is_timed {
            self.rtt.sample(sent, now, self.window.segments);
        }
        if is_timed {
            self.timing = Timing::NONE;
        }
    }

    /// RFC 6298 §5.2, §5.3: off when nothing is under way, else from now.
    pub(super) fn restart_timer(&mut self, now: Time) {
        let under_way = self.highest > self.unacknowledged;
        self.deadline = if under_way { now + self.rtt.rto() } else { Time::MAX };
    }

    /// `acknowledged` bytes let the window grow; in slow start by `most` segments at most, where bytes count
    /// (RFC 3465 §2.2, §2.3: two, and one after a timeout).
    #[inline]
    pub(super) fn grow(&mut self, now: Time, acknowledged: u64, most: f64) {
        if self.parameters.growth == Growth::WhenLimited && !self.limited {
            return self.congestion.hold(now);
        }
        let segments = match self.parameters.counting {
            Counting::Acknowledgments => 1.0,
            Counting::Bytes if acknowledged == self.payload => 1.0,
            Counting::Bytes => (acknowledged as f64 / self.payload as f64).min(most),
        };
        let Sender { congestion, window, rtt, .. } = self;
        congestion.grow(now, window, segments, || rtt.smoothed());
    }

    /// RFC 3168 §6.1.2: as if a segment were lost, but once per window of data, and nothing is sent again.
    fn on_congestion_mark(&mut self, acknowledgment: u64) {
        let done = |point: Option<u64>| point.is_some_and(|point| acknowledgment <= point);
        if self.phase != Phase::Open || done(self.mark_point) || done(self.recovery_point) {
            return;
        }
        self.statistics.congestion_marks += 1;
        self.mark_point = Some(self.highest);
        self.reduce();
        // A window of one segment does not become two.
        self.window.segments = self.window.segments.min(self.window.threshold);
    }

    /// The slow-start threshold after congestion.
    pub(super) fn reduce(&mut self) {
        let payload = self.payload;
        let used = match self.parameters.reduction {
            Reduction::FlightSize => {
                // RFC 5681 §3.2: what limited transmit has sent does not count.
                self.flight().saturating_sub(self.sent_early) as f64 / payload as f64
            }
            Reduction::Window => {
                libm::floor(self.window.segments).min(self.largest_window as f64 / payload as f64)
            }
        };
        self.window.threshold = self.congestion.reduce(&self.window, used);
        self.announce_reduction = self.ecn;
    }

    /// The timer: retransmission, or the probe of a closed window.
    pub(super) fn on_timer(&mut self, now: Time) {
        if self.deadline <= now {
            self.on_timeout(now);
        }
        if self.probe_at <= now {
            self.probe_due = true;
            self.probe_at = Time::MAX;
        }
    }

    /// RFC 6298 §5.4 to §5.6 and RFC 5681 §3.1: back off, start again with one segment.
    fn on_timeout(&mut self, now: Time) {
        self.statistics.timeouts += 1;
        let again = self.timed_out.replace(self.unacknowledged) == Some(self.unacknowledged);
        if !again || self.parameters.repeated_timeout == RepeatedTimeout::Reduce {
            self.reduce();
        }
        self.rtt.back_off();
        self.start_again();
        self.deadline = now + self.rtt.rto();
    }

    /// One segment, from the first unacknowledged byte on.
    pub(super) fn start_again(&mut self) {
        self.window.segments = 1.0;
        self.inflation = 0.0;
        self.duplicates = 0;
        self.sent_early = 0;
        self.next = self.unacknowledged;
        self.phase = Phase::Restart;
        self.recovery_point = Some(self.highest);
        self.retransmit = false;
        self.timing = Timing::NONE;
    }
}
