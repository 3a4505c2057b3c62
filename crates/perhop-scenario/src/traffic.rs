//! Traffic: flows and their sources.

use std::net::IpAddr;

use perhop_qos::classifier::MatchConfig;
use perhop_qos::framing::Framing;
use perhop_qos::packet::{Dscp, FlowKey, Protocol};
use perhop_qos::random::Streams;
use perhop_qos::units::{ByteSize, Rate, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::application::{
    BulkConfig, ConnectRequestResponseConfig, FileTransferConfig, RequestResponseConfig, WebConfig,
};
use super::default::number;
use super::judged::{PageConfig, SpeedTestConfig, VideoConfig};
use super::media::{GameConfig, VoiceConfig};
use super::role::Role;
use super::tcp::SharedTcp;

/// One or several similar flows from one host to another.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct TrafficConfig {
    /// Name in results.
    pub name: String,
    /// Class in which results sum the flows of this traffic; by default the name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<String>,
    /// Purpose of the traffic, which determines how its class is judged; by default the role of the source or
    /// of the codepoint (RFC 4594).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<Role>,
    /// The sending host.
    pub from: String,
    /// The receiving host.
    pub to: String,
    /// Number of flows, each with its own random numbers.
    #[serde(default = "number::<u32, 1>")]
    pub count: u32,
    /// The source of packets: a datagram source, or an application on TCP.
    pub source: SourceConfig,
    /// Codepoint of packets from the sender.
    #[serde(default)]
    pub dscp: Dscp,
    /// Codepoint of TCP segments from the receiver; by default the codepoint of the sender.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply_dscp: Option<Dscp>,
    /// Whether datagrams have DF set. An interface drops a datagram with DF that exceeds its MTU. TCP
    /// segments and IPv6 packets that exceed the MTU are always dropped.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub dont_fragment: bool,
    /// Earliest start of a flow.
    #[serde(default)]
    pub start: Time,
    /// Span after `start` in which each flow starts at a uniformly distributed random time.
    #[serde(default)]
    pub start_within: Time,
    /// Time at which flows stop; by default the end of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop: Option<Time>,
    /// UDP or TCP source port of the first flow; each further flow uses the next port.
    #[serde(default = "number::<u16, 49152>")]
    pub source_port: u16,
    /// UDP or TCP destination port.
    #[serde(default = "number::<u16, 9>")]
    pub destination_port: u16,
    /// IP protocol of datagrams, as a name (`icmp`) or a number (89 for OSPF); by default UDP. Other
    /// protocols need a packet size in IP bytes (`packet: { ip: 84B }`) and have no ports. TCP needs an
    /// application as source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub protocol: Option<Protocol>,
}

impl TrafficConfig {
    /// Returns the five-tuple of flow `number` between hosts with these addresses.
    pub fn flow_key(&self, [source, destination]: [IpAddr; 2], number: u32) -> FlowKey {
        FlowKey {
            source: source.into(),
            destination: destination.into(),
            source_port: self.source_port.wrapping_add(number as u16),
            destination_port: self.destination_port,
            protocol: self.protocol(),
        }
    }

    /// Returns the number of flows in each direction: `count` times the parallel connections of the
    /// application.
    pub fn flows(&self) -> u32 {
        self.count.saturating_mul(self.source.connections())
    }

    /// Returns the random streams of flow `number` and its start time: `start` plus a random fraction of
    /// `start_within`. The source draws from the child stream `source`, the application from `session`.
    pub fn flow_start(&self, number: u32, streams: &Streams) -> (Streams, Time) {
        let streams = streams.child("traffic").child(&self.name).child(number.to_string());
        let spread = self.start_within.as_seconds() * streams.child("start").stream().uniform();
        let start = self.start + Time::from_seconds_f64(spread);
        (streams, start)
    }
}

