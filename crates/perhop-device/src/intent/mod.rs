//! Intent: the demands of a policy, independent of vendors.
//!
//! ```text
//! Policy → Class { match set, marks, policer, priority, guarantee, shaper, queue } → Children → Policy …
//! ```
//!
//! Every node has its line ([`At`]), and percentages keep their base. [`lower`] converts Intent to queues,
//! conditioners and a scheduler, by the rules of a profile.
//!
//! [`lower`]: crate::lower

mod at;
mod class;
mod class_id;
mod condition;
mod drop_profile;
mod fields;
mod hidden_ip;
mod marks;
mod police;
mod queue;
mod rates;

pub use at::At;
pub use class::{Children, Class, Policy, PortIntent, PrintedMatches, matched_fields};
pub use class_id::ClassId;
pub use condition::{Condition, fields_of_match};
pub use drop_profile::{DropProfile, ThresholdUnit, Thresholds};
pub use fields::Fields;
pub use hidden_ip::{VisibleHeader, behind_labels};
pub use marks::{Action, Direction, Field, Mark, Table, TableDefault, Then, Translation, Written};
pub use police::{Awareness, InsideColors, Limiter, Meter, Police};
pub use queue::{Discipline, FairQueue, PartialLimit, PlainQueue, QueueLimit, ValueLimits};
pub use rates::{Guarantee, Priority, PriorityRate, Shape, TrafficRate};
