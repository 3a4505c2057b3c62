//! Writing of queueing as a tree of HTB classes.

use perhop_device::comment;
use perhop_qos::QueueSize;
use perhop_qos::buffer::{BufferConfig, TailDropConfig};
use perhop_qos::classifier::MatchConfig;
use perhop_qos::policer::PoliceWhen;
use perhop_qos::policy::{ClassConfig, QueueingConfig};
use perhop_qos::scheduler::{HTB_QUANTA, SchedulerConfig, ShapeConfig, ShapeForm};

use super::classes::{Classes, Leaf};
use super::htb;
use super::native::{self, Native};
use super::proportions::{self, FRAME, LEAST_PART};
use super::words::keyword;

/// The lowest priority level of HTB: `sch_htb.c`.
const MOST_PRIORITY: u16 = 7;

/// The context of a level of queueing.
#[derive(Clone)]
struct Inside {
    parent: u32,
    /// The rate that shares refer to, bits per second.
    rate_bps: u64,
    /// The maximum rate of a class while other classes are idle, bits per second.
    most_bps: u64,
    priority: u16,
    place: String,
    matches: Vec<MatchConfig>,
    /// The relative weight of the enclosing class among its siblings. It is needed because HTB lends in
    /// proportion to the quanta of leaves, regardless of their depth.
    scale: f64,
    /// Whether almost no rate is guaranteed at this level, because a class of higher priority is unlimited.
    borrows: bool,
}

/// The classes and queues of one port.
struct Tree<'a, 'b>(&'b mut Classes<'a>);

/// Adds the classes and queues of a port of `rate_bps` bits per second to `classes`. Returns the root
/// discipline.
pub(super) fn add_port(classes: &mut Classes, queueing: &QueueingConfig, rate_bps: u64) -> Discipline {
    if let Some(native) = Native::of_port(queueing, rate_bps) {
        let has_direct = queueing.classes.iter().any(native::is_direct);
        let options = native::add_classes(classes, queueing, native);
        return Discipline { kind: native.name(), options, has_direct };
    }
    let parent = classes.next_number();
    classes.lines.push(format!(
        "tc class add dev \"$DEV\" parent 1: classid 1:1 htb rate {rate_bps}bit ceil {rate_bps}bit quantum \
         {FRAME}"
    ));
    let inside = Inside {
        parent,
        rate_bps,
        most_bps: rate_bps,
        priority: 0,
        place: classes.place.to_owned(),
        matches: Vec::new(),
        scale: 1.0,
        borrows: false,
    };
    Tree(classes).add_queueing(queueing, &inside);
    Discipline { kind: "htb", options: String::new(), has_direct: false }
}

/// The root discipline of a port.
pub(super) struct Discipline {
    pub(super) kind: &'static str,
    /// The options.
    pub(super) options: String,
    /// Whether the discipline itself sends unclassified packets, like the policy.
    pub(super) has_direct: bool,
}

impl Tree<'_, '_> {
    fn report(&mut self, place: &str, construct: impl Into<String>, reason: impl Into<String>) {
        self.0.notes.at(place).report(construct, reason);
    }

    fn add_queueing(&mut self, queueing: &QueueingConfig, inside: &Inside) {
        match queueing.scheduler {
            SchedulerConfig::Priority => self.add_priorities(&queueing.classes, inside),
            SchedulerConfig::Htb => {
                self.add_token_buckets(&queueing.classes, inside, queueing.rate_to_quantum);
            }
            SchedulerConfig::Fifo if queueing.classes.len() > 1 => self.add_shared(queueing, inside),
            scheduler => self.add_weighted(&queueing.classes, scheduler, inside),
        }
    }

    /// Adds classes in the order of priority. The guarantee of a limited class is its limit, and the
    /// guarantee of the last class is the remaining rate.
    fn add_priorities(&mut self, classes: &[ClassConfig], inside: &Inside) {
        let (mut left, mut borrows) = (inside.rate_bps, inside.borrows);
        // If classes borrow almost all of their rate, their priority would also apply to classes outside of
        // this level.
        let step = u16::from(!(borrows && inside.parent != 1));
        if step == 0 {
            self.report(
                &inside.place,
                "priority in a child class of a class without a limit",
                "priority applies to the guarantee of the class; borrowed bandwidth is shared in turns",
            );
        }
        for (number, class) in (0..).zip(classes) {
            let is_last = usize::from(number) + 1 == classes.len();
            let priority = inside.priority + step * number;
            if priority > MOST_PRIORITY {
                let construct = format!("{} levels of priority", priority + 1);
                self.report(&inside.place, construct, format!("HTB has only {}", MOST_PRIORITY + 1));
            }
            let priority = priority.min(MOST_PRIORITY);
            let below = Inside { rate_bps: left, priority, borrows, ..inside.clone() };
            if let Some(inner) = &class.queueing
                && is_last
                && class.matches.is_none()
                && class.shape.is_none()
            {
                self.add_queueing(inner, &below);
                continue;
            }
            let bound = bound(class);
            // HTB would send all guarantees, so their sum must not exceed the rate. An unlimited class gets
            // 99 % as guarantee, and borrows the remaining rate before other classes.
            let most = if is_last { left } else { (left - left / LEAST_PART).max(1) };
            let rate = bound.map_or(most, |bound| bound.min(most));
            self.add_class(class, &below, rate, FRAME);
            left = left.saturating_sub(rate).max(1);
            borrows |= bound.is_none();
        }
    }

