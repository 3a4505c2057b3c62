//! Statements of `[edit class-of-service]` that perhop knows but does not model.

use crate::context::Context;
use crate::tree::NodeId;

/// Statements and the behavior that perhop lacks.
const NOT_MODELED: [(&str, &str); 22] = [
    ("interface-set", "hierarchical scheduling"),
    ("forwarding-class-sets", "enhanced transmission selection"),
    ("forwarding-class-map", "forwarding classes of single interfaces"),
    ("forwarding-policy", "next hops by forwarding class"),
    ("loss-priority-maps", "loss priorities of arriving codepoints"),
    ("loss-priority-rewrites", "loss priorities in departing codepoints"),
    ("translation-table", "ToS translation of IQE PICs"),
    ("fragmentation-maps", "fragments of multilink bundles"),
    ("routing-instances", "classifiers of routing instances"),
    ("system-defaults", "classifiers of all interfaces"),
    ("multi-destination", "multicast classes"),
    ("dedicated-buffer", "memory of switches"),
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
