//! [`conditioned`] and [`queue_of`]: the paths of a packet through conditioners, one for every color that
//! meters may assign, and the queue that the packet joins.

use perhop_qos::action::{Action, Outcome};
use perhop_qos::buffer::BufferConfig;
use perhop_qos::conditioner::{ConditionerConfig, TrafficConditioner};
use perhop_qos::packet::Encapsulation;
use perhop_qos::policy::{ClassConfig, PolicyConfig, QueueingConfig};
use perhop_qos::random::Streams;
use perhop_qos::{Color, ConfigError, Packet, Time};

use crate::conditioning::given_by;

/// The policies that a packet passes in a node.
#[derive(Clone, Copy, Debug)]
pub struct Node<'a> {
    /// The names of the node's interfaces, in the order of their numbers.
    pub interfaces: &'a [String],
    /// The policy of the interface on which the packet arrives.
    pub input: Option<&'a PolicyConfig>,
    /// The policy of the interface through which the packet leaves.
    pub output: Option<&'a PolicyConfig>,
    /// The tags and labels with which the packet leaves.
    pub encapsulation: Encapsulation,
}

/// One path of a packet through conditioners.
#[derive(Clone, Debug)]
pub struct Conditioned {
    /// The packet after the conditioners.
    pub packet: Packet,
    /// The conditioners that the packet matched, in order.
    pub steps: Vec<Step>,
    /// Whether the last conditioner drops the packet.
    pub dropped: bool,
}

/// The effect of one conditioner on a packet that it matches.
#[derive(Clone, Debug)]
pub struct Step {
    /// The index of the conditioner.
    pub index: usize,
    /// The color that the meter of the conditioner assigns; `None` without a meter.
    pub color: Option<Color>,
    /// The actions for that color.
    pub actions: Vec<Action>,
    /// The packet after these actions.
    pub packet: Packet,
}

/// The maximum number of paths, which is sufficient for three colors of five meters.
const MOST: usize = 243;

/// Returns all paths of `packet` through the conditioners of `policy`, one for each color that a meter may
/// assign. The number of an interface is its index in `interfaces`.
///
/// # Errors
/// A conditioner cannot be built.
pub fn conditioned(
    policy: &PolicyConfig,
    interfaces: &[String],
    packet: &Packet,
) -> Result<Vec<Conditioned>, ConfigError> {
    let mut inside = vec![Conditioned { packet: *packet, steps: Vec::new(), dropped: false }];
    let mut left: Vec<Conditioned> = Vec::new();
    for (index, config) in policy.conditioners.iter().enumerate() {
        let matches = config.matches.as_ref().map(|matches| matches.build(interfaces)).transpose()?;
        let mut next = Vec::new();
        for way in inside {
            if matches.as_ref().is_some_and(|matches| !matches.matches(&way.packet)) {
                next.push(way);
                continue;
            }
            for color in given_by(config.meter.as_ref()).unwrap_or_else(|| vec![way.packet.color]) {
                let (after, outcome) = treated(config, interfaces, color, &way, index)?;
                if outcome == Outcome::Continue { next.push(after) } else { left.push(after) }
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

/// Returns a packet after the actions for `color`, as the data plane performs them.
fn treated(
    config: &ConditionerConfig,
    interfaces: &[String],
    color: Color,
    way: &Conditioned,
    index: usize,
) -> Result<(Conditioned, Outcome), ConfigError> {
    let actions = config.actions_of(color).to_vec();
    let outcome = actions.iter().find_map(Action::ends_with).unwrap_or(Outcome::Transmit);
    let alone = ConditionerConfig { actions: actions.clone(), ..ConditionerConfig::default() };
    let mut stage = TrafficConditioner::build(&[alone], interfaces, &Streams::new(0, 0))?;
    let mut packet = Packet { color, ..way.packet };
    stage.condition(Time::ZERO, &mut packet);
    let mut steps = way.steps.clone();
    let color = config.meter.is_some().then_some(color);
    steps.push(Step { index, color, actions, packet });
    Ok((Conditioned { packet, steps, dropped: outcome == Outcome::Drop }, outcome))
}

/// A queue of a port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueuePlace {
    /// The indices of the classes that contain the queue, from the outermost class inward.
    pub path: Vec<usize>,
    /// The tin of the queue, if CAKE has several tins.
    pub tin: Option<&'static str>,
}

/// Returns the queue that `packet` joins; `None` if the packet matches no class.
///
/// # Errors
/// A match cannot be built.
pub fn queue_of(
    queueing: &QueueingConfig,
    interfaces: &[String],
    packet: &Packet,
) -> Result<Option<QueuePlace>, ConfigError> {
    for (index, class) in queueing.classes.iter().enumerate() {
        let matches = class.matches.as_ref().map(|matches| matches.build(interfaces)).transpose()?;
        if matches.is_some_and(|matches| !matches.matches(packet)) {
            continue;
        }
        let Some(inner) = &class.queueing else {
            return Ok(Some(QueuePlace { path: vec![index], tin: tin_of(class, packet) }));
        };
        let inside = queue_of(inner, interfaces, packet)?;
        return Ok(inside.map(|mut place| {
            place.path.insert(0, index);
            place
        }));
    }
    Ok(None)
}

fn tin_of(class: &ClassConfig, packet: &Packet) -> Option<&'static str> {
    let Some(BufferConfig::Cake(cake)) = &class.buffer else { return None };
    let names = cake.tins.names();
    (names.len() > 1).then(|| names[cake.tins.tin_of(packet.dscp)])
}
