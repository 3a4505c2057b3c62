//! Actions of filters (`tc/m_*.c`, `net/sched/act_*.c`).

use super::control::{control, control_word};
use super::police::police;
use crate::kernel::Kernel;
use crate::model::{Action, Control};
use crate::nearest::suggestion;
use crate::units;
use crate::words::Words;

/// Actions on properties that packets in perhop do not have, and actions without effect.
const WITHOUT_EFFECT: [(&str, &str); 4] = [
    ("csum", "checksums"),
    ("simple", "output"),
    ("sample", "it copies packets for a program"),
    ("connmark", "it sets marks of connections, not of packets"),
];
const NOT_MODELLED: [(&str, &str); 13] = [
    ("nat", "perhop does not change addresses"),
    ("ct", "perhop does not track connections"),
    ("ctinfo", "perhop has no marks of connections"),
    ("vlan", "in perhop VLAN tags are `headers` of a scenario's link"),
    ("mpls", "in perhop MPLS labels are `headers` of a scenario's link"),
    ("tunnel_key", "in perhop tunnels are `headers` of a scenario's link"),
    ("skbmod", "perhop's frames have no MAC addresses"),
    ("ife", "perhop's frames have no metadata headers"),
    ("gate", "perhop does not model gates that open at certain times"),
    ("bpf", "perhop does not run eBPF programs"),
    ("xt", "perhop does not run iptables targets"),
    ("ipt", "perhop does not run iptables targets"),
    ("pfmemalloc", "perhop does not model memory of the kernel"),
];

/// Reads the actions after `action`, and after further `action` words.
pub(crate) fn actions(kernel: &mut Kernel, number: usize, words: &mut Words) -> Vec<Action> {
    let mut found = Vec::new();
    loop {
        found.extend(read_action(kernel, number, words));
        let goes_on = words.peek().is_some_and(|word| word == "action");
        if !goes_on {
            return found;
        }
        words.next();
    }
}

fn read_action(kernel: &mut Kernel, number: usize, words: &mut Words) -> Vec<Action> {
    let Some(name) = words.next() else {
        kernel.refuse(number, "the name after `action` is missing");
        return vec![Action::Unseen];
    };
    if name == "police" {
        return police(kernel, number, words);
    }
    let name = if name == "gact" { words.next().unwrap_or("pass") } else { name };
    if let Some(control) = control(kernel, number, name, words) {
        rest_of_action(kernel, number, words);
        return vec![Action::End(control)];
    }
    let mut found = match name {
        "skbedit" => skbedit(kernel, number, words),
        "pedit" => pedit(kernel, number, words),
        "mirred" => mirred(kernel, number, words),
        other => known_by_name(kernel, number, other, words),
    };
    let own = words.peek().map(str::to_owned);
    if let Some(control) = own.and_then(|word| {
        let mut ahead = Words::new(&[], words.origin);
        control_word(&word).then(|| control(kernel, number, &word, &mut ahead)).flatten()
    }) {
        words.next();
        if control != Control::Pipe {
            found.push(Action::End(control));
        }
    }
    rest_of_action(kernel, number, words);
    found
}

/// Reads the end of an action: the index and the cookie.
fn rest_of_action(kernel: &mut Kernel, number: usize, words: &mut Words) {
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
                kernel.log.not_modelled(number, "`random`: perhop does not model random actions");
                words.split(4);
            }
            _ => return,
        }
    }
}

fn known_by_name(kernel: &mut Kernel, number: usize, name: &str, words: &mut Words) -> Vec<Action> {
    let skip = |words: &mut Words| {
        while words.peek().is_some_and(|word| {
            !control_word(word) && !matches!(word, "action" | "flowid" | "classid" | "index")
        }) {
            words.next();
        }
    };
    if let Some((_, what)) = WITHOUT_EFFECT.iter().find(|(known, _)| *known == name) {
        kernel.log.note(number, format!("action {name} is irrelevant: {what}"));
        skip(words);
        return vec![Action::Nothing];
    }
    if let Some((_, why)) = NOT_MODELLED.iter().find(|(known, _)| *known == name) {
        kernel.log.not_modelled(number, format!("action {name}: {why}"));
        skip(words);
        return vec![Action::Unseen];
    }
    let known = ["police", "pass", "drop", "skbedit", "pedit", "mirred", "csum", "continue", "goto", "gact"];
    kernel.refuse(number, format!("`action {name}` is unknown: {}", suggestion(name, known)));
    skip(words);
    vec![Action::Unseen]
}

