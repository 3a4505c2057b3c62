//! Reading of the output of `tc qdisc show`, `tc class show` and `tc filter show`. An unindented line begins
//! an object, and the following indented lines belong to this object.

mod class;
mod filter;

use perhop_lint::LineState;

use crate::kernel::Kernel;
use crate::model::{HOOK_EGRESS, HOOK_INGRESS, HOOKS, Place, Qdisc};
use crate::options::{self, Options, Place as At};
use crate::syntax::{self, Kind, STAB};
use crate::units;
use crate::words::{Origin, Words};

/// The state of reading output.
#[derive(Debug, Default)]
pub(crate) struct Shown {
    /// The device in the command that printed the output. For filters, also the class or discipline in the
    /// command.
    command: Option<(String, Option<u32>)>,
    /// The object to which indented lines belong, and the line of this object.
    open: Option<(Open, usize)>,
}

/// The object that indented lines belong to.
#[derive(Clone, Copy, Debug)]
enum Open {
    /// A discipline of a device.
    Qdisc(usize, u32),
    /// Only counters.
    Counters,
    /// A filter: its device, its discipline, and its index there.
    Filter(usize, u32, usize),
}

impl Shown {
    /// Reads the device of a `show` command.
    pub(crate) fn read_device(&mut self, words: &mut Words) {
        let (mut device, mut parent) = (None, None);
        while let Some(word) = words.next() {
            match word {
                "dev" => device = words.next(),
                "ingress" => parent = Some(HOOK_INGRESS),
                "egress" => parent = Some(HOOK_EGRESS),
                "parent" => parent = words.next().and_then(units::class_id),
                _ => {}
            }
        }
        self.command = device.map(|device| (device.to_owned(), parent));
    }
    /// Ends the output at another command.
    pub(crate) fn close(&mut self) {
        self.open = None;
    }
}

/// The name of a device that the output omits, as in `tc qdisc show dev eth0`.
const UNNAMED: &str = "device";

/// The content of a line of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shows {
    /// The line is not part of the output of `tc`.
    Nothing,
    /// A discipline, class or filter.
    Object,
    /// A continuation of the object that begins on this line.
    MoreOf(usize),
}

impl Shown {
    /// Reads a line of output.
    pub(crate) fn read(&mut self, kernel: &mut Kernel, number: usize, text: &str) -> Shows {
        let words: Vec<String> = without_hits(text)
            .split_whitespace()
            .map(|word| word.trim_start_matches('*').to_owned())
            .collect();
        let is_inside = text.starts_with([' ', '\t']);
        if let Some((open, line)) = self.open.filter(|_| is_inside) {
            let is_command = words.first().is_some_and(|word| matches!(word.as_str(), "tc" | "sudo" | "ip"));
            if !is_command {
                Self::inside(kernel, number, open, &words);
                return Shows::MoreOf(line);
            }
        }
        let mut words = Words::new(&words, Origin::Output);
        let Some((object, second)) = words.next().zip(words.peek()) else { return Shows::Nothing };
        match object {
            "qdisc" if is_shown_kind(second) => self.shown_qdisc(kernel, number, &mut words),
            "class" if is_shown_kind(second) => self.shown_class(kernel, number, &mut words),
            "filter"
                if matches!(
                    second,
                    "parent"
                        | "root"
                        | "ingress"
                        | "egress"
                        | "protocol"
                        | "dev"
                        | "block"
                        | "pref"
                        | "chain"
                ) =>
            {
                self.shown_filter(kernel, number, &mut words);
            }
            _ => return Shows::Nothing,
        }
        Shows::Object
    }

    fn shown_qdisc(&mut self, kernel: &mut Kernel, number: usize, words: &mut Words) {
        kernel.log.state(number, LineState::Modelled);
        self.open = Some((Open::Counters, number));
        let Some(kind) = words.next().and_then(syntax::kind) else { return };
        let handle = words.next().and_then(units::handle).unwrap_or(0);
        let (mut device, mut place) = (None, Place::Root);
        let mut stab = None;
        while let Some(word) = words.peek() {
            match word {
                "dev" => {
                    words.next();
                    device = words.peek();
                }
                "root" => place = Place::Root,
                "ingress" | "clsact" => place = Place::Hooks,
                "parent" => {
                    words.next();
                    let id = words.peek().and_then(units::class_id).unwrap_or(0);
                    place = if id >= HOOKS { Place::Hooks } else { Place::Class(id) };
                }
                "refcnt" | "ingress_block" | "egress_block" => {
                    words.next();
                }
                "[Unknown" | "offloaded" | "deleted" => {}
                _ => break,
            }
            words.next();
        }
        let device = match device {
            Some(name) => kernel.device(name, number),
            None => self.device_or_unnamed(kernel, number),
        };
        let options = Self::shown_options(kernel, number, kind, words, &mut stab);
        let place = if matches!(kind.name, "ingress" | "clsact") { Place::Hooks } else { place };
        let Some(options) = options.filter(|_| kind.name != "noqueue") else { return };
        self.keep(
            kernel,
            number,
            device,
            Qdisc {
                kind,
                handle: if place == Place::Hooks { HOOKS } else { handle },
                place,
                line: number,
                options,
                stab,
                classes: Vec::new(),
                filters: Vec::new(),
                rows: Vec::new(),
            },
        );
    }

