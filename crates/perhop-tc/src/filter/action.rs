//! Actions of filters (`tc/m_*.c`, `net/sched/act_*.c`).

use perhop_lint::rules;

use crate::commands::refuse;
use crate::nearest::suggestion;
use crate::options::Argument::{Integer, Rate, Size, SizeAndCell, Word};
use crate::options::Effect::{Irrelevant, NotModelled, NotModelledBut};
use crate::options::{self, Opt, Options, Place};
use crate::session::Session;
use crate::units;
use crate::words::{Words, abbreviates};

/// One action.
#[derive(Clone, Debug)]
pub(crate) enum Action {
    Police(Police),
    /// What `gact` does: the packet goes where this says.
    End(Control),
    /// Writes a codepoint: the byte of the type of service, and which of its bits.
    Mark {
        value: u8,
        mask: u8,
    },
    /// Gives the packet a mark of the firewall.
    Label(u8),
    /// Nothing that packets of perhop would notice.
    Nothing,
    /// Something that perhop does not do; it has been said.
    Unseen,
}

/// Where a packet goes after an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Control {
    Pass,
    Drop,
    /// To the next filter.
    Continue,
    /// To the next action.
    Pipe,
    /// To the first filter again.
    Reclassify,
    /// To the filters of another chain.
    Goto(u32),
}

/// A policer.
#[derive(Clone, Debug)]
pub(crate) struct Police {
    pub(crate) options: Options,
    /// Its number; policers of one number are one.
    pub(crate) index: Option<u64>,
    pub(crate) exceed: Control,
    pub(crate) conform: Control,
}

/// Options of a policer (`m_police.c`).
pub(crate) const POLICE: &[Opt] = &[
    Opt::new(&["rate"], Rate, "must be given, or pkts_rate"),
    Opt::new(&["burst", "buffer", "maxburst"], SizeAndCell, "must be given with rate").short(),
    Opt::new(&["pkts_rate"], Integer, "none").short(),
    Opt::new(&["pkts_burst"], Integer, "must be given with pkts_rate").short(),
    Opt::new(&["mtu", "minburst"], SizeAndCell, "2040: longer packets exceed (tcf_police_init)"),
    Opt::new(&["overhead"], Integer, "0").short(),
    Opt::new(&["index"], Integer, "a number of its own").short(),
    Opt::new(&["peakrate"], Rate, "none")
        .short()
        .effect(NotModelled("a policer has one bucket in perhop; write a second policer before it")),
    Opt::new(&["avrate"], Rate, "none").effect(NotModelled("the rate that an estimator sees")),
    Opt::new(&["mpu"], Size, "0")
        .effect(NotModelledBut(&["0", "0b"], "short packets count their own length")),
    Opt::new(&["linklayer"], Word, "ethernet")
        .short()
        .effect(NotModelledBut(&["ethernet"], "cells of ATM are not counted by a policer")),
    Opt::new(&["ref", "bind"], Integer, "").shown().effect(Irrelevant("counters")),
];

/// Actions that change what packets of perhop do not have, or not at all.
const WITHOUT_EFFECT: [(&str, &str); 4] = [
    ("csum", "checksums"),
    ("simple", "output"),
    ("sample", "copies for a program"),
    ("connmark", "marks of connections"),
];
const NOT_MODELLED: [(&str, &str); 13] = [
    ("nat", "addresses stay as they are in perhop"),
    ("ct", "connections are not tracked in perhop"),
    ("ctinfo", "marks of connections are not kept in perhop"),
    ("vlan", "tags belong to the scenario's links"),
    ("mpls", "labels belong to the scenario's links"),
    ("tunnel_key", "tunnels belong to the scenario's links"),
    ("skbmod", "frames of perhop have no addresses"),
    ("ife", "frames of perhop have no further headers"),
    ("gate", "gates by time are not modelled"),
    ("bpf", "programs are not run"),
    ("xt", "targets of iptables are not run"),
    ("ipt", "targets of iptables are not run"),
    ("pfmemalloc", "memory of the kernel"),
];

fn control(session: &mut Session, number: usize, text: &str, words: &mut Words) -> Option<Control> {
    Some(match text {
        "pass" | "ok" => Control::Pass,
        "drop" | "shot" => Control::Drop,
        "continue" => Control::Continue,
        "pipe" => Control::Pipe,
        "reclassify" => Control::Reclassify,
        "goto" => {
            words.take("chain");
            let chain = words.next().and_then(|word| units::integer(word, 0));
            let Some(chain) = chain else {
                refuse(session, number, "`goto`: write goto chain NUMBER");
                return None;
            };
            Control::Goto(chain as u32)
        }
        _ => return None,
    })
}

/// The actions behind `action`, and those that follow with the same word.
pub(crate) fn actions(session: &mut Session, number: usize, words: &mut Words) -> Vec<Action> {
    let mut found = Vec::new();
    loop {
        found.extend(one(session, number, words));
        let goes_on = words.peek().is_some_and(|word| word == "action");
        if !goes_on {
            return found;
        }
        words.next();
    }
}

