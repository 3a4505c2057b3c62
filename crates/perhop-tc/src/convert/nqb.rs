//! What devices do to packets marked nqb (RFC 9956), said of the filters that do it.

use perhop_lint::{Finding, Place as Part, all_nqb, check_nqb, names_nqb};
use perhop_qos::classifier::MatchConfig;
use perhop_qos::policy::{PolicyConfig, QueueingConfig};

use super::{Port, inputs};
use crate::log::Log;
use crate::model::Device;
use crate::units;

/// Says it of `ports`, which are those of `devices`.
pub(super) fn check(devices: &[Device], ports: &[Port], log: &mut Log) {
    let policies = ports.iter().flat_map(|port| [&port.input, &port.output]);
    let nqb: Vec<MatchConfig> = policies.into_iter().any(names_nqb).then(all_nqb).into_iter().collect();
    for (device, port) in devices.iter().zip(ports) {
        for policy in [&port.input, &port.output] {
            for finding in check_nqb(policy, &inputs(policy), &nqb) {
                let line = line_of(device, policy, &finding);
                let message = format!("{}, on {}", finding.message, device.name);
                log.found(finding.rule, line, message, finding.remedy);
            }
        }
    }
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
