//! The scenario language: its types, the checks of a scenario, and what engines derive from it before a run.
//!
//! These types define the language: the JSON Schema, the editor's completion, the reference documentation and
//! the Python objects are generated from them. No engine is needed to read, check or draw a scenario.
//!
//! Reading order: [`Scenario`] with the types in `nodes` and `traffic`; then the steps from a file to a
//! checked scenario: [`Document`] (values and their positions), `decode` (types), `validate` (semantics), and
//! [`load`], which does all of them. [`Diagnostic`] is an error or a warning of any step. Every engine
//! derives from a scenario: [`topology`] and [`routing`], [`plan`] (behavior of an application), [`tcp`] (its
//! parameters).

mod application;
mod configuration;
mod decode;
mod diagnostic;
mod document;
pub mod drop_curves;
mod load;
mod measure;
mod message;
mod nearest;
mod nodes;
mod overrides;
mod path;
pub mod plan;
mod position;
mod recording;
pub mod routing;
mod schema;
pub mod tcp;
pub mod topology;
mod trace;
mod traffic;
mod validate;

use std::collections::BTreeMap;

use perhop_qos::policy::PolicyConfig;
use perhop_qos::units::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use application::{
    BulkConfig, Closing, ConnectRequestResponseConfig, FileConnection, FileTransferConfig,
    RequestResponseConfig, WebConfig,
};
pub use configuration::{
    ConfigurationLanguage, ConfiguredPort, ConfiguredRouter, Finding, PlatformConfig, RouterConfiguration,
    configuration_text,
};
pub use diagnostic::{Coloring, Diagnostic, Diagnostics, Severity, render};
pub use document::Document;
pub use load::{Checked, Loaded, Loader, PolicySet, check, load, load_document, load_json};
pub use measure::{
    CaptureConfig, ConnectionEnd, ConnectionProbeConfig, DelayScope, MeasureConfig, QueueProbeConfig,
};
pub use nodes::{HostConfig, InterfaceConfig, LinkConfig, RouterConfig};
pub use path::ValuePath;
pub use recording::{Recorded, Recording, TcpNumbers, read_recording};
pub use schema::scenario_schema;
pub use trace::{TraceEntry, read_trace};
pub use traffic::{
    CbrConfig, OnOffConfig, PacketSize, PcapConfig, PeriodLaw, PoissonConfig, ReplayedFlows, SizeLaw,
    SourceConfig, TraceConfig, TrafficConfig,
};

/// A complete experiment: topology, policies at interfaces, traffic, duration and measurements.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Scenario {
    /// Version of the scenario language; it must be 1.
    pub perhop: u32,
    /// Title in results.
    pub name: String,
    /// Purpose of the scenario, for readers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Simulated time, including the warm-up.
    pub duration: Time,
    /// Seed for all random streams.
    #[serde(default = "default_seed")]
    pub seed: u64,
    /// Number of independent repetitions, each with its own random numbers.
    #[serde(default = "default_replications")]
    pub replications: u32,
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
    pub traffic: Vec<TrafficConfig>,
    /// Measurements in addition to the counters of every run.
    #[serde(default)]
    pub measure: MeasureConfig,
}

fn default_seed() -> u64 {
    1
}
fn default_replications() -> u32 {
    1
}
