//! Reading of filters: their conditions, targets and actions.

mod action;
mod body;
mod control;
mod flower;
mod head;
mod kept;
mod police;
mod u32;

use perhop_lint::LineState;
use perhop_qos::classifier::OneOrMany;

pub(crate) use action::shown as shown_action;
pub(crate) use body::Body;
pub(crate) use head::Head;
pub(crate) use kept::{add, owner, takes_filters};
pub(crate) use police::police;

use crate::kernel::Kernel;
use crate::model::{Condition, Family, HOOKS};
use crate::nearest::suggestion;
use crate::units;
use crate::words::{Words, abbreviates};
use body::{common, labels};
use kept::delete;

/// Known kinds of filters that perhop does not read, and the reasons.
const UNREAD: [(&str, &str); 7] = [
    ("bpf", "perhop does not run eBPF programs"),
    ("cgroup", "perhop's hosts have no control groups (cgroups)"),
    ("flow", "perhop does not model hashing of flows into classes: use sfq, fq_codel, or drr with filters"),
    ("route", "perhop does not read realms of routes"),
    ("tcindex", "it reads the index of dsmark; both were removed in Linux 6.3"),
    ("rsvp", "it was removed in Linux 6.3; u32 and flower match addresses and ports"),
    ("rsvp6", "it was removed in Linux 6.3; u32 and flower match addresses and ports"),
];
const KINDS: [&str; 5] = ["u32", "flower", "fw", "basic", "matchall"];

/// Executes `tc filter VERB`, starting at the kind.
pub(crate) fn apply(
    kernel: &mut Kernel,
    number: usize,
    verb: &str,
    device: usize,
    head: Head,
    words: &mut Words,
) {
    let Some((index, parent)) = owner(kernel, device, head.parent) else {
        let known = &kernel.devices[device];
        let name = &known.name;
        let message = match head.parent {
            None | Some(units::ROOT) => format!("{name} has no root qdisc for the filter"),
            Some(HOOKS..) => {
                format!("{name} has no ingress qdisc for the filter: add `tc qdisc add dev {name} clsact`")
            }
            Some(parent) => format!("{} for the filter", known.without_qdisc(parent & 0xffff_0000)),
        };
        return kernel.refuse(number, message);
    };
    if verb == "delete" {
        return delete(kernel, number, device, (index, parent), &head, words.peek());
    }
    if !takes_filters(kernel, number, (device, index)) {
        return;
    }
    let Some(kind) = words.next() else { return kernel.refuse(number, "the kind of filter is missing") };
    if let Some((_, why)) = UNREAD.iter().find(|(name, _)| *name == kind) {
        kernel.log.not_modelled(number, format!("filter {kind}: {why}"));
        let body =
            Body { condition: Condition { is_unseen: true, ..Condition::default() }, ..Body::default() };
        add(kernel, number, (device, index), parent, head, kind, body);
        return;
    }
    if !KINDS.contains(&kind) {
        kernel.log.state(number, LineState::NotRecognized);
        kernel.log.note(number, format!("`{kind}` is not a filter: {}", suggestion(kind, KINDS)));
        return;
    }
    let Some(body) = body(kernel, number, kind, &head, words) else { return };
    if !body.is_table {
        add(kernel, number, (device, index), parent, head, kind, body);
    }
}

/// Reads the part of a filter after the kind; `None` if tc refuses it.
pub(crate) fn body(
    kernel: &mut Kernel,
    number: usize,
    kind: &str,
    head: &Head,
    words: &mut Words,
) -> Option<Body> {
    let known = head.family();
    let family = known.unwrap_or_default();
    let mut body = Body::default();
    body.condition.family = family;
    let read = match kind {
        "u32" => u32::read(kernel, number, family, words, &mut body),
        "flower" => flower::read(kernel, number, words, &mut body, head.protocol.is_some()),
        "fw" => {
            marked(kernel, number, head.handle.as_deref(), &mut body);
            simple(kernel, number, "fw", words, &mut body)
        }
        "basic" => simple(kernel, number, "basic", words, &mut body),
        _ => simple(kernel, number, "matchall", words, &mut body),
    };
    if known.is_none() {
        let protocol = head.protocol.clone().unwrap_or_default();
        kernel.log.note(number, format!("protocol {protocol}: perhop has only IP packets"));
        body.condition = Condition { is_never: true, ..Condition::default() };
    }
    read.then_some(body)
}

/// Reads `fw`, which compares the mark of the packet with the handle of the filter.
fn marked(kernel: &mut Kernel, number: usize, handle: Option<&str>, body: &mut Body) {
    let Some(handle) = handle else {
        kernel.log.not_modelled(number, "fw without a handle uses the mark as the class: write handle MARK");
        body.condition.is_unseen = true;
        return;
    };
    let (value, mask) = handle.split_once('/').map_or((handle, None), |(value, mask)| (value, Some(mask)));
    let value = units::integer(value, 0);
    let mask = mask.map_or(Some(u64::from(u32::MAX)), |mask| units::integer(mask, 0));
    if let Some(labels) = labels(value.unwrap_or(u64::MAX), mask.unwrap_or(0)) {
        body.condition.matches.label = Some(OneOrMany(labels));
    } else {
        kernel.log.not_modelled(number, "marks in perhop are numbers up to 255");
        body.condition.is_unseen = true;
    }
}

/// Reads a line of `show` with a further `match` of u32.
pub(crate) fn more_of_u32(
    kernel: &mut Kernel,
    number: usize,
    family: Family,
    words: &mut Words,
    body: &mut Body,
) {
    let was_unseen = body.condition.is_unseen;
    u32::read(kernel, number, family, words, body);
    body.condition.is_unseen |= was_unseen;
}

/// Reads a line of `show` with a further field of flower.
pub(crate) fn more_of_flower(kernel: &mut Kernel, number: usize, words: &mut Words, body: &mut Body) {
    flower::read(kernel, number, words, body, true);
}

/// Whether a line of `show` that begins with `word` is a field of flower.
pub(crate) fn is_field_of_flower(word: &str) -> bool {
    flower::is_field(word)
}

/// Reads the options common to all filters: class and actions.
fn simple(kernel: &mut Kernel, number: usize, kind: &str, words: &mut Words, body: &mut Body) -> bool {
    while let Some(word) = words.next() {
        if common(kernel, number, word, words, body) {
            continue;
        }
        if kind == "basic" && abbreviates(word, "match") {
            words.next();
            kernel.log.not_modelled(
                number,
                "perhop does not read the expressions of basic filters: use u32 or flower",
            );
            body.condition.is_unseen = true;
            continue;
        }
        let known = ["classid", "flowid", "action", "police", "skip_hw", "skip_sw"];
        kernel.refuse(number, format!("`{word}` is not an option of {kind}: {}", suggestion(word, known)));
        return false;
    }
    true
}
