//! [`LinuxSender`]: the sender that keeps a record of every segment (`accounting: segments`), as Linux does.
//!
//! The names are those of the RFCs or of Linux 6.1, and the comments cite the functions of the kernel.
//! Measurements are in microseconds, timers in ticks of the clock. Reading order: `records` (the segments in
//! flight), `acknowledged` (the processing of an acknowledgment), `selective` and `cumulative` (the
//! deliveries that it reports), `alert` (the states of loss recovery), `undo`, `rack`, `timeout` and `probe`,
//! `reduction` and `growth` (the congestion window), `feedback`, `dctcp` and `prague` (reactions to the
//! fraction of marks), `rate` and `bbr`, `ledbat` (reaction to delay), `timer`, `pacing`, `offload`,
//! `output`; `quic`, which replaces the states of loss recovery by the rules of QUIC. The submodule `hooks`
//! of a module has the methods of [`LinuxSender`] that use the state of this module.
//!
//! `Sender` contains the state that both kinds of accounting share: the stream, the offered window and the
//! window probes, the counters and the timer's deadline. The methods of [`LinuxSender`] borrow it as
//! `stream`.

mod acknowledged;
mod alert;
mod bbr;
mod conservative;
mod cubic;
mod cumulative;
mod dctcp;
mod estimator;
mod feedback;
mod growth;
mod hystart;
mod ledbat;
mod microseconds;
mod offload;
mod opening;
mod output;
mod pacing;
mod prague;
mod probe;
mod quic;
mod rack;
mod rate;
mod records;
mod reduction;
mod selective;
mod state;
mod timeout;
mod timer;
mod undo;
mod windowed;

use perhop_qos::units::Time;
use perhop_scenario::tcp::{CongestionControl, Parameters, Recovery, RtoRule};

pub use bbr::{BbrMode, BbrModel};
pub use state::{LossRecovery, State};

use super::rtt::Clock;
use super::segment::Range;
use bbr::Bbr;
use conservative::ConservativeStart;
use cubic::Cubic;
use dctcp::Dctcp;
use estimator::{LeastRoundTrip, PreciseEstimator};
use feedback::Feedback;
use growth::Usage;
use hystart::Hystart;
use ledbat::Ledbat;
use microseconds::microseconds;
use offload::Bursts;
use output::Output;
use pacing::Pacer;
use prague::Prague;
use probe::TailProbe;
use quic::Quic;
use rack::Rack;
use rate::DeliveryRate;
use records::Records;
use reduction::Reduction;
use timer::Timer;
use undo::Undo;

/// Congestion control by the fraction of marked segments.
#[derive(Clone, Debug)]
enum Scalable {
    Dctcp(Dctcp),
    Prague(Prague),
}

impl Scalable {
    fn new(parameters: &Parameters) -> Option<Box<Scalable>> {
        let scalable = match parameters.congestion {
            CongestionControl::Reno
            | CongestionControl::Cubic
            | CongestionControl::Bbr
            | CongestionControl::Bbr3
            | CongestionControl::Ledbat => return None,
            CongestionControl::Dctcp => Scalable::Dctcp(Dctcp::default()),
            CongestionControl::Prague => {
                let virtual_rtt = microseconds(parameters.virtual_rtt);
                Scalable::Prague(Prague::new(parameters.initial_segments(), virtual_rtt))
            }
        };
        Some(Box::new(scalable))
    }
}

