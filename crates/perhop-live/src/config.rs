//! [`ForwarderConfig`]: configuration of one forwarder process.

use std::collections::BTreeMap;
use std::path::PathBuf;

use perhop_qos::classifier::Prefix;
use perhop_qos::conditioner::ConditionerConfig;
use perhop_qos::framing::{Framing, HeaderStack};
use perhop_qos::policy::QueueingConfig;
use perhop_qos::ring::RingConfig;
use perhop_qos::units::{Rate, Time};
use serde::{Deserialize, Serialize};

use crate::wire::DeviceId;

/// The configuration of a forwarder. A forwarder represents a router, or a wire between two hosts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct ForwarderConfig {
    /// Name in results.
    pub node: String,
    /// Seed for all random streams.
    pub seed: u64,
    /// Number of the replication, from 0; each replication has its own random numbers.
    #[serde(default)]
    pub replication: u64,
    /// Directions of links that run in this process.
    pub directions: Vec<DirectionConfig>,
    /// Devices on which packets from another forwarder arrive. These packets are conditioned and routed
    /// immediately.
    #[serde(default)]
    pub inputs: Vec<InputConfig>,
    /// Routes: the direction for each address.
    #[serde(default)]
    pub routes: Vec<RouteConfig>,
    /// Destination Ethernet address of the frames that are sent on a device, for example `02:00:00:00:00:01`.
    /// Frames on devices that are not listed keep their address.
    #[serde(default)]
    pub neighbors: BTreeMap<String, MacAddress>,
    /// Unix socket for reading counters while the process runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub control: Option<PathBuf>,
    /// File for the final counters as JSON.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<PathBuf>,
    /// Kind of socket for receiving and sending frames.
    #[serde(default)]
    pub socket: SocketKind,
    /// Scheduling of the process.
    #[serde(default)]
    pub scheduling: Scheduling,
    /// Number of slots for frames that are in queues or in flight.
    #[serde(default = "default_slots")]
    pub slots: u32,
    /// Size of a slot: the longest frame including the link-layer header, bytes.
    #[serde(default = "default_longest_frame")]
    pub longest_frame: u32,
}

fn default_slots() -> u32 {
    32_768
}
/// Returns the size for 1500 bytes of IP with link-layer header and tags, rounded up to a power of two.
fn default_longest_frame() -> u32 {
    2048
}

/// One direction of a link. A packet passes the output conditioner, the port, loss and delay, and the input
/// conditioner of the far end.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct DirectionConfig {
    /// Name in results and in random streams: `C1->E3`.
    pub name: String,
    /// The sending node.
    pub from: String,
    /// The receiving node.
    pub to: String,
    /// Rate in bits per second, of wire bytes according to `framing`.
    pub rate: Rate,
    /// Overhead of the emulated wire per IP packet.
    #[serde(default)]
    pub framing: Framing,
    /// Headers between the IP packet and the framing of the emulated wire.
    #[serde(default)]
    pub headers: HeaderStack,
    /// Transmit ring, the FIFO between scheduler and wire.
    #[serde(default)]
    pub ring: RingConfig,
    /// Queues and scheduler. The default is one FIFO with tail drop.
    pub queueing: Option<QueueingConfig>,
    /// Conditioners of the output policy.
    #[serde(default)]
    pub output: Vec<ConditionerConfig>,
    /// Bytes that the output policy counts for each packet in addition to its IP bytes.
    #[serde(default)]
    pub overhead: i32,
    /// Names of the sending node's interfaces, by number.
    #[serde(default)]
    pub output_interfaces: Vec<String>,
    /// One-way propagation delay.
    #[serde(default)]
    pub delay: Time,
    /// Probability that the wire loses a packet.
    #[serde(default)]
    pub loss: f64,
    /// Conditioners of the far end's input policy; `None` if another process applies them.
    pub input: Option<Vec<ConditionerConfig>>,
    /// Bytes that the far end's input policy counts for each packet in addition to its IP bytes.
    #[serde(default)]
    pub input_overhead: i32,
    /// Names of the receiving node's interfaces, by number.
    #[serde(default)]
    pub input_interfaces: Vec<String>,
    /// Number of the receiving node's interface.
    #[serde(default)]
    pub far_interface: u16,
    /// Device whose arriving frames enter this direction.
    pub receives_on: Option<String>,
    /// Device on which frames leave this direction. With `None`, the frames are routed in this process.
    pub sends_on: Option<String>,
    /// Tags and labels of the frames that leave on `sends-on`.
    #[serde(default)]
    pub sent_frames: SentFrames,
    /// Treatment of frames without an IP packet that arrive on `receives-on`.
    #[serde(default)]
    pub other_frames: OtherFrames,
}

/// Tags and labels of the frames that leave.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SentFrames {
    /// The tags and labels of the received frame, with CoS in the outer tag and EXP in the topmost label.
    #[default]
    Kept,
    /// The tags and labels of `headers`, independent of the received frame.
    OfLink,
    /// No tags and labels. The far end is a host, whose kernel does not process them.
    Plain,
}

