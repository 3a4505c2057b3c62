//! The interfaces of a router at which packets enter and leave.

use std::collections::BTreeSet;

use perhop_device::{AddedInterface, FrontEnd, Port, PortsBelow};
use perhop_network::{has_input_policy, has_output_policy};
use perhop_qos::Rate;
use perhop_qos::classifier::{MatchConfig, OneOrMany};
use perhop_qos::policy::{PolicyConfig, QueueingConfig};

use crate::failure::Failure;
use crate::marks::{has_property, with_marks};
use crate::network::{Interface, Network, Site};
use crate::words::similar;

/// The minimum ratio of the entering rate to the leaving rate. All classes together offer a fifth more than
/// the leaving rate, and bursts must reach the queue under test.
const FASTER: f64 = 2.0;
/// Limit on the names in an error message.
const NAMED: usize = 12;
/// The assumed rate of a line of unknown rate, bits per second.
const UNKNOWN_RATE: u64 = 10_000_000_000;

/// The choice of interfaces of a router.
#[derive(Clone, Copy)]
pub(crate) struct Selection<'a> {
    pub(crate) site: &'a Site<'a>,
    pub(crate) front_end: &'a dyn FrontEnd,
    /// The line rate of the leaving interface, if the user sets it.
    pub(crate) rate: Option<Rate>,
}

