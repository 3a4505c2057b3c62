//! Hosts, routers, links and interfaces.

use std::collections::BTreeMap;
use std::net::IpAddr;

use perhop_qos::classifier::Prefix;
use perhop_qos::framing::{Framing, HeaderStack};
use perhop_qos::policy::WireConfig;
use perhop_qos::port::RateChange;
use perhop_qos::ring::RingConfig;
use perhop_qos::units::{ByteSize, Rate, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::configuration::RouterConfiguration;
use super::default::number;

/// An end system.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct HostConfig {
    /// IP address for classifiers; by default the next free one of 10.0.0.0/8, in order of host names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<IpAddr>,
}

/// A router.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct RouterConfig {
    /// Description of the router, for readers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Configuration of the router in its own language. Links then select its interfaces by `name`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub configuration: Option<RouterConfiguration>,
}

/// A point-to-point link with equal rate, delay and framing in both directions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct LinkConfig {
    /// The two nodes it connects.
    pub between: [String; 2],
    /// Rate in bits per second, of wire bytes according to `framing`.
    pub rate: Rate,
    /// Changes of the rate during the run, in both directions: `[{at: 20s, rate: 10Mb/s}]`. Policies keep
    /// what they make of `rate`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rate_changes: Vec<RateChange>,
    /// One-way propagation delay.
    #[serde(default)]
    pub delay: Time,
    /// Overhead of the wire per IP packet; by default that of the router configuration at either end, else
    /// none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub framing: Option<Framing>,
    /// Headers between the IP packet and the framing, from the packet outwards: `[gre, {vlan: {id: 100}}]`.
    #[serde(default, skip_serializing_if = "HeaderStack::is_empty")]
    pub headers: HeaderStack,
    /// Longest IP packet that either end sends, without `headers`: longer ones of IPv4 are fragmented, if
    /// they may be, and TCP's segments are as short as their way asks. By default any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mtu: Option<ByteSize>,
    /// Probability that the wire loses a packet, in each direction: at least 0 and below 1.
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
    /// Overhead of the wire per IP packet.
    pub fn framing(&self) -> Framing {
        self.framing.unwrap_or_default()
    }
    /// The longest IP packet that the interface `near` at one of its ends sends; `None` where it sends any.
    pub fn mtu(&self, near: &InterfaceConfig) -> Option<ByteSize> {
        near.mtu.or(self.mtu)
    }
    /// The wire behind the interface `near` at one of its ends.
    pub fn wire(&self, near: &InterfaceConfig) -> WireConfig {
        let rate = near.rate.unwrap_or(self.rate);
        WireConfig { rate, framing: self.framing(), headers: self.headers, ring: near.ring }
    }
}

/// One end of a link.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct InterfaceConfig {
    /// Name in the router's `configuration`: `ATM1/0.1`, or `ATM1/0.1 0/100` for one of several circuits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Tunnels and sub-interfaces of the `configuration` whose packets leave by this interface, each with the
    /// destinations of its packets: of several prefixes, the longest decides. Their output policies apply
    /// below the rate of this interface, which they share in equal parts while it is full.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub carries: BTreeMap<String, Vec<Prefix>>,
    /// Name of the policy for arriving packets, of which conditioners apply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<String>,
    /// Name of the policy for departing packets: conditioners, then queueing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
    /// Transmit ring, the FIFO between scheduler and wire; by default it holds only the packet on the wire.
    #[serde(default)]
    pub ring: RingConfig,
    /// Rate in this direction, bits per second, if it differs from the link's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<Rate>,
    /// Longest IP packet that this end sends, if it differs from the link's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mtu: Option<ByteSize>,
    /// Largest maximum segment size that this end lets connections through it agree on, in either direction:
    /// it lowers the option of their SYNs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub adjust_mss: Option<ByteSize>,
}
