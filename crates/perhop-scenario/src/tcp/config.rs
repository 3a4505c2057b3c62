//! [`TcpConfig`]: the TCP of a scenario, a profile with individual parameters replaced.

use perhop_qos::error::ConfigError;
use perhop_qos::units::{ByteSize, QueueSize, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::check::check;
use super::parameters::{
    Accounting, Acknowledgment, CongestionControl, Counting, EcnFeedback, FastRetransmit, Fin, Growth,
    Handshake, HandshakeTiming, Headers, InitialWindow, Parameters, Recovery, Reduction, RepeatedTimeout,
    RtoRule, SegmentationOffload, SlowStartExit, TimerRestart, WindowReduction,
};
use super::profile::{DefaultWindow, Profile};
use crate::default::bytes;

/// Number of SYNs that request accurate ECN, the first one and its first retransmission (RFC 9768 §3.1.4.1).
const ACCURATE_SETUPS: u32 = 2;

/// A TCP implementation: a profile with individual parameters replaced. Both endpoints of a connection use
/// it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct TcpConfig {
    /// Profile of an era, which sets all parameters that are not given.
    pub profile: Profile,
    /// Maximum segment size, payload and TCP options, bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mss: Option<ByteSize>,
    /// Maximum size of an IP packet on the path, bytes.
    #[serde(default = "bytes::<1500>")]
    pub mtu: ByteSize,
    /// Whether headers are added to the size of a packet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub headers: Option<Headers>,
    /// Receive buffer, the largest window that the receiver offers, in bytes or full segments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<QueueSize>,
    /// Initial congestion window.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub initial_window: Option<InitialWindow>,
    /// Initial slow-start threshold, in bytes or full segments; by default `window`, or no threshold with
    /// `accounting: segments`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub initial_ssthresh: Option<QueueSize>,
    /// Loss recovery without a timeout.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recovery: Option<Recovery>,
    /// Congestion control.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub congestion: Option<CongestionControl>,
    /// Number of duplicate acknowledgments that indicate a loss.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duplicate_threshold: Option<u32>,
    /// Limited transmit: the first duplicate acknowledgments allow new segments (RFC 3042).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limited_transmit: Option<bool>,
    /// Limit on fast retransmits of Tahoe and Reno.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fast_retransmit: Option<FastRetransmit>,
    /// Acknowledgment of data in order by the receiver.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub acknowledgment: Option<Acknowledgment>,
    /// Whether connections are opened and closed by segments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handshake: Option<Handshake>,
    /// Whether the handshake is a round-trip sample.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handshake_timing: Option<HandshakeTiming>,
    /// Segment that carries the FIN.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fin: Option<Fin>,
    /// Whether segments carry the timestamps option of 12 bytes (RFC 7323).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timestamps: Option<bool>,
    /// Explicit congestion notification: queues may mark packets instead of dropping them (RFC 3168).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ecn: Option<bool>,
    /// Granularity of the clock for round-trip samples and timers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock: Option<Time>,
    /// Calculation of the retransmission timeout from round-trip samples.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rto_rule: Option<RtoRule>,
    /// Minimum retransmission timeout.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub minimum_rto: Option<Time>,
    /// Retransmission timeout before the first round-trip sample.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub initial_rto: Option<Time>,
    /// Maximum retransmission timeout.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub maximum_rto: Option<Time>,
    /// Maximum factor of the exponential back-off, a power of two.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub maximum_back_off: Option<u32>,
    /// Quantity that a congestion event reduces.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reduction: Option<Reduction>,
    /// Whether a second timeout for the same segment reduces the slow-start threshold again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeated_timeout: Option<RepeatedTimeout>,
    /// Timeout with which an acknowledgment with a round-trip sample restarts the retransmission timer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timer_restart: Option<TimerRestart>,
    /// Whether the congestion window grows while the sender does not use it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub growth: Option<Growth>,
    /// Unit in which the growth of the congestion window is counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counting: Option<Counting>,
    /// Whether a sender restarts from the initial window after it was idle for a retransmission timeout (RFC
    /// 5681 §4.1).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idle_restart: Option<bool>,
    /// Record of sent data: byte counts, or every segment, as in Linux.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accounting: Option<Accounting>,
    /// Reduction of the congestion window to the threshold after a loss or an ECN mark.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window_reduction: Option<WindowReduction>,
    /// Exit from the first slow start before a loss.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slow_start_exit: Option<SlowStartExit>,
    /// Tail loss probes: the sender repeats the last segment, or sends a new one, before the timeout (RFC
    /// 8985 §7). Only with selective acknowledgment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tail_loss_probe: Option<bool>,
    /// Whether the receiver reports data that arrived twice (RFC 2883). Only with selective acknowledgment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dsack: Option<bool>,
    /// Whether a spurious recovery is undone; timestamps (RFC 4015) or DSACK (RFC 3708) detect it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undo: Option<bool>,
    /// Whether F-RTO detects spurious timeouts (RFC 5682).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frto: Option<bool>,
    /// Whether acknowledgments of data out of order are compressed after the third: they wait 1 ms or a
    /// twentieth of the round trip, as in Linux. Only with selective acknowledgment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ack_compression: Option<bool>,
    /// Whether the receive buffer starts small and follows the application's read rate per round trip, up to
    /// `window` (default 3 MiB), as in Linux. Otherwise the buffer is `window` from the start. Needs
    /// `acknowledgment: {adaptive: …}` and `timestamps`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub autotuning: Option<bool>,
    /// Feedback about marked packets from the receiver to the sender; by default the form that the congestion
    /// control needs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ecn_feedback: Option<EcnFeedback>,
    /// Alternative backoff with ECN: in congestion avoidance a mark reduces the window of `reno` to 0.8 and
    /// of `cubic` to 0.85, less than a loss does (RFC 8511).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub abe: Option<bool>,
    /// Whether the sender paces segments: at twice the rate of the window in slow start, then at 1.2 times
    /// (Linux's internal pacing). On by default with `congestion: prague`, at the rate of the window, and
    /// with `bbr` and `bbr3`, at the rate of the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pacing: Option<bool>,
    /// With `congestion: prague`: flows with a shorter round trip have the rate of a flow with this round
    /// trip (RFC 9331 §4.3); `0s` disables it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub virtual_rtt: Option<Time>,
    /// Segmentation offload (TSO, GSO): segments leave in bursts. Without this key, they leave one by one.
    /// `{}` selects Linux's values. Needs `accounting: segments`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub segmentation_offload: Option<SegmentationOffload>,
}

