//! Filters: terms in order.

use std::collections::BTreeMap;

use super::from::{self, Condition};
use super::policers::Policers;
use super::prefixes::PrefixLists;
use super::then::{self, Then};
use crate::context::{Context, Word};
use crate::cos::ClassOfService;
use crate::tree::NodeId;

/// The family of a filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum FilterFamily {
    Inet,
    Inet6,
    Any,
    Mpls,
    Bridge,
    Ccc,
    EthernetSwitching,
    Vpls,
}

impl FilterFamily {
    pub(crate) const ALL: [FilterFamily; 8] = [
        FilterFamily::Inet,
        FilterFamily::Inet6,
        FilterFamily::Mpls,
        FilterFamily::Bridge,
        FilterFamily::Ccc,
        FilterFamily::EthernetSwitching,
        FilterFamily::Vpls,
        FilterFamily::Any,
    ];

    pub(crate) fn word(self) -> &'static str {
        match self {
            FilterFamily::Inet => "inet",
            FilterFamily::Inet6 => "inet6",
            FilterFamily::Any => "any",
            FilterFamily::Mpls => "mpls",
            FilterFamily::Bridge => "bridge",
            FilterFamily::Ccc => "ccc",
            FilterFamily::EthernetSwitching => "ethernet-switching",
            FilterFamily::Vpls => "vpls",
        }
    }

    /// Returns the family with a name.
    pub(crate) fn named(name: &str) -> Option<FilterFamily> {
        FilterFamily::ALL.into_iter().find(|family| family.word() == name)
    }

    /// Whether the packets of the family are frames, whose Ethernet header policers count.
    pub(crate) fn has_frames(self) -> bool {
        !matches!(self, FilterFamily::Inet | FilterFamily::Inet6 | FilterFamily::Mpls)
    }
}

/// A term.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Term {
    pub(crate) name: String,
    pub(crate) line: usize,
    pub(crate) from: Condition,
    pub(crate) then: Then,
}

/// Whether the units with a filter share its counters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Counters {
    /// All units with the filter have the same counters.
    #[default]
    Shared,
    /// Each unit and direction has its own counters (`interface-specific`).
    OfInterface,
}

/// A filter.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Filter {
    pub(crate) line: usize,
    pub(crate) counters: Counters,
    pub(crate) terms: Vec<Term>,
}

/// The filters of a device by family and name.
#[derive(Clone, Debug, Default)]
pub(crate) struct Filters(BTreeMap<(FilterFamily, String), Filter>);

impl Filters {
    pub(crate) fn get(&self, family: FilterFamily, name: &str) -> Option<&Filter> {
        self.0.get(&(family, name.to_owned()))
    }

    /// Iterates over the filters with their families and names.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (FilterFamily, &str, &Filter)> {
        self.0.iter().map(|((family, name), filter)| (*family, name.as_str(), filter))
    }
}

/// The definitions that terms name.
type Definitions<'d> = (&'d ClassOfService, &'d Policers, &'d PrefixLists);

pub(super) fn read(context: &mut Context, firewall: NodeId, definitions: Definitions) -> Filters {
    let mut found = Filters::default();
    // Junos Routing Policies and Firewall Filters User Guide: a filter without a family belongs to the family
    // `inet`.
    read_family(context, firewall, FilterFamily::Inet, definitions, &mut found);
    for family in context.items(firewall, "family") {
        match FilterFamily::named(&family.text) {
            Some(known) => read_family(context, family.node, known, definitions, &mut found),
            None => context.not_modeled(family.node, "filters of other families"),
        }
    }
    found
}

fn read_family(
    context: &mut Context,
    node: NodeId,
    family: FilterFamily,
    definitions: Definitions,
    found: &mut Filters,
) {
    for name in context.items(node, "filter") {
        let (mut terms, mut counters) = (Vec::new(), Counters::Shared);
        for term in context.items(name.node, "term") {
            terms.push(self::term(context, &term, definitions));
        }
        for word in context.keywords(name.node) {
            match word.text.as_str() {
                "interface-specific" => {
                    context.modeled(word.node);
                    counters = Counters::OfInterface;
                }
                "accounting-profile" | "enhanced-mode" | "fast-filter-lookup" => {
                    context.irrelevant(word.node, "counters and tables of the device");
                }
                // The statement permits policers that have one bucket per port.
                "physical-interface-filter" => context.modeled(word.node),
                "instance-shared" => {
                    context.not_modeled(word.node, "buckets that several interfaces share");
                }
                "from" | "then" => {
                    // A filter of old releases can have one term without a name.
                    let unnamed = Word { text: "unnamed".to_owned(), ..name.clone() };
                    if word.text == "then" || context.tree.child(name.node, "then").is_none() {
                        terms.push(self::term(context, &unnamed, definitions));
                    }
                }
                _ => {}
            }
        }
        for key in ["prefix-action", "simple-filter"] {
            if let Some(other) = context.tree.child(name.node, key) {
                context.not_modeled(other, key);
            }
        }
        found.0.insert((family, name.text), Filter { line: name.line, counters, terms });
    }
    for key in ["prefix-action", "simple-filter", "service-filter", "fast-update-filter", "dialer-filter"] {
        if let Some(other) = context.tree.child(node, key) {
            context.not_modeled(other, key);
        }
    }
}

fn term(context: &mut Context, word: &Word, (cos, policers, lists): Definitions) -> Term {
    let from = from::read(context, word.node, cos, lists);
    let then = then::read(context, word.node, cos, policers);
    if let Some(other) = context.tree.child(word.node, "filter") {
        context.not_modeled(other, "filters inside filters");
    }
    Term { name: word.text.clone(), line: word.line, from, then }
}