/// The source of packets: a datagram source, or an application on TCP.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SourceConfig {
    /// Constant bit rate: packets at regular intervals.
    Cbr(CbrConfig),
    /// Bursts at constant bit rate, separated by silence.
    OnOff(OnOffConfig),
    /// Independent, exponentially distributed gaps between packets.
    Poisson(PoissonConfig),
    /// Times and sizes of packets from a file.
    Trace(TraceConfig),
    /// Replay of the packets of a pcap or pcapng capture at their times.
    Pcap(PcapConfig),
    /// The voice of one party of a call, behind a de-jitter buffer.
    Voice(VoiceConfig),
    /// A game: commands of a player, snapshots of a server each tick.
    Game(GameConfig),
    /// TCP: one connection with unlimited data.
    Bulk(BulkConfig),
    /// TCP: alternating requests and responses on one connection.
    RequestResponse(RequestResponseConfig),
    /// TCP: a new connection for each request and response, one after the other.
    ConnectRequestResponse(ConnectRequestResponseConfig),
    /// TCP: files one after the other, each confirmed by the receiving application.
    FileTransfer(FileTransferConfig),
    /// TCP: many short transfers that start at random times.
    Web(WebConfig),
    /// TCP: adaptive video, segment after segment at the bitrate that the player chooses.
    Video(VideoConfig),
    /// TCP: a browser that loads web pages over several connections.
    PageLoad(PageConfig),
    /// TCP: several connections with bulk data, and a probe of the latency under that load.
    SpeedTest(SpeedTestConfig),
}

impl SourceConfig {
    /// Returns the TCP of an application on TCP; `None` if the source sends datagrams.
    pub(crate) fn tcp_mut(&mut self) -> Option<&mut SharedTcp> {
        match self {
            SourceConfig::Bulk(config) => Some(&mut config.tcp),
            SourceConfig::RequestResponse(config) => Some(&mut config.tcp),
            SourceConfig::ConnectRequestResponse(config) => Some(&mut config.tcp),
            SourceConfig::FileTransfer(config) => Some(&mut config.tcp),
            SourceConfig::Web(config) => Some(&mut config.tcp),
            SourceConfig::Video(config) => Some(&mut config.tcp),
            SourceConfig::PageLoad(config) => Some(&mut config.tcp),
            SourceConfig::SpeedTest(config) => Some(&mut config.tcp),
            SourceConfig::Cbr(_)
            | SourceConfig::OnOff(_)
            | SourceConfig::Poisson(_)
            | SourceConfig::Trace(_)
            | SourceConfig::Pcap(_)
            | SourceConfig::Voice(_)
            | SourceConfig::Game(_) => None,
        }
    }

    /// Returns the number of parallel connections of one application.
    pub fn connections(&self) -> u32 {
        match self {
            SourceConfig::PageLoad(page) => page.connections.max(1),
            // The additional connection is the latency probe.
            SourceConfig::SpeedTest(test) => test.connections.saturating_add(1),
            _ => 1,
        }
    }
}

/// Size of a packet; it also selects the bytes that the source's rate counts.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PacketSize {
    /// UDP payload, bytes; the IP packet is 28 bytes longer. The rate counts payload bytes.
    Payload(ByteSize),
    /// IP packet including headers, bytes. The rate counts IP bytes.
    Ip(ByteSize),
}

/// IPv4 and UDP header, bytes (RFC 791, RFC 768).
const UDP_IP_HEADER: u64 = 28;

impl PacketSize {
    /// Returns the length of the IP packet, bytes.
    pub fn ip_length(self) -> u32 {
        match self {
            PacketSize::Payload(payload) => (payload.as_bytes() + UDP_IP_HEADER) as u32,
            PacketSize::Ip(length) => length.as_bytes() as u32,
        }
    }
    /// Returns the bytes per packet that the source's rate counts.
    pub fn counted(self) -> u64 {
        match self {
            PacketSize::Payload(bytes) | PacketSize::Ip(bytes) => bytes.as_bytes(),
        }
    }
}

