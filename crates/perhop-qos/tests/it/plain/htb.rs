//! Hierarchical token bucket according to its rules. For each packet, the class that may send is computed
//! again from the modes and the backlogs of the classes. Only the turns are stored, as in Linux.
//!
//! The rules are those of `net/sched/sch_htb.c` of Linux 6.1. Times are whole nanoseconds.

use std::collections::{BTreeMap, VecDeque};

use perhop_qos::policy::QueueingConfig;
use perhop_qos::scheduler::{Cells, LinkLayerConfig, SchedulerConfig};
use perhop_qos::units::Rate;

const MINUTE: i64 = 60_000_000_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Cannot,
    May,
    Can,
}

struct Class {
    parent: Option<usize>,
    level: usize,
    queue: Option<usize>,
    rate: u64,
    ceil: u64,
    burst: i64,
    ceil_burst: i64,
    link: LinkLayerConfig,
    priority: usize,
    quantum: i64,
    tokens: i64,
    ceil_tokens: i64,
    checked: i64,
    mode: Mode,
    /// The time at which the mode of the class is checked next.
    due: Option<i64>,
    deficit: [i64; 8],
}

/// The classes that take turns at a priority: the classes of a level that may send, or the classes that
/// borrow from a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Ring {
    Row(usize, usize),
    Inside(usize, usize),
}

/// The class whose turn it is, and the class that left the ring during its turn.
#[derive(Clone, Copy, Debug, Default)]
struct Turn {
    at: Option<usize>,
    left: Option<usize>,
}

/// HTB and the queued packets. Classes are numbered in the order of the configuration, and each class
/// precedes its inner classes.
pub(crate) struct Plain {
    classes: Vec<Class>,
    queues: Vec<VecDeque<u32>>,
    direct: Option<usize>,
    turns: BTreeMap<Ring, Turn>,
}

/// The result of a call: the packet that is sent, or the time to wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    Sent(usize, u32),
    Wait(i64),
    Idle,
}

impl Plain {
    pub(crate) fn new(config: &QueueingConfig) -> Plain {
        let mut plain =
            Plain { classes: Vec::new(), queues: Vec::new(), direct: None, turns: BTreeMap::new() };
        plain.add(config, None, 7, u64::from(config.rate_to_quantum.unwrap_or(10)));
        plain
    }

    fn add(&mut self, config: &QueueingConfig, parent: Option<usize>, level: usize, divisor: u64) {
        assert_eq!(config.scheduler, SchedulerConfig::Htb);
        for class in &config.classes {
            let share = &class.share;
            if class.queueing.is_none() {
                self.queues.push(VecDeque::new());
            }
            let queue = class.queueing.is_none().then(|| self.queues.len() - 1);
            let Some(rate) = share.rate else {
                self.direct = queue;
                continue;
            };
            let ceil = share.ceil.unwrap_or(rate);
            let (rate, ceil) = (bytes(rate), bytes(ceil));
            let burst = |written: Option<u64>, rate: u64| {
                let bytes = written.unwrap_or(1600 + rate / 1_000_000_000);
                (bytes * 1_000_000 / rate * 1000 / 64 * 64).cast_signed()
            };
            let (burst, ceil_burst) = (
                burst(share.burst.map(perhop_qos::ByteSize::as_bytes), rate),
                burst(share.ceil_burst.map(perhop_qos::ByteSize::as_bytes), ceil),
            );
            let number = self.classes.len();
            self.classes.push(Class {
                parent,
                level: if queue.is_some() { 0 } else { level },
                queue,
                rate,
                ceil,
                burst,
                ceil_burst,
                link: share.link_layer.unwrap_or_default(),
                priority: share.level.unwrap_or(0).into(),
                quantum: share
                    .quantum
                    .map_or((rate / divisor).clamp(1000, 200_000), perhop_qos::ByteSize::as_bytes)
                    .cast_signed(),
                tokens: burst,
                ceil_tokens: ceil_burst,
                checked: 0,
                mode: Mode::Can,
                due: None,
                deficit: [0; 8],
            });
            if let Some(inner) = &class.queueing {
                self.add(inner, Some(number), level - 1, divisor);
            }
        }
    }

    /// Adds an arriving packet to `queue`.
    pub(crate) fn arrive(&mut self, queue: usize, length: u32) {
        self.changing(|plain| plain.queues[queue].push_back(length));
    }

    /// Returns the packet that the wire sends at `now` (nanoseconds), or the time until which it waits.
    pub(crate) fn next(&mut self, now: i64) -> Next {
        if let Some(direct) = self.direct
            && let Some(length) = self.queues[direct].pop_front()
        {
            return Next::Sent(direct, length);
        }
        if self.queues.iter().all(VecDeque::is_empty) {
            return Next::Idle;
        }
        for level in 0..8 {
            self.events(level, now);
            for priority in 0..8 {
                if !self.members(Ring::Row(level, priority)).is_empty() {
                    return self.send(now, level, priority);
                }
            }
        }
        Next::Wait(self.classes.iter().filter_map(|class| class.due).min().expect("a class waits for tokens"))
    }

    fn events(&mut self, level: usize, now: i64) {
        for number in 0..self.classes.len() {
            while self.classes[number].level == level
                && self.classes[number].due.is_some_and(|due| due <= now)
            {
                let since = (now - self.classes[number].checked).min(MINUTE);
                self.look(number, now, since);
            }
        }
    }

