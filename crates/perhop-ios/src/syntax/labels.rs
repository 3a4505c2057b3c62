//! The lines about the distribution of MPLS labels (LDP). The command of interfaces is in
//! `interface_routing`.
//!
//! Source: Cisco, "MPLS Command Reference" of IOS, and "MPLS Command Reference" of IOS XR.

use super::command::{Command, noted, recorded};
use super::interface_name::full_name;
use crate::ast::{At, Configuration};
use crate::mode::Mode;
use crate::words::Reader;

/// The effect of lines that enable MPLS labels.
pub(crate) const LABELS: &str =
    "MPLS labels make packets longer and hide the DS field: write `headers` at the link of a scenario";

/// Global commands of IOS.
pub(super) const COMMANDS: &[Command<Configuration>] = &[
    recorded("mpls ip", LABELS, |configuration, reader| {
        configuration.labels.off = reader.negated().then_some(reader.line);
        Ok(())
    }),
    noted("mpls ldp explicit-null", |configuration, reader| {
        // `for LIST` and `to LIST` limit explicit null labels to some destinations and neighbors.
        let is_limited = reader.peek().is_some();
        explicit_null(configuration, reader);
        if is_limited {
            not_computed(configuration, reader);
        }
    }),
    noted("mpls ldp advertise-labels", |configuration, reader| {
        // `no mpls ldp advertise-labels` withholds all labels, `… for LIST` permits some again.
        if reader.negated() || reader.peek() == Some("for") {
            configuration.labels.distribution.not_computed.push(reader.line);
        }
    }),
    // `allocate global` in this block limits labels to host routes or to a prefix list.
    noted("mpls ldp label", |configuration, reader| {
        not_computed(configuration, reader);
        reader.opens = (!reader.negated()).then_some(Mode::Irrelevant);
    }),
    noted("mpls ldp neighbor", |configuration, reader| {
        if reader.rest().contains(&"labels") {
            not_computed(configuration, reader);
        }
    }),
];

/// Commands of the block `mpls ldp` of IOS XR and of the blocks inside it.
pub(super) const BLOCK: &[Command<Configuration>] = &[
    recorded("interface", LABELS, |configuration, reader| {
        let Some(name) = reader.next().map(|name| full_name(name).full) else { return Ok(()) };
        let ports = &mut configuration.labels.ports;
        ports.retain(|at| at.value != name);
        if !reader.negated() {
            ports.push(At::new(reader.line, name));
        }
        Ok(())
    }),
    recorded("explicit-null", LABELS, |configuration, reader| {
        explicit_null(configuration, reader);
        Ok(())
    }),
    // Filters of the labels that the device binds, sends or accepts.
    filter("accept"),
    filter("allocate"),
    filter("disable"),
    filter("for"),
    // The inner blocks on one line, such as `label local advertise explicit-null`.
    recorded("label", LABELS, |configuration, reader| {
        let words = reader.rest();
        let is_filter = ["accept", "allocate", "disable", "for"].iter().any(|word| words.contains(word));
        if words.contains(&"explicit-null") {
            explicit_null(configuration, reader);
        }
        if is_filter {
            not_computed(configuration, reader);
        }
        Ok(())
    }),
];

const fn filter(words: &'static str) -> Command<Configuration> {
    recorded(words, LABELS, |configuration, reader| {
        not_computed(configuration, reader);
        Ok(())
    })
}

fn explicit_null(configuration: &mut Configuration, reader: &mut Reader) {
    configuration.labels.distribution.explicit_null = (!reader.negated()).then_some(reader.line);
}

fn not_computed(configuration: &mut Configuration, reader: &mut Reader) {
    if !reader.negated() {
        configuration.labels.distribution.not_computed.push(reader.line);
    }
}