/// Constant bit rate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct CbrConfig {
    /// Rate in bits per second, of the bytes that `packet` selects.
    pub rate: Rate,
    /// Packet size.
    pub packet: PacketSize,
    /// Framing whose bytes the rate counts, instead of the bytes that `packet` selects: `ethernet-wire` for a
    /// traffic generator whose load is a rate on Ethernet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_counts: Option<Framing>,
    /// Relative variation of gaps, at least 0 and below 1: with 0.1, gaps are uniformly distributed within 10
    /// % of the exact gap. The mean rate is unchanged.
    #[serde(default)]
    pub jitter: f64,
}

/// Constant bit rate in bursts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct OnOffConfig {
    /// Rate during a burst in bits per second, of the bytes that `packet` selects.
    pub rate: Rate,
    /// Packet size.
    pub packet: PacketSize,
    /// Length of a burst; the mean if `law` is random.
    pub on_time: Time,
    /// Silence between the end of a burst and the start of the next; the mean if `law` is random.
    pub off_time: Time,
    /// Distribution of the two periods.
    #[serde(default)]
    pub law: PeriodLaw,
    /// Treatment of the gap in which a burst ends.
    #[serde(default)]
    pub cut_gap: CutGap,
}

/// Treatment of the gap between packets in which a burst ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CutGap {
    /// The rest of the gap delays the first packet of the next burst, so that the mean rate is exactly `rate`
    /// · on-time / (on-time + off-time).
    #[default]
    Carried,
    /// The rest of the gap is dropped, and every burst begins with a packet: a burst has ⌈on-time / gap⌉
    /// packets, so the mean rate is higher.
    Dropped,
}

/// Distribution of the periods of an ON-OFF source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum PeriodLaw {
    /// Constant.
    #[default]
    Deterministic,
    /// Exponential.
    Exponential,
    /// Pareto: heavy-tailed; the sum of many such sources is long-range dependent.
    Pareto {
        /// Shape of the distribution, above 1; 1.5 is usual.
        shape: f64,
    },
}

/// Independent, exponentially distributed gaps between packets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct PoissonConfig {
    /// Mean rate in bits per second, of the bytes that `packet` selects.
    pub rate: Rate,
    /// Packet size; the mean if `sizes` is random.
    pub packet: PacketSize,
    /// Distribution of packet sizes.
    #[serde(default)]
    pub sizes: SizeLaw,
}

/// Distribution of packet sizes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SizeLaw {
    /// Constant.
    #[default]
    Fixed,
    /// Exponential, rounded to whole bytes: a link is then an M/M/1 queue.
    Exponential,
}

/// Packets from a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct TraceConfig {
    /// CSV file with the header `time,size` or `time,size,dscp`: seconds since the start of the flow, IP
    /// bytes, codepoint. The path is relative to the scenario file.
    pub file: String,
}

/// Replay of a capture, once, with its times, IP lengths, codepoints and ECN fields. Replayed packets have no
/// replies: TCP segments are sent at their recorded times, without congestion control.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct PcapConfig {
    /// The pcap or pcapng file, relative to the scenario file. Times count from the first IP packet in the
    /// file.
    pub file: String,
    /// Flows to which the packets belong.
    #[serde(default)]
    pub flows: ReplayedFlows,
    /// Packets to replay; by default all IP packets. A capture may contain both directions of a conversation:
    /// `source: 192.0.2.1` selects one.
    #[serde(default, rename = "match", skip_serializing_if = "Option::is_none")]
    pub matches: Option<Box<MatchConfig>>,
    /// Name of the interface in a pcapng file whose packets are replayed; by default all interfaces.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interface: Option<String>,
}

/// Flows to which the packets of a capture belong.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ReplayedFlows {
    /// Addresses, ports and protocol of the file: each five-tuple is a flow, in order of first appearance.
    /// All packets are sent from `from` to `to`.
    #[default]
    AsCaptured,
    /// One flow of UDP datagrams between the two hosts.
    One,
}
