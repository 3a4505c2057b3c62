//! Filters: which packets they take, where these go, and what is done with them.

mod action;
mod flower;
mod header;
mod u32;

use perhop_lint::{LineState, rules};
use perhop_qos::classifier::{MatchConfig, OneOrMany};

pub(crate) use action::{Action, Control, Police, actions, police, shown as shown_action};
pub(crate) use header::Bits;

use crate::commands::refuse;
use crate::model::{Filter, HOOK_INGRESS, HOOKS};
use crate::nearest::suggestion;
use crate::session::Session;
use crate::units;
use crate::words::{Words, abbreviates};

/// The packets that a filter takes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Condition {
    pub(crate) family: Family,
    pub(crate) matches: MatchConfig,
    /// Whether no packet meets it.
    pub(crate) is_never: bool,
    /// Whether it asks for what perhop does not see.
    pub(crate) is_unseen: bool,
}

/// The version of IP.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Family {
    #[default]
    Any,
    Four,
    Six,
}

/// What stands before the kind of a filter.
#[derive(Clone, Debug, Default)]
pub(crate) struct Head {
    pub(crate) parent: Option<u32>,
    pub(crate) handle: Option<String>,
    pub(crate) preference: Option<u32>,
    pub(crate) protocol: Option<String>,
    pub(crate) chain: Option<u32>,
}

impl Head {
    /// Reads what the next word says, up to the word that ends it; false where it is none of these.
    pub(crate) fn take(&mut self, session: &mut Session, number: usize, words: &mut Words) -> bool {
        let Some(word) = words.peek() else { return false };
        let is = |full: &str, least: usize| word.len() >= least && abbreviates(word, full);
        let value = |words: &mut Words| {
            words.next();
            words.peek().unwrap_or_default().to_owned()
        };
        if word == "parent" {
            let text = value(words);
            self.parent = units::class_id(&text);
            if self.parent.is_none() {
                refuse(session, number, format!("`parent {text}`: write a number, as 1: or 1:10"));
            }
        } else if word == "handle" {
            self.handle = Some(value(words));
        } else if is("preference", 2) || is("priority", 2) && !is("protocol", 3) {
            let text = value(words);
            self.preference = units::integer(&text, 0).filter(|one| *one <= 0xffff).map(|one| one as u32);
            if self.preference.is_none() {
                refuse(session, number, format!("`{word} {text}`: write a number up to 65535"));
            }
        } else if is("protocol", 3) {
            self.protocol = Some(value(words));
        } else if is("chain", 2) {
            let text = value(words);
            self.chain = units::integer(&text, 0).map(|one| one as u32);
        } else if is("estimator", 3) {
            value(words);
            value(words);
        } else {
            return false;
        }
        true
    }

    fn family(&self) -> Option<Family> {
        match self.protocol.as_deref() {
            None | Some("all") => Some(Family::Any),
            Some("ip" | "ipv4" | "0x800" | "0x0800" | "2048") => Some(Family::Four),
            Some("ipv6" | "ip6" | "0x86dd" | "34525") => Some(Family::Six),
            Some(_) => None,
        }
    }
}

/// The kinds of filters that are known and not read, and why.
const UNREAD: [(&str, &str); 7] = [
    ("bpf", "programs are not run"),
    ("cgroup", "hosts of perhop have no groups of processes"),
    ("flow", "it spreads flows over classes by a hash: sfq, drr with filters, or fq_codel do in perhop"),
    ("route", "realms of routes are not read"),
    ("tcindex", "it reads what dsmark sets, which left Linux in 6.3"),
    ("rsvp", "it left Linux in 6.3; u32 and flower match addresses and ports"),
    ("rsvp6", "it left Linux in 6.3; u32 and flower match addresses and ports"),
];
const KINDS: [&str; 5] = ["u32", "flower", "fw", "basic", "matchall"];

/// The parts of a filter behind its kind.
#[derive(Clone, Debug, Default)]
pub(crate) struct Body {
    pub(crate) condition: Condition,
    pub(crate) class: Option<u32>,
    pub(crate) actions: Vec<Action>,
    /// Whether it is nothing but a table of u32.
    pub(crate) is_table: bool,
    /// Bits of a header, which lines of `show` add to.
    pub(crate) bits: Bits,
}

