//! Guarantees in the order of their levels, and then the excess in the order of other levels and by weight,
//! for a tree of classes.
//!
//! Juniper, "Scheduling and Shaping in Hierarchical CoS Queues" and "Hierarchical CoS Scheduler Priority
//! Propagation": a queue has one priority below its guaranteed rate and another priority above it. A node has
//! the highest priority of its classes that have packets. Above its own guaranteed rate, its priority is at
//! most the highest priority of the excess.

mod build;

use super::config::LinkLayerConfig;
use super::contract::Scheduler;
use super::shaper::Credit;
use super::virtual_time::{Virtual, Weight};
use crate::units::Time;

/// The number of levels of guarantees. The excess has the same number of levels.
const LEVELS: usize = 8;
/// The number of priorities of packets: the levels of guarantees, and after them the levels of the excess.
const PRIORITIES: usize = 2 * LEVELS;
/// The largest number of nested classes, including the class of the queue.
const DEPTH: usize = 8;

/// The scheduler for queues or other schedulers. It reads only their heads.
///
/// Each choice reads the heads of all queues. Classes with the same priority share by start-time fair
/// queueing (Goyal, Vin and Cheng, SIGCOMM 1996). This is a choice of this project, because the sources
/// document only the long-run shares.
#[derive(Clone, Debug)]
pub struct GuaranteeExcess {
    /// The classes. Classes with queues come first, in the order of the children.
    classes: Vec<Class>,
    /// The outermost classes.
    outermost: Group,
    /// The packet that the last `select` has selected.
    decision: Option<Path>,
    /// The time until which the maxima of the classes hold back all packets, as determined by the last
    /// `select`.
    held_until: Option<Time>,
}

/// A class with a queue or with inner classes.
#[derive(Clone, Debug)]
struct Class {
    parent: Option<u16>,
    /// The inner classes. Empty for a class with a queue.
    inner: Group,
    guarantee: Guarantee,
    maximum: Option<Credit>,
    /// The priority of a queue within its guarantee.
    level: u8,
    /// The priority of a queue above its guarantee.
    excess_level: u8,
    weight: Weight,
    link: LinkLayerConfig,
    /// The start tag of the next packet of each priority.
    tags: [Virtual; PRIORITIES],
}

/// Classes that share a rate: the inner classes of a class, or the outermost classes.
#[derive(Clone, Debug)]
struct Group {
    members: Vec<u16>,
    /// The weight of a queue while it is within its guarantee. It is equal for all queues of the group.
    equal: Option<Weight>,
    /// The start tag of the last packet of each priority.
    clocks: [Virtual; PRIORITIES],
}

/// The guaranteed rate of a class.
#[derive(Clone, Debug)]
enum Guarantee {
    /// The class has no guarantee. A class with inner classes then has the priority of its most urgent inner
    /// class.
    None,
    /// The guarantee is the maximum of the class.
    All,
    /// The guarantee is the rate of this bucket.
    UpTo(Credit),
}

/// A packet that a class offers to its outer class, or the time at which the class will offer one.
#[derive(Clone, Copy, Debug)]
enum Offer {
    Packet(Path),
    Later(Time),
    Nothing,
}

/// A packet and its classes, from the class of its queue outward.
#[derive(Clone, Copy, Debug)]
struct Path {
    /// The length of the packet, in the bytes that the policy counts.
    length: u32,
    /// One step for each class. Only the first `count` steps are valid.
    steps: [Step; DEPTH],
    count: u8,
}

#[derive(Clone, Copy, Debug, Default)]
struct Step {
    class: u16,
    /// The priority of the packet among the siblings of the class.
    priority: u8,
    /// Whether the packet uses the guarantee of the class.
    is_guaranteed: bool,
}

impl Path {
    fn from_queue(length: u32, step: Step) -> Path {
        let mut steps = [Step::default(); DEPTH];
        steps[0] = step;
        Path { length, steps, count: 1 }
    }
    fn outermost(&self) -> Step {
        self.steps[usize::from(self.count) - 1]
    }
    fn push(&mut self, step: Step) {
        self.steps[usize::from(self.count)] = step;
        self.count += 1;
    }
    fn queue(&self) -> usize {
        usize::from(self.steps[0].class)
    }
}

impl Guarantee {
    /// Whether a packet of `length` counted bytes is within the guarantee.
    fn covers(&self, now: Time, length: u32) -> bool {
        match self {
            Guarantee::None => false,
            Guarantee::All => true,
            Guarantee::UpTo(credit) => credit.reaches(now, length) <= now,
        }
    }
}

impl GuaranteeExcess {
    /// Returns the packet of `group` with the most urgent priority, or the first time at which a packet may
    /// leave.
    fn best(&self, now: Time, group: &Group, heads: &[u32]) -> Offer {
        let (mut found, mut key) = (Offer::Nothing, (u8::MAX, Virtual::MAX));
        for member in &group.members {
            match self.offer(now, *member, heads) {
                Offer::Nothing => {}
                Offer::Later(time) => {
                    found = match found {
                        Offer::Packet(_) => found,
                        Offer::Later(other) => Offer::Later(other.min(time)),
                        Offer::Nothing => Offer::Later(time),
                    }
                }
                Offer::Packet(path) => {
                    let priority = path.outermost().priority;
                    let index = usize::from(priority);
                    let start = self.classes[usize::from(*member)].tags[index].max(group.clocks[index]);
                    if (priority, start) < key {
                        (found, key) = (Offer::Packet(path), (priority, start));
                    }
                }
            }
        }
        found
    }

