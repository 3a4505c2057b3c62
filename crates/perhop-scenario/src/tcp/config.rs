//! [`TcpConfig`]: a profile and what a scenario wants otherwise.

use perhop_qos::error::ConfigError;
use perhop_qos::units::{ByteSize, QueueSize, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::parameters::{
    Acknowledgment, CongestionControl, Counting, FastRetransmit, Fin, Growth, Handshake, HandshakeTiming,
    Headers, InitialWindow, Parameters, Recovery, Reduction, RepeatedTimeout, RtoRule,
};
use super::profile::{DefaultWindow, Profile};

/// Longest time that an acknowledgment may wait (RFC 5681 §4.2). Linux 2.0 and 2.2: HZ/2.
pub const LONGEST_DELAY: Time = Time::from_milliseconds(500);

/// A TCP: a profile, and what differs from it. Both ends of a connection have the same.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct TcpConfig {
    /// The TCP of an era: where every parameter below comes from that is not set here.
    pub profile: Profile,
    /// Maximum segment size: payload and options.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mss: Option<ByteSize>,
    /// The largest IP packet that the path takes.
    #[serde(default = "ethernet_mtu")]
    pub mtu: ByteSize,
    /// What the headers add to a packet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub headers: Option<Headers>,
    /// The receiver's buffer and so the largest window it offers, in bytes or full segments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<QueueSize>,
    /// The congestion window at the start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub initial_window: Option<InitialWindow>,
    /// The slow-start threshold at the start, in bytes or full segments; by default `window`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub initial_ssthresh: Option<QueueSize>,
    /// What is done about loss before the timer expires.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recovery: Option<Recovery>,
    /// How the congestion window grows and shrinks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub congestion: Option<CongestionControl>,
    /// Duplicate acknowledgments that mean loss.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duplicate_threshold: Option<u32>,
    /// Whether the first duplicate acknowledgments let new segments out (RFC 3042).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limited_transmit: Option<bool>,
    /// How often Tahoe and Reno may fast-retransmit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fast_retransmit: Option<FastRetransmit>,
    /// When the receiver acknowledges data in order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub acknowledgment: Option<Acknowledgment>,
    /// Whether connections are opened and closed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handshake: Option<Handshake>,
    /// Whether the handshake is a measurement of the round trip.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handshake_timing: Option<HandshakeTiming>,
    /// The segment that carries the FIN.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fin: Option<Fin>,
    /// Whether segments carry timestamps, 12 bytes (RFC 7323).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timestamps: Option<bool>,
    /// Whether queues may mark packets instead of dropping them (RFC 3168).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ecn: Option<bool>,
    /// Granularity of the clock that measures round trips.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock: Option<Time>,
    /// How the retransmission timeout follows from round trips.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rto_rule: Option<RtoRule>,
    /// Least retransmission timeout.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub minimum_rto: Option<Time>,
    /// Retransmission timeout before the first round trip is measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub initial_rto: Option<Time>,
    /// Greatest retransmission timeout.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub maximum_rto: Option<Time>,
    /// Greatest factor of the exponential back-off, a power of two.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub maximum_back_off: Option<u32>,
    /// What is halved after congestion.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reduction: Option<Reduction>,
    /// Whether a second timeout for the same segment reduces the slow-start threshold again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeated_timeout: Option<RepeatedTimeout>,
    /// Whether a congestion window that is not used grows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub growth: Option<Growth>,
    /// What the growth of the congestion window counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counting: Option<Counting>,
    /// Whether a sender that was idle for a timeout starts again from the initial window (RFC 5681 §4.1).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idle_restart: Option<bool>,
}

fn ethernet_mtu() -> ByteSize {
    ByteSize::from_bytes(1500)
}

/// A segment's payload has to be worth its headers (RFC 1122 §3.3.3 expects 536).
const LEAST_MSS: u64 = 64;
/// A window of more than 30 bits cannot be offered (RFC 7323 §2.3).
const LARGEST_WINDOW: u64 = 1 << 30;

impl TcpConfig {
    /// `profile` as it is.
    pub fn new(profile: Profile) -> TcpConfig {
        TcpConfig {
            profile,
            mss: None,
            mtu: ethernet_mtu(),
            headers: None,
            window: None,
            initial_window: None,
            initial_ssthresh: None,
            recovery: None,
            congestion: None,
            duplicate_threshold: None,
            limited_transmit: None,
            fast_retransmit: None,
            acknowledgment: None,
            handshake: None,
            handshake_timing: None,
            fin: None,
            timestamps: None,
            ecn: None,
            clock: None,
            rto_rule: None,
            minimum_rto: None,
            initial_rto: None,
            maximum_rto: None,
            maximum_back_off: None,
            reduction: None,
            repeated_timeout: None,
            growth: None,
            counting: None,
            idle_restart: None,
        }
    }

    /// The complete TCP.
    ///
    /// # Errors
    /// When the segments do not fit the path, the window does not hold one, or a timer makes no sense.
    pub fn build(&self) -> Result<Parameters, ConfigError> {
        let mut parameters = self.merged();
        parameters.mss = self.segment_size(&parameters)?;
        parameters.window = self.window(&parameters)?;
        parameters.initial_ssthresh = self.threshold(&parameters)?;
        check_counts(&parameters)?;
        check_times(&parameters)?;
        Ok(parameters)
    }

