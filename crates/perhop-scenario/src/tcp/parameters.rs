//! [`Parameters`]: everything in which TCP implementations differ; and what is modeled of the header.

use perhop_qos::units::{ByteSize, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::default::bytes;

/// Headers of IP and TCP without options, bytes (RFC 791, RFC 9293).
pub const HEADERS: u32 = 40;
/// A TCP header without options, bytes (RFC 9293 §3.1).
pub const TCP_HEADER: u32 = 20;
/// What a QUIC packet with data has besides its part of the stream, bytes: that of any packet, and a STREAM
/// frame's type, stream and offset (RFC 9000 §19.8: 1, 1 and 4).
pub const QUIC_HEADERS: u32 = QUIC_PACKET + 6;
/// What any QUIC packet has around its frames, bytes: headers of IP (20) and UDP (8), a short header with
/// a connection ID of 8 bytes and a packet number of 2 (RFC 9000 §17.3.1: 11), and the tag of the encryption
/// (RFC 9001 §5.3: 16).
pub const QUIC_PACKET: u32 = 20 + 8 + 11 + 16;
/// Length of the timestamps option, bytes, including padding (RFC 7323 appendix A).
pub const TIMESTAMPS_OPTION: u32 = 12;

/// Longest time that an acknowledgment may wait (RFC 5681 §4.2). Linux 2.0 and 2.2: HZ/2.
pub const LONGEST_DELAY: Time = Time::from_milliseconds(500);

/// Complete, checked parameters of a TCP implementation, from [`super::TcpConfig::build`]. Both endpoints use
/// them.
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
    /// Receive buffer, which is the largest offered window, bytes.
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
    /// How often fast retransmit may happen.
    pub fast_retransmit: FastRetransmit,
    /// When the receiver acknowledges.
    pub acknowledgment: Acknowledgment,
    /// Whether connections are opened and closed by segments.
    pub handshake: Handshake,
    /// Whether the handshake gives a round-trip sample.
    pub handshake_timing: HandshakeTiming,
    /// Segment that carries the FIN.
    pub fin: Fin,
    /// Explicit congestion notification (RFC 3168).
    pub ecn: bool,
    /// So many SYNs ask for it at most; those sent again afterwards do not (RFC 3168 §6.1.1.1).
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
    /// What a congestion event reduces.
    pub reduction: Reduction,
    /// Whether a second timeout for the same segment reduces the threshold again.
    pub repeated_timeout: RepeatedTimeout,
    /// With which timeout a sample of the round trip restarts the timer.
    pub timer_restart: TimerRestart,
    /// Whether an idle sender restarts from the initial window (RFC 5681 §4.1).
    pub idle_restart: bool,
    /// What the sender keeps of what it has sent.
    pub accounting: Accounting,
    /// How the congestion window gets to the threshold after a loss or an ECN mark.
    pub window_reduction: WindowReduction,
    /// What ends the first slow start before a loss.
    pub slow_start_exit: SlowStartExit,
    /// Tail loss probes (RFC 8985 §7).
    pub tail_loss_probe: bool,
    /// Whether the receiver reports data that arrived twice (RFC 2883).
    pub dsack: bool,
    /// Whether a recovery that turns out to be spurious is undone.
    pub undo: bool,
    /// Whether spurious timeouts are detected by F-RTO (RFC 5682).
    pub frto: bool,
    /// Whether acknowledgments of data out of order are compressed.
    pub ack_compression: bool,
    /// Whether the receive buffer follows what the application reads.
    pub autotuning: bool,
    /// How the receiver tells the sender of marked packets.
    pub ecn_feedback: EcnFeedback,
    /// Whether a mark reduces the window less than a loss (RFC 8511).
    pub abe: bool,
    /// Whether segments leave at the pace of the congestion window.
    pub pacing: bool,
    /// The round trip whose share a Prague flow with a shorter one takes; zero for none.
    pub virtual_rtt: Time,
    /// How segments leave in bursts that a device cuts; `None` for one by one.
    pub segmentation_offload: Option<SegmentationOffload>,
}

