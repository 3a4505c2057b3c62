//! [`divide`]: the long-run division of a rate by a whole tree of HTB. The rates of children may add up to
//! more than the rate of their parent.
//!
//! Linux `sch_htb` (`htb_dequeue`) serves the lowest level at which a class may send: first classes with
//! queues at their own rate, then classes that borrow from their direct parent, and so on outward. At one
//! level, the highest priority is served first, and its classes take turns of their quanta. A class at its
//! own rate does not check the rate or ceiling of its enclosing classes, but its packets are charged to them.
//! Each step (level, priority) uses the rate that the previous steps leave.

use perhop_qos::policy::{ClassConfig, QueueingConfig};
use perhop_qos::scheduler::SchedulerConfig;

use super::limits::{bits, htb_guarantee};
use super::weights::{Got, HTB_OUTERMOST, Want, htb_quantum};

/// The default size of a bucket, bytes (`htb/build.rs` of `perhop-qos`).
const BURST: f64 = 1600.0;
/// The fraction of a rate below which a difference is due to rounding.
const LEAST: f64 = 1e-9;

/// Returns the rate of each class of the outermost `queueing` for `rate` bits per second.
pub(super) fn divide(queueing: &QueueingConfig, rate: f64, wants: &[Want]) -> Vec<Got> {
    let mut root = Node::around(queueing, wants, queueing.rate_to_quantum);
    let direct = root.inner.iter().find(|node| node.is_direct).map_or(0.0, |node| node.want).min(rate);
    for node in root.inner.iter_mut().filter(|node| node.is_direct) {
        node.got = direct;
    }
    let mut left = rate - direct;
    for (level, priority) in root.steps() {
        if left <= 0.0 {
            break;
        }
        let step = Step { level, priority, left };
        root.mark_borrowers(step);
        let lenders = root.lenders(step);
        left -= root.pour(step, left);
        if lenders > 1 && root.lenders(step) > 0 {
            root.mark(step);
        }
    }
    root.inner.into_iter().map(Got::from).collect()
}

/// A step of the scheduler: the level of the class whose tokens are used, and the priority.
#[derive(Clone, Copy, Debug)]
struct Step {
    level: u8,
    priority: u16,
    /// Bits per second that the previous steps leave.
    left: f64,
}

/// A class, and its rate from the previous steps. Rates are in bits per second.
#[derive(Debug)]
struct Node {
    /// The level of the class; 0 for a class with a queue.
    level: u8,
    priority: u16,
    quantum: f64,
    rate: f64,
    ceil: f64,
    /// The burst, bytes.
    burst: f64,
    ceil_burst: f64,
    want: f64,
    is_direct: bool,
    got: f64,
    /// Whether the class has a queue, and an enclosing class has lent to it.
    has_borrowed: bool,
    is_approximate: bool,
    inner: Vec<Node>,
}

impl From<Node> for Got {
    fn from(node: Node) -> Got {
        let inner = node.inner.into_iter().map(Got::from).collect();
        Got { rate: node.got, is_approximate: node.is_approximate, inner }
    }
}

/// A rate as a function of `depth`, the rate for each byte of a quantum: `fixed` + `slope` × `depth`.
#[derive(Clone, Copy)]
struct Line {
    fixed: f64,
    slope: f64,
}

impl Node {
    /// Returns the node that contains the outermost classes, which are the classes of `queueing`.
    fn around(queueing: &QueueingConfig, wants: &[Want], rate_to_quantum: Option<u32>) -> Node {
        let class = |(class, want)| Node::of_class(class, want, HTB_OUTERMOST, rate_to_quantum);
        Node {
            level: HTB_OUTERMOST + 1,
            priority: 0,
            quantum: 0.0,
            rate: 0.0,
            ceil: f64::INFINITY,
            burst: f64::INFINITY,
            ceil_burst: f64::INFINITY,
            want: f64::INFINITY,
            is_direct: false,
            got: 0.0,
            has_borrowed: false,
            is_approximate: false,
            inner: queueing.classes.iter().zip(wants).map(class).collect(),
        }
    }

