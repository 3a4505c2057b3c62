//! Selection of the policies attached to interfaces and circuits.

use perhop_device::intent::Policy;
use perhop_device::lower::Reference;
use perhop_device::profile::{Heeded, PeerLimit};
use perhop_lint::Diagnostic;

use super::context::Context;
use super::diagnostics::refusals::Attachment;
use super::wire::{Circuit, rate_below};
use crate::ast::{Direction, Interface, PolicyClass, PolicyMap, ServicePolicies};
use crate::rules;

/// The name of an attached policy, and the line that attaches it.
pub(super) type Named<'a> = (&'a str, usize);

impl<'a> Context<'a> {
    /// Returns the input policy, if the router attaches one.
    pub(super) fn input_policy(
        &mut self,
        interface: &'a Interface,
        circuit: &Circuit<'a>,
    ) -> Option<(Policy, Reference)> {
        let (name, line) = self.attached(interface, circuit, Direction::Input)?;
        let policy = self.configuration.policy_maps.get(name)?;
        let is_attached = self.may_arrive_by(policy, line);
        is_attached.then(|| (self.intent_of(policy, circuit.tags), self.reference(interface, circuit)))
    }

    /// Whether the router attaches `policy` as input policy.
    pub(super) fn may_arrive_by(&mut self, policy: &PolicyMap, line: usize) -> bool {
        if !self.is_of_extent(policy, line) {
            return false;
        }
        let queueing = self.queueing_class(policy, 0);
        let refusal = queueing.map(|(holder, class)| {
            Diagnostic::new(
                &rules::QUEUEING_ON_INPUT,
                line,
                format!(
                    "policy {} queues packets (class {}, line {}), but an input policy cannot queue",
                    holder.name, class.name, class.line
                ),
                "the router refuses the line: no policy applies here",
            )
        });
        let is_attached = refusal.is_none();
        self.found.extend(refusal);
        is_attached
    }

    /// Returns the first class of `policy`, or of a policy nested in it, that queues, and the policy of that
    /// class.
    pub(super) fn queueing_class<'p>(
        &'p self,
        policy: &'p PolicyMap,
        depth: usize,
    ) -> Option<(&'p PolicyMap, &'p PolicyClass)> {
        let own = policy.classes.iter().find(|class| class.queues()).map(|class| (policy, class));
        let inside = || {
            let names = policy.classes.iter().filter_map(|class| class.service_policy.as_ref());
            let mut inner = names.filter_map(|at| self.configuration.policy_maps.get(&at.value));
            inner.find_map(|policy| self.queueing_class(policy, depth + 1))
        };
        if self.may_nest(depth) { own.or_else(inside) } else { own }
    }

    /// Returns the output policy, if the router attaches one.
    pub(super) fn output_policy(
        &mut self,
        interface: &'a Interface,
        circuit: &Circuit<'a>,
    ) -> Option<(Policy, Reference)> {
        let of_peers = circuit.peer.map(|peer| (peer.policy.as_str(), peer.line));
        let (name, line) = of_peers.or_else(|| self.attached(interface, circuit, Direction::Output))?;
        let policy = self.configuration.policy_maps.get(name)?;
        let reference = self.reference(interface, circuit);
        if !self.is_of_extent(policy, line) {
            return None;
        }
        let mut intent = self.intent_of(policy, circuit.tags);
        let attachment = Attachment { policy, line, intent: &intent, reference };
        if !self.may_be_attached(interface, circuit, attachment) {
            return None;
        }
        self.hide(interface, line, &mut intent);
        Some((intent, reference))
    }

    /// Returns the reference rates for the numbers of a policy on `circuit`.
    fn reference(&self, interface: &Interface, circuit: &Circuit) -> Reference {
        let rules = self.platform.rules();
        let written = interface.max_reserved_bandwidth.map(|percent| percent.value);
        let written = written.filter(|_| *rules.reservable_command == Heeded::Heeded);
        let percent = written.unwrap_or(self.platform.reservable_percent);
        let is_per_tunnel =
            circuit.peer.is_some() && matches!(*rules.peer_queue_limit, PeerLimit::ClassTime { .. });
        let below = rate_below(interface, self.configuration);
        Reference { below, is_per_tunnel, ..Reference::top(circuit.bandwidth, percent) }
    }

    /// Returns the policy attached to a circuit, else that of its interface; a sub-interface inherits the
    /// policy of its parent.
    pub(super) fn attached(
        &mut self,
        interface: &'a Interface,
        circuit: &Circuit<'a>,
        direction: Direction,
    ) -> Option<Named<'a>> {
        let choose = match direction {
            Direction::Input => input,
            Direction::Output => output,
        };
        let own = circuit.policies.and_then(choose);
        let own = own.or_else(|| choose(&interface.service_policies));
        own.or_else(|| {
            let parent = interface.parent.as_ref()?;
            let policy = choose(&self.configuration.interfaces.get(parent)?.service_policies)?;
            self.shared(parent, policy);
            Some(policy)
        })
    }

    /// Reports several sub-interfaces that share one policy.
    fn shared(&mut self, parent: &str, (policy, line): Named) {
        if self.configuration.parts_of(parent) > 1 {
            self.found.push(Diagnostic::new(
                &rules::POLICY_SHARED_BY_SUBINTERFACES,
                line,
                format!("policy {policy} is shared by the sub-interfaces of {parent}"),
                "the router has one set of queues and policers for all of them; perhop gives each its own",
            ));
        }
    }
}

fn input(policies: &ServicePolicies) -> Option<Named<'_>> {
    policies.input.as_ref().map(|at| (at.value.as_str(), at.line))
}

fn output(policies: &ServicePolicies) -> Option<Named<'_>> {
    policies.output.as_ref().map(|at| (at.value.as_str(), at.line))
}
