//! The model of a network device, which is the same for every vendor, and the contract of its readers.
//!
//! ```text
//! text → FrontEnd::parse → DeviceModel { platform, lines, diagnostics, router: Router { ports: [Port] } }
//!                        → report → Report (what `perhop check --json` prints)
//! ```
//!
//! A vendor's syntax stands in the crate of its front end, which implements [`FrontEnd`]. No other crate
//! distinguishes vendors: [`FrontEnds`] chooses the front end of a text, and all further questions use the
//! [`DeviceModel`].
//!
//! Reading order: [`FrontEnd`]; [`DeviceModel`]; [`Port`]; [`AttachedPolicy`]; [`Report`].

mod front_end;
mod front_ends;
mod model;
mod platform_rule;
mod policy;
mod port;
mod report;

pub use front_end::{
    AddedInterface, Certainty, FrontEnd, HardwareOptions, MatchedLines, NotSupported, ParseOptions,
    Recognition, Written,
};
pub use front_ends::FrontEnds;
pub use model::{Concern, DeviceModel, Evidence, RecognizedPlatform};
pub use platform_rule::{EvidenceKind, PlatformRule, RuleValue};
pub use policy::{
    AttachedClass, AttachedPolicy, Basis, Combination, FairQueueing, Guarantee, GuaranteeKind, Limit,
    PoliceKind, Policer, Priority, PriorityKind, PriorityLimit, RandomDetect, RandomDetectRow, ShapeKind,
    Shaper, Unit,
};
pub use port::{Attachments, CountedBytes, LineKind, Port, Router, Wire};
pub use report::{Detail, Report};
