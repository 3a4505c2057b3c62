//! [`demands`]: the demands of a class by kind, as they are compared between devices.

use std::collections::BTreeMap;

use perhop_device::intent::{
    Action, Class, Field, Guarantee, Mark, Meter, Police, PriorityRate, Then, TrafficRate, Written,
};

/// The factor from which on two numbers contradict each other.
const UNEQUAL: u64 = 2;

/// The packets that a policy treats.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Packets {
    /// Those that the device forwards.
    Forwarded,
    /// Those to the device itself.
    ToDevice,
}

/// A demand of a class.
pub(super) struct Demand {
    /// Its line.
    pub(super) line: usize,
    /// Its value in words: the number comes last, if it has one.
    pub(super) text: String,
    /// Whether it is a rate in bits or packets per second.
    is_rate: bool,
    /// Whether it is a policer that drops packets.
    pub(super) drops: bool,
}

impl Demand {
    /// Whether its value contradicts that of most others: another word, or a number that is unequal. Rates of
    /// forwarded packets follow from the circuit, which differs between devices.
    pub(super) fn contradicts(&self, usual: &str, packets: Packets) -> bool {
        if packets == Packets::Forwarded && self.is_rate && number(usual).is_some() {
            return false;
        }
        match (number(&self.text), number(usual)) {
            (Some((words, own)), Some((others, usual))) if words == others => {
                own * UNEQUAL <= usual || own >= usual * UNEQUAL && !self.text.starts_with("drops above")
            }
            (Some(_), Some(_)) => false,
            _ => self.text != usual,
        }
    }
}

/// Divides a text into its words and the number at its end.
fn number(text: &str) -> Option<(&str, u64)> {
    let (words, number) = text.rsplit_once(' ')?;
    Some((words, number.parse().ok()?))
}

/// Returns the demands of a class by kind.
pub(super) fn demands(class: &Class) -> BTreeMap<&'static str, Demand> {
    let mut found = BTreeMap::new();
    let mut add = |kind, line, text: String| {
        let is_rate = text.contains("/s ");
        found.insert(kind, Demand { line, text, is_rate, drops: false });
    };
    if let Some(at) = &class.priority {
        let rate = match at.value.rate {
            PriorityRate::Unlimited => "without a limit".to_owned(),
            PriorityRate::Kilobits(kilobits) => format!("of kb/s {kilobits}"),
            PriorityRate::Percent(percent) => format!("of percent {percent}"),
        };
        add("priority", at.line, rate);
    }
    if let Some(at) = &class.guarantee {
        let rate = match at.value {
            Guarantee::Kilobits(kilobits) => format!("of kb/s {kilobits}"),
            Guarantee::BitsPerSecond(bits) => format!("of b/s {bits}"),
            Guarantee::Percent(percent) => format!("of percent {percent}"),
            Guarantee::RemainingPercent(percent) => format!("of percent of the rest {percent}"),
            Guarantee::RemainingRatio(ratio) => format!("of the ratio {ratio}"),
        };
        add("guarantee", at.line, rate);
    }
    if let Some(at) = &class.shape {
        add("shaper", at.line, format!("of {}", rate_words(at.value.rate)));
    }
    for mark in &class.marks {
        if let Some((kind, value)) = mark_words(&mark.value) {
            add(kind, mark.line, value);
        }
    }
    if let Some(at) = &class.police {
        let (text, drops) = police_words(&at.value);
        let is_rate = text.contains("/s ");
        found.insert("policer", Demand { line: at.line, text, is_rate, drops });
    }
    found
}

fn rate_words(rate: TrafficRate) -> String {
    match rate {
        TrafficRate::BitsPerSecond(bits) => format!("b/s {bits}"),
        TrafficRate::Percent(percent) => format!("percent {percent}"),
    }
}

fn drops(actions: &[Action]) -> bool {
    actions.iter().any(|action| action.then == Then::Drop)
}

/// Returns a policer in words, and whether it drops packets. One that only marks has a word without a rate.
fn police_words(police: &Police) -> (String, bool) {
    if drops(&police.conform) {
        return ("that drops all".to_owned(), true);
    }
    // Without an action, a policer drops the packets that exceed.
    if !police.exceed.is_empty() && !drops(&police.exceed) {
        return ("that drops nothing".to_owned(), false);
    }
    let rate = match police.meter {
        Meter::Bytes { rate, .. } => rate_words(rate),
        Meter::Packets { rate, .. } => format!("packets/s {rate}"),
    };
    (format!("drops above {rate}"), true)
}

/// Returns the field that a mark writes, and its value. `set dscp` and `set precedence` write one header.
fn mark_words(mark: &Mark) -> Option<(&'static str, String)> {
    let kind = match mark.field()? {
        Field::Dscp | Field::Precedence => "codepoint",
        Field::Cos => "class of service",
        Field::ExpOfNewLabels | Field::ExpOfTopLabel => "traffic class of labels",
        _ => return None,
    };
    let value = match &mark.written {
        Written::Dscp(dscp) => dscp.to_string(),
        Written::Precedence(precedence) => format!("precedence {precedence:?}"),
        Written::Number(_, number) => format!("({number})"),
        _ => return None,
    };
    Some((kind, value))
}
