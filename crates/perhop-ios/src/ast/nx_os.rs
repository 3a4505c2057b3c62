//! [`NxOs`]: the commands that only NX-OS has.

use std::collections::BTreeMap;

use perhop_device::intent::At;
use serde::Serialize;

use super::named::Named;

/// The type of a policy-map or class-map.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PolicyType {
    /// `type qos`: classifies, marks and polices.
    #[default]
    Qos,
    /// `type queuing`: the queues of a port.
    Queuing,
}

/// The commands that only NX-OS has.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NxOs {
    /// The types of policy-maps by name.
    pub policy_types: BTreeMap<String, PolicyType>,
    /// `class-map type queuing`: the line of each name.
    pub queuing_maps: BTreeMap<String, usize>,
    /// `policy-map type network-qos` by name.
    pub network_policies: Named<NetworkPolicy>,
    /// `system qos`: the policies of all ports that have no policy of their own.
    pub system: SystemPolicies,
    /// `vrf context`, in the order of the file.
    pub tables: Vec<String>,
    /// `hardware qos dynamic-buffer-sharing`: the slices of the chip share some of their memory.
    pub dynamic_sharing: Option<At<()>>,
    /// `qos copy policy-map type queuing`, in order.
    pub copies: Vec<At<PolicyCopy>>,
}

/// `system qos`: the policies of all ports that have no policy of their own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SystemPolicies {
    /// `service-policy type qos input`
    pub input: Option<At<String>>,
    /// `service-policy type queuing output`
    pub queuing: Option<At<String>>,
    /// `service-policy type queuing input`: the memory for arriving packets.
    pub queuing_input: Option<At<String>>,
    /// `service-policy type network-qos`
    pub network: Option<At<String>>,
}

/// `qos copy policy-map type queuing NAME prefix|suffix WORD`: an editable copy of a predefined policy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyCopy {
    /// The name of the predefined policy.
    pub original: String,
    /// The name of the copy.
    pub name: String,
}

/// `policy-map type network-qos`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NetworkPolicy {
    /// The name of the policy-map.
    pub name: String,
    /// The first line that opens the block.
    pub line: usize,
    /// The classes of the policy-map, in order.
    pub classes: Vec<NetworkClass>,
}

/// `class type network-qos`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NetworkClass {
    /// The name of the class-map.
    pub name: String,
    /// The first line that opens the block.
    pub line: usize,
    /// `mtu`, bytes.
    pub mtu: Option<At<u64>>,
    /// `pause`: packets of the class are not dropped.
    pub pause: Option<At<NetworkPause>>,
}

/// `pause` of a class of type network-qos.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NetworkPause {
    /// `pfc-cos`: the priority in pause frames.
    pub priority: Option<u8>,
    /// `buffer-size`, `pause-threshold` and `resume-threshold`.
    pub memory: Option<PauseMemory>,
}

/// The memory of a port for arriving packets of a class, bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct PauseMemory {
    /// The size of the memory.
    pub buffer: u64,
    /// The number of waiting bytes above which the switch pauses the neighbor.
    pub pause: u64,
    /// The number of waiting bytes at which the switch allows the neighbor to resume.
    pub resume: u64,
}

/// `priority-flow-control mode`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlowControlMode {
    /// `on`
    On,
    /// `off`
    Off,
    /// `auto`: the neighbor decides.
    Auto,
}

impl NxOs {
    /// Returns the type of the policy-map `name`.
    pub fn policy_type(&self, name: &str) -> PolicyType {
        self.policy_types.get(name).copied().unwrap_or_default()
    }
}
