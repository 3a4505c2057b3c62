//! Policies that give priority to other packets and only a guarantee to EF, and unusual priority rates of EF.

use std::collections::{BTreeMap, BTreeSet};

use perhop_device::intent::PriorityRate;
use perhop_qos::Dscp;

use super::treatment::{Kind, Treatments, demand_line, queueing_policy};
use super::{NetworkFinding, Precision, Snapshot, Topic};
use crate::rules;

/// EF (RFC 3246 §2.7).
const EXPEDITED: u8 = 46;
/// The lowest codepoint for network control (RFC 4594 §3.1): CS6.
const CONTROL: u8 = 48;

/// The minimum number of other policies with a percentage of priority for EF.
const LEAST: usize = 4;
/// The maximum factor between the percentages of the other policies, and the minimum factor between them and
/// the reported percentage.
const ALIKE: u64 = 3;
const FAR: u64 = 2;

/// Reports policies of ports towards other devices that give priority to another codepoint than EF, although
/// they have a class for EF.
pub(super) fn check(snapshot: &Snapshot, treatments: &Treatments, found: &mut Vec<NetworkFinding>) {
    let Some(expedited) = Dscp::new(EXPEDITED) else { return };
    check_shares(snapshot, treatments, expedited, found);
    let mut seen = BTreeSet::new();
    for id in snapshot.queueing_ports() {
        let Some(policy) = queueing_policy(snapshot.port(id)) else { continue };
        let Some(own) = treatments.at(snapshot, id, expedited) else { continue };
        if !matches!(own.kind, Kind::Class | Kind::Guarantee) || !seen.insert((id.device, policy.line)) {
            continue;
        }
        let has_priority = |dscp: &Dscp| {
            treatments.at(snapshot, id, *dscp).is_some_and(|other| other.kind == Kind::Priority)
        };
        let Some(other) = (1..CONTROL).filter_map(Dscp::new).find(has_priority) else { continue };
        let message = format!(
            "{} of {} gives {} priority, but EF only {} (class {})",
            policy.name,
            snapshot.devices[id.device].name,
            other,
            own.kind.words(),
            own.class.name
        );
        let effect = "voice waits behind other packets: its delay has no bound".to_owned();
        let rule = &rules::NETWORK_PRIORITY_INVERTED;
        found.push(snapshot.finding(id.device, rule, demand_line(own.class), (message, effect)));
    }
}

/// Whether the rates of EF at a policy are in the range of the rates of the other policies, or unknown.
fn is_usual_rate(rates: &BTreeMap<(usize, usize), BTreeSet<Option<u64>>>, at: (usize, usize)) -> bool {
    let own = rates.get(&at);
    let others: Vec<u64> =
        rates.iter().filter(|(other, _)| **other != at).flat_map(|(_, own)| own).copied().flatten().collect();
    let (Some(least), Some(most)) = (others.iter().min(), others.iter().max()) else { return true };
    own.into_iter().flatten().any(|rate| rate.is_none_or(|rate| (*least..=*most).contains(&rate)))
}

/// Reports the only policy whose percentage of priority for EF is far from the percentages of all other
/// policies, often because of a wrong digit.
fn check_shares(
    snapshot: &Snapshot,
    treatments: &Treatments,
    expedited: Dscp,
    found: &mut Vec<NetworkFinding>,
) {
    let mut shares: BTreeMap<(usize, usize), (u64, &str)> = BTreeMap::new();
    // The rates of all policies, also of those with a rate instead of a percentage.
    let mut rates: BTreeMap<(usize, usize), BTreeSet<Option<u64>>> = BTreeMap::new();
    for id in snapshot.queueing_ports() {
        let Some(own) = treatments.at(snapshot, id, expedited) else { continue };
        let Some(priority) = own.class.priority.as_ref() else { continue };
        let rate = match priority.value.rate {
            PriorityRate::Percent(percent) => {
                shares.insert((id.device, priority.line), (percent, &own.class.name));
                snapshot.output_rate(id).map(|line| line * percent / 100)
            }
            PriorityRate::Kilobits(kilobits) => Some(1000 * kilobits),
            PriorityRate::Unlimited => continue,
        };
        rates.entry((id.device, priority.line)).or_default().insert(rate);
    }
    let mut sorted: Vec<(u64, (usize, usize))> =
        shares.iter().map(|(at, (percent, _))| (*percent, *at)).collect();
    sorted.sort_unstable();
    let (Some(first), Some(last)) = (sorted.first(), sorted.last()) else { return };
    if sorted.len() <= LEAST {
        return;
    }
    let end = sorted.len() - 1;
    let (low, high) = (sorted[1].0, sorted[end - 1].0);
    let (odd, range) = if first.0 * FAR < low && last.0 <= ALIKE * low {
        (first, (low, last.0))
    } else if last.0 > FAR * high && high <= ALIKE * first.0 {
        (last, (first.0, high))
    } else {
        return;
    };
    let (percent, (device, line)) = *odd;
    // A slower line needs a larger percentage for the same calls.
    if is_usual_rate(&rates, (device, line)) {
        return;
    }
    let message = format!(
        "class {} of {} gives EF priority up to {percent} % of the rate, but the {end} other policies give it priority \
         up to {} to {} %",
        shares[&(device, line)].1,
        snapshot.devices[device].name,
        range.0,
        range.1
    );
    let effect = if percent < range.0 {
        "the limit of the class drops calls that the other devices carry"
    } else {
        "a fault of one application can take the rate of all other classes"
    };
    let finding = snapshot.finding(device, &rules::NETWORK_QUEUE_DIFFERS, line, (message, effect.to_owned()));
    found.push(finding.about(Topic::Rate, Precision::Comparison));
}
