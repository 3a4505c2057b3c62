//! [`Parameters`]: the parameters in which TCP implementations differ, and the modeled parts of the header.

use perhop_qos::units::{ByteSize, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::default::bytes;

/// IP and TCP headers without options, bytes (RFC 791, RFC 9293).
pub const HEADERS: u32 = 40;
/// A TCP header without options, bytes (RFC 9293 §3.1).
pub const TCP_HEADER: u32 = 20;
/// Overhead of a QUIC packet with stream data, bytes: [`QUIC_PACKET`], and type, stream and offset of a
/// STREAM frame (RFC 9000 §19.8: 1, 1 and 4).
pub const QUIC_HEADERS: u32 = QUIC_PACKET + 6;
/// Overhead of any QUIC packet around its frames, bytes: IP (20) and UDP (8) headers, a short header with a
/// connection ID of 8 bytes and a packet number of 2 (RFC 9000 §17.3.1: 11), and the authentication tag (RFC
/// 9001 §5.3: 16).
pub const QUIC_PACKET: u32 = 20 + 8 + 11 + 16;
/// Length of the timestamps option, bytes, including padding (RFC 7323 appendix A).
pub const TIMESTAMPS_OPTION: u32 = 12;

/// Longest delay of an acknowledgment (RFC 5681 §4.2; HZ/2 in Linux 2.0 and 2.2).
pub const LONGEST_DELAY: Time = Time::from_milliseconds(500);

/// Complete, checked parameters of a TCP implementation, from [`super::TcpConfig::build`]. They apply to both
/// endpoints.
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(clippy::struct_excessive_bools)] // independent options of the protocol
#[repr(C)] // most frequently used first
pub struct Parameters {
    /// Whether headers are added to the size of a packet.
    pub headers: Headers,
    /// Whether segments carry timestamps (RFC 7323).
    pub timestamps: bool,
    /// Whether the congestion window grows while the sender does not use it.
    pub growth: Growth,
    /// Unit in which the growth of the congestion window is counted.
    pub counting: Counting,
    /// Loss recovery without a timeout.
    pub recovery: Recovery,
    /// Maximum segment size, bytes: payload and options (RFC 6691).
    pub mss: u32,
    /// Receive buffer, the largest offered window, bytes.
    pub window: u32,
    /// Initial congestion window.
    pub initial_window: InitialWindow,
    /// Initial slow-start threshold, segments.
    pub initial_ssthresh: u32,
    /// Congestion control.
    pub congestion: CongestionControl,
    /// Number of duplicate acknowledgments that indicate a loss.
    pub duplicate_threshold: u32,
    /// Limited transmit: the first duplicate acknowledgments allow new segments (RFC 3042).
    pub limited_transmit: bool,
    /// Limit on fast retransmits of Tahoe and Reno.
    pub fast_retransmit: FastRetransmit,
    /// The receiver's rule for acknowledging data that arrive in order.
    pub acknowledgment: Acknowledgment,
    /// Whether SYNs open and FINs close a connection.
    pub handshake: Handshake,
    /// Whether the handshake gives a round-trip sample.
    pub handshake_timing: HandshakeTiming,
    /// Segment that carries the FIN.
    pub fin: Fin,
    /// Explicit congestion notification (RFC 3168).
    pub ecn: bool,
    /// Number of SYNs that request ECN; later retransmissions of the SYN do not request it (RFC 3168
    /// §6.1.1.1).
    pub ecn_setups: u32,
    /// Granularity of the clock for round-trip samples and timers.
    pub clock: Time,
    /// Calculation of the retransmission timeout from round-trip samples.
    pub rto_rule: RtoRule,
    /// Minimum retransmission timeout.
    pub minimum_rto: Time,
    /// Retransmission timeout before the first sample.
    pub initial_rto: Time,
    /// Maximum retransmission timeout.
    pub maximum_rto: Time,
    /// Maximum factor of the exponential back-off; a power of two.
    pub maximum_back_off: u32,
    /// Quantity that a congestion event reduces.
    pub reduction: Reduction,
    /// Whether a second timeout for the same segment reduces the threshold again.
    pub repeated_timeout: RepeatedTimeout,
    /// Timeout with which an acknowledgment with a round-trip sample restarts the retransmission timer.
    pub timer_restart: TimerRestart,
    /// Whether an idle sender restarts from the initial window (RFC 5681 §4.1).
    pub idle_restart: bool,
    /// The record that a sender keeps of sent data: byte counts, or every segment.
    pub accounting: Accounting,
    /// Reduction of the congestion window to the threshold after a loss or an ECN mark.
    pub window_reduction: WindowReduction,
    /// Exit from the first slow start before a loss.
    pub slow_start_exit: SlowStartExit,
    /// Tail loss probes (RFC 8985 §7).
    pub tail_loss_probe: bool,
    /// Whether the receiver reports data that arrived twice (RFC 2883).
    pub dsack: bool,
    /// Whether a spurious recovery is undone.
    pub undo: bool,
    /// Whether F-RTO detects spurious timeouts (RFC 5682).
    pub frto: bool,
    /// Whether acknowledgments of data out of order are compressed.
    pub ack_compression: bool,
    /// Whether the receive buffer follows the application's read rate.
    pub autotuning: bool,
    /// Feedback about marked packets from the receiver to the sender.
    pub ecn_feedback: EcnFeedback,
    /// Whether a mark reduces the window less than a loss (RFC 8511).
    pub abe: bool,
    /// Whether the sender paces segments.
    pub pacing: bool,
    /// The virtual round-trip time of Prague: a flow with a shorter round trip has the rate of a flow with
    /// this round trip. Zero disables it.
    pub virtual_rtt: Time,
    /// Segmentation offload; `None` if segments leave one by one.
    pub segmentation_offload: Option<SegmentationOffload>,
}

