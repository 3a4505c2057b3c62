//! Hosts, routers, links and interfaces.

use std::collections::BTreeMap;
use std::net::IpAddr;

use perhop_qos::classifier::Prefix;
use perhop_qos::framing::Framing;
use perhop_qos::policy::WireConfig;
use perhop_qos::port::RateChange;
use perhop_qos::ring::RingConfig;
use perhop_qos::units::{ByteSize, Rate, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::configuration::RouterConfiguration;
use super::default::number;
use super::link_headers::LinkHeaders;

/// An end system.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct HostConfig {
    /// IP address for classifiers; by default the next free address of 10.0.0.0/8, in order of host names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<IpAddr>,
}

/// A router.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct RouterConfig {
    /// Description of the router, for readers of the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Configuration of the router in its own language. Links then select its interfaces by `name`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub configuration: Option<RouterConfiguration>,
    /// Neighbors to which packets to some hosts are sent, by host: `{server: edge2}`. Packets to other hosts
    /// follow the path of least cost.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub routes: BTreeMap<String, String>,
}

/// A point-to-point link with equal rate, delay and framing in both directions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct LinkConfig {
    /// The nodes at the two ends.
    pub between: [String; 2],
    /// Rate in bits per second, of wire bytes according to `framing`.
    pub rate: Rate,
    /// Changes of the rate during the run, in both directions: `[{at: 20s, rate: 10Mb/s}]`. Policies are
    /// built from `rate` and are not adapted to the changes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rate_changes: Vec<RateChange>,
    /// One-way propagation delay.
    #[serde(default)]
    pub delay: Time,
    /// Overhead of the wire per IP packet; by default the overhead in the router configuration at either end,
    /// otherwise none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub framing: Option<Framing>,
    /// Headers between the IP packet and the framing, innermost first: `[gre, {vlan: {id: 100}}]`.
    #[serde(default, skip_serializing_if = "LinkHeaders::is_empty")]
    pub headers: LinkHeaders,
    /// Longest IP packet that either end sends, without `headers`; by default unlimited. Longer IPv4 packets
    /// are fragmented unless DF is set, and TCP limits its segments to the MTU of the path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mtu: Option<ByteSize>,
    /// Probability that the wire loses a packet, in each direction; at least 0 and below 1.
    #[serde(default)]
    pub loss: f64,
    /// Cost of the link for shortest-path routing, at least 1.
    #[serde(default = "number::<u32, 1>")]
    pub cost: u32,
    /// Settings of the interfaces at the two ends, by node.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub interfaces: BTreeMap<String, InterfaceConfig>,
}

impl LinkConfig {
    /// Returns the overhead of the wire per IP packet.
    pub fn framing(&self) -> Framing {
        self.framing.unwrap_or_default()
    }
    /// Returns the longest IP packet that the interface `near` at one end sends; `None` if unlimited.
    pub fn mtu(&self, near: &InterfaceConfig) -> Option<ByteSize> {
        near.mtu.or(self.mtu)
    }
    /// Returns the wire at the interface `near` at one end.
    pub fn wire(&self, near: &InterfaceConfig) -> WireConfig {
        let rate = near.rate.unwrap_or(self.rate);
        WireConfig { rate, framing: self.framing(), headers: *self.headers, ring: near.ring }
    }
}

/// One end of a link.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct InterfaceConfig {
    /// Name in the router's `configuration`: `ATM1/0.1`, or `ATM1/0.1 0/100` for one of several circuits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Tunnels and sub-interfaces of the `configuration` whose packets leave via this interface, each with
    /// its destination prefixes; the longest matching prefix decides. Their output policies apply within the
    /// rate of this interface. While this interface is congested, they share its rate equally.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub carries: BTreeMap<String, Vec<Prefix>>,
    /// Name of the policy for arriving packets; only its conditioners apply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<String>,
    /// Name of the policy for departing packets: conditioners, then queueing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
    /// Transmit ring: the FIFO between scheduler and wire; by default only the packet on the wire.
    #[serde(default)]
    pub ring: RingConfig,
    /// Rate in this direction, bits per second, if it differs from the rate of the link.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<Rate>,
    /// Longest IP packet that this end sends, if it differs from the limit of the link.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mtu: Option<ByteSize>,
    /// Largest maximum segment size of connections through this end, in either direction: the interface
    /// lowers the MSS option of their SYNs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub adjust_mss: Option<ByteSize>,
}
