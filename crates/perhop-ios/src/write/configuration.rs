//! [`configuration`]: writing of a complete configuration.

use std::collections::BTreeMap;

use perhop_device::intent::{Direction, Policy};
use perhop_device::{DeviceModel, NotExpressed, PolicyToWrite, Port};
use perhop_qos::QueueSize;
use perhop_qos::buffer::BufferConfig;

use super::blocks::{self, Block, BlockKey, Blocks};
use super::class::Way;
use super::policy_map::PolicyMaps;
use super::rate_limit::{direction_word, is_rate_limit, rate_limit};
use crate::platform::Profile;

/// The port for packets to the router itself.
const CONTROL_PLANE: &str = "control-plane";
/// The default `hold-queue`, packets.
const HOLD_QUEUE: u64 = 40;
/// The overhead that an Ethernet interface counts per packet, bytes.
const ETHERNET: i32 = 14;

/// The policies to write, and their source router.
pub(super) struct Source<'a> {
    pub(super) policies: Vec<PolicyToWrite>,
    /// The interface of each policy on a device of another vendor.
    pub(super) interfaces: Vec<Option<String>>,
    /// The router; `None` for policies of a scenario or of another vendor's device.
    pub(super) device: Option<&'a DeviceModel>,
    /// The parts of foreign policies that IOS cannot express.
    pub(super) notes: Vec<NotExpressed>,
}

impl Source<'_> {
    /// Returns the port of a policy.
    pub(super) fn port(&self, policy: &PolicyToWrite) -> Option<&Port> {
        let wanted = policy.interface.as_deref()?;
        self.device?.router.ports.iter().find(|port| port.name == wanted)
    }

    /// Returns the Intent of a policy of the router, if that policy is the only one of its direction.
    pub(super) fn demands(&self, policy: &PolicyToWrite) -> Option<&Policy> {
        let intent = &self.port(policy)?.intent;
        let policies = match policy.direction {
            Some(Direction::Input) => &intent.input,
            Some(Direction::Output) | None => &intent.output,
        };
        match policies.as_slice() {
            [only] => Some(only),
            _ => None,
        }
    }

    /// Returns the interface of the policy with this index: its own interface, or a new name. Policies at the
    /// same interface of a device of another vendor get the same interface.
    pub(super) fn interface(&self, place: usize) -> String {
        let policy = &self.policies[place];
        if let Some(interface) = policy.interface.as_ref().filter(|_| self.device.is_some()) {
            return interface.clone();
        }
        let first = self.first_at(place);
        let is_ethernet =
            |other: usize| self.first_at(other) == first && self.policies[other].policy.overhead == ETHERNET;
        if (0..self.policies.len()).any(is_ethernet) {
            format!("GigabitEthernet0/{first}")
        } else {
            format!("Serial0/{first}/0")
        }
    }

    /// Returns the index of the first policy at the same interface of a device of another vendor.
    fn first_at(&self, place: usize) -> usize {
        let own = self.interfaces[place].as_ref();
        let is_same = |other: &Option<String>| own.is_some() && other.as_ref() == own;
        self.interfaces.iter().position(is_same).unwrap_or(place)
    }
}

/// Returns the configuration with the policies at some indices, each written according to its choice. Also
/// returns the features that the configuration cannot express.
pub(super) fn configuration(
    source: &Source,
    chosen: &[(usize, Way)],
    profile: Profile,
) -> (String, Vec<NotExpressed>) {
    let mut maps = PolicyMaps::new(profile);
    let mut blocks = Blocks::new();
    let mut names: BTreeMap<String, (usize, Option<String>)> = BTreeMap::new();
    let mut limits = perhop_device::Notes::default();
    for (place, chosen_way) in chosen {
        let entry = &source.policies[*place];
        let block = add_block(&mut blocks, source, *place);
        if let (Some(device), Some(port)) = (source.device, source.port(entry))
            && !blocks::attaches(device, port, attachment_word(entry))
        {
            continue;
        }
        let mut attached = rate_limits(entry, &mut maps, &mut limits);
        let called = free_name(&names, source, *place);
        let written = if let Some((_, written)) = names.get(&called) {
            written.clone()
        } else {
            let written = add_policy(&mut maps, source, *place, *chosen_way, &called);
            names.insert(called, (*place, written.clone()));
            written
        };
        attached.extend(
            written.as_ref().map(|written| format!("service-policy {} {written}", attachment_word(entry))),
        );
        attached.extend(hold_queue(entry));
        if let Some(block) = blocks.get_mut(&block) {
            block.attach(attached, written.as_deref());
        }
    }
    let mut lines = vec!["!".to_owned(), profile.sign().to_owned(), "!".to_owned()];
    lines.extend(maps.lines());
    let known: Vec<&str> =
        blocks.values().filter_map(|block| block.text.strip_prefix("interface ")).collect();
    for interface in
        maps.class_maps.interfaces.iter().filter(|interface| !known.contains(&interface.as_str()))
    {
        lines.extend([format!("interface {interface}"), "!".to_owned()]);
    }
    lines.extend(blocks::lines(&blocks));
    lines.push("end".to_owned());
    let notes = [maps.notes.into_list(), limits.into_list()].concat();
    (lines.join("\n") + "\n", notes)
}

