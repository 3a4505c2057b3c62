//! [`JunosWriter`]: the commands around the policies.

use std::collections::{BTreeMap, BTreeSet};

use perhop_analysis::PacketSpace;
use perhop_device::intent::Direction;
use perhop_device::{Notes, PoliciesToWrite, PolicyToWrite, Writer, Written, comment};
use perhop_qos::action::{Action, CopyField};
use perhop_qos::classifier::MatchConfig;
use perhop_qos::policy::{ClassConfig, PolicyConfig, QueueingConfig};
use perhop_qos::{ConfigError, Rate};

use super::classes::{DEFAULT, ForwardingClasses, MOST_QUEUES, plain_name};
use super::drops::{Drops, drops};
use super::filter::{self, Filter};
use super::outcomes::{Arriving, outcomes};
use super::queues::{Queues, overhead_accounting, queues};
use super::schedulers::Schedulers;
use crate::families::Family;
use crate::lower::ACCEPTED;

/// Writes policies as `set` commands of an MX.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct JunosWriter;

/// Rates that an interface can have, bits per second, with their statements; ascending.
const SPEEDS: [(u64, &str, &str); 10] = [
    (10_000_000, "ge", "speed 10m"),
    (100_000_000, "ge", "speed 100m"),
    (1_000_000_000, "ge", ""),
    (10_000_000_000, "xe", ""),
    (25_000_000_000, "et", "speed 25g"),
    (40_000_000_000, "et", "speed 40g"),
    (50_000_000_000, "et", "speed 50g"),
    (100_000_000_000, "et", "speed 100g"),
    (200_000_000_000, "et", "speed 200g"),
    (400_000_000_000, "et", "speed 400g"),
];

impl Writer for JunosWriter {
    fn write(&self, policies: &PoliciesToWrite) -> Result<Written, ConfigError> {
        if let Some(name) = policies.platform.as_deref()
            && let Some(family) = Family::named(name)
            && family != Family::Mx
        {
            let message =
                format!("perhop reads the configurations of {} and does not write them", family.devices());
            return Err(ConfigError::new("platform", message).help("leave --platform out for the MX series"));
        }
        let mut device = Device::new(policies);
        // The policies of departing packets are written first, because their queues name the classes that the
        // policies of arriving packets assign.
        let (arriving, departing): (Vec<_>, Vec<_>) =
            policies.policies.iter().partition(|policy| is_input(policy));
        for policy in departing.into_iter().chain(arriving) {
            device.add(policy)?;
        }
        let text = device.text(policies);
        let interface = |policy: &PolicyToWrite| {
            let known = device.interfaces.get(policy.interface.as_ref().unwrap_or(&policy.name))?;
            Some(format!("{}.{}", known.name, known.unit))
        };
        let interfaces = policies.policies.iter().map(interface).collect();
        Ok(Written { text, not_expressed: device.notes.into_list(), interfaces })
    }
}

/// An interface of the written device.
#[derive(Clone, Debug, Default)]
struct Interface {
    name: String,
    unit: String,
    /// The statement of its rate.
    speed: &'static str,
    unit_lines: Vec<String>,
    cos_lines: Vec<String>,
    cos_unit_lines: Vec<String>,
}

/// The device under construction.
struct Device {
    /// Whether the policies come from a Junos configuration. Its interface names are then kept.
    is_own: bool,
    /// The labels that policies of arriving packets set.
    labels: BTreeSet<u8>,
    interfaces: BTreeMap<String, Interface>,
    classes: ForwardingClasses,
    names: Vec<String>,
    firewall: Vec<String>,
    cos: Vec<String>,
    notes: Notes,
}

impl Device {
    fn new(policies: &PoliciesToWrite) -> Device {
        let platform = policies.configuration.as_ref().map(|source| source.platform.as_str());
        Device {
            is_own: platform.is_some_and(|name| Family::named(name).is_some()),
            labels: policies
                .policies
                .iter()
                .filter(|policy| is_input(policy))
                .flat_map(|policy| set_labels(&policy.policy))
                .collect(),
            interfaces: BTreeMap::new(),
            classes: ForwardingClasses::new(),
            names: Vec::new(),
            firewall: Vec::new(),
            cos: Vec::new(),
            notes: Notes::default(),
        }
    }