impl<'a> Selection<'a> {
    /// Returns the path through the router with the largest output policy, or the path that uses `interface`.
    ///
    /// # Errors
    /// The interface does not exist, or no interface is up.
    pub(crate) fn select(self, interface: Option<&str>) -> Result<Network<'a>, Failure> {
        let up: Vec<&Port> = self.site.ports.iter().filter(|port| self.is_usable(port)).collect();
        // The first of several interfaces with the same rank is chosen.
        let best =
            up.iter().filter(|port| port.unmodeled_queues.is_none()).rev().max_by(|a, b| {
                output_rank(a).partial_cmp(&output_rank(b)).unwrap_or(std::cmp::Ordering::Equal)
            });
        let best = match (best, interface) {
            (Some(best), _) => Some(best),
            // If the user names an interface without modeled queues, the search for this interface below
            // returns the reason.
            (None, Some(_)) => up.first(),
            (None, None) => {
                if let Some((port, reason)) =
                    up.iter().find_map(|port| Some((port, port.unmodeled_queues.as_ref()?)))
                {
                    return Err(unmodeled(port, reason));
                }
                None
            }
        };
        let Some(best) = best else {
            return Err(Failure::invalid(
                "the configuration has no interface that is up",
                "if the file has only a policy, give the rate of its interface: --rate 50Mb/s",
            ));
        };
        let chosen = interface.map_or(Ok(*best), |name| self.named(name))?;
        let below = PortsBelow::new(self.site.ports);
        let others: Vec<&Port> =
            up.iter().copied().filter(|port| !is_same_wire(&below, port, chosen)).collect();
        let leaving = self.leaving(chosen)?;
        if has_input_policy(chosen) && !has_output_policy(chosen) {
            let plain: Vec<&Port> = others.iter().copied().filter(|port| !has_output_policy(port)).collect();
            let entering = leaving.clone();
            let far = fastest_entrance(&plain).or_else(|| fastest_entrance(&others));
            if let Some(far) = far {
                return Ok(with_others(Network::new(self.site, entering, far), up));
            }
            let bottleneck = Network::new(self.site, entering.clone(), leaving).bottleneck();
            let added = self.added(bottleneck);
            let mut network = Network::new(self.site, entering, interface_of(&added));
            network.add(&added);
            return Ok(with_others(network, up));
        }
        Ok(with_others(self.by_usual_entrance(leaving, &others), up))
    }

    /// Returns one network for each other entrance through which packets may reach the classes that no packet
    /// has reached yet.
    ///
    /// An input policy can set a field that an output policy matches (`set qos-group`), and a class can match
    /// the input interface.
    pub(crate) fn other_entrances(self, network: &Network<'a>) -> impl Iterator<Item = Network<'a>> {
        let (entering, leaving) = (network.entering.name.clone(), network.leaving.clone());
        let below = PortsBelow::new(self.site.ports);
        let is_other = move |port: &&'a Port| {
            let is_leaving = leaving.port.is_some_and(|leaving| is_same_wire(&below, leaving, port));
            self.is_usable(port) && entering != port.name && !is_leaving
        };
        let leaving = network.leaving.clone();
        self.site.ports.iter().filter(is_other).map(move |port| {
            let policy = if has_input_policy(port) { " and its input policy" } else { "" };
            let mut other = Network::new(self.site, of_port(port), leaving.clone());
            other.assumed = vec![format!(
                "packets enter at {}{policy}, because a class matches this interface or its marks",
                port.name
            )];
            with_others(other, self.site.ports)
        })
    }

    /// Returns `network` with further interfaces through which copies of its traffic leave.
    ///
    /// # Errors
    /// An interface does not exist, has no modeled queues, or is used already.
    pub(crate) fn with_copies(
        self,
        mut network: Network<'a>,
        interfaces: &[String],
    ) -> Result<Network<'a>, Failure> {
        let line = Selection { rate: None, ..self };
        for interface in interfaces {
            let copy = line.leaving(self.named(interface)?)?;
            let used = [&network.entering, &network.leaving].into_iter().chain(&network.copies);
            if let Some(taken) = used.map(|used| &used.name).find(|name| **name == copy.name) {
                let message = format!("{taken} is already an interface of the run");
                return Err(Failure::invalid(message, "name another interface, or leave it out"));
            }
            network.copies.push(copy);
        }
        Ok(network)
    }

    /// Returns an interface that can be added, with at least this rate in bits per second.
    fn added(self, rate: f64) -> AddedInterface {
        self.front_end.added_interface(Rate::from_bits_per_second(rate.ceil() as u64))
    }

    fn is_usable(self, port: &Port) -> bool {
        !port.shutdown && self.front_end.has_line(&port.name)
    }

    /// Returns a port as the interface where packets leave, at the rate that the user sets.
    ///
    /// # Errors
    /// The configuration sets a higher rate.
    fn leaving(self, port: &'a Port) -> Result<Interface<'a>, Failure> {
        if let Some(reason) = &port.unmodeled_queues {
            return Err(unmodeled(port, reason));
        }
        let interface = of_port(port);
        let rate = self.rate.unwrap_or(interface.rate);
        if let Some(own) = port.wire.rate.filter(|own| *own > rate) {
            let message = format!("`{}` sends at {own}, which is more than {rate}", port.name);
            return Err(Failure::invalid(message, "change its rate in the configuration"));
        }
        let is_assumed = interface.is_assumed && self.rate.is_none();
        Ok(Interface { rate, is_assumed, ..interface })
    }

    /// Returns the network with an entering interface. It is the fastest interface with an input policy if
    /// the output policy of the leaving interface has at most one queue and no conditioners, otherwise the
    /// fastest interface whose policies do not change packets, otherwise an added interface. Each must have
    /// at least `FASTER` times the bottleneck rate.
    fn by_usual_entrance(self, leaving: Interface<'a>, others: &[&'a Port]) -> Network<'a> {
        let needed = FASTER * Network::new(self.site, leaving.clone(), leaving.clone()).bottleneck();
        let is_open = |port: &&&Port| {
            !has_input_policy(port) && (!has_output_policy(port) || has_only_default_memory(port))
        };
        let open: Vec<&Port> = others.iter().filter(is_open).copied().collect();
        let is_fast = |port: &&&Port| of_port(port).bits_per_second() >= needed;
        let fast: Vec<&Port> = open.iter().filter(is_fast).copied().collect();
        let marking: Vec<&Port> = others.iter().copied().filter(|port| has_input_policy(port)).collect();
        let marking: Vec<&Port> = marking.into_iter().filter(|port| is_fast(&port)).collect();
        if let Some(entrance) = fastest_entrance(&marking).filter(|_| !distinguishes_classes(&leaving)) {
            let (input, output) = (entrance.name.clone(), leaving.name.clone());
            let mut network = Network::new(self.site, entrance, leaving);
            network.assumed.push(format!(
                "packets enter at {input}, because only its input policy has classes: {output} has one queue"
            ));
            return network;
        }
        if let Some(widest) = fastest_entrance(&fast) {
            return Network::new(self.site, widest, leaving);
        }
        let added = self.added(needed);
        let mut network = Network::new(self.site, interface_of(&added), leaving);
        network.add(&added);
        // Ports of unknown rate can be too slow to fill a queue of the port under test.
        if open.is_empty() && !others.is_empty() {
            let names: Vec<&str> = others.iter().take(2).map(|port| port.name.as_str()).collect();
            let more = if others.len() > 2 { ", …" } else { "" };
            let names = names.join(", ");
            network.assumed.push(format!(
                "packets enter at an interface that perhop adds, because {names}{more} would change or drop \
                 some of them"
            ));
        }
        network
    }

    /// Returns the port with this name. The name may be abbreviated as on the router.
    ///
    /// # Errors
    /// No port or several ports match, or packets cannot use the port.
    pub(crate) fn named(self, interface: &str) -> Result<&'a Port, Failure> {
        let ports: Vec<&Port> = self.site.ports.iter().collect();
        let wanted = folded(interface);
        let mut found: Vec<&Port> =
            ports.iter().copied().filter(|port| folded(&port.name) == wanted).collect();
        let (kind, number) = parts(&wanted);
        if found.is_empty() && !kind.is_empty() {
            let is_short_for = |port: &&Port| {
                let name = folded(&port.name);
                let (full, own) = parts(&name);
                full.starts_with(kind) && own == number
            };
            found = ports.iter().copied().filter(is_short_for).collect();
        }
        if let [port] = found.as_slice() {
            return self.usable(port);
        }
        let leading = if found.is_empty() { &ports } else { &found };
        let names: Vec<&str> =
            leading.iter().filter(|port| self.is_usable(port)).map(|port| port.name.as_str()).collect();
        if !found.is_empty() {
            let message = format!("`{interface}` may be several interfaces");
            return Err(Failure::invalid(message, format!("which of {}?", names.join(", "))));
        }
        let mut near = similar(interface, names.iter().copied(), 3);
        if near.is_empty() && !kind.is_empty() {
            near = names.iter().copied().filter(|name| folded(name).starts_with(kind)).take(3).collect();
        }
        let near: Vec<String> = near.into_iter().map(|name| format!("`{name}`")).collect();
        let more = if names.len() > NAMED { ", …" } else { "" };
        let help = if near.is_empty() {
            format!("interfaces: {}{more}", names[..names.len().min(NAMED)].join(", "))
        } else {
            format!("did you mean {}?", near.join(", "))
        };
        Err(Failure::invalid(format!("the configuration has no interface `{interface}`"), help))
    }

    fn usable(self, port: &'a Port) -> Result<&'a Port, Failure> {
        if !self.front_end.has_line(&port.name) {
            let message = format!("no packets leave the router via `{}`", port.name);
            return Err(Failure::invalid(message, "choose an interface that is connected to a line"));
        }
        if port.shutdown {
            let message = format!("interface `{}` is shut down", port.name);
            return Err(Failure::invalid(message, "remove `shutdown` from the configuration"));
        }
        Ok(port)
    }
}

