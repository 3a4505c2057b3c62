//! Conversion of one port: the Intent of the attached policies, the wire, and the lowered policies.

use perhop_device::intent::{Policy, PortIntent};
use perhop_device::lower::{Lowered, PortLinks, Reference, ResolvedPolicy, Side, SidePath, lower};
use perhop_device::{Attachments, CountedBytes, InterfaceAddress, Port, PortForwarding};

use super::context::Context;
use super::diagnostics::fragments::advise_fragments;
use super::diagnostics::hold_queue::unused_hold_queue;
use super::diagnostics::link_marks::Tag;
use super::diagnostics::remarks::diagnostic;
use super::diagnostics::tunnels::without_line;
use super::intent::plain_queue::plain_queue;
use super::wire::{Circuit, circuit_headers, counted_bytes_of, has_known_line, printed_bytes, wire_of};
use crate::ast::{Direction, Interface, Rank};
use crate::nexus;

/// A port, and its policies with resolved numbers.
pub(super) struct ConvertedPort {
    pub(super) port: Port,
    /// The input policy; `None` also if the router refuses the policy.
    pub(super) input: Option<ResolvedPolicy>,
    /// The output policy.
    pub(super) output: Option<ResolvedPolicy>,
}

impl From<ConvertedPort> for Port {
    fn from(converted: ConvertedPort) -> Port {
        let ConvertedPort { port, input, output } = converted;
        let attachments = Attachments { input: input.map(Into::into), output: output.map(Into::into) };
        Port { attachments: Some(attachments), ..port }
    }
}

/// The input policy of a port. Without an input policy, `trust` is the policy that applies the trust of the
/// port.
#[derive(Clone, Copy)]
struct PoliciesOfArrival<'a> {
    policy: Option<&'a (Policy, Reference)>,
    trust: Option<&'a (Policy, Reference)>,
}

impl<'a> Context<'a> {
    /// Returns the ports of `interface`: its circuits, or the interface itself.
    pub(super) fn ports(&mut self, interface: &'a Interface) -> Vec<ConvertedPort> {
        let circuits = Circuit::of_interface(interface, self.configuration);
        circuits.iter().map(|circuit| self.port(interface, circuit)).collect()
    }

    fn port(&mut self, interface: &'a Interface, circuit: &Circuit<'a>) -> ConvertedPort {
        let input = self.input_policy(interface, circuit);
        let output = self.output_policy(interface, circuit);
        let forwarding = PortForwarding {
            input_line: self.attachment_line(interface, circuit, Direction::Input),
            output_line: self.attachment_line(interface, circuit, Direction::Output),
            ..self.port_forwarding(interface, circuit.bandwidth)
        };
        let mut wire = wire_of(interface, self.configuration, circuit, self.platform);
        wire.headers = match circuit.pvc {
            Some(pvc) => self.stack_on(interface, &circuit_headers(interface, pvc), &wire),
            None => self.header_stack(interface, &wire),
        };
        let rules = self.platform.rules();
        let counted_bytes = counted_bytes_of(interface, circuit, &wire.headers, self.configuration, rules);
        let tag = self.tag(interface, &wire);
        let trust = input.is_none().then(|| self.trust_policy(interface, circuit)).flatten();
        let policies = PoliciesOfArrival { policy: input.as_ref(), trust: trust.as_ref() };
        let arriving = self.arriving(interface, policies, tag, counted_bytes);
        let departing = self.departing(interface, circuit, output.as_ref(), tag, counted_bytes);
        let policies =
            |side: Option<(Policy, Reference)>| side.into_iter().map(|(policy, _)| policy).collect();
        let intent = PortIntent { input: policies(input), output: policies(output) };
        self.found.extend(advise_fragments(interface, self.configuration, &wire, &departing.config));
        self.advise_hold_queue(interface, circuit, &departing);
        let assumed_rate = wire.rate.take_if(|_| nexus::has_assumed_rate(self.configuration, interface));
        let has_known_line = has_known_line(interface, self.configuration);
        if !has_known_line && departing.policy.is_some() {
            self.found.push(without_line(interface));
        }
        let port = Port {
            interface: interface.name.clone(),
            kind: Some(interface.hardware),
            addresses: addresses(interface),
            bandwidth: Some(circuit.bandwidth),
            assumed_rate,
            has_known_line,
            input: arriving.config,
            output: departing.config,
            intent,
            links: PortLinks { input: arriving.links, output: departing.links },
            wire,
            counted_bytes: Some(printed_bytes(counted_bytes, rules)),
            unmodeled_queues: self.unmodeled_queues(&interface.name),
            shutdown: interface.shutdown.is_some(),
            forwarding,
            ..Port::new(&circuit.name, circuit.line)
        };
        ConvertedPort { port, input: arriving.policy, output: departing.policy }
    }