/// Carries out `tc filter VERB` from the kind on.
pub(crate) fn apply(
    session: &mut Session,
    number: usize,
    verb: &str,
    device: usize,
    head: Head,
    words: &mut Words,
) {
    let Some((index, parent)) = owner(session, device, head.parent) else {
        let shown = head.parent.map_or_else(|| "root".to_owned(), units::shown_id);
        return refuse(session, number, format!("there is no queueing discipline {shown} for a filter"));
    };
    if verb == "delete" {
        return delete(session, number, device, (index, parent), &head, words.peek());
    }
    let Some(kind) = words.next() else { return refuse(session, number, "no kind of filter") };
    if let Some((_, why)) = UNREAD.iter().find(|(name, _)| *name == kind) {
        session.log.not_modelled(number, format!("filter {kind}: {why}"));
        let body =
            Body { condition: Condition { is_unseen: true, ..Condition::default() }, ..Body::default() };
        add(session, number, (device, index), parent, head, kind, body);
        return;
    }
    if !KINDS.contains(&kind) {
        session.log.state(number, LineState::NotRecognized);
        session.log.note(number, format!("`{kind}` is no filter: {}", suggestion(kind, KINDS)));
        return;
    }
    let Some(body) = body(session, number, kind, &head, words) else { return };
    if !body.is_table {
        add(session, number, (device, index), parent, head, kind, body);
    }
}

/// What stands behind the kind of a filter; `None` where tc refuses it.
pub(crate) fn body(
    session: &mut Session,
    number: usize,
    kind: &str,
    head: &Head,
    words: &mut Words,
) -> Option<Body> {
    let Some(family) = head.family() else {
        let protocol = head.protocol.clone().unwrap_or_default();
        session.log.note(number, format!("protocol {protocol}: packets of perhop are those of IP"));
        let condition = Condition { is_never: true, ..Condition::default() };
        return Some(Body { condition, ..Body::default() });
    };
    let mut body = Body::default();
    body.condition.family = family;
    let read = match kind {
        "u32" => u32::read(session, number, family, words, &mut body),
        "flower" => flower::read(session, number, words, &mut body),
        "fw" => {
            marked(session, number, head.handle.as_deref(), &mut body);
            simple(session, number, "fw", words, &mut body)
        }
        "basic" => simple(session, number, "basic", words, &mut body),
        _ => simple(session, number, "matchall", words, &mut body),
    };
    read.then_some(body)
}

/// `fw`: the mark of the packet is the filter's own number.
fn marked(session: &mut Session, number: usize, handle: Option<&str>, body: &mut Body) {
    let Some(handle) = handle else {
        session
            .log
            .not_modelled(number, "fw without a handle takes the mark for the class: write handle MARK");
        body.condition.is_unseen = true;
        return;
    };
    let (value, mask) = handle.split_once('/').map_or((handle, None), |(value, mask)| (value, Some(mask)));
    let value = units::integer(value, 0);
    let mask = mask.map_or(Some(u64::from(u32::MAX)), |mask| units::integer(mask, 0));
    if let Some(labels) = labels(value.unwrap_or(u64::MAX), mask.unwrap_or(0)) {
        body.condition.matches.label = Some(OneOrMany(labels));
    } else {
        session.log.not_modelled(number, "marks of perhop are numbers up to 255");
        body.condition.is_unseen = true;
    }
}

/// The labels with `value` under `mask`.
pub(crate) fn labels(value: u64, mask: u64) -> Option<Vec<u8>> {
    let found: Vec<u8> = (0..=u8::MAX).filter(|label| u64::from(*label) & mask == value & mask).collect();
    (!found.is_empty() && value <= 0xff).then_some(found)
}

/// Reads a line of `show` with one more `match` of u32.
pub(crate) fn more_of_u32(
    session: &mut Session,
    number: usize,
    family: Family,
    words: &mut Words,
    body: &mut Body,
) {
    let was_unseen = body.condition.is_unseen;
    u32::read(session, number, family, words, body);
    body.condition.is_unseen |= was_unseen;
}

/// Reads a line of `show` with one more field of flower.
pub(crate) fn more_of_flower(session: &mut Session, number: usize, words: &mut Words, body: &mut Body) {
    flower::read(session, number, words, body);
}

/// Whether a line of `show` that begins so says a field of flower.
pub(crate) fn is_field_of_flower(word: &str) -> bool {
    flower::is_field(word)
}

/// The options that all filters have: where packets go, and actions.
fn simple(session: &mut Session, number: usize, kind: &str, words: &mut Words, body: &mut Body) -> bool {
    while let Some(word) = words.next() {
        if common(session, number, word, words, body) {
            continue;
        }
        if kind == "basic" && abbreviates(word, "match") {
            words.next();
            session.log.not_modelled(number, "expressions of basic are not read: u32 and flower are");
            body.condition.is_unseen = true;
            continue;
        }
        let known = ["classid", "flowid", "action", "police", "skip_hw", "skip_sw"];
        refuse(session, number, format!("`{word}` is no option of {kind}: {}", suggestion(word, known)));
        return false;
    }
    true
}

