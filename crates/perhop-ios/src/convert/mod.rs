//! What a configuration amounts to: for every interface and virtual circuit the policies of `perhop-qos`,
//! the wire under it and its addresses.
//!
//! ```text
//! Configuration → convert → Router { ports: [Port { name, addresses, input, output, wire }] }
//! ```
//!
//! [`Port::input`] holds the conditioners of arriving packets; [`Port::output`] holds those of departing
//! packets and the queueing in front of the transmit ring. What the configuration leaves to the hardware
//! (the wire's rate, say) is `None`: whoever lays the wire says it.

mod bandwidth;
mod circuit;
mod condition;
mod conditioners;
mod guarantees;
mod labels;
mod limits;
mod plain_queue;
mod queueing;
mod random_detect;
mod reference;
mod refusals;
mod resolve;
mod resolved;
mod wire;

use std::collections::BTreeSet;
use std::net::Ipv4Addr;

use perhop_qos::policy::PolicyConfig;
use serde::Serialize;

pub use resolved::{
    Guarantee, GuaranteeKind, Limit, PoliceKind, PriorityKind, PriorityLimit, RandomDetectRow, ResolvedClass,
    ResolvedFairQueue, ResolvedPolice, ResolvedPolicy, ResolvedPriority, ResolvedRandomDetect, ResolvedShape,
    Unit,
};
pub use wire::Wire;

use crate::ast::{At, Configuration, Hardware, Interface, PolicyMap, ServicePolicies};
use crate::check;
use crate::diagnostic::Diagnostic;
use crate::platform::Platform;
use circuit::Circuit;
use reference::Reference;

/// A router as its configuration describes it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Router {
    /// Its name.
    pub hostname: Option<String>,
    /// Its interfaces and virtual circuits, in the order of the file.
    pub ports: Vec<Port>,
}

impl Router {
    /// The port called `name`, or the only one of the interface called `name`.
    pub fn port(&self, name: &str) -> Option<&Port> {
        let name = crate::interface_name(name);
        let exact = self.ports.iter().find(|port| port.name == name);
        exact.or_else(|| {
            let mut of_interface = self.ports.iter().filter(|port| port.interface == name);
            of_interface.next().filter(|_| of_interface.next().is_none())
        })
    }
}

/// One interface, or one virtual circuit of an ATM interface.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Port {
    /// The interface's name; where it has several circuits, with the circuit's: `ATM1/0.8 8/9`.
    pub name: String,
    /// The interface's name.
    pub interface: String,
    /// The line that opens the interface or the circuit.
    pub line: usize,
    /// What kind of wire it has.
    pub hardware: Hardware,
    /// Addresses and lengths of their subnets' prefixes, the primary one first.
    pub addresses: Vec<(Ipv4Addr, u8)>,
    /// Bits per second that shares and percentages refer to: `bandwidth`, or the circuit's rate.
    pub bandwidth: perhop_qos::Rate,
    /// What happens to packets that arrive here.
    pub input: PolicyConfig,
    /// What happens to packets that leave here.
    pub output: PolicyConfig,
    /// The attached policies with all their numbers.
    pub policies: Policies,
    /// The wire, as far as the configuration says.
    pub wire: Wire,
    /// Whether it is shut down: nothing arrives or leaves here.
    pub shutdown: bool,
}

/// The policies attached to a port, with all their numbers; those that the router refuses are not.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Policies {
    /// For packets that arrive.
    pub input: Option<ResolvedPolicy>,
    /// For packets that leave.
    pub output: Option<ResolvedPolicy>,
}

/// What `configuration` amounts to on `platform`. What is found out on the way (a policy that cannot be
/// attached, thresholds that cannot hold) joins the configuration's diagnostics.
pub fn convert(configuration: &mut Configuration, platform: &Platform) -> Router {
    let mut context = Context { configuration, platform, found: Vec::new() };
    let ports = configuration.interfaces.iter().flat_map(|interface| context.ports(interface)).collect();
    let mut found: BTreeSet<Diagnostic> = context.found.into_iter().collect();
    for known in &configuration.diagnostics {
        found.remove(known);
    }
    let router = Router { hostname: configuration.hostname.clone(), ports };
    check::add(configuration, found.into_iter().collect());
    router
}

/// A policy for packets that leave, and the line that attaches it.
#[derive(Clone, Copy)]
struct Attachment<'a> {
    policy: &'a PolicyMap,
    line: usize,
}

/// What the conversion of every part needs.
struct Context<'a> {
    configuration: &'a Configuration,
    platform: &'a Platform,
    found: Vec<Diagnostic>,
}

impl<'a> Context<'a> {
    fn ports(&mut self, interface: &'a Interface) -> Vec<Port> {
        let circuits = Circuit::of(interface, self.configuration);
        circuits.iter().map(|circuit| self.port(interface, circuit)).collect()
    }

