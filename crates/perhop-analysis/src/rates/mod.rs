//! [`rates`]: for each class of a policy, the guaranteed rate, the maximum rate and the share of the excess.
//!
//! All code that needs such a rate uses this module: rules, inferred loads, `perhop rates`, and tables of
//! runs. Rates are long-run averages in bits per second, of the bytes that the policy counts (IP bytes and
//! its `overhead`). Headers of the link also use a part of the link rate, which is not deducted.
//!
//! | rate | what |
//! |---|---|
//! | promised | the guaranteed rate of the class for any traffic of the other classes; at most its configured guarantee, if any |
//! | while busy | the rate of the class while all classes send at their maximum rate |
//! | service | the rate at which its queue empties during that time, regardless of a policer in front of the queue |
//! | maximum | the rate that the class never exceeds while packets of other classes wait |
//! | excess | its share of the rate that is not guaranteed to any class, or that other classes do not use |

mod allot;
mod answer;
mod filling;
mod guarantee_excess;
mod htb;
mod limits;
mod walk;
mod weights;

use std::collections::BTreeMap;

use perhop_qos::Rate;
use perhop_qos::policy::PolicyConfig;

pub use allot::has_priority;
pub use answer::{ClassRates, Holds, Level, PriorityLoad};
pub use limits::{Policer, Scope, capacity, class_path, conditioner_limit, policers, shaped_rate};
pub use weights::weight;

use limits::LimitsOf;
use walk::Walk;

/// The known facts about the place of a policy.
#[derive(Clone, Copy, Debug)]
pub struct Given<'a> {
    /// The rate that the outermost classes share, bits per second; `None` if it is not known.
    pub line: Option<Rate>,
    /// Rates of policers in front of queues that are not part of the policy, by the name of the queue.
    pub limits: &'a BTreeMap<String, Rate>,
}

/// Returns the rates of all classes of a policy; `None` for a policy without queues.
pub fn rates<'a>(policy: &'a PolicyConfig, given: Given) -> Option<Level<'a>> {
    let queueing = policy.queueing.as_ref()?;
    let line = given.line.map(limits::bits);
    let walk = Walk { limits: LimitsOf::new(policy, given.limits), line, load: PriorityLoad::FULL };
    Some(walk.outermost(policy, queueing))
}

/// Returns the rate of each queue of a policy on `line` while all classes are backlogged, in bits per second
/// and in the order of results. `load` is the load of classes with strict priority.
pub fn shares_under(policy: &PolicyConfig, line: f64, load: PriorityLoad) -> Vec<f64> {
    let Some(queueing) = &policy.queueing else { return Vec::new() };
    let none = BTreeMap::new();
    let walk = Walk { limits: LimitsOf::new(policy, &none), line: Some(line), load };
    let level = walk.outermost(policy, queueing);
    level.leaves().into_iter().map(|rates| rates.while_busy.unwrap_or(0.0)).collect()
}
