//! `mls qos` and the queues of ports of Catalyst 2960, 3560 and 3750.
//!
//! The rows record the settings. On a switch of this kind, the front end changes the lines to the state
//! "modeled". Source of the ranges: Cisco, "Catalyst 3750 Switch Command Reference" (OL-8552-07).

use std::collections::BTreeMap;

use perhop_qos::Dscp;

use super::command::{Command, modelled, recorded};
use super::numbers::{bits_per_second, dscp, eight};
use crate::ast::{
    AggregatePolicer, At, Configuration, INPUT_QUEUES, Interface, MlsQos, OUTPUT_QUEUES, PortQos, QUEUE_SETS,
    QueuePlace, QueueThresholds, Trust,
};
use crate::words::{Finding, Reader, Reading};

const GLOBAL_EFFECT: &str = "the switching hardware has its own queues and rules for marks";
const INPUT_EFFECT: &str = "the input queues drop packets only if all ports together exceed the internal \
                            ring of the switch; `perhop buffers` shows these queues";
const QUEUES_EFFECT: &str = "the port serves its hardware queues in turn (weighted round robin)";
const TRUST_EFFECT: &str = "the trust state of the port decides whether it keeps or rewrites marks";
const VLAN_EFFECT: &str = "the policy of the VLAN applies to packets of the port";

/// Reads a codepoint or a class of service.
type ReadValue = fn(&mut Reader) -> Result<u8, Finding>;

pub(super) const COMMANDS: &[Command<Configuration>] = &[
    recorded("mls qos", GLOBAL_EFFECT, enabled),
    modelled("mls qos rewrite ip dscp", rewrite),
    recorded("mls qos map cos-dscp", GLOBAL_EFFECT, |configuration, reader| {
        codepoints(&mut configuration.mls.cos_dscp, &mut configuration.mls.lines, reader)
    }),
    recorded("mls qos map ip-prec-dscp", GLOBAL_EFFECT, |configuration, reader| {
        codepoints(&mut configuration.mls.precedence_dscp, &mut configuration.mls.lines, reader)
    }),
    recorded(
        "mls qos map dscp-cos",
        "departing frames get another class of service",
        |configuration, reader| table(&mut configuration.mls.dscp_cos, &mut Vec::new(), eight, reader),
    ),
    recorded("mls qos map policed-dscp", GLOBAL_EFFECT, |configuration, reader| {
        let mls = &mut configuration.mls;
        table(&mut mls.policed_dscp, &mut mls.lines, codepoint, reader)
    }),
    recorded("mls qos map dscp-mutation", GLOBAL_EFFECT, |configuration, reader| {
        let name = reader.word("the name of the map")?.to_owned();
        let mls = &mut configuration.mls;
        if reader.negated() {
            mls.mutations.remove(&name);
            return Ok(());
        }
        table(mls.mutations.entry(name).or_default(), &mut mls.lines, codepoint, reader)
    }),
    recorded("mls qos srr-queue output dscp-map", GLOBAL_EFFECT, |configuration, reader| {
        let MlsQos { output_dscp, lines, .. } = &mut configuration.mls;
        places(output_dscp, lines, (OUTPUT_QUEUES, codepoint), reader)
    }),
    recorded("mls qos srr-queue output cos-map", GLOBAL_EFFECT, |configuration, reader| {
        let MlsQos { output_cos, lines, .. } = &mut configuration.mls;
        places(output_cos, lines, (OUTPUT_QUEUES, eight), reader)
    }),
    recorded("mls qos srr-queue input dscp-map", INPUT_EFFECT, |configuration, reader| {
        places(&mut configuration.mls.input_dscp, &mut Vec::new(), (INPUT_QUEUES, codepoint), reader)
    }),
    recorded("mls qos srr-queue input cos-map", INPUT_EFFECT, |configuration, reader| {
        places(&mut configuration.mls.input_cos, &mut Vec::new(), (INPUT_QUEUES, eight), reader)
    }),
    recorded("mls qos srr-queue input bandwidth", INPUT_EFFECT, |configuration, reader| {
        let input = &mut configuration.mls.input;
        numbers(&mut input.bandwidth, "a weight", 1..=100, reader)
    }),
    recorded("mls qos srr-queue input buffers", INPUT_EFFECT, |configuration, reader| {
        let input = &mut configuration.mls.input;
        numbers(&mut input.buffers, "a percentage", 0..=100, reader)?;
        require_sum(input.buffers.map(|at| at.value.iter().sum()), &mut input.buffers)
    }),
    recorded("mls qos srr-queue input priority-queue", INPUT_EFFECT, input_priority),
    recorded("mls qos srr-queue input threshold", INPUT_EFFECT, |configuration, reader| {
        let queue = queue(reader, INPUT_QUEUES)?;
        let mut both = None;
        numbers(&mut both, "a percentage", 1..=100, reader)?;
        let thresholds = &mut configuration.mls.input.thresholds;
        match both {
            Some(both) => thresholds.insert(queue, both),
            None => thresholds.remove(&queue),
        };
        Ok(())
    }),
    recorded("mls qos queue-set output", GLOBAL_EFFECT, queue_set_output),
    recorded("mls qos aggregate-policer", GLOBAL_EFFECT, aggregate_policer),
];

