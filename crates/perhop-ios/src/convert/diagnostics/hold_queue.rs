//! Reports a `hold-queue` that has no effect, because the policy of the interface has its own queues.

use perhop_lint::Diagnostic;
use perhop_qos::buffer::BufferConfig;
use perhop_qos::policy::{ClassConfig, PolicyConfig, QueueingConfig};

use crate::ast::At;
use crate::rules;

/// Limit on the queues named in a note.
const NAMED: usize = 3;

/// Returns a note that `hold` does not limit the queues of `policy`. `output` is the lowered policy.
pub(in crate::convert) fn unused_hold_queue(
    hold: At<u64>,
    policy: &str,
    output: &PolicyConfig,
) -> Diagnostic {
    let mut limits = Vec::new();
    if let Some(queueing) = &output.queueing {
        add_limits(queueing, &mut limits);
    }
    let more = if limits.len() > NAMED { ", …" } else { "" };
    limits.truncate(NAMED);
    let limits = if limits.is_empty() { String::new() } else { format!(": {}{more}", limits.join(", ")) };
    Diagnostic::new(
        &rules::HOLD_QUEUE_UNUSED,
        hold.line,
        format!("hold-queue {} does not enlarge the queues of policy {policy}", hold.value),
        format!(
            "each class drops packets above its own limit{limits}; `queue-limit` in the class changes the \
             limit"
        ),
    )
}

/// Adds the names and limits of the queues with tail drop.
fn add_limits(queueing: &QueueingConfig, found: &mut Vec<String>) {
    for ClassConfig { name, buffer, queueing, .. } in &queueing.classes {
        match (queueing, buffer) {
            (Some(inner), _) => add_limits(inner, found),
            (None, Some(BufferConfig::TailDrop(drop))) => found.push(format!("{name} {}", drop.limit)),
            (None, _) => {}
        }
    }
}
