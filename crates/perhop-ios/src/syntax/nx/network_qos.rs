//! `policy-map type network-qos`: lengths of frames, pauses, and congestion control by group.

use crate::ast::{At, NetworkClass, NetworkPolicy};
use crate::mode::Mode;
use crate::syntax::command::{Command, irrelevant, modelled, not_modelled, recorded};
use crate::words::{Finding, Reader, Reading};

const NO_DROP: &str =
    "the neighbor is paused before the queue is full: perhop drops at the limit of the queue";

pub(super) const POLICY: &[Command<NetworkPolicy>] = &[modelled("class", class), irrelevant("description")];

pub(super) const CLASS: &[Command<NetworkClass>] = &[
    recorded(
        "mtu",
        "longer frames of the class are dropped: an interface of the switch sends such frames",
        |class, reader| {
            let bytes = if reader.negated() { None } else { Some(reader.number("bytes", 576..=9216)?) };
            reader.end()?;
            class.mtu = bytes.map(|bytes| At::new(reader.line, bytes));
            Ok(())
        },
    ),
    recorded("pause", NO_DROP, |class, reader| {
        class.no_drop = (!reader.negated()).then(|| At::new(reader.line, ()));
        while reader.next().is_some() {}
        Ok(())
    }),
    // The switch writes the group of each class of the system.
    irrelevant("match"),
    irrelevant("description"),
    irrelevant("congestion-control tail-drop"),
    not_modelled("congestion-control", "packets are dropped before the queue is full"),
    not_modelled("queue-limit", "the memory of the class"),
    not_modelled("set", "packets are marked"),
    not_modelled("multicast-optimize", "multicast packets have queues of their own"),
];

/// `class type network-qos NAME`
fn class(policy: &mut NetworkPolicy, reader: &mut Reader) -> Reading {
    if reader.rest().first() == Some(&"type") {
        reader.next();
        reader.one_of(&["network-qos"])?;
    }
    let name = reader.word("a class-map")?;
    reader.end()?;
    let classes = &mut policy.classes;
    if reader.negated() {
        classes.retain(|class| class.name != name);
        return Ok(Finding::MODELLED);
    }
    let index = classes.iter().position(|class| class.name == name).unwrap_or_else(|| {
        classes.push(NetworkClass { name: name.to_owned(), line: reader.line, mtu: None, no_drop: None });
        classes.len() - 1
    });
    if let Mode::NetworkPolicy(map) = reader.mode {
        reader.opens = Some(Mode::NetworkClass(map, index));
    }
    Ok(Finding::MODELLED)
}
