//! Builds the classes of HTB from a policy.

use super::bucket::{Bucket, Mode, bytes_per_second};
use super::feed::{Feed, Group};
use super::{Class, Htb, LEVELS, Level, PRIORITIES, htb_quantum};
use crate::error::ConfigError;
use crate::policy::{ClassConfig, QueueingConfig};
use crate::scheduler::config::{LinkLayerConfig, SchedulerConfig, ShareConfig};
use crate::scheduler::share::{Takes, error_in};
use crate::scheduler::tournament::Tournament;
use crate::units::{ByteSize, Rate};

const TAKES: Takes = Takes {
    scheduler: "htb",
    shares: &["rate", "ceil", "burst", "ceil-burst", "level", "quantum", "link-layer", "direct"],
    help: "htb accepts the keys rate, ceil, burst, ceil-burst, level (0 to 7, 0 is served first), quantum and \
           link-layer, or only the key direct",
};

/// The longest packet in `tc`, bytes. The default size of a bucket is this length plus the bytes of a
/// nanosecond at its rate.
const LONGEST_PACKET: u64 = 1600;
/// The level of an outermost class with inner classes.
const OUTERMOST: u8 = LEVELS as u8 - 1;

impl Htb {
    /// Builds the scheduler of `classes` and of the HTB classes inside them.
    pub(in crate::scheduler) fn build(
        classes: &[ClassConfig],
        rate_to_quantum: Option<u32>,
    ) -> Result<Htb, ConfigError> {
        if rate_to_quantum == Some(0) {
            return Err(ConfigError::new("rate-to-quantum", "rate-to-quantum is 0")
                .help("write a number above 0; tc uses 10"));
        }
        let mut built =
            Built { leaves: Vec::new(), inner: Vec::new(), order: Vec::new(), direct: None, rate_to_quantum };
        built.add(classes, None, OUTERMOST)?;
        built.check_count()?;
        Ok(built.finish())
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
    /// The classes with inner classes. The parent of a class is an index into this list.
    inner: Vec<Class>,
    /// All classes in the order of the configuration.
    order: Vec<Number>,
    /// The child that is served before all classes. It has no rate.
    direct: Option<usize>,
    /// The divisor that derives the quantum of a class from its rate.
    rate_to_quantum: Option<u32>,
}

impl Built {
    /// Adds the classes of one level of the policy inside the inner class `parent`. Classes that have inner
    /// classes are at `level`.
    fn add(&mut self, classes: &[ClassConfig], parent: Option<u16>, level: u8) -> Result<(), ConfigError> {
        TAKES.check(classes)?;
        for (index, config) in classes.iter().enumerate() {
            if config.share.direct == Some(true) {
                self.add_direct(index, config, parent)?;
                continue;
            }
            let mut class = class(index, &config.share, parent)?;
            let Some(inside) = config.link_shared(SchedulerConfig::Htb) else {
                (class.priority, class.quantum) = self.turns(index, &config.share)?;
                self.order.push(Number::Leaf(self.leaves.len() as u16));
                self.leaves.push(class);
                continue;
            };
            check_inner(index, config, inside, level)?;
            class.level = level;
            let number = self.inner.len() as u16;
            self.order.push(Number::Inner(number));
            self.inner.push(class);
            self.add(&inside.classes, Some(number), level - 1)
                .map_err(|error| error.within("queueing").within(index).within("classes"))?;
        }
        Ok(())
    }

    fn add_direct(
        &mut self,
        index: usize,
        config: &ClassConfig,
        parent: Option<u16>,
    ) -> Result<(), ConfigError> {
        let written = ShareConfig { direct: config.share.direct, ..ShareConfig::default() };
        let message = if config.share != written {
            "a direct class cannot have a rate or another share"
        } else if parent.is_some() {
            "a direct class cannot be inside another class"
        } else if self.direct.is_some() {
            "the scheduler has another direct class"
        } else {
            self.direct = Some(self.leaves.len());
            // This class only reserves the number of the queue. No packet belongs to it.
            let none =
                Bucket::full(Rate::from_bits_per_second(8), ByteSize::default(), LinkLayerConfig::default());
            self.leaves.push(Class::new(None, none.clone(), none));
            return Ok(());
        };
        Err(error_in(index, "direct", message).help(
            "write only `direct` in the share of one outermost class; this class is served before all \
                others, and is not shaped",
        ))
    }

    /// The priority and the quantum of a class with a queue.
    fn turns(&self, index: usize, share: &ShareConfig) -> Result<(u8, i64), ConfigError> {
        let level = share.level.unwrap_or(0);
        if usize::from(level) >= PRIORITIES {
            return Err(error_in(index, "level", format!("level {level} is out of range"))
                .help("write 0 (served first) to 7"));
        }
        let quantum = htb_quantum(share, self.rate_to_quantum).as_bytes();
        if !(1..=u64::from(u32::MAX / 2)).contains(&quantum) {
            return Err(error_in(index, "quantum", format!("a quantum of {quantum} bytes is out of range"))
                .help("at least one packet, for example 1514B"));
        }
        Ok((level as u8, quantum.cast_signed()))
    }