fn unmodeled(port: &Port, reason: &str) -> Failure {
    Failure::invalid(
        format!("the queues of {} are not simulated: {reason}", port.name),
        "choose another interface with --interface; `perhop check` lists the lines that are not modeled",
    )
}

/// Whether a port of a switch has only its default queues. Packets that enter through the port do not pass
/// these queues.
fn has_only_default_memory(port: &Port) -> bool {
    let memory = port.output.queueing.as_ref().and_then(|queueing| queueing.memory.as_ref());
    memory.is_some() && port.output.conditioners.is_empty() && port.links.output.classes.is_empty()
}

/// Whether a class of the output interface matches a mark that only an input policy sets, or the input
/// interface.
pub(crate) fn depends_on_entrance(network: &Network) -> bool {
    let asks = |condition: &MatchConfig| {
        condition.label.is_some() || condition.color.is_some() || condition.input.is_some()
    };
    network.leaves.iter().any(|leaf| leaf.matches.iter().any(|condition| has_property(condition, &asks)))
}

/// Whether the output policy of an interface has classes.
fn distinguishes_classes(interface: &Interface) -> bool {
    interface.port.is_some_and(|port| {
        let queues = port.output.queueing.as_ref().map_or(0, |queueing| queueing.queue_names().len());
        queues > 1 || !port.output.conditioners.is_empty()
    })
}

/// Returns the rank of a leaving interface. The most important number comes first: queues and output
/// conditioners, their lines, input conditioners, an address, a low rate.
///
/// Lines count, because on some systems every port has default queues without lines.
fn output_rank(port: &Port) -> (usize, usize, usize, bool, f64) {
    let queues = port.output.queueing.as_ref().map(QueueingConfig::queue_names).unwrap_or_default();
    let conditioners = port.output.conditioners.len();
    let is_plain = queues == ["fifo"] && conditioners == 0;
    let size = if is_plain { 0 } else { queues.len() + conditioners };
    let lines = port.links.output.classes.iter().map(|class| class.lines.len()).sum();
    // Labels of departing packets come from the input policies of other ports.
    let inputs = if queues_by_label(port) { 0 } else { port.input.conditioners.len() };
    (size, lines, inputs, !port.addresses.is_empty(), -of_port(port).bits_per_second())
}

