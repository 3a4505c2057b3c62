//! Reports drop profiles for loss priorities that no packet has.

use std::collections::BTreeSet;

use perhop_lint::Diagnostic;

use super::checked::{Checked, finding};
use crate::cos::{CodePoints, DropMap, LossPriority, Treatment};
use crate::rules;

pub(super) fn check(checked: Checked) -> Vec<Diagnostic> {
    let losses = losses(checked);
    let schedulers = &checked.cos.schedulers;
    let mapped: BTreeSet<&str> = schedulers
        .maps
        .values()
        .flat_map(|map| &map.entries)
        .map(|(_, scheduler, _)| scheduler.as_str())
        .collect();
    let own = schedulers.schedulers.iter().filter(|(name, _)| mapped.contains(name.as_str()));
    let drops = own.flat_map(|(name, scheduler)| scheduler.drops.iter().map(move |drop| (name, drop)));
    let unreached = |drop: &DropMap| drop.losses.iter().all(|loss| !losses.contains(&(*loss as usize)));
    let found = drops.filter(|(_, drop)| unreached(drop)).filter_map(|(name, drop)| {
        let words: Vec<&str> = drop.losses.iter().map(|loss| loss.name()).collect();
        let message = format!(
            "scheduler {name} has drop profile {} for loss priority {}, which no packet has",
            drop.profile,
            words.join(" or ")
        );
        let router = "give packets this loss priority by a classifier, a filter or a policer";
        finding(&rules::JUNOS_DROP_PROFILE_UNREACHED, drop.line, message, router)
    });
    found.chain(marks(checked)).collect()
}

/// Reports schedulers that mark packets (ECN) but have no drop profile (the topic
/// `cos-qfx-series-explicit-congestion-notification-understanding`: ECN uses the profile of the queue).
fn marks(checked: Checked) -> impl Iterator<Item = Diagnostic> {
    let schedulers = checked.cos.schedulers.schedulers.iter();
    let without = schedulers.filter(|(_, scheduler)| scheduler.drops.is_empty());
    without.filter_map(|(name, scheduler)| {
        let message = format!("scheduler {name} has no drop profile, so it marks no packet");
        let router =
            "ECN marks need a drop profile: without a drop profile, packets are dropped at a full queue";
        finding(&rules::JUNOS_WITHOUT_EFFECT, scheduler.ecn?, message, router)
    })
}

/// Returns the numbers of the loss priorities that classifiers, filters and policers assign to packets.
fn losses(checked: Checked) -> BTreeSet<usize> {
    let mut found = BTreeSet::from([LossPriority::Low as usize]);
    let mut add = |loss: LossPriority| found.insert(loss as usize);
    let cos = checked.cos;
    let tables = cos.attachments.all().flat_map(|attached| &attached.classifiers);
    let tables = tables.map(|(kind, name)| (*kind, name.value.as_str()));
    // The default classifier of a unit (Junos CoS User Guide, "Default IP Precedence Classifier").
    let default = (CodePoints::InetPrecedence, "ipprec-compatibility");
    for (kind, name) in tables.chain([default]) {
        let table: Vec<Treatment> = cos.classifiers.table(kind, name, &cos.classes);
        for treatment in table {
            add(treatment.loss);
        }
    }
    let terms = checked.firewall.filters.iter().flat_map(|(_, _, filter)| &filter.terms);
    for loss in terms.filter_map(|term| term.then.loss) {
        add(loss);
    }
    let policers = &checked.firewall.policers;
    let hierarchical = policers.hierarchical.values().map(|policer| policer.exceed.loss);
    for loss in policers.plain.values().map(|policer| policer.exceed.loss).chain(hierarchical) {
        loss.map(&mut add);
    }
    if !policers.three_color.is_empty() {
        add(LossPriority::MediumHigh);
        add(LossPriority::High);
    }
    found
}
