//! [`Sender`]: the half of a connection that has data to send: what there is to know of it, and what timers do to it.

use perhop_qos::units::Time;

use super::congestion::{Congestion, CongestionWindow};
use super::rtt::RttEstimator;
use super::scoreboard::Scoreboard;
use perhop_measure::tcp::SenderStatistics;

use super::segment::Segment;
use perhop_scenario::tcp::{Handshake, Parameters, Reduction, RepeatedTimeout};

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
#[repr(C)] // in the order of how often they are looked at
pub(super) struct Sender {
    /// SND.UNA: the first offset not acknowledged.
    pub(super) unacknowledged: u64,
    /// The offset after the highest ever sent.
    pub(super) highest: u64,
    /// The offset after the last byte that the application has given.
    pub(super) written: u64,
    /// What the receiver offered last.
    pub(super) last_window: u32,
    /// Whether a FIN follows the last byte.
    pub(super) finishing: bool,
    /// Whether it is known that [nothing is the matter](Sender::is_calm): then an acknowledgment has nothing to put right,
    /// and what is sent next follows from the windows alone.
    pub(super) calm: bool,
    /// Whether the congestion window was what stopped the sender last.
    pub(super) limited: bool,
    /// Whether both ends understand ECN: agreed on in the handshake, given without one.
    pub(super) ecn: bool,
    /// SND.NXT: the next offset to send; goes back to `unacknowledged` to start again.
    pub(super) next: u64,
    /// When the retransmission timer expires; [`Time::MAX`] while it is off.
    pub(super) deadline: Time,
    /// When a closed window is probed next; [`Time::MAX`]: never.
    pub(super) probe_at: Time,
    /// Payload bytes of a full segment, and the bytes of its IP packet.
    pub(super) payload: u64,
    pub(super) full_packet: u32,
    /// The offset up to which the receiver lets us send.
    pub(super) edge: u64,
    pub(super) window: CongestionWindow,
    /// Segments by which duplicate acknowledgments have opened the window (Reno, NewReno).
    pub(super) inflation: f64,
    pub(super) timing: Timing,
    pub(super) last_sent: Time,
    pub(super) statistics: SenderStatistics,
    pub(super) rtt: RttEstimator,
    pub(super) parameters: Parameters,
    pub(super) congestion: Congestion,
    pub(super) phase: Phase,
    /// NewReno: no partial acknowledgment yet.
    pub(super) impatient: bool,
    /// The first unacknowledged segment is to be sent again at once.
    pub(super) retransmit: bool,
    /// RescueRxt.
    pub(super) rescued: bool,
    /// CWR is to be set on the next new segment.
    pub(super) announce_reduction: bool,
    /// How often a closed window was probed, and whether the next probe is due.
    pub(super) probe_due: bool,
    pub(super) probes: u32,
    pub(super) duplicates: u32,
    /// Bytes that limited transmit has let out for these duplicates.
    pub(super) sent_early: u64,
    /// `recover`, RecoveryPoint: what was sent when the last loss was noticed.
    pub(super) recovery_point: Option<u64>,
    pub(super) scoreboard: Scoreboard,
    /// HighRxt: the offset after the last retransmission of this recovery.
    pub(super) retransmitted: u64,
    /// What was sent when ECN last reduced the window.
    pub(super) mark_point: Option<u64>,
    /// The largest window that the receiver ever offered.
    pub(super) largest_window: u64,
    /// Where the segment began whose timer expired last.
    timed_out: Option<u64>,
}

impl Sender {
    pub(super) fn new(parameters: &Parameters, clock_phase: Time) -> Sender {
        Sender {
            parameters: *parameters,
            payload: u64::from(parameters.payload()),
            full_packet: Segment::plain_packet(parameters, parameters.payload()),
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
            calm: true,
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
            statistics: SenderStatistics::default(),
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
            self.calm = false;
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
        self.calm = false;
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