/// The smallest permitted MSS, bytes. The default of RFC 1122 §3.3.3 is 536.
const LEAST_MSS: u64 = 64;
/// Largest window that can be offered, bytes (RFC 7323 §2.3: 30 bits).
const LARGEST_WINDOW: u64 = 1 << 30;

/// The slow-start threshold before the first congestion event, segments: `TCP_INFINITE_SSTHRESH` of Linux.
const UNLIMITED_THRESHOLD: u64 = 0x7fff_ffff;

impl TcpConfig {
    /// Creates the configuration of an unchanged `profile`.
    pub fn new(profile: Profile) -> TcpConfig {
        serde_json::from_value(json!({ "profile": profile })).expect("every other key has a default")
    }

    /// Returns this TCP with segments limited to IP packets of `longest` bytes, which is the effect of path
    /// MTU discovery (RFC 1191) and of lowered MSS options.
    #[must_use]
    pub fn within(&self, longest: u32) -> TcpConfig {
        let parameters = self.merged();
        let own = self.mss.map_or(u64::from(parameters.mss), ByteSize::as_bytes);
        let headers = Parameters { mss: 0, ..parameters }.largest_packet();
        let mss = own.min(u64::from(longest.saturating_sub(headers)));
        TcpConfig { mss: Some(ByteSize::from_bytes(mss)), ..self.clone() }
    }
    /// Resolves the configuration to complete parameters.
    ///
    /// # Errors
    /// Segments exceed the MTU, the window is smaller than a segment, or a parameter is out of range.
    pub fn build(&self) -> Result<Parameters, ConfigError> {
        let mut parameters = self.merged();
        parameters.mss = self.segment_size(&parameters)?;
        parameters.window = self.window(&parameters)?;
        parameters.initial_ssthresh = self.threshold(&parameters)?;
        check(&parameters)?;
        Ok(parameters)
    }

