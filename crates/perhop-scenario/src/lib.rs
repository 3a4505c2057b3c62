//! The scenario language: its types, the checks of a scenario, and the data that engines derive from it
//! before a run.
//!
//! These types define the language. The JSON Schema, the editor's completion, the reference documentation and
//! the Python objects are generated from them. Reading, checking and drawing a scenario needs no engine.
//!
//! Read in this order: [`Scenario`] with the types in `nodes` and `traffic`; then the steps from a file to a
//! checked scenario: [`Document`] (values and their positions), `decode` (types), `validate` (semantics), and
//! [`load()`], which runs all of them. [`Diagnostic`] is an error or a warning of any step. Every engine
//! derives these data from a scenario: [`topology`] and [`routing`], [`plan`] (the behavior of an
//! application) and [`tcp`] (the parameters of its TCP).

mod application;
mod class_role;
mod codec;
mod configuration;
mod datagrams;
mod decode;
mod default;
mod diagnostic;
mod document;
pub mod drop_curves;
mod input_file;
mod judged;
mod link_headers;
mod lint;
mod load;
mod measure;
mod media;
mod message;
mod nearest;
mod nodes;
mod overrides;
mod path;
pub mod plan;
mod position;
mod printable;
pub mod queue_description;
mod recording;
mod role;
pub mod routing;
mod scenario;
mod schema;
pub mod tcp;
pub mod topology;
mod trace;
mod traffic;
mod traffic_list;
mod validate;

pub use application::{
    BulkConfig, Closing, ConnectRequestResponseConfig, FileConnection, FileTransferConfig,
    RequestResponseConfig, WebConfig,
};
pub use class_role::{ClassRole, RoleOrigin};
pub use codec::{Codec, Planning};
pub use configuration::{Assembler, PlatformConfig, RouterConfiguration, Setting, configuration_text};
pub use diagnostic::{Coloring, Diagnostic, Diagnostics, Severity, render};
pub use document::Document;
pub use judged::{
    Adaptation, BbaRule, BolaRule, ObjectsConfig, PageConfig, SpeedTestConfig, ThroughputRule, VideoConfig,
};
pub use link_headers::LinkHeaders;
pub use load::{Checked, Loaded, Loader, PolicySet, load, load_json};
pub use measure::{
    CaptureConfig, ConnectionEnd, ConnectionProbeConfig, DelayScope, MeasureConfig, QueueProbeConfig,
};
pub use media::{AdaptiveBuffer, GameConfig, JitterBuffer, TalkSpurts, VoiceConfig};
pub use nearest::suggest;
pub use nodes::{HostConfig, InterfaceConfig, LinkConfig, RouterConfig};
pub use path::ValuePath;
pub use recording::{Recorded, Recording, TcpNumbers, read_recording};
pub use role::Role;
pub use scenario::Scenario;
pub use schema::scenario_schema;
pub use trace::{TraceEntry, read_trace};
pub use traffic::{
    CbrConfig, CutGap, OnOffConfig, PacketSize, PcapConfig, PeriodLaw, PoissonConfig, ReplayedFlows, SizeLaw,
    SourceConfig, TraceConfig, TrafficConfig,
};
