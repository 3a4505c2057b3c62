//! The syntax tree: what a configuration says, command by command, with line numbers.
//!
//! It speaks the router's language and units. What it amounts to is the business of
//! [`convert`](crate::convert()).

mod access_list;
mod class_map;
mod interface;
mod link;
mod named;
mod policy_map;
mod rate_limit;
mod relations;

use perhop_lint::{Diagnostic, Line};
use serde::Serialize;

pub use access_list::{
    AccessList, AclAction, AclEntry, AclKind, AddressMatch, GroupMember, ObjectGroup, PortMatch, PrefixMatch,
    RateLimitAcl, ServiceMatch,
};
pub use class_map::{ClassMap, Criterion, Family, Polarity, Statement};
pub use interface::{
    AtmService, CellEncapsulation, Hardware, Interface, InterfaceAddress, InterfaceAddress6,
    LinkEncapsulation, PacketFilter, Pvc, Rank,
};
pub use link::{
    ChannelGroup, ControlPlane, Controller, IpsecProfile, Multilink, PeerPolicy, ServiceInstance,
    TransformSet, Tunnel,
};
pub use named::Named;
pub use policy_map::{
    Account, PacketPolice, Police, PolicyClass, PolicyMap, ServicePolicies, TableMap, ValueLimit,
};
pub use rate_limit::{Action, Field, Marking, RateLimit, RateLimitMatch};
pub(crate) use relations::Relations;

// Values that mean the same in every language.
pub use perhop_device::intent::{
    At, Direction, DropProfile as RandomDetect, FairQueue, Guarantee as Bandwidth, PartialLimit, Priority,
    PriorityRate, QueueLimit, Shape, TableDefault, Then, ThresholdUnit, Thresholds, TrafficRate,
};
pub use perhop_device::{Basis, Combination, ShapeKind};

/// The name of the class that takes what no other class of a policy takes.
pub const CLASS_DEFAULT: &str = "class-default";

/// Which of the marks that stay in the router anything sets or asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MarksInUse {
    /// Both `qos-group` and `traffic-class`: perhop has one label for both.
    pub both_groups: bool,
    /// Something depends on the discard class of packets.
    pub discard_class: bool,
    /// Something gives packets a group or a traffic class.
    pub labels: bool,
}

/// A whole configuration file.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Configuration {
    /// Every line of the file, with what became of it.
    pub lines: Vec<Line>,
    /// What is wrong or doubtful, by line.
    pub diagnostics: Vec<Diagnostic>,
    /// The router's name.
    pub hostname: Option<String>,
    /// The release, as in `version 12.0`.
    pub version: Option<(u32, u32)>,
    /// `ip cef`: whether it is on, where the file says.
    pub express_forwarding: Option<At<bool>>,
    /// `class-map`s by name.
    pub class_maps: Named<ClassMap>,
    /// `policy-map`s by name.
    pub policy_maps: Named<PolicyMap>,
    /// `access-list`s by number or name.
    pub access_lists: Named<AccessList>,
    /// `access-list rate-limit`s by number.
    pub rate_limit_lists: Named<RateLimitAcl>,
    /// `object-group`s by name.
    pub object_groups: Named<ObjectGroup>,
    /// `table-map`s by name.
    pub table_maps: Named<TableMap>,
    /// Interfaces and sub-interfaces by name.
    pub interfaces: Named<Interface>,
    /// What the user says of classes in place of their class-maps: the criteria, one of which must hold.
    pub assumed: std::collections::BTreeMap<String, Vec<String>>,
    /// `controller`s by name.
    pub controllers: Named<Controller>,
    /// `control-plane`
    pub control_plane: Option<ControlPlane>,
    /// `crypto ipsec transform-set`s by name.
    pub transform_sets: Named<TransformSet>,
    /// `crypto ipsec profile`s by name.
    pub ipsec_profiles: Named<IpsecProfile>,
    /// `crypto map`s by name.
    pub crypto_maps: Named<IpsecProfile>,
    /// `ip route` and `ipv6 route`, in the order of the file.
    #[serde(skip)]
    pub routes: Vec<perhop_device::Route>,
    /// The lines of `router` and `ipv6 router`.
    #[serde(skip)]
    pub routing_protocols: Vec<usize>,
    /// Whether any line speaks of IPv6: only then may packets be of another family than IPv4.
    pub speaks_ipv6: bool,
    /// Which marks are in use.
    #[serde(skip)]
    pub marks: MarksInUse,
    /// For every line the block around it, or the one it opens or adds to.
    #[serde(skip)]
    pub(crate) owners: Vec<Option<crate::mode::Mode>>,
    /// How many commands lines were compared with: the work that reading was.
    #[serde(skip)]
    pub comparisons: u64,
    /// Number of comparisons of parts of access lists and policies, to find what they hide.
    #[serde(skip)]
    pub set_comparisons: u64,
    /// Which interfaces belong together, once [`convert`](crate::convert()) has looked.
    #[serde(skip)]
    pub(crate) relations: Relations,
}
