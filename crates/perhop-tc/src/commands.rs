//! `tc qdisc`, `tc class` and `tc filter` with add, change, replace, link and delete: what the kernel makes
//! of each, and what it refuses (`net/sched/sch_api.c`, `net/sched/cls_api.c`).

use perhop_lint::{LineState, rules};

use crate::filter;
use crate::model::{Class, HOOK_EGRESS, HOOK_INGRESS, HOOKS, Place, Qdisc};
use crate::nearest::suggestion;
use crate::options::{self, Options, Place as At, Trouble};
use crate::session::Session;
use crate::syntax::{self, Kind, Model, STAB};
use crate::units;
use crate::words::{Voice, Words, abbreviates};

/// What stands before the kind.
#[derive(Default)]
pub(crate) struct Head<'a> {
    pub(crate) device: Option<&'a str>,
    pub(crate) handle: Option<u32>,
    pub(crate) parent: Option<u32>,
    pub(crate) class: Option<u32>,
    pub(crate) stab: Option<Options>,
    pub(crate) kind: Option<&'a str>,
}

/// Says that tc or the kernel refuses the command.
pub(crate) fn refuse(session: &mut Session, number: usize, message: impl Into<String>) {
    let linux = "Linux refuses the command: nothing changes";
    session.log.found(&rules::TC_COMMAND_REFUSED, number, message, linux);
}

fn head<'a>(session: &mut Session, number: usize, object: &str, words: &mut Words<'a>) -> Option<Head<'a>> {
    let mut head = Head::default();
    while let Some(word) = words.next() {
        match word {
            "dev" => head.device = words.next(),
            "root" => head.parent = Some(units::ROOT),
            "ingress" | "clsact" if object == "qdisc" => {
                head.parent = Some(HOOKS);
                head.kind = Some(word);
                // `tc qdisc add dev eth0 handle ffff: ingress`: nothing but the kind follows.
                return Some(head);
            }
            "parent" | "classid" => {
                let text = words.next().unwrap_or_default();
                let Some(id) = units::class_id(text) else {
                    refuse(session, number, format!("`{word} {text}`: write a number, as 1:10"));
                    return None;
                };
                *if word == "parent" { &mut head.parent } else { &mut head.class } = Some(id);
            }
            "handle" if object == "qdisc" => {
                let text = words.next().unwrap_or_default();
                let Some(handle) = units::handle(text) else {
                    refuse(session, number, format!("`handle {text}`: write a number and a colon, as 1:"));
                    return None;
                };
                head.handle = Some(handle);
            }
            "stab" => head.stab = Some(stab(session, number, words)?),
            "ingress_block" | "egress_block" => {
                words.next();
                session.log.not_modelled(number, "blocks of filters for several devices are not read");
            }
            word if abbreviates(word, "estimator") && word.len() > 2 => {
                words.next();
                words.next();
            }
            kind => {
                head.kind = Some(kind);
                return Some(head);
            }
        }
    }
    Some(head)
}

/// The size table, up to the kind that follows or what stands before it.
fn stab(session: &mut Session, number: usize, words: &mut Words) -> Option<Options> {
    let ends = |word: &str| {
        syntax::kind(word).is_some()
            || matches!(word, "root" | "parent" | "handle" | "dev" | "classid" | "refcnt")
    };
    options::read(&[STAB], words, At { line: number, of: "stab" }, ends, &mut session.log).ok()
}

fn kind_of(session: &mut Session, number: usize, name: &str) -> Option<&'static Kind> {
    let found = syntax::kind(name);
    if found.is_none() {
        let help = suggestion(name, syntax::kinds().map(|kind| kind.name));
        session.log.state(number, LineState::NotRecognized);
        session.log.note(number, format!("`{name}` is no queueing discipline: {help}"));
    }
    found
}

