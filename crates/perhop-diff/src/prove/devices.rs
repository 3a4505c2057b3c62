//! The proof for all ports of two devices whose ports have the same names.

use std::collections::{BTreeMap, BTreeSet};

use perhop_analysis::{Field, PacketSpace, Set, TooComplex, arriving};
use perhop_device::intent::Direction;
use perhop_device::{DeviceModel, Port};
use serde_json::Value;

use super::answer::Proof;
use super::ports::{PortOf, compare_paths};
use crate::forwarding::ACCESS_LIST;
use crate::parts::{DEVICE, Device, INTERFACE, properties_of_device};
use crate::treatment::Difference;

/// Maximum number of compared pairs of entrance and exit. A comparison takes from milliseconds to a second.
const MOST_PAIRS: usize = 400;
/// Properties of interfaces that are not compared, because treatments contain them as rates and marks, or
/// because they name the interface.
const SHOWN: [&str; 8] = [
    "bandwidth",
    "assumed rate",
    "has known line",
    "wire rate",
    "hardware",
    "limiters",
    "bytes counted by classes",
    "bytes counted by queues",
];

/// A port of both devices.
type Both<'a> = [PortOf<'a>; 2];

/// Two devices with their common ports.
struct Devices<'a> {
    ports: Vec<Both<'a>>,
    interfaces: Vec<String>,
    space: PacketSpace,
}

/// Decides whether a difference counts. The caller can reject a difference if its packets never reach the
/// device.
pub(crate) type Accept<'f> = dyn FnMut(&mut PacketSpace, &Difference) -> bool + 'f;

/// Returns whether two devices treat all packets equally.
pub(crate) fn prove(models: [&DeviceModel; 2], names: [&str; 2], accept: &mut Accept) -> Proof {
    let mut proof = Proof::default();
    let mut devices = Devices::pair(models);
    for reason in properties(models, names) {
        proof.not_decided.push(reason);
    }
    devices.compare(&mut proof, accept);
    let all = models.map(|model| {
        model.router.ports.iter().map(|port| port.interface.clone()).collect::<BTreeSet<String>>()
    });
    proof.add_lines(models, names, [&all[0], &all[1]]);
    proof.with_verdict()
}