    /// Returns the packet that class `index` offers, or the time at which the class will offer one.
    fn offer(&self, now: Time, index: u16, heads: &[u32]) -> Offer {
        let class = &self.classes[usize::from(index)];
        if class.inner.members.is_empty() {
            let length = heads[usize::from(index)];
            return if length > 0 { class.offer_head(now, index, length) } else { Offer::Nothing };
        }
        match self.best(now, &class.inner, heads) {
            Offer::Packet(path) => class.offer_inner(now, index, path),
            other => other,
        }
    }

    /// Returns the inner classes of `parent`, or the outermost classes if it is `None`.
    fn group_mut(&mut self, parent: Option<u16>) -> &mut Group {
        match parent {
            Some(parent) => &mut self.classes[usize::from(parent)].inner,
            None => &mut self.outermost,
        }
    }

    /// Charges the packet to the class of `step`.
    fn charge(&mut self, now: Time, length: u32, step: Step) {
        let class = &mut self.classes[usize::from(step.class)];
        let counted = class.link.counted(length);
        if let Some(maximum) = &mut class.maximum {
            maximum.spend(now, counted);
        }
        // Packets of level 0 keep their priority above the guarantee. They are charged even above the
        // guarantee, because they use bandwidth of other classes.
        let is_charged = step.is_guaranteed || step.priority == 0;
        if let (Guarantee::UpTo(credit), true) = (&mut class.guarantee, is_charged) {
            credit.spend_within_debt(now, counted);
        }
        let (parent, weight, is_queue) = (class.parent, class.weight, class.inner.members.is_empty());
        let index = usize::from(step.priority);
        let group = self.group_mut(parent);
        // Queues within their guarantees take equal turns. Classes with inner classes, and queues above their
        // guarantees, have weights.
        let weight = if is_queue && index < LEVELS { group.equal.unwrap_or(weight) } else { weight };
        let clock = group.clocks[index];
        let tag = &mut self.classes[usize::from(step.class)].tags[index];
        let start = clock.max(*tag);
        *tag = start + weight.span(counted);
        self.group_mut(parent).clocks[index] = start;
    }
}

impl Class {
    /// Returns the time until which the maximum of the class holds back a packet of `length` bytes, or `None`
    /// if the packet may leave now.
    fn held_until(&self, now: Time, length: u32) -> Option<Time> {
        let ready = self.maximum.as_ref()?.reaches(now, self.link.counted(length));
        (ready > now).then_some(ready)
    }

    /// Offers the head of the class's queue, which has `length` bytes.
    fn offer_head(&self, now: Time, class: u16, length: u32) -> Offer {
        if let Some(time) = self.held_until(now, length) {
            return Offer::Later(time);
        }
        let is_guaranteed = self.guarantee.covers(now, self.link.counted(length));
        let priority = if is_guaranteed { self.level } else { self.excess_level };
        Offer::Packet(Path::from_queue(length, Step { class, priority, is_guaranteed }))
    }

    /// Offers `path`, which an inner class has offered to this class.
    fn offer_inner(&self, now: Time, class: u16, path: Path) -> Offer {
        if let Some(time) = self.held_until(now, path.length) {
            return Offer::Later(time);
        }
        let priority = path.outermost().priority;
        // A packet that belongs to the excess of an inner class does not use the guarantee of the outer
        // class.
        let is_guaranteed =
            usize::from(priority) < LEVELS && self.guarantee.covers(now, self.link.counted(path.length));
        // A packet of a queue of level 0 with an unlimited guarantee keeps its priority ("strict-high" in the
        // source).
        let is_demoted = matches!(self.guarantee, Guarantee::UpTo(_)) && !is_guaranteed && priority > 0;
        let priority = if is_demoted { priority.max(LEVELS as u8) } else { priority };
        let mut path = path;
        path.push(Step { class, priority, is_guaranteed });
        Offer::Packet(path)
    }
}

impl Scheduler for GuaranteeExcess {
    fn enqueued(&mut self, _: Time, _: usize, _: u32) {}
    /// Returns false, because the scheduler needs only the heads.
    fn counts_arrivals(&self) -> bool {
        false
    }

    fn select(&mut self, now: Time, heads: &[u32]) -> Option<usize> {
        (self.decision, self.held_until) = (None, None);
        match self.best(now, &self.outermost, heads) {
            Offer::Packet(path) => self.decision = Some(path),
            Offer::Later(time) => self.held_until = Some(time),
            Offer::Nothing => {}
        }
        self.decision.map(|path| path.queue())
    }

    fn dequeued(&mut self, now: Time, child: usize, length: u32, _: u32) {
        let Some(path) = self.decision.take() else { return };
        debug_assert_eq!(path.queue(), child);
        for step in &path.steps[..usize::from(path.count)] {
            self.charge(now, length, *step);
        }
    }

    fn dropped(&mut self, _: Time, _: usize, _: u32, _: u32) {
        self.decision = None;
    }
    /// Returns true, because the tokens of the buckets grow with time.
    fn depends_on_time(&self) -> bool {
        true
    }
    fn holds_back(&self) -> bool {
        true
    }
    fn held_until(&self) -> Option<Time> {
        self.held_until
    }
}
