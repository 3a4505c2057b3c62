//! Hosts, routers, links and the interfaces at their ends.

use std::collections::BTreeMap;
use std::net::IpAddr;

use perhop_qos::framing::Framing;
use perhop_qos::ring::RingConfig;
use perhop_qos::units::{Rate, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::configuration::RouterConfiguration;

/// An end system.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct HostConfig {
    /// Address that classifiers see; by default one from 10.0.0.0/8, in order of names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<IpAddr>,
}

/// A router.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct RouterConfig {
    /// What the router is, for readers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Its configuration as it stands in the router. Links then say by `name` which interface they lead to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub configuration: Option<RouterConfiguration>,
}

/// A point-to-point link: the same rate, delay and framing in both directions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct LinkConfig {
    /// The two nodes it connects.
    pub between: [String; 2],
    /// Bits per second, counted in wire bytes as `framing` says.
    pub rate: Rate,
    /// Propagation delay, one way.
    #[serde(default)]
    pub delay: Time,
    /// What the wire adds to an IP packet; by default what the configuration of a router at one of its
    /// ends says, else nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub framing: Option<Framing>,
    /// Probability with which the wire loses a packet, whatever it carries, in either direction.
    #[serde(default)]
    pub loss: f64,
    /// Cost of the link for shortest-path routing.
    #[serde(default = "default_cost")]
    pub cost: u32,
    /// What differs at the two ends, by node.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub interfaces: BTreeMap<String, InterfaceConfig>,
}

impl LinkConfig {
    /// What the wire adds to an IP packet.
    pub fn framing(&self) -> Framing {
        self.framing.unwrap_or_default()
    }
}

fn default_cost() -> u32 {
    1
}

/// One end of a link.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct InterfaceConfig {
    /// What the router's own `configuration` calls it: `ATM1/0.1`, or `ATM1/0.1 0/100` for one circuit of several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Policy for packets that enter the node here: its conditioners.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<String>,
    /// Policy for packets that leave the node here: its conditioners, then its queueing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
    /// The FIFO between scheduler and wire; by default it holds the packet on the wire and no other.
    #[serde(default)]
    pub ring: RingConfig,
    /// Bits per second in this direction, where it differs from the link's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<Rate>,
}
