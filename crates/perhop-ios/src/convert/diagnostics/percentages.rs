//! Notes on percentages in nested policies: the reference rate and the result.

use perhop_device::lower::{ResolvedClass, ResolvedPolicy};
use perhop_device::{GuaranteeKind, PoliceKind, PriorityKind};
use perhop_lint::Diagnostic;

use crate::convert::context::Context;
use crate::convert::ports::ConvertedPort;
use crate::rules;

impl Context<'_> {
    /// Adds notes with the rates of percentages in the nested policies of `ports`.
    pub(in crate::convert) fn nested_percentages(&mut self, ports: &[ConvertedPort]) {
        for port in ports {
            for policy in [&port.input, &port.output].into_iter().flatten() {
                inside(policy, &mut self.found);
            }
        }
    }
}

fn inside(policy: &ResolvedPolicy, found: &mut Vec<Diagnostic>) {
    for class in &policy.classes {
        let Some(inner) = &class.policy else { continue };
        for member in inner.classes.iter().filter(|member| member.line > 0) {
            for (command, percent, rate_bps) in percentages(member) {
                found.push(Diagnostic::new(
                    &rules::NESTED_PERCENT,
                    member.line,
                    format!(
                        "class {}: {command} {percent} is {} kb/s",
                        member.name,
                        rate_bps as f64 / 1000.0
                    ),
                    format!(
                        "the percentage refers to the {} kb/s of the outer class {} in policy {}",
                        inner.rate_bps as f64 / 1000.0,
                        class.name,
                        policy.name
                    ),
                ));
            }
        }
        inside(inner, found);
    }
}

/// Returns the commands with percentages, and their rates in bits per second.
fn percentages(class: &ResolvedClass) -> Vec<(&'static str, u64, u64)> {
    let priority = class.priority.filter(|priority| priority.kind == PriorityKind::Percent);
    let bandwidth = class.bandwidth.filter(|bandwidth| bandwidth.kind == GuaranteeKind::Percent);
    let police = class.police.as_ref().filter(|police| police.kind == PoliceKind::Percent);
    let shape = class.shape.and_then(|shape| shape.value_percent.map(|percent| (percent, shape.cir_bps)));
    let all = [
        priority.and_then(|limit| Some(("priority percent", limit.value, limit.rate_bps?))),
        bandwidth.map(|limit| ("bandwidth percent", limit.value, limit.rate_bps)),
        police.map(|rate| ("police cir percent", rate.value, rate.cir_bps)),
        shape.map(|(percent, rate_bps)| ("shape average percent", percent, rate_bps)),
    ];
    all.into_iter().flatten().collect()
}
