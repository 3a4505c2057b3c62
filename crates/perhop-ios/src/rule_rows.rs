//! Rows for the tables of the rules of switches, with their evidence.

use perhop_device::{EvidenceKind, PlatformRule, RuleValue};

/// Returns the rule `rule` about `meaning`.
pub(crate) fn row(
    rule: &str,
    meaning: &'static str,
    value: RuleValue,
    certainty: EvidenceKind,
    source: &str,
) -> PlatformRule {
    PlatformRule { rule: rule.to_owned(), meaning, value, certainty, source: source.to_owned(), note: None }
}

/// Returns a rule whose value is text.
pub(crate) fn words(
    rule: &str,
    meaning: &'static str,
    value: &str,
    certainty: EvidenceKind,
    source: &str,
) -> PlatformRule {
    row(rule, meaning, RuleValue::Word(value.to_owned()), certainty, source)
}
