//! Conversion of the remarks that lowering returns to diagnostics for IOS.

use perhop_device::lower::Remark;
use perhop_lint::Diagnostic;

use crate::rules;

/// Converts `remark` to a diagnostic. `limiter` is the line of the port's first `rate-limit`.
pub(in crate::convert) fn diagnostic(remark: &Remark, limiter: usize) -> Diagnostic {
    match remark {
        Remark::Unreached { line, class, by } => Diagnostic::new(
            &rules::CLASS_SHADOWED,
            *line,
            format!("no packet reaches class {class}: the earlier class {by} matches every packet"),
            "the router accepts the line, but no packet belongs to the class",
        ),
        Remark::TakenByNewMark { line, class } => Diagnostic::new(
            &rules::MARKED_THEN_CLASSIFIED,
            *line,
            format!("class {class} marks or polices packets that the policy inside it has marked"),
            "the router classifies these packets by the original mark, but perhop by the new mark: set the \
             qos-group in the outer class",
        ),
        Remark::QueuedByNewMark { line, class } => Diagnostic::new(
            &rules::MARKED_THEN_CLASSIFIED,
            *line,
            format!("class {class} marks packets in a policy that classifies by the same field"),
            "the router queues by the original mark, but perhop queues by the new mark",
        ),
        Remark::LimitersBeforePolicy => Diagnostic::new(
            &rules::RATE_LIMIT_BESIDE_POLICY,
            limiter,
            "several rate-limit lines and a policy that marks or polices apply in one direction",
            "the router applies both; in perhop a packet that one rate-limit line transmits also passes \
             through the other lines",
        ),
    }
}