impl Parameters {
    /// Returns the payload of a full segment, bytes.
    pub fn payload(&self) -> u32 {
        self.mss - self.options()
    }
    /// Returns the length of the options in every segment, bytes.
    pub fn options(&self) -> u32 {
        if self.timestamps { TIMESTAMPS_OPTION } else { 0 }
    }
    /// Returns the number of header bytes of a full segment that are part of the segment size of the sender.
    /// The payload on the wire is smaller by this number. `ip_header` is the length of the IP header. The
    /// result is 0 if headers are added to the size and the packet is IPv4.
    pub fn uncounted(&self, ip_header: u32) -> u32 {
        let counted = match self.headers {
            Headers::Added => HEADERS + self.options(),
            Headers::Quic => QUIC_HEADERS,
            Headers::Included => 0,
        };
        (ip_header + TCP_HEADER + self.options()).saturating_sub(counted)
    }
    /// Whether retransmissions are also ECN-capable, which is the case for congestion controls that respond
    /// to the exact number of marks.
    pub fn repeats_capable(&self) -> bool {
        let goes_by_marks = self.congestion == CongestionControl::Bbr3;
        self.recovery == Recovery::Quic
            || self.congestion.is_scalable()
            || (goes_by_marks && self.ecn_feedback != EcnFeedback::Classic)
    }
    /// Returns the initial congestion window, segments.
    pub fn initial_segments(&self) -> f64 {
        match self.initial_window {
            InitialWindow::Segments(segments) => f64::from(segments),
            // RFC 5681 §3.1: IW = 2 segments above 2190 bytes, 3 above 1095, else 4.
            InitialWindow::Rfc5681 if self.mss > 2190 => 2.0,
            InitialWindow::Rfc5681 if self.mss > 1095 => 3.0,
            InitialWindow::Rfc5681 => 4.0,
            // RFC 9002 §7.2: ten datagrams, up to the larger of 14,720 bytes and two datagrams.
            InitialWindow::Rfc9002 => {
                let datagram = self.largest_packet().saturating_sub(28).max(1);
                f64::from((14_720 / datagram).clamp(2, 10))
            }
        }
    }
    /// Returns the first offered window, bytes. With adaptive acknowledgments it is at most 65,535, because
    /// the first window is not scaled (RFC 9293 §3.1), as in Linux.
    pub fn first_window(&self) -> u32 {
        match self.acknowledgment {
            Acknowledgment::Adaptive { .. } => self.window.min(u32::from(u16::MAX)),
            _ => self.window,
        }
    }
    /// Returns the length of the IP packet with a full segment, bytes.
    pub fn largest_packet(&self) -> u32 {
        self.mss.saturating_add(match self.headers {
            Headers::Added => HEADERS,
            Headers::Quic => QUIC_HEADERS,
            Headers::Included => 0,
        })
    }
}

