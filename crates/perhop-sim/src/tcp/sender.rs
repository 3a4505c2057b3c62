//! [`Sender`]: the state and the timers of the sending half of a connection.

use std::sync::Arc;

use perhop_qos::units::Time;

use super::congestion::{Cause, Congestion, CongestionWindow};
use super::linux::{BbrModel, LinuxSender};
use super::rtt::RttEstimator;
use super::scoreboard::Scoreboard;
use perhop_measure::tcp::SenderStatistics;

use super::segment::Segment;
use perhop_scenario::tcp::{Accounting, Handshake, Parameters, Reduction, RepeatedTimeout};

/// State of loss recovery, with Linux's names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// No loss is known.
    Open,
    /// Fast recovery: a loss was detected by acknowledgments.
    Recovery,
    /// Retransmission from the first unacknowledged byte on, after a timeout or Tahoe's fast retransmit.
    Loss,
    /// The sender keeps a record of every segment. [`LinuxSender`] has the state.
    Recorded,
}

/// Whether an acknowledgment contains new SACK information (RFC 6675 §2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SackInformation {
    /// A block covers an offset that was not yet SACKed.
    New,
    /// There are no blocks, or all their offsets were already SACKed.
    Known,
}

/// A segment whose round trip is timed (Karn & Partridge 1987: a segment that was sent only once).
#[derive(Clone, Copy, Debug)]
pub(super) struct Timing {
    /// The offset after the segment. It is larger than any acknowledgment if no segment is timed.
    pub(super) end: u64,
    pub(super) sent: Time,
}

impl Timing {
    pub(super) const NONE: Timing = Timing { end: u64::MAX, sent: Time::ZERO };
}

/// An offset in the stream, or none. Unlike an `Option`, it has no tag, so that a sender takes less memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct OffsetOrNone(u64);

impl OffsetOrNone {
    /// No offset. The value is larger than every offset of a stream.
    pub(super) const NONE: OffsetOrNone = OffsetOrNone(u64::MAX);

    pub(super) fn at(offset: u64) -> OffsetOrNone {
        OffsetOrNone(offset)
    }
    #[inline]
    pub(super) fn get(self) -> Option<u64> {
        (self != OffsetOrNone::NONE).then_some(self.0)
    }
}

/// The counters of a sender: [`SenderStatistics`] with small counters for rare events.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SenderCounters {
    pub(super) segments: u64,
    pub(super) retransmissions: u64,
    pub(super) timeouts: u32,
    pub(super) fast_retransmits: u32,
    pub(super) congestion_marks: u32,
    pub(super) probes: u32,
}

impl From<SenderCounters> for SenderStatistics {
    fn from(counters: SenderCounters) -> SenderStatistics {
        SenderStatistics {
            segments: counters.segments,
            retransmissions: counters.retransmissions,
            timeouts: counters.timeouts.into(),
            fast_retransmits: counters.fast_retransmits.into(),
            congestion_marks: counters.congestion_marks.into(),
            probes: counters.probes.into(),
        }
    }
}