/// Treatment of frames without an IP packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OtherFrames {
    /// These frames are counted and dropped, because a router forwards only IP.
    #[default]
    Drop,
    /// These frames are sent on `sends-on` at once and bypass the port, because devices need ARP frames from
    /// each other.
    Pass,
}

/// A device on which packets from another forwarder arrive.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct InputConfig {
    /// Name of the direction that ends here, in results and in random streams.
    pub name: String,
    /// Name of the device.
    pub device: String,
    /// Conditioners of the input policy.
    #[serde(default)]
    pub input: Vec<ConditionerConfig>,
    /// Bytes that the input policy counts for each packet in addition to its IP bytes.
    #[serde(default)]
    pub input_overhead: i32,
    /// Names of the node's interfaces, by number.
    #[serde(default)]
    pub input_interfaces: Vec<String>,
    /// Number of this interface.
    #[serde(default)]
    pub far_interface: u16,
    /// Name of the direction that all packets of the device enter. With `None`, the packets are routed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub leads_to: Option<String>,
}

/// A route.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct RouteConfig {
    /// An address or a prefix: `10.0.0.2/32`. The longest matching prefix applies.
    pub to: Prefix,
    /// Name of the direction.
    pub direction: String,
}

/// Kind of socket for receiving and sending frames.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SocketKind {
    /// Packet sockets (`AF_PACKET`) with a ring in shared memory.
    #[default]
    AfPacket,
    /// Express data path (`AF_XDP`).
    AfXdp,
    /// A TUN device, whose frames are IP packets without link-layer header.
    Tun,
}

/// Scheduling of a process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scheduling {
    /// The default policy of the system.
    #[default]
    Fair,
    /// Real-time priority (`SCHED_FIFO`). It reduces lateness on a machine with a free processor for each
    /// forwarder. On any other machine, it reduces the processor time of the programs whose traffic is
    /// forwarded.
    RealTime,
}

/// An Ethernet address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MacAddress(pub [u8; 6]);

impl DirectionConfig {
    /// Creates the direction from node `from` to node `to`, without policies or devices.
    pub fn new(from: &str, to: &str, rate: Rate) -> DirectionConfig {
        DirectionConfig {
            name: format!("{from}->{to}"),
            from: from.to_owned(),
            to: to.to_owned(),
            rate,
            ..DirectionConfig::default()
        }
    }
}

impl ForwarderConfig {
    /// Creates the configuration of a forwarder for `node`, without directions, inputs or routes.
    pub fn new(node: String, seed: u64, replication: u64) -> ForwarderConfig {
        ForwarderConfig {
            node,
            seed,
            replication,
            directions: Vec::new(),
            inputs: Vec::new(),
            routes: Vec::new(),
            neighbors: BTreeMap::new(),
            control: None,
            result: None,
            socket: SocketKind::default(),
            scheduling: Scheduling::default(),
            slots: default_slots(),
            longest_frame: default_longest_frame(),
        }
    }
    /// Returns the distinct names of devices in the order of their first use. A [`DeviceId`] is an index of
    /// this list.
    pub fn devices(&self) -> Vec<&str> {
        let of_directions = self.directions.iter().flat_map(|direction| {
            [&direction.receives_on, &direction.sends_on].into_iter().flatten().map(String::as_str)
        });
        let mut devices: Vec<&str> = Vec::new();
        for name in of_directions.chain(self.inputs.iter().map(|input| input.device.as_str())) {
            if !devices.contains(&name) {
                devices.push(name);
            }
        }
        devices
    }
    /// Returns the index of the device `name`.
    pub fn device(&self, name: &str) -> Option<DeviceId> {
        self.devices().iter().position(|known| *known == name).map(|index| DeviceId(index as u16))
    }
}

impl std::fmt::Display for MacAddress {
    fn fmt(&self, formatter: &mut std::fmt::Formatter) -> std::fmt::Result {
        for (place, byte) in self.0.iter().enumerate() {
            write!(formatter, "{}{byte:02x}", if place == 0 { "" } else { ":" })?;
        }
        Ok(())
    }
}

impl std::str::FromStr for MacAddress {
    type Err = String;
    fn from_str(text: &str) -> Result<MacAddress, String> {
        let wrong = || format!("\"{text}\" is not an Ethernet address, such as 02:00:00:00:00:01");
        let mut bytes = [0; 6];
        let mut parts = text.split(':');
        for byte in &mut bytes {
            let part = parts.next().filter(|part| part.len() == 2).ok_or_else(wrong)?;
            *byte = u8::from_str_radix(part, 16).map_err(|_| wrong())?;
        }
        parts.next().is_none().then_some(MacAddress(bytes)).ok_or_else(wrong)
    }
}

impl Serialize for MacAddress {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for MacAddress {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<MacAddress, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}
