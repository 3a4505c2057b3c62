//! Reports filters that match a firewall mark that no line of the file sets.

use crate::log::Log;
use crate::marks::Marks;
use crate::model::{Action, Device, Filter};
use crate::rules;

/// Reports the filters of `devices` whose mark is neither in `marks` nor set by an action of a filter.
pub(super) fn check(devices: &[Device], marks: &Marks, log: &mut Log) {
    let mut marks = marks.clone();
    let filters = || devices.iter().flat_map(|device| &device.qdiscs).flat_map(|qdisc| &qdisc.filters);
    for action in filters().flat_map(|filter| &filter.actions) {
        match action {
            Action::Label(label) => marks.set_value(u64::from(*label)),
            Action::Unseen => marks.open(),
            _ => {}
        }
    }
    for filter in filters() {
        if let Some(mark) = missing_mark(filter, &marks) {
            let others = marks.listed().map_or_else(
                || "no line sets any mark".to_owned(),
                |values| format!("the lines set only {values}"),
            );
            log.not_modelled(
                filter.line(),
                "no line of the file sets this mark; a firewall outside of the file may set it",
            );
            log.found(
                &rules::TC_MARK_NEVER_SET,
                filter.line(),
                format!("no line of the file sets mark {mark}; {others}"),
                "in a run, no packet matches the filter; in Linux, packets match only if a firewall outside \
                 of this file sets the mark",
            );
        }
    }
}

/// Returns the mark that `filter` matches and that no packet has.
fn missing_mark(filter: &Filter, marks: &Marks) -> Option<String> {
    let condition = &filter.condition;
    let labels = &condition.matches.label.as_ref()?.0;
    let is_missing = !condition.is_never && !condition.is_unseen && !marks.may_be(labels);
    is_missing.then(|| labels.first().map(ToString::to_string))?
}