    /// Returns the parameters of the profile, overridden by the parameters of the scenario. `build` resolves
    /// sizes later.
    fn merged(&self) -> Parameters {
        let base = self.profile.parameters();
        let congestion = self.congestion.unwrap_or(base.congestion);
        let is_paced = congestion == CongestionControl::Prague || congestion.has_model();
        let feedback = match congestion {
            CongestionControl::Reno
            | CongestionControl::Cubic
            | CongestionControl::Bbr
            | CongestionControl::Ledbat => base.ecn_feedback,
            CongestionControl::Dctcp | CongestionControl::Bbr3 => EcnFeedback::Dctcp,
            CongestionControl::Prague => EcnFeedback::Accurate,
        };
        let ecn_feedback = self.ecn_feedback.unwrap_or(feedback);
        // RFC 6817 §2.5: INIT_CWND SHOULD be 2.
        let initial_window = match congestion {
            CongestionControl::Ledbat => InitialWindow::Segments(2),
            _ => base.initial_window,
        };
        Parameters {
            headers: self.headers.unwrap_or(base.headers),
            initial_window: self.initial_window.unwrap_or(initial_window),
            recovery: self.recovery.unwrap_or(base.recovery),
            congestion,
            duplicate_threshold: self.duplicate_threshold.unwrap_or(base.duplicate_threshold),
            limited_transmit: self.limited_transmit.unwrap_or(base.limited_transmit),
            fast_retransmit: self.fast_retransmit.unwrap_or(base.fast_retransmit),
            acknowledgment: self.acknowledgment.unwrap_or(base.acknowledgment),
            handshake: self.handshake.unwrap_or(base.handshake),
            handshake_timing: self.handshake_timing.unwrap_or(base.handshake_timing),
            fin: self.fin.unwrap_or(base.fin),
            timestamps: self.timestamps.unwrap_or(base.timestamps),
            ecn: self.ecn.unwrap_or(base.ecn || congestion.is_scalable()),
            ecn_setups: if ecn_feedback == EcnFeedback::Accurate { ACCURATE_SETUPS } else { base.ecn_setups },
            ecn_feedback,
            autotuning: self.autotuning.unwrap_or(base.autotuning),
            abe: self.abe.unwrap_or(base.abe),
            pacing: self.pacing.unwrap_or(base.pacing || is_paced),
            virtual_rtt: self.virtual_rtt.unwrap_or(base.virtual_rtt),
            segmentation_offload: self.segmentation_offload.or(base.segmentation_offload),
            clock: self.clock.unwrap_or(base.clock),
            rto_rule: self.rto_rule.unwrap_or(base.rto_rule),
            minimum_rto: self.minimum_rto.unwrap_or(base.minimum_rto),
            initial_rto: self.initial_rto.unwrap_or(base.initial_rto),
            maximum_rto: self.maximum_rto.unwrap_or(base.maximum_rto),
            maximum_back_off: self.maximum_back_off.unwrap_or(base.maximum_back_off),
            reduction: self.reduction.unwrap_or(base.reduction),
            repeated_timeout: self.repeated_timeout.unwrap_or(base.repeated_timeout),
            timer_restart: self.timer_restart.unwrap_or(base.timer_restart),
            growth: self.growth.unwrap_or(base.growth),
            counting: self.counting.unwrap_or(base.counting),
            idle_restart: self.idle_restart.unwrap_or(base.idle_restart),
            accounting: self.accounting.unwrap_or(base.accounting),
            window_reduction: self.window_reduction.unwrap_or(base.window_reduction),
            slow_start_exit: self.slow_start_exit.unwrap_or(base.slow_start_exit),
            tail_loss_probe: self.tail_loss_probe.unwrap_or(base.tail_loss_probe),
            dsack: self.dsack.unwrap_or(base.dsack),
            undo: self.undo.unwrap_or(base.undo),
            frto: self.frto.unwrap_or(base.frto),
            ack_compression: self.ack_compression.unwrap_or(base.ack_compression),
            ..base
        }
    }