/// The sending half of a connection.
///
/// To send an acknowledgment, a connection accesses only the first cache line. To process an acknowledgment
/// and send the data that it permits, it accesses the first four.
#[derive(Clone, Debug)]
#[allow(clippy::struct_excessive_bools)] // state of the RFCs in addition to the phase
#[repr(C, align(64))]
pub(super) struct Sender {
    /// SND.UNA: the first unacknowledged offset.
    pub(super) unacknowledged: u64,
    /// The highest offset that was ever sent, plus one.
    pub(super) highest: u64,
    /// The offset after the last byte that the application has written.
    pub(super) written: u64,
    /// SND.NXT: the next offset to send. A timeout resets it to `unacknowledged`.
    pub(super) next: u64,
    /// SND.WND: the window that the receiver offered last.
    pub(super) last_window: u32,
    /// Whether a FIN follows the last byte.
    pub(super) finishing: bool,
    /// Whether the congestion window was what last limited the sender.
    pub(super) cwnd_limited: bool,
    pub(super) phase: Phase,
    /// Whether ECN is in use: negotiated in the handshake, or configured if connections have no handshake.
    pub(super) ecn: bool,
    /// Time at which the retransmission timer expires; [`Time::MAX`] while it is off.
    pub(super) deadline: Time,
    /// The persist timer: time of the next probe of a closed window; [`Time::MAX`] while it is off.
    pub(super) probe_at: Time,
    /// The parameters, which connections with equal parameters share.
    pub(super) parameters: Arc<Parameters>,
    /// The payload of a full segment, bytes.
    pub(super) payload: u64,
    /// The length of the IP packet of a full segment, bytes.
    pub(super) full_packet: u32,
    pub(super) duplicates: u32,
    /// The right edge of the offered window: the offset up to which the receiver accepts data.
    pub(super) edge: u64,
    pub(super) window: CongestionWindow,
    pub(super) scoreboard: Scoreboard,
    pub(super) timing: Timing,
    pub(super) last_sent: Time,
    pub(super) rtt: RttEstimator,
    /// Whether a zero-window probe is due.
    pub(super) probe_due: bool,
    /// RFC 6582 §4, impatient variant: whether no partial acknowledgment has arrived yet.
    pub(super) impatient: bool,
    /// Whether the first unacknowledged segment must be retransmitted at once.
    pub(super) retransmit: bool,
    /// Whether this recovery has used its rescue retransmission (RFC 6675 §4, RescueRxt).
    pub(super) rescued: bool,
    /// Whether CWR must be set on the next new segment.
    pub(super) cwr_due: bool,
    pub(super) congestion: Congestion,
    pub(super) statistics: SenderCounters,
    /// The number of segments by which duplicate acknowledgments have inflated the window (Reno, NewReno).
    pub(super) inflation: f64,
    /// The number of probes of the closed window so far.
    pub(super) probes: u32,
    /// The number of bytes that limited transmit sent for the current duplicate acknowledgments.
    pub(super) limited_transmit_bytes: u64,
    /// `recover` (RFC 6582), RecoveryPoint (RFC 6675): `highest` when the last loss was detected.
    pub(super) recovery_point: OffsetOrNone,
    /// HighRxt: the offset after the last retransmission of this recovery.
    pub(super) retransmitted: u64,
    /// `highest` when ECN last reduced the window.
    pub(super) mark_point: OffsetOrNone,
    /// The largest window that the receiver has ever offered, bytes.
    pub(super) largest_window: u64,
    /// The first offset of the last segment whose timer expired.
    timed_out: OffsetOrNone,
    /// The state of a sender with a record of every segment; `None` for other senders.
    pub(super) linux: Option<Box<LinuxSender>>,
}

impl Sender {
    pub(super) fn new(parameters: &Arc<Parameters>, clock_phase: Time) -> Sender {
        let is_recorded = parameters.accounting == Accounting::Segments;
        Sender {
            parameters: Arc::clone(parameters),
            payload: u64::from(parameters.payload()),
            full_packet: Segment::plain_ip_length(parameters, parameters.payload()),
            unacknowledged: 0,
            next: 0,
            highest: 0,
            written: 0,
            finishing: false,
            edge: u64::from(parameters.first_window()),
            largest_window: u64::from(parameters.first_window()),
            last_window: parameters.first_window(),
            window: CongestionWindow {
                segments: parameters.initial_segments(),
                threshold: f64::from(parameters.initial_ssthresh),
            },
            inflation: 0.0,
            congestion: Congestion::new(parameters.congestion),
            duplicates: 0,
            limited_transmit_bytes: 0,
            phase: if is_recorded { Phase::Recorded } else { Phase::Open },
            linux: is_recorded.then(|| Box::new(LinuxSender::new(parameters, clock_phase))),
            recovery_point: OffsetOrNone::NONE,
            mark_point: OffsetOrNone::NONE,
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
            timed_out: OffsetOrNone::NONE,
            ecn: parameters.ecn && parameters.handshake == Handshake::None,
            cwr_due: false,
            cwnd_limited: false,
            last_sent: Time::ZERO,
            statistics: SenderCounters::default(),
        }
    }

