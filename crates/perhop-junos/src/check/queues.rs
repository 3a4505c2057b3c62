//! Reports scheduler maps without a scheduler for a class, priority queues without a limit, and nodes with
//! guarantees above their shaping rate.

use std::collections::BTreeSet;

use perhop_lint::{Diagnostic, rules as common_rules};

use super::checked::{Checked, finding};
use crate::cos::{Amount, Limit, Priority, Profile, Scheduler, SchedulerMap};
use crate::families::Family;
use crate::rules;

pub(super) fn check(checked: Checked) -> Vec<Diagnostic> {
    let schedulers = &checked.cos.schedulers;
    let mut found = Vec::new();
    let mut known = BTreeSet::new();
    for name in attached_maps(checked) {
        let Some(map) = schedulers.maps.get(name) else { continue };
        found.extend(without_scheduler(checked, name, map));
        found.extend(strict_below_low(checked, name, map));
        for (_, scheduler, _) in &map.entries {
            if known.insert(scheduler.as_str()) {
                found.extend(schedulers.schedulers.get(scheduler).and_then(|own| unbounded(scheduler, own)));
            }
        }
    }
    found.extend(checked.cos.profiles.iter().filter_map(|(name, profile)| crossed(name, profile)));
    found
}

/// Returns the names of the scheduler maps of ports, units, sets and traffic-control profiles.
fn attached_maps(checked: Checked<'_>) -> BTreeSet<&str> {
    let own = checked.cos.attachments.all().filter_map(|attached| attached.scheduler_map.as_ref());
    let profiles = checked.cos.profiles.values().filter_map(|profile| profile.scheduler_map.as_ref());
    own.chain(profiles).map(|name| name.value.as_str()).collect()
}

/// Reports the classes without a scheduler in a map, by queue. Packets without a class use queue 0. Packets
/// of routing protocols use the queue of network control.
fn without_scheduler(checked: Checked, name: &str, map: &SchedulerMap) -> Option<Diagnostic> {
    let classes = &checked.cos.classes;
    let control = classes.label_of_role(crate::cos::NETWORK_CONTROL).and_then(|label| classes.at(label));
    let missing = classes.queues().into_iter().filter_map(|queue| {
        let members = classes.of_queue(queue);
        let has_scheduler = |class: &str| map.entries.iter().any(|(known, _, _)| known == class);
        let gets_packets = queue == 0
            || control.is_some_and(|control| control.queue == queue)
            || members.iter().any(|(_, class)| class.line > 0);
        let is_missing = gets_packets && !members.iter().any(|(_, class)| has_scheduler(&class.name));
        members.first().filter(|_| is_missing).map(|(_, class)| class.name.clone())
    });
    let missing: Vec<String> = missing.collect();
    if missing.is_empty() {
        return None;
    }
    let message = format!("scheduler map {name} has no scheduler for {}", missing.join(", "));
    let router = "the queue has no transmit rate and low priority, so its packets wait for all other packets";
    finding(&rules::JUNOS_CLASS_WITHOUT_SCHEDULER, map.line, message, router)
}

/// Reports a strict-high queue with a lower number than a low queue. The commit of an EX refuses it (printed
/// by an EX2200 with 12.3).
fn strict_below_low(checked: Checked, name: &str, map: &SchedulerMap) -> Option<Diagnostic> {
    let classes = &checked.cos.classes;
    if classes.family() != Family::Ex {
        return None;
    }
    let is_strict = |scheduler: &str| {
        let priority = checked.cos.schedulers.schedulers.get(scheduler).and_then(|own| own.priority);
        priority.is_some_and(|at| at.value == Priority::StrictHigh)
    };
    let queue = |class: &str| classes.label(class).and_then(|label| classes.at(label)).map(|own| own.queue);
    let (strict, low): (Vec<_>, Vec<_>) =
        map.entries.iter().partition(|(_, scheduler, _)| is_strict(scheduler));
    let queues = |entries: Vec<&(String, String, usize)>| -> Vec<u8> {
        entries.into_iter().filter_map(|(class, _, _)| queue(class)).collect()
    };
    let (strict, low) = (queues(strict), queues(low));
    let is_refused = strict.iter().min().zip(low.iter().max()).is_some_and(|(strict, low)| strict < low);
    if !is_refused {
        return None;
    }
    let message = format!(
        "One or more \"strict-high\" priority queues have lower queue-numbers than priority \"low\" queues in \
         {name}"
    );
    finding(&rules::JUNOS_VALUE_INVALID, map.line, message, "error: configuration check-out failed")
}

/// Reports a scheduler with priority strict-high and without a limit. A transmit rate is a limit only with
/// `exact` or `rate-limit` (Junos CoS User Guide, "Configuring Strict-High Priority Queues").
fn unbounded(name: &str, scheduler: &Scheduler) -> Option<Diagnostic> {
    let priority = scheduler
        .priority
        .filter(|priority| matches!(priority.value, Priority::StrictHigh | Priority::LowLatency))?;
    let is_limited = scheduler.shaping.is_some()
        || scheduler.transmit.is_some_and(|transmit| transmit.value.limit != Limit::None);
    if is_limited {
        return None;
    }
    let message = format!("scheduler {name} has priority strict-high without a limit");
    let router =
        "such packets can take the whole link: set a shaping-rate, or a transmit-rate with rate-limit";
    finding(&common_rules::PRIORITY_UNBOUNDED, priority.line, message, router)
}

/// Reports a node whose guarantee exceeds its shaping rate.
fn crossed(name: &str, profile: &Profile) -> Option<Diagnostic> {
    let (guaranteed, shaping) = profile.guaranteed.zip(profile.shaping)?;
    let is_above = match (guaranteed.value, shaping.value) {
        (Amount::Rate(least), Amount::Rate(most)) => least > most,
        (Amount::Percent(least), Amount::Percent(most)) => least > most,
        _ => false,
    };
    is_above.then(|| {
        let message = format!("profile {name} has a guaranteed-rate above its shaping-rate");
        let router = "the node passes at most its shaping-rate";
        finding(&rules::JUNOS_RATES_CROSSED, guaranteed.line, message, router)
    })?
}