    fn of_class(class: &ClassConfig, want: &Want, level: u8, rate_to_quantum: Option<u32>) -> Node {
        let (share, inside) = (&class.share, class.link_shared(SchedulerConfig::Htb));
        let inner = inside.map_or(&[][..], |inside| &inside.classes);
        let rate = share.rate.map_or(0.0, htb_guarantee);
        let own_ceil = share.rate.map_or(0.0, bits);
        Node {
            level: if inside.is_some() { level } else { 0 },
            priority: share.level.unwrap_or(0),
            quantum: htb_quantum(rate_to_quantum, class),
            rate,
            ceil: share.ceil.map_or(own_ceil, bits),
            burst: share.burst.map_or(BURST, |bytes| bytes.as_bytes() as f64),
            ceil_burst: share.ceil_burst.map_or(BURST, |bytes| bytes.as_bytes() as f64),
            want: want.rate,
            is_direct: share.direct == Some(true),
            got: 0.0,
            has_borrowed: false,
            is_approximate: false,
            inner: (inner.iter().zip(&want.inner))
                .map(|(class, want)| Node::of_class(class, want, level.saturating_sub(1), rate_to_quantum))
                .collect(),
        }
    }

    /// Returns the steps that serve an inner class of this class, in order.
    fn steps(&self) -> Vec<(u8, u16)> {
        let (mut levels, mut priorities) = (vec![0], Vec::new());
        self.collect(&mut levels, &mut priorities);
        for list in [&mut levels, &mut priorities] {
            list.sort_unstable();
            list.dedup();
        }
        let priorities = &priorities;
        let step = |level: u16| priorities.iter().map(move |priority| (level as u8, *priority));
        levels.into_iter().flat_map(step).collect()
    }

    fn collect(&self, levels: &mut Vec<u16>, priorities: &mut Vec<u16>) {
        for node in &self.inner {
            if node.level > 0 {
                levels.push(node.level.into());
                node.collect(levels, priorities);
            } else if !node.is_direct {
                priorities.push(node.priority);
            }
        }
    }

    /// Returns the rate that this class may still send at `step`, with its own tokens or tokens of enclosing
    /// classes.
    fn room(&self, step: Step) -> f64 {
        let most = match self.level.cmp(&step.level) {
            // This class lends if it has tokens left.
            std::cmp::Ordering::Equal => self.rate.min(self.ceil).min(self.want),
            // Other classes lend to this class, up to its ceiling.
            std::cmp::Ordering::Less => self.ceil.min(self.want),
            // This class lends only at a later step.
            std::cmp::Ordering::Greater => self.want,
        };
        (most - self.got).max(0.0)
    }

    /// Returns `step` for the inner classes. They can use at most the rate of this class.
    fn lent(&self, step: Step) -> Step {
        let is_lender = self.level == step.level;
        Step { left: if is_lender { step.left.min(self.room(step)) } else { step.left }, ..step }
    }

    /// Returns the inner classes that `step` may reach.
    fn reached(&self, step: Step) -> impl Iterator<Item = &Node> {
        self.inner.iter().filter(move |node| self.reaches(node, step))
    }

    fn reaches(&self, node: &Node, step: Step) -> bool {
        let lends = step.level == 0 || (self.level <= step.level && self.level <= HTB_OUTERMOST);
        !node.is_direct && (node.level > 0 || (lends && node.priority == step.priority))
    }

    /// Returns the number of classes with tokens for `step` that can still send. They send in turns, which
    /// small bursts shorten.
    fn lenders(&self, step: Step) -> usize {
        let of_node = |node: &Node| {
            if node.room(step) <= LEAST * step.left {
                0
            } else if node.level > step.level {
                node.lenders(step)
            } else {
                usize::from(node.level == 0 || node.has_room_inside(step))
            }
        };
        self.reached(step).map(of_node).sum()
    }

    /// Whether an inner class has room for the rate that this class lends at `step`.
    fn has_room_inside(&self, step: Step) -> bool {
        self.reached(step).any(|node| {
            node.room(step) > LEAST * step.left && (node.level == 0 || node.has_room_inside(step))
        })
    }

    /// Marks approximate rates. If `step` serves a class to which an inner class also lends, the end of the
    /// turn at the inner class also ends the turn at `step`. The rates of all classes that `step` serves are
    /// then approximate.
    fn mark_borrowers(&mut self, step: Step) {
        if self.level == step.level && self.borrows_again(step) {
            self.mark(step);
        }
        let may_lend = |node: &&mut Node| node.level > 0 && node.level >= step.level;
        self.inner.iter_mut().filter(may_lend).for_each(|node| node.mark_borrowers(step));
    }

