//! [`trace`]: the way of one packet through the policies of a node, with every color that meters may give it.

use perhop_qos::action::{Action, Outcome};
use perhop_qos::buffer::BufferConfig;
use perhop_qos::conditioner::{ConditionerConfig, TrafficConditioner};
use perhop_qos::packet::Encapsulation;
use perhop_qos::policy::{ClassConfig, PolicyConfig, QueueingConfig};
use perhop_qos::random::Streams;
use perhop_qos::{Color, ConfigError, Packet, Time};
use serde::Serialize;

use crate::conditioning::given_by;
use crate::witness::Witness;

/// The policies that a packet meets in a node.
#[derive(Clone, Copy, Debug)]
pub struct Node<'a> {
    /// The names of the node's interfaces, in the order of their numbers.
    pub interfaces: &'a [String],
    /// Of the interface by which it arrives.
    pub input: Option<&'a PolicyConfig>,
    /// Of the interface by which it leaves.
    pub output: Option<&'a PolicyConfig>,
    /// The tags and labels with which it leaves.
    pub encapsulation: Encapsulation,
}

/// One way of a packet: what each stage does, and where it ends.
#[derive(Clone, Debug, Serialize)]
pub struct Branch {
    /// What is done with it, in order.
    pub steps: Vec<Step>,
    /// The packet as it is in the end.
    pub packet: String,
    /// Whether a stage drops it.
    pub dropped: bool,
    /// The class whose queue it joins: the index of its outermost class, of the class in that one, and so on.
    /// None where the port has no classes, no class takes it, or it does not get there.
    pub queue: Option<Vec<usize>>,
    /// The tin of that queue, where CAKE has several.
    pub tin: Option<&'static str>,
    /// Its drop precedence in that queue by its color.
    pub color: usize,
}

/// What one conditioner does with a packet that it takes.
#[derive(Clone, Debug, Serialize)]
pub struct Step {
    /// Whether it is one of arriving packets; otherwise of departing ones.
    pub is_input: bool,
    /// The index of the conditioner.
    pub index: usize,
    /// Its name.
    pub name: String,
    /// The color that its meter gives; none where it has no meter.
    pub color: Option<String>,
    /// The actions of that color.
    pub actions: Vec<Action>,
    /// The packet afterwards.
    pub packet: String,
}

/// More ways than this are not followed: three colors of five meters.
const MOST: usize = 243;

/// All ways of `packet` through `node`: where a meter may give several colors, each that is treated in its
/// own way.
///
/// # Errors
/// Where a policy cannot be built.
pub fn trace(node: &Node, packet: &Packet) -> Result<Vec<Branch>, ConfigError> {
    let mut arrived = *packet;
    arrived.arrive(packet.input);
    let mut ways = vec![Way { packet: arrived, steps: Vec::new(), dropped: false }];
    if let Some(policy) = node.input {
        ways = through(node, policy, true, ways)?;
    }
    for way in &mut ways {
        way.packet.depart(node.encapsulation);
    }
    if let Some(policy) = node.output {
        ways = through(node, policy, false, ways)?;
    }
    let queueing = node.output.and_then(|policy| policy.queueing.as_ref());
    ways.into_iter().map(|way| ended(node, queueing, way)).collect()
}

#[derive(Clone)]
struct Way {
    packet: Packet,
    steps: Vec<Step>,
    dropped: bool,
}

/// The ways through the conditioners of `policy`.
fn through(
    node: &Node,
    policy: &PolicyConfig,
    is_input: bool,
    ways: Vec<Way>,
) -> Result<Vec<Way>, ConfigError> {
    let mut inside = ways;
    let mut left: Vec<Way> = Vec::new();
    for (index, config) in policy.conditioners.iter().enumerate() {
        let matches = config.matches.as_ref().map(|matches| matches.build(node.interfaces)).transpose()?;
        let mut next = Vec::new();
        for way in inside {
            if way.dropped {
                left.push(way);
            } else if matches.as_ref().is_some_and(|matches| !matches.matches(&way.packet)) {
                next.push(way);
            } else {
                for color in given_by(config.meter.as_ref()).unwrap_or_else(|| vec![way.packet.color]) {
                    let (after, outcome) = treated(node, config, color, &way, is_input, index)?;
                    if outcome == Outcome::Continue { next.push(after) } else { left.push(after) }
                }
            }
        }
        inside = next;
        if inside.len() + left.len() > MOST {
            inside.truncate(MOST.saturating_sub(left.len()));
        }
    }
    left.extend(inside);
    Ok(left)
}

/// A packet after the actions of `color`, as the data plane carries them out.
fn treated(
    node: &Node,
    config: &ConditionerConfig,
    color: Color,
    way: &Way,
    is_input: bool,
    index: usize,
) -> Result<(Way, Outcome), ConfigError> {
    let actions = config.actions_of(color).to_vec();
    let outcome = actions.iter().find_map(Action::ends_with).unwrap_or(Outcome::Transmit);
    let alone = ConditionerConfig { actions: actions.clone(), ..ConditionerConfig::default() };
    let mut stage = TrafficConditioner::build(&[alone], node.interfaces, &Streams::new(0, 0))?;
    let mut packet = Packet { color, ..way.packet };
    stage.condition(Time::ZERO, &mut packet);
    let mut steps = way.steps.clone();
    steps.push(Step {
        is_input,
        index,
        name: config.name.clone().unwrap_or_else(|| index.to_string()),
        color: config.meter.is_some().then(|| color.to_string()),
        actions,
        packet: written(node, &packet),
    });
    Ok((Way { packet, steps, dropped: outcome == Outcome::Drop }, outcome))
}

fn ended(node: &Node, queueing: Option<&QueueingConfig>, way: Way) -> Result<Branch, ConfigError> {
    let found = match queueing.filter(|_| !way.dropped) {
        Some(queueing) => class_of(queueing, node.interfaces, &way.packet)?,
        None => None,
    };
    let (queue, tin) = found.map_or((None, None), |(queue, class)| (Some(queue), tin_of(class, &way.packet)));
    let packet = written(node, &way.packet);
    Ok(Branch { steps: way.steps, packet, dropped: way.dropped, queue, tin, color: way.packet.color.index() })
}

fn tin_of(class: &ClassConfig, packet: &Packet) -> Option<&'static str> {
    let Some(BufferConfig::Cake(cake)) = &class.buffer else { return None };
    let names = cake.tins.names();
    (names.len() > 1).then(|| names[cake.tins.of(packet.dscp)])
}

/// The first class that takes the packet, and of those inside it the first, with its place.
fn class_of<'c>(
    queueing: &'c QueueingConfig,
    interfaces: &[String],
    packet: &Packet,
) -> Result<Option<(Vec<usize>, &'c ClassConfig)>, ConfigError> {
    for (index, class) in queueing.classes.iter().enumerate() {
        let matches = class.matches.as_ref().map(|matches| matches.build(interfaces)).transpose()?;
        if matches.is_some_and(|matches| !matches.matches(packet)) {
            continue;
        }
        let Some(inner) = &class.queueing else { return Ok(Some((vec![index], class))) };
        let inside = class_of(inner, interfaces, packet)?;
        return Ok(inside.map(|(path, class)| (std::iter::once(index).chain(path).collect(), class)));
    }
    Ok(None)
}

fn written(node: &Node, packet: &Packet) -> String {
    let input = node.interfaces.get(usize::from(packet.input.interface().0)).cloned();
    Witness { packet: *packet, input }.to_string()
}
