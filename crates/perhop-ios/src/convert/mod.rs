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

mod attachment;
mod bandwidth;
mod circuit;
mod condition;
mod conditioners;
mod control_plane;
mod counted_bytes;
mod extent;
mod fields;
mod guarantees;
mod header_stack;
mod hidden;
mod labels;
mod limits;
mod link_marks;
mod mark_uses;
mod marking;
mod matched_lines;
mod multilink;
mod percentages;
mod plain_queue;
mod policy_rules;
mod printing;
mod queueing;
mod random_detect;
mod reference;
mod refusals;
mod resolve;
mod resolved;
mod shadows;
mod stages;
mod value_limits;
mod wire;

use std::collections::BTreeSet;
use std::net::Ipv4Addr;

use perhop_lint::Diagnostic;
use perhop_qos::policy::PolicyConfig;

pub use matched_lines::matched_lines;
pub use perhop_device::{CountedBytes, MatchedLines, Wire};
pub use resolved::{
    Guarantee, GuaranteeKind, Limit, PoliceKind, PriorityKind, PriorityLimit, RandomDetectRow, ResolvedClass,
    ResolvedFairQueue, ResolvedPolice, ResolvedPolicy, ResolvedPriority, ResolvedRandomDetect, ResolvedShape,
    Unit,
};

use crate::ast::{Configuration, Hardware, Interface};
use crate::check;
use crate::platform::{Platform, Recognition};
use crate::profile::QueueSelection;
pub(crate) use circuit::underlay;
use circuit::{Circuit, has_known_line, without_line};
use condition::Tags;
use counted_bytes::counted_bytes_of;
use labels::{Labels, Markers};
use reference::MOST_CLASSES;
use wire::wire_of;

/// A router as its configuration describes it.
#[derive(Clone, Debug, PartialEq)]
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
#[derive(Clone, Debug, PartialEq)]
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
    /// Whether the configuration names the line by which packets leave. The bandwidth of a tunnel without a
    /// source is a metric of routing protocols, not the rate of a line.
    pub has_known_line: bool,
    /// What happens to packets that arrive here.
    pub input: PolicyConfig,
    /// What happens to packets that leave here.
    pub output: PolicyConfig,
    /// The attached policies with all their numbers.
    pub policies: Policies,
    /// The bytes that the router counts of a packet besides those of IP.
    pub counted_bytes: CountedBytes,
    /// The wire, as far as the configuration says.
    pub wire: Wire,
    /// Whether it is shut down: nothing arrives or leaves here.
    pub shutdown: bool,
}

/// The policies attached to a port, with all their numbers; those that the router refuses are not.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Policies {
    /// For packets that arrive.
    pub input: Option<ResolvedPolicy>,
    /// For packets that leave.
    pub output: Option<ResolvedPolicy>,
}

/// What `configuration` amounts to on `platform`. What is found out on the way (a policy that cannot be
/// attached, thresholds that cannot hold) joins the configuration's diagnostics.
pub fn convert(configuration: &mut Configuration, platform: &Platform) -> Router {
    configuration.relate();
    let is_router = Recognition::of(configuration).dialect.is_supported();
    let tagged = configuration.interfaces.iter().filter(|one| Tags::of(one).outer.is_some()).count();
    let mut context = Context {
        configuration,
        platform,
        is_router,
        tagged,
        found: Vec::new(),
        classes_left: MOST_CLASSES,
        set_comparisons: 0,
    };
    let mut ports: Vec<Port> =
        configuration.interfaces.iter().flat_map(|interface| context.ports(interface)).collect();
    ports.extend(context.control_plane());
    context.shadowed_classes();
    context.without_effect();
    context.policy_rules(&ports);
    context.nested_percentages(&ports);
    context.mark_uses(&ports);
    let set_comparisons = context.set_comparisons;
    let mut found: BTreeSet<Diagnostic> = context.found.into_iter().collect();
    for known in &configuration.diagnostics {
        found.remove(known);
    }
    let router = Router { hostname: configuration.hostname.clone(), ports };
    configuration.set_comparisons = set_comparisons;
    check::add(configuration, found.into_iter().collect());
    router
}

/// What the conversion of every part needs.
struct Context<'a> {
    configuration: &'a Configuration,
    platform: &'a Platform,
    /// Whether it routes, as far as the configuration tells, and is no switch.
    is_router: bool,
    /// How many interfaces have a VLAN tag.
    tagged: usize,
    found: Vec<Diagnostic>,
    /// How many classes further policies may have with those inside them.
    classes_left: usize,
    /// [`Configuration::set_comparisons`].
    set_comparisons: u64,
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
        let mut wire = wire_of(interface, self.configuration, circuit, self.platform);
        if circuit.pvc.is_none() {
            wire.headers = self.header_stack(interface, &wire);
        }
        let counted_bytes = counted_bytes_of(interface, circuit, self.configuration, self.platform.rules());
        let input = PolicyConfig {
            overhead: policies.input.as_ref().map_or(0, |_| counted_bytes.classes),
            conditioners: self.input(interface, self.tag(interface, &wire), policies.input.as_mut()),
            ..PolicyConfig::default()
        };
        let overhead = policies.output.as_ref().map_or(0, |_| counted_bytes.queues);
        let output = PolicyConfig {
            overhead,
            ..self.output_side(interface, circuit, &wire, policies.output.as_mut())
        };
        self.advise_fragments(interface, &wire, &output);
        let has_known_line = has_known_line(interface, self.configuration);
        if !has_known_line && policies.output.is_some() {
            self.found.push(without_line(interface));
        }
        Port {
            name: circuit.name.clone(),
            interface: interface.name.clone(),
            line: circuit.line,
            hardware: interface.hardware,
            addresses: addresses.iter().map(|address| (address.address, address.prefix_length)).collect(),
            bandwidth: circuit.bandwidth,
            has_known_line,
            input,
            output,
            policies,
            wire,
            counted_bytes,
            shutdown: interface.shutdown.is_some(),
        }
    }

    /// The first label of classes.
    fn first_label(&self) -> Labels {
        if self.configuration.marks.labels { Labels::AboveGroups } else { Labels::FromOne }
    }

    /// The conditioners and queues of packets that leave.
    fn output_side(
        &mut self,
        interface: &Interface,
        circuit: &Circuit<'a>,
        wire: &Wire,
        mut policy: Option<&mut ResolvedPolicy>,
    ) -> PolicyConfig {
        let queueing = match policy.as_deref_mut().filter(|policy| policy.holds_queue()) {
            Some(policy) => {
                let markers = match *self.platform.rules().queue_selection {
                    QueueSelection::ArrivingMark => Markers::All,
                    QueueSelection::NewMark => Markers::Inside,
                };
                labels::assign(policy, self.first_label(), markers);
                self.queueing_of(policy, "")
            }
            None => self.without_classes(interface, circuit),
        };
        let tag = self.tag(interface, wire);
        let conditioners = self.output(interface, tag, policy, &queueing);
        PolicyConfig { conditioners, queueing: Some(queueing), ..PolicyConfig::default() }
    }
}
