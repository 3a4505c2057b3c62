//! Reports filters that discard packets unintentionally, and classes that are lost at the next router.

use perhop_lint::Diagnostic;

use super::checked::{Checked, finding};
use crate::firewall::{Condition, End, Filter, FilterFamily};
use crate::rules;

pub(super) fn check(checked: Checked) -> Vec<Diagnostic> {
    let filters = &checked.firewall.filters;
    let is_applied = |family: FilterFamily, name: &str| {
        let units = checked.interfaces.iter().flat_map(|interface| &interface.units);
        // Only the last filter of a list discards the packets that match no filter.
        units.flat_map(|unit| [&unit.sides.input, &unit.sides.output]).any(|side| {
            let mut own = side.filters.iter().filter(|(known, _)| *known == family);
            own.next_back().is_some_and(|(_, last)| last.value == name)
        })
    };
    let applied = filters.iter().filter(|(family, name, _)| is_applied(*family, name));
    let mut found: Vec<Diagnostic> =
        applied.filter_map(|(_, name, filter)| discards_rest(name, filter)).collect();
    found.extend(not_rewritten(checked));
    found
}

/// Reports a filter that classifies or polices packets, rejects no packet, and has no term for all other
/// packets. It discards packets that no term matches (Junos Routing Policies and Firewall Filters User Guide,
/// "How Standard Firewall Filters Evaluate Packets").
fn discards_rest(name: &str, filter: &Filter) -> Option<Diagnostic> {
    let terms = &filter.terms;
    let treats = terms.iter().any(|term| {
        let then = &term.then;
        then.label.is_some() || then.loss.is_some() || then.dscp.is_some() || then.policer.is_some()
    });
    let rejects = terms.iter().any(|term| term.then.end == End::Discard);
    let is_unknown = terms.iter().any(|term| term.from == Condition::Unknown);
    let has_rest = terms.iter().any(|term| term.from == Condition::All && term.then.end != End::NextTerm);
    (treats && !rejects && !is_unknown && !has_rest).then(|| {
        let message = format!("filter {name} discards the packets that no term matches");
        let router = "end the filter with a term without `from`, with `then accept`";
        finding(&rules::JUNOS_FILTER_DISCARDS_REST, filter.line, message, router)
    })?
}

/// Reports the first term that gives packets a class, if no port has rewrite rules and no filter writes
/// codepoints.
fn not_rewritten(checked: Checked) -> Option<Diagnostic> {
    let rewrites = checked.cos.attachments.all().any(|attached| !attached.rewrites.is_empty());
    let marks = |filter: &Filter| filter.terms.iter().any(|term| term.then.dscp.is_some());
    if rewrites || checked.firewall.filters.iter().any(|(_, _, filter)| marks(filter)) {
        return None;
    }
    let (line, name, label) = checked.firewall.filters.iter().find_map(|(_, name, filter)| {
        let term = filter.terms.iter().find(|term| term.then.label.is_some())?;
        Some((term.line, name, term.then.label?))
    })?;
    let class = checked.cos.classes.at(label).map_or("", |class| class.name.as_str());
    let message = format!("filter {name} gives packets class {class}, but no interface has rewrite rules");
    let router = "the packets keep their codepoints, and the next router classifies by these codepoints";
    finding(&rules::JUNOS_CLASS_NOT_REWRITTEN, line, message, router)
}