/// Reads an option that all filters have; false where `word` is none.
pub(crate) fn common(
    session: &mut Session,
    number: usize,
    word: &str,
    words: &mut Words,
    body: &mut Body,
) -> bool {
    match word {
        "skip_hw" | "skip_sw" | "not_in_hw" | "in_hw" | "in_hw_count" => {
            if word == "in_hw_count" {
                words.next();
            }
            if word == "skip_sw" {
                session.log.note(number, "`skip_sw`: perhop does what the device would");
            }
        }
        "flowid" => class_of(session, number, words, body),
        _ if word.len() > 1 && abbreviates(word, "classid") => class_of(session, number, words, body),
        _ if word.len() > 1 && abbreviates(word, "action") => {
            body.actions.extend(actions(session, number, words));
        }
        _ if word.len() > 1 && abbreviates(word, "police") => {
            body.actions.extend(police(session, number, words));
        }
        "chain" if words.is_shown() => {
            words.next();
        }
        _ => return false,
    }
    true
}

fn class_of(session: &mut Session, number: usize, words: &mut Words, body: &mut Body) {
    let text = words.next().unwrap_or_default();
    body.class = units::class_id(text.trim_end_matches(','));
    // Some versions of tc print `flowid ???` where there is none.
    if body.class.is_none() && text != "???" {
        refuse(session, number, format!("`{text}` is no class: write a number, as 1:10"));
    }
}

/// The discipline that a filter belongs to, and the class or hook in it.
pub(crate) fn owner(session: &Session, device: usize, parent: Option<u32>) -> Option<(usize, u32)> {
    let known = &session.devices[device];
    match parent {
        None | Some(units::ROOT) => {
            let index = known.at(crate::model::Place::Root)?;
            Some((index, known.qdiscs[index].handle))
        }
        Some(HOOKS) => Some((known.at(crate::model::Place::Hooks)?, HOOK_INGRESS)),
        Some(hook) if hook >= HOOKS => Some((known.at(crate::model::Place::Hooks)?, hook)),
        Some(id) => Some((known.of_major(id)?, id)),
    }
}

/// Linux: `tcf_auto_prio`, half of what a preference can be.
const FIRST_PREFERENCE: u32 = 0xc000;

/// Adds a filter at `parent`; returns where it stands among those of its discipline.
pub(crate) fn add(
    session: &mut Session,
    number: usize,
    (device, index): (usize, usize),
    parent: u32,
    head: Head,
    kind: &str,
    body: Body,
) -> usize {
    let qdisc = &mut session.devices[device].qdiscs[index];
    let chain = head.chain.unwrap_or(0);
    let others = || qdisc.filters.iter().filter(|one| one.parent == parent && one.chain == chain);
    // `tcf_auto_prio`: a filter without a preference comes before all that are there.
    let least = others().map(|one| one.preference).min();
    let preference = head.preference.filter(|given| *given > 0);
    let preference =
        preference.unwrap_or_else(|| least.map_or(FIRST_PREFERENCE, |least| least.saturating_sub(1)));
    let same = others().find(|one| one.preference == preference && one.kind != kind);
    if let Some(other) = same {
        let message =
            format!("preference {preference} is that of {} in line {} already", other.kind, other.line());
        refuse(session, number, message);
        return usize::MAX;
    }
    if head.preference.is_none() && least.is_some() {
        let message = "a filter without `pref` is asked before those that are there already";
        session.log.found(
            &rules::TC_FILTER_ORDER,
            number,
            message,
            "Linux asks the last one first; so does perhop",
        );
    }
    let qdisc = &mut session.devices[device].qdiscs[index];
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

fn delete(
    session: &mut Session,
    number: usize,
    device: usize,
    (index, parent): (usize, u32),
    head: &Head,
    kind: Option<&str>,
) {
    let chain = head.chain.unwrap_or(0);
    let is_meant = |one: &Filter| {
        one.parent == parent
            && one.chain == chain
            && head.preference.is_none_or(|preference| preference == one.preference)
            && kind.is_none_or(|kind| kind == one.kind)
            && head.handle.as_ref().is_none_or(|handle| one.handle.as_ref() == Some(handle))
    };
    let filters = &mut session.devices[device].qdiscs[index].filters;
    let lines: Vec<usize> =
        filters.iter().filter(|one| is_meant(one)).flat_map(|one| one.lines.clone()).collect();
    filters.retain(|one| !is_meant(one));
    if lines.is_empty() {
        session.log.state(number, LineState::Irrelevant);
        return session.log.note(number, "there is nothing here yet to delete");
    }
    for line in lines {
        session.log.taken_back(line, number);
    }
    session.log.state(number, LineState::Modelled);
}
