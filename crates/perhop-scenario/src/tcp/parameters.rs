//! [`Parameters`]: everything that tells one TCP from another.

use perhop_qos::units::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::header::{HEADERS, TCP_HEADER, TIMESTAMPS_OPTION};

/// A TCP, complete and checked: what [`super::TcpConfig::build`] returns. Both ends have the same.
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(clippy::struct_excessive_bools)] // independent options of the protocol
#[repr(C)] // first what every segment asks for
pub struct Parameters {
    /// What the headers add to a packet.
    pub headers: Headers,
    /// Whether segments carry timestamps (RFC 7323).
    pub timestamps: bool,
    /// Whether a window that is not used grows.
    pub growth: Growth,
    /// What the window's growth counts.
    pub counting: Counting,
    /// What is done about loss before the timer expires.
    pub recovery: Recovery,
    /// Maximum segment size, bytes: payload and options (RFC 6691).
    pub mss: u32,
    /// The receiver's buffer and so the largest window it offers, bytes.
    pub window: u32,
    /// The congestion window at the start.
    pub initial_window: InitialWindow,
    /// The slow-start threshold at the start, segments.
    pub initial_ssthresh: u32,
    /// How the congestion window grows and shrinks.
    pub congestion: CongestionControl,
    /// Duplicate acknowledgments that mean loss.
    pub duplicate_threshold: u32,
    /// Whether the first duplicate acknowledgments let new segments out (RFC 3042).
    pub limited_transmit: bool,
    /// How often fast retransmit may happen.
    pub fast_retransmit: FastRetransmit,
    /// When the receiver acknowledges.
    pub acknowledgment: Acknowledgment,
    /// Whether connections are opened and closed.
    pub handshake: Handshake,
    /// Whether the handshake is a measurement of the round trip.
    pub handshake_timing: HandshakeTiming,
    /// The segment that carries the FIN.
    pub fin: Fin,
    /// Explicit congestion notification (RFC 3168).
    pub ecn: bool,
    /// Granularity of the clock that measures round trips.
    pub clock: Time,
    /// How the timeout follows from round trips.
    pub rto_rule: RtoRule,
    /// Least retransmission timeout.
    pub minimum_rto: Time,
    /// Retransmission timeout before the first sample.
    pub initial_rto: Time,
    /// Greatest retransmission timeout.
    pub maximum_rto: Time,
    /// Greatest factor of the exponential back-off; a power of two.
    pub maximum_back_off: u32,
    /// What is halved after congestion.
    pub reduction: Reduction,
    /// Whether a second timeout for the same segment reduces the threshold again.
    pub repeated_timeout: RepeatedTimeout,
    /// Whether an idle sender starts again from the initial window (RFC 5681 §4.1).
    pub idle_restart: bool,
}

impl Parameters {
    /// Payload bytes of a full segment.
    pub fn payload(&self) -> u32 {
        self.mss - self.options()
    }
    /// Bytes of options that every segment carries.
    pub fn options(&self) -> u32 {
        if self.timestamps { TIMESTAMPS_OPTION } else { 0 }
    }
    /// Bytes by which the payload of a full segment on the wire, behind an IP header of `ip_header` bytes, falls
    /// short of what the sender counts: none but where headers are not added, or are those of IPv6.
    pub fn uncounted(&self, ip_header: u32) -> u32 {
        let counted = if self.headers == Headers::Added { HEADERS + self.options() } else { 0 };
        (ip_header + TCP_HEADER + self.options()).saturating_sub(counted)
    }
    /// The congestion window at the start, segments.
    pub fn initial_segments(&self) -> f64 {
        match self.initial_window {
            InitialWindow::Segments(segments) => f64::from(segments),
            // RFC 5681 §3.1: IW = 2 segments above 2190 bytes, 3 above 1095, else 4.
            InitialWindow::Rfc5681 if self.mss > 2190 => 2.0,
            InitialWindow::Rfc5681 if self.mss > 1095 => 3.0,
            InitialWindow::Rfc5681 => 4.0,
        }
    }
    /// Bytes of the IP packet of a full segment.
    pub fn largest_packet(&self) -> u32 {
        self.mss.saturating_add(if self.headers == Headers::Added { HEADERS } else { 0 })
    }
}

/// How the congestion window grows and shrinks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CongestionControl {
    /// One segment per round trip, half after congestion (RFC 5681).
    Reno,
    /// A cubic function of the time since the last congestion, 0.7 after congestion (RFC 9438).
    Cubic,
}

