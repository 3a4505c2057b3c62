//! The table of random early detection.

use std::collections::{BTreeMap, BTreeSet};

use perhop_device::show::{PrecedenceCounters, QueueCounters, Traffic};
use perhop_device::{Basis, RandomDetect, RandomDetectRow};
use perhop_qos::DropCause;
use perhop_qos::Dscp;
use perhop_qos::queue::PrecedenceSource;

/// The causes in the column of tail drops: queue limit, flow limit and maximum threshold.
const TAIL: [DropCause; 2] = [DropCause::EarlyForced, DropCause::QueueFull];

/// The thresholds of a precedence or codepoint, and the counters of its packets.
#[derive(Clone, Debug)]
pub(super) struct EarlyDropRow<'a> {
    pub(super) config: &'a RandomDetectRow,
    pub(super) transmitted: Traffic,
    pub(super) random: Traffic,
    pub(super) tail: Traffic,
    pub(super) marked: Traffic,
}

/// Random early detection on a queue.
#[derive(Clone, Debug)]
pub(super) struct EarlyDrops<'a> {
    pub(super) config: &'a RandomDetect,
    /// `None` if the run did not sample the queue.
    pub(super) mean_depth: Option<f64>,
    pub(super) rows: Vec<EarlyDropRow<'a>>,
}

/// Returns the table: a row for each precedence, or for each codepoint that is configured or `seen`.
///
/// A queue counts packets by drop precedence, which it derives from `source`. Codepoints with equal
/// thresholds share a drop precedence. The counters of a drop precedence are in the row of the first of its
/// codepoints that occurs in the run.
pub(super) fn early_drops<'a>(
    config: &'a RandomDetect,
    counters: &QueueCounters,
    source: Option<&PrecedenceSource>,
    seen: &BTreeSet<Dscp>,
) -> EarlyDrops<'a> {
    let averages = counters.sample.iter().flat_map(|sample| sample.averages.values().copied());
    let mut sharing: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
    for (index, row) in config.rows.iter().enumerate() {
        sharing.entry(drop_precedence(row, config.basis, source)).or_default().push(index);
    }
    let is_seen = |index: &&usize| {
        let row = &config.rows[**index];
        config.basis == Basis::Dscp && Dscp::new(row.number).is_some_and(|dscp| seen.contains(&dscp))
    };
    let mut counted: BTreeMap<usize, &PrecedenceCounters> = BTreeMap::new();
    for (precedence, rows) in &sharing {
        if let Some(found) = counters.precedences.get(precedence) {
            let first = rows.iter().find(is_seen).or(rows.first());
            counted.extend(first.map(|index| (*index, found)));
        }
    }
    let rows =
        config.rows.iter().enumerate().filter(|(index, row)| {
            config.basis != Basis::Dscp || row.is_written || counted.contains_key(index)
        });
    EarlyDrops {
        config,
        mean_depth: averages.reduce(f64::max),
        rows: rows.map(|(index, config)| row(config, counted.get(&index).copied())).collect(),
    }
}

/// Returns the drop precedence that a queue assigns to packets with a codepoint or precedence.
fn drop_precedence(row: &RandomDetectRow, basis: Basis, source: Option<&PrecedenceSource>) -> u64 {
    let Some(PrecedenceSource::ByDscp(groups)) = source else { return row.value.parse().unwrap_or(0) };
    let is_in = |group: &[Dscp]| basis == Basis::Dscp && group.iter().any(|dscp| dscp.value() == row.number);
    // A codepoint without a group belongs to the last group.
    let found = groups.iter().position(|group| is_in(&group.0));
    found.unwrap_or(groups.len().saturating_sub(1)) as u64
}

fn row<'a>(config: &'a RandomDetectRow, counters: Option<&PrecedenceCounters>) -> EarlyDropRow<'a> {
    let none = PrecedenceCounters::default();
    let found = counters.unwrap_or(&none);
    EarlyDropRow {
        config,
        transmitted: found.sent,
        random: found.drops(&[DropCause::EarlyRandom]),
        tail: found.drops(&TAIL),
        marked: found.of_packets(found.marked_packets),
    }
}
