//! Conversion of a conditioner to a class of Intent.

use std::collections::BTreeMap;

use perhop_device::intent::{
    Action, At, Class, ClassId, Condition, Field, InsideColors, Mark, Meter, Police, Table, TableDefault,
    Then, TrafficRate, Translation, Written,
};
use perhop_qos::action::{Action as Step, CopyConfig, CopyDefault};
use perhop_qos::conditioner::ConditionerConfig;
use perhop_qos::meter::MeterConfig;
use perhop_qos::units::QueueSize;

use super::branch::empty;

/// Returns the class that corresponds to `stage` of the filter on `line`.
pub(super) fn of_stage(stage: &ConditionerConfig, id: ClassId, line: usize) -> Class {
    let named = Class {
        name: stage.name.clone().unwrap_or_default(),
        line,
        takes_rest: stage.matches.is_none(),
        condition: stage.matches.clone().map_or(Condition::Always, Condition::when),
        ..empty(id)
    };
    let Some(meter) = stage.meter.as_ref().and_then(meter) else {
        let marks = stage.actions.iter().filter_map(mark).map(|mark| At::new(line, mark)).collect();
        return Class { marks, then: fate(&stage.actions), ..named };
    };
    let has_two_buckets = matches!(meter, Meter::Bytes { peak: Some(_), .. });
    let middle = if has_two_buckets { &stage.yellow } else { &stage.red };
    let violate = if has_two_buckets { actions(&stage.red) } else { Vec::new() };
    let (conform, exceed) = (actions(&stage.green), actions(middle));
    let police = Police { meter, conform, exceed, violate, aware: None, inside: InsideColors::Ignored };
    Class { police: Some(At::new(line, police)), ..named }
}

fn meter(config: &MeterConfig) -> Option<Meter> {
    let rate = |rate: perhop_qos::Rate| TrafficRate::BitsPerSecond(rate.as_bits_per_second());
    Some(match config {
        MeterConfig::TokenBucket(bucket) => Meter::Bytes {
            rate: rate(bucket.rate),
            burst: Some(bucket.burst.as_bytes()),
            peak: None,
            excess_burst: None,
        },
        MeterConfig::TwoRateTcm(meter) => Meter::Bytes {
            rate: rate(meter.cir),
            burst: Some(meter.cbs.as_bytes()),
            peak: Some(rate(meter.pir)),
            excess_burst: Some(meter.pbs.as_bytes()),
        },
        MeterConfig::PacketRate(meter) => Meter::Packets {
            rate: meter.rate.as_packets_per_second(),
            burst: match meter.burst {
                QueueSize::Packets(packets) => Some(packets),
                QueueSize::Bytes(_) => None,
            },
        },
        _ => return None,
    })
}

/// Returns the actions of a color: one action per mark, of which the last decides whether the packet
/// continues.
fn actions(steps: &[Step]) -> Vec<Action> {
    let then = fate(steps);
    let mut found: Vec<Action> = steps
        .iter()
        .filter_map(mark)
        .map(|mark| Action { printed: mark.printed.clone(), mark: Some(mark), then })
        .collect();
    if found.is_empty() {
        let printed = match then {
            Then::Transmit => "pass",
            Then::Continue => "continue",
            Then::Drop => "drop",
        };
        found.push(Action { mark: None, then, printed: printed.to_owned() });
    }
    found
}

fn fate(steps: &[Step]) -> Then {
    match steps.last() {
        Some(Step::Drop) => Then::Drop,
        Some(Step::Continue) => Then::Continue,
        _ => Then::Transmit,
    }
}

fn mark(step: &Step) -> Option<Mark> {
    Some(match step {
        Step::Mark(dscp) => {
            Mark { written: Written::Dscp(*dscp), printed: format!("pedit dsfield {}", dscp.value() << 2) }
        }
        Step::Label(label) => Mark {
            written: Written::ForwardingClass((*label).into()),
            printed: format!("skbedit mark {label}"),
        },
        Step::Copy(copy) => Mark {
            written: Written::Copy { to: Field::Dscp, from: Field::Dscp, by: translation(copy) },
            printed: "pedit dsfield".to_owned(),
        },
        _ => return None,
    })
}

/// Returns the translation of codepoints that corresponds to a write to some bits of the field.
fn translation(copy: &CopyConfig) -> Translation {
    let entries: BTreeMap<u8, u8> =
        copy.map.iter().filter_map(|(from, to)| from.number().zip(to.number())).collect();
    let default = match copy.default {
        CopyDefault::Copy => TableDefault::Copy,
        _ => TableDefault::Ignore,
    };
    Translation::Table(Table { entries, default })
}