pub(super) const PORT_COMMANDS: &[Command<Interface>] = &[
    recorded("mls qos", TRUST_EFFECT, |_, _| Ok(())),
    recorded("mls qos trust", TRUST_EFFECT, trust),
    // This command exists only on a Catalyst with a UADP chip.
    recorded("trust device", TRUST_EFFECT, |interface, reader| {
        let device = reader.next().map(str::to_owned).filter(|_| !reader.negated());
        reader.end()?;
        interface.mls.device = device.map(|device| At::new(reader.line, device));
        Ok(())
    }),
    recorded("mls qos cos", TRUST_EFFECT, |interface, reader| cos(&mut interface.mls, reader)),
    recorded("mls qos vlan-based", VLAN_EFFECT, |interface, reader| {
        reader.end()?;
        interface.mls.vlan_based = (!reader.negated()).then(|| At::new(reader.line, ()));
        Ok(())
    }),
    recorded("mls qos dscp-mutation", TRUST_EFFECT, |interface, reader| {
        let name = reader.word("the name of the map")?;
        reader.end()?;
        interface.mls.mutation = (!reader.negated()).then(|| At::new(reader.line, name.to_owned()));
        interface.mls.lines.push(reader.line);
        Ok(())
    }),
    recorded("queue-set", "the port's own queues have other buffers", |interface, reader| {
        let set = if reader.negated() { 1 } else { reader.number("a queue-set", 1..=QUEUE_SETS as u64)? };
        interface.mls.queue_set = (!reader.negated()).then(|| At::new(reader.line, set as u8));
        interface.mls.lines.push(reader.line);
        Ok(())
    }),
    recorded("srr-queue bandwidth share", QUEUES_EFFECT, |interface, reader| {
        interface.mls.lines.push(reader.line);
        numbers(&mut interface.mls.share, "a weight", 1..=255, reader)
    }),
    recorded("srr-queue bandwidth shape", QUEUES_EFFECT, |interface, reader| {
        interface.mls.lines.push(reader.line);
        numbers(&mut interface.mls.shape, "a weight", 0..=65_535, reader)
    }),
    recorded("srr-queue bandwidth limit", QUEUES_EFFECT, |interface, reader| {
        interface.mls.limit = None;
        if !reader.negated() {
            let percent = reader.number("a percentage", 10..=90)?;
            reader.end()?;
            interface.mls.limit = Some(At::new(reader.line, percent));
        }
        interface.mls.lines.push(reader.line);
        Ok(())
    }),
    recorded("srr-queue", QUEUES_EFFECT, |_, _| Ok(())),
    recorded(
        "priority-queue out",
        "the port has a hardware queue with strict priority",
        |interface, reader| {
            reader.end()?;
            interface.mls.expedite = (!reader.negated()).then(|| At::new(reader.line, ()));
            interface.mls.lines.push(reader.line);
            Ok(())
        },
    ),
];

#[allow(clippy::unnecessary_wraps)] // all readers of a table have one type
fn enabled(configuration: &mut Configuration, reader: &mut Reader) -> Result<(), Finding> {
    // Other words are commands of other switches: `mls qos marking statistics`.
    if reader.peek().is_none() {
        configuration.mls.enabled = Some(At::new(reader.line, !reader.negated()));
        configuration.mls.lines.push(reader.line);
    }
    Ok(())
}