    /// Adds HTB classes and their inner classes as configured.
    fn add_token_buckets(&mut self, classes: &[ClassConfig], inside: &Inside, rate_to_quantum: Option<u32>) {
        for class in classes {
            let place = format!("{}, class {}", inside.place, class.name);
            let (rate, ceil) = htb::rates(&class.share, self.0.rate_bps);
            // HTB does not lend to outermost classes. In the script, they are inside the class of the port,
            // which would lend to them, so their ceiling is set to their rate.
            let ceil = if inside.parent == 1 { rate.min(ceil) } else { ceil };
            if class.share.direct == Some(true) {
                let reason = "up to the rate of the port, whose class contains all others";
                self.report(&place, "direct class", reason);
            }
            let same = class.queueing.as_ref().filter(|inner| inner.scheduler == SchedulerConfig::Htb);
            let mut words = htb::words(&class.share, rate, ceil);
            if same.is_none() {
                words = format!("{words} {}", htb::turns(&class.share, rate, rate_to_quantum));
            }
            let minor = self.0.next_number();
            self.add_line(class, inside.parent, minor, &words);
            let matches = [inside.matches.as_slice(), class.matches.as_slice()].concat();
            let below = Inside {
                parent: minor,
                rate_bps: rate,
                most_bps: ceil,
                priority: class.share.level.unwrap_or(0),
                place: place.clone(),
                matches: matches.clone(),
                scale: 1.0,
                borrows: false,
            };
            match (&class.queueing, same) {
                (_, Some(inner)) => self.add_token_buckets(&inner.classes, &below, rate_to_quantum),
                (Some(inner), None) => self.add_queueing(inner, &below),
                (None, None) => self.0.add_leaf(class, minor, rate, &place, matches),
            }
        }
    }

    /// Adds one class for several classes that share a queue.
    fn add_shared(&mut self, queueing: &QueueingConfig, inside: &Inside) {
        let names: Vec<&str> = queueing.classes.iter().map(|class| class.name.as_str()).collect();
        let names = names.join(", ");
        let bounds: Vec<u64> = queueing.classes.iter().filter_map(bound).collect();
        if !bounds.is_empty() {
            let reason = "the classes of one queue share the sum of their guarantees";
            self.report(&inside.place, format!("policers of {names}"), reason);
        }
        let limit = queueing.limit.unwrap_or(QueueSize::Packets(64));
        let buffer = Some(BufferConfig::TailDrop(TailDropConfig { limit }));
        let together = ClassConfig { name: names, buffer, ..ClassConfig::default() };
        let sum = bounds.iter().sum::<u64>();
        let rate = if bounds.is_empty() { inside.rate_bps } else { sum.min(inside.rate_bps) };
        let minor = self.add_class(&together, inside, rate, FRAME);
        self.0.leaves.pop();
        for class in &queueing.classes {
            let matches = [inside.matches.as_slice(), class.matches.as_slice()].concat();
            self.0.leaves.push(Leaf { name: class.name.clone(), minor, matches });
        }
    }

    fn add_weighted(&mut self, classes: &[ClassConfig], scheduler: SchedulerConfig, inside: &Inside) {
        let rates = proportions::promised(classes, scheduler, inside.rate_bps, self.0.rate_bps);
        let weights = proportions::excess(classes, &rates, scheduler);
        let quanta = proportions::quanta(&weights, &mut self.0.notes.at(&inside.place));
        self.report_scheduler(classes.len(), scheduler, inside);
        for ((class, rate), quantum) in classes.iter().zip(rates).zip(quanta) {
            self.add_class(class, inside, rate, quantum);
        }
    }