    fn segment_size(&self, parameters: &Parameters) -> Result<u32, ConfigError> {
        let mss = self.mss.map_or(u64::from(parameters.mss), ByteSize::as_bytes);
        if mss < LEAST_MSS {
            return Err(ConfigError::new("mss", format!("`mss` must be at least {LEAST_MSS}B, got {mss}B"))
                .help("1460B is usual on Ethernet"));
        }
        let mss = u32::try_from(mss).unwrap_or(u32::MAX);
        let (packet, mtu) = (Parameters { mss, ..*parameters }.largest_packet(), self.mtu.as_bytes());
        if u64::from(packet) > mtu {
            let message =
                format!("segments of {mss} bytes make packets of {packet} bytes, above the MTU of {mtu}");
            let help = format!("at most {}B, or a larger `mtu`", mtu.saturating_sub(u64::from(packet - mss)));
            return Err(ConfigError::new("mss", message).help(help));
        }
        Ok(mss)
    }

    fn window(&self, parameters: &Parameters) -> Result<u32, ConfigError> {
        let payload = u64::from(parameters.payload());
        let window = match (self.window, self.profile.window()) {
            (Some(QueueSize::Bytes(bytes)), _) => bytes,
            (Some(QueueSize::Packets(segments)), _) => segments.saturating_mul(payload),
            (None, DefaultWindow::Segments(segments)) => u64::from(segments) * payload,
            // With autotuning, the receiver offers half of the buffer's memory (net.ipv4.tcp_adv_win_scale
            // 1).
            (None, DefaultWindow::Bytes(bytes)) if parameters.autotuning => u64::from(bytes) / 2,
            (None, DefaultWindow::Bytes(bytes)) => u64::from(bytes),
            (None, DefaultWindow::WholeSegments(bytes)) => u64::from(bytes) / payload * payload,
        };
        if window < payload {
            let message = format!("a window of {window} bytes is smaller than a segment of {payload} bytes");
            return Err(ConfigError::new("window", message).help("at least one segment; 64KiB is usual"));
        }
        if window > LARGEST_WINDOW {
            let message = format!("`window` must be at most 1GiB, got {window} bytes");
            return Err(ConfigError::new("window", message).help("RFC 7323 limits windows to 30 bits"));
        }
        Ok(window as u32)
    }

    fn threshold(&self, parameters: &Parameters) -> Result<u32, ConfigError> {
        let payload = u64::from(parameters.payload());
        let segments = match self.initial_ssthresh {
            None if parameters.accounting == Accounting::Segments => UNLIMITED_THRESHOLD,
            None => u64::from(parameters.window) / payload,
            Some(QueueSize::Packets(segments)) => segments,
            Some(QueueSize::Bytes(bytes)) => bytes / payload,
        };
        if segments < 2 && self.initial_ssthresh.is_some() {
            let message = format!("`initial-ssthresh` must be at least 2 segments, got {segments}");
            return Err(ConfigError::new("initial-ssthresh", message)
                .help("RFC 5681 §3.1 does not go below 2 segments"));
        }
        Ok(u32::try_from(segments.max(2)).unwrap_or(u32::MAX))
    }
}