    fn add(&mut self, entry: &PolicyToWrite) -> Result<(), ConfigError> {
        let place = entry.place();
        let rate = entry.rate.ok_or_else(|| {
            let message = format!("{place}: the rate of the interface is not known");
            ConfigError::new("rate", message).help("give it: --rate 50Mb/s")
        });
        // A policy without queues needs no rate.
        let rate = if entry.policy.queueing.is_some() { Some(rate?) } else { entry.rate };
        let name = self.free_name(&entry.name);
        let mut notes = std::mem::take(&mut self.notes);
        let found = match rate.filter(|_| entry.policy.queueing.is_some()) {
            Some(rate) => queues(&entry.policy, rate, &mut notes.at(&place)),
            None => Queues::default(),
        };
        let drops: Vec<Drops> = found
            .all
            .iter()
            .map(|queue| drops(&queue.class, &mut notes.at(&format!("{place}, class {}", queue.path))))
            .collect();
        let classes = self.queue_classes(&found, &place, &mut notes);
        let key = entry.interface.clone().unwrap_or_else(|| entry.name.clone());
        self.interface(&key, rate);
        let direction = if entry.direction == Some(Direction::Input) { "input" } else { "output" };
        self.add_filter(entry, (&name, direction, &key), (&classes, &drops), &mut notes);
        if let Some(rate) = rate.filter(|_| entry.policy.queueing.is_some()) {
            let bits = rate.as_bits_per_second();
            let all = Schedulers {
                name: &name,
                place: &place,
                queues: &found,
                classes: &classes,
                drops: &drops,
                rate: found.shaper.map_or(bits, |(shaped, _)| shaped.min(bits)),
            };
            self.cos.extend(all.write(&mut notes));
            self.attach(&name, &key, rate, &found, &mut notes, &place);
        }
        self.notes = notes;
        Ok(())
    }

    /// Returns a name that no other policy has.
    fn free_name(&mut self, wanted: &str) -> String {
        let wanted = plain_name(wanted);
        let numbered = (2..=self.names.len() + 2).map(|number| format!("{wanted}-{number}"));
        let free = std::iter::once(wanted.clone()).chain(numbered).find(|name| !self.names.contains(name));
        let free = free.unwrap_or(wanted);
        self.names.push(free.clone());
        free
    }

    /// Returns the forwarding classes of queues: each queue has a class of its own name, and best-effort is
    /// the class of all other packets.
    fn queue_classes(&mut self, queues: &Queues, place: &str, notes: &mut Notes) -> Vec<String> {
        let last = queues.all.len().saturating_sub(1);
        let mut found: Vec<String> = Vec::new();
        for (number, queue) in queues.all.iter().enumerate() {
            let own = queue.path.rsplit('/').next().unwrap_or_default();
            let is_unique =
                queues.all.iter().filter(|other| other.path.rsplit('/').next() == Some(own)).count() < 2;
            let name = plain_name(if is_unique { own } else { &queue.path });
            let own = if number == last { DEFAULT.to_owned() } else { name };
            let is_taken = |name: &String| found.contains(name) || (number != last && name == DEFAULT);
            let own = if is_taken(&own) { format!("{own}-queue") } else { own };
            if self.classes.queue(&own).is_none() {
                let construct = format!("more than {MOST_QUEUES} queues");
                let reason =
                    format!("a port of Junos has {MOST_QUEUES}: class {} shares queue 0", queue.path);
                notes.at(place).report(construct, reason);
                found.push(DEFAULT.to_owned());
                continue;
            }
            found.push(own);
        }
        if self.is_own {
            self.name_labels(queues, &found);
        }
        found
    }

    /// Maps labels to classes, for policies of a Junos configuration: the labels that a queue selects become
    /// the classes of this queue.
    fn name_labels(&mut self, queues: &Queues, classes: &[String]) {
        for (queue, class) in queues.all.iter().zip(classes) {
            let Some(number) = self.classes.queue(class) else { continue };
            let labels = queue.class.matches.iter().flat_map(|own| own.label.iter()).flat_map(|own| &own.0);
            // Higher labels mark packets that a filter has accepted.
            let own: Vec<u8> = labels.copied().filter(|label| *label < ACCEPTED).collect();
            for (place, label) in own.into_iter().enumerate() {
                let name = if place == 0 { class.clone() } else { self.classes.variant(class, number) };
                self.classes.name_label(label, &name, number);
            }
        }
    }