/// Whether the queues of a port match labels that its own policies do not set.
fn queues_by_label(port: &Port) -> bool {
    fn by_label(queueing: &QueueingConfig) -> bool {
        queueing.classes.iter().any(|class| {
            class.matches.as_ref().is_some_and(|matches| matches.label.is_some())
                || class.queueing.as_ref().is_some_and(by_label)
        })
    }
    port.output.conditioners.is_empty() && port.output.queueing.as_ref().is_some_and(by_label)
}

/// Returns the fastest interface as entering interface. Interfaces with an address come first.
fn fastest_entrance<'a>(ports: &[&'a Port]) -> Option<Interface<'a>> {
    let rank = |port: &&&Port| (!port.addresses.is_empty(), of_port(port).rate);
    ports.iter().rev().max_by_key(rank).map(|port| of_port(port))
}

/// Returns a port as an interface of the path, with the rate of its wire, otherwise the assumed or configured
/// rate.
///
/// The bandwidth of a tunnel is only a number for calculations. Therefore a tunnel over an unknown line gets
/// a line that its shapers do not fill.
fn of_port(port: &Port) -> Interface<'_> {
    let bandwidth = port.bandwidth.filter(|_| port.has_known_line);
    let is_assumed = port.wire.rate.is_none() && port.assumed_rate.is_some();
    let known = port.wire.rate.or(port.assumed_rate).or(bandwidth);
    let rate = known.unwrap_or(Rate::from_bits_per_second(UNKNOWN_RATE));
    Interface { name: port.name.clone(), rate, port: Some(port), is_assumed }
}

/// Returns an interface that is added to the router.
fn interface_of(added: &AddedInterface) -> Interface<'static> {
    Interface { name: added.name.clone(), rate: added.rate, port: None, is_assumed: false }
}

/// Adds the input interfaces that the classes on the path match, and remarks about assumed lines, to the
/// network.
fn with_others<'a>(mut network: Network<'a>, ports: impl IntoIterator<Item = &'a Port>) -> Network<'a> {
    let mut mentioned = BTreeSet::new();
    inputs_in(network.input(), &mut mentioned);
    inputs_in(network.output(), &mut mentioned);
    mentioned.remove(network.entering.name.as_str());
    mentioned.remove(network.leaving.name.as_str());
    let is_mentioned = |port: &&Port| !port.shutdown && mentioned.contains(port.name.as_str());
    network.others = ports.into_iter().filter(is_mentioned).map(of_port).collect();
    let assumed = [&network.entering, &network.leaving].into_iter().filter(|end| end.is_assumed);
    let lines = assumed.map(|Interface { name, rate, .. }| {
        format!(
            "the line of {name} is Ethernet of {rate}: the configuration does not set the rate; set it with \
             --rate"
        )
    });
    let lines: Vec<String> = lines.collect();
    network.assumed.extend(lines);
    with_marks(network)
}

/// Adds the interfaces that the conditions of a policy mention.
fn inputs_in<'p>(policy: &'p PolicyConfig, found: &mut BTreeSet<&'p str>) {
    for condition in policy.conditioners.iter().filter_map(|stage| stage.matches.as_ref()) {
        inputs_of(condition, found);
    }
    if let Some(queueing) = &policy.queueing {
        inputs_of_classes(queueing, found);
    }
}

fn inputs_of_classes<'p>(queueing: &'p QueueingConfig, found: &mut BTreeSet<&'p str>) {
    for class in &queueing.classes {
        if let Some(condition) = &class.matches {
            inputs_of(condition, found);
        }
        if let Some(inner) = &class.queueing {
            inputs_of_classes(inner, found);
        }
    }
}

fn inputs_of<'p>(condition: &'p MatchConfig, found: &mut BTreeSet<&'p str>) {
    if let Some(OneOrMany(names)) = &condition.input {
        found.extend(names.iter().map(String::as_str));
    }
    let inner = condition.all.iter().chain(&condition.any).flatten();
    inner.chain(condition.not.as_deref()).for_each(|condition| inputs_of(condition, found));
}

fn folded(name: &str) -> String {
    name.to_lowercase().replace(' ', "")
}

/// Returns the kind of an interface and its number: `gigabitethernet`, `0/1.100`.
fn parts(name: &str) -> (&str, &str) {
    let end = name.find(|letter: char| !(letter.is_ascii_lowercase() || letter == '-')).unwrap_or(name.len());
    name.split_at(end)
}

/// Whether two ports belong to the same interface: the interface itself, its sub-interfaces or circuits, or
/// tunnels over it.
fn is_same_wire(below: &PortsBelow, first: &Port, second: &Port) -> bool {
    let wire = |port: &Port| port.name.split(['.', ' ']).next().unwrap_or_default().to_owned();
    wire(first) == wire(second) || below.line_of(first) == below.line_of(second)
}
