//! [`whole_port`]: combines the output policies of tunnels and sub-interfaces at their common port.

use perhop_device::{Port, Wire};
use perhop_qos::classifier::{MatchConfig, OneOrMany, Prefix};
use perhop_qos::policy::{ClassConfig, PolicyConfig, QueueingConfig};
use perhop_qos::scheduler::{SchedulerConfig, ShareConfig};

/// The name of the only queue of a port without a policy.
const PLAIN_QUEUE: &str = "fifo";

/// The size of a packet that no link fragments, IP bytes.
const SHORT_PACKET: u64 = 40;

/// A tunnel or sub-interface that sends through another port.
#[derive(Clone, Copy, Debug)]
pub struct CarriedPort<'a> {
    /// The tunnel or sub-interface.
    pub port: &'a Port,
    /// The destinations of packets that use this tunnel or sub-interface.
    pub destinations: &'a [Prefix],
}

/// Whether a port marks or polices arriving packets.
pub fn has_input_policy(port: &Port) -> bool {
    port.conditions_input()
}

/// Whether a port classifies, marks, polices or shapes departing packets.
pub fn has_output_policy(port: &Port) -> bool {
    port.conditions_output() || has_classes(port)
}

/// Whether a port has queues other than one FIFO.
pub fn has_classes(port: &Port) -> bool {
    let queues = port.output.queueing.as_ref().map(QueueingConfig::queue_names).unwrap_or_default();
    !(queues.is_empty() || queues == [PLAIN_QUEUE])
}

/// Returns the port `below` with the output policies of `carried`. Each policy applies to packets to the
/// destinations of its port.
///
/// Each carried port becomes a class with the queues of its policy. When the wire is congested, these classes
/// share it equally. The policy of `below` applies to packets to all other destinations. If the headers or
/// MTUs of the carried ports differ, the result has the values of the first carried port
/// ([`different_wires`]).
pub fn whole_port(below: &Port, carried: &[CarriedPort]) -> Port {
    let mut output = PolicyConfig::default();
    let mut classes = Vec::new();
    for member in carried {
        let condition = destinations_of(*member, carried);
        add_conditioners(&mut output, &member.port.name, &member.port.output, &condition);
        classes.push(class_of(member.port, Some(condition)));
    }
    if has_output_policy(below) {
        let theirs = carried.iter().flat_map(|member| member.destinations).copied().collect();
        let rest = MatchConfig { not: Some(Box::new(to(theirs))), ..MatchConfig::default() };
        add_conditioners(&mut output, &below.name, &below.output, &rest);
        classes.push(class_of(below, None));
    }
    output.queueing = Some(match tree_of(below) {
        Some(root) => hierarchy(root, classes),
        None => QueueingConfig { scheduler: SchedulerConfig::Scfq, classes, ..QueueingConfig::default() },
    });
    let first = carried.first().map_or(below, |member| member.port);
    output.overhead = first.output.overhead;
    let own = below.wire;
    let wire = Wire {
        headers: if own.headers.is_empty() { first.wire.headers } else { own.headers },
        framing: own.framing.or(first.wire.framing),
        mtu: own.mtu.or(first.wire.mtu),
        adjust_mss: own.adjust_mss.or(first.wire.adjust_mss),
        ..own
    };
    let addresses = carried.iter().flat_map(|member| &member.port.addresses);
    let addresses = below.addresses.iter().chain(addresses).copied().collect();
    Port { output, wire, addresses, attachments: None, ..below.clone() }
}

/// Whether the queues of a port are inside a scheduler node. The carried ports then become inner nodes with
/// their own guarantees and weights.
pub fn has_nodes(below: &Port) -> bool {
    tree_of(below).is_some()
}

/// Returns the node that contains the queues of a port; `None` if the port has no nodes.
fn tree_of(below: &Port) -> Option<&ClassConfig> {
    let queueing = below.output.queueing.as_ref()?;
    let is_tree = queueing.scheduler == SchedulerConfig::GuaranteeExcess;
    queueing.classes.first().filter(|_| is_tree && queueing.classes.len() == 1)
}

/// Puts the classes of the carried ports as nodes inside `root`, the class of the common port. Nodes with the
/// same name that contain several carried ports are merged.
fn hierarchy(root: &ClassConfig, classes: Vec<ClassConfig>) -> QueueingConfig {
    let mut nodes: Vec<ClassConfig> = Vec::new();
    for class in classes {
        let known = nodes.iter_mut().find(|known| known.name == class.name && known.matches.is_some());
        let inner =
            class.queueing.clone().filter(|inner| inner.scheduler == SchedulerConfig::GuaranteeExcess);
        match (known.and_then(|known| Some((known.queueing.as_mut()?, &mut known.matches))), inner) {
            (Some((queueing, matches)), Some(inner)) => {
                queueing.classes.extend(inner.classes);
                let any = [matches.take(), class.matches].into_iter().flatten().collect();
                *matches = Some(MatchConfig { any: Some(any), ..MatchConfig::default() });
            }
            _ => nodes.push(class),
        }
    }
    let scheduler = SchedulerConfig::GuaranteeExcess;
    let inside = QueueingConfig { scheduler, classes: nodes, ..QueueingConfig::default() };
    let root = ClassConfig { queueing: Some(inside), ..root.clone() };
    QueueingConfig { scheduler, classes: vec![root], ..QueueingConfig::default() }
}

