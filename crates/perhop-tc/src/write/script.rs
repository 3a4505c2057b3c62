//! [`TcWriter`]: the script that contains the commands.

use perhop_device::intent::Direction;
use perhop_device::{Notes, PoliciesToWrite, PolicyToWrite, Writer, Written, comment};
use perhop_qos::ConfigError;
use perhop_qos::policy::QueueingConfig;

use super::cake;
use super::classes::{Classes, Leaf};
use super::condition::{Conditions, Overlap, Version};
use super::conditioners::Conditioners;
use super::guarantee_excess;
use super::policer::Counted;
use super::tree::{self, Discipline};

/// The overhead that Linux counts per departing packet on Ethernet, bytes.
const ETHERNET: i32 = 14;
const HEAD: &str = "\
#
# Packets are counted whole only where the interface does not join them: ethtool -K INTERFACE gro off gso off
# tso off. Filters look at IPv4 without options and at IPv6 without extension headers; other frames go to the
# class of all packets.
set -e
DEV=${1:?usage: $0 INTERFACE}";
/// The lines that number the policers, because the numbers of policers are common to all interfaces.
const NUMBER: &str = "\
# The numbers of policers begin with that of the interface.
P=$(ip -o link show dev \"$DEV\" | cut -d : -f 1)";
const CLEAR: &str = "\
tc qdisc del dev \"$DEV\" root 2> /dev/null || true
tc qdisc del dev \"$DEV\" clsact 2> /dev/null || true";
const HOOKS: &str = "tc qdisc add dev \"$DEV\" clsact";

/// Writes the policies of one interface as a shell script of `tc` commands.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TcWriter;

impl Writer for TcWriter {
    fn write(&self, policies: &PoliciesToWrite) -> Result<Written, ConfigError> {
        let sides = sides(policies)?;
        let mut conditions = Conditions::new(sides.iter().map(|(_, side)| &side.policy));
        let mut notes = Notes::default();
        let mut lines = Vec::new();
        let mut policers = 0;
        for (hook, side) in &sides {
            let place = side.place();
            lines.extend([String::new(), format!("# {}", comment(&place))]);
            let counted = Counted { overhead: side.policy.overhead, leaves: *hook == EGRESS };
            let mut conditioners = Conditioners::new(hook, counted, &place, policers);
            for (number, stage) in (1..).zip(&side.policy.conditioners) {
                conditioners.add(stage, number, &mut conditions, &mut notes);
            }
            policers = conditioners.policers;
            lines.extend(conditioners.lines);
            if let Some(queueing) = side.policy.queueing.as_ref().filter(|_| *hook == EGRESS) {
                lines.extend(queues(side, queueing, &mut conditions, &mut notes)?);
            }
        }
        let not_expressed = notes.into_list();
        let has_hooks = lines.iter().any(|line| line.contains(" ingress ") || line.contains(" egress "));
        let mut text = vec![head(policies, &sides)];
        text.extend(
            not_expressed.iter().map(|note| format!("# Different from perhop: {}", comment(&note.line()))),
        );
        text.extend((policers > 0).then(|| NUMBER.to_owned()));
        text.push(CLEAR.to_owned());
        text.extend(has_hooks.then(|| HOOKS.to_owned()));
        text.extend(lines);
        let interfaces = vec![None; policies.policies.len()];
        Ok(Written { text: text.join("\n") + "\n", not_expressed, interfaces })
    }
}

const INGRESS: &str = "ingress";
const EGRESS: &str = "egress";

fn head(policies: &PoliciesToWrite, sides: &[(&str, &PolicyToWrite)]) -> String {
    let mut names: Vec<&str> = sides.iter().map(|(_, side)| side.name.as_str()).collect();
    names.dedup();
    let file = policies.file.rsplit(['/', '\\']).next().unwrap_or_default();
    let what = comment(&format!("{} of {file}", names.join(", ")));
    format!("#!/bin/sh\n# The policies of {what}, by `perhop convert`: sh SCRIPT INTERFACE\n{HEAD}")
}

/// Returns the policy of each hook.
fn sides(policies: &PoliciesToWrite) -> Result<Vec<(&'static str, &PolicyToWrite)>, ConfigError> {
    let mut found: Vec<(&'static str, &PolicyToWrite)> = Vec::new();
    for policy in &policies.policies {
        let hook = if policy.direction == Some(Direction::Input) { INGRESS } else { EGRESS };
        if found.iter().any(|(known, _)| *known == hook) {
            let place =
                |policy: &PolicyToWrite| policy.interface.clone().unwrap_or_else(|| policy.name.clone());
            let mut several: Vec<String> = policies.policies.iter().map(place).collect();
            several.sort_unstable();
            several.dedup();
            let option = if policy.interface.is_some() { "--interface" } else { "--policy" };
            let file = &policies.file;
            let message = format!("`{file}` has several policies, and commands are for one interface");
            return Err(ConfigError::new("policies", message)
                .help(format!("choose with {option}: {}", several.join(", "))));
        }
        found.push((hook, policy));
    }
    Ok(found)
}

/// Returns the commands for the queues of an interface.
fn queues(
    side: &PolicyToWrite,
    queueing: &QueueingConfig,
    conditions: &mut Conditions,
    notes: &mut Notes,
) -> Result<Vec<String>, ConfigError> {
    let place = side.place();
    let rate = side.rate.ok_or_else(|| {
        let message = format!("{place}: the rate of the interface is not known");
        ConfigError::new("rate", message).help("set the rate: --rate 50Mb/s")
    })?;
    let overhead = side.policy.overhead;
    if let Ok(Some((_, config))) = queueing.cake() {
        let mut notes = notes.at(&place);
        if overhead != 0 {
            notes.report(format!("overhead: {overhead}"), "CAKE counts by its own `overhead`");
        }
        let words = cake::discipline(config, &mut notes);
        return Ok(vec![format!("tc qdisc add dev \"$DEV\" root handle 1: {words}")]);
    }
    let rate_bps = rate.as_bits_per_second();
    let as_htb = guarantee_excess::as_htb(queueing, rate, &mut notes.at(&place));
    let queueing = as_htb.as_ref().unwrap_or(queueing);
    let mut classes = Classes::new(rate_bps, &place, conditions, notes);
    let Discipline { kind, options, has_direct } = tree::add_port(&mut classes, queueing, rate_bps);
    let Classes { lines, leaves, .. } = classes;
    // The size table of HTB adds these bytes, which can be negative, to the frame.
    let more = overhead - ETHERNET;
    let table = if more == 0 { String::new() } else { format!(" stab overhead {more} linklayer ethernet") };
    let default = leaves.iter().find(|leaf| leaf.matches.is_empty()).map(|leaf| leaf.minor);
    let last = default.unwrap_or(0);
    let mut commands =
        vec![format!("tc qdisc add dev \"$DEV\" root handle 1:{table} {kind} default {last:x}{options}")];
    commands.extend(lines);
    for (number, leaf) in leaves.iter().enumerate().filter(|(_, leaf)| !leaf.matches.is_empty()) {
        commands.extend(filters(leaf, number, &place, conditions, notes));
    }
    // HFSC drops unclassified packets, as perhop does, so no note is needed.
    if default.is_none() && kind != "hfsc" && !has_direct {
        let reason = "perhop drops these packets; HTB sends them first and unshaped";
        notes.at(&place).report_with_change(
            "packets without a class",
            reason,
            "write a last class without `match`",
        );
    }
    Ok(commands)
}

/// Returns the filters of a class. As in perhop, a packet belongs to the first class that it matches.
fn filters(
    leaf: &Leaf,
    number: usize,
    place: &str,
    conditions: &mut Conditions,
    notes: &mut Notes,
) -> Vec<String> {
    match conditions.filters(&leaf.matches, Overlap::Allowed) {
        Err(missing) => {
            notes.at(&format!("{place}, class {}", leaf.name)).add(missing);
            Vec::new()
        }
        Ok(found) => found
            .iter()
            .map(|filter| {
                let preference = 2 * number + 1 + usize::from(filter.version == Version::V6);
                format!(
                    "tc filter add dev \"$DEV\" parent 1: protocol {} pref {preference} u32 {} flowid 1:{:x}",
                    filter.version.protocol(),
                    filter.words,
                    leaf.minor
                )
            })
            .collect(),
    }
}