    /// Returns the device of the `show` command. Without a command, reports this and returns an unnamed
    /// device.
    fn device_or_unnamed(&self, kernel: &mut Kernel, number: usize) -> usize {
        if let Some((name, _)) = &self.command {
            return kernel.device(name, number);
        }
        if kernel.devices.iter().all(|device| device.name != UNNAMED) {
            let note = format!(
                "the output does not name its device, which is `{UNNAMED}` here; write `tc qdisc show dev NAME` \
                 above"
            );
            kernel.log.note(number, note);
        }
        kernel.device(UNNAMED, number)
    }

    /// Reads the options in the output of `show`, with the size table after or among them.
    fn shown_options(
        kernel: &mut Kernel,
        number: usize,
        kind: &'static Kind,
        words: &mut Words,
        stab: &mut Option<Options>,
    ) -> Option<Options> {
        match kind.model {
            syntax::Model::NotModelled(why) => {
                kernel.log.not_modelled(number, format!("{}: {why}", kind.name));
            }
            syntax::Model::Irrelevant(why) => kernel.log.note(number, why),
            syntax::Model::Modelled(_) => {}
        }
        if kind.options.is_empty() {
            return Some(Options::default());
        }
        let at = At { line: number, of: kind.name };
        let ends = |word: &str| word == "stab" || word == "linklayer-of";
        let found = options::read(&[kind.options], words, at, ends, &mut kernel.log).ok()?;
        if words.take("stab") {
            let at = At { line: number, of: "stab" };
            *stab = options::read(&[STAB], words, at, |_| false, &mut kernel.log).ok();
        }
        Some(found)
    }

    /// Adds a discipline from the output. If a command has created the discipline, only updates its options.
    fn keep(&mut self, kernel: &mut Kernel, number: usize, device: usize, new: Qdisc) {
        let known = &mut kernel.devices[device];
        // perhop models only the first transmit queue of mq.
        if let Place::Class(id) = new.place
            && known.of_major(id).is_none()
        {
            let is_of_mq = known.root().is_some_and(|root| root.kind.name == "mq");
            if !is_of_mq {
                return kernel.log.not_modelled(
                    number,
                    "the output does not show the parent of this discipline on an earlier line",
                );
            }
            let first =
                known.qdiscs.iter().find(|qdisc| matches!(qdisc.place, Place::Class(id) if id >> 16 == 0));
            if let Some(first) = first {
                let (line, same) =
                    (first.line, first.kind.name == new.kind.name && first.options == new.options);
                let note = format!(
                    "a port in perhop has one transmit queue: perhop uses only the queue of line {line}"
                );
                if same {
                    kernel.log.taken_back(number, line);
                    kernel.log.note(number, note);
                } else {
                    kernel.log.not_modelled(number, note);
                }
                return;
            }
        }
        self.open = Some((Open::Qdisc(device, new.handle), number));
        let known = &mut kernel.devices[device];
        match known.at(new.place) {
            Some(index) => {
                let old = &mut known.qdiscs[index];
                let line = old.line;
                if old.kind.name == new.kind.name && (old.handle == new.handle || old.handle >> 16 >= 0x8001)
                {
                    old.options.changed_by(new.options);
                    old.handle = new.handle;
                    kernel.log.note(number, format!("line {line}, as it is shown"));
                } else {
                    for line in known.remove(index) {
                        kernel.log.taken_back(line, number);
                    }
                    known.qdiscs.push(new);
                }
            }
            None => known.qdiscs.push(new),
        }
    }
}

/// Whether a word after `qdisc` or `class` is a kind, as in output, and not a verb.
fn is_shown_kind(word: &str) -> bool {
    let verbs =
        ["add", "change", "replace", "link", "delete", "del", "list", "show", "ls", "lst", "get", "help"];
    !verbs.contains(&word) && syntax::kind(word).is_some()
}

/// Removes the counters of a filter line: `(rule hit 3 success 3)`, `(success 3 )`.
fn without_hits(text: &str) -> String {
    let mut rest = text;
    let mut kept = String::new();
    while let Some(at) = ["(rule hit ", "(success "].iter().filter_map(|mark| rest.find(mark)).min() {
        let Some(end) = rest[at..].find(')') else { break };
        kept += &rest[..at];
        rest = &rest[at + end + 1..];
    }
    kept + rest
}