    /// Calls `act` with the [`LinuxSender`] and the sender without it. Returns `None` if there is no
    /// [`LinuxSender`].
    pub(super) fn with_linux<T>(
        &mut self,
        act: impl FnOnce(&mut LinuxSender, &mut Sender) -> T,
    ) -> Option<T> {
        let mut linux = self.linux.take()?;
        let done = act(&mut linux, self);
        self.linux = Some(linux);
        Some(done)
    }
    /// Whether the sender keeps a record of every segment.
    pub(super) fn is_recorded(&self) -> bool {
        self.linux.is_some()
    }
    /// The congestion window and the slow-start threshold, segments.
    pub(super) fn congestion_window(&self) -> CongestionWindow {
        self.linux.as_ref().map_or(self.window, |linux| CongestionWindow {
            segments: f64::from(linux.window()),
            threshold: f64::from(linux.threshold()),
        })
    }
    /// The smoothed round-trip time; `None` before the first sample.
    pub(super) fn round_trip_time(&self) -> Option<Time> {
        self.linux.as_ref().and_then(|linux| linux.round_trip()).or_else(|| self.smoothed_round_trip())
    }
    /// The smoothed round-trip time of a sender without a record of every segment; `None` before the first
    /// sample.
    pub(super) fn smoothed_round_trip(&self) -> Option<Time> {
        self.rtt.smoothed(&self.parameters)
    }
    /// BBR's model of the path, if BBR is the congestion control.
    pub(super) fn bbr_model(&self) -> Option<BbrModel> {
        self.linux.as_ref().and_then(|linux| linux.bbr_model(self.payload))
    }
    /// Prepares for data that the application is about to write.
    pub(super) fn note_write(&mut self) {
        if let Some(linux) = &mut self.linux {
            linux.note_write(self.written.saturating_sub(self.next), self.payload);
        }
    }
    /// Opens the connection. `sent` is the send time of the SYN, if the handshake has a round-trip sample.
    /// `syns` is the number of sent SYNs.
    pub(super) fn on_open(&mut self, now: Time, sent: Option<Time>, syns: u32) {
        if syns > 1 {
            self.rtt.after_lost_syn(&self.parameters);
            // RFC 5681 §3.1: after a lost SYN the initial window is one segment.
            self.window.segments = 1.0;
        }
        let round_trip = sent.map(|sent| now - sent);
        let opened = self.with_linux(|linux, stream| linux.on_open(stream, now, round_trip, syns));
        if opened.is_none()
            && let Some(sent) = sent
        {
            self.rtt.sample(&self.parameters, sent, now, self.window.segments);
        }
    }

    /// The offset after all data of the application, including the FIN.
    pub(super) fn end(&self) -> u64 {
        self.written.saturating_add(u64::from(self.finishing))
    }
    /// Whether the application has sent data or closed.
    pub(super) fn has_work(&self) -> bool {
        self.written > 0 || self.finishing
    }
    /// Returns the number of bytes that were sent and not acknowledged (FlightSize).
    pub(super) fn flight(&self) -> u64 {
        self.highest - self.unacknowledged
    }

    /// Sets the slow-start threshold after a congestion event.
    pub(super) fn reduce_threshold(&mut self, cause: Cause) {
        let factor = cause.factor(&self.parameters, self.window.segments < self.window.threshold);
        let payload = self.payload;
        let in_use = match self.parameters.reduction {
            Reduction::FlightSize => {
                // RFC 5681 §3.2: data sent by limited transmit do not count.
                self.flight().saturating_sub(self.limited_transmit_bytes) as f64 / payload as f64
            }
            Reduction::Window => {
                libm::floor(self.window.segments).min(self.largest_window as f64 / payload as f64)
            }
        };
        self.window.threshold = self.congestion.on_congestion_event(&self.window, in_use, factor);
        self.cwr_due = self.ecn;
    }

    /// Handles the retransmission timer and the persist timer, if they have expired.
    pub(super) fn on_timer(&mut self, now: Time) {
        if self.deadline <= now && self.with_linux(|linux, stream| linux.on_timer(stream, now)).is_none() {
            self.on_timeout(now);
        }
        if self.probe_at <= now {
            self.probe_due = true;
            self.probe_at = Time::MAX;
        }
    }

    /// Backs off the timer and retransmits with a window of one segment (RFC 6298 §5.4 to §5.6, RFC 5681
    /// §3.1).
    fn on_timeout(&mut self, now: Time) {
        self.statistics.timeouts += 1;
        let first = OffsetOrNone::at(self.unacknowledged);
        let is_repeated = std::mem::replace(&mut self.timed_out, first) == first;
        if !is_repeated || self.parameters.repeated_timeout == RepeatedTimeout::Reduce {
            self.reduce_threshold(Cause::Loss);
        }
        self.rtt.back_off(&self.parameters);
        self.enter_loss();
        self.deadline = now + self.rtt.rto();
    }

    /// Sets the window to one segment and the next offset to the first unacknowledged offset.
    pub(super) fn enter_loss(&mut self) {
        self.window.segments = 1.0;
        self.inflation = 0.0;
        self.duplicates = 0;
        self.limited_transmit_bytes = 0;
        self.next = self.unacknowledged;
        self.phase = Phase::Loss;
        self.recovery_point = OffsetOrNone::at(self.highest);
        self.retransmit = false;
        self.timing = Timing::NONE;
    }
}