/// `skbedit`: perhop represents the firewall mark as a label.
fn skbedit(kernel: &mut Kernel, number: usize, words: &mut Words) -> Vec<Action> {
    let mut found = Vec::new();
    while let Some(word) = words.peek() {
        match word {
            "mark" => {
                words.next();
                let text = words.next().unwrap_or_default();
                if let Some(label) = units::integer(text, 0).and_then(|value| u8::try_from(value).ok()) {
                    found.push(Action::Label(label));
                } else {
                    kernel
                        .log
                        .not_modelled(number, format!("mark {text}: the highest mark in perhop is 255"));
                    found.push(Action::Unseen);
                }
            }
            "priority" | "queue_mapping" | "ptype" => {
                words.next();
                let text = words.next().unwrap_or_default();
                if word == "ptype" {
                    continue;
                }
                let why = "in perhop only filters select classes: use `mark` and an fw filter";
                kernel.log.not_modelled(number, format!("skbedit {word} {text}: {why}"));
                found.push(Action::Unseen);
            }
            "inheritdsfield" => {
                words.next();
                kernel.log.not_modelled(
                    number,
                    "skbedit inheritdsfield has no effect here: prio reads the TOS byte itself",
                );
                found.push(Action::Unseen);
            }
            _ => break,
        }
    }
    found
}

/// `pedit`: only writes to the type of service are modeled.
fn pedit(kernel: &mut Kernel, number: usize, words: &mut Words) -> Vec<Action> {
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
                let note = format!("pedit {family} {field}: perhop models only `set` of the TOS byte");
                kernel.log.not_modelled(number, note);
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

/// Reads the action `mirred`. Copies have no effect; redirected packets are not modeled.
fn mirred(kernel: &mut Kernel, number: usize, words: &mut Words) -> Vec<Action> {
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
        copied(kernel, number, &device);
        return vec![Action::Nothing];
    }
    redirected(kernel, number, &device);
    vec![Action::Unseen]
}

fn copied(kernel: &mut Kernel, number: usize, device: &str) {
    kernel.log.not_modelled(
        number,
        format!("mirred: perhop does not make the copies of packets that Linux sends to {device}"),
    );
}

/// Reports packets that Linux redirects to another device, usually an `ifb` that shapes arriving packets.
fn redirected(kernel: &mut Kernel, number: usize, device: &str) {
    let note = format!(
        "mirred: perhop does not send packets through {device}: put a router with the queue of {device} before \
         this interface (docs/tc.md shows how)"
    );
    kernel.log.not_modelled(number, note);
}

/// Reads an action in the output of `show`: `action order 1:  police 0x1 rate 1Mbit …`, `gact action drop`.
pub(crate) fn shown(kernel: &mut Kernel, number: usize, words: &mut Words) -> Vec<Action> {
    if words.take("order") {
        words.next();
    }
    match words.peek() {
        Some("police") => {
            words.next();
            words.next();
            police(kernel, number, words)
        }
        Some("gact") => {
            words.next();
            words.take("action");
            let Some(word) = words.next() else { return Vec::new() };
            control(kernel, number, word, words).map(Action::End).into_iter().collect()
        }
        // (Egress Redirect to device ifb0) stolen
        Some("mirred") => {
            let words_left = words.rest();
            let device = words_left.iter().skip_while(|word| *word != "device").nth(1);
            let device = device.map_or("a device", |word| word.trim_end_matches(')'));
            if words_left.iter().any(|word| word.eq_ignore_ascii_case("mirror")) {
                copied(kernel, number, device);
                return vec![Action::Nothing];
            }
            redirected(kernel, number, device);
            vec![Action::Unseen]
        }
        Some("skbedit") => {
            words.next();
            skbedit(kernel, number, words)
        }
        _ => {
            kernel.log.not_modelled(number, "perhop does not read this action from the output of tc show");
            vec![Action::Unseen]
        }
    }
}
