//! The actions of a term.

use perhop_qos::Dscp;

use crate::context::{Context, Word};
use crate::cos::{ClassOfService, CodePoints, LossPriority};
use crate::tree::NodeId;

use super::policers::{Metered, Policers};

/// The end action of a term.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum End {
    /// The packet passes the filter. This is the default without an end action.
    #[default]
    Accept,
    Discard,
    /// The packet continues with the next term.
    NextTerm,
}

/// The actions of a term.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Then {
    /// The label of the forwarding class.
    pub(crate) label: Option<u8>,
    pub(crate) loss: Option<LossPriority>,
    pub(crate) dscp: Option<Dscp>,
    pub(crate) policer: Option<Metered>,
    /// The counter of the packets of the term.
    pub(crate) count: Option<String>,
    pub(crate) end: End,
}

/// Reads `then`. A term without it accepts (Junos Routing Policies and Firewall Filters User Guide, "Firewall
/// Filter Nonterminating and Terminating Actions").
pub(super) fn read(context: &mut Context, term: NodeId, cos: &ClassOfService, policers: &Policers) -> Then {
    let mut found = Then::default();
    let Some(then) = context.tree.child(term, "then") else { return found };
    context.modeled(then);
    for word in context.keywords(then) {
        action(context, (then, &word), cos, policers, &mut found);
    }
    found
}

fn action(
    context: &mut Context,
    (then, word): (NodeId, &Word),
    cos: &ClassOfService,
    policers: &Policers,
    found: &mut Then,
) {
    match word.text.as_str() {
        "accept" => context.modeled(word.node),
        "discard" | "reject" => {
            found.end = End::Discard;
            context.tree.mark_deep(word.node, perhop_lint::LineState::Modelled, "");
        }
        "next" => {
            let is_term = context.value(then, "next").is_some_and(|value| value.text == "term");
            found.end = if is_term { End::NextTerm } else { found.end };
        }
        "forwarding-class" => {
            let Some(value) = context.value(then, "forwarding-class") else { return };
            found.label = cos.classes.label(&value.text);
            if found.label.is_none() {
                context.undefined(value.node, "forwarding class", &value.text);
            }
        }
        "loss-priority" => {
            found.loss = context.parsed(then, "loss-priority", LossPriority::named).map(|at| at.value);
        }
        "dscp" | "traffic-class" => {
            let parse = |text: &str| {
                let decimal = || text.parse::<u8>().ok();
                cos.aliases.parse(CodePoints::Dscp, text).or_else(decimal).and_then(Dscp::new)
            };
            found.dscp = context.parsed(then, &word.text, parse).map(|at| at.value);
        }
        "policer" => {
            let Some(value) = context.value(then, "policer") else { return };
            if policers.plain.contains_key(&value.text) {
                found.policer = Some(Metered::Plain(value.text));
            } else if context.tree.at(NodeId::ROOT, &["firewall", "policer", &value.text]).is_none() {
                context.undefined(value.node, "policer", &value.text);
            }
        }
        "three-color-policer" => three_color(context, word, policers, found),
        "hierarchical-policer" => hierarchical(context, (then, word), policers, found),
        "enhanced-hierarchical-policer" => context.not_modeled(word.node, "four levels of policers"),
        "count" => found.count = context.value(then, "count").map(|value| value.text),
        "log"
        | "syslog"
        | "sample"
        | "service-accounting"
        | "service-accounting-deferred"
        | "port-mirror"
        | "port-mirror-instance"
        | "analyzer"
        | "packet-mode"
        | "traffic-class-count" => {
            context.irrelevant(word.node, "logs and copies");
        }
        "dont-fragment" => context.not_modeled(word.node, "fragments"),
        "routing-instance" | "next-ip" | "next-ip6" | "next-interface" | "next-hop-group"
        | "prefix-action" | "load-balance" | "topology" | "encapsulate" | "decapsulate"
        | "logical-system" | "slice" | "service-filter-hit" | "interface" | "policy-map" | "ipsec-sa"
        | "fc-prio" | "vlan" | "traffic-type" | "exp" | "ieee-802.1" => {
            context.not_modeled(word.node, "other next hops, slices and marks of the link");
        }
        _ => {}
    }
}

fn three_color(context: &mut Context, word: &Word, policers: &Policers, found: &mut Then) {
    context.modeled(word.node);
    for kind in ["single-rate", "two-rate"] {
        let Some(name) = context.value(word.node, kind) else { continue };
        if policers.three_color.contains_key(&name.text) {
            found.policer = Some(Metered::ThreeColor(name.text));
        } else if context.tree.at(NodeId::ROOT, &["firewall", "three-color-policer", &name.text]).is_none() {
            context.undefined(name.node, "three-color policer", &name.text);
        }
    }
}

fn hierarchical(context: &mut Context, (then, word): (NodeId, &Word), policers: &Policers, found: &mut Then) {
    let Some(value) = context.value(then, &word.text) else { return };
    if policers.hierarchical.contains_key(&value.text) {
        found.policer = Some(Metered::Hierarchical(value.text));
    } else if context.tree.at(NodeId::ROOT, &["firewall", &word.text, &value.text]).is_none() {
        context.undefined(value.node, "hierarchical policer", &value.text);
    }
}