/// The record that a sender keeps of sent data, and the unit of its windows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Accounting {
    /// Bytes of the stream; windows may have fractions of segments (the RFCs).
    Bytes,
    /// A record of every segment: its last transmission, and whether it counts as delivered, lost or
    /// retransmitted. Windows are whole segments; Reno and CUBIC count as Linux does.
    Segments,
}

/// Reduction of the congestion window to the threshold after a loss or an ECN mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WindowReduction {
    /// The window is reduced in one step (RFC 5681, RFC 6675).
    AtOnce,
    /// The window is reduced in proportion to delivered data: proportional rate reduction (RFC 9937).
    Proportional,
}

/// Exit from the first slow start before a loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SlowStartExit {
    /// Slow start does not end before a loss.
    Loss,
    /// HyStart of Linux, with CUBIC only. Slow start ends after a train of acknowledgments as long as half a
    /// round trip, or when the round trip increases.
    Hystart,
    /// HyStart++ (RFC 9406): after an increase of the round-trip time, growth is a quarter of that of slow
    /// start, for at most five round trips. Not with Prague.
    #[serde(rename = "hystart++")]
    HystartPlusPlus,
}

/// Algorithm of congestion control.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CongestionControl {
    /// Additive increase of one segment per round trip; the window is halved after congestion (RFC 5681).
    Reno,
    /// A cubic function of the time since the last congestion event; a congestion event reduces the window to
    /// 0.7 (RFC 9438).
    Cubic,
    /// DCTCP: once per round trip, the window is reduced by half the share of marked segments, for queues
    /// that mark early (RFC 8257). Needs `accounting: segments`, and enables `ecn`.
    Dctcp,
    /// TCP Prague: like `dctcp`, but for the Internet, with ECT(1), accurate feedback, pacing, and growth
    /// also while marks arrive (RFC 9331). Needs `accounting: segments`, and enables `ecn`.
    Prague,
    /// BBR version 1, as in Linux 6.1: the delivery rate and the least round trip of the path determine
    /// window and pacing rate; the effect of loss is small (Cardwell et al. 2016). Needs `accounting:
    /// segments`, and enables `pacing`.
    Bbr,
    /// BBR version 3: like `bbr`, with bounds after losses above 2 % and early marks (draft-ietf-ccwg-bbr).
    /// Needs `accounting: segments`, and enables `pacing`.
    Bbr3,
    /// LEDBAT, for background transfers: the window grows while the queueing delay of the path is below 100
    /// ms, and shrinks above that (RFC 6817). Needs `accounting: segments` and `timestamps`.
    Ledbat,
}

impl CongestionControl {
    /// Whether the reduction of the window is proportional to the share of marked segments.
    pub fn is_scalable(self) -> bool {
        matches!(self, CongestionControl::Dctcp | CongestionControl::Prague)
    }
    /// Whether the algorithm uses a model of the path, which includes the pacing rate.
    pub fn has_model(self) -> bool {
        matches!(self, CongestionControl::Bbr | CongestionControl::Bbr3)
    }
}

/// Feedback about marked packets from the receiver to the sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum EcnFeedback {
    /// ECE on every acknowledgment until the sender sets CWR (RFC 3168).
    Classic,
    /// ECE if the last packet was marked; a change between marked and unmarked is acknowledged at once (RFC
    /// 8257).
    Dctcp,
    /// A counter of marked packets in three flags of every segment (RFC 9768).
    Accurate,
}