impl Parameters {
    /// Payload of a full segment, bytes.
    pub fn payload(&self) -> u32 {
        self.mss - self.options()
    }
    /// Options of every segment, bytes.
    pub fn options(&self) -> u32 {
        if self.timestamps { TIMESTAMPS_OPTION } else { 0 }
    }
    /// Bytes by which the payload of a full segment on the wire, after an IP header of `ip_header` bytes, is
    /// less than the sender counts: 0 unless headers are not added, or are those of IPv6.
    pub fn uncounted(&self, ip_header: u32) -> u32 {
        let counted = match self.headers {
            Headers::Added => HEADERS + self.options(),
            Headers::Quic => QUIC_HEADERS,
            Headers::Included => 0,
        };
        (ip_header + TCP_HEADER + self.options()).saturating_sub(counted)
    }
    /// Whether what is sent again is ECN-capable, too: where marks reach the sender exactly, and it goes by
    /// them.
    pub fn repeats_capable(&self) -> bool {
        let goes_by_marks = self.congestion == CongestionControl::Bbr3;
        self.recovery == Recovery::Quic
            || self.congestion.is_scalable()
            || (goes_by_marks && self.ecn_feedback != EcnFeedback::Classic)
    }
    /// Initial congestion window, segments.
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
    /// The window that the receiver offers first, bytes: with adaptive acknowledgments what a header without
    /// window scaling can say (RFC 9293 §3.1), as in Linux.
    pub fn first_window(&self) -> u32 {
        match self.acknowledgment {
            Acknowledgment::Adaptive { .. } => self.window.min(u32::from(u16::MAX)),
            _ => self.window,
        }
    }
    /// Length of the IP packet with a full segment, bytes.
    pub fn largest_packet(&self) -> u32 {
        self.mss.saturating_add(match self.headers {
            Headers::Added => HEADERS,
            Headers::Quic => QUIC_HEADERS,
            Headers::Included => 0,
        })
    }
}

/// What a sender keeps of what it has sent, and so what its windows count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Accounting {
    /// Bytes of the stream; windows have fractions of segments. The RFCs.
    Bytes,
    /// A record of every segment: when it was sent last, and whether it is held to be delivered, lost or sent
    /// again. Windows are whole segments, and Reno and CUBIC count as Linux does.
    Segments,
}

/// How the congestion window gets to the threshold after a loss or an ECN mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WindowReduction {
    /// In one step (RFC 5681, RFC 6675).
    AtOnce,
    /// With what is delivered during the recovery: proportional rate reduction (RFC 9937).
    Proportional,
}

/// What ends the first slow start before a loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SlowStartExit {
    /// Nothing.
    Loss,
    /// HyStart with both of its detectors, as in Linux, with CUBIC only: acknowledgments that have been
    /// arriving for half a round trip, or a round trip that has become longer.
    Hystart,
    /// HyStart++ (RFC 9406): after a round trip that has become longer, a quarter of the growth for at most
    /// five round trips. With every congestion control but Prague.
    #[serde(rename = "hystart++")]
    HystartPlusPlus,
}