    /// The profile's parameters with those that the scenario sets; sizes come later.
    fn merged(&self) -> Parameters {
        let base = self.profile.parameters();
        Parameters {
            headers: self.headers.unwrap_or(base.headers),
            initial_window: self.initial_window.unwrap_or(base.initial_window),
            recovery: self.recovery.unwrap_or(base.recovery),
            congestion: self.congestion.unwrap_or(base.congestion),
            duplicate_threshold: self.duplicate_threshold.unwrap_or(base.duplicate_threshold),
            limited_transmit: self.limited_transmit.unwrap_or(base.limited_transmit),
            fast_retransmit: self.fast_retransmit.unwrap_or(base.fast_retransmit),
            acknowledgment: self.acknowledgment.unwrap_or(base.acknowledgment),
            handshake: self.handshake.unwrap_or(base.handshake),
            handshake_timing: self.handshake_timing.unwrap_or(base.handshake_timing),
            fin: self.fin.unwrap_or(base.fin),
            timestamps: self.timestamps.unwrap_or(base.timestamps),
            ecn: self.ecn.unwrap_or(base.ecn),
            clock: self.clock.unwrap_or(base.clock),
            rto_rule: self.rto_rule.unwrap_or(base.rto_rule),
            minimum_rto: self.minimum_rto.unwrap_or(base.minimum_rto),
            initial_rto: self.initial_rto.unwrap_or(base.initial_rto),
            maximum_rto: self.maximum_rto.unwrap_or(base.maximum_rto),
            maximum_back_off: self.maximum_back_off.unwrap_or(base.maximum_back_off),
            reduction: self.reduction.unwrap_or(base.reduction),
            repeated_timeout: self.repeated_timeout.unwrap_or(base.repeated_timeout),
            growth: self.growth.unwrap_or(base.growth),
            counting: self.counting.unwrap_or(base.counting),
            idle_restart: self.idle_restart.unwrap_or(base.idle_restart),
            ..base
        }
    }

    fn segment_size(&self, parameters: &Parameters) -> Result<u32, ConfigError> {
        let mss = self.mss.map_or(u64::from(parameters.mss), ByteSize::as_bytes);
        if mss < LEAST_MSS {
            return Err(ConfigError::new("mss", format!("segments of {mss} bytes carry next to nothing"))
                .help(format!("at least {LEAST_MSS}B; 1460B fit Ethernet")));
        }
        let mss = u32::try_from(mss).unwrap_or(u32::MAX);
        let (packet, mtu) = (Parameters { mss, ..*parameters }.largest_packet(), self.mtu.as_bytes());
        if u64::from(packet) > mtu {
            let message = format!("segments of {mss} bytes make packets of {packet}, the MTU is {mtu}");
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
            (None, DefaultWindow::Bytes(bytes)) => u64::from(bytes),
            (None, DefaultWindow::WholeSegments(bytes)) => u64::from(bytes) / payload * payload,
        };
        if window < payload {
            let message = format!("a window of {window} bytes holds no segment of {payload}");
            return Err(ConfigError::new("window", message).help("at least one segment; 64KiB is usual"));
        }
        if window > LARGEST_WINDOW {
            return Err(ConfigError::new("window", format!("no TCP offers a window of {window} bytes"))
                .help("at most 1GiB"));
        }
        Ok(window as u32)
    }

    fn threshold(&self, parameters: &Parameters) -> Result<u32, ConfigError> {
        let payload = u64::from(parameters.payload());
        let segments = match self.initial_ssthresh {
            None => u64::from(parameters.window) / payload,
            Some(QueueSize::Packets(segments)) => segments,
            Some(QueueSize::Bytes(bytes)) => bytes / payload,
        };
        if segments < 2 && self.initial_ssthresh.is_some() {
            let message = format!("a slow-start threshold of {segments} segments");
            return Err(ConfigError::new("initial-ssthresh", message).help("at least 2 segments"));
        }
        Ok(u32::try_from(segments.max(2)).unwrap_or(u32::MAX))
    }
}

fn check_counts(parameters: &Parameters) -> Result<(), ConfigError> {
    if parameters.initial_window == InitialWindow::Segments(0) {
        return Err(ConfigError::new("initial-window.segments", "a window of 0 segments sends nothing")
            .help("at least 1"));
    }
    if parameters.duplicate_threshold == 0 {
        return Err(ConfigError::new("duplicate-threshold", "every acknowledgment would mean loss")
            .help("3 is usual"));
    }
    if !parameters.maximum_back_off.is_power_of_two() {
        let message =
            format!("the timeout doubles and never is {} times itself", parameters.maximum_back_off);
        return Err(ConfigError::new("maximum-back-off", message).help("a power of two; 64 is usual"));
    }
    Ok(())
}

fn check_times(parameters: &Parameters) -> Result<(), ConfigError> {
    if parameters.clock == Time::ZERO {
        return Err(
            ConfigError::new("clock", "a clock without ticks measures nothing").help("for example 10ms")
        );
    }
    if parameters.initial_rto == Time::ZERO {
        return Err(
            ConfigError::new("initial-rto", "a timeout of 0 sends without end").help("for example 1s")
        );
    }
    if parameters.maximum_rto < parameters.minimum_rto.max(parameters.initial_rto) {
        let message = format!(
            "the greatest timeout, {}, is less than the least or the initial one",
            parameters.maximum_rto
        );
        return Err(ConfigError::new("maximum-rto", message).help("60s is usual"));
    }
    let (field, wait) = match parameters.acknowledgment {
        Acknowledgment::EveryPacket => return Ok(()),
        Acknowledgment::Delayed { timeout, .. } => ("delayed.timeout", timeout),
        Acknowledgment::Estimated { first, .. } => ("estimated.first", first),
    };
    if wait == Time::ZERO || wait > LONGEST_DELAY {
        let message = format!("acknowledgments that wait for {wait}");
        return Err(ConfigError::new(&format!("acknowledgment.{field}"), message)
            .help("more than 0 and at most 500ms (RFC 5681 §4.2), or acknowledgment: every-packet"));
    }
    Ok(())
}