fn one(session: &mut Session, number: usize, words: &mut Words) -> Vec<Action> {
    let Some(name) = words.next() else {
        refuse(session, number, "nothing stands behind `action`");
        return vec![Action::Unseen];
    };
    if name == "police" {
        return police(session, number, words);
    }
    let name = if name == "gact" { words.next().unwrap_or("pass") } else { name };
    if let Some(control) = control(session, number, name, words) {
        rest_of_action(session, number, words);
        return vec![Action::End(control)];
    }
    let mut found = match name {
        "skbedit" => skbedit(session, number, words),
        "pedit" => pedit(session, number, words),
        "mirred" => mirred(session, number, words),
        other => known_by_name(session, number, other, words),
    };
    let own = words.peek().map(str::to_owned);
    if let Some(control) = own.and_then(|word| {
        let mut ahead = Words::new(&[], words.voice);
        control_word(&word).then(|| control(session, number, &word, &mut ahead)).flatten()
    }) {
        words.next();
        if control != Control::Pipe {
            found.push(Action::End(control));
        }
    }
    rest_of_action(session, number, words);
    found
}

fn control_word(word: &str) -> bool {
    matches!(word, "pass" | "ok" | "drop" | "shot" | "continue" | "pipe" | "reclassify")
}

/// What may follow every action: its number, and what identifies it.
fn rest_of_action(session: &mut Session, number: usize, words: &mut Words) {
    while let Some(word) = words.peek() {
        match word {
            "index" | "cookie" | "hw_stats" | "ref" | "bind" => {
                words.next();
                words.next();
            }
            "no_percpu" | "skip_hw" | "skip_sw" => {
                words.next();
            }
            "random" => {
                session.log.not_modelled(number, "`random`: actions by chance are not modelled");
                words.split(4);
            }
            _ => return,
        }
    }
}

fn known_by_name(session: &mut Session, number: usize, name: &str, words: &mut Words) -> Vec<Action> {
    let skip = |words: &mut Words| {
        while words.peek().is_some_and(|word| {
            !control_word(word) && !matches!(word, "action" | "flowid" | "classid" | "index")
        }) {
            words.next();
        }
    };
    if let Some((_, what)) = WITHOUT_EFFECT.iter().find(|(known, _)| *known == name) {
        session.log.note(number, format!("action {name} is irrelevant: {what}"));
        skip(words);
        return vec![Action::Nothing];
    }
    if let Some((_, why)) = NOT_MODELLED.iter().find(|(known, _)| *known == name) {
        session.log.not_modelled(number, format!("action {name}: {why}"));
        skip(words);
        return vec![Action::Unseen];
    }
    let known = ["police", "pass", "drop", "skbedit", "pedit", "mirred", "csum", "continue", "goto", "gact"];
    refuse(session, number, format!("`action {name}` is unknown: {}", suggestion(name, known)));
    skip(words);
    vec![Action::Unseen]
}

/// `skbedit`: the mark of the firewall is the label of perhop.
fn skbedit(session: &mut Session, number: usize, words: &mut Words) -> Vec<Action> {
    let mut found = Vec::new();
    while let Some(word) = words.peek() {
        match word {
            "mark" => {
                words.next();
                let text = words.next().unwrap_or_default();
                if let Some(label) = units::integer(text, 0).and_then(|value| u8::try_from(value).ok()) {
                    found.push(Action::Label(label));
                } else {
                    session.log.not_modelled(number, format!("mark {text}: marks of perhop end at 255"));
                    found.push(Action::Unseen);
                }
            }
            "priority" | "queue_mapping" | "ptype" => {
                words.next();
                let text = words.next().unwrap_or_default();
                if word == "ptype" {
                    continue;
                }
                let why = "packets of perhop find their class by filters: use `mark` and a filter of fw";
                session.log.not_modelled(number, format!("skbedit {word} {text}: {why}"));
                found.push(Action::Unseen);
            }
            "inheritdsfield" => {
                words.next();
                session
                    .log
                    .not_modelled(number, "skbedit inheritdsfield: prio reads the type of service itself");
                found.push(Action::Unseen);
            }
            _ => break,
        }
    }
    found
}

/// `pedit`: only the type of service is written in perhop.
fn pedit(session: &mut Session, number: usize, words: &mut Words) -> Vec<Action> {
    let mut found = Vec::new();
    words.take("ex");
    while words.take("munge") {
        let family = words.next().unwrap_or_default();
        let field = words.next().unwrap_or_default();
        let is_service = matches!(
            (family, field),
            ("ip", "tos" | "dsfield" | "ds_field" | "precedence")
                | ("ip6", "traffic_class" | "tos" | "dsfield")
        );
        let is_set = words.take("set");
        let value = words.next().and_then(|word| units::integer(word, 0));
        let mask = if words.take("retain") {
            words.next().and_then(|word| units::integer(word, 0))
        } else {
            Some(0xff)
        };
        match (value, mask) {
            (Some(value @ 0..=0xff), Some(mask @ 0..=0xff)) if is_service && is_set => {
                found.push(Action::Mark { value: value as u8, mask: mask as u8 });
            }
            _ => {
                let note =
                    format!("pedit {family} {field}: only the type of service can be written, with `set`");
                session.log.not_modelled(number, note);
                found.push(Action::Unseen);
                while words.peek().is_some_and(|word| {
                    !control_word(word)
                        && !matches!(word, "munge" | "action" | "flowid" | "classid" | "index")
                }) {
                    words.next();
                }
            }
        }
    }
    found
}