/// Algorithm of congestion control.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CongestionControl {
    /// Additive increase of one segment per round trip, halved after congestion (RFC 5681).
    Reno,
    /// A cubic function of the time since the last congestion event, which reduces to 0.7 (RFC 9438).
    Cubic,
    /// Reduced by half of the share of segments that arrive marked, once per round trip: for queues that mark
    /// early (RFC 8257). Needs `accounting: segments`, and switches `ecn` on.
    Dctcp,
    /// TCP Prague: as `dctcp`, for the Internet, with ECT(1), accurate feedback, pacing, and growth also
    /// while marks arrive (RFC 9331). Needs `accounting: segments`, and switches `ecn` on.
    Prague,
    /// BBR version 1, as in Linux 6.1: the window and the pace follow from the rate at which the path
    /// delivers and from its least round trip; loss counts little (Cardwell et al. 2016). Needs
    /// `accounting: segments`, and switches `pacing` on.
    Bbr,
    /// BBR version 3: as `bbr`, with bounds that losses above 2 % and early marks leave
    /// (draft-ietf-ccwg-bbr). Needs `accounting: segments`, and switches `pacing` on.
    Bbr3,
    /// LEDBAT: as long as the queues of its way delay it by less than 100 ms it grows, above that it shrinks:
    /// for transfers in the background (RFC 6817). Needs `accounting: segments` and `timestamps`.
    Ledbat,
}

impl CongestionControl {
    /// Whether the reduction is as large as the share of marked segments.
    pub fn is_scalable(self) -> bool {
        matches!(self, CongestionControl::Dctcp | CongestionControl::Prague)
    }
    /// Whether it goes by a model of the path, of which the pace is a part.
    pub fn has_model(self) -> bool {
        matches!(self, CongestionControl::Bbr | CongestionControl::Bbr3)
    }
}

/// How the receiver tells the sender of packets that arrived marked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum EcnFeedback {
    /// ECE on every acknowledgment, until the sender says that it has reduced its window (RFC 3168).
    Classic,
    /// ECE where the last packet arrived marked; what comes before a change is acknowledged on its own (RFC
    /// 8257).
    Dctcp,
    /// A counter of marked packets in three flags of every segment (RFC 9768).
    Accurate,
}

/// Segments leave in bursts, back to back: the sender hands buffers to its device, which cuts them (TSO,
/// GSO). A burst is what the pace lets out in a millisecond, and more for near peers; it is at least two
/// segments and at most half of the congestion window (Linux 6.1 `tcp_tso_autosize`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct SegmentationOffload {
    /// Largest burst, bytes of payload: Linux's `gso_max_size` of 64 KiB less headers.
    #[serde(default = "bytes::<65_215>")]
    pub largest: ByteSize,
    /// Whether a burst waits for acknowledgments that are due within a millisecond and make it larger, while
    /// less than a third of the window is free (`tcp_tso_should_defer`).
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
    /// Every packet is longer than its payload by IP and TCP headers of 40 bytes and the options.
    Added,
    /// Data packets have the size of `mss`, headers included; an acknowledgment has 40 bytes. ns-2 before
    /// 2001.
    Included,
    /// Every packet is longer than its part of the stream by the headers and frames of QUIC over UDP: 61
    /// bytes; an acknowledgment has 65 and 4 for every further range; the first packet of either side has
    /// 1228 (RFC 9000 §14.1).
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
    /// Ten datagrams, fewer where they have more than 1472 bytes, at least two (RFC 9002 §7.2).
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
    /// Selective acknowledgment, with losses detected by the time at which segments were sent (RFC 8985).
    Rack,
    /// QUIC's: packets have numbers that are never used again, and acknowledgments name these; a packet is
    /// lost when one sent three or more later, or 9/8 of a round trip later, is acknowledged; a timeout sends
    /// one or two probes and reduces nothing; nothing is undone (RFC 9002). Needs `rto-rule: quic`.
    Quic,
}

impl Recovery {
    /// Whether acknowledgments carry SACK blocks.
    pub fn is_selective(self) -> bool {
        matches!(self, Recovery::Sack | Recovery::Rack)
    }
}

/// How often Tahoe and Reno may fast-retransmit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FastRetransmit {
    /// Once per window of data, and not within the window that timed out: ns-2's bugFix.
    OncePerWindow,
    /// Whenever enough duplicate acknowledgments arrive.
    Always,
}

