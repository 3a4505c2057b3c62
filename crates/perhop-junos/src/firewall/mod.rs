//! The hierarchy `[edit firewall]`, and prefix lists.

mod filters;
mod frames;
mod from;
mod names;
mod policers;
mod prefixes;
mod then;

pub(crate) use filters::{Counters, Filter, FilterFamily, Filters, Term};
pub(crate) use from::Condition;
pub(crate) use policers::{
    ExceedAction, Hierarchical, Instance, Measure, Metered, PercentOf, Policer, Policers, ThreeColor,
};
pub(crate) use prefixes::prefix;
pub(crate) use then::{End, Then};

use crate::context::Context;
use crate::cos::ClassOfService;
use crate::tree::NodeId;

/// The filters and policers of a device.
#[derive(Clone, Debug, Default)]
pub(crate) struct Firewall {
    pub(crate) filters: Filters,
    pub(crate) policers: Policers,
}

/// Reads `[edit firewall]`.
pub(crate) fn read(context: &mut Context, cos: &ClassOfService) -> Firewall {
    let prefix_lists = prefixes::prefix_lists(context);
    let Some(node) = context.tree.child(NodeId::ROOT, "firewall") else { return Firewall::default() };
    context.modeled(node);
    let policers = policers::read(context, node, cos);
    let filters = filters::read(context, node, (cos, &policers, &prefix_lists));
    Firewall { filters, policers }
}
