//! The vendor-neutral model of a network device, and the interface of its readers.
//!
//! ```text
//! text → FrontEnd::parse → DeviceModel { platform, lines, diagnostics, router: Router { ports: [Port] } }
//!                        → report → Report (what `perhop check --json` prints)
//! Intent → lower, by the rules of a profile → PolicyConfig (what runs), AttachedPolicy, links to the lines
//! ```
//!
//! A vendor's syntax is in the crate of its front end, which implements [`FrontEnd`]. No other crate
//! distinguishes vendors: [`FrontEnds`] chooses the front end of a text, and all further steps use the
//! [`DeviceModel`].
//!
//! A front end converts its policies to [`intent`], and [`lower()`](lower::lower) converts these to queues
//! and conditioners by the rules of a [`profile`].
//!
//! Reading order: [`FrontEnd`]; [`DeviceModel`]; [`Port`]; [`AttachedPolicy`]; [`Forwarding`]; [`Report`];
//! [`intent`]; [`lower`].

mod common_port;
mod difference;
mod forwarding;
mod front_end;
mod front_ends;
pub mod intent;
mod labels;
mod link_setting;
pub mod lower;
mod model;
mod named_policies;
mod notes;
mod platform_rule;
mod policy;
mod policy_uses;
mod port;
pub mod profile;
mod report;
mod routing;
pub mod show;
mod srr;
mod switch_memory;
mod tables;
mod writing;

pub use common_port::{PortsBelow, interfaces_of_common_port, ports_above, shapers_above_port};
pub use difference::{Difference, codepoints, differences, same_packets, with_renumbered_labels};
pub use forwarding::{
    AccessDecision, AccessEntry, AccessGroup, AccessList, ClassifiedHeader, Encryption, Forwarding,
    InterfaceAddress, PortForwarding, PortRole, Route, RouteOrigin, RouteTarget, SharedAddress, Tunnel,
    TunnelEnds, TunnelMap, TunnelSource,
};
pub use front_end::{
    AddedInterface, Certainty, ClassLines, FrontEnd, HardwareOptions, HiddenParts, MatchedLines,
    OpenThresholds, ParseOptions, Recognition, Writer,
};
pub use front_ends::{FrontEnds, PoliciesOfOutput};
pub use labels::{LabelDistribution, LabeledDestinations};
pub use link_setting::{LinkSetting, LinkSettingKind};
pub use model::{Concern, DeviceModel, Evidence, OpenLine, RecognizedPlatform};
pub use named_policies::{interface_for, unattached_policies};
pub use notes::{Missing, Notes, NotesAt, comment};
pub use platform_rule::{EvidenceKind, PlatformRule, RuleValue};
pub use policy::{
    AttachedClass, AttachedPolicy, Basis, Combination, FairQueueing, Guarantee, GuaranteeKind, Limit,
    PoliceKind, Policer, Priority, PriorityKind, PriorityLimit, RandomDetect, RandomDetectRow, ShapeKind,
    Shaper, Unit,
};
pub use policy_uses::{MadeInterface, PolicyUses};
pub use port::{Attachments, CountedBytes, LineKind, Port, Router, Wire};
pub use report::{Detail, Report};
pub use routing::{AnnouncedSubnets, PortRouting, RoutingProcess, RoutingProtocol};
pub use srr::{EgressMemory, Hundredths, SrrPort, SrrQueue, SrrQueueSet, SrrSetQueue};
pub use switch_memory::{
    Burst, DefaultQueue, DropThreshold, InputQueue, LineLeftOut, MarkedField, MarkedPackets, MemoryOptions,
    PortGroup, PortMemory, QueueMemory, Room, SwitchMemory, UnknownPort,
};
pub use tables::{DeviceTables, ShownNeighbor, ShownTable};
pub use writing::{NotExpressed, PoliciesToWrite, PolicyToWrite, SourceConfiguration, Written};
