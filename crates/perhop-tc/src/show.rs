//! The output of `tc qdisc show`, `tc class show` and `tc filter show`: lines that stand at the begin of a
//! line say what there is, those further in belong to it.

use perhop_lint::LineState;

use crate::commands::add_class;
use crate::filter;
use crate::model::{HOOKS, Place, Qdisc};
use crate::options::{self, Options, Place as At};
use crate::session::Session;
use crate::syntax::{self, Kind, STAB};
use crate::units;
use crate::words::{Voice, Words};

/// Where the output stands.
#[derive(Debug, Default)]
pub(crate) struct Shown {
    /// The device that the last line was about.
    pub(crate) device_of_line: Option<usize>,
    /// The device of the command that printed what follows, and its class or discipline for filters.
    asked: Option<(String, Option<u32>)>,
    /// What lines further in belong to, and its line.
    open: Option<(Open, usize)>,
}

/// What lines further in belong to.
#[derive(Clone, Copy, Debug)]
enum Open {
    /// A discipline of a device.
    Qdisc(usize, u32),
    /// Counters alone.
    Counters,
    /// A filter: its device, its discipline, and its place there.
    Filter(usize, u32, usize),
}

impl Shown {
    /// A command of show says which device it is about.
    pub(crate) fn told_to(&mut self, words: &mut Words) {
        let (mut device, mut parent) = (None, None);
        while let Some(word) = words.next() {
            match word {
                "dev" => device = words.next(),
                "ingress" => parent = Some(crate::model::HOOK_INGRESS),
                "egress" => parent = Some(crate::model::HOOK_EGRESS),
                "parent" => parent = words.next().and_then(units::class_id),
                _ => {}
            }
        }
        self.asked = device.map(|device| (device.to_owned(), parent));
    }
    /// Another command ends the output.
    pub(crate) fn close(&mut self) {
        self.open = None;
    }
}

/// What a line of output shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shows {
    /// It is no output.
    Nothing,
    /// A discipline, class or filter.
    Object,
    /// More of what the line of this number shows.
    MoreOf(usize),
}

impl Session {
    /// Reads a line of output.
    pub(crate) fn show(&mut self, number: usize, text: &str) -> Shows {
        let words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
        let is_inside = text.starts_with([' ', '\t']);
        if let Some((open, line)) = self.shown.open.filter(|_| is_inside) {
            let is_command = words.first().is_some_and(|word| matches!(word.as_str(), "tc" | "sudo" | "ip"));
            if !is_command {
                self.inside(number, open, &words);
                return Shows::MoreOf(line);
            }
        }
        let mut words = Words::new(&words, Voice::Shown);
        let Some((object, second)) = words.next().zip(words.peek()) else { return Shows::Nothing };
        match object {
            "qdisc" if is_shown_kind(second) => self.shown_qdisc(number, &mut words),
            "class" if is_shown_kind(second) => self.shown_class(number, &mut words),
            "filter" if matches!(second, "parent" | "protocol" | "dev" | "block" | "pref" | "chain") => {
                self.shown_filter(number, &mut words);
            }
            _ => return Shows::Nothing,
        }
        Shows::Object
    }

