//! Policers.

use std::collections::BTreeMap;

use perhop_device::intent::At;

use crate::context::{Context, Word};
use crate::cos::{ClassOfService, LossPriority};
use crate::tree::NodeId;
use crate::values::{number, percent};

/// The rate of a policer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Measure {
    /// Bits per second and bytes.
    Bits { rate: u64, burst: u64 },
    /// Percent of a rate, and bytes.
    Percent { percent: u8, of: PercentOf, burst: u64 },
    /// Packets per second and packets.
    Packets { rate: u64, burst: u64 },
}

/// The rate that a percentage refers to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum PercentOf {
    #[default]
    Port,
    /// The shaping rate of the unit, or else the rate of the port (`logical-bandwidth-policer`).
    Unit,
}

/// The uses of a policer that share a bucket.
///
/// Junos Routing Policies and Firewall Filters User Guide, "Filter-Specific Policer Overview", "Logical
/// Interface (Aggregate) Policer Overview" and "Physical Interface Policer Overview".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Instance {
    /// Each term, and each family of a unit, has its own bucket.
    #[default]
    Term,
    /// All terms of a filter share a bucket (`filter-specific`).
    Filter,
    /// All families of a unit share a bucket (`logical-interface-policer`).
    LogicalInterface,
    /// All families and units of a port share a bucket (`physical-interface-policer`).
    PhysicalInterface,
}

/// The action of a policer for packets above its rate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ExceedAction {
    pub(crate) is_discarded: bool,
    pub(crate) loss: Option<LossPriority>,
    /// The label of a forwarding class.
    pub(crate) label: Option<u8>,
}

/// A policer with one bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Policer {
    pub(crate) line: usize,
    pub(crate) node: NodeId,
    pub(crate) measure: Measure,
    pub(crate) exceed: ExceedAction,
    pub(crate) instance: Instance,
}

/// A policer with one bucket for all packets and another one for premium packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Hierarchical {
    pub(crate) line: usize,
    pub(crate) node: NodeId,
    /// Bits per second and bytes of all packets.
    pub(crate) aggregate: (u64, u64),
    /// Bits per second and bytes of premium packets. Packets above these limits are dropped.
    pub(crate) premium: (u64, u64),
    /// The action for other packets above the rate of all packets.
    pub(crate) exceed: ExceedAction,
    pub(crate) instance: Instance,
}

/// A policer with three colors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ThreeColor {
    pub(crate) line: usize,
    pub(crate) node: NodeId,
    /// The committed rate, bits per second, and burst, bytes.
    pub(crate) committed: (u64, u64),
    /// The peak rate of a two-rate policer, bits per second.
    pub(crate) peak_rate: Option<u64>,
    /// The excess or peak burst, bytes.
    pub(crate) excess_burst: u64,
    /// Whether the policer reads the loss priority of arriving packets.
    pub(crate) is_color_aware: bool,
    /// Whether red packets are dropped.
    pub(crate) discards_red: bool,
    pub(crate) instance: Instance,
}

/// The name of a policer of any kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Metered {
    Plain(String),
    ThreeColor(String),
    Hierarchical(String),
}

impl Metered {
    pub(crate) fn name(&self) -> &str {
        match self {
            Metered::Plain(name) | Metered::ThreeColor(name) | Metered::Hierarchical(name) => name,
        }
    }
}

/// The policers of a device.
#[derive(Clone, Debug, Default)]
pub(crate) struct Policers {
    pub(crate) plain: BTreeMap<String, Policer>,
    pub(crate) three_color: BTreeMap<String, ThreeColor>,
    pub(crate) hierarchical: BTreeMap<String, Hierarchical>,
}

impl Policers {
    /// Whether a policer exists.
    pub(crate) fn has(&self, policer: &Metered) -> bool {
        match policer {
            Metered::Plain(name) => self.plain.contains_key(name),
            Metered::ThreeColor(name) => self.three_color.contains_key(name),
            Metered::Hierarchical(name) => self.hierarchical.contains_key(name),
        }
    }

    /// Returns the kind of uses of a policer that share a bucket.
    pub(crate) fn instance(&self, policer: &Metered) -> Instance {
        let found = match policer {
            Metered::Plain(name) => self.plain.get(name).map(|policer| policer.instance),
            Metered::ThreeColor(name) => self.three_color.get(name).map(|policer| policer.instance),
            Metered::Hierarchical(name) => self.hierarchical.get(name).map(|policer| policer.instance),
        };
        found.unwrap_or_default()
    }
}

pub(super) fn read(context: &mut Context, firewall: NodeId, cos: &ClassOfService) -> Policers {
    let mut found = Policers::default();
    for name in context.items(firewall, "policer") {
        if let Some(policer) = plain(context, &name, cos) {
            found.plain.insert(name.text, policer);
        }
    }
    for name in context.items(firewall, "three-color-policer") {
        if let Some(policer) = three_color(context, &name) {
            found.three_color.insert(name.text, policer);
        }
    }
    for name in context.items(firewall, "hierarchical-policer") {
        if let Some(policer) = hierarchical(context, &name, cos) {
            found.hierarchical.insert(name.text, policer);
        }
    }
    for key in ["load-balance-group", "atm-policer", "flexible-match", "interface-set"] {
        if let Some(node) = context.tree.child(firewall, key) {
            context.not_modeled(node, key);
        }
    }
    found
}

