//! [`classes_of`]: the packets that reach each class of a scheduler.

use perhop_qos::buffer::BufferConfig;
use perhop_qos::policy::{ClassConfig, QueueingConfig};

use crate::decision_diagram::{Set, TooComplex};
use crate::fields::Field;
use crate::space::PacketSpace;

/// A class of a port that has a queue, and its packets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Class {
    /// The name of the queue in results: the names of the classes from the outermost class inward, joined by
    /// `/`.
    pub name: String,
    /// The packets that match the condition of the class and the conditions of the enclosing classes.
    pub matches: Set,
    /// The packets of `matches` that match no earlier class.
    pub takes: Set,
}

/// Returns the classes of `queueing` that have a queue, in the order of their queues. Each of the `arriving`
/// packets belongs to the first class that matches, level by level.
///
/// # Errors
/// The sets of packets are too complex.
pub fn classes_of(
    space: &mut PacketSpace,
    queueing: &QueueingConfig,
    arriving: Set,
) -> Result<Vec<Class>, TooComplex> {
    let mut classes = Vec::new();
    collect(
        space,
        queueing,
        &Class { name: String::new(), matches: arriving, takes: arriving },
        &mut classes,
    )?;
    Ok(classes)
}

fn collect(
    space: &mut PacketSpace,
    queueing: &QueueingConfig,
    around: &Class,
    classes: &mut Vec<Class>,
) -> Result<(), TooComplex> {
    let mut earlier: Vec<Set> = Vec::new();
    for config in &queueing.classes {
        let condition = match &config.matches {
            Some(condition) => space.taken_by(condition)?,
            None => Set::ALL,
        };
        let name = match around.name.as_str() {
            "" => config.name.clone(),
            outer => format!("{outer}/{}", config.name),
        };
        let matches = space.and(around.matches, condition)?;
        let takes = space.and(around.takes, condition)?;
        let takes = but_none_of(space, takes, condition, &earlier)?;
        earlier.push(condition);
        let class = Class { name, matches, takes };
        match &config.queueing {
            Some(inner) => collect(space, inner, &class, classes)?,
            None => classes.extend(queues(space, config, class)?),
        }
    }
    Ok(())
}

/// Returns the queues of a class without inner classes: one queue, or the tins of CAKE by codepoint.
fn queues(space: &mut PacketSpace, config: &ClassConfig, class: Class) -> Result<Vec<Class>, TooComplex> {
    let Some(BufferConfig::Cake(cake)) = &config.buffer else { return Ok(vec![class]) };
    let names = cake.queue_names(&class.name);
    if names.len() == 1 {
        return Ok(vec![class]);
    }
    let tins = names.into_iter().enumerate().map(|(tin, name)| {
        let values = cake.tins.codepoints(tin).map(|dscp| dscp.value().into());
        let codepoints = space.is_one_of(Field::Dscp, values)?;
        let matches = space.and(class.matches, codepoints)?;
        Ok(Class { name, matches, takes: space.and(class.takes, codepoints)? })
    });
    tins.collect()
}

/// Returns the packets of `set`, a subset of `condition`, that are in no set of `earlier`.
///
/// The function compares classes in pairs, because most classes are disjoint and such a comparison is fast.
/// The set of all packets that match no earlier class would have the size of all earlier classes together.
fn but_none_of(
    space: &mut PacketSpace,
    set: Set,
    condition: Set,
    earlier: &[Set],
) -> Result<Set, TooComplex> {
    if condition == Set::ALL {
        let taken = space.any(earlier.to_vec())?;
        return space.minus(set, taken);
    }
    earlier.iter().try_fold(set, |set, other| space.minus(set, *other))
}