    fn shown_qdisc(&mut self, number: usize, words: &mut Words) {
        self.log.state(number, LineState::Modelled);
        self.shown.open = Some((Open::Counters, number));
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
        let name =
            device.map(str::to_owned).or_else(|| self.shown.asked.as_ref().map(|(name, _)| name.clone()));
        let Some(name) = name else {
            return self.log.not_modelled(number, "of which device? write `tc qdisc show dev NAME` above");
        };
        let device = self.device(&name, number);
        let options = self.shown_options(number, kind, words, &mut stab);
        let place = if matches!(kind.name, "ingress" | "clsact") { Place::Hooks } else { place };
        let Some(options) = options.filter(|_| kind.name != "noqueue") else { return };
        self.keep(
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

    /// The options that `show` prints, and the size table behind or among them.
    fn shown_options(
        &mut self,
        number: usize,
        kind: &'static Kind,
        words: &mut Words,
        stab: &mut Option<Options>,
    ) -> Option<Options> {
        match kind.model {
            syntax::Model::NotModelled(why) => self.log.not_modelled(number, format!("{}: {why}", kind.name)),
            syntax::Model::Irrelevant(why) => self.log.note(number, why),
            syntax::Model::Modelled(_) => {}
        }
        if kind.options.is_empty() {
            return Some(Options::default());
        }
        let at = At { line: number, of: kind.name };
        let ends = |word: &str| word == "stab" || word == "linklayer-of";
        let found = options::read(&[kind.options], words, at, ends, &mut self.log).ok()?;
        if words.take("stab") {
            let at = At { line: number, of: "stab" };
            *stab = options::read(&[STAB], words, at, |_| false, &mut self.log).ok();
        }
        Some(found)
    }

    /// Keeps a discipline that is shown: what was there by a command is the same one.
    fn keep(&mut self, number: usize, device: usize, new: Qdisc) {
        let known = &mut self.devices[device];
        // A transmit queue of mq: perhop has one, the first that is shown.
        if let Place::Class(id) = new.place
            && known.of_major(id).is_none()
        {
            let is_of_mq = known.root().is_some_and(|root| root.kind.name == "mq");
            if !is_of_mq {
                return self.log.not_modelled(number, "the discipline around it is not shown before it");
            }
            let first =
                known.qdiscs.iter().find(|one| matches!(one.place, Place::Class(id) if id >> 16 == 0));
            if let Some(first) = first {
                let (line, same) =
                    (first.line, first.kind.name == new.kind.name && first.options == new.options);
                let note = format!("a port has one transmit queue in perhop: that of line {line}");
                if same {
                    self.log.taken_back(number, line);
                    self.log.note(number, note);
                } else {
                    self.log.not_modelled(number, note);
                }
                return;
            }
        }
        self.shown.open = Some((Open::Qdisc(device, new.handle), number));
        let known = &mut self.devices[device];
        match known.at(new.place) {
            Some(index) => {
                let old = &mut known.qdiscs[index];
                let line = old.line;
                if old.kind.name == new.kind.name && (old.handle == new.handle || old.handle >> 16 >= 0x8001)
                {
                    old.options.changed_by(new.options);
                    old.handle = new.handle;
                    self.log.note(number, format!("line {line}, as it is shown"));
                } else {
                    for line in known.remove(index) {
                        self.log.taken_back(line, number);
                    }
                    known.qdiscs.push(new);
                }
            }
            None => known.qdiscs.push(new),
        }
    }

    fn shown_class(&mut self, number: usize, words: &mut Words) {
        self.log.state(number, LineState::Modelled);
        self.shown.open = Some((Open::Counters, number));
        let Some(kind) = words.next().and_then(syntax::kind) else { return };
        let Some(id) = words.next().and_then(units::class_id) else { return };
        let mut parent = units::ROOT;
        while let Some(word) = words.peek() {
            match word {
                "root" => {}
                "parent" => {
                    words.next();
                    parent = words.peek().and_then(units::class_id).unwrap_or(units::ROOT);
                }
                "leaf" | "dev" => {
                    words.next();
                }
                _ => break,
            }
            words.next();
        }
        // The classes of fq_codel and others are its flows: statistics.
        if !matches!(kind.name, "htb" | "hfsc" | "drr" | "ets" | "qfq" | "prio" | "tbf" | "mq") {
            self.log.note(number, "a queue of a flow");
            return;
        }
        if kind.class.is_some_and(<[_]>::is_empty) {
            return;
        }
        let name = self.shown.asked.as_ref().map(|(name, _)| name.clone());
        let by_number = || self.devices.iter().position(|device| device.of_major(id).is_some());
        let device = match name {
            Some(name) => Some(self.device(&name, number)),
            None => by_number(),
        };
        let Some(device) = device else {
            return self.log.not_modelled(number, "of which device? write `tc class show dev NAME` above");
        };
        self.shown.device_of_line = Some(device);
        add_class(self, number, device, "replace", (kind, id, parent), words);
    }

    fn shown_filter(&mut self, number: usize, words: &mut Words) {
        self.shown.open = Some((Open::Counters, number));
        let asked = self.shown.asked.clone();
        let mut head = filter::Head {
            parent: asked.as_ref().and_then(|(_, parent)| *parent),
            ..filter::Head::default()
        };
        let mut device = asked.map(|(name, _)| name);
        while let Some(word) = words.peek() {
            if word == "dev" {
                words.next();
                device = words.peek().map(str::to_owned);
            } else if !head.take(self, number, words) {
                break;
            }
            words.next();
        }
        let device = if let Some(name) = device {
            Some(self.device(&name, number))
        } else {
            let major = head.parent.unwrap_or(0);
            let only = || (self.devices.len() == 1).then_some(0);
            self.devices.iter().position(|device| device.of_major(major).is_some()).or_else(only)
        };
        let Some(device) = device else {
            return self.log.not_modelled(number, "of which device? write `tc filter show dev NAME` above");
        };
        self.shown.device_of_line = Some(device);
        let Some((index, parent)) = filter::owner(self, device, head.parent) else {
            return self.log.not_modelled(number, "the queueing discipline that it belongs to is not shown");
        };
        let Some(kind) = words.next() else { return };
        if words.peek() == Some("chain") {
            words.next();
            words.next();
        }
        // A list of filters has a line of its own before them, and one for each of its tables.
        if words.peek().is_none() {
            return self.log.note(number, "the head of a list");
        }
        if words.take("handle") {
            head.handle = words.next().map(str::to_owned);
        }
        if !matches!(kind, "u32" | "flower" | "fw" | "basic" | "matchall") {
            return self.log.not_modelled(number, format!("filter {kind} is not read"));
        }
        let Some(body) = filter::body(self, number, kind, &head, words) else { return };
        if body.is_table {
            return;
        }
        self.log.state(number, LineState::Modelled);
        let handle = self.devices[device].qdiscs[index].handle;
        let at = filter::add(self, number, (device, index), parent, head, kind, body);
        self.shown.open = Some((Open::Filter(device, handle, at), number));
    }

    /// A line further in.
    fn inside(&mut self, number: usize, open: Open, words: &[String]) {
        self.log.state(number, LineState::Irrelevant);
        let mut words = Words::new(words, Voice::Shown);
        match (open, words.peek()) {
            (Open::Qdisc(device, handle), Some("vq" | "DP")) => {
                self.shown.device_of_line = Some(device);
                let found = self.devices[device].qdiscs.iter().position(|one| one.handle == handle);
                let Some(index) = found else { return };
                let kind = self.devices[device].qdiscs[index].kind;
                let at = At { line: number, of: kind.name };
                self.log.state(number, LineState::Modelled);
                if let Ok(options) = options::read(&[kind.options], &mut words, at, |_| false, &mut self.log)
                {
                    self.devices[device].qdiscs[index].rows.push((number, options));
                }
            }
            (Open::Filter(device, handle, at), Some(first)) => {
                self.shown.device_of_line = Some(device);
                self.filter_line(number, (device, handle, at), first, &mut words);
            }
            _ => {}
        }
    }

    /// A line of a filter: what it asks for, or an action.
    fn filter_line(
        &mut self,
        number: usize,
        (device, handle, at): (usize, u32, usize),
        first: &str,
        words: &mut Words,
    ) {
        let found = self.devices[device].qdiscs.iter().position(|one| one.handle == handle);
        let Some(index) = found else { return };
        let Some(known) = self.devices[device].qdiscs[index].filters.get(at).cloned() else { return };
        let mut body = filter::Body {
            condition: known.condition.clone(),
            bits: known.bits.clone(),
            ..filter::Body::default()
        };
        let family = known.condition.family;
        match (first, known.kind.as_str()) {
            ("action", _) => {
                words.next();
                self.log.state(number, LineState::Modelled);
                body.actions = filter::shown_action(self, number, words);
            }
            ("police", _) => {
                words.next();
                words.next();
                self.log.state(number, LineState::Modelled);
                body.actions = filter::police(self, number, words);
            }
            ("match", "u32") => {
                self.log.state(number, LineState::Modelled);
                filter::more_of_u32(self, number, family, words, &mut body);
            }
            (_, "flower") if filter::is_field_of_flower(first) => {
                self.log.state(number, LineState::Modelled);
                filter::more_of_flower(self, number, words, &mut body);
            }
            _ => return,
        }
        let kept = &mut self.devices[device].qdiscs[index].filters[at];
        kept.condition = body.condition;
        kept.bits = body.bits;
        kept.actions.extend(body.actions);
        kept.lines.push(number);
    }
}

/// Whether a word behind `qdisc` or `class` is a kind, and no verb: what `show` prints.
fn is_shown_kind(word: &str) -> bool {
    let verbs =
        ["add", "change", "replace", "link", "delete", "del", "list", "show", "ls", "lst", "get", "help"];
    !verbs.contains(&word) && syntax::kind(word).is_some()
}
