//! The rules of every policy (`perhop_lint`), reported on the lines that the policy comes from.

use std::collections::BTreeMap;

use perhop_lint::rules::PRIORITY_UNBOUNDED;
use perhop_lint::{Finding, Place as Part, Subject, all_nqb, check_nqb, check_sharing, names_nqb};
use perhop_qos::classifier::MatchConfig;
use perhop_qos::policy::{PolicyConfig, QueueingConfig};

use super::inputs::inputs;
use crate::log::Log;
use crate::model::Device;
use crate::units;

/// Applies the rules to the policies of `devices`, for what arrives and for what leaves.
pub(super) fn check(devices: &[Device], policies: &[[&PolicyConfig; 2]], log: &mut Log) {
    let is_named = policies.iter().flatten().any(|policy| names_nqb(policy));
    let nqb: Vec<MatchConfig> = is_named.then(all_nqb).into_iter().collect();
    for (device, policies) in devices.iter().zip(policies) {
        for policy in policies {
            let rules = sharing(policy).into_iter().chain(check_nqb(policy, &inputs(policy), &nqb));
            for finding in rules {
                let line = line_of(device, policy, &finding);
                let message = format!("{}, on {}", finding.message, device.name);
                log.found(finding.rule, line, message, finding.remedy);
            }
        }
    }
}

/// Applies the rules about rates, queues and policers; the speed of the device's wire is not in the text.
fn sharing(policy: &PolicyConfig) -> Vec<Finding> {
    let limits = BTreeMap::new();
    let found = check_sharing(&Subject { policy, rate: None, wire: None, limits: &limits, interfaces: &[] });
    // A band of prio has no limit: that is the discipline, and not a mistake in its use.
    found.into_iter().filter(|finding| finding.rule.id != PRIORITY_UNBOUNDED.id).collect()
}

fn line_of(device: &Device, policy: &PolicyConfig, finding: &Finding) -> usize {
    let found = match &finding.place {
        // A stage is called after its line.
        Part::Conditioner(index) => policy
            .conditioners
            .get(*index)
            .and_then(|stage| stage.name.as_ref()?.strip_prefix("line ")?.parse().ok()),
        Part::Class(path) => policy.queueing.as_ref().and_then(|queueing| {
            let id = units::class_id(name_of(queueing, path)?)?;
            let filters = || device.qdiscs.iter().flat_map(|qdisc| &qdisc.filters);
            let leads = filters().find(|filter| filter.class == Some(id)).map(crate::model::Filter::line);
            let class = || device.qdiscs.iter().find_map(|qdisc| qdisc.class(id)).map(|class| class.line);
            leads.or_else(class)
        }),
        Part::Policy => None,
    };
    found.or_else(|| device.root().map(|root| root.line)).unwrap_or(device.line)
}

fn name_of<'a>(queueing: &'a QueueingConfig, path: &[usize]) -> Option<&'a str> {
    let (first, rest) = path.split_first()?;
    let class = queueing.classes.get(*first)?;
    if rest.is_empty() { Some(&class.name) } else { name_of(class.queueing.as_ref()?, rest) }
}