/// `mirred`: copies change nothing; what is sent elsewhere does.
fn mirred(session: &mut Session, number: usize, words: &mut Words) -> Vec<Action> {
    let (mut is_copy, mut device) = (false, String::new());
    while let Some(word) = words.peek() {
        match word {
            "mirror" => is_copy = true,
            "egress" | "ingress" | "redirect" => {}
            "dev" => {
                words.next();
                words.peek().unwrap_or_default().clone_into(&mut device);
            }
            _ => break,
        }
        words.next();
    }
    if is_copy {
        session.log.not_modelled(number, format!("mirred: the copies that load {device} are not made"));
        return vec![Action::Nothing];
    }
    let note = format!(
        "mirred: packets do not go by {device} in perhop: give its queue to the output of the router before this \
         interface"
    );
    session.log.not_modelled(number, note);
    vec![Action::Unseen]
}

/// A policer, whose word has been read.
pub(crate) fn police(session: &mut Session, number: usize, words: &mut Words) -> Vec<Action> {
    // tc's default: `TC_POLICE_RECLASSIFY`.
    let (mut exceed, mut conform) = (Control::Reclassify, Control::Pass);
    let mut is_said = false;
    let mut read = Options::default();
    while let Some(word) = words.peek() {
        let is_option = |opt: &Opt| {
            opt.names.contains(&word)
                || opt.short && word.len() > 1 && opt.names.iter().any(|name| abbreviates(word, name))
        };
        if word == "conform-exceed" || word == "action" && words.is_shown() {
            words.next();
            is_said = true;
            let text = words.next().unwrap_or_default().to_owned();
            let (first, second) = text.split_once('/').map_or((text.as_str(), None), |(a, b)| (a, Some(b)));
            exceed = control(session, number, first, words).unwrap_or(exceed);
            let behind = second.map(str::to_owned).or_else(|| slash(words));
            if let Some(second) = behind {
                conform = control(session, number, &second, words).unwrap_or(conform);
            }
        } else if control_word(word) || word == "goto" {
            words.next();
            is_said = true;
            exceed = control(session, number, word, words).unwrap_or(exceed);
        } else if word == "flowid" || word == "classid" || !POLICE.iter().any(is_option) {
            break;
        } else {
            let mut once = words.split(2);
            let place = Place { line: number, of: "police" };
            let Ok(options) = options::read(&[POLICE], &mut once, place, |_| false, &mut session.log) else {
                return vec![Action::Unseen];
            };
            read.changed_by(options);
        }
    }
    let index = read.number("index");
    if !read.has("rate") && !read.has("pkts_rate") && index.is_none() {
        if !read.has("avrate") {
            refuse(session, number, "a policer must have `rate` or `pkts_rate`");
        }
        return vec![Action::Unseen];
    }
    if read.has("rate") && !read.has("burst") {
        refuse(session, number, "a policer must have `burst` beside `rate`");
        return vec![Action::Unseen];
    }
    if !is_said {
        let message = "no action for what exceeds: tc writes reclassify, which ends in a drop";
        let linux = "Linux asks the filters anew, four times, and drops; so does perhop: write drop";
        session.log.found(&rules::TC_POLICE_WITHOUT_ACTION, number, message, linux);
    }
    vec![Action::Police(Police { options: read, index, exceed, conform })]
}

/// `/ pipe` behind what becomes of packets that exceed.
fn slash(words: &mut Words) -> Option<String> {
    let next = words.peek()?.strip_prefix('/')?.to_owned();
    words.next();
    if next.is_empty() { words.next().map(str::to_owned) } else { Some(next) }
}

/// An action as `show` prints it: `action order 1:  police 0x1 rate 1Mbit …`, `gact action drop`.
pub(crate) fn shown(session: &mut Session, number: usize, words: &mut Words) -> Vec<Action> {
    if words.take("order") {
        words.next();
    }
    match words.peek() {
        Some("police") => {
            words.next();
            words.next();
            police(session, number, words)
        }
        Some("gact") => {
            words.next();
            words.take("action");
            let Some(word) = words.next() else { return Vec::new() };
            control(session, number, word, words).map(Action::End).into_iter().collect()
        }
        Some("mirred") => {
            session.log.not_modelled(number, "mirred: packets go by no other device in perhop");
            vec![Action::Unseen]
        }
        Some("skbedit") => {
            words.next();
            skbedit(session, number, words)
        }
        _ => {
            session.log.not_modelled(number, "this action is not read from the output of show");
            vec![Action::Unseen]
        }
    }
}