fn plain(context: &mut Context, name: &Word, cos: &ClassOfService) -> Option<Policer> {
    let measure = measure(context, name);
    range(context, name, measure, cos);
    let exceed = exceed(context, name.node, cos);
    let instance = instance(context, name.node);
    let measure = measure?;
    Some(Policer { line: name.line, node: name.node, measure, exceed, instance })
}

/// Reads the statements about the bucket of a policer. A bundle has one bucket of the whole rate, which is
/// the effect of `shared-bandwidth-policer` (the topic `cos-policer-support-ae-sonet-bundles-overview`).
fn instance(context: &mut Context, policer: NodeId) -> Instance {
    let mut found = Instance::default();
    for (key, instance) in [
        ("filter-specific", Instance::Filter),
        ("logical-interface-policer", Instance::LogicalInterface),
        ("physical-interface-policer", Instance::PhysicalInterface),
    ] {
        if let Some(node) = context.tree.child(policer, key) {
            context.modeled(node);
            found = instance;
        }
    }
    if let Some(node) = context.tree.child(policer, "shared-bandwidth-policer") {
        context.modeled(node);
    }
    found
}

/// Reads a hierarchical policer (the topic `policer-hierarchical`).
fn hierarchical(context: &mut Context, name: &Word, cos: &ClassOfService) -> Option<Hierarchical> {
    let instance = instance(context, name.node);
    let level = |context: &mut Context, key: &str| {
        let node = context.tree.child(name.node, key)?;
        context.modeled(node);
        if let Some(packets) = context.tree.child(node, "if-exceeding-pps") {
            context.not_modeled(packets, "hierarchical policers in packets per second");
            return None;
        }
        let limits = context.tree.child(node, "if-exceeding")?;
        context.modeled(limits);
        let rate = context.parsed(limits, "bandwidth-limit", number);
        let burst = context.parsed(limits, "burst-size-limit", number);
        Some((positive(context, name, rate, burst)?, exceed(context, node, cos)))
    };
    let (aggregate, premium) = (level(context, "aggregate"), level(context, "premium"));
    let is_in_packets = |key| context.tree.at(name.node, &[key, "if-exceeding-pps"]).is_some();
    let (Some((aggregate, exceed)), Some((premium, above_premium))) = (aggregate, premium) else {
        if !is_in_packets("aggregate") && !is_in_packets("premium") {
            let message = format!("hierarchical policer `{}` needs limits of both levels", name.text);
            context.found(&crate::rules::JUNOS_VALUE_INVALID, name.node, message, "the commit fails");
        }
        return None;
    };
    if !above_premium.is_discarded
        && let Some(then) = context.tree.at(name.node, &["premium", "then"])
    {
        context.not_modeled(then, "premium packets above their rate are dropped here");
    }
    if cos.classes.premium().is_empty() {
        let message = format!("no forwarding class is premium for policer `{}`", name.text);
        let router = "all packets use the aggregate level: set `policing-priority premium` at a class";
        context.found(&crate::rules::JUNOS_WITHOUT_EFFECT, name.node, message, router);
    }
    Some(Hierarchical { line: name.line, node: name.node, aggregate, premium, exceed, instance })
}

/// Reports a rate or a burst below the minimum of the device.
fn range(context: &mut Context, name: &Word, measure: Option<Measure>, cos: &ClassOfService) {
    let (Some(Measure::Bits { rate, burst }), Some((least_rate, least_burst))) =
        (measure, cos.classes.family().least_policer())
    else {
        return;
    };
    let small = [("bandwidth-limit", rate, least_rate), ("burst-size-limit", burst, least_burst)];
    for (key, value, least) in small.into_iter().filter(|(_, value, least)| value < least) {
        let message = format!("`{key} {value}` of policer `{}` is below {least}", name.text);
        context.found(&crate::rules::JUNOS_VALUE_INVALID, name.node, message, "the commit fails");
    }
}

/// The recommended minimum burst, bytes: 10 MTU (the topic `policer-mx-m120-m320-burstsize-determining`).
const LEAST_BURST: u64 = 15_000;
const LEAST_BURST_WORD: &str = "15k";

