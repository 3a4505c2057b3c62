//! Reports guarantees above the available rate, for policies inside a class with a shaper and for policies
//! that are not attached to an interface.

use perhop_device::intent::TrafficRate;
use perhop_device::profile::Acceptance;
use perhop_lint::Diagnostic;

use super::refusals::{above_hundred, promised_percent, remaining_percent};
use crate::ast::{Bandwidth, PolicyClass, PolicyMap, PriorityRate};
use crate::check;
use crate::convert::context::Context;
use crate::rules;

impl Context<'_> {
    /// Reports policies inside a class with a shaper whose guarantees exceed the shaper's rate. Also reports
    /// percentages above 100 in policies that are not attached to an interface; for attached policies,
    /// another rule compares the guarantees with the rate of the interface.
    pub(in crate::convert) fn promises_inside(&mut self) {
        let on_interfaces = check::on_interfaces(self.configuration);
        let mut found = Vec::new();
        for policy in self.configuration.policy_maps.iter() {
            let classes = self.known(policy);
            if !on_interfaces.contains(policy.name.as_str()) {
                let promised =
                    above_hundred(policy, &classes, "bandwidth and priority percent", promised_percent);
                found.extend(promised);
            }
            if *self.platform.rules().conflicting_commands == Acceptance::Refused {
                found.extend(above_hundred(
                    policy,
                    &classes,
                    "bandwidth remaining percent",
                    remaining_percent,
                ));
            }
            found.extend(classes.into_iter().filter_map(|class| self.above_shaper(policy, class)));
        }
        self.found.extend(found);
    }

    /// Reports guarantees inside a class that exceed the rate of its shaper, if at least one guarantee is
    /// configured as a rate. Another rule reports percentages.
    fn above_shaper(&self, around: &PolicyMap, class: &PolicyClass) -> Option<Diagnostic> {
        let TrafficRate::BitsPerSecond(rate_bps) = class.shape?.value.rate else { return None };
        let inner = class.service_policy.as_ref()?;
        let policy = self.configuration.policy_maps.get(&inner.value)?;
        let promises = || self.known(policy).into_iter().filter_map(|class| promise(class, rate_bps));
        if !promises().any(|promise| promise.is_rate) {
            return None;
        }
        let mut sum = 0u64;
        let exceeding = promises().find(|promise| {
            sum = sum.saturating_add(promise.bps);
            sum > rate_bps
        })?;
        let all = promises().fold(0u64, |sum, promise| sum.saturating_add(promise.bps));
        Some(Diagnostic::new(
            &rules::PROMISED_ABOVE_RATE,
            exceeding.line,
            format!(
                "policy {} guarantees {} kb/s to its classes, more than the {} kb/s to which class {} of \
                 policy {} shapes them",
                policy.name,
                all / 1000,
                rate_bps / 1000,
                class.name,
                around.name
            ),
            "the router refuses the inner policy: guarantee less, or shape to a higher rate",
        ))
    }
}

/// The guaranteed rate of a class. `is_rate` is false if the configuration has a percentage.
struct Promise {
    bps: u64,
    line: usize,
    is_rate: bool,
}

/// Returns the guarantee or priority of a class under a shaper of `rate_bps`.
fn promise(class: &PolicyClass, rate_bps: u64) -> Option<Promise> {
    let of_percent = |percent: u64| (u128::from(rate_bps) * u128::from(percent) / 100) as u64;
    let rate = |line, bps| Promise { bps, line, is_rate: true };
    let percent = |line, percent| Promise { bps: of_percent(percent), line, is_rate: false };
    let bandwidth = class.bandwidth.and_then(|at| match at.value {
        Bandwidth::Kilobits(kilobits) => Some(rate(at.line, kilobits.saturating_mul(1000))),
        Bandwidth::BitsPerSecond(bps) => Some(rate(at.line, bps)),
        Bandwidth::Percent(value) => Some(percent(at.line, value)),
        Bandwidth::RemainingPercent(_) | Bandwidth::RemainingRatio(_) => None,
    });
    bandwidth.or_else(|| {
        let at = class.priority?;
        match at.value.rate {
            PriorityRate::Kilobits(kilobits) => Some(rate(at.line, kilobits.saturating_mul(1000))),
            PriorityRate::Percent(value) => Some(percent(at.line, value)),
            PriorityRate::Unlimited => None,
        }
    })
}