/// Segmentation offload (TSO, GSO): the sender passes large buffers to its device, which sends them as
/// back-to-back segments. A burst is the data of one millisecond at the pacing rate, more for near peers, at
/// least two segments and at most half the congestion window (Linux 6.1 `tcp_tso_autosize`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct SegmentationOffload {
    /// Largest burst, payload bytes: Linux's `gso_max_size` of 64 KiB less headers.
    #[serde(default = "bytes::<65_215>")]
    pub largest: ByteSize,
    /// Whether a burst waits for acknowledgments that are due within a millisecond and would make the burst
    /// larger, while less than a third of the window is free (`tcp_tso_should_defer`).
    #[serde(default = "yes")]
    pub deferral: bool,
}

fn yes() -> bool {
    true
}

/// Whether headers are added to the size of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Headers {
    /// IP and TCP headers of 40 bytes and the options are added to the payload.
    Added,
    /// Data packets have the size of `mss`, including headers; an acknowledgment has 40 bytes. ns-2 before
    /// 2001.
    Included,
    /// QUIC over UDP: headers and frames add 61 bytes to the stream data. An acknowledgment has 65 bytes and
    /// 4 bytes for every further range; the first packet of either side has 1228 bytes (RFC 9000 §14.1).
    Quic,
}

/// Initial congestion window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum InitialWindow {
    /// A number of segments.
    Segments(u32),
    /// Two to four segments, depending on their size (RFC 5681).
    Rfc5681,
    /// Ten datagrams; fewer if they have more than 1472 bytes, at least two (RFC 9002 §7.2).
    Rfc9002,
}

/// Loss recovery without a timeout.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Recovery {
    /// Fast retransmit, then slow start from one segment.
    Tahoe,
    /// Fast retransmit, then fast recovery until any new acknowledgment; several losses in a window usually
    /// lead to a timeout (RFC 5681).
    Reno,
    /// Fast recovery until the whole window is acknowledged; one loss is repaired per round trip (RFC 6582).
    #[serde(rename = "newreno")]
    NewReno,
    /// Selective acknowledgment (RFC 2018, RFC 6675).
    Sack,
    /// Selective acknowledgment; losses are detected by transmission times (RFC 8985).
    Rack,
    /// QUIC: packet numbers are never reused, and acknowledgments refer to them. A packet is lost when a
    /// packet that was sent at least three packets or 9/8 of a round trip later is acknowledged. A timeout
    /// sends one or two probes and does not reduce the window; a recovery is never undone (RFC 9002). Needs
    /// `rto-rule: quic`.
    Quic,
}

impl Recovery {
    /// Whether acknowledgments carry SACK blocks.
    pub fn is_selective(self) -> bool {
        matches!(self, Recovery::Sack | Recovery::Rack)
    }
}

/// Limit on fast retransmits of Tahoe and Reno.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FastRetransmit {
    /// At most one per window of data, and none in the window that timed out: `bugFix_` of ns-2.
    OncePerWindow,
    /// One whenever the number of duplicate acknowledgments reaches the threshold.
    Always,
}

/// Acknowledgment of data in order by the receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Acknowledgment {
    /// Every segment is acknowledged immediately.
    EveryPacket,
    /// Every second segment is acknowledged at once, a single segment after a timeout (RFC 1122 §4.2.3.2).
    Delayed {
        /// Delay of the acknowledgment of a single segment, above 0 and at most 500 ms.
        timeout: Time,
        /// Number of segments at the start of a connection that are acknowledged immediately, as in Linux.
        #[serde(default)]
        quick: u32,
    },
    /// Every second segment is acknowledged immediately, and a single segment after about twice the estimated
    /// gap between segments, at most 500 ms, or 20 ms after a short segment. Linux 2.0 and 2.2.
    Estimated {
        /// Delay before the first estimate, above 0 and at most 500 ms.
        first: Time,
        /// Number of segments at the start of a connection that are acknowledged immediately.
        #[serde(default)]
        quick: u32,
    },
    /// More data than a full segment are acknowledged immediately, and less data after a delay that adapts to
    /// the gaps between segments. Linux since 2.4.
    Adaptive {
        /// Least delay, above 0 and at most 500 ms.
        least: Time,
        /// Greatest delay, at most 500 ms.
        most: Time,
        /// Number of acknowledgments that are sent immediately at the start of a connection and after an idle
        /// time longer than the retransmission timeout.
        #[serde(default)]
        quick: u32,
    },
}