    /// Updates the mode of a class, and the time at which it is checked next.
    fn look(&mut self, number: usize, now: i64, since: i64) {
        let class = &self.classes[number];
        let (own, ceil) = (class.tokens + since, class.ceil_tokens + since);
        let (mode, wait) = match (own, ceil) {
            (_, ..0) => (Mode::Cannot, Some(-ceil)),
            (0.., _) => (Mode::Can, None),
            _ => (Mode::May, Some(-own)),
        };
        self.changing(|plain| plain.classes[number].mode = mode);
        self.classes[number].due = wait.map(|wait| (now + wait).max(now + 1));
    }

    fn send(&mut self, now: i64, level: usize, priority: usize) -> Next {
        let number = self.whose_turn(level, priority);
        let queue = self.classes[number].queue.unwrap();
        let length = self.queues[queue][0];
        let class = &mut self.classes[number];
        class.deficit[level] -= i64::from(length);
        if class.deficit[level] < 0 {
            class.deficit[level] += class.quantum;
            let ring = match class.parent {
                Some(parent) if level > 0 => Ring::Inside(parent, priority),
                _ => Ring::Row(0, priority),
            };
            self.pass(ring);
        }
        self.changing(|plain| plain.queues[queue].pop_front());
        let mut next = Some(number);
        while let Some(number) = next {
            self.charge(number, now, level, length);
            next = self.classes[number].parent;
        }
        Next::Sent(queue, length)
    }

    fn charge(&mut self, number: usize, now: i64, level: usize, length: u32) {
        let class = &mut self.classes[number];
        let since = (now - class.checked).min(MINUTE);
        class.tokens += since;
        if class.level >= level {
            class.tokens = class.tokens.min(class.burst) - takes(class.rate, class.link, length);
            class.tokens = class.tokens.max(1 - MINUTE);
        }
        class.ceil_tokens = (class.ceil_tokens + since).min(class.ceil_burst);
        class.ceil_tokens = (class.ceil_tokens - takes(class.ceil, class.link, length)).max(1 - MINUTE);
        class.checked = now;
        let (mode, due) = (class.mode, class.due);
        self.look(number, now, 0);
        // If the mode of a class does not change, the time of its next check does not change either.
        if self.classes[number].mode == mode {
            self.classes[number].due = due;
        }
    }

    /// Whether a class, or a class that borrows from it, has packets at `priority`.
    fn wants(&self, number: usize, priority: usize) -> bool {
        let class = &self.classes[number];
        match class.queue {
            Some(queue) => class.priority == priority && !self.queues[queue].is_empty(),
            None => !self.members(Ring::Inside(number, priority)).is_empty(),
        }
    }

    fn members(&self, ring: Ring) -> Vec<usize> {
        let is_in = |number: &usize| {
            let class = &self.classes[*number];
            match ring {
                Ring::Row(level, priority) => {
                    class.level == level && class.mode == Mode::Can && self.wants(*number, priority)
                }
                Ring::Inside(parent, priority) => {
                    class.parent == Some(parent) && class.mode == Mode::May && self.wants(*number, priority)
                }
            }
        };
        (0..self.classes.len()).filter(is_in).collect()
    }

    /// Makes a change and updates the turns. If the change removes the class whose turn it is, a row advances
    /// its turn at once, but a class stores the removed class.
    fn changing<T>(&mut self, change: impl FnOnce(&mut Plain) -> T) {
        change(self);
        let rings: Vec<Ring> = self.turns.keys().copied().collect();
        for ring in rings {
            let members = self.members(ring);
            let turn = self.turns.get_mut(&ring).unwrap();
            let Some(at) = turn.at.filter(|at| !members.contains(at)) else { continue };
            match ring {
                Ring::Row(..) => turn.at = members.into_iter().find(|member| *member > at),
                Ring::Inside(..) => *turn = Turn { at: None, left: Some(at) },
            }
        }
    }

    fn pass(&mut self, ring: Ring) {
        let members = self.members(ring);
        let turn = self.turns.get_mut(&ring).unwrap();
        turn.at = turn.at.and_then(|at| members.into_iter().find(|member| *member > at));
    }

    /// Follows the turns from a row to a class with a queue.
    fn whose_turn(&mut self, level: usize, priority: usize) -> usize {
        let mut path = vec![Ring::Row(level, priority)];
        loop {
            let ring = *path.last().unwrap();
            let members = self.members(ring);
            let turn = self.turns.entry(ring).or_default();
            if let (None, Some(left)) = (turn.at, turn.left) {
                turn.at = members.iter().copied().find(|member| *member >= left);
            }
            turn.left = None;
            if let Some(number) = turn.at {
                if self.classes[number].queue.is_some() {
                    return number;
                }
                path.push(Ring::Inside(number, priority));
                continue;
            }
            // All classes have had their turns. The turns of a row start again, and the turn of a class ends.
            turn.at = Some(members[0]);
            if path.len() > 1 {
                path.pop();
                self.pass(*path.last().unwrap());
            }
        }
    }
}

fn bytes(rate: Rate) -> u64 {
    rate.as_bits_per_second() / 8
}

/// The transmission time of a packet in nanoseconds, from 32 binary digits of the time per byte.
fn takes(rate: u64, link: LinkLayerConfig, length: u32) -> i64 {
    let counted = (length + u32::from(link.overhead)).max(link.minimum_packet_unit.into());
    let counted = match link.cells {
        Cells::None => counted,
        Cells::Atm => counted.div_ceil(48) * 53,
    };
    let (mut digits, mut scale) = (1_000_000_000 / u128::from(rate), 0);
    while digits < 1 << 31 && scale < 34 {
        scale += 1;
        digits = (1_000_000_000 << scale) / u128::from(rate);
    }
    ((u128::from(counted) * digits) >> scale) as i64
}