    /// Reports a `hold-queue` of the interface if the attached policy has its own queues.
    fn advise_hold_queue(&mut self, interface: &'a Interface, circuit: &Circuit<'a>, departing: &Lowered) {
        let hold = circuit.pvc.and_then(|pvc| pvc.hold_queue).or(interface.hold_queue);
        let Some((name, _)) = self.attached(interface, circuit, Direction::Output) else { return };
        let policy = self.configuration.policy_maps.get(name).filter(|_| departing.policy.is_some());
        let queues = policy.is_some_and(|policy| self.queueing_class(policy, 0).is_some());
        if let Some(hold) = hold.filter(|_| queues) {
            self.found.push(unused_hold_queue(hold, name, &departing.config));
        }
    }

    /// Lowers the input policy to conditioners.
    fn arriving(
        &mut self,
        interface: &Interface,
        PoliciesOfArrival { policy, trust }: PoliciesOfArrival,
        tag: Tag,
        counted_bytes: CountedBytes,
    ) -> Lowered {
        let limiters = self.limiters(interface, Direction::Input);
        let side = Side {
            path: SidePath::Arrival,
            policy: policy.map(|(policy, reference)| (policy, *reference)),
            before: trust.map(|(policy, reference)| (policy, *reference)),
            limiters: &limiters,
            markings: self.markings(Direction::Input),
            labels: self.first_label(),
            overhead: counted_bytes.classes,
        };
        self.lowered(interface, &side, tag)
    }

    /// Lowers the output policy to conditioners and queues.
    fn departing(
        &mut self,
        interface: &'a Interface,
        circuit: &Circuit<'a>,
        policy: Option<&(Policy, Reference)>,
        tag: Tag,
        counted_bytes: CountedBytes,
    ) -> Lowered {
        let limiters = self.limiters(interface, Direction::Output);
        let plain = plain_queue(interface, circuit);
        let marking = self.marking_policy(interface, circuit);
        let side = Side {
            path: SidePath::Departure { plain: &plain, has_new_tag: tag == Tag::OneOfSeveral },
            policy: policy.map(|(policy, reference)| (policy, *reference)),
            before: marking.as_ref().map(|(policy, reference)| (policy, *reference)),
            limiters: &limiters,
            markings: self.markings(Direction::Output),
            labels: self.first_label(),
            overhead: counted_bytes.queues,
        };
        self.lowered(interface, &side, tag)
    }

    fn lowered(&mut self, interface: &Interface, side: &Side, tag: Tag) -> Lowered {
        if let Some((policy, _)) = side.policy {
            self.misplaced(policy, side.markings, tag);
        }
        if let Some((policy, _)) = side.before {
            self.misplaced(policy, side.markings, tag);
        }
        let lowered = lower(side, self.target(&interface.name));
        let limiter = interface.rate_limits.first().map_or(interface.line, |limit| limit.line);
        let remarks = lowered.remarks.iter();
        self.found.extend(remarks.map(|remark| diagnostic(remark, limiter)));
        lowered
    }
}

/// Returns the IPv4 addresses of an interface, the primary one first.
fn addresses(interface: &Interface) -> Vec<InterfaceAddress> {
    let mut addresses = interface.addresses.clone();
    addresses.sort_by_key(|address| address.rank == Rank::Secondary);
    let address = |own: &crate::ast::InterfaceAddress| InterfaceAddress {
        line: own.line,
        address: own.address.into(),
        prefix_length: own.prefix_length,
    };
    addresses.iter().map(address).collect()
}
