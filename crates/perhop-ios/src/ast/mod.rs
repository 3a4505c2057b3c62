//! The syntax tree: the commands of a configuration with their line numbers.
//!
//! Values are in the units of the configuration. [`convert`](crate::convert()) interprets them.

mod access_list;
mod class_map;
mod interface;
mod labels;
mod link;
mod mls;
mod named;
mod nx_os;
mod policy_map;
mod rate_limit;
mod relations;
mod routing;

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
pub use labels::Labels;
pub use link::{
    ChannelGroup, ControlPlane, Controller, IpsecProfile, Multilink, PeerPolicy, ServiceInstance,
    TransformSet, Tunnel,
};
pub use mls::{
    AggregatePolicer, INPUT_QUEUES, InputSettings, MlsQos, OUTPUT_QUEUES, PortQos, QUEUE_SETS, QueuePlace,
    QueueSet, QueueThresholds, Trust,
};
pub use named::Named;
pub use nx_os::{
    FlowControlMode, NetworkClass, NetworkPause, NetworkPolicy, NxOs, PauseMemory, PolicyCopy, PolicyType,
    SystemPolicies,
};
pub use policy_map::{
    Account, PacketPolice, Police, PolicyClass, PolicyMap, ServicePolicies, TableMap, ValueLimit,
};
pub use rate_limit::{Action, Field, Marking, RateLimit, RateLimitMatch};
pub(crate) use relations::Relations;
pub use routing::{
    BOTH_LEVELS, InterfaceRouting, LevelMetrics, Levels, ListSettings, ListedArea, ListedPort, Network,
    PortList, RouterGroup, RouterProcess,
};

// Values that are common to all languages.
pub use perhop_device::intent::{
    At, Direction, DropProfile as RandomDetect, FairQueue, Guarantee as Bandwidth, PartialLimit, Priority,
    PriorityRate, QueueLimit, Shape, TableDefault, Then, ThresholdUnit, Thresholds, TrafficRate,
};
pub use perhop_device::{Basis, Combination, ShapeKind};

/// The name of the class for packets that match no other class of a policy.
pub const CLASS_DEFAULT: &str = "class-default";

/// The fields that the label of a packet contains.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LabelUse {
    /// The `qos-group` or the `traffic-class`: the configuration uses at most one of them.
    #[default]
    OneField,
    /// The `qos-group`: the `traffic-class` is also in use, but is not modeled.
    GroupOfBoth,
    /// Both fields: each group has eight traffic classes.
    Both,
}

/// The router-internal marks that the configuration uses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MarksInUse {
    /// The fields that the label of a packet contains.
    pub label: LabelUse,
    /// Whether any line reads the discard class.
    pub discard_class: bool,
    /// Whether any line sets a group or a traffic class.
    pub labels: bool,
}

/// A hardware mode of IOS XR that changes how the router treats packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HardwareProfile {
    /// `hqos-enable`: policies on sub-interfaces can queue packets.
    Hierarchy,
    /// `conform-aware-policer`: an outer policer first drops packets that exceed the inner policers.
    ConformAwarePolicer,
    /// `qosg-dscp-mark-enable`: an input policy may set groups and codepoints.
    GroupWithDscp,
}

/// A whole configuration file.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Configuration {
    /// The command language.
    #[serde(skip)]
    pub grammar: crate::grammar::Grammar,
    /// The modes of `hw-module profile qos` of IOS XR that change how the router treats packets.
    #[serde(skip)]
    pub hardware_profiles: Vec<At<HardwareProfile>>,
    /// The commands that only NX-OS has.
    #[serde(skip)]
    pub nx_os: NxOs,
    /// Every line of the file, with its state.
    pub lines: Vec<Line>,
    /// The diagnostics, by line.
    pub diagnostics: Vec<Diagnostic>,
    /// The router's name.
    pub hostname: Option<String>,
    /// The release, as in `version 12.0`.
    pub version: Option<(u32, u32)>,
    /// `qos queue-softmax-multiplier`: the factor of the shared buffers of a switch's queues, percent.
    pub softmax_multiplier: Option<At<u64>>,
    /// `mls qos` of a Catalyst 2960, 3560 or 3750.
    #[serde(skip)]
    pub mls: MlsQos,
    /// `ip cef`, if the file sets it.
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
    /// The criteria that the user supplies in place of class-maps, by class. A packet must match one
    /// criterion of a class.
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
    /// `vrf` in `router static` of IOS XR, in the order of the file.
    #[serde(skip)]
    pub static_tables: Vec<String>,
    /// `router` and `ipv6 router`, in the order of the file.
    #[serde(skip)]
    pub processes: Vec<RouterProcess>,
    /// The lines about MPLS labels.
    #[serde(skip)]
    pub labels: Labels,
    /// Whether any line concerns IPv6. If no line does, all packets are IPv4.
    pub speaks_ipv6: bool,
    /// Router-internal marks in use.
    #[serde(skip)]
    pub marks: MarksInUse,
    /// The block of every line: the block that the line opens or extends, otherwise the enclosing block.
    #[serde(skip)]
    pub(crate) owners: Vec<Option<crate::mode::Mode>>,
    /// For each `interface range`, the indices of its interfaces in ascending order.
    #[serde(skip)]
    pub(crate) interface_ranges: Vec<Vec<usize>>,
    /// The number of times that a line was read again for another interface of a range.
    #[serde(skip)]
    pub(crate) range_reads: usize,
    /// Number of comparisons of lines with commands, a measure of the parser's work.
    #[serde(skip)]
    pub comparisons: u64,
    /// Number of comparisons in the search for shadowed entries of access lists and shadowed classes of
    /// policies.
    #[serde(skip)]
    pub set_comparisons: u64,
    /// Relations between interfaces. [`convert`](crate::convert()) computes them.
    #[serde(skip)]
    pub(crate) relations: Relations,
}

impl Configuration {
    /// Returns the name of a bundle of Ethernet links without its number.
    pub(crate) fn bundle_name(&self) -> &'static str {
        match self.grammar {
            crate::grammar::Grammar::Ios | crate::grammar::Grammar::NxOs => "Port-channel",
            crate::grammar::Grammar::IosXr => "Bundle-Ether",
        }
    }

    /// Returns the line of `hw-module profile qos` that sets `profile`.
    pub fn hardware_profile(&self, profile: HardwareProfile) -> Option<usize> {
        self.hardware_profiles.iter().find(|at| at.value == profile).map(|at| at.line)
    }
}
