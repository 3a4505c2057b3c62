//! Addition and removal of the filters of a discipline.

use perhop_lint::LineState;

use super::body::Body;
use super::head::Head;
use crate::kernel::Kernel;
use crate::model::{Filter, HOOK_INGRESS, HOOKS, Place};
use crate::rules;
use crate::units;

/// Returns the discipline of a filter, and the class or hook to which the filter is attached.
pub(crate) fn owner(kernel: &Kernel, device: usize, parent: Option<u32>) -> Option<(usize, u32)> {
    let known = &kernel.devices[device];
    match parent {
        None | Some(units::ROOT) => {
            let index = known.at(Place::Root)?;
            Some((index, known.qdiscs[index].handle))
        }
        Some(HOOKS) => Some((known.at(Place::Hooks)?, HOOK_INGRESS)),
        Some(hook) if hook >= HOOKS => Some((known.at(Place::Hooks)?, hook)),
        Some(id) => Some((known.of_major(id)?, id)),
    }
}

/// Whether a discipline accepts filters. Reports filters that perhop does not apply.
///
/// The conversion reports filters at cake. Linux: `tcf_block` of its `Qdisc_class_ops` (`__tcf_qdisc_find`
/// and `__tcf_qdisc_cl_find` of `cls_api.c`).
pub(crate) fn takes_filters(kernel: &mut Kernel, number: usize, (device, index): (usize, usize)) -> bool {
    let kind = kernel.devices[device].qdiscs[index].kind;
    match kind.name {
        "clsact" | "ingress" | "prio" | "ets" | "drr" | "htb" | "hfsc" | "qfq" | "multiq" | "sfb" | "cbq"
        | "dsmark" | "atm" | "cake" => true,
        "fq_codel" | "sfq" | "dualpi2" => {
            let note = format!("perhop does not model filters that choose a queue of {}", kind.name);
            kernel.log.not_modelled(number, note);
            true
        }
        name => {
            let line = kernel.devices[device].qdiscs[index].line;
            let message = format!(
                "{name} of line {line} accepts no filters: attach the filter to a discipline with classes, \
                 or to clsact"
            );
            kernel.refuse(number, message);
            false
        }
    }
}

/// The first automatic preference, half the maximum (Linux: `tcf_auto_prio`).
const FIRST_PREFERENCE: u32 = 0xc000;

/// Adds a filter at `parent`. Returns its index among the filters of its discipline.
pub(crate) fn add(
    kernel: &mut Kernel,
    number: usize,
    (device, index): (usize, usize),
    parent: u32,
    head: Head,
    kind: &str,
    body: Body,
) -> usize {
    let qdisc = &mut kernel.devices[device].qdiscs[index];
    let chain = head.chain.unwrap_or(0);
    let others = || qdisc.filters.iter().filter(|filter| filter.parent == parent && filter.chain == chain);
    // `tcf_auto_prio`: a filter without a preference precedes all existing filters.
    let least = others().map(|other| other.preference).min();
    let preference = head.preference.filter(|given| *given > 0);
    let preference =
        preference.unwrap_or_else(|| least.map_or(FIRST_PREFERENCE, |least| least.saturating_sub(1)));
    let same = others().find(|other| other.preference == preference && other.kind != kind);
    if let Some(other) = same {
        let message =
            format!("preference {preference} already belongs to {} of line {}", other.kind, other.line());
        kernel.refuse(number, message);
        return usize::MAX;
    }
    if head.preference.is_none() && least.is_some() {
        let message = "Linux puts a filter without `pref` before all existing filters";
        kernel.log.found(
            &rules::TC_FILTER_ORDER,
            number,
            message,
            "Linux and perhop try the newest filter first",
        );
    }
    let qdisc = &mut kernel.devices[device].qdiscs[index];
    qdisc.filters.push(Filter {
        parent,
        preference,
        chain,
        lines: vec![number],
        handle: head.handle,
        kind: kind.to_owned(),
        condition: body.condition,
        bits: body.bits,
        class: body.class,
        actions: body.actions,
    });
    qdisc.filters.len() - 1
}

pub(super) fn delete(
    kernel: &mut Kernel,
    number: usize,
    device: usize,
    (index, parent): (usize, u32),
    head: &Head,
    kind: Option<&str>,
) {
    let chain = head.chain.unwrap_or(0);
    let is_meant = |filter: &Filter| {
        filter.parent == parent
            && filter.chain == chain
            && head.preference.is_none_or(|preference| preference == filter.preference)
            && kind.is_none_or(|kind| kind == filter.kind)
            && head.handle.as_ref().is_none_or(|handle| filter.handle.as_ref() == Some(handle))
    };
    let filters = &mut kernel.devices[device].qdiscs[index].filters;
    let lines: Vec<usize> =
        filters.iter().filter(|filter| is_meant(filter)).flat_map(|filter| filter.lines.clone()).collect();
    filters.retain(|filter| !is_meant(filter));
    if lines.is_empty() {
        kernel.log.state(number, LineState::Irrelevant);
        return kernel.log.note(number, "there is no filter to delete");
    }
    for line in lines {
        kernel.log.taken_back(line, number);
    }
    kernel.log.state(number, LineState::Modelled);
}
