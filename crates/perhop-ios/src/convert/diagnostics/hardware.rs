//! Restrictions of hardware with IOS XR: fields, policers and classes of output policies, marks of input
//! policies, sub-interfaces and bundles.

use perhop_device::profile::{Acceptance, OutputMatch, SubinterfaceQueues};
use perhop_lint::Diagnostic;

use crate::ast::{Criterion, Field, HardwareProfile, Interface, PolicyClass, PolicyMap};
use crate::convert::context::Context;
use crate::grammar::Grammar;
use crate::rules;

const REFUSED: &str = "the router refuses the line at the commit: no policy applies here";

impl Context<'_> {
    /// Returns the reason why the hardware refuses an output policy of `interface`.
    pub(in crate::convert) fn refused_output(
        &self,
        interface: &Interface,
        policy: &PolicyMap,
        line: usize,
    ) -> Option<Diagnostic> {
        let known: Vec<&PolicyClass> = self.classes_inside(policy, 0);
        self.matches_header(policy, &known, line)
            .or_else(|| self.polices_output(policy, &known, line))
            .or_else(|| self.has_too_many_classes(policy, line))
            .or_else(|| self.on_subinterface(interface, policy, line))
    }

    /// Returns the classes with a defined class-map in `policy` and in nested policies.
    fn classes_inside<'p>(&'p self, policy: &'p PolicyMap, depth: usize) -> Vec<&'p PolicyClass> {
        let mut found = self.known(policy);
        if self.may_nest(depth) {
            let names = policy.classes.iter().filter_map(|class| class.service_policy.as_ref());
            let inner = names.filter_map(|at| self.configuration.policy_maps.get(&at.value));
            found.extend(inner.flat_map(|policy| self.classes_inside(policy, depth + 1)));
        }
        found
    }

    fn matches_header(&self, policy: &PolicyMap, known: &[&PolicyClass], line: usize) -> Option<Diagnostic> {
        if *self.platform.rules().output_match == OutputMatch::AnyField {
            return None;
        }
        let statement = known.iter().find_map(|class| {
            let map = self.configuration.class_maps.get(&class.name)?;
            let mut statements = map.statements.iter();
            statements.find(|statement| !is_label(&statement.criterion)).map(|statement| (*class, statement))
        });
        let (class, statement) = statement?;
        Some(Diagnostic::new(
            &rules::OUTPUT_MATCH_REFUSED,
            line,
            format!(
                "class {} of output policy {} matches a field of the packet (line {})",
                class.name, policy.name, statement.line
            ),
            "the router refuses the line: output policies match traffic-class, qos-group and discard-class; \
             set one of them in an input policy",
        ))
    }

    fn polices_output(&self, policy: &PolicyMap, known: &[&PolicyClass], line: usize) -> Option<Diagnostic> {
        if *self.platform.rules().output_policer == Acceptance::Accepted {
            return None;
        }
        let polices = |class: &&&PolicyClass| class.police.is_some() || class.police_packets.is_some();
        let class = known.iter().find(polices)?;
        Some(Diagnostic::new(
            &rules::OUTPUT_POLICER_REFUSED,
            line,
            format!("class {} of output policy {} has a policer", class.name, policy.name),
            "the router refuses the line: it polices arriving packets only; use shape average",
        ))
    }

    fn has_too_many_classes(&self, policy: &PolicyMap, line: usize) -> Option<Diagnostic> {
        let most = *self.platform.rules().output_classes;
        let count = self.known(policy).len() as u64;
        (most > 0 && count > most && self.queueing_class(policy, 0).is_some()).then(|| {
            Diagnostic::new(
                &rules::OUTPUT_CLASSES,
                line,
                format!("output policy {} has {count} classes, but a port has {most} queues", policy.name),
                REFUSED,
            )
        })
    }

    fn on_subinterface(&self, interface: &Interface, policy: &PolicyMap, line: usize) -> Option<Diagnostic> {
        let needs_mode = *self.platform.rules().subinterface_queues == SubinterfaceQueues::InHardwareMode;
        let has_mode = self.configuration.hardware_profile(HardwareProfile::Hierarchy).is_some();
        let is_own = interface.service_policies.output.as_ref().is_some_and(|at| at.line == line);
        (needs_mode && !has_mode && is_own && interface.parent.is_some()).then(|| {
            Diagnostic::new(
                &rules::QUEUEING_ON_SUBINTERFACE,
                line,
                format!(
                    "output policy {} on {} needs hqos-enable, which is not configured",
                    policy.name, interface.name
                ),
                "the router refuses the line at the commit: configure hw-module profile qos hqos-enable, and \
                 reload",
            )
        })
    }

    /// Returns the reason why the hardware refuses an input policy.
    pub(in crate::convert) fn refused_input(&self, policy: &PolicyMap, line: usize) -> Option<Diagnostic> {
        if *self.platform.rules().group_with_dscp == Acceptance::Accepted {
            return None;
        }
        let known = self.classes_inside(policy, 0);
        // Cisco's converged SDN transport design sets groups in some classes without this mode, and sets the
        // codepoint and the group to zero in class-default. Zeros are therefore accepted.
        let sets = |class: &PolicyClass, field| {
            class.marks.iter().any(|at| at.value.field() == Some(field) && !at.value.is_zero())
        };
        let sets_dscp = |class: &PolicyClass| sets(class, Field::Dscp) || sets(class, Field::Precedence);
        let by_class = known.iter().find(|class| sets(class, Field::QosGroup) && sets_dscp(class));
        let has_mode = self.configuration.hardware_profile(HardwareProfile::GroupWithDscp).is_some();
        let (with_group, with_dscp) = (
            known.iter().find(|class| sets(class, Field::QosGroup)),
            known.iter().find(|class| sets_dscp(class)),
        );
        let by_policy = with_group.zip(with_dscp).filter(|_| !has_mode);
        let (first, second, help) = match (by_class, by_policy) {
            (Some(class), _) => {
                (class, class, "set the codepoint in an output policy that matches the group")
            }
            (None, Some((group, dscp))) => {
                (group, dscp, "hw-module profile qos qosg-dscp-mark-enable allows it")
            }
            (None, None) => return None,
        };
        Some(Diagnostic::new(
            &rules::GROUP_WITH_DSCP,
            line,
            format!(
                "input policy {} sets a qos-group (class {}) and a codepoint (class {})",
                policy.name, first.name, second.name
            ),
            format!("the router refuses the line: {help}"),
        ))
    }

    /// Reports policies on bundles of IOS XR: the router applies such a policy to each member separately.
    pub(in crate::convert) fn copied_to_members(&mut self) {
        if self.configuration.grammar == Grammar::Ios {
            return;
        }
        for interface in self.configuration.interfaces.iter() {
            let members = self.members_of(interface);
            let policies = &interface.service_policies;
            let attached = [&policies.input, &policies.output].into_iter().flatten();
            let absolute = attached.filter(|at| {
                let policy = self.configuration.policy_maps.get(&at.value);
                policy.is_some_and(|policy| {
                    self.classes_inside(policy, 0).iter().any(|class| is_absolute(class))
                })
            });
            let found = absolute.filter(|_| members > 1).map(|at| {
                Diagnostic::new(
                    &rules::BUNDLE_POLICY_COPIED,
                    at.line,
                    format!(
                        "policy {} has absolute rates on {} with {members} members",
                        at.value, interface.name
                    ),
                    "the router applies the policy to each member; perhop applies it once to the \
                     whole bundle",
                )
            });
            self.found.extend(found.collect::<Vec<_>>());
        }
    }

    /// Returns the number of members of a bundle that are up.
    fn members_of(&self, interface: &Interface) -> usize {
        let prefix = self.configuration.bundle_name();
        let number =
            interface.name.strip_prefix(prefix).map(|number| number.split('.').next().unwrap_or(number));
        let Some(number) = number.and_then(|number| number.parse::<u64>().ok()) else { return 0 };
        let is_member = |other: &&Interface| {
            other.shutdown.is_none() && other.channel_group.is_some_and(|group| group.value == number)
        };
        self.configuration.interfaces.iter().filter(is_member).count()
    }
}

fn is_label(criterion: &Criterion) -> bool {
    matches!(
        criterion,
        Criterion::TrafficClass(_) | Criterion::QosGroup(_) | Criterion::DiscardClass(_) | Criterion::Any
    )
}

/// Whether a class has a rate that is not a percentage of the interface's rate.
fn is_absolute(class: &PolicyClass) -> bool {
    use crate::ast::{Bandwidth, TrafficRate};
    let is_rate = |rate: TrafficRate| matches!(rate, TrafficRate::BitsPerSecond(_));
    class.police.as_ref().is_some_and(|at| is_rate(at.value.rate))
        || class.police_packets.is_some()
        || class.shape.as_ref().is_some_and(|at| is_rate(at.value.rate))
        || class
            .bandwidth
            .is_some_and(|at| matches!(at.value, Bandwidth::Kilobits(_) | Bandwidth::BitsPerSecond(_)))
}
