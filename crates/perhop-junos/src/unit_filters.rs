//! The filters and policers of a unit.

use perhop_device::intent::At;

use crate::context::{Context, Word};
use crate::firewall::{FilterFamily, Firewall, Metered};
use crate::tree::NodeId;

/// The filters and policers of a unit by direction.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sides {
    pub(crate) input: Side,
    pub(crate) output: Side,
}

/// The filters and policers of one direction, in the order of the text.
#[derive(Clone, Debug, Default)]
pub(crate) struct Side {
    /// Filters by family; the filters of one family form a list.
    pub(crate) filters: Vec<(FilterFamily, At<String>)>,
    /// Policers by family; policers of frames have the family `any`.
    pub(crate) policers: Vec<(FilterFamily, At<Metered>)>,
}

/// Reads the filters of a family.
pub(crate) fn filters(
    context: &mut Context,
    (family, word): (FilterFamily, &Word),
    firewall: &Firewall,
    sides: &mut Sides,
) {
    context.modeled(word.node);
    for key in ["input", "input-list", "output", "output-list"] {
        let is_list = key.ends_with("-list");
        let names = if is_list {
            context.items(word.node, key)
        } else {
            context.value(word.node, key).into_iter().collect()
        };
        for name in names {
            for option in context.keywords(name.node) {
                if matches!(option.text.as_str(), "precedence" | "shared-name") {
                    context.not_modeled(option.node, "filters of single subscribers");
                }
            }
            if firewall.filters.get(family, &name.text).is_none() {
                context.undefined(name.node, "filter", &name.text);
                continue;
            }
            let side = if key.starts_with("input") { &mut sides.input } else { &mut sides.output };
            side.filters.push((family, At::new(name.line, name.text)));
        }
    }
}

/// Reads the policers of a family.
pub(crate) fn policers(
    context: &mut Context,
    (family, word): (FilterFamily, &Word),
    firewall: &Firewall,
    sides: &mut Sides,
) {
    context.modeled(word.node);
    for key in ["input", "output"] {
        let Some(name) = context.value(word.node, key) else { continue };
        let kind = ("policer", Metered::Plain as Kind);
        let Some(policer) = known_policer(context, &name, kind, firewall) else { continue };
        let side = if key == "input" { &mut sides.input } else { &mut sides.output };
        side.policers.push((family, policer));
    }
    if let Some(arp) = context.tree.child(word.node, "arp") {
        context.irrelevant(arp, "policers of ARP");
    }
}

/// The kind of a policer with a name.
type Kind = fn(String) -> Metered;

/// Policers of frames: their statement, the hierarchy of their definition, and their kind.
const FRAME_POLICERS: [(&str, &str, Kind); 6] = [
    ("input-policer", "policer", Metered::Plain),
    ("output-policer", "policer", Metered::Plain),
    ("input-three-color", "three-color-policer", Metered::ThreeColor),
    ("output-three-color", "three-color-policer", Metered::ThreeColor),
    ("input-hierarchical-policer", "hierarchical-policer", Metered::Hierarchical),
    ("output-hierarchical-policer", "hierarchical-policer", Metered::Hierarchical),
];

/// Reads the policers of all packets of a unit (the topic `layer2-policer-edit-interfaces-ni`).
pub(crate) fn frame_policers(context: &mut Context, node: NodeId, firewall: &Firewall, sides: &mut Sides) {
    context.modeled(node);
    for (key, hierarchy, kind) in FRAME_POLICERS {
        let Some(name) = context.value(node, key) else { continue };
        let Some(policer) = known_policer(context, &name, (hierarchy, kind), firewall) else { continue };
        let side = if key.starts_with("input") { &mut sides.input } else { &mut sides.output };
        side.policers.push((FilterFamily::Any, policer));
    }
}

/// Returns the policer `name`. Reports a name without a definition. `None` if the name has no definition, or
/// if perhop does not model the definition.
fn known_policer(
    context: &mut Context,
    name: &Word,
    (hierarchy, kind): (&str, Kind),
    firewall: &Firewall,
) -> Option<At<Metered>> {
    let policer = kind(name.text.clone());
    if firewall.policers.has(&policer) {
        return Some(At::new(name.line, policer));
    }
    match context.tree.at(NodeId::ROOT, &["firewall", hierarchy, &name.text]) {
        Some(_) => context.not_modeled(name.node, "a policer that perhop does not read"),
        None => context.undefined(name.node, &hierarchy.replace("-policer", " policer"), &name.text),
    }
    None
}