fn measure(context: &mut Context, name: &Word) -> Option<Measure> {
    if let Some(packets) = context.tree.child(name.node, "if-exceeding-pps") {
        context.modeled(packets);
        let rate = context.parsed(packets, "pps-limit", number);
        let burst = context.parsed(packets, "packet-burst", number);
        let (rate, burst) = positive(context, name, rate, burst)?;
        return Some(Measure::Packets { rate, burst });
    }
    let Some(limits) = context.tree.child(name.node, "if-exceeding") else {
        let message = format!("policer `{}` has no limit", name.text);
        context.found(&crate::rules::JUNOS_VALUE_INVALID, name.node, message, "the commit fails");
        return None;
    };
    context.modeled(limits);
    let burst = context.parsed(limits, "burst-size-limit", number);
    let rate = context.parsed(limits, "bandwidth-limit", number);
    let part = context.parsed(limits, "bandwidth-percent", |text| percent(text).filter(|part| *part > 0));
    if let (None, Some(part)) = (rate, part) {
        let (_, burst) = positive(context, name, Some(At::new(part.line, 1)), burst)?;
        let unit = context.tree.child(name.node, "logical-bandwidth-policer");
        let of = if unit.is_some() { PercentOf::Unit } else { PercentOf::Port };
        if let Some(node) = unit {
            context.modeled(node);
        }
        return Some(Measure::Percent { percent: part.value, of, burst });
    }
    let (rate, burst) = positive(context, name, rate, burst)?;
    if burst < LEAST_BURST {
        let message =
            format!("policer `{}` has a burst of {burst} bytes, less than 10 packets of 1500", name.text);
        let router = "TCP is much slower than the rate: allow a burst of at least 10 packets of 1500 bytes";
        let written = context.value(limits, "burst-size-limit").unwrap_or_else(|| name.clone());
        let fix = Some((written.text.as_str(), LEAST_BURST_WORD));
        context.found_fixed((&crate::rules::JUNOS_BURST_SMALL, written.node), message, router, fix);
    }
    Some(Measure::Bits { rate, burst })
}

/// Returns a rate and a burst above 0.
fn positive(
    context: &mut Context,
    name: &Word,
    rate: Option<At<u64>>,
    burst: Option<At<u64>>,
) -> Option<(u64, u64)> {
    match (rate, burst) {
        (Some(rate), Some(burst)) if rate.value > 0 && burst.value > 0 => Some((rate.value, burst.value)),
        _ => {
            let missing = if rate.is_none_or(|rate| rate.value == 0) { "rate" } else { "burst" };
            let message = format!("policer `{}` has no {missing} above 0", name.text);
            context.found(&crate::rules::JUNOS_VALUE_INVALID, name.node, message, "the commit fails");
            None
        }
    }
}

fn exceed(context: &mut Context, policer: NodeId, cos: &ClassOfService) -> ExceedAction {
    let mut found = ExceedAction::default();
    let Some(then) = context.tree.child(policer, "then") else { return found };
    context.modeled(then);
    for word in context.keywords(then) {
        match word.text.as_str() {
            "discard" => {
                context.modeled(word.node);
                found.is_discarded = true;
            }
            "loss-priority" => {
                found.loss = context.parsed(then, "loss-priority", LossPriority::named).map(|at| at.value);
            }
            "forwarding-class" => {
                let parse = |text: &str| cos.classes.label(text);
                found.label = context.parsed(then, "forwarding-class", parse).map(|at| at.value);
            }
            "out-of-profile" => context.not_modeled(word.node, "congestion of the fabric"),
            _ => {}
        }
    }
    found
}

fn three_color(context: &mut Context, name: &Word) -> Option<ThreeColor> {
    let mut discards_red = false;
    if let Some(action) = context.tree.child(name.node, "action") {
        context.modeled(action);
        if let Some(loss) = context.value(action, "loss-priority") {
            let then = context.value(loss.node, "then");
            discards_red = loss.text == "high" && then.is_some_and(|then| then.text == "discard");
        }
    }
    let instance = instance(context, name.node);
    let kind = ["single-rate", "two-rate"].into_iter().find_map(|key| context.tree.child(name.node, key))?;
    context.modeled(kind);
    let is_color_aware = context.tree.child(kind, "color-aware");
    for node in [is_color_aware, context.tree.child(kind, "color-blind")].into_iter().flatten() {
        context.modeled(node);
    }
    let value = |context: &mut Context, key: &str| {
        context.parsed(kind, key, |text| number(text).filter(|value| *value > 0)).map(|at| at.value)
    };
    let committed = (value(context, "committed-information-rate"), value(context, "committed-burst-size"));
    let peak_rate = value(context, "peak-information-rate");
    let excess = value(context, "excess-burst-size").or_else(|| value(context, "peak-burst-size"));
    let is_two_rate = context.tree.word(kind) == "two-rate";
    match (committed, excess) {
        ((Some(rate), Some(burst)), Some(excess_burst)) if peak_rate.is_some() == is_two_rate => {
            Some(ThreeColor {
                line: name.line,
                node: name.node,
                committed: (rate, burst),
                peak_rate,
                excess_burst,
                is_color_aware: is_color_aware.is_some(),
                discards_red,
                instance,
            })
        }
        _ => {
            let message = format!("policer `{}` lacks a rate or a burst", name.text);
            context.found(&crate::rules::JUNOS_VALUE_INVALID, name.node, message, "the commit fails");
            None
        }
    }
}
