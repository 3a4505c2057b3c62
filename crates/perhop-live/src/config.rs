//! [`ForwarderConfig`]: what one process of the laboratory does with which devices.

use std::collections::BTreeMap;
use std::path::PathBuf;

use perhop_qos::classifier::Prefix;
use perhop_qos::conditioner::ConditionerConfig;
use perhop_qos::framing::Framing;
use perhop_qos::policy::QueueingConfig;
use perhop_qos::ring::RingConfig;
use perhop_qos::units::{Rate, Time};
use serde::{Deserialize, Serialize};

use crate::wire::DeviceId;

/// One forwarder: a router's, or that of a wire between two hosts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct ForwarderConfig {
    /// Name in results.
    pub node: String,
    /// Seed of every random stream.
    pub seed: u64,
    /// Which repetition of the experiment it is, from 0: each draws anew.
    #[serde(default)]
    pub replication: u64,
    /// Every direction of a link that runs here.
    pub directions: Vec<DirectionConfig>,
    /// Devices by which packets come from another forwarder: conditioned and routed at once.
    #[serde(default)]
    pub inputs: Vec<InputConfig>,
    /// Which direction leads to which address.
    #[serde(default)]
    pub routes: Vec<RouteConfig>,
    /// Destination address of the frames that leave by a device, as `02:00:00:00:00:01`; they keep their own
    /// where a device is not named.
    #[serde(default)]
    pub neighbors: BTreeMap<String, MacAddress>,
    /// Unix socket on which counters are read while it runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub control: Option<PathBuf>,
    /// File into which the final counters go as JSON.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<PathBuf>,
    /// How frames are received and sent.
    #[serde(default)]
    pub socket: SocketKind,
    /// How the process competes for the processor.
    #[serde(default)]
    pub scheduling: Scheduling,
    /// How many frames there is room for, in queues and in flight.
    #[serde(default = "default_slots")]
    pub slots: u32,
    /// The longest frame there is room for, bytes, link layer's header included.
    #[serde(default = "default_longest_frame")]
    pub longest_frame: u32,
}

fn default_slots() -> u32 {
    32_768
}
/// 1500 bytes of IP, their header and tags, and as much again as makes a power of two.
fn default_longest_frame() -> u32 {
    2048
}

/// One direction of a link: output conditioner → port → loss and delay → input conditioner of the far end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct DirectionConfig {
    /// Name in results and in random streams: `C1->E3`.
    pub name: String,
    /// The node that sends.
    pub from: String,
    /// The node that receives.
    pub to: String,
    /// Bits per second, counted in wire bytes as `framing` says.
    pub rate: Rate,
    /// What the emulated wire adds to an IP packet.
    #[serde(default)]
    pub framing: Framing,
    /// The FIFO between scheduler and wire.
    #[serde(default)]
    pub ring: RingConfig,
    /// Queues and scheduler; without it, one FIFO with tail drop.
    #[serde(default)]
    pub queueing: Option<QueueingConfig>,
    /// Conditioners of the output policy.
    #[serde(default)]
    pub output: Vec<ConditionerConfig>,
    /// Names of the sending node's interfaces, in the order of their numbers.
    #[serde(default)]
    pub output_interfaces: Vec<String>,
    /// Propagation delay.
    #[serde(default)]
    pub delay: Time,
    /// Probability with which the wire loses a packet.
    #[serde(default)]
    pub loss: f64,
    /// Conditioners of the far end's input policy; `None` where another process conditions.
    #[serde(default)]
    pub input: Option<Vec<ConditionerConfig>>,
    /// Names of the receiving node's interfaces, in the order of their numbers.
    #[serde(default)]
    pub input_interfaces: Vec<String>,
    /// Number of the receiving node's interface.
    #[serde(default)]
    pub far_interface: u16,
    /// Frames that arrive on this device enter this direction.
    #[serde(default)]
    pub receives_on: Option<String>,
    /// Frames that leave this direction are sent on this device; `None`: they are routed here.
    #[serde(default)]
    pub sends_on: Option<String>,
    /// What becomes of frames that carry no IP packet and arrive on `receives-on`.
    #[serde(default)]
    pub other_frames: OtherFrames,
}

/// What becomes of frames that carry no IP packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OtherFrames {
    /// They end here, counted: a router forwards IP.
    #[default]
    Drop,
    /// They are sent on `sends-on` at once, past the port: between two existing devices, ARP must get through.
    Pass,
}

/// A device by which packets come from another forwarder.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct InputConfig {
    /// Name of the direction whose far end it is, in results and in random streams.
    pub name: String,
    /// The device.
    pub device: String,
    /// Conditioners of the input policy.
    #[serde(default)]
    pub input: Vec<ConditionerConfig>,
    /// Names of the node's interfaces, in the order of their numbers.
    #[serde(default)]
    pub input_interfaces: Vec<String>,
    /// Number of this interface.
    #[serde(default)]
    pub far_interface: u16,
    /// Name of the direction that all its packets go on by; `None`: they are routed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub leads_to: Option<String>,
}

/// Which direction leads to an address.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct RouteConfig {
    /// An address, or a prefix: `10.0.0.2/32`. The longest that a destination begins with decides.
    pub to: Prefix,
    /// Name of the direction.
    pub direction: String,
}

/// How frames are received and sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SocketKind {
    /// Packet sockets with a ring in shared memory.
    #[default]
    AfPacket,
    /// Express data path.
    AfXdp,
    /// A tunnel device: its frames are bare IP packets.
    Tun,
}

/// How a process competes for the processor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scheduling {
    /// As any other.
    #[default]
    Fair,
    /// Ahead of all that are fair (`SCHED_FIFO`). On a machine with a processor to spare for each forwarder it comes
    /// in time more often; elsewhere it takes the processor from those whose traffic it forwards.
    RealTime,
}

/// An Ethernet address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MacAddress(pub [u8; 6]);

impl DirectionConfig {
    /// The direction from node `from` to node `to`, without policies, neither received nor sent anywhere yet.
    pub fn new(from: &str, to: &str, rate: Rate) -> DirectionConfig {
        DirectionConfig {
            name: format!("{from}->{to}"),
            from: from.to_owned(),
            to: to.to_owned(),
            rate,
            framing: Framing::default(),
            ring: RingConfig::default(),
            queueing: None,
            output: Vec::new(),
            output_interfaces: Vec::new(),
            delay: Time::ZERO,
            loss: 0.0,
            input: None,
            input_interfaces: Vec::new(),
            far_interface: 0,
            receives_on: None,
            sends_on: None,
            other_frames: OtherFrames::default(),
        }
    }
}

impl ForwarderConfig {
    /// A forwarder called `node` that does nothing yet.
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
    /// The devices that it names, each once, in the order of their first mention: a [`DeviceId`] is a place in it.
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
    /// The place of the device called `name`.
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
        let wrong = || format!("\"{text}\" is not an Ethernet address: write it as 02:00:00:00:00:01");
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