/// Reads `no mls qos rewrite ip dscp`: the switch selects the queue by the new codepoint, but does not write
/// this codepoint to the packet.
fn rewrite(configuration: &mut Configuration, reader: &mut Reader) -> Reading {
    reader.end()?;
    configuration.mls.keeps_dscp = reader.negated().then(|| At::new(reader.line, ()));
    if reader.negated() {
        return Ok(Finding::not_modelled(
            "in the switch packets keep their codepoint; a run also writes the codepoint that selects the \
             queue",
        ));
    }
    Ok(Finding::irrelevant("the default of the switch"))
}

fn codepoint(reader: &mut Reader) -> Result<u8, Finding> {
    dscp(reader).map(Dscp::value)
}

fn queue(reader: &mut Reader, queues: usize) -> Result<u8, Finding> {
    reader.number("a queue", 1..=queues as u64).map(|queue| queue as u8)
}

/// Reads the eight codepoints of a map.
fn codepoints(
    map: &mut Option<At<[u8; 8]>>,
    lines: &mut Vec<usize>,
    reader: &mut Reader,
) -> Result<(), Finding> {
    *map = None;
    if reader.negated() {
        return Ok(());
    }
    let mut values = [0; 8];
    for value in &mut values {
        *value = codepoint(reader)?;
    }
    reader.end()?;
    *map = Some(At::new(reader.line, values));
    lines.push(reader.line);
    Ok(())
}

/// Reads `CODEPOINT … to VALUE`; `target` reads the value.
fn table(
    map: &mut BTreeMap<u8, At<u8>>,
    lines: &mut Vec<usize>,
    target: ReadValue,
    reader: &mut Reader,
) -> Result<(), Finding> {
    if reader.negated() {
        map.clear();
        return Ok(());
    }
    let mut from = vec![codepoint(reader)?];
    while !reader.eat("to") {
        from.push(codepoint(reader)?);
    }
    let to = target(reader)?;
    reader.end()?;
    lines.push(reader.line);
    map.extend(from.into_iter().map(|from| (from, At::new(reader.line, to))));
    Ok(())
}

/// Reads `queue Q threshold T VALUE …` and `queue Q VALUE …`, which means threshold 1.
fn places(
    map: &mut BTreeMap<u8, At<QueuePlace>>,
    lines: &mut Vec<usize>,
    (queues, value): (usize, ReadValue),
    reader: &mut Reader,
) -> Result<(), Finding> {
    if reader.negated() {
        map.clear();
        return Ok(());
    }
    reader.one_of(&["queue"])?;
    let queue = queue(reader, queues)?;
    let threshold = if reader.eat("threshold") { reader.number("a threshold", 1..=3)? as u8 } else { 1 };
    let values = super::numbers::list(reader, value)?;
    let place = At::new(reader.line, QueuePlace { queue, threshold });
    map.extend(values.into_iter().map(|value| (value, place)));
    lines.push(reader.line);
    Ok(())
}

/// Reads one number for each queue.
fn numbers<const COUNT: usize>(
    place: &mut Option<At<[u64; COUNT]>>,
    what: &str,
    range: std::ops::RangeInclusive<u64>,
    reader: &mut Reader,
) -> Result<(), Finding> {
    *place = None;
    if reader.negated() {
        return Ok(());
    }
    let mut values = [0; COUNT];
    for value in &mut values {
        *value = reader.number(what, range.clone())?;
    }
    reader.end()?;
    *place = Some(At::new(reader.line, values));
    Ok(())
}

/// Removes the setting and returns a finding if its percentages do not sum to 100.
fn require_sum<T>(sum: Option<u64>, place: &mut Option<T>) -> Result<(), Finding> {
    match sum {
        Some(sum) if sum != 100 => {
            *place = None;
            Err(Finding::not_recognized(format!("the parts sum to {sum} %: the switch accepts 100 %")))
        }
        _ => Ok(()),
    }
}

/// Reads `priority-queue 2 bandwidth 10`.
fn input_priority(configuration: &mut Configuration, reader: &mut Reader) -> Result<(), Finding> {
    let queue = queue(reader, INPUT_QUEUES)?;
    let priority = &mut configuration.mls.input.priority;
    priority.remove(&queue);
    if !reader.negated() {
        reader.one_of(&["bandwidth"])?;
        let percent = reader.number("a percentage", 0..=40)?;
        reader.end()?;
        priority.insert(queue, At::new(reader.line, percent));
    }
    Ok(())
}