/// Adds a policy. Returns the name of its policy-map; `None` if the policy does not need a policy-map.
fn add_policy(
    maps: &mut PolicyMaps,
    source: &Source,
    place: usize,
    way: Way,
    called: &str,
) -> Option<String> {
    let entry = &source.policies[place];
    match way {
        Way::Running(choice) => {
            maps.choice = choice;
            maps.add(called, &entry.policy, entry.rate, &entry.place())
        }
        Way::Demands => {
            let written = maps.add_demands(called, source.demands(entry)?);
            written.map_err(|missing| maps.notes.at(&entry.place()).add(missing)).ok()
        }
    }
}

/// Returns the direction word that attaches a policy.
fn attachment_word(entry: &PolicyToWrite) -> &'static str {
    // Packets to the router itself leave through the port to the processor, but IOS attaches their policy as
    // `input`.
    if entry.interface.as_deref() == Some(CONTROL_PLANE) { "input" } else { direction_word(entry.direction) }
}

/// Returns the name of a policy-map: the name of the policy, with a number if another policy has this name.
fn free_name(names: &BTreeMap<String, (usize, Option<String>)>, source: &Source, place: usize) -> String {
    let entry = &source.policies[place];
    let wanted = if entry.name.contains(' ') { "limits" } else { entry.name.as_str() };
    let is_free = |called: &String| {
        names.get(called).is_none_or(|(other, _)| {
            let other = &source.policies[*other];
            other.policy == entry.policy && other.rate == entry.rate
        })
    };
    // The other policies occupy at most one name each, so one of these names is free.
    let numbered = (2..=source.policies.len() + 1).map(|number| format!("{wanted}-{number}"));
    let mut names = std::iter::once(wanted.to_owned()).chain(numbered);
    names.find(is_free).unwrap_or_else(|| wanted.to_owned())
}

/// Returns the `rate-limit` lines of an interface.
fn rate_limits(
    entry: &PolicyToWrite,
    maps: &mut PolicyMaps,
    notes: &mut perhop_device::Notes,
) -> Vec<String> {
    let mut lines = Vec::new();
    for (number, stage) in (1..).zip(&entry.policy.conditioners).filter(|(_, stage)| is_rate_limit(stage)) {
        let made = rate_limit(stage, entry.direction, number, &mut maps.tables).and_then(|made| {
            if let (Some(list), Some(condition)) = (&made.list, &stage.matches) {
                maps.class_maps.add_access_list(condition, list)?;
            }
            Ok(made.line)
        });
        match made {
            Ok(line) => lines.push(line),
            Err(missing) => {
                let name = stage.name.clone().unwrap_or_else(|| number.to_string());
                notes.at(&format!("{}, class {name}", entry.place())).add(missing);
            }
        }
    }
    lines
}

/// Returns the `hold-queue` line of an interface whose policy does not queue.
fn hold_queue(entry: &PolicyToWrite) -> Option<String> {
    let [only] = entry.policy.queueing.as_ref()?.classes.as_slice() else { return None };
    let Some(BufferConfig::TailDrop(config)) = &only.buffer else { return None };
    let QueueSize::Packets(packets) = config.limit else { return None };
    let is_written = packets != HOLD_QUEUE
        && entry.direction != Some(Direction::Input)
        && entry.interface.as_deref() != Some(CONTROL_PLANE)
        && only.shape.is_none();
    is_written.then(|| format!("hold-queue {packets} out"))
}

fn add_block(blocks: &mut Blocks, source: &Source, place: usize) -> BlockKey {
    let entry = &source.policies[place];
    if let (Some(device), Some(port)) = (source.device, source.port(entry)) {
        return blocks::add_of_port(blocks, device, port);
    }
    let key = BlockKey::Made(source.first_at(place));
    let kilobits = entry.rate.map(|rate| {
        let kilobits = (rate.as_bits_per_second() as f64 / 1000.0).round_ties_even().max(1.0);
        format!("bandwidth {kilobits}")
    });
    let block = Block::new(format!("interface {}", source.interface(place)), kilobits.into_iter().collect());
    blocks.entry(key).or_insert(block);
    key
}