    fn check_count(&self) -> Result<(), ConfigError> {
        let (count, most) = (self.leaves.len() + self.inner.len(), Tournament::MOST_PLAYERS);
        if count <= most {
            return Ok(());
        }
        Err(ConfigError::new("classes", format!("{count} classes are too many for htb"))
            .help(format!("up to {most}")))
    }

    fn finish(self) -> Htb {
        let Built { leaves, inner, order, direct, .. } = self;
        let (behind, mut classes) = (leaves.len() as u16, leaves);
        classes.extend(inner);
        let mut groups = vec![Group::default(); LEVELS];
        for number in order {
            let index = match number {
                Number::Leaf(leaf) => leaf,
                Number::Inner(inner) => inner + behind,
            };
            let class = &mut classes[usize::from(index)];
            class.parent = class.parent.map(|parent| parent + behind);
            class.inside = groups.len() as u16;
            class.row_seat = groups[usize::from(class.level)].seat(index);
            let (parent, is_inner) = (class.parent, class.level > 0);
            if let Some(parent) = parent {
                let group = usize::from(classes[usize::from(parent)].inside);
                classes[usize::from(index)].feed_seat = groups[group].seat(index);
            }
            if is_inner {
                groups.push(Group::default());
            }
        }
        let feeds = groups.iter().flat_map(|group| vec![Feed::new(group.members.len()); PRIORITIES]);
        let level =
            |group: &Group| Level { occupied: 0, events: Tournament::new(group.members.len().max(1)) };
        Htb {
            feeds: feeds.collect(),
            levels: groups[..LEVELS].iter().map(level).collect(),
            classes,
            groups,
            direct,
            decision: None,
            held_until: None,
        }
    }
}

impl Group {
    /// Adds class `index` to the group, and returns its seat.
    fn seat(&mut self, index: u16) -> u16 {
        self.members.push(index);
        (self.members.len() - 1) as u16
    }
}

/// Returns a class with full buckets.
fn class(index: usize, share: &ShareConfig, parent: Option<u16>) -> Result<Class, ConfigError> {
    let Some(rate) = share.rate else {
        return Err(
            error_in(index, "", "the class has no rate").help("write its guaranteed rate, for example 2Mb/s")
        );
    };
    let ceil = share.ceil.unwrap_or(rate);
    for (key, rate) in [("rate", rate), ("ceil", ceil)] {
        if bytes_per_second(rate) == 0 {
            return Err(error_in(index, key, "the rate is below one byte per second")
                .help("write a higher rate, for example 300kb/s"));
        }
    }
    let link = share.link_layer.unwrap_or_default();
    // tc: the default burst is the longest packet plus the bytes of a nanosecond, the tick of the kernel's
    // clock.
    let burst = |rate: Rate| ByteSize::from_bytes(bytes_per_second(rate) / 1_000_000_000 + LONGEST_PACKET);
    Ok(Class::new(
        parent,
        Bucket::full(rate, share.burst.unwrap_or_else(|| burst(rate)), link),
        Bucket::full(ceil, share.ceil_burst.unwrap_or_else(|| burst(ceil)), link),
    ))
}

impl Class {
    /// Returns a class that has no packets.
    fn new(parent: Option<u16>, rate: Bucket, ceil: Bucket) -> Class {
        Class {
            parent,
            level: 0,
            row_seat: 0,
            feed_seat: 0,
            inside: 0,
            rate,
            ceil,
            filled_at: 0,
            mode: Mode::CanSend,
            active: 0,
            priority: 0,
            quantum: 0,
            deficits: [0; LEVELS],
        }
    }
}

/// Rejects the keys that a class with inner classes cannot have.
fn check_inner(
    index: usize,
    config: &ClassConfig,
    inside: &QueueingConfig,
    level: u8,
) -> Result<(), ConfigError> {
    let at = |key: &str, message: &str| ConfigError::new(key, message).within(index).within("classes");
    for (key, is_written) in
        [("level", config.share.level.is_some()), ("quantum", config.share.quantum.is_some())]
    {
        if is_written {
            return Err(error_in(index, key, format!("{key} is for queues, and this class has htb inside"))
                .help("write it in the inner classes"));
        }
    }
    if config.shape.is_some() {
        return Err(at("shape", "a class with htb inside is not shaped as a whole")
            .help("write the rate as the ceil of the class: it limits the sum of the inner classes"));
    }
    if inside.rate_to_quantum.is_some() {
        return Err(at("rate-to-quantum", "only the outermost htb has rate-to-quantum")
            .help("write it next to the outermost `scheduler: htb`"));
    }
    if level == 0 {
        return Err(at("queueing", "classes are nested too deeply")
            .help("htb has 8 levels of classes, including the level of the queues"));
    }
    Ok(())
}
