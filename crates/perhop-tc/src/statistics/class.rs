//! The output of `tc -s class show`.

use perhop_qos::Time;
use serde_json::{Value, json};

use super::counters::DeviceCounters;
use super::values::{rate, size, time};
use crate::model::{Class, Device, Place, Qdisc};
use crate::options::{self, Curve};
use crate::units::shown_id;

/// Appends the output for the classes of a device. Returns the classes with their counters.
pub(super) fn print(device: &Device, counters: &DeviceCounters, lines: &mut Vec<String>) -> Vec<Value> {
    let mut found = Vec::new();
    for qdisc in device.qdiscs.iter().filter(|qdisc| qdisc.place != Place::Hooks) {
        for class in classes(device, qdisc) {
            let id = shown_id(class.id);
            let leaf = device.child(class.id).map(|child| format!("leaf {} ", shown_id(child.handle)));
            let (kind, around) = (qdisc.kind.name, around(qdisc, &class));
            let options = options_of(device, qdisc, &class);
            lines.push(format!("class {kind} {id} {around} {}{options}", leaf.unwrap_or_default()));
            let mut document = json!({"class": id, "kind": kind});
            // `tbf` has no counters by class.
            if let Some(own) = counters.of_class(class.id).filter(|_| kind != "tbf") {
                own.print(overlimits(kind), lines);
                document["counters"] = own.document().into();
            }
            lines.push(String::new());
            found.push(document);
        }
    }
    found
}

/// Returns the number of times that a class exceeded a limit; `None` if perhop does not count this.
fn overlimits(kind: &str) -> Option<u64> {
    matches!(kind, "prio" | "drr" | "ets").then_some(0)
}

/// Returns the classes of a discipline, including implicit ones.
fn classes(device: &Device, qdisc: &Qdisc) -> Vec<Class> {
    let own = |minor: u64| Class {
        id: qdisc.handle | minor as u32,
        parent: None,
        line: qdisc.line,
        options: options::Options::default(),
    };
    let number = |name: &str, usual| qdisc.options.number(name).unwrap_or(usual);
    match qdisc.kind.name {
        "tbf" => vec![own(1)],
        "prio" => (1..=number("bands", 3)).map(own).collect(),
        "ets" => {
            let quanta = match qdisc.options.value("quanta") {
                Some(options::Value::Numbers(quanta)) => quanta.as_slice(),
                _ => &[],
            };
            let strict = number("strict", 0);
            let bands = number("bands", strict + quanta.len() as u64);
            let band = |minor: u64| {
                let turn = minor.checked_sub(strict + 1);
                let quantum = turn.map(|turn| quanta.get(turn as usize).copied().unwrap_or(device.frame()));
                let mut class = own(minor);
                if let Some(quantum) = quantum {
                    class.options.set("quantum", options::Value::Bytes(quantum));
                }
                class
            };
            (1..=bands).map(band).collect()
        }
        _ => qdisc.classes.clone(),
    }
}

/// Returns the parent of a class in the words of the output.
fn around(qdisc: &Qdisc, class: &Class) -> String {
    let outer = matches!(qdisc.kind.name, "tbf" | "prio" | "ets" | "hfsc").then_some(qdisc.handle);
    let around = class.parent.or(outer);
    around.map_or_else(|| "root".to_owned(), |id| format!("parent {}", shown_id(id)))
}

fn options_of(device: &Device, qdisc: &Qdisc, class: &Class) -> String {
    let options = &class.options;
    match qdisc.kind.name {
        "htb" => {
            let bits = options.rate("rate").unwrap_or(0);
            let ceil = options.rate("ceil").unwrap_or(bits);
            let is_leaf = !qdisc.classes.iter().any(|candidate| candidate.parent == Some(class.id));
            let prio = is_leaf.then(|| format!("prio {} ", options.number("prio").unwrap_or(0).min(7)));
            // The default is a packet of 1600 bytes. tc rounds bursts to whole ticks of 64 ns.
            let burst = |name: &str| options.number(name).unwrap_or(options.number("mtu").unwrap_or(1600));
            format!(
                "{}rate {} ceil {} burst {} cburst {} ",
                prio.unwrap_or_default(),
                rate(bits),
                rate(ceil),
                size(burst("burst")),
                size(burst("cburst"))
            )
        }
        "drr" => format!("quantum {} ", size(options.number("quantum").unwrap_or(device.frame()))),
        "ets" => options.number("quantum").map(|bytes| format!("quantum {bytes} ")).unwrap_or_default(),
        "hfsc" => {
            let curve = |name: &str| match options.value(name) {
                Some(options::Value::Curve(curve)) => Some(*curve),
                _ => None,
            };
            let both = curve("sc");
            let (real, link) = (curve("rt").or(both), curve("ls").or(both));
            let named = match (real, link) {
                (Some(both), Some(other)) if both == other => vec![("sc", Some(both))],
                (real, link) => vec![("rt", real), ("ls", link)],
            };
            let curves = named.into_iter().chain([("ul", curve("ul"))]);
            curves.filter_map(|(name, curve)| curve.map(|curve| curve_words(name, curve))).collect()
        }
        _ => String::new(),
    }
}

fn curve_words(name: &str, curve: Curve) -> String {
    let first = if curve.lasts == Time::ZERO { 0 } else { curve.first };
    format!("{name} m1 {} d {} m2 {} ", rate(first), time(curve.lasts), rate(curve.then))
}
