//! [`with_marks`]: adds the link headers whose marks classes match.

use perhop_qos::classifier::MatchConfig;
use perhop_qos::policy::PolicyConfig;

use crate::network::{Carried, CosOrigin, Network};

/// Adds tags or labels to the link before the router, if classes of the router match their marks. Returns the
/// network.
///
/// Packets that leave with a label need not enter with a label, because the router imposes the label.
pub(crate) fn with_marks(mut network: Network<'_>) -> Network<'_> {
    let has_exp = |condition: &MatchConfig| condition.mpls_exp.is_some();
    let has_cos = |condition: &MatchConfig| condition.cos.is_some();
    if output_has_condition(&network, &has_exp) && network.may_leave_labeled() {
        network.leaves_labeled = true;
        let words = "packets leave with an MPLS label whose EXP is their precedence, unless a policy sets it";
        network.assumed.push(words.to_owned());
    }
    let matches_exp = policy_has_condition(network.input(), &has_exp)
        || output_has_condition(&network, &has_exp) && !network.leaves_labeled;
    let matches_cos =
        policy_has_condition(network.input(), &has_cos) || output_has_condition(&network, &has_cos);
    let kinds = [
        (Carried::Mpls, "an MPLS label whose EXP", matches_exp),
        (Carried::Vlan, "a VLAN tag whose CoS", matches_cos),
    ];
    for (header, words, is_asked) in kinds {
        if !is_asked {
            continue;
        }
        network.carried.push(header);
        if network.enters_with(header) {
            if header == Carried::Vlan {
                network.cos = CosOrigin::Precedence;
            }
            network.assumed.push(format!("packets enter with {words} is their precedence"));
        }
    }
    network
}

/// Whether a class or a stage of the output has a condition with a property.
fn output_has_condition(network: &Network, property: &dyn Fn(&MatchConfig) -> bool) -> bool {
    let mut of_queues = network.leaves.iter().flat_map(|leaf| &leaf.matches);
    policy_has_condition(network.output(), property)
        || of_queues.any(|condition| has_property(condition, property))
}

/// Whether a stage of a policy has a condition with a property.
fn policy_has_condition(policy: &PolicyConfig, property: &dyn Fn(&MatchConfig) -> bool) -> bool {
    let mut conditions = policy.conditioners.iter().filter_map(|stage| stage.matches.as_ref());
    conditions.any(|condition| has_property(condition, property))
}

/// Whether a condition, or a part of it, has a property.
pub(crate) fn has_property(condition: &MatchConfig, property: &dyn Fn(&MatchConfig) -> bool) -> bool {
    let mut inner = condition.all.iter().chain(&condition.any).flatten().chain(condition.not.as_deref());
    property(condition) || inner.any(|condition| has_property(condition, property))
}
