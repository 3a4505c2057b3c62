//! Selection of the policies attached to interfaces and circuits.

use perhop_device::intent::Policy;
use perhop_device::lower::Reference;
use perhop_device::profile::{Acceptance, Heeded, PeerLimit};
use perhop_lint::Diagnostic;

use super::context::Context;
use super::diagnostics::refusals::Attachment;
use super::wire::{Circuit, rate_below};
use crate::ast::{At, Configuration, Direction, Interface, PolicyClass, PolicyMap, ServicePolicies};
use crate::platform::SwitchHardware;
use crate::{mls, rules};

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
        is_attached.then(|| {
            let mut intent = self.intent_of(policy, circuit.tags);
            if self.trusts_by_port(interface) {
                mls::add_to_policy(self.configuration, interface, policy, &mut intent);
            }
            (intent, self.reference(interface, circuit))
        })
    }

    /// Returns the policy by which a port of a switch marks arriving packets if the port has no input policy.
    pub(super) fn trust_policy(
        &self,
        interface: &Interface,
        circuit: &Circuit,
    ) -> Option<(Policy, Reference)> {
        let policy =
            mls::policy_of_port(self.configuration, interface).filter(|_| self.trusts_by_port(interface))?;
        Some((policy, self.reference(interface, circuit)))
    }

    /// Whether the codepoint of arriving packets depends on the trust of the port.
    fn trusts_by_port(&self, interface: &Interface) -> bool {
        self.platform.switch() == Some(SwitchHardware::Mls) && mls::is_switch_port(interface)
    }

    /// Whether the router accepts `policy` as an input policy.
    pub(super) fn may_arrive_by(&mut self, policy: &PolicyMap, line: usize) -> bool {
        if !self.is_of_extent(policy, line) {
            return false;
        }
        let queueing = self.queueing_class(policy, 0);
        let is_accepted = *self.platform.rules().input_queues == Acceptance::Accepted;
        let ignored = queueing.filter(|_| is_accepted).map(|(holder, class)| {
            Diagnostic::new(
                &rules::INPUT_QUEUES_IGNORED,
                line,
                format!(
                    "policy {} queues arriving packets (class {}, line {})",
                    holder.name, class.name, class.line
                ),
                "the router queues these packets before it forwards them; perhop applies only the marks and \
                 policers of the policy",
            )
        });
        let refusal = queueing.filter(|_| !is_accepted).map(|(holder, class)| {
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
        let refusal = refusal.or_else(|| self.refused_input(policy, line));
        let is_attached = refusal.is_none();
        self.found.extend(refusal.into_iter().chain(ignored));
        is_attached
    }

    /// Returns the first class that queues packets, in `policy` or in a nested policy, and the policy of this
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
        if *self.platform.rules().output_policy == Acceptance::Refused {
            self.found.push(Diagnostic::new(
                &rules::OUTPUT_POLICY_REFUSED,
                line,
                format!("policy {name} is attached on output"),
                "the switch refuses the line: policies apply to arriving packets, and srr-queue bandwidth \
                 shapes and shares",
            ));
            return None;
        }
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

    /// Returns the output policy that marks packets in front of the queueing policy, if both policies are
    /// attached.
    pub(super) fn marking_policy(
        &mut self,
        interface: &'a Interface,
        circuit: &Circuit<'a>,
    ) -> Option<(Policy, Reference)> {
        let policies = circuit.policies.unwrap_or(&interface.service_policies);
        let marking = policies.output_policies(self.configuration)?.marking?;
        let policy = self.configuration.policy_maps.get(&marking.value)?;
        if !self.is_of_extent(policy, marking.line) {
            return None;
        }
        if let Some(refused) = self.refused_output(interface, policy, marking.line) {
            self.found.push(refused);
            return None;
        }
        if self.queueing_class(policy, 0).is_some() {
            self.found.push(Diagnostic::new(
                &rules::SECOND_POLICY,
                marking.line,
                format!(
                    "policy {} has queueing commands, but another output policy of the interface also has",
                    policy.name
                ),
                "the router refuses the line: only one of two output policies can queue; the other policy \
                 can only mark",
            ));
            return None;
        }
        Some((self.intent_of(policy, circuit.tags), self.reference(interface, circuit)))
    }

    /// Returns the rates that percentages in a policy on `circuit` refer to.
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

    /// Returns the policy attached to a circuit, otherwise the policy of its interface; a sub-interface
    /// inherits the policy of its parent.
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
        let of_two = circuit.policies.unwrap_or(&interface.service_policies);
        let of_two = of_two.output_policies(self.configuration).filter(|_| direction == Direction::Output);
        if let Some(queueing) = of_two.and_then(|policies| policies.queueing) {
            return Some((queueing.value.as_str(), queueing.line));
        }
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
                "the router has one set of queues and policers for all these sub-interfaces; perhop has a \
                 separate set for each",
            ));
        }
    }
}

/// The two output policies of an interface.
#[derive(Clone, Copy)]
struct OutputPolicies<'a> {
    queueing: Option<&'a At<String>>,
    marking: Option<&'a At<String>>,
}

impl ServicePolicies {
    /// Returns the queueing policy and the marking policy of an interface with two output policies; `None` if
    /// the interface has at most one output policy.
    fn output_policies(&self, configuration: &Configuration) -> Option<OutputPolicies<'_>> {
        let (first, second) = (self.output.as_ref()?, self.second_output.as_ref()?);
        let queues = |at: &At<String>| {
            let policy = configuration.policy_maps.get(&at.value);
            policy.is_some_and(|policy| policy.classes.iter().any(PolicyClass::queues))
        };
        let (queueing, marking) =
            if !queues(first) && queues(second) { (second, first) } else { (first, second) };
        Some(OutputPolicies { queueing: Some(queueing), marking: Some(marking) })
    }
}

fn input(policies: &ServicePolicies) -> Option<Named<'_>> {
    policies.input.as_ref().map(|at| (at.value.as_str(), at.line))
}

fn output(policies: &ServicePolicies) -> Option<Named<'_>> {
    policies.output.as_ref().map(|at| (at.value.as_str(), at.line))
}
