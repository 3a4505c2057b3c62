//! Builds the classes of [`GuaranteeExcess`] from a policy.

use super::super::shaper::Credit;
use super::super::share::{Takes, error_in};
use super::super::virtual_time::Weight;
use super::{Class, DEPTH, Group, Guarantee, GuaranteeExcess, LEVELS, PRIORITIES};
use crate::error::ConfigError;
use crate::policy::ClassConfig;
use crate::scheduler::config::{SchedulerConfig, ShareConfig};
use crate::units::{ByteSize, Rate};

const TAKES: Takes = Takes {
    scheduler: "guarantee-excess",
    shares: &["weight", "rate", "ceil", "burst", "ceil-burst", "level", "excess-level", "link-layer"],
    help: "guarantee-excess accepts the keys rate, ceil, burst, ceil-burst, weight (of the excess), level and \
           excess-level (0 to 7, 0 is served first) and link-layer",
};

/// The keys that only queues have. A class with inner classes has the priority of these classes.
const QUEUE_KEYS: [&str; 2] = ["level", "excess-level"];
/// The default size of a bucket, bytes: two of the usual longest packets.
const BURST: u64 = 3200;

impl GuaranteeExcess {
    /// Builds the scheduler of `classes` and their inner classes of the same kind.
    pub(in crate::scheduler) fn build(classes: &[ClassConfig]) -> Result<GuaranteeExcess, ConfigError> {
        let mut built = Built { leaves: Vec::new(), inner: Vec::new() };
        let outermost = built.add(classes, None, DEPTH)?;
        Ok(built.finish(&outermost))
    }
}

/// The index of a class among the classes with queues, or among the classes with inner classes.
#[derive(Clone, Copy)]
enum Number {
    Leaf(u16),
    Inner(u16),
}

struct Built {
    leaves: Vec<Class>,
    inner: Vec<(Class, Vec<Number>)>,
}

impl Built {
    /// Adds the classes inside the inner class `parent`. At most `depth` levels of classes may follow.
    fn add(
        &mut self,
        classes: &[ClassConfig],
        parent: Option<u16>,
        depth: usize,
    ) -> Result<Vec<Number>, ConfigError> {
        let weights = TAKES.weights(classes)?;
        if depth == 0 {
            let message = format!("classes are nested more than {DEPTH} times");
            return Err(ConfigError::new("classes", message).help("guarantee-excess has 8 levels of classes"));
        }
        let mut numbers = Vec::with_capacity(classes.len());
        for (index, config) in classes.iter().enumerate() {
            let class = class(index, &config.share, parent, weights[index])?;
            let Some(inside) = config.link_shared(SchedulerConfig::GuaranteeExcess) else {
                numbers.push(Number::Leaf(self.leaves.len() as u16));
                self.leaves.push(class);
                continue;
            };
            check_inner(index, config)?;
            let number = self.inner.len() as u16;
            numbers.push(Number::Inner(number));
            self.inner.push((class, Vec::new()));
            let within = |error: ConfigError| error.within("queueing").within(index).within("classes");
            self.inner[usize::from(number)].1 =
                self.add(&inside.classes, Some(number), depth - 1).map_err(within)?;
        }
        Ok(numbers)
    }

    fn finish(self, outermost: &[Number]) -> GuaranteeExcess {
        let behind = self.leaves.len() as u16;
        let mut classes = self.leaves;
        for (class, numbers) in self.inner {
            classes.push(Class { inner: Group::new(&numbers, behind), ..class });
        }
        for class in &mut classes {
            class.parent = class.parent.map(|parent| parent + behind);
        }
        GuaranteeExcess {
            classes,
            outermost: Group::new(outermost, behind),
            decision: None,
            held_until: None,
        }
    }
}

impl Group {
    fn new(numbers: &[Number], behind: u16) -> Group {
        let index = |number: &Number| match number {
            Number::Leaf(leaf) => *leaf,
            Number::Inner(inner) => inner + behind,
        };
        Group {
            members: numbers.iter().map(index).collect(),
            equal: Weight::part(1.0 / numbers.len().max(1) as f64),
            clocks: [0; PRIORITIES],
        }
    }
}

fn class(
    index: usize,
    share: &ShareConfig,
    parent: Option<u16>,
    weight: Weight,
) -> Result<Class, ConfigError> {
    let level = |key: &str, written: Option<u16>| match written.unwrap_or(0) {
        level if usize::from(level) < LEVELS => Ok(level as u8),
        level => Err(error_in(index, key, format!("{key} {level} is out of range"))
            .help("write 0 (served first) to 7")),
    };
    let bucket = |key: &str, rate: Rate, burst: Option<ByteSize>| {
        if rate.as_bits_per_second() == 0 {
            return Err(error_in(index, key, "the rate is 0")
                .help("write a rate above 0, for example 300kb/s, or remove the key"));
        }
        let burst = burst.unwrap_or(ByteSize::from_bytes(BURST));
        Credit::new(rate, (1, 1), burst)
            .map_err(|error| error.within("share").within(index).within("classes"))
    };
    let guarantee = match (share.rate, share.ceil) {
        (None, _) => Guarantee::None,
        (Some(rate), Some(ceil)) if rate >= ceil => Guarantee::All,
        (Some(rate), _) => Guarantee::UpTo(bucket("rate", rate, share.burst)?),
    };
    Ok(Class {
        parent,
        inner: Group { members: Vec::new(), equal: None, clocks: [0; PRIORITIES] },
        guarantee,
        maximum: share.ceil.map(|ceil| bucket("ceil", ceil, share.ceil_burst)).transpose()?,
        level: level("level", share.level)?,
        excess_level: level("excess-level", share.excess_level)? + LEVELS as u8,
        weight,
        link: share.link_layer.unwrap_or_default(),
        tags: [0; PRIORITIES],
    })
}

/// Rejects keys that only queues may have.
fn check_inner(index: usize, config: &ClassConfig) -> Result<(), ConfigError> {
    let written = [config.share.level, config.share.excess_level];
    let first = QUEUE_KEYS.iter().zip(written).find(|(_, written)| written.is_some());
    if let Some((key, _)) = first {
        let message = format!("{key} is for queues, and this class has classes inside");
        return Err(error_in(index, key, message).help("write it in the inner classes"));
    }
    if config.shape.is_some() {
        let error =
            ConfigError::new("shape", "a class with guarantee-excess inside is not shaped as a whole");
        return Err(error
            .within(index)
            .within("classes")
            .help("write the rate as the ceil of the class: it limits the sum of the inner classes"));
    }
    Ok(())
}