/// Whether connections are opened and closed by segments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Handshake {
    /// SYN, SYN-ACK and ACK open a connection; FINs and their acknowledgments close both directions.
    ThreeWay,
    /// Data are sent from the start, and connections do not close: one-way agents of ns-2.
    None,
}

/// Whether the handshake gives a round-trip sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum HandshakeTiming {
    /// The handshake is the first sample, unless the SYN was lost (RFC 6298).
    Measured,
    /// The handshake is not a sample: the initial timeout applies until data are acknowledged. Linux 2.0.
    Forgotten,
}

/// Segment that carries the FIN.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Fin {
    /// The last data segment, if it has not been sent yet.
    WithData,
    /// A separate segment, which uses the congestion window: Linux 2.0.
    Alone,
}

/// Calculation of the retransmission timeout from round-trip samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RtoRule {
    /// SRTT + 4 RTTVAR, but at least the minimum (RFC 6298). BSD, ns-2.
    Rfc6298,
    /// 5/4 of SRTT + 4 RTTVAR, and more for windows of few segments; the first deviation is half the round
    /// trip: Linux 2.0.
    #[serde(rename = "linux-2.0")]
    Linux2_0,
    /// 5/4 of SRTT + 4 RTTVAR, and more for windows of few segments; the first deviation is the round trip:
    /// Linux 2.2.
    Linux2,
    /// SRTT + 4 RTTVAR + 200 ms, but at least the minimum: FreeBSD.
    #[serde(rename = "freebsd")]
    FreeBsd,
    /// SRTT + 4 RTTVAR, where the second term is at least the minimum: Linux since 2.4.
    Linux,
    /// The rule of `linux` in microseconds; the variation is the largest within a round trip and decreases
    /// once per round trip.
    #[serde(rename = "linux-6")]
    Linux6,
    /// SRTT + 4 RTTVAR, where the second term is at least 1 ms, plus the longest delay of acknowledgments:
    /// the probe timeout of QUIC (RFC 9002 §6.2.1). Needs `recovery: quic`.
    Quic,
}

/// Quantity that a congestion event reduces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Reduction {
    /// The data in flight (RFC 5681).
    FlightSize,
    /// The smaller of congestion window and offered window: ns-2, Linux.
    Window,
}

/// Whether a second timeout for the same segment reduces the slow-start threshold again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RepeatedTimeout {
    /// The threshold of the first timeout remains (RFC 5681, Linux).
    Hold,
    /// The threshold is reduced again, to two segments: ns-2.
    Reduce,
}

/// Timeout with which an acknowledgment that gives a round-trip sample restarts the retransmission timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TimerRestart {
    /// The timeout after the sample (RFC 6298).
    AfterSample,
    /// The timeout before the sample, with back-off: ns-2 until 2003, and later with `timerfix_ false`.
    BeforeSample,
}

/// Whether the congestion window grows while the sender does not use it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Growth {
    /// Every acknowledgment of new data grows the window, in Reno also the one that ends fast recovery: ns-2.
    Always,
    /// The window grows only while it limits the sender (RFC 7661 §4.1).
    WhenLimited,
}

/// Unit in which the growth of the congestion window is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Counting {
    /// Acknowledgments, regardless of their bytes.
    Acknowledgments,
    /// Acknowledged bytes; in slow start at most two segments per acknowledgment (RFC 3465).
    Bytes,
    /// Delivered segments, without a limit: Linux.
    Segments,
}