impl<'a> Devices<'a> {
    fn pair(models: [&'a DeviceModel; 2]) -> Devices<'a> {
        let by_name: BTreeMap<&str, &Port> =
            models[1].router.ports.iter().map(|port| (port.name.as_str(), port)).collect();
        let mut ports = Vec::new();
        for port in &models[0].router.ports {
            let Some(other) = by_name.get(port.name.as_str()) else { continue };
            if !(port.shutdown && other.shutdown) {
                ports.push([PortOf { model: models[0], port }, PortOf { model: models[1], port: other }]);
            }
        }
        let mut known = BTreeSet::new();
        let all = models.iter().flat_map(|model| &model.router.ports).map(|port| &port.interface);
        let interfaces: Vec<String> = all.filter(|name| known.insert(*name)).cloned().collect();
        let space = PacketSpace::new(&interfaces);
        Devices { ports, interfaces, space }
    }

    /// Compares each port alone. If some ports differ, compares the pairs of entrance and exit that contain
    /// such a port.
    fn compare(&mut self, proof: &mut Proof, accept: &mut Accept) {
        let count = self.ports.len();
        let inputs: Vec<bool> = (0..count).map(|place| self.has_other_input(place)).collect();
        let outputs: Vec<bool> = (0..count).map(|place| self.has_other_output(place)).collect();
        let differ = [inputs, outputs];
        let same = differ.iter().flatten().all(|differs| !differs);
        proof.compared.push(format!("the policies and access lists of {count} ports, each for all packets"));
        if same {
            return;
        }
        let entrances = self.entrances(&differ[0]);
        let exits = self.exits(&differ[1]);
        let mut pairs = 0;
        for entrance in &entrances {
            for exit in &exits {
                let is_input = entrance.is_some_and(|place| differ[0][place]);
                let is_alone = *entrance == Some(*exit) && count > 1;
                if is_alone || !(is_input || differ[1][*exit]) {
                    continue;
                }
                pairs += 1;
                if pairs > MOST_PAIRS {
                    continue;
                }
                let found = self.pair_of_ports(*entrance, *exit);
                let by = entrance.map_or("any port without an input policy", |place| self.name(place));
                let place = format!("packets that arrive on {by} and leave through {}", self.name(*exit));
                if proof.record(&place, found, |found| accept(&mut self.space, found)) {
                    return;
                }
            }
        }
        if pairs > MOST_PAIRS {
            proof.not_decided.push(format!("{} more pairs of ports", pairs - MOST_PAIRS));
        }
    }

    fn name(&self, place: usize) -> &'a str {
        &self.ports[place][0].port.name
    }

    /// Whether the input of a port differs for some packet. True if the comparison is too complex.
    fn has_other_input(&mut self, place: usize) -> bool {
        let both = self.ports[place];
        let filters = both.map(|port| port.filters(Direction::Input));
        if both[0].port.input == both[1].port.input && filters[0] == filters[1] {
            return false;
        }
        let number = self.interfaces.iter().position(|name| *name == both[0].port.interface);
        let found = arriving(&mut self.space, number).and_then(|packets| {
            compare_paths(&mut self.space, packets, &|space, side, path| both[side].input(space, path))
        });
        found.map_or(true, |found| found.packet.is_some())
    }

    /// Whether the output of a port differs for some packet. The packet can have any marks that it can get
    /// inside the device. True if the comparison is too complex.
    fn has_other_output(&mut self, place: usize) -> bool {
        let both = self.ports[place];
        let filters = both.map(|port| port.filters(Direction::Output));
        let same = both[0].port.output == both[1].port.output
            && filters[0] == filters[1]
            && both[0].line() == both[1].line()
            && both[0].encapsulation() == both[1].encapsulation();
        if same {
            return false;
        }
        let found = compare_paths(&mut self.space, Set::ALL, &|space, side, path| {
            both[side].output(space, path, both[side].encapsulation())
        });
        found.map_or(true, |found| found.packet.is_some() || !found.schedulers.is_empty())
    }

    /// Returns the entrances to compare: the ports with an input policy or access list, and `None` for all
    /// other ports together.
    fn entrances(&self, differ: &[bool]) -> Vec<Option<usize>> {
        let has_own = |place: &usize| {
            let ports = self.ports[*place].iter();
            ports
                .into_iter()
                .any(|own| !own.port.input.conditioners.is_empty() || own.has_filter(Direction::Input))
        };
        let own = (0..self.ports.len()).filter(|place| has_own(place) || differ.get(*place) == Some(&true));
        std::iter::once(None).chain(own.map(Some)).collect()
    }

    /// Returns the exits to compare: the ports with different outputs or with policies, and two other ports,
    /// so that at least one of these two is not the entrance.
    fn exits(&self, differ: &[bool]) -> Vec<usize> {
        let is_plain = |place: usize| {
            let own = self.ports[place][0];
            own.port.output.conditioners.is_empty() && !own.has_filter(Direction::Output)
        };
        let (plain, mut found): (Vec<usize>, Vec<usize>) =
            (0..self.ports.len()).partition(|place| !differ[*place] && is_plain(*place));
        found.extend(plain.into_iter().take(2));
        found
    }

    fn pair_of_ports(&mut self, entrance: Option<usize>, exit: usize) -> Result<Difference, TooComplex> {
        let number = |place: usize| {
            let own = &self.ports[place][0].port.interface;
            self.interfaces.iter().position(|name| name == own)
        };
        let inputs: Vec<u128> = if let Some(place) = entrance {
            number(place).into_iter().map(|number| number as u128).collect()
        } else {
            let own: BTreeSet<usize> = self.entrances(&[]).into_iter().flatten().filter_map(number).collect();
            let others = (0..self.interfaces.len()).filter(|number| !own.contains(number));
            others.map(|number| number as u128).collect()
        };
        let input = entrance.map(|place| self.ports[place]);
        let output = self.ports[exit];
        let packets = arriving(&mut self.space, None)?;
        let by = self.space.is_one_of(Field::Input, inputs)?;
        let packets = self.space.and(packets, by)?;
        compare_paths(&mut self.space, packets, &|space, side, path| {
            if let Some(input) = input {
                input[side].input(space, path)?;
            }
            output[side].output(space, path, output[side].encapsulation())
        })
    }
}

/// Returns the different properties that treatments do not contain: addresses, routes, tunnels, links.
fn properties(models: [&DeviceModel; 2], names: [&str; 2]) -> Vec<String> {
    let all = models.map(|model| properties_of_device(&Device::from_model(model)));
    let ports = models
        .map(|model| model.router.ports.iter().map(|port| port.name.as_str()).collect::<BTreeSet<&str>>());
    let mut found = Vec::new();
    for (own, other, name) in [(0, 1, names[0]), (1, 0, names[1])] {
        for port in ports[own].difference(&ports[other]) {
            found.push(format!("only {name} has the interface {port}"));
        }
    }
    let keys: BTreeSet<&(String, String, String)> = all.iter().flat_map(BTreeMap::keys).collect();
    for key in keys {
        let (interface, part, what) = key;
        let is_shown = part == INTERFACE && (what.is_empty() || SHOWN.contains(&what.as_str()));
        let is_list = part == DEVICE && (what.starts_with(ACCESS_LIST) || what == "platform");
        let is_filter = part == INTERFACE && what.starts_with("filter of ");
        let is_policy = part != INTERFACE && part != DEVICE;
        let is_alone = !interface.is_empty() && !ports.iter().all(|ports| ports.contains(interface.as_str()));
        if is_shown || is_list || is_filter || is_policy || is_alone {
            continue;
        }
        let values = [all[0].get(key), all[1].get(key)];
        if values[0] != values[1] {
            let place = if interface.is_empty() { String::new() } else { format!("{interface}: ") };
            let [before, after] = in_words(values);
            found.push(format!("{place}{what}: {before} and {after}"));
        }
    }
    found
}

/// Returns two values as text; for objects, only the different parts.
fn in_words(values: [Option<&Value>; 2]) -> [String; 2] {
    let text = |value: Option<&Value>| match value {
        None | Some(Value::Null) => "none".to_owned(),
        Some(Value::String(text)) => text.clone(),
        Some(value) => value.to_string(),
    };
    let [Some(first), Some(second)] = values.map(|value| value.and_then(Value::as_object)) else {
        return values.map(text);
    };
    let keys: BTreeSet<&String> = first.keys().chain(second.keys()).collect();
    let differing: Vec<&String> =
        keys.into_iter().filter(|key| first.get(*key) != second.get(*key)).collect();
    [first, second].map(|object| {
        let parts = differing.iter().map(|key| format!("{key} {}", text(object.get(*key))));
        parts.collect::<Vec<String>>().join(", ")
    })
}
