//! `tc class`: the effect and the errors of the command in the kernel (`net/sched/sch_api.c`).

use perhop_lint::LineState;

use super::head::{head, kind_of};
use super::qdisc::without_class;
use crate::kernel::Kernel;
use crate::model::{Class, Device, Place};
use crate::options::{self, Opt, Options, Place as At};
use crate::syntax::{Kind, Model};
use crate::units;
use crate::words::{Origin, Words};

pub(crate) fn class(kernel: &mut Kernel, number: usize, verb: &str, words: &mut Words) {
    let Some(head) = head(kernel, number, "class", words) else { return };
    let Some(name) = head.device else {
        return kernel.refuse(number, "the command names no device: write dev NAME");
    };
    let device = kernel.device(name, number);
    let Some(id) = head.class.or(head.parent.filter(|_| verb == "delete")) else {
        return kernel.refuse(number, "the command gives the class no number: write classid 1:10");
    };
    if verb == "delete" {
        return delete_class(kernel, number, device, id);
    }
    let Some(kind) = head.kind.and_then(|name| kind_of(kernel, number, name)) else { return };
    let parent = head.parent.unwrap_or(units::ROOT);
    add_class(kernel, number, device, verb, (kind, id, parent), words);
}

/// Adds or changes the class `id` of `kind` inside `parent`.
pub(crate) fn add_class(
    kernel: &mut Kernel,
    number: usize,
    device: usize,
    verb: &str,
    (kind, id, parent): (&'static Kind, u32, u32),
    words: &mut Words,
) {
    let Some(table) = kind.class else {
        return kernel.refuse(number, format!("{} has no classes", kind.name));
    };
    if let Model::NotModelled(why) = kind.model {
        kernel.log.not_modelled(number, format!("{}: {why}", kind.name));
    }
    let Some(options) = read_options(kernel, number, (kind, table), words) else { return };
    let shown = words.origin == Origin::Output;
    let known = &mut kernel.devices[device];
    let major = if parent == units::ROOT { id } else { parent };
    let index = known.of_major(major).filter(|index| known.qdiscs[*index].kind.name == kind.name);
    let Some(index) = index else {
        let message = without_kind(known, major & 0xffff_0000, kind);
        return kernel.refuse(number, message);
    };
    let qdisc = &mut known.qdiscs[index];
    let inner = (parent != units::ROOT && parent & 0xffff != 0).then_some(parent);
    if inner.is_some_and(|inner| qdisc.class(inner).is_none()) && !shown {
        let message = without_class(kernel, device, parent);
        return kernel.refuse(number, message);
    }
    if id & 0xffff_0000 != qdisc.handle {
        let message = format!(
            "the major number of class {} differs from the handle {} of its qdisc",
            units::shown_id(id),
            units::shown_id(qdisc.handle)
        );
        return kernel.refuse(number, message);
    }
    let there = qdisc.classes.iter().position(|class| class.id == id);
    match (there, verb) {
        (Some(at), "add") => {
            let message =
                format!("class {} already exists in line {}", units::shown_id(id), qdisc.classes[at].line);
            kernel.refuse(number, message);
        }
        (Some(at), _) => {
            let class = &mut qdisc.classes[at];
            class.options.changed_by(options);
            let line = class.line;
            kernel.log.note(number, format!("changes line {line}"));
        }
        (None, "change") => kernel.refuse(number, "the class to change does not exist: write add or replace"),
        (None, _) => qdisc.classes.push(Class { id, parent: inner, line: number, options }),
    }
}

/// Reads the options of a class; `None` if tc or Linux refuses them.
fn read_options(
    kernel: &mut Kernel,
    number: usize,
    (kind, table): (&'static Kind, &'static [Opt]),
    words: &mut Words,
) -> Option<Options> {
    let at = At { line: number, of: kind.name };
    let read = if table.is_empty() && kind.options.is_empty() {
        Ok(Options::default())
    } else {
        options::read(&[table], words, at, |_| false, &mut kernel.log)
    };
    let options = read.ok()?;
    if kind.name == "htb" && !options.has("rate") {
        kernel.refuse_by_tc(number, "a class of htb must have `rate`");
        return None;
    }
    if kind.name == "hfsc" && words.origin == Origin::Command {
        let has = |names: &[&str]| names.iter().any(|name| options.has(name));
        if !has(&["rt", "ls", "sc", "ul"]) {
            kernel.refuse(number, "a class of hfsc must have `ls`, `rt` or `sc`");
            return None;
        }
        if has(&["ul"]) && !has(&["ls", "sc"]) {
            kernel.refuse(number, "`ul` of hfsc needs `ls` or `sc`");
            return None;
        }
    }
    Some(options)
}

/// Returns that a device has no discipline of `kind` with the handle.
fn without_kind(device: &Device, handle: u32, kind: &Kind) -> String {
    device.of_major(handle).map_or_else(
        || device.without_qdisc(handle),
        |index| {
            let (other, shown) = (device.qdiscs[index].kind.name, units::shown_id(handle));
            format!("qdisc {shown} of {} is {other}, not {}", device.name, kind.name)
        },
    )
}

fn delete_class(kernel: &mut Kernel, number: usize, device: usize, id: u32) {
    let known = &mut kernel.devices[device];
    let found = known.of_major(id).and_then(|index| {
        let at = known.qdiscs[index].classes.iter().position(|class| class.id == id)?;
        Some((index, at))
    });
    let Some((index, at)) = found else {
        let message = without_class(kernel, device, id);
        return kernel.refuse(number, message);
    };
    let class = known.qdiscs[index].classes.remove(at);
    let mut lines = vec![class.line];
    if let Some(child) = known.at(Place::Class(id)) {
        lines.extend(known.remove(child));
    }
    for line in lines {
        kernel.log.taken_back(line, number);
    }
    kernel.log.state(number, LineState::Modelled);
}
