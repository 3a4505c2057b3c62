//! [`Scenario`]: the contents of a scenario file.

use std::collections::BTreeMap;

use perhop_qos::policy::PolicyConfig;
use perhop_qos::units::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::default::number;
use crate::measure::MeasureConfig;
use crate::nodes::{HostConfig, LinkConfig, RouterConfig};
use crate::traffic::TrafficConfig;
use crate::traffic_list;

/// A complete experiment: topology, policies of interfaces, traffic, duration and measurements.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Scenario {
    /// Version of the scenario language; it must be 1.
    pub perhop: u32,
    /// Title in results.
    pub name: String,
    /// Purpose of the scenario, for readers of the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Simulated time, including the warm-up.
    pub duration: Time,
    /// Seed for all random streams.
    #[serde(default = "number::<u64, 1>")]
    pub seed: u64,
    /// Number of independent repetitions, each with its own random numbers. Without this key, `perhop run`
    /// and `perhop test` run as many repetitions as fit into a budget of packets; other commands run one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replications: Option<u32>,
    /// End systems by name: they send and receive, but do not forward.
    pub hosts: BTreeMap<String, HostConfig>,
    /// Routers by name: they condition, route and queue.
    #[serde(default)]
    pub routers: BTreeMap<String, RouterConfig>,
    /// Point-to-point links, with an interface at each end.
    pub links: Vec<LinkConfig>,
    /// Policies by name, for use by interfaces.
    #[serde(default)]
    pub policies: BTreeMap<String, PolicyConfig>,
    /// Flows between hosts and their sources.
    #[serde(deserialize_with = "traffic_list::read")]
    pub traffic: Vec<TrafficConfig>,
    /// Measurements in addition to the counters of every run.
    #[serde(default)]
    pub measure: MeasureConfig,
}