/// When the receiver acknowledges data in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Acknowledgment {
    /// Every segment immediately.
    EveryPacket,
    /// Every second segment immediately, a single one after a timeout (RFC 1122 §4.2.3.2).
    Delayed {
        /// Delay of the acknowledgment of a single segment, above 0 and at most 500 ms.
        timeout: Time,
        /// Number of segments at the start of a connection that are acknowledged immediately, as in Linux.
        #[serde(default)]
        quick: u32,
    },
    /// Every second segment immediately, a single one after about twice the gap between segments, which the
    /// receiver estimates: at most 500 ms, and at most 20 ms after a short segment. Linux 2.0 and 2.2.
    Estimated {
        /// Delay before a gap is known, above 0 and at most 500 ms.
        first: Time,
        /// Number of segments at the start of a connection that are acknowledged immediately.
        #[serde(default)]
        quick: u32,
    },
    /// What exceeds a full segment immediately, less after a delay that adapts to the gaps between segments.
    /// Linux since 2.4.
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
    /// SYN, SYN-ACK, ACK to open; FIN and its acknowledgment in each direction to close.
    ThreeWay,
    /// Data flow from the start, and connections do not close: ns-2's one-way agents.
    None,
}

/// Whether the handshake gives a round-trip sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum HandshakeTiming {
    /// It gives the first sample, unless the SYN was lost (RFC 6298).
    Measured,
    /// It gives none: the timeout stays the initial one until data are acknowledged. Linux 2.0.
    Forgotten,
}

/// Segment that carries the FIN.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Fin {
    /// The last data segment, if it has not been sent yet.
    WithData,
    /// A separate segment, which takes a place in the congestion window: Linux 2.0.
    Alone,
}

/// Calculation of the retransmission timeout from round-trip samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RtoRule {
    /// SRTT + 4 RTTVAR, and at least the minimum (RFC 6298). BSD, ns-2.
    Rfc6298,
    /// 5/4 of SRTT + 4 RTTVAR, and more for windows of few segments; the first deviation is half the round
    /// trip: Linux 2.0.
    #[serde(rename = "linux-2.0")]
    Linux2_0,
    /// 5/4 of SRTT + 4 RTTVAR, and more for windows of few segments; the first deviation is the round trip:
    /// Linux 2.2.
    Linux2,
    /// SRTT + 4 RTTVAR + 200 ms, and at least the minimum: FreeBSD.
    #[serde(rename = "freebsd")]
    FreeBsd,
    /// SRTT + 4 RTTVAR, the second term at least the minimum: Linux since 2.4.
    Linux,
    /// As `linux`, in microseconds; the variation is the largest of a round trip, and decays once in each.
    #[serde(rename = "linux-6")]
    Linux6,
    /// SRTT + 4 RTTVAR, the second term at least 1 ms, and the longest delay of acknowledgments: the probe
    /// timeout of QUIC (RFC 9002 §6.2.1). Needs `recovery: quic`.
    Quic,
}

/// What a congestion event reduces.
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
    /// The threshold of the first timeout stays (RFC 5681, Linux).
    Hold,
    /// The threshold is reduced again, to two segments: ns-2.
    Reduce,
}

/// With which timeout an acknowledgment that brings a sample of the round trip restarts the retransmission
/// timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TimerRestart {
    /// With the one that follows from the sample (RFC 6298).
    AfterSample,
    /// With the one before it, back-off included: ns-2 until 2003, and since with `timerfix_ false`.
    BeforeSample,
}

/// Whether the congestion window grows while the sender does not use it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Growth {
    /// With every acknowledgment of new data; in Reno also with the one that ends fast recovery: ns-2.
    Always,
    /// Only while the sender is limited by the congestion window (RFC 7661 §4.1).
    WhenLimited,
}

/// Unit in which the growth of the congestion window is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Counting {
    /// Acknowledgments, regardless of the bytes that they acknowledge.
    Acknowledgments,
    /// Acknowledged bytes, in slow start at most two segments per acknowledgment (RFC 3465).
    Bytes,
    /// Delivered segments, without a limit: Linux.
    Segments,
}
