//! The scenario language: what a user writes, and what follows from it before anything runs.
//!
//! These types are the one definition of the language: the JSON Schema, the editor's completion, the reference
//! documentation and the Python objects are generated from them. No engine is needed to read, check or draw a
//! scenario.
//!
//! Reading order: [`Scenario`] with the types in `nodes` and `traffic`; then the way from a file to a checked
//! scenario: [`Document`] (values and their places), `decode` (types), `validate` (meaning), and [`load`], which
//! does all of it. [`Diagnostic`] is what any of them says about a mistake. What every engine derives from a
//! scenario: [`topology`] and [`routing`], [`plan`] (what an application does), [`tcp`] (its parameters).

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

/// A whole experiment: who is connected how, what every interface does, who sends what, for how long.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Scenario {
    /// Version of the scenario language: 1.
    pub perhop: u32,
    /// Title in results.
    pub name: String,
    /// What the scenario is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Simulated time, warm-up included.
    pub duration: Time,
    /// Seed of every random stream.
    #[serde(default = "default_seed")]
    pub seed: u64,
    /// How many times the experiment is repeated with other random draws.
    #[serde(default = "default_replications")]
    pub replications: u32,
    /// End systems: they send and receive, and forward nothing.
    pub hosts: BTreeMap<String, HostConfig>,
    /// Routers: they condition, route and queue.
    #[serde(default)]
    pub routers: BTreeMap<String, RouterConfig>,
    /// Point-to-point links, each with one interface at either end.
    pub links: Vec<LinkConfig>,
    /// Policies by name; interfaces refer to them.
    #[serde(default)]
    pub policies: BTreeMap<String, PolicyConfig>,
    /// Who sends what.
    pub traffic: Vec<TrafficConfig>,
    /// What is measured beyond the counters that every run keeps.
    #[serde(default)]
    pub measure: MeasureConfig,
}

fn default_seed() -> u64 {
    1
}
fn default_replications() -> u32 {
    1
}
