//! Reading of the output of `tc filter show`, and of indented lines.

use perhop_lint::LineState;

use super::{Open, Shown};
use crate::filter;
use crate::kernel::Kernel;
use crate::model::{HOOK_EGRESS, HOOK_INGRESS, HOOKS};
use crate::options::{self, Place as At};
use crate::syntax::STAB;
use crate::units;
use crate::words::{Origin, Words};

impl Shown {
    pub(super) fn shown_filter(&mut self, kernel: &mut Kernel, number: usize, words: &mut Words) {
        self.open = Some((Open::Counters, number));
        let command = self.command.clone();
        let mut head = filter::Head {
            parent: command.as_ref().and_then(|(_, parent)| *parent),
            ..filter::Head::default()
        };
        let mut device = command.map(|(name, _)| name);
        while let Some(word) = words.peek() {
            if word == "dev" {
                words.next();
                device = words.peek().map(str::to_owned);
            } else if let Some(parent) = parent_of(word) {
                head.parent = Some(parent);
            } else if !head.take(kernel, number, words) {
                break;
            }
            words.next();
        }
        let Some(device) = named_device(kernel, number, device.as_deref(), head.parent) else { return };
        kernel.device_of_line = Some(device);
        // `tc filter show dev NAME parent ID` does not print the parent. If the device has no classful
        // discipline, the hook for arriving packets is assumed.
        let has_queue = kernel.devices[device].root().is_some_and(|root| root.kind.class.is_some());
        if head.parent.is_none() && !has_queue {
            head.parent = kernel.devices[device].hooks().map(|_| HOOK_INGRESS);
        }
        let Some((index, parent)) = filter::owner(kernel, device, head.parent) else {
            return kernel
                .log
                .not_modelled(number, "the output does not show the queueing discipline of this filter");
        };
        let Some(kind) = words.next() else { return };
        if words.peek() == Some("chain") {
            words.next();
            words.next();
        }
        // A list of filters begins with a separate line, and so does each of its tables.
        if words.peek().is_none() {
            return kernel.log.note(number, "the line is the head of a list of filters");
        }
        if words.take("handle") {
            head.handle = words.next().map(str::to_owned);
        }
        if !matches!(kind, "u32" | "flower" | "fw" | "basic" | "matchall") {
            return kernel.log.not_modelled(number, format!("perhop does not read {kind} filters"));
        }
        if !filter::takes_filters(kernel, number, (device, index)) {
            return;
        }
        let Some(body) = filter::body(kernel, number, kind, &head, words) else { return };
        if body.is_table {
            return;
        }
        kernel.log.state(number, LineState::Modelled);
        let handle = kernel.devices[device].qdiscs[index].handle;
        let at = filter::add(kernel, number, (device, index), parent, head, kind, body);
        self.open = Some((Open::Filter(device, handle, at), number));
    }

    /// Reads an indented line.
    pub(super) fn inside(kernel: &mut Kernel, number: usize, open: Open, words: &[String]) {
        kernel.log.state(number, LineState::Irrelevant);
        let mut words = Words::new(words, Origin::Output);
        match (open, words.peek()) {
            (Open::Qdisc(device, handle), Some("vq" | "DP")) => {
                kernel.device_of_line = Some(device);
                let found = kernel.devices[device].qdiscs.iter().position(|qdisc| qdisc.handle == handle);
                let Some(index) = found else { return };
                let kind = kernel.devices[device].qdiscs[index].kind;
                let at = At { line: number, of: kind.name };
                kernel.log.state(number, LineState::Modelled);
                if let Ok(options) =
                    options::read(&[kind.options], &mut words, at, |_| false, &mut kernel.log)
                {
                    kernel.devices[device].qdiscs[index].rows.push((number, options));
                }
            }
            // `tc -d qdisc show` prints the size table on such a line.
            (Open::Qdisc(device, handle), Some("linklayer" | "overhead" | "mpu" | "mtu" | "tsize")) => {
                kernel.device_of_line = Some(device);
                let at = At { line: number, of: "stab" };
                kernel.log.state(number, LineState::Modelled);
                let Ok(found) = options::read(&[STAB], &mut words, at, |_| false, &mut kernel.log) else {
                    return;
                };
                let known = kernel.devices[device].qdiscs.iter_mut().find(|qdisc| qdisc.handle == handle);
                if let Some(qdisc) = known {
                    qdisc.stab = Some(found);
                }
            }
            (Open::Filter(device, handle, at), Some(first)) => {
                kernel.device_of_line = Some(device);
                Self::filter_line(kernel, number, (device, handle, at), first, &mut words);
            }
            _ => {}
        }
    }

    /// Reads a line of a filter: a match or an action.
    fn filter_line(
        kernel: &mut Kernel,
        number: usize,
        (device, handle, at): (usize, u32, usize),
        first: &str,
        words: &mut Words,
    ) {
        let found = kernel.devices[device].qdiscs.iter().position(|qdisc| qdisc.handle == handle);
        let Some(index) = found else { return };
        let Some(known) = kernel.devices[device].qdiscs[index].filters.get(at).cloned() else { return };
        let mut body = filter::Body {
            condition: known.condition.clone(),
            bits: known.bits.clone(),
            ..filter::Body::default()
        };
        let family = known.condition.family;
        match (first, known.kind.as_str()) {
            ("action", _) => {
                words.next();
                kernel.log.state(number, LineState::Modelled);
                body.actions = filter::shown_action(kernel, number, words);
            }
            ("police", _) => {
                words.next();
                words.next();
                kernel.log.state(number, LineState::Modelled);
                body.actions = filter::police(kernel, number, words);
            }
            ("match", "u32") => {
                kernel.log.state(number, LineState::Modelled);
                filter::more_of_u32(kernel, number, family, words, &mut body);
            }
            (_, "flower") if filter::is_field_of_flower(first) => {
                kernel.log.state(number, LineState::Modelled);
                filter::more_of_flower(kernel, number, words, &mut body);
            }
            _ => return,
        }
        let kept = &mut kernel.devices[device].qdiscs[index].filters[at];
        kept.condition = body.condition;
        kept.bits = body.bits;
        kept.actions.extend(body.actions);
        kept.lines.push(number);
    }
}

/// Parses the parent of a filter in the output of `show`.
fn parent_of(word: &str) -> Option<u32> {
    match word {
        "root" => Some(units::ROOT),
        "ingress" => Some(HOOK_INGRESS),
        "egress" => Some(HOOK_EGRESS),
        _ => None,
    }
}

/// Returns the device of a filter: the device with this name, or the only device that has the parent of the
/// filter.
fn named_device(
    kernel: &mut Kernel,
    number: usize,
    name: Option<&str>,
    parent: Option<u32>,
) -> Option<usize> {
    let device = match name {
        Some(name) => Some(kernel.device(name, number)),
        None => device_with(kernel, parent),
    };
    if device.is_none() {
        kernel.log.not_modelled(number, "the device is unknown: write `tc filter show dev NAME` above");
    }
    device
}

/// Returns the device with this discipline, if it is unique.
fn device_with(kernel: &Kernel, parent: Option<u32>) -> Option<usize> {
    let id = parent.unwrap_or(units::ROOT);
    let has = |index: &usize| {
        let device = &kernel.devices[*index];
        match id {
            units::ROOT => device.root().is_some(),
            HOOKS.. => device.hooks().is_some(),
            _ => device.of_major(id).is_some(),
        }
    };
    let mut found = (0..kernel.devices.len()).filter(has);
    let first = found.next();
    first.filter(|_| found.next().is_none()).or_else(|| (kernel.devices.len() == 1).then_some(0))
}
