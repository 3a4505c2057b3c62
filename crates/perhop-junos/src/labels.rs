//! The distribution of MPLS labels (LDP).

use perhop_device::{LabelDistribution, LabeledDestinations, Port};

use crate::context::Context;
use crate::interfaces::Interface;
use crate::tree::NodeId;

/// Statements of LDP that limit labels to some destinations or neighbors, or change the choice of labels.
const FILTERS: [&str; 5] = ["egress-policy", "export", "import", "deaggregate", "longest-match"];

/// Returns the distribution of labels by the device. By default, LDP announces only the loopback addresses of
/// the device (Junos MPLS User Guide, "egress-policy").
pub(crate) fn distribution(context: &Context) -> LabelDistribution {
    let line = |word: &str| {
        let node = context.tree.at(NodeId::ROOT, &["protocols", "ldp", word])?;
        Some(context.tree.line(node))
    };
    LabelDistribution {
        destinations: LabeledDestinations::Loopbacks,
        explicit_null: line("explicit-null"),
        not_computed: FILTERS.into_iter().filter_map(line).collect(),
    }
}

/// Sets the line of LDP at each unit with MPLS. Labels need the family `mpls` of the unit and the unit in
/// `protocols mpls` and `protocols ldp` (Junos MPLS User Guide, "Minimum LDP Configuration").
pub(crate) fn set_ports(context: &Context, interfaces: &[Interface], ports: &mut [Port]) {
    for interface in interfaces {
        for unit in interface.units.iter().filter(|unit| unit.mpls.is_some()) {
            let name = format!("{}.{}", interface.name, unit.number);
            let line = takes_part(context, "mpls", &name).and_then(|_| takes_part(context, "ldp", &name));
            if let Some(port) = ports.iter_mut().find(|port| port.name == name) {
                port.forwarding.ldp = line;
            }
        }
    }
}

/// Returns the line by which a unit takes part in a protocol; `None` if the unit does not take part or is
/// disabled in the protocol.
fn takes_part(context: &Context, protocol: &str, unit: &str) -> Option<usize> {
    let interface = |name: &str| context.tree.at(NodeId::ROOT, &["protocols", protocol, "interface", name]);
    let node = interface(unit).or_else(|| interface("all"))?;
    context.tree.child(node, "disable").is_none().then(|| context.tree.line(node))
}
