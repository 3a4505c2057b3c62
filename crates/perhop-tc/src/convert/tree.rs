//! Conversion of classful disciplines to schedulers with their classes.

use perhop_device::intent::At;
use perhop_qos::buffer::BufferConfig;
use perhop_qos::classifier::MatchConfig;
use perhop_qos::policy::{ClassConfig, QueueingConfig};
use perhop_qos::scheduler::{SchedulerConfig, ShapeConfig, ShapeForm};
use perhop_qos::{ByteSize, QueueSize, Rate, Time};

use super::branch::{Branch, Branches, Demands, shaper};
use super::buffers::{self, Above};
use super::class_tree::{MOST_LEVELS, nested_too_deeply};
use super::classes::{MOST_RULES, Rule, joined};
use super::policers::{Policers, acts_below_root, but_not};
use crate::log::Log;
use crate::model::{Device, Place, Qdisc};
use crate::options::{Options, Value};
use crate::rules;
use crate::units::shown_id;

/// The queues of a device.
pub(super) struct Tree<'a> {
    pub(super) device: &'a Device,
    pub(super) log: &'a mut Log,
    /// The rate of the outermost shaper.
    pub(super) bandwidth: Option<Rate>,
    /// The number of enclosing disciplines and classes of the current discipline.
    pub(super) depth: usize,
    /// Number of visited disciplines.
    pub(super) entered: usize,
    /// The policers at the filters of classes.
    pub(super) policers: Policers,
    /// Whether filters below the root have actions.
    acts_below_root: bool,
}

/// The fastest and the slowest timer of Linux, ticks per second (`kernel/Kconfig.hz`). tc-tbf(8) requires a
/// burst of at least the rate times the tick.
const FASTEST_TIMER_HZ: u64 = 1000;
const SLOWEST_TIMER_HZ: u64 = 100;

/// The target of packets that match no filter, or whose filter selects no queue.
pub(super) const DEFAULT: u32 = 0;

/// Returns the overhead of a discipline's size table, bytes.
pub(super) fn stab(qdisc: &Qdisc) -> Option<i64> {
    let stab = match qdisc.stab.as_ref()?.value("overhead") {
        Some(Value::Signed(bytes)) => *bytes,
        _ => 0,
    };
    Some(stab)
}