/// The options of `kind`, and what is to be said of it.
fn options_of(
    session: &mut Session,
    number: usize,
    kind: &'static Kind,
    words: &mut Words,
) -> Result<Options, Trouble> {
    match kind.model {
        Model::Modelled(_) => {}
        Model::NotModelled(why) => session.log.not_modelled(number, format!("{}: {why}", kind.name)),
        Model::Irrelevant(why) => session.log.note(number, why),
    }
    // What is only known by its name may have any options.
    if kind.options.is_empty() && matches!(kind.model, Model::NotModelled(_)) {
        return Ok(Options::default());
    }
    options::read(&[kind.options], words, At { line: number, of: kind.name }, |_| false, &mut session.log)
}

pub(crate) fn qdisc(session: &mut Session, number: usize, verb: &str, words: &mut Words) {
    let Some(head) = head(session, number, "qdisc", words) else { return };
    let Some(name) = head.device else {
        return refuse(session, number, "no device: write dev NAME");
    };
    let device = session.device(name, number);
    let place = match head.parent {
        None => None,
        Some(units::ROOT) => Some(Place::Root),
        Some(HOOKS..) => Some(Place::Hooks),
        Some(id) => Some(Place::Class(id)),
    };
    if verb == "delete" {
        return delete_qdisc(session, number, device, place, head.handle);
    }
    let existing = place.and_then(|place| session.devices[device].at(place));
    let named = head.kind;
    let kind = match named {
        Some(name) => match kind_of(session, number, name) {
            Some(kind) => kind,
            None => return,
        },
        None => match existing {
            Some(index) => session.devices[device].qdiscs[index].kind,
            None => return refuse(session, number, "no kind of queueing discipline"),
        },
    };
    let place = match (place, kind.name) {
        (_, "ingress" | "clsact") => Place::Hooks,
        (Some(place), _) => place,
        (None, _) => return refuse(session, number, "no place: write root, or parent CLASS"),
    };
    let Ok(options) = options_of(session, number, kind, words) else { return };
    if !is_right(session, number, kind, &options) {
        return;
    }
    let new = Qdisc {
        kind,
        handle: if place == Place::Hooks { HOOKS } else { head.handle.unwrap_or(0) },
        place,
        line: number,
        options,
        stab: head.stab,
        classes: Vec::new(),
        filters: Vec::new(),
        rows: Vec::new(),
    };
    put(session, number, device, verb, new);
}