    fn port(&mut self, interface: &'a Interface, circuit: &Circuit<'a>) -> Port {
        let mut addresses = interface.addresses.clone();
        addresses.sort_by_key(|address| address.rank == crate::ast::Rank::Secondary);
        let mut policies = Policies {
            input: self.input_policy(interface, circuit),
            output: self.output_policy(interface, circuit),
        };
        let input = PolicyConfig {
            conditioners: self.input(interface, policies.input.as_mut()),
            ..PolicyConfig::default()
        };
        let output = self.output_side(interface, circuit, policies.output.as_mut());
        let parent = interface.parent.as_ref().and_then(|name| self.configuration.interfaces.get(name));
        Port {
            name: circuit.name.clone(),
            interface: interface.name.clone(),
            line: circuit.line,
            hardware: interface.hardware,
            addresses: addresses.iter().map(|address| (address.address, address.prefix_length)).collect(),
            bandwidth: circuit.bandwidth,
            input,
            output,
            policies,
            wire: Wire::of(interface, parent, circuit, self.platform),
            shutdown: interface.shutdown.is_some(),
        }
    }

    /// The policy for packets that arrive, if the router attaches one.
    fn input_policy(&mut self, interface: &'a Interface, circuit: &Circuit<'a>) -> Option<ResolvedPolicy> {
        let at = self.attached(interface, circuit, |policies| &policies.input)?;
        let policy = self.configuration.policy_maps.get(&at.value)?;
        if let Some(class) = policy.classes.iter().find(|class| class.queues()) {
            self.found.push(Diagnostic::error(
                at.line,
                format!(
                    "policy {} queues (class {}, line {}): an input policy cannot queue",
                    policy.name, class.name, class.line
                ),
                "the router refuses the line: no policy applies here",
            ));
            return None;
        }
        Some(self.resolve(policy, self.reference(interface, circuit)))
    }

    /// The policy for packets that leave, if the router attaches one.
    fn output_policy(&mut self, interface: &'a Interface, circuit: &Circuit<'a>) -> Option<ResolvedPolicy> {
        let at = self.attached(interface, circuit, |policies| &policies.output)?;
        let policy = self.configuration.policy_maps.get(&at.value)?;
        let reference = self.reference(interface, circuit);
        let attachment = Attachment { policy, line: at.line };
        let is_attached = self.may_be_attached(interface, circuit, attachment, reference);
        is_attached.then(|| self.resolve(policy, reference))
    }

    /// What the numbers of a policy on `circuit` refer to.
    fn reference(&self, interface: &Interface, circuit: &Circuit) -> Reference {
        let written = interface.max_reserved_bandwidth.map(|percent| percent.value);
        let written = written.filter(|_| !self.platform.profile.is_hierarchical());
        Reference::top(circuit.bandwidth, written.unwrap_or(self.platform.reservable_percent))
    }

    /// The conditioners and queues of packets that leave.
    fn output_side(
        &mut self,
        interface: &Interface,
        circuit: &Circuit<'a>,
        mut policy: Option<&mut ResolvedPolicy>,
    ) -> PolicyConfig {
        let queueing = match policy.as_deref_mut().filter(|policy| policy.holds_queue()) {
            Some(policy) => {
                if self.platform.profile.is_hierarchical() {
                    labels::assign(policy);
                }
                self.queueing_of(policy, "")
            }
            None => self.without_classes(interface, circuit),
        };
        let conditioners = self.output(interface, policy, &queueing);
        PolicyConfig { conditioners, queueing: Some(queueing) }
    }

    /// The policy attached to a circuit or, where it has none, to its interface; a sub-interface has that of
    /// the interface it is a part of.
    fn attached(
        &mut self,
        interface: &'a Interface,
        circuit: &Circuit<'a>,
        choose: fn(&ServicePolicies) -> &Option<At<String>>,
    ) -> Option<&'a At<String>> {
        let own = circuit.pvc.and_then(|pvc| choose(&pvc.service_policies).as_ref());
        let own = own.or_else(|| choose(&interface.service_policies).as_ref());
        own.or_else(|| {
            let parent = interface.parent.as_ref()?;
            let policy = choose(&self.configuration.interfaces.get(parent)?.service_policies).as_ref()?;
            self.shared(parent, policy);
            Some(policy)
        })
    }

    /// Several sub-interfaces under one policy.
    fn shared(&mut self, parent: &str, policy: &At<String>) {
        let of_parent = |interface: &&Interface| interface.parent.as_deref() == Some(parent);
        if self.configuration.interfaces.iter().filter(of_parent).nth(1).is_some() {
            self.found.push(Diagnostic::warning(
                policy.line,
                format!("policy {} is shared by the sub-interfaces of {parent}", policy.value),
                "the router has one set of queues and policers for all of them; perhop gives each its own",
            ));
        }
    }
}