impl<'a> Tree<'a> {
    /// Creates the tree of `device`.
    pub(super) fn new(device: &'a Device, log: &'a mut Log) -> Tree<'a> {
        let (policers, acts_below_root) = (Policers::default(), acts_below_root(device));
        Tree { device, log, bandwidth: None, depth: 0, entered: 0, policers, acts_below_root }
    }

    /// Converts the content of a class with `read`. The packets of the class match `own` and no rule of
    /// `before`.
    pub(super) fn inside<T>(
        &mut self,
        own: Option<&MatchConfig>,
        before: impl Iterator<Item = MatchConfig>,
        read: impl FnOnce(&mut Self) -> T,
    ) -> T {
        if !self.acts_below_root {
            return read(self);
        }
        let around = self.policers.around.len();
        let not = but_not(before.collect());
        self.policers.around.extend(own.cloned().into_iter().chain(not));
        let found = read(self);
        self.policers.around.truncate(around);
        found
    }

    /// Converts the discipline at the root. Returns `None` if the device has the default discipline.
    pub(super) fn branches(&mut self) -> Option<Branches> {
        let root = self.device.root()?;
        if let Some(scheduling) = self.scheduling(root) {
            return Some(scheduling);
        }
        let config = ClassConfig { name: root.kind.name.to_owned(), ..ClassConfig::default() };
        let mut class = Branch { config, demands: Demands::at(root.line), inside: None };
        let is_known = self.fill(&mut class, root, Above::Device);
        is_known.then(|| Branches::new(root, QueueingConfig::default(), vec![class]))
    }

    /// Converts a classful discipline.
    pub(super) fn scheduling(&mut self, qdisc: &Qdisc) -> Option<Branches> {
        match qdisc.kind.name {
            "prio" | "pfifo_fast" => Some(self.bands(qdisc)),
            "ets" => Some(self.ets(qdisc)),
            "drr" => self.tree(qdisc, SchedulerConfig::Drr),
            "htb" => self.tree(qdisc, SchedulerConfig::Htb),
            "hfsc" => self.tree(qdisc, SchedulerConfig::Hfsc),
            _ => None,
        }
    }

    /// Adds a discipline to a class. Returns `false` if it is not modeled.
    fn fill(&mut self, class: &mut Branch, qdisc: &Qdisc, above: Above) -> bool {
        class.demands.others.push(qdisc.line);
        class.demands.queue = qdisc.line;
        match qdisc.kind.name {
            "tbf" => self.tbf(class, qdisc),
            "mq" => {
                let first = self.device.qdiscs.iter().find(|candidate| is_below(candidate, qdisc));
                first.is_some_and(|first| self.fill_with_any(class, first, above))
            }
            "sfq" => {
                class.config.fair_queueing = Some(buffers::sfq(qdisc, self.log));
                true
            }
            _ => {
                let buffer = buffers::from_qdisc(qdisc, self.device, above, self.log);
                let is_known = buffer.is_some();
                if let Some(BufferConfig::Cake(cake)) = &buffer {
                    self.bandwidth = self.bandwidth.or(cake.bandwidth);
                }
                class.config.buffer = buffer.or_else(|| Some(self.usual()));
                is_known
            }
        }
    }

    pub(super) fn fill_with_any(&mut self, class: &mut Branch, qdisc: &Qdisc, above: Above) -> bool {
        // In an edited output of `tc`, disciplines can contain each other. The limit ends the recursion.
        self.entered += 1;
        if self.depth + 1 >= MOST_LEVELS || self.entered > self.device.qdiscs.len() {
            let what = nested_too_deeply();
            self.log.not_modelled(qdisc.line, format!("{what}: at most {MOST_LEVELS} levels are modeled"));
            class.config.buffer = Some(self.usual());
            return false;
        }
        self.depth += 1;
        let is_known = match self.scheduling(qdisc) {
            Some(inner) => {
                class.demands.others.push(qdisc.line);
                class.inside = Some(inner);
                true
            }
            None => self.fill(class, qdisc, above),
        };
        self.depth -= 1;
        is_known
    }

    /// Returns the default queue of a class: `pfifo_qdisc_ops`.
    pub(super) fn usual(&self) -> BufferConfig {
        buffers::tail_drop(QueueSize::Packets(self.device.tx_queue_len()))
    }

    /// Adds the content of the class `id`.
    pub(super) fn fill_class(&mut self, class: &mut Branch, id: u32, above: Above) {
        match self.device.child(id) {
            Some(child) => {
                self.fill_with_any(class, child, above);
            }
            None => class.config.buffer = Some(self.usual()),
        }
    }

    /// Converts `sch_tbf.c`: a token bucket, initially full, in front of one queue.
    fn tbf(&mut self, class: &mut Branch, qdisc: &Qdisc) -> bool {
        let options = &qdisc.options;
        let Some(rate) = self.rate(qdisc.line, options, "rate") else { return false };
        let burst = options.number("burst").unwrap_or(0);
        let bytes = |time: Time| (rate as f64 / 8.0 * time.as_seconds()) as u64 + burst;
        // `q_tbf.c`: limit = rate × latency + burst.
        let latency = options.time("latency").or_else(|| options.time("lat"));
        let limit = options.number("limit").or_else(|| latency.map(bytes)).unwrap_or(burst);
        if burst < self.device.frame() {
            let frame = self.device.frame();
            let message =
                format!("a burst of {burst} bytes is shorter than the longest frame, {frame} bytes");
            let linux = format!("Linux drops every packet longer than the burst: write {frame} or more");
            self.log.found(&rules::TC_LONG_PACKETS_DROPPED, qdisc.line, message, linux);
        } else {
            self.small_bucket(qdisc, rate, burst);
        }
        self.bandwidth.get_or_insert(Rate::from_bits_per_second(rate));
        class.demands.shape = Some(At::new(qdisc.line, shaper(rate, Some(burst))));
        class.config.shape = Some(ShapeConfig {
            rate: Rate::from_bits_per_second(rate),
            burst: ByteSize::from_bytes(burst),
            excess: ByteSize::from_bytes(0),
            form: ShapeForm::Average,
        });
        let device = self.device;
        match device.qdiscs.iter().find(|candidate| is_below(candidate, qdisc)) {
            Some(child) => {
                self.log.note(
                    qdisc.line,
                    "the limit of tbf has no effect: the limit of the discipline inside it applies",
                );
                self.fill_with_any(class, child, Above::Class);
            }
            None => class.config.buffer = Some(buffers::tail_drop(QueueSize::Bytes(limit.max(1)))),
        }
        true
    }

    /// Reports a bucket of tbf that is smaller than the tokens of one timer tick.
    fn small_bucket(&mut self, qdisc: &Qdisc, rate: u64, burst: u64) {
        let needed = rate / 8 / FASTEST_TIMER_HZ;
        if burst >= needed {
            return;
        }
        let lasts_ms = burst as f64 * 8e3 / rate as f64;
        let message = format!(
            "a burst of {burst} bytes is {lasts_ms:.2} ms of {}, on {}",
            Rate::from_bits_per_second(rate),
            self.device.name
        );
        let linux = format!(
            "Linux may not reach the rate, but perhop does: write a burst of at least rate / HZ, {needed} \
             bytes at {FASTEST_TIMER_HZ} Hz or {} at {SLOWEST_TIMER_HZ} Hz",
            rate / 8 / SLOWEST_TIMER_HZ
        );
        self.log.found(&rules::TC_TBF_BURST_SMALL, qdisc.line, message, linux);
    }

    /// Returns a rate in bits per second; `None` for a fraction of the device's speed, which is unknown.
    pub(super) fn rate(&mut self, line: usize, options: &Options, name: &str) -> Option<u64> {
        match options.value(name)? {
            Value::Rate(bits) if *bits > 0 => Some(*bits),
            Value::Rate(_) => {
                self.log.found(
                    &rules::TC_COMMAND_REFUSED,
                    line,
                    format!("`{name}` is 0"),
                    "Linux refuses the command",
                );
                None
            }
            _ => {
                let why = "perhop does not know the device's speed: write a rate instead of a percentage";
                self.log.not_modelled(line, format!("`{name}`: {why}"));
                None
            }
        }
    }

    /// Returns the rules of the filters at a discipline, including filters at inner classes.
    pub(super) fn rules(&mut self, qdisc: &Qdisc) -> Vec<Rule> {
        let mut found = Vec::new();
        self.rules_at(qdisc, qdisc.handle, None, &mut found, 0);
        if found.len() > MOST_RULES {
            let note = format!(
                "the device has more than {MOST_RULES} filters; perhop ignores the filters above this number"
            );
            self.log.not_modelled(qdisc.line, note);
            found.truncate(MOST_RULES);
        }
        joined(found)
    }

    fn rules_at(
        &mut self,
        qdisc: &Qdisc,
        parent: u32,
        outer: Option<&Rule>,
        found: &mut Vec<Rule>,
        depth: usize,
    ) {
        for filter in qdisc.filters_at(parent) {
            if filter.chain != 0 {
                continue;
            }
            let line = filter.line();
            let target = self.target(qdisc, filter.class.unwrap_or(0), line);
            let Some(rule) = Rule::new(&filter.condition, target) else { continue };
            let rule = match outer {
                Some(outer) => match rule.within(outer) {
                    Some(rule) => rule,
                    None => continue,
                },
                None => rule,
            };
            let rule = if filter.actions.is_empty() {
                rule
            } else {
                match self.acted(qdisc, filter, rule, found) {
                    Some(rule) => rule,
                    None => continue,
                }
            };
            let id = filter.class.unwrap_or(0);
            let is_inner = qdisc.classes.iter().any(|class| class.parent == Some(id));
            if is_inner && depth < 8 && id != parent {
                self.rules_at(qdisc, id, Some(&rule), found, depth + 1);
                found.push(Rule { target: DEFAULT, ..rule });
            } else {
                found.push(rule);
            }
        }
    }

    /// Returns the target of a filter.
    fn target(&mut self, qdisc: &Qdisc, id: u32, line: usize) -> u32 {
        let is_band = |most: u64| (1..=most).contains(&u64::from(id & 0xffff));
        let is_there = match qdisc.kind.name {
            "prio" => is_band(qdisc.options.number("bands").unwrap_or(3)),
            "ets" => is_band(16),
            _ => qdisc.class(id).is_some(),
        };
        if is_there {
            return if id >> 16 == 0 { qdisc.handle | id } else { id };
        }
        let message = format!("qdisc {} has no class {}", shown_id(qdisc.handle), shown_id(id));
        self.log.found(
            &rules::TC_FILTER_WITHOUT_CLASS,
            line,
            message,
            "Linux sends these packets to the default class or drops them",
        );
        DEFAULT
    }
}

/// Whether the discipline `inner` is attached to a class of `qdisc`.
fn is_below(inner: &Qdisc, qdisc: &Qdisc) -> bool {
    let Place::Class(id) = inner.place else { return false };
    // `show` prints handle 0 for mq, whose children are in :1, :2 and so on.
    id & 0xffff_0000 == qdisc.handle || (qdisc.kind.name == "mq" && id >> 16 == 0)
}