    fn borrows_again(&self, step: Step) -> bool {
        let with_room = self.reached(step).filter(|node| node.room(step) > LEAST * step.left);
        with_room.into_iter().any(|node| node.has_borrowed || node.borrows_again(step))
    }

    /// Marks the rates of the classes that `step` serves as approximate.
    fn mark(&mut self, step: Step) {
        for index in 0..self.inner.len() {
            if self.reaches(&self.inner[index], step) && self.inner[index].room(step) > LEAST * step.left {
                let node = &mut self.inner[index];
                node.is_approximate = true;
                node.mark(step);
            }
        }
    }

    /// Returns the rate of this class at `step` if each byte of a quantum has the rate `depth`.
    fn taken(&self, step: Step, depth: f64) -> Line {
        let room = self.room(step);
        let line = if self.level == 0 {
            Line { fixed: 0.0, slope: self.turn(step, self.quantum) }
        } else {
            let part = self.part(step);
            let inside = self.taken_inside(step, part * depth);
            Line { slope: part * inside.slope, ..inside }
        };
        if line.fixed + line.slope * depth >= room { Line { fixed: room, slope: 0.0 } } else { line }
    }

    /// Returns the bytes of `turn` that this class sends at a visit before its bucket is empty. The rest of
    /// the turn is sent at the next visits.
    fn turn(&self, step: Step, turn: f64) -> f64 {
        let run = |rate: f64, burst: f64| {
            let refilled = (rate - self.got).max(0.0) / step.left;
            if refilled < 1.0 { burst / (1.0 - refilled) } else { f64::INFINITY }
        };
        let run = match self.level.cmp(&step.level) {
            std::cmp::Ordering::Equal => run(self.rate, self.burst).min(run(self.ceil, self.ceil_burst)),
            std::cmp::Ordering::Less => run(self.ceil, self.ceil_burst),
            std::cmp::Ordering::Greater => f64::INFINITY,
        };
        turn / (turn / run).ceil().max(1.0)
    }

    /// Returns the share of this class in the turns of a visit.
    fn part(&self, step: Step) -> f64 {
        let turns = self.turns(step);
        if turns > 0.0 { self.turn(step, turns) / turns } else { 1.0 }
    }

    /// Returns the bytes of one turn of all inner classes that `step` reaches.
    fn turns(&self, step: Step) -> f64 {
        let step = self.lent(step);
        let turn = |node: &Node| match node.level {
            0 => node.turn(step, node.quantum),
            _ => node.turn(step, node.turns(step)),
        };
        self.reached(step).map(turn).sum()
    }

    fn taken_inside(&self, step: Step, depth: f64) -> Line {
        let add =
            |sum: Line, line: Line| Line { fixed: sum.fixed + line.fixed, slope: sum.slope + line.slope };
        let step = self.lent(step);
        let lines = self.reached(step).map(|node| node.taken(step, depth));
        lines.fold(Line { fixed: 0.0, slope: 0.0 }, add)
    }

    /// Divides at most `rate` among the inner classes at `step`. Returns the rate that they use.
    fn pour(&mut self, step: Step, rate: f64) -> f64 {
        // The rate of the inner classes is a concave function of depth. Therefore, no tangent leads to a
        // depth that is too large, and each tangent fills at least one class.
        let step = self.lent(step);
        let mut depth = 0.0;
        loop {
            let line = self.taken_inside(step, depth);
            if line.slope <= 0.0 {
                depth = f64::INFINITY;
                break;
            }
            let next = (rate - line.fixed) / line.slope;
            if next <= depth {
                break;
            }
            depth = next;
        }
        let mut sum = 0.0;
        for index in 0..self.inner.len() {
            if !self.reaches(&self.inner[index], step) {
                continue;
            }
            let node = &mut self.inner[index];
            let taken = if node.level == 0 {
                node.room(step).min(node.turn(step, node.quantum) * depth)
            } else {
                let depth = node.part(step) * depth;
                let line = node.taken_inside(step, depth);
                let most = if depth.is_finite() { line.fixed + line.slope * depth } else { f64::INFINITY };
                node.pour(step, node.room(step).min(most))
            };
            node.got += taken;
            node.has_borrowed |= node.level == 0 && step.level > 0 && taken > 0.0;
            sum += taken;
        }
        sum
    }
}