/// What the headers add to a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Headers {
    /// 40 bytes of IP and TCP header, and the options, to every packet.
    Added,
    /// Nothing to data packets, which are as large as `mss` says; an acknowledgment has 40 bytes.
    /// ns-2 before 2001.
    Included,
}

/// The congestion window at the start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum InitialWindow {
    /// So many segments.
    Segments(u32),
    /// Two to four segments, by their size (RFC 5681).
    Rfc5681,
}

/// What is done about loss before the timer expires.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Recovery {
    /// Fast retransmit, then slow start from one segment.
    Tahoe,
    /// Fast retransmit, then fast recovery until any new acknowledgment: several losses in a window usually
    /// end in a timeout (RFC 5681).
    Reno,
    /// Fast recovery until the whole window is acknowledged, one loss repaired per round trip (RFC 6582).
    #[serde(rename = "newreno")]
    NewReno,
    /// Selective acknowledgment (RFC 2018, RFC 6675).
    Sack,
}

/// How often Tahoe and Reno may fast-retransmit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FastRetransmit {
    /// Once per window of data, and not within the window that timed out: ns-2's bugFix.
    OncePerWindow,
    /// Whenever there are enough duplicate acknowledgments.
    Always,
}

/// When the receiver acknowledges data in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Acknowledgment {
    /// Every segment at once.
    EveryPacket,
    /// Every second segment at once, a single one after a while (RFC 1122 §4.2.3.2).
    Delayed {
        /// The while, at most 500 ms.
        timeout: Time,
        /// So many segments at the start of a connection are acknowledged at once, as Linux does.
        #[serde(default)]
        quick: u32,
    },
    /// Every second segment at once, a single one after about twice the gap between segments, which the
    /// receiver estimates: at most 500 ms, after a short segment 20 ms. Linux 2.0 and 2.2.
    Estimated {
        /// The while before a gap is known, at most 500 ms.
        first: Time,
        /// So many segments at the start of a connection are acknowledged at once.
        #[serde(default)]
        quick: u32,
    },
}

/// Whether connections are opened and closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Handshake {
    /// SYN, SYN-ACK, ACK to open; FIN and its acknowledgment in each direction to close.
    ThreeWay,
    /// Data flow from the first instant and nothing closes: ns-2's one-way agents.
    None,
}

/// Whether the handshake is a measurement of the round trip.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum HandshakeTiming {
    /// The first one, unless the SYN was lost (RFC 6298).
    Measured,
    /// The timeout stays the initial one until data are acknowledged: Linux 2.0.
    Forgotten,
}

/// The segment that carries the FIN.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Fin {
    /// The last with data, if that has not been sent yet.
    WithData,
    /// One of its own, which takes a place in the congestion window: Linux 2.0.
    Alone,
}

/// How the retransmission timeout follows from round trips.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RtoRule {
    /// SRTT + 4 RTTVAR, and at least the minimum (RFC 6298). BSD, ns-2.
    Rfc6298,
    /// A quarter more, and more for windows of few segments; the first deviation is half the round trip:
    /// Linux 2.0.
    #[serde(rename = "linux-2.0")]
    Linux2_0,
    /// The same with a first deviation as large as the round trip: Linux 2.2.
    Linux2,
    /// SRTT + 4 RTTVAR, the second term at least the minimum: Linux since 2.4.
    Linux,
}

/// What is halved after congestion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Reduction {
    /// The data that are under way (RFC 5681).
    FlightSize,
    /// The window: the smaller of congestion window and offered window. ns-2, Linux.
    Window,
}

/// Whether a second timeout for the same segment reduces the slow-start threshold again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RepeatedTimeout {
    /// It keeps the threshold of the first (RFC 5681, Linux).
    Hold,
    /// It reduces again, to two segments: ns-2.
    Reduce,
}

/// Whether a congestion window that is not used grows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Growth {
    /// With every acknowledgment of new data, in Reno also with the one that ends fast recovery: ns-2.
    Always,
    /// Only while the congestion window is what holds the sender back (RFC 7661 §4.1).
    WhenLimited,
}

/// What the growth of the congestion window counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Counting {
    /// Acknowledgments, whatever they acknowledge.
    Acknowledgments,
    /// Bytes that they acknowledge, in slow start two segments at most (RFC 3465).
    Bytes,
}
