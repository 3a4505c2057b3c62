//! Traffic: flows and the sources that feed them.

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

/// One or several like flows from one host to another.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct TrafficConfig {
    /// Name in results.
    pub name: String,
    /// Class under which its flows are summed in results; by default its name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<String>,
    /// The sending host.
    pub from: String,
    /// The receiving host.
    pub to: String,
    /// How many flows like this, each with random draws of its own.
    #[serde(default = "default_count")]
    pub count: u32,
    /// What is sent and when: datagrams by a law, or an application on TCP.
    pub source: SourceConfig,
    /// Codepoint that the sender sets.
    #[serde(default)]
    pub dscp: Dscp,
    /// Codepoint that the receiver sets on what it sends back by TCP; by default the sender's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply_dscp: Option<Dscp>,
    /// When the first flow may start.
    #[serde(default)]
    pub start: Time,
    /// Each flow starts at a random instant, uniform over this span after `start`.
    #[serde(default)]
    pub start_within: Time,
    /// When it sends no more; by default the end of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop: Option<Time>,
    /// UDP or TCP source port of the first flow; the following flows count up.
    #[serde(default = "default_source_port")]
    pub source_port: u16,
    /// UDP or TCP destination port.
    #[serde(default = "default_destination_port")]
    pub destination_port: u16,
}

impl TrafficConfig {
    /// What tells flow `number`, between the hosts with these addresses, from every other.
    pub fn flow_key(&self, [source, destination]: [IpAddr; 2], number: u32, protocol: Protocol) -> FlowKey {
        FlowKey {
            source: source.into(),
            destination: destination.into(),
            source_port: self.source_port.wrapping_add(number as u16),
            destination_port: self.destination_port,
            protocol,
        }
    }

    /// The random streams of flow `number`, and when it starts: at `start`, and a random part of `start_within`
    /// later. Its source draws from the child stream `source`, its application from `session`.
    pub fn flow_start(&self, number: u32, streams: &Streams) -> (Streams, Time) {
        let streams = streams.child("traffic").child(&self.name).child(number.to_string());
        let spread = self.start_within.as_seconds() * streams.child("start").stream().uniform();
        let start = self.start + Time::from_seconds_f64(spread);
        (streams, start)
    }
}

fn default_count() -> u32 {
    1
}
fn default_source_port() -> u16 {
    49152
}
fn default_destination_port() -> u16 {
    9
}

/// What is sent and when: datagrams by a law, or an application on TCP.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SourceConfig {
    /// Constant bit rate: one packet every so often.
    Cbr(CbrConfig),
    /// Constant bit rate in bursts, silence between them.
    OnOff(OnOffConfig),
    /// Independent exponential gaps.
    Poisson(PoissonConfig),
    /// Times and sizes from a file.
    Trace(TraceConfig),
    /// The packets of a capture, at their times: pcap or pcapng.
    Pcap(PcapConfig),
    /// TCP: one connection that always has data to send.
    Bulk(BulkConfig),
    /// TCP: requests and responses in turn on one connection.
    RequestResponse(RequestResponseConfig),
    /// TCP: a connection for each request and response, one after the other.
    ConnectRequestResponse(ConnectRequestResponseConfig),
    /// TCP: files one after the other, each confirmed by the receiving application.
    FileTransfer(FileTransferConfig),
    /// TCP: many short transfers that begin at random.
    Web(WebConfig),
}

/// The size of a packet, and what the source's rate counts.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PacketSize {
    /// UDP payload bytes; the IP packet is 28 bytes longer. The rate counts payload.
    Payload(ByteSize),
    /// IP bytes, headers included. The rate counts IP bytes.
    Ip(ByteSize),
}

/// IPv4 and UDP header, bytes (RFC 791, RFC 768).
const UDP_IP_HEADER: u64 = 28;

impl PacketSize {
    /// IP bytes of a packet of this size.
    pub fn ip_length(self) -> u32 {
        match self {
            PacketSize::Payload(payload) => (payload.as_bytes() + UDP_IP_HEADER) as u32,
            PacketSize::Ip(length) => length.as_bytes() as u32,
        }
    }
    /// The bytes of it that the source's rate counts.
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
    /// Bits per second, counted as `packet` says.
    pub rate: Rate,
    /// Packet size.
    pub packet: PacketSize,
    /// What the rate counts in place of what `packet` says: the IP packet in this framing. Of a traffic
    /// generator that is told a load of its Ethernet, that is `ethernet-wire`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_counts: Option<Framing>,
    /// How far a gap may be off, as a part of it: with 0.1 gaps are uniform within 10 % of the exact one.
    /// The rate is kept on average. Below 1.
    #[serde(default)]
    pub jitter: f64,
}

/// Constant bit rate in bursts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct OnOffConfig {
    /// Bits per second while on, counted as `packet` says.
    pub rate: Rate,
    /// Packet size.
    pub packet: PacketSize,
    /// Length of a burst; its mean where `law` is random.
    pub on_time: Time,
    /// Silence between the end of a burst and the start of the next; its mean where `law` is random.
    pub off_time: Time,
    /// How the two periods are distributed.
    #[serde(default)]
    pub law: PeriodLaw,
}

/// How the periods of an ON-OFF source are distributed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum PeriodLaw {
    /// Always the same.
    #[default]
    Deterministic,
    /// Exponential.
    Exponential,
    /// Pareto: heavy-tailed; many of them together are long-range dependent.
    Pareto {
        /// Shape, above 1; 1.5 is the usual choice.
        shape: f64,
    },
}

/// Independent exponential gaps between packets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct PoissonConfig {
    /// Mean bits per second, counted as `packet` says.
    pub rate: Rate,
    /// Packet size; its mean where `sizes` is random.
    pub packet: PacketSize,
    /// How sizes are distributed.
    #[serde(default)]
    pub sizes: SizeLaw,
}

/// How packet sizes are distributed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SizeLaw {
    /// Always the same.
    #[default]
    Fixed,
    /// Exponential, rounded to whole bytes: with it a link is an M/M/1 queue.
    Exponential,
}

/// Packets from a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct TraceConfig {
    /// CSV file with the header `time,size` or `time,size,dscp`: seconds since the flow's start, IP bytes,
    /// codepoint. The path is relative to the scenario file.
    pub file: String,
}

/// The packets of a capture, replayed once: times, IP lengths, codepoints and ECN fields are those of the file. Nothing
/// answers them, TCP segments among them neither: they come when they came.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct PcapConfig {
    /// The pcap or pcapng file. The path is relative to the scenario file. Times count from the first IP packet in it.
    pub file: String,
    /// Whose packets they are.
    #[serde(default)]
    pub flows: ReplayedFlows,
    /// The packets that are replayed; without it, all IP packets. A capture holds both directions of a conversation:
    /// `source: 192.0.2.1` chooses one.
    #[serde(default, rename = "match", skip_serializing_if = "Option::is_none")]
    pub matches: Option<MatchConfig>,
    /// Name of the interface in a pcapng file whose packets are replayed; without it, those of all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interface: Option<String>,
}

/// Whose packets the packets of a capture are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ReplayedFlows {
    /// Addresses, ports and protocol are those of the file: each five-tuple is a flow, in the order in which they
    /// first appear. Packets go from `from` to `to` all the same.
    #[default]
    AsCaptured,
    /// All are UDP datagrams of one flow between the two hosts.
    One,
}