/// What tc asks of the options of one command besides each by itself.
fn is_right(session: &mut Session, number: usize, kind: &Kind, options: &Options) -> bool {
    let missing = |names: &[&'static str]| names.iter().find(|name| !options.has(name)).copied();
    let wanted = match kind.name {
        "tbf" => missing(&["rate", "burst"]).or_else(|| {
            let has = ["limit", "latency", "lat"].iter().any(|name| options.has(name));
            (!has).then_some("limit")
        }),
        "red" => missing(&["limit", "avpkt"]),
        "gred" if options.has("setup") => missing(&["vqs", "default"]),
        "gred" => missing(&["vq", "limit", "min", "max", "avpkt"]),
        _ => None,
    };
    if let Some(name) = wanted {
        refuse(session, number, format!("{} must have `{name}`", kind.name));
        return false;
    }
    if kind.name == "tbf" && options.has("limit") && options.has("latency") {
        refuse(session, number, "tbf takes `limit` or `latency`, not both");
        return false;
    }
    true
}

/// Puts a discipline where it belongs, or changes the one that is there.
fn put(session: &mut Session, number: usize, device: usize, verb: &str, mut new: Qdisc) {
    if let Place::Class(id) = new.place
        && !has_class(session, device, id)
    {
        let classes = classes_of(session, device).join(", ");
        let message = format!("there is no class {}: {}", units::shown_id(id), listed(&classes));
        return refuse(session, number, message);
    }
    let known = &mut session.devices[device];
    match known.at(new.place) {
        Some(index) => {
            let old = &mut known.qdiscs[index];
            let is_same = old.kind.name == new.kind.name && (new.handle == 0 || new.handle == old.handle);
            match verb {
                "add" => {
                    let message = format!(
                        "there is already {} of line {}: delete it first, or write replace",
                        old.kind.name, old.line
                    );
                    return refuse(session, number, message);
                }
                "change" | "link" if !is_same => {
                    let message =
                        format!("{} of line {} cannot become {}", old.kind.name, old.line, new.kind.name);
                    return refuse(session, number, message);
                }
                _ if is_same && new.kind.name == "gred" && new.options.has("vq") => {
                    old.rows.push((number, new.options));
                    return;
                }
                _ if is_same => {
                    old.options.changed_by(new.options);
                    old.stab = new.stab.or(old.stab.take());
                    session.log.note(number, format!("changes line {}", old.line));
                    return;
                }
                _ => {
                    for line in known.remove(index) {
                        session.log.taken_back(line, number);
                    }
                }
            }
        }
        None if verb == "change" || verb == "link" => {
            return refuse(session, number, "there is nothing here to change: write add or replace");
        }
        None => {}
    }
    let known = &mut session.devices[device];
    if new.handle == 0 {
        new.handle = known.free_handle();
    }
    if let Some(other) = known.qdiscs.iter().find(|qdisc| qdisc.handle == new.handle) {
        let (shown, line) = (units::shown_id(new.handle), other.line);
        return refuse(session, number, format!("{shown} is the number of line {line} already"));
    }
    session.devices[device].qdiscs.push(new);
}

fn listed(names: &str) -> String {
    if names.is_empty() { "there are none here".to_owned() } else { format!("classes: {names}") }
}

/// Whether a discipline may stand in the class `id`.
fn has_class(session: &Session, device: usize, id: u32) -> bool {
    let known = &session.devices[device];
    let Some(index) = known.of_major(id) else { return false };
    let qdisc = &known.qdiscs[index];
    let minor = u64::from(id & 0xffff);
    match qdisc.kind.name {
        "prio" => (1..=qdisc.options.number("bands").unwrap_or(3)).contains(&minor),
        "ets" => (1..=16).contains(&minor),
        // TBF, RED and others have one class, whose number is not looked at.
        "tbf" | "red" | "netem" | "mq" | "mqprio" | "multiq" | "sfb" | "choke" | "cbs" | "etf" | "taprio" => {
            true
        }
        _ if qdisc.kind.options.is_empty() && qdisc.kind.class.is_some_and(<[_]>::is_empty) => true,
        _ => qdisc.class(id).is_some(),
    }
}

fn classes_of(session: &Session, device: usize) -> Vec<String> {
    let qdiscs = &session.devices[device].qdiscs;
    qdiscs.iter().flat_map(|qdisc| &qdisc.classes).take(16).map(|class| units::shown_id(class.id)).collect()
}

fn delete_qdisc(
    session: &mut Session,
    number: usize,
    device: usize,
    place: Option<Place>,
    handle: Option<u32>,
) {
    let known = &mut session.devices[device];
    let by_handle = || handle.and_then(|handle| known.qdiscs.iter().position(|one| one.handle == handle));
    let index = place.map_or_else(by_handle, |place| known.at(place));
    let Some(index) = index else {
        session.log.state(number, LineState::Irrelevant);
        return session.log.note(number, "there is nothing here yet to delete");
    };
    for line in known.remove(index) {
        session.log.taken_back(line, number);
    }
    session.log.state(number, LineState::Modelled);
}

pub(crate) fn class(session: &mut Session, number: usize, verb: &str, words: &mut Words) {
    let Some(head) = head(session, number, "class", words) else { return };
    let Some(name) = head.device else {
        return refuse(session, number, "no device: write dev NAME");
    };
    let device = session.device(name, number);
    let Some(id) = head.class.or(head.parent.filter(|_| verb == "delete")) else {
        return refuse(session, number, "no number: write classid 1:10");
    };
    if verb == "delete" {
        return delete_class(session, number, device, id);
    }
    let Some(kind) = head.kind.and_then(|name| kind_of(session, number, name)) else { return };
    let parent = head.parent.unwrap_or(units::ROOT);
    add_class(session, number, device, verb, (kind, id, parent), words);
}

/// Adds or changes the class `id` of `kind` inside `parent`.
pub(crate) fn add_class(
    session: &mut Session,
    number: usize,
    device: usize,
    verb: &str,
    (kind, id, parent): (&'static Kind, u32, u32),
    words: &mut Words,
) {
    let Some(table) = kind.class else {
        return refuse(session, number, format!("{} has no classes", kind.name));
    };
    if let Model::NotModelled(why) = kind.model {
        session.log.not_modelled(number, format!("{}: {why}", kind.name));
    }
    let at = At { line: number, of: kind.name };
    let read = if table.is_empty() && kind.options.is_empty() {
        Ok(Options::default())
    } else {
        options::read(&[table], words, at, |_| false, &mut session.log)
    };
    let Ok(options) = read else { return };
    if kind.name == "htb" && !options.has("rate") {
        return refuse(session, number, "a class of htb must have `rate`");
    }
    let shown = words.voice == Voice::Shown;
    let known = &mut session.devices[device];
    let major = if parent == units::ROOT { id } else { parent };
    let index = known.of_major(major).filter(|index| known.qdiscs[*index].kind.name == kind.name);
    let Some(index) = index else {
        let message =
            format!("there is no {} {} on the device", kind.name, units::shown_id(major & 0xffff_0000));
        return refuse(session, number, message);
    };
    let qdisc = &mut known.qdiscs[index];
    let inner = (parent != units::ROOT && parent & 0xffff != 0).then_some(parent);
    if inner.is_some_and(|inner| qdisc.class(inner).is_none()) && !shown {
        return refuse(session, number, format!("there is no class {}", units::shown_id(parent)));
    }
    if id & 0xffff_0000 != qdisc.handle {
        let message = format!("{} is no class of {}", units::shown_id(id), units::shown_id(qdisc.handle));
        return refuse(session, number, message);
    }
    let there = qdisc.classes.iter().position(|class| class.id == id);
    match (there, verb) {
        (Some(at), "add") => {
            let message =
                format!("{} is the class of line {} already", units::shown_id(id), qdisc.classes[at].line);
            refuse(session, number, message);
        }
        (Some(at), _) => {
            let class = &mut qdisc.classes[at];
            class.options.changed_by(options);
            let line = class.line;
            session.log.note(number, format!("changes line {line}"));
        }
        (None, "change") => refuse(session, number, "there is no such class to change: write add or replace"),
        (None, _) => qdisc.classes.push(Class { id, parent: inner, line: number, options }),
    }
}

fn delete_class(session: &mut Session, number: usize, device: usize, id: u32) {
    let known = &mut session.devices[device];
    let found = known.of_major(id).and_then(|index| {
        let at = known.qdiscs[index].classes.iter().position(|class| class.id == id)?;
        Some((index, at))
    });
    let Some((index, at)) = found else {
        return refuse(session, number, format!("there is no class {}", units::shown_id(id)));
    };
    let class = known.qdiscs[index].classes.remove(at);
    let mut lines = vec![class.line];
    if let Some(child) = known.at(Place::Class(id)) {
        lines.extend(known.remove(child));
    }
    for line in lines {
        session.log.taken_back(line, number);
    }
    session.log.state(number, LineState::Modelled);
}

/// The parent of a filter: a discipline, a class, or a hook.
fn filter_parent(word: &str) -> Option<u32> {
    match word {
        "ingress" => Some(HOOK_INGRESS),
        "egress" => Some(HOOK_EGRESS),
        "root" => Some(units::ROOT),
        _ => None,
    }
}

pub(crate) fn filter(session: &mut Session, number: usize, verb: &str, words: &mut Words) {
    let mut head = filter::Head::default();
    let mut device = None;
    while let Some(word) = words.peek() {
        if let Some(parent) = filter_parent(word) {
            head.parent = Some(parent);
        } else if word == "dev" {
            words.next();
            device = words.peek();
        } else if abbreviates(word, "block") && word.len() > 1 {
            return session.log.not_modelled(number, "blocks of filters for several devices are not read");
        } else if !head.take(session, number, words) {
            break;
        }
        words.next();
    }
    let Some(name) = device else { return refuse(session, number, "no device: write dev NAME") };
    let device = session.device(name, number);
    filter::apply(session, number, verb, device, head, words);
}
