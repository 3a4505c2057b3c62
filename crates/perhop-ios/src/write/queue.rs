//! Writing of queues: limits, flows and WRED.

use perhop_device::Missing;
use perhop_qos::QueueSize;
use perhop_qos::buffer::{BufferConfig, TailDropConfig};
use perhop_qos::classifier::OneOrMany;
use perhop_qos::policy::ClassConfig;
use perhop_qos::queue::{FairQueueingConfig, PrecedenceSource};

use super::random_detect;
use super::words::{codepoint, limit, limit_with_unit};
use crate::platform::Profile;

/// The default queue limit of a class, packets (Cisco document 110850).
const LIMIT: u64 = 64;
/// Default number of queues of `fair-queue`.
const FLOWS: u16 = 256;

/// Whether the class of a queue has priority.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rank {
    Priority,
    Shared,
}

/// Returns the lines of a class's queue.
///
/// # Errors
/// The router has no such queue.
pub(super) fn queue_lines(class: &ClassConfig, profile: Profile, rank: Rank) -> Result<Vec<String>, Missing> {
    let usual = BufferConfig::TailDrop(TailDropConfig::default());
    let is_usual = class.fair_queueing.is_none() && class.queueing.is_none();
    let buffer = class.buffer.as_ref().or(Some(&usual).filter(|_| is_usual));
    let has_wred = matches!(buffer, Some(BufferConfig::Wred(_)));
    let mut lines =
        class.fair_queueing.as_ref().map_or(Vec::new(), |fair| fair_lines(fair, profile, has_wred));
    match buffer {
        None => {}
        Some(BufferConfig::TailDrop(config)) => lines.extend(limit_line(config.limit, profile, rank)),
        Some(BufferConfig::WeightedTailDrop(config)) => {
            lines.extend(limits_by_value(&config.limits, &class.precedence)?);
        }
        Some(BufferConfig::Wred(config)) => lines.extend(random_detect::lines(config, class, profile)?),
        Some(BufferConfig::Red(config)) if config.precedences.len() == 1 => {
            lines.extend(random_detect::lines(config, class, profile)?);
        }
        Some(other) => {
            let kind = serde_json::to_value(other).unwrap_or_default();
            let kind = kind.as_object().and_then(|fields| fields.keys().next().cloned()).unwrap_or_default();
            let missing = Missing::new(format!("buffer: {kind}"), "IOS has tail drop and WRED");
            return Err(missing.instead("write `tail-drop` or `wred`"));
        }
    }
    Ok(lines)
}

fn limit_line(size: QueueSize, profile: Profile, rank: Rank) -> Option<String> {
    let usual = profile.usual_limit(rank == Rank::Priority).map(QueueSize::Packets);
    (usual != Some(size)).then(|| format!("queue-limit {}", limit(size)))
}

fn fair_lines(fair: &FairQueueingConfig, profile: Profile, has_wred: bool) -> Vec<String> {
    let queues = if fair.queues == FLOWS { String::new() } else { format!(" {}", fair.queues) };
    let mut lines = vec![format!("fair-queue{queues}")];
    let packets = fair.flow_limit.count();
    if profile.is_before_hqf() {
        lines.extend((packets != LIMIT).then(|| format!("queue-limit {packets}")));
        return lines;
    }
    // With HQF, the flow limit is a quarter of the class's limit: Cisco document 110850.
    let is_usual = 4 * packets == LIMIT && profile.limits_early_drops();
    if !has_wred && !is_usual {
        lines.push(format!("queue-limit {}", 4 * packets));
    }
    lines
}

fn limits_by_value(limits: &[QueueSize], precedence: &PrecedenceSource) -> Result<Vec<String>, Missing> {
    let line = |values: &str, size: QueueSize| format!("queue-limit {values} {}", limit_with_unit(size));
    let word = match precedence {
        PrecedenceSource::ByDscp(groups) => return Ok(limits_by_codepoint(limits, groups)),
        PrecedenceSource::IpPrecedence => "precedence",
        PrecedenceSource::Cos => "cos",
        PrecedenceSource::Color => "discard-class",
        PrecedenceSource::Dscp => {
            let missing =
                Missing::new("weighted-tail-drop by dscp", "IOS has limits for DSCP or precedence values");
            return Err(missing.instead("write `precedence: {by-dscp: …}`"));
        }
    };
    let Some(most) =
        limits.iter().copied().reduce(|best, limit| if limit.count() > best.count() { limit } else { best })
    else {
        return Ok(Vec::new());
    };
    let mut lines = vec![format!("queue-limit {}", limit_with_unit(most))];
    let others = limits.iter().enumerate().filter(|(_, size)| **size != most);
    lines.extend(others.map(|(value, size)| line(&format!("{word} {value}"), *size)));
    Ok(lines)
}

fn limits_by_codepoint(limits: &[QueueSize], groups: &[OneOrMany<perhop_qos::Dscp>]) -> Vec<String> {
    let is_last_alone = groups.last().is_some_and(|group| group.0.len() == 1);
    let own = limits.last().filter(|_| groups.len() == limits.len() && is_last_alone).copied();
    let mut lines: Vec<String> =
        own.map(|own| format!("queue-limit {}", limit_with_unit(own))).into_iter().collect();
    for (group, size) in groups.iter().zip(limits).filter(|(_, size)| Some(**size) != own) {
        let line = |dscp| format!("queue-limit dscp {} {}", codepoint(dscp), limit_with_unit(*size));
        lines.extend(group.0.iter().map(|dscp| line(*dscp)));
    }
    lines
}