    fn interface(&mut self, key: &str, rate: Option<Rate>) {
        let number = self.interfaces.len();
        let is_own = self.is_own;
        self.interfaces.entry(key.to_owned()).or_insert_with(|| {
            let bits = rate.map_or(0, Rate::as_bits_per_second);
            let fits = SPEEDS.into_iter().find(|(speed, _, _)| *speed >= bits);
            let (_, prefix, speed) = fits.unwrap_or(SPEEDS[SPEEDS.len() - 1]);
            let known = key.rsplit_once('.').filter(|(_, unit)| unit.chars().all(|c| c.is_ascii_digit()));
            let (name, unit) = match known {
                _ if !is_own => (format!("{prefix}-0/0/{number}"), "0"),
                Some((name, unit)) => (name.to_owned(), unit),
                None => (key.to_owned(), "0"),
            };
            Interface { name, unit: unit.to_owned(), speed, ..Interface::default() }
        });
    }

    fn add_filter(
        &mut self,
        entry: &PolicyToWrite,
        (name, direction, key): (&str, &'static str, &str),
        (classes, drops): (&[String], &[Drops]),
        notes: &mut Notes,
    ) {
        let mut space = PacketSpace::naming(conditions_of(&entry.policy));
        let mut at = notes.at(&entry.place());
        let arriving = match (self.is_own, direction) {
            (true, _) => Arriving::Any,
            (false, "input") => Arriving::Labels(BTreeSet::new()),
            (false, _) => Arriving::Labels(self.labels.clone()),
        };
        let found = outcomes(&mut space, &entry.policy, drops, &arriving).and_then(|outcomes| {
            for label in labels_of(&entry.policy).filter(|label| self.is_own || self.labels.contains(label)) {
                self.classes.of_label(label);
            }
            let filter = Filter {
                space: &mut space,
                classes: &mut self.classes,
                name,
                direction,
                stages: &entry.policy.conditioners,
                outcomes: &outcomes,
                queues: classes,
                treated: Vec::new(),
                written: filter::Written::default(),
            };
            filter.write(&mut at)
        });
        match found {
            Ok(written) => {
                if direction == "input" && written.cos_unit.is_empty() && !self.is_own {
                    let reason = "a unit of Junos without a classifier uses `ipprec-compatibility`: it sets loss \
                                  priority high for odd precedences, and network-control for 6 and 7";
                    at.report("packets that no classifier marks", reason);
                }
                self.firewall.extend(written.firewall);
                self.cos.extend(written.cos);
                if let Some(interface) = self.interfaces.get_mut(key) {
                    interface.unit_lines.extend(written.unit);
                    interface.cos_unit_lines.extend(written.cos_unit);
                }
            }
            Err(missing) => at.add(missing),
        }
    }

    /// Attaches the scheduler map `name` to an interface.
    fn attach(&mut self, name: &str, key: &str, rate: Rate, queues: &Queues, notes: &mut Notes, place: &str) {
        let mut at = notes.at(place);
        let bits = rate.as_bits_per_second();
        let is_speed = SPEEDS.iter().any(|(speed, _, _)| *speed == bits);
        let shaper = match queues.shaper {
            Some((shaped, burst)) if shaped < bits => Some((shaped, burst)),
            _ if is_speed => None,
            _ => {
                at.report(
                    format!("an interface of {bits} b/s"),
                    "no interface of Junos has this rate, so a shaper sets it",
                );
                Some((bits, 0))
            }
        };
        let shaping = shaper.map(|(shaped, burst)| {
            let burst = if burst > 0 { format!(" burst-size {burst}") } else { String::new() };
            format!("shaping-rate {shaped}{burst}")
        });
        let Some(interface) = self.interfaces.get_mut(key) else { return };
        if let Some(words) = overhead_accounting(queues, &mut at) {
            let head = format!("traffic-control-profiles {name}");
            let own = [Some(format!("scheduler-map {name}")), shaping, Some(words)];
            self.cos.extend(own.into_iter().flatten().map(|line| format!("{head} {line}")));
            interface.cos_lines.push(format!("output-traffic-control-profile {name}"));
        } else {
            interface.cos_lines.push(format!("scheduler-map {name}"));
            interface.cos_lines.extend(shaping);
        }
    }

    fn text(&self, policies: &PoliciesToWrite) -> String {
        let file = policies.file.rsplit(['/', '\\']).next().unwrap_or_default();
        let mut lines = vec![format!("# The policies of {}, by `perhop convert`", comment(file))];
        lines.extend(
            self.notes
                .list()
                .iter()
                .map(|note| format!("# Different from perhop: {}", comment(&note.line()))),
        );
        lines.push("set chassis network-services enhanced-ip".to_owned());
        let is_slow =
            |interface: &Interface| interface.name.starts_with("ge-") || interface.name.starts_with("xe-");
        if !self.interfaces.values().any(is_slow) {
            // This statement shows that the device is an MX if no interface name does.
            lines.push("set chassis fpc 0 flexible-queuing-mode".to_owned());
        }
        for (key, interface) in &self.interfaces {
            let head = format!("set interfaces {}", interface.name);
            if interface.name != *key {
                lines.push(format!("{head} description \"{}\"", comment(key).replace('"', "'")));
            }
            lines.extend((!interface.speed.is_empty()).then(|| format!("{head} {}", interface.speed)));
            let unit = format!("{head} unit {}", interface.unit);
            for family in ["inet", "inet6"] {
                lines.push(format!("{unit} family {family}"));
            }
            lines.extend(interface.unit_lines.iter().map(|line| format!("{unit} {line}")));
        }
        let cos = "set class-of-service";
        let classes = self.classes.by_queue();
        lines.extend(
            classes
                .iter()
                .map(|(name, queue)| format!("{cos} forwarding-classes class {name} queue-num {queue}")),
        );
        lines.extend(self.cos.iter().map(|line| format!("{cos} {line}")));
        for interface in self.interfaces.values() {
            let head = format!("{cos} interfaces {}", interface.name);
            lines.extend(interface.cos_lines.iter().map(|line| format!("{head} {line}")));
            let own = interface.cos_unit_lines.iter();
            lines.extend(own.map(|line| format!("{head} unit {} {line}", interface.unit)));
        }
        lines.extend(self.firewall.iter().map(|line| format!("set firewall {line}")));
        lines.join("\n") + "\n"
    }
}

/// Returns the conditions of a policy.
fn conditions_of(policy: &PolicyConfig) -> Vec<&MatchConfig> {
    fn of_class(class: &ClassConfig) -> Vec<&MatchConfig> {
        class.matches.iter().chain(class.queueing.iter().flat_map(of_queueing)).collect()
    }
    fn of_queueing(queueing: &QueueingConfig) -> Vec<&MatchConfig> {
        queueing.classes.iter().flat_map(of_class).collect()
    }
    let stages = policy.conditioners.iter().filter_map(|stage| stage.matches.as_ref());
    stages.chain(policy.queueing.iter().flat_map(of_queueing)).collect()
}

/// Whether a policy applies to arriving packets.
fn is_input(entry: &PolicyToWrite) -> bool {
    entry.direction == Some(Direction::Input)
}

/// Returns the labels that a policy sets.
fn set_labels(policy: &PolicyConfig) -> BTreeSet<u8> {
    let actions = policy
        .conditioners
        .iter()
        .flat_map(|stage| [&stage.actions, &stage.green, &stage.yellow, &stage.red].into_iter().flatten());
    let mut found = BTreeSet::new();
    for action in actions {
        match action {
            Action::Label(label) => {
                found.insert(*label);
            }
            Action::Copy(copy) if copy.to == CopyField::Label => {
                let values = copy.values().map(|values| values.to_vec()).unwrap_or_default();
                found.extend(values.into_iter().flatten());
            }
            _ => {}
        }
    }
    found.remove(&0);
    found
}

/// Iterates over the labels that the conditions of a policy name.
fn labels_of(policy: &PolicyConfig) -> impl Iterator<Item = u8> {
    fn of_condition(condition: &MatchConfig, found: &mut Vec<u8>) {
        found.extend(condition.label.iter().flat_map(|labels| labels.0.iter().copied()));
        let inner = condition.all.iter().chain(&condition.any).flatten();
        for inner in inner.chain(condition.not.as_deref()) {
            of_condition(inner, found);
        }
    }
    let mut found = Vec::new();
    for condition in conditions_of(policy) {
        of_condition(condition, &mut found);
    }
    found.into_iter()
}
