//! Applies the vendor-neutral rules (`perhop_lint`), and reports source lines.

use std::collections::BTreeMap;

use perhop_device::Port;
use perhop_device::lower::Links;
use perhop_lint::rules::PRIORITY_UNBOUNDED;
use perhop_lint::{Finding, Place as Part, Subject, all_nqb, check_nqb, check_sharing, names_nqb};
use perhop_qos::classifier::MatchConfig;
use perhop_qos::policy::PolicyConfig;

use super::inputs::inputs;
use crate::log::Log;
use crate::model::{Device, Filter};

/// Applies the rules to the policies of `ports`, which belong to `devices`, in both directions.
pub(super) fn check(devices: &[Device], ports: &[Port], log: &mut Log) {
    let is_named = ports.iter().flat_map(sides).any(|(policy, _)| names_nqb(policy));
    let nqb: Vec<MatchConfig> = is_named.then(all_nqb).into_iter().collect();
    for (device, port) in devices.iter().zip(ports) {
        for (policy, links) in sides(port) {
            let rules = sharing(policy).into_iter().chain(check_nqb(policy, &inputs(policy), &nqb));
            for finding in rules {
                let line = line_of(device, links, &finding);
                let message = format!("{}, on {}", finding.message, device.name);
                log.found(finding.rule, line, message, finding.remedy);
            }
        }
    }
}

/// Applies the rules about rates, queues and policers. The line rate is not part of the text.
fn sharing(policy: &PolicyConfig) -> Vec<Finding> {
    let limits = BTreeMap::new();
    let found = check_sharing(&Subject { policy, rate: None, wire: None, limits: &limits, interfaces: &[] });
    // By design, bands of prio have no rate limit, so the rule about unlimited priority does not apply.
    found.into_iter().filter(|finding| finding.rule.id != PRIORITY_UNBOUNDED.id).collect()
}

fn sides(port: &Port) -> [(&PolicyConfig, &Links); 2] {
    [(&port.input, &port.links.input), (&port.output, &port.links.output)]
}

/// Returns the line of the first filter that selects the class or hook of a finding, otherwise the line of
/// the class.
fn line_of(device: &Device, links: &Links, finding: &Finding) -> usize {
    let class = match &finding.place {
        Part::Conditioner(index) => links.class_of_conditioner(*index),
        Part::Class(path) => links.class_of_node(path),
        Part::Policy => None,
    };
    let found = class.and_then(|class| {
        let filters = device.qdiscs.iter().flat_map(|qdisc| &qdisc.filters);
        let leads = filters.map(Filter::line).find(|line| class.lines.contains(line));
        leads.or_else(|| Some(class.line).filter(|line| *line > 0))
    });
    found.or_else(|| device.root().map(|root| root.line)).unwrap_or(device.line)
}
