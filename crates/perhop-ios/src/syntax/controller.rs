//! Commands of the block `controller`: physical lines with time slots, and their serial interfaces.

use super::command::{Command, irrelevant, modelled};
use crate::ast::{ChannelGroup, Configuration, Controller};
use crate::mode::Mode;
use crate::words::{Finding, Reader, Reading};

pub(super) const COMMANDS: &[Command<Controller>] = &[
    modelled("channel-group", |controller, reader| channel_group(controller, &[], reader)),
    modelled("t1", tributary),
    modelled("e1", tributary),
    modelled("vtg", tributary),
    modelled("tug-2", tributary),
    modelled("sts-1", path),
    modelled("au-3", path),
    modelled("au-4", path),
    irrelevant("alarm-report"),
    irrelevant("aps"),
    irrelevant("bert"),
    irrelevant("ber"),
    irrelevant("cablelength"),
    irrelevant("cas-group"),
    irrelevant("cem-group"),
    irrelevant("clock"),
    irrelevant("crc"),
    irrelevant("description"),
    irrelevant("ds0-group"),
    irrelevant("fdl"),
    irrelevant("framing"),
    irrelevant("idle"),
    irrelevant("ima-group"),
    irrelevant("linecode"),
    irrelevant("line-termination"),
    irrelevant("loopback"),
    irrelevant("mode"),
    irrelevant("modem"),
    irrelevant("national"),
    irrelevant("operating"),
    irrelevant("overhead"),
    irrelevant("pri-group"),
    irrelevant("shutdown"),
    irrelevant("snmp"),
    irrelevant("tdm-group"),
    irrelevant("threshold"),
    irrelevant("yellow"),
];

pub(super) fn open(configuration: &mut Configuration, reader: &mut Reader) -> Reading {
    let kind = reader.word("a kind of line")?;
    let number = reader.next();
    if reader.negated() {
        return Ok(Finding::IRRELEVANT);
    }
    if !matches!(kind.to_ascii_uppercase().as_str(), "T1" | "E1" | "T3" | "E3" | "SONET" | "SDH") {
        reader.opens = Some(Mode::Irrelevant);
        return Ok(Finding::IRRELEVANT);
    }
    let name = format!("{} {}", kind.to_ascii_uppercase(), number.unwrap_or_default());
    let new = || Controller { name: name.clone(), line: reader.line, groups: Vec::new(), path: Vec::new() };
    reader.opens = Some(Mode::Controller(configuration.controllers.place(&name, new)));
    Ok(Finding::MODELLED)
}

/// Reads `au-4 1 tug-3 2`, `sts-1 1`: the path of the tributaries on the following lines.
#[allow(clippy::unnecessary_wraps)] // all readers of a table have one type
fn path(controller: &mut Controller, reader: &mut Reader) -> Reading {
    controller.path = std::iter::from_fn(|| reader.next()).filter_map(|word| word.parse().ok()).collect();
    Ok(Finding::MODELLED)
}

/// Reads `t1 3 channel-group 0 timeslots 1-24`, `vtg 1 t1 2 channel-group …`, `tug-2 1 e1 3 channel-group …`.
fn tributary(controller: &mut Controller, reader: &mut Reader) -> Reading {
    let mut path = controller.path.clone();
    while let Some(word) = reader.peek() {
        if word == "channel-group" {
            reader.next();
            return channel_group(controller, &path, reader);
        }
        path.extend(word.parse::<u64>().ok());
        reader.next();
    }
    Ok(Finding::IRRELEVANT)
}

/// The rates of a time slot, kilobits per second: with all eight bits, and with one bit used for signaling.
const SLOT: (u64, u64) = (64, 56);

/// Reads `channel-group … timeslots … [speed 56|64]`. Without slots, the group has the whole line.
fn channel_group(controller: &mut Controller, path: &[u64], reader: &mut Reader) -> Reading {
    let number = reader.number("a channel group", 0..=255)?;
    let interface = interface(&controller.name, path, number);
    controller.groups.retain(|group| group.interface != interface);
    if reader.negated() {
        return Ok(Finding::MODELLED);
    }
    let slots = match reader.keyword(&["timeslots", "unframed"]) {
        Some("timeslots") => slots(reader)?,
        Some(_) => 32,
        None if controller.name.starts_with("T1") => 24,
        None => 31,
    };
    let speed = match reader.keyword(&["speed"]) {
        Some(_) => reader.number("kilobits per second of a slot", SLOT.1..=SLOT.0)?,
        None => SLOT.0,
    };
    controller.groups.push(ChannelGroup { line: reader.line, interface, kilobits: slots * speed });
    Ok(Finding::MODELLED)
}

/// Returns the number of slots in `1-12,16`.
fn slots(reader: &mut Reader) -> Result<u64, Finding> {
    let word = reader.peek().unwrap_or_default();
    let slot = |word: &str| word.parse::<u64>().ok().filter(|slot| *slot <= 31);
    let count = |range: &str| {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let (first, last) = (slot(first)?, slot(last)?);
        (first <= last).then(|| last - first + 1)
    };
    let counts: Option<Vec<u64>> = word.split(',').map(count).collect();
    let counts = counts.ok_or_else(|| reader.unexpected("time slots such as 1-24"))?;
    reader.next();
    Ok(counts.iter().sum())
}

/// Returns the interface of a channel group: `Serial0/0/0:1` of a T1; `Serial1/0/3:0` of the third T1 in a
/// T3; `Serial1/0/0.1/2/3:0` of a T1 in SONET.
fn interface(controller: &str, path: &[u64], group: u64) -> String {
    let (kind, number) = controller.split_once(' ').unwrap_or((controller, ""));
    let path: Vec<String> = path.iter().map(u64::to_string).collect();
    match (kind, path.as_slice()) {
        (_, []) => format!("Serial{number}:{group}"),
        ("SONET" | "SDH", path) => format!("Serial{number}.{}:{group}", path.join("/")),
        (_, path) => format!("Serial{number}/{}:{group}", path.join("/")),
    }
}

#[cfg(test)]
mod tests {
    use super::interface;

    #[test]
    fn channel_groups_name_interfaces() {
        assert_eq!(interface("T1 0/0/0", &[], 1), "Serial0/0/0:1");
        assert_eq!(interface("T3 1/0", &[3], 0), "Serial1/0/3:0");
        assert_eq!(interface("SONET 1/0/0", &[1, 2, 3], 0), "Serial1/0/0.1/2/3:0");
    }

    #[test]
    fn slots_that_run_backwards_are_refused() {
        let text =
            "controller T1 0/0/0\n channel-group 0 timeslots 11-1,26\n channel-group 1 timeslots 2-1\n";
        let configuration = crate::parse(text);
        assert!(configuration.controllers.iter().all(|controller| controller.groups.is_empty()));
        assert!(configuration.lines[1..].iter().all(|line| line.state != crate::LineState::Modelled));
    }
}