/// Reads `queue-set output 1 buffers 10 10 26 54`, `queue-set output 1 threshold 2 138 138 92 400`.
fn queue_set_output(configuration: &mut Configuration, reader: &mut Reader) -> Result<(), Finding> {
    let number = reader.number("a queue-set", 1..=QUEUE_SETS as u64)? as usize;
    let set = &mut configuration.mls.queue_sets[number - 1];
    configuration.mls.lines.push(reader.line);
    match reader.one_of(&["buffers", "threshold"])? {
        "buffers" => {
            numbers(&mut set.buffers, "a percentage", 0..=100, reader)?;
            require_sum(set.buffers.map(|at| at.value.iter().sum()), &mut set.buffers)
        }
        _ if reader.negated() && reader.peek().is_none() => {
            set.thresholds = Default::default();
            Ok(())
        }
        _ => {
            let queue = queue(reader, OUTPUT_QUEUES)?;
            let place = &mut set.thresholds[usize::from(queue) - 1];
            *place = None;
            if reader.negated() {
                return Ok(());
            }
            let drop = [(); 2].map(|()| reader.number("a threshold in percent", 1..=3200));
            let reserved = reader.number("a reserved percentage", 1..=100)?;
            let maximum = reader.number("a maximum in percent", 1..=3200)?;
            reader.end()?;
            let [first, second] = drop;
            let drop = [first?, second?];
            *place = Some(At::new(reader.line, QueueThresholds { drop, reserved, maximum }));
            Ok(())
        }
    }
}

/// Reads `aggregate-policer NAME RATE BURST exceed-action drop|policed-dscp-transmit`.
fn aggregate_policer(configuration: &mut Configuration, reader: &mut Reader) -> Result<(), Finding> {
    let name = reader.word("the name of the policer")?.to_owned();
    let policers = &mut configuration.mls.aggregate_policers;
    policers.remove(&name);
    if reader.negated() {
        return Ok(());
    }
    let rate = bits_per_second(reader)?;
    let burst = reader.number("a burst in bytes", 1..=2_000_000_000)?;
    reader.one_of(&["exceed-action"])?;
    let marks_down = reader.one_of(&["drop", "policed-dscp-transmit"])? != "drop";
    reader.end()?;
    policers.insert(name, At::new(reader.line, AggregatePolicer { rate, burst, marks_down }));
    Ok(())
}

/// Reads the words after `trust`.
pub(super) fn trust_field(reader: &mut Reader) -> Result<Trust, Finding> {
    if reader.peek().is_none() {
        return Ok(Trust::Dscp);
    }
    let trust = match reader.one_of(&["cos", "dscp", "ip-precedence"])? {
        "cos" if reader.eat("pass-through") => {
            reader.one_of(&["dscp"])?;
            Trust::CosPassThrough
        }
        "cos" => Trust::Cos,
        "dscp" => Trust::Dscp,
        _ => Trust::Precedence,
    };
    reader.end()?;
    Ok(trust)
}

fn trust(interface: &mut Interface, reader: &mut Reader) -> Result<(), Finding> {
    let port = &mut interface.mls;
    if reader.eat("device") {
        let device = reader.next().map(str::to_owned).filter(|_| !reader.negated());
        reader.end()?;
        port.device = device.map(|device| At::new(reader.line, device));
    } else if reader.negated() {
        port.trust = None;
        return Ok(());
    } else {
        port.trust = Some(At::new(reader.line, trust_field(reader)?));
    }
    port.lines.push(reader.line);
    Ok(())
}

/// Reads `cos 5`, `cos override`.
fn cos(port: &mut PortQos, reader: &mut Reader) -> Result<(), Finding> {
    let line = reader.line;
    if reader.eat("override") {
        port.cos_override = (!reader.negated()).then(|| At::new(line, ()));
    } else if reader.negated() {
        port.cos = None;
        return Ok(());
    } else {
        let value = reader.number("a class of service", 0..=7)?;
        port.cos = Some(At::new(line, value as u8));
        if reader.eat("override") {
            port.cos_override = Some(At::new(line, ()));
        }
    }
    reader.end()?;
    port.lines.push(line);
    Ok(())
}
