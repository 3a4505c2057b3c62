//! [`measured`]: the counters of a class as shares and rates, for a comparison of two devices.

use serde::Serialize;

use super::reading::{ClassReading, PolicyReading};

/// The colors of a policer as devices print them.
const COLORS: [&str; 3] = ["conformed", "exceeded", "violated"];

/// The part of a comparison to which a quantity belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Part {
    /// The configured values.
    Configured,
    /// The offered traffic of the class.
    Load,
    /// The drops, the queue and the obtained rate.
    Behavior,
}

/// A measured quantity of a class.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Measured {
    pub(super) part: Part,
    pub(super) words: String,
    pub(super) unit: &'static str,
    pub(super) value: f64,
}

/// Returns the quantities that the counters of `class` show.
pub(super) fn measured(policy: &PolicyReading, class: &ClassReading) -> Vec<Measured> {
    let mut found = Vec::new();
    let mut add = |part, words: &str, unit, value| {
        found.push(Measured { part, words: words.to_owned(), unit, value });
    };
    let number = |name: &str| class.number(name).unwrap_or(0) as f64;
    let packets = number("packets");
    if let Some(offered) = class.number("offered_bps").filter(|_| packets > 0.0) {
        add(Part::Load, "offered rate", "b/s", offered as f64);
        if let Some(sent) = class.number("sent_bps") {
            add(Part::Behavior, "sent rate", "b/s", sent as f64);
        } else {
            let left = offered as f64 - number("drop_bps");
            add(Part::Behavior, "offered less dropped", "b/s", left.max(0.0));
        }
    }
    for (part, words, key) in [
        (Part::Load, "share of what is offered", "bytes"),
        (Part::Behavior, "share of what is sent", "output_bytes"),
        (Part::Behavior, "share of what is sent", "sent_bytes"),
    ] {
        let counted = siblings(policy, class).filter_map(|other| other.number(key));
        add_share((part, words), class.number(key), counted, &mut add);
    }
    // Some devices count only departing packets, so the dropped packets are added.
    let (sent, dropped) = (number("sent_packets"), dropped(class));
    if packets > 0.0 {
        add(Part::Behavior, "dropped packets", "%", (100.0 * dropped / packets).min(100.0));
    } else if class.number("sent_packets").is_some() && sent + dropped > 0.0 {
        add(Part::Behavior, "dropped packets", "%", 100.0 * dropped / (sent + dropped));
    }
    if let (Some(dropped), Some(bytes)) = (class.number("dropped_bytes"), class.number("bytes"))
        && bytes > 0
    {
        add(Part::Behavior, "dropped bytes", "%", 100.0 * dropped as f64 / bytes as f64);
    }
    for (part, key, count) in [(Part::Load, "bytes", packets), (Part::Behavior, "sent_bytes", sent)] {
        if let Some(bytes) = class.number(key).filter(|_| count > 0.0) {
            add(part, "bytes of a packet", "bytes", bytes as f64 / count);
        }
    }
    let bytes = |color: &str| class.number(&format!("{color}_bytes"));
    for color in COLORS {
        add_share(
            (Part::Behavior, color),
            bytes(color),
            COLORS.iter().filter_map(|color| bytes(color)),
            &mut add,
        );
    }
    for row in &class.early_drops {
        let dropped = row.random_packets.saturating_add(row.tail_packets);
        let words = format!("WRED {}, dropped", row.value);
        add_share(
            (Part::Behavior, &words),
            Some(dropped),
            [row.transmitted_packets, dropped].into_iter(),
            &mut add,
        );
    }
    found
}

/// Adds the share of `own` in the sum of `all`, if it is finite. Numbers in a text can have any size.
fn add_share(
    (part, words): (Part, &str),
    own: Option<u64>,
    all: impl Iterator<Item = u64>,
    add: &mut impl FnMut(Part, &str, &'static str, f64),
) {
    let whole: f64 = all.map(|count| count as f64).sum();
    if let Some(own) = own.filter(|_| whole > 0.0) {
        add(part, words, "%", 100.0 * own as f64 / whole);
    }
}

/// Returns the classes of the same policy as `class`, including `class`.
fn siblings<'a>(
    policy: &'a PolicyReading,
    class: &'a ClassReading,
) -> impl Iterator<Item = &'a ClassReading> {
    let around = |class: &'a ClassReading| class.path.split_last().map(|(_, around)| around);
    policy.classes.iter().filter(move |other| around(other) == around(class))
}

/// Returns the packets of a class that its queue, the policer of its priority and its own policer have
/// dropped.
fn dropped(class: &ClassReading) -> f64 {
    let drops = |color: &&&str| {
        class.actions.get(**color).is_some_and(|actions| actions.iter().any(|action| action == "drop"))
    };
    let policed = COLORS.iter().filter(drops);
    let policed = policed.filter_map(|color| class.number(&format!("{color}_packets")));
    let own = ["queue_drops", "exceed_drops"].into_iter().filter_map(|key| class.number(key));
    own.chain(policed).map(|count| count as f64).sum()
}
