//! Statements of `[edit class-of-service]` that perhop knows but does not model.

use perhop_device::intent::At;

use super::classifiers::Classifiers;
use super::code_points::CodePoints;
use crate::context::Context;
use crate::tree::NodeId;

/// Statements and the behavior that perhop lacks.
const NOT_MODELED: [(&str, &str); 20] = [
    ("interface-set", "hierarchical scheduling"),
    ("forwarding-class-sets", "enhanced transmission selection"),
    ("forwarding-class-map", "forwarding classes of single interfaces"),
    ("forwarding-policy", "next hops by forwarding class"),
    ("loss-priority-maps", "loss priorities of arriving codepoints"),
    ("loss-priority-rewrites", "loss priorities in departing codepoints"),
    ("translation-table", "ToS translation of IQE PICs"),
    ("fragmentation-maps", "fragments of multilink bundles"),
    ("routing-instances", "classifiers of routing instances"),
    ("multi-destination", "multicast classes"),
    ("dedicated-buffer-profile", "memory of switches"),
    ("congestion-notification-profile", "priority flow control"),
    ("congestion-notification-profiles", "priority flow control"),
    ("restricted-queues", "ports with four queues"),
    ("input-priority-map", "priorities of arriving packets"),
    ("tri-color", "loss priorities of old line cards"),
    ("adjustment-control-profiles", "dynamic bandwidth adjustment"),
    ("application-traffic-control", "rate limiters of applications"),
    ("strict-priority-scheduler", "pure priority scheduling"),
    ("host-outbound-traffic", "the class and the marks of packets of the device itself"),
];

/// Statements without effect on transit packets.
const IRRELEVANT: [(&str, &str); 2] = [("traceoptions", "tracing"), ("copy-plp-all", "mirrored packets")];

/// Reads `system-defaults classifiers exp`.
pub(super) fn system_exp(
    context: &mut Context,
    cos: NodeId,
    classifiers: &Classifiers,
) -> Option<At<String>> {
    let defaults = context.tree.child(cos, "system-defaults")?;
    context.modeled(defaults);
    let node = context.tree.child(defaults, "classifiers")?;
    context.modeled(node);
    for other in context.keywords(node).into_iter().filter(|word| word.text != "exp") {
        context.not_modeled(other.node, "other classifiers of all interfaces");
    }
    let name = context.value(node, "exp")?;
    if !classifiers.exists(CodePoints::Exp, &name.text) {
        context.undefined(name.node, "classifier", &name.text);
        return None;
    }
    Some(At::new(name.line, name.text))
}

/// Marks the statements.
pub(super) fn mark(context: &mut Context, cos: NodeId) {
    for (word, note) in NOT_MODELED {
        if let Some(node) = context.tree.child(cos, word) {
            context.not_modeled(node, note);
        }
    }
    for (word, note) in IRRELEVANT {
        if let Some(node) = context.tree.child(cos, word) {
            context.irrelevant(node, note);
        }
    }
}
