//! Resolved policies as [`AttachedPolicy`], where marks and actions are text.

use super::resolved::{ResolvedClass, ResolvedPolice, ResolvedPolicy};
use crate::intent::Action;
use crate::policy::{AttachedClass, AttachedPolicy, Policer};

impl From<ResolvedPolicy> for AttachedPolicy {
    fn from(policy: ResolvedPolicy) -> AttachedPolicy {
        let ResolvedPolicy { name, line, rate_bps, classes, priority_limits } = policy;
        let classes = classes.into_iter().map(Into::into).collect();
        AttachedPolicy { name, line, rate_bps, classes, priority_limits }
    }
}

impl From<ResolvedClass> for AttachedClass {
    fn from(class: ResolvedClass) -> AttachedClass {
        AttachedClass {
            id: class.id,
            name: class.name,
            line: class.line,
            combination: class.combination,
            matches: class.matches,
            queue: class.queue,
            conditioner: class.conditioner,
            bandwidth: class.bandwidth,
            priority: class.priority,
            police: class.police.map(Into::into),
            shape: class.shape,
            queue_limit: class.queue_limit,
            fair_queue: class.fair_queue,
            random_detect: class.random_detect,
            marks: class.marks.into_iter().map(|mark| mark.printed).collect(),
            drop: class.drop,
            policy: class.policy.map(Into::into),
        }
    }
}

impl From<ResolvedPolice> for Policer {
    fn from(police: ResolvedPolice) -> Policer {
        Policer {
            kind: police.kind,
            value: police.value,
            cir_bps: police.cir_bps,
            bc_bytes: police.bc_bytes,
            pir_bps: police.pir_bps,
            be_bytes: police.be_bytes,
            colors: police.colors,
            conform: printed(police.conform),
            exceed: printed(police.exceed),
            violate: printed(police.violate),
        }
    }
}

fn printed(actions: Vec<Action>) -> Vec<String> {
    actions.into_iter().map(|action| action.printed).collect()
}