/// The sender with a record of every segment.
#[derive(Clone, Debug)]
pub(super) struct LinuxSender {
    records: Records,
    state: State,
    /// The congestion window, segments.
    window: u32,
    /// The slow-start threshold, segments.
    threshold: u32,
    /// The number of acknowledged segments that count towards the next increase of the window.
    credit: u32,
    /// `high_seq`: SND.NXT when the state was entered. The acknowledgment of this offset ends the state.
    state_ends: u64,
    /// The number of segments delivered so far, including the SYN.
    delivered: u32,
    /// The maximum reordering of deliveries that does not indicate a loss, segments.
    reordering: u32,
    /// Whether reordering was observed.
    has_reordered: bool,
    /// The SACK blocks of the last acknowledgment that had SACK blocks.
    known_blocks: [Range; 4],
    reduction: Reduction,
    undo: Undo,
    rack: Rack,
    probe: TailProbe,
    /// The number of timeouts since the last acknowledgment of new data.
    timeouts: u32,
    /// Whether F-RTO evaluates the next acknowledgments.
    frto: bool,
    usage: Usage,
    cubic: Option<Box<Cubic>>,
    hystart: Option<Box<Hystart>>,
    conservative: Option<Box<ConservativeStart>>,
    estimator: Option<PreciseEstimator>,
    least: LeastRoundTrip,
    timer: Timer,
    /// The time at which the timer expires.
    expires: Time,
    /// The time at which the pace permits the next segment.
    wakes: Time,
    feedback: Feedback,
    scalable: Option<Box<Scalable>>,
    bbr: Option<Box<Bbr>>,
    /// The delivery rate, which BBR uses.
    rate: Option<Box<DeliveryRate>>,
    ledbat: Option<Box<Ledbat>>,
    /// QUIC's loss detection.
    quic: Option<Box<Quic>>,
    pacer: Option<Box<Pacer>>,
    /// The state of segmentation offload, if it is configured.
    bursts: Option<Box<Bursts>>,
    clock: Clock,
    output: Output,
}

impl LinuxSender {
    pub(super) fn new(parameters: &Parameters, clock_phase: Time) -> LinuxSender {
        let is_cubic = parameters.congestion == CongestionControl::Cubic;
        let bbr = Bbr::new(parameters.congestion, clock_phase);
        let mut records = Records::default();
        if bbr.as_ref().is_some_and(|bbr| bbr.wants_losses()) {
            records.list_losses();
        }
        LinuxSender {
            records,
            state: State::Open,
            window: parameters.initial_segments() as u32,
            threshold: if bbr.is_some() { reduction::UNLIMITED } else { parameters.initial_ssthresh },
            credit: 0,
            state_ends: 0,
            delivered: 1,
            reordering: parameters.duplicate_threshold,
            has_reordered: false,
            known_blocks: [Range::default(); 4],
            reduction: Reduction::default(),
            undo: Undo::default(),
            rack: Rack::default(),
            probe: TailProbe::default(),
            timeouts: 0,
            frto: false,
            usage: Usage::default(),
            cubic: is_cubic.then(Box::default),
            hystart: (is_cubic && Hystart::is_wanted(parameters)).then(Box::default),
            conservative: ConservativeStart::new(parameters),
            estimator: (parameters.rto_rule == RtoRule::Linux6)
                .then(|| PreciseEstimator::new(parameters.minimum_rto)),
            least: LeastRoundTrip::default(),
            timer: Timer::Off,
            expires: Time::MAX,
            wakes: Time::MAX,
            feedback: Feedback::default(),
            scalable: Scalable::new(parameters),
            rate: bbr.is_some().then(Box::default),
            bbr,
            ledbat: (parameters.congestion == CongestionControl::Ledbat).then(Box::default),
            quic: (parameters.recovery == Recovery::Quic).then(|| Box::new(Quic::new(parameters))),
            pacer: parameters.pacing.then(Box::default),
            bursts: parameters.segmentation_offload.map(|config| Box::new(Bursts::new(config))),
            clock: Clock::new(parameters.clock, clock_phase),
            output: Output::default(),
        }
    }

    /// The congestion window, segments.
    pub(super) fn window(&self) -> u32 {
        self.window
    }
    /// The slow-start threshold, segments.
    pub(super) fn threshold(&self) -> u32 {
        self.threshold
    }
    /// The smoothed round-trip time, if the sender measures it in microseconds.
    pub(super) fn round_trip(&self) -> Option<Time> {
        if let Some(quic) = &self.quic {
            return quic.smoothed();
        }
        self.estimator.and_then(|estimator| estimator.smoothed())
    }
    pub(super) fn loss_recovery(&self) -> LossRecovery {
        let (lost, sacked) = (self.records.lost, self.records.sacked);
        LossRecovery { state: self.state, lost, sacked, reordering: self.reordering }
    }
    fn is_in_slow_start(&self) -> bool {
        self.window < self.threshold
    }
    /// The number of segments in the network, that is, of segments that were sent and are neither delivered
    /// nor marked lost (`tcp_packets_in_flight`).
    fn in_flight(&self) -> u32 {
        self.quic.as_ref().map_or_else(|| self.records.in_flight(), |quic| quic.outstanding())
    }
    /// The number of segments that the window permits now.
    fn room(&self) -> u32 {
        self.window.saturating_sub(self.in_flight())
    }
}