/// Returns the properties in which the wires of carried ports differ. The common port can have only one value
/// of each property.
pub fn different_wires(carried: &[CarriedPort]) -> Vec<&'static str> {
    let differs = |is_same: fn(&Port, &Port) -> bool| {
        carried.windows(2).any(|pair| !is_same(pair[0].port, pair[1].port))
    };
    let properties = [
        ("headers", differs(|a, b| bytes_of_headers(a) == bytes_of_headers(b))),
        ("overhead", differs(|a, b| a.output.overhead == b.output.overhead)),
        ("MTU", differs(|a, b| a.wire.mtu == b.wire.mtu)),
        ("largest TCP segments", differs(|a, b| a.wire.adjust_mss == b.wire.adjust_mss)),
    ];
    properties.into_iter().filter(|(_, differs)| *differs).map(|(words, _)| words).collect()
}

/// Returns the bytes of the headers of a short packet.
fn bytes_of_headers(port: &Port) -> u64 {
    port.wire.headers.bytes(SHORT_PACKET)
}

/// Returns the condition for packets to the destinations of a carried port. A packet belongs to the carried
/// port with the longest matching prefix.
fn destinations_of(own: CarriedPort, carried: &[CarriedPort]) -> MatchConfig {
    let others = carried.iter().filter(|other| other.port.name != own.port.name);
    let others: Vec<Prefix> = others.flat_map(|other| other.destinations).copied().collect();
    let inside = |outer: &Prefix| -> Vec<Prefix> {
        let is_inside =
            |prefix: &&Prefix| prefix.length() > outer.length() && outer.contains(prefix.address().into());
        others.iter().filter(is_inside).copied().collect()
    };
    let (cut, whole): (Vec<Prefix>, Vec<Prefix>) =
        own.destinations.iter().partition(|prefix| !inside(prefix).is_empty());
    let cut = cut
        .into_iter()
        .map(|prefix| MatchConfig { not: Some(Box::new(to(inside(&prefix)))), ..to(vec![prefix]) });
    let mut any: Vec<MatchConfig> = cut.collect();
    if !whole.is_empty() {
        any.push(to(whole));
    }
    if any.len() == 1 { any.remove(0) } else { MatchConfig { any: Some(any), ..MatchConfig::default() } }
}

fn to(destinations: Vec<Prefix>) -> MatchConfig {
    MatchConfig { destination: Some(OneOrMany(destinations)), ..MatchConfig::default() }
}

/// Adds the conditioners of a policy, restricted to packets that meet `condition`. The names of the added
/// conditioners begin with the name of the port.
fn add_conditioners(output: &mut PolicyConfig, port: &str, policy: &PolicyConfig, condition: &MatchConfig) {
    for (index, stage) in policy.conditioners.iter().enumerate() {
        let own = stage.name.clone().unwrap_or_else(|| index.to_string());
        let mut stage = stage.clone();
        stage.name = Some(format!("{port}.{own}"));
        stage.matches = Some(match stage.matches.take() {
            None => condition.clone(),
            Some(own) => MatchConfig { all: Some(vec![condition.clone(), own]), ..MatchConfig::default() },
        });
        output.conditioners.push(stage);
    }
}

/// Returns a class with the queues of a port. If the policy has only one outermost class, the result replaces
/// this class. A node of a guarantee-excess scheduler keeps its name and share.
fn class_of(port: &Port, matches: Option<MatchConfig>) -> ClassConfig {
    let queueing = port.output.queueing.as_ref();
    let is_node = queueing.is_some_and(|own| own.scheduler == SchedulerConfig::GuaranteeExcess);
    let class = match queueing.map(|queueing| queueing.classes.as_slice()) {
        Some([only]) if only.matches.is_none() && is_node && matches.is_some() => {
            return node_of(only, matches.as_ref());
        }
        Some([only]) if only.matches.is_none() => only.clone(),
        _ => ClassConfig { queueing: port.output.queueing.clone(), ..ClassConfig::default() },
    };
    ClassConfig { name: port.name.clone(), matches, share: ShareConfig::default(), ..class }
}

/// Returns the scheduler node of a carried port and all its inner nodes, restricted to packets that meet
/// `matches`.
fn node_of(class: &ClassConfig, matches: Option<&MatchConfig>) -> ClassConfig {
    let mut node = ClassConfig { matches: matches.cloned(), ..class.clone() };
    if let Some(inner) = &mut node.queueing {
        for inside in inner.classes.iter_mut().filter(|inside| inside.queueing.is_some()) {
            inside.matches = matches.cloned();
        }
    }
    node
}