    fn report_scheduler(&mut self, classes: usize, scheduler: SchedulerConfig, inside: &Inside) {
        let name = keyword(&scheduler);
        let is_shared = classes > 1;
        if is_shared && !matches!(scheduler, SchedulerConfig::Drr | SchedulerConfig::ThreeParameter) {
            let reason = "HTB serves guaranteed rates first and shares the rest by quanta, in turns (DRR)";
            self.report(&inside.place, format!("scheduler {name}"), reason);
        }
        let of_kind = match scheduler {
            SchedulerConfig::Cbq => Some((
                "link sharing of cbq",
                "HTB lends by rates; it has no levels, no saved idle time and no extra delay",
            )),
            SchedulerConfig::Hfsc => Some((
                "service curves of hfsc",
                "HTB guarantees the long-term rates of the curves and lends the rest, but has no deadlines",
            )),
            SchedulerConfig::ThreeParameter => Some((
                "excess of a three-parameter scheduler",
                "HTB shares the excess by quanta among the classes of one priority that may borrow",
            )),
            _ => None,
        };
        if is_shared && inside.parent != 1 {
            let reason = "the quanta of single queues divide the bandwidth that they borrow";
            self.report(&inside.place, "child classes that share", reason);
        }
        if let Some((construct, reason)) = of_kind {
            self.report(&inside.place, construct, reason);
        }
    }

    /// Adds a class with its content. Returns its number.
    fn add_class(&mut self, class: &ClassConfig, inside: &Inside, rate: u64, quantum: u64) -> u32 {
        let (mut rate, mut ceil) = (rate, inside.most_bps);
        let place = format!("{}, class {}", inside.place, class.name);
        let minor = self.0.next_number();
        let mut bursts = String::new();
        let quantum = ((quantum as f64 * inside.scale).round_ties_even() as u64).min(*HTB_QUANTA.end());
        if class.share.borrow == Some(false) {
            ceil = rate.min(ceil);
        }
        if let Some(shape) = class.shape {
            let shaped = self.shaped(shape, &place);
            ceil = if inside.parent == 1 { shaped } else { shaped.min(ceil) };
            rate = rate.min(ceil);
            bursts = format!(" burst {0}b cburst {0}b", shape.burst.as_bytes());
        }
        ceil = self.policed(class, &place, ceil);
        let priority = inside.priority;
        let words = format!("rate {rate}bit ceil {ceil}bit{bursts} prio {priority} quantum {quantum}");
        self.add_line(class, inside.parent, minor, &words);
        let matches = [inside.matches.as_slice(), class.matches.as_slice()].concat();
        match &class.queueing {
            Some(inner) => {
                let below = Inside {
                    parent: minor,
                    rate_bps: rate,
                    most_bps: ceil,
                    priority,
                    place,
                    matches,
                    scale: quantum as f64 / FRAME as f64,
                    borrows: inside.borrows,
                };
                self.add_queueing(inner, &below);
            }
            None => self.0.add_leaf(class, minor, rate, &place, matches),
        }
        minor
    }

    fn add_line(&mut self, class: &ClassConfig, parent: u32, minor: u32, words: &str) {
        self.0.lines.push(format!("# {}", comment(&class.name)));
        self.0
            .lines
            .push(format!("tc class add dev \"$DEV\" parent 1:{parent:x} classid 1:{minor:x} htb {words}"));
    }

    /// Returns the rate of a shaper, bits per second.
    fn shaped(&mut self, shape: ShapeConfig, place: &str) -> u64 {
        let rate = shape.rate.as_bits_per_second();
        let (burst, excess) = (shape.burst.as_bytes(), shape.excess.as_bytes());
        match shape.form {
            ShapeForm::Peak => {
                let peak = u128::from(rate) * u128::from(burst + excess) / u128::from(burst.max(1));
                u64::try_from(peak).unwrap_or(u64::MAX)
            }
            ShapeForm::Average => {
                if excess > 0 {
                    let construct = format!("excess burst of {excess} bytes");
                    self.report(place, construct, "HTB has one bucket, for the committed burst");
                }
                rate
            }
        }
    }

    /// Returns the ceiling of a class with a policer or cap.
    fn policed(&mut self, class: &ClassConfig, place: &str, ceil: u64) -> u64 {
        let Some(bound) = bound(class) else { return ceil };
        if let Some(police) = class.police.filter(|police| police.when == PoliceWhen::Congested) {
            self.report(
                place,
                format!("policer of {} under congestion", police.rate),
                "HTB guarantees the rate and lends unused bandwidth; the queue of the class drops packets \
                 above its limit",
            );
            return ceil;
        }
        let reason = "HTB delays excess packets, up to the limit of the queue";
        self.report(place, format!("limit of {bound} b/s"), reason);
        bound.min(ceil)
    }
}

/// Returns the rate of a class's policer or cap, bits per second.
fn bound(class: &ClassConfig) -> Option<u64> {
    let rate = class.police.map(|police| police.rate).or(class.share.cap.map(|cap| cap.rate));
    rate.map(perhop_qos::Rate::as_bits_per_second)
}
