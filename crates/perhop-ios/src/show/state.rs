//! The policies of a port with their counters, as in `show policy-map interface`.

use std::collections::{BTreeMap, BTreeSet};

use perhop_device::intent::{ClassId, Direction};
use perhop_device::show::{ColorCounters, CountedPort, QueueCounters, Traffic};
use perhop_device::{AttachedClass, AttachedPolicy, Combination, CountedBytes, Policer, PriorityLimit};
use perhop_qos::policy::QueueingConfig;
use perhop_qos::queue::PrecedenceSource;
use perhop_qos::{Color, DropCause, Dscp};

use super::early_drops::{EarlyDrops, early_drops};
use super::load_interval::averaged;

const CLASS_DEFAULT: &str = "class-default";
/// The causes of drops in queues.
const BY_QUEUE: [DropCause; 5] = [
    DropCause::QueueFull,
    DropCause::EarlyRandom,
    DropCause::EarlyForced,
    DropCause::SharedMemory,
    DropCause::PortMemory,
];

/// The counters of a queue, or the sums for all queues inside a class.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct QueueState {
    pub(super) depth: u64,
    pub(super) drops: Traffic,
    /// The drops at the flow limit; `None` without flow queues.
    pub(super) flow_drops: Option<u64>,
    pub(super) output: Traffic,
}

impl QueueState {
    /// Returns the sum of several queues; `None` for no queue.
    fn sum(queues: impl Iterator<Item = QueueState>) -> Option<QueueState> {
        queues.reduce(|sum, other| QueueState {
            depth: sum.depth + other.depth,
            drops: sum.drops + other.drops,
            flow_drops: None,
            output: sum.output + other.output,
        })
    }
}

/// The packets of one color of a policer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Policed {
    pub(super) traffic: Traffic,
    pub(super) bps: f64,
}

/// The counters of a policer.
#[derive(Clone, Copy, Debug)]
pub(super) struct PoliceState {
    pub(super) conformed: Policed,
    pub(super) exceeded: Policed,
    /// `None` if the policer has two colors.
    pub(super) violated: Option<Policed>,
}

/// A class with its counters.
#[derive(Clone, Debug)]
pub(super) struct ClassState<'a> {
    pub(super) config: &'a AttachedClass,
    /// All packets of the class before any drop; `None` if the run counts them only together with another
    /// class.
    pub(super) classified: Option<Traffic>,
    /// The packets that the conditioner, the queue and the nested classes of the class dropped.
    pub(super) dropped: Traffic,
    pub(super) offered_bps: f64,
    pub(super) drop_bps: f64,
    pub(super) queue: Option<QueueState>,
    /// Packets dropped by the priority policer.
    pub(super) exceed_drops: u64,
    pub(super) police: Option<PoliceState>,
    pub(super) early_drops: Option<EarlyDrops<'a>>,
    pub(super) policy: Option<PolicyState<'a>>,
}

/// A policy and its classes.
#[derive(Clone, Debug)]
pub(super) struct PolicyState<'a> {
    pub(super) config: &'a AttachedPolicy,
    /// The shared queues of priority levels.
    pub(super) priorities: Vec<(PriorityLimit, QueueState)>,
    pub(super) classes: Vec<ClassState<'a>>,
}

/// A port, and the options of its output.
#[derive(Clone, Copy)]
pub(super) struct Place<'a> {
    pub(super) port: &'a CountedPort<'a>,
    pub(super) interval_s: u64,
    pub(super) after_s: Option<f64>,
    pub(super) seen: &'a BTreeSet<Dscp>,
}

impl<'a> Place<'a> {
    /// Returns the attached policies with their counters.
    pub(super) fn policies(self) -> Vec<(Direction, PolicyState<'a>)> {
        let port = self.port.port;
        let sides = [
            (Direction::Input, port.input_policy(), &port.input),
            (Direction::Output, port.output_policy(), &port.output),
        ];
        let attached = sides.into_iter().filter_map(|(direction, policy, side)| {
            let mut sources = BTreeMap::new();
            add_sources(side.queueing.as_ref(), "", &mut sources);
            let counted = port.counted_bytes.unwrap_or_default();
            let counting = Counting { place: self, direction, counted, sources };
            Some((direction, counting.policy(policy?, counting.all())))
        });
        attached.collect()
    }
}

/// Adds the source of the drop precedence of each queue, by queue name in results.
fn add_sources<'a>(
    queueing: Option<&'a QueueingConfig>,
    prefix: &str,
    sources: &mut BTreeMap<String, &'a PrecedenceSource>,
) {
    for class in queueing.into_iter().flat_map(|queueing| &queueing.classes) {
        let name = format!("{prefix}{}", class.name);
        if let Some(inner) = &class.queueing {
            add_sources(Some(inner), &format!("{name}/"), sources);
        } else {
            sources.insert(name, &class.precedence);
        }
    }
}

struct Counting<'a> {
    place: Place<'a>,
    direction: Direction,
    counted: CountedBytes,
    sources: BTreeMap<String, &'a PrecedenceSource>,
}

impl<'a> Counting<'a> {
    /// Returns all packets that reach the policy, including dropped packets.
    fn all(&self) -> Option<Traffic> {
        let CountedPort { link_to, counters, .. } = self.place.port;
        let all = if self.direction == Direction::Input { counters.arrived } else { counters.handed };
        link_to.map(|_| all.with_overhead(self.counted.classes))
    }

    /// Returns a policy with its classes. `whole` has all packets of the policy, if their number is known.
    fn policy(&self, config: &'a AttachedPolicy, whole: Option<Traffic>) -> PolicyState<'a> {
        let mut classes: Vec<ClassState> = config.classes.iter().map(|class| self.class(class)).collect();
        if !config.classes.iter().any(|class| class.name == CLASS_DEFAULT) {
            // Every policy has class-default, and routers print it even if it is not configured.
            classes.push(self.class(unwritten_default()));
        }
        self.subtract_packets_of_other_classes(&mut classes);
        self.assign_remaining_packets(&mut classes, whole);
        PolicyState { config, priorities: priorities(config, &classes), classes }
    }

    /// If only one class has no counter, assigns the remaining packets of the policy to this class.
    fn assign_remaining_packets(&self, classes: &mut [ClassState], whole: Option<Traffic>) {
        let Some(whole) = whole else { return };
        let classified: Traffic = classes.iter().filter_map(|class| class.classified).sum();
        let mut uncounted = classes.iter_mut().filter(|class| class.classified.is_none());
        let (Some(class), None) = (uncounted.next(), uncounted.next()) else { return };
        // The queue of class-default also counts packets of classes without a queue.
        if self.direction == Direction::Input || class.config.name == CLASS_DEFAULT {
            class.classified = Some(whole - classified);
            self.set_rates(class);
        }
    }

    /// Subtracts the packets of other classes in the queue of class-default from the packets of
    /// class-default.
    ///
    /// A class without bandwidth, shaper or priority has no queue.
    fn subtract_packets_of_other_classes(&self, classes: &mut [ClassState]) {
        let is_guest = |class: &&ClassState| class.config.queue.is_none() && class.policy.is_none();
        let passed = |class: &ClassState| class.classified.map(|own| own - class.dropped);
        let guests: Traffic = classes.iter().filter(is_guest).filter_map(passed).sum();
        for class in classes.iter_mut().filter(|class| class.config.name == CLASS_DEFAULT) {
            if class.config.queue.is_some() && class.config.conditioner.is_none() {
                class.classified = class.classified.map(|own| own - guests);
                self.set_rates(class);
            }
        }
    }

    fn class(&self, config: &'a AttachedClass) -> ClassState<'a> {
        let stage = self.stage(config);
        let counters = self.counters(config, self.counted.classes);
        let arrived = (!counters.precedences.is_empty()).then(|| counters.sum(|counter| counter.arrived));
        let policy = config.policy.as_ref().map(|policy| self.policy(policy, arrived));
        let police = config.police.as_ref().map(|police| self.police(police, &stage));
        let policed = config.police.as_ref().zip(police).map(|(config, state)| dropped_by(config, state));
        let exceeded = counters.sum(|counter| counter.drops(&[DropCause::Policed]));
        let inner = || policy.iter().flat_map(|policy| &policy.classes);
        let queue = self.queue(config).or_else(|| QueueState::sum(inner().filter_map(|state| state.queue)));
        let classified = classified(config, &stage, &counters, policy.as_ref());
        let policed = if config.drop { classified } else { policed }.unwrap_or_default();
        let own = counters.sum(|counter| counter.drops(&BY_QUEUE));
        let inside: Traffic = inner().map(|state| state.dropped).sum();
        let mut state = ClassState {
            config,
            classified,
            dropped: policed + own + exceeded + inside,
            offered_bps: 0.0,
            drop_bps: 0.0,
            queue,
            exceed_drops: exceeded.packets,
            police,
            early_drops: self.early_drops(config),
            policy,
        };
        self.set_rates(&mut state);
        state
    }

    fn set_rates(&self, state: &mut ClassState) {
        state.offered_bps = state.classified.map_or(0.0, |traffic| self.bps(traffic));
        state.drop_bps = self.bps(state.dropped);
    }

    fn bps(&self, traffic: Traffic) -> f64 {
        let rate = self.place.port.counters.bits_per_second(traffic);
        averaged(rate, self.place.interval_s, self.place.after_s)
    }

    fn stage(&self, config: &AttachedClass) -> ColorCounters {
        let Some(name) = &config.conditioner else { return ColorCounters::new() };
        let counters = self.place.port.counters.stage(self.direction, name);
        let in_class =
            |(color, traffic): (Color, Traffic)| (color, traffic.with_overhead(self.counted.classes));
        counters.into_iter().map(in_class).collect()
    }

    /// Returns the counters of a class's queue, with `overhead` bytes per packet in addition to IP.
    fn counters(&self, config: &AttachedClass, overhead: i32) -> QueueCounters {
        let name = config.queue.as_deref();
        name.map(|name| self.place.port.counters.queue(name).with_overhead(overhead)).unwrap_or_default()
    }

    fn queue(&self, config: &AttachedClass) -> Option<QueueState> {
        config.queue.as_ref()?;
        let counters = self.counters(config, self.counted.queues);
        let [arrived, output] =
            [counters.sum(|counter| counter.arrived), counters.sum(|counter| counter.sent)];
        let drops = counters.sum(|counter| counter.drops(&BY_QUEUE));
        let full = counters.sum(|counter| counter.drops(&[DropCause::QueueFull]));
        let policed = counters.sum(|counter| counter.drops(&[DropCause::Policed]));
        let balance = (arrived - output - drops - policed).packets;
        Some(QueueState {
            depth: counters.sample.as_ref().map_or(balance, |sample| sample.packets),
            drops,
            flow_drops: config.fair_queue.map(|_| full.packets),
            output,
        })
    }

    fn police(&self, config: &Policer, stage: &ColorCounters) -> PoliceState {
        let policed = |colors: &[Color]| {
            let traffic = colors.iter().filter_map(|color| stage.get(color).copied()).sum();
            Policed { traffic, bps: self.bps(traffic) }
        };
        let conformed = policed(&[Color::GREEN]);
        if config.colors == 2 {
            let exceeded = policed(&[Color::YELLOW, Color::RED]);
            return PoliceState { conformed, exceeded, violated: None };
        }
        let (exceeded, violated) = (policed(&[Color::YELLOW]), Some(policed(&[Color::RED])));
        PoliceState { conformed, exceeded, violated }
    }

    fn early_drops(&self, config: &'a AttachedClass) -> Option<EarlyDrops<'a>> {
        let detect = config.random_detect.as_ref()?;
        let source = config.queue.as_ref().and_then(|name| self.sources.get(name).copied());
        let counters = self.counters(config, self.counted.queues);
        Some(early_drops(detect, &counters, source, self.place.seen))
    }
}

/// Returns the packets of the class: the counter of the nested policy, otherwise of the conditioner,
/// otherwise of the queue.
fn classified(
    config: &AttachedClass,
    stage: &ColorCounters,
    counters: &QueueCounters,
    inside: Option<&PolicyState>,
) -> Option<Traffic> {
    let parts = inside.map(|policy| policy.classes.iter().map(|class| class.classified));
    if let Some(sum) = parts.and_then(Iterator::sum::<Option<Traffic>>) {
        return Some(sum);
    }
    if config.conditioner.is_some() {
        return Some(stage.values().copied().sum());
    }
    config.queue.as_ref().map(|_| counters.sum(|counter| counter.arrived))
}

pub(super) fn dropped_by(config: &Policer, state: PoliceState) -> Traffic {
    let drops = |actions: &[String]| actions.iter().any(|action| action == "drop");
    let colors = [
        (Some(state.conformed), &config.conform),
        (Some(state.exceeded), &config.exceed),
        (state.violated, &config.violate),
    ];
    let dropped = colors.into_iter().filter(|(_, actions)| drops(actions));
    dropped.filter_map(|(policed, _)| policed.map(|policed| policed.traffic)).sum()
}

fn priorities(config: &AttachedPolicy, classes: &[ClassState]) -> Vec<(PriorityLimit, QueueState)> {
    let queue = |limit: &PriorityLimit| {
        let is_of = |class: &&ClassState| class.config.priority.is_some_and(|own| own.level == limit.level);
        QueueState::sum(classes.iter().filter(is_of).filter_map(|class| class.queue)).unwrap_or_default()
    };
    let shared = |queue: QueueState| QueueState { flow_drops: None, ..queue };
    config.priority_limits.iter().map(|limit| (*limit, shared(queue(limit)))).collect()
}

/// Returns class-default for a policy that does not configure this class.
fn unwritten_default() -> &'static AttachedClass {
    static DEFAULT: std::sync::LazyLock<AttachedClass> = std::sync::LazyLock::new(|| AttachedClass {
        id: ClassId(usize::MAX),
        name: CLASS_DEFAULT.to_owned(),
        line: 0,
        combination: Combination::MatchAny,
        matches: vec!["any".to_owned()],
        queue: None,
        conditioner: None,
        bandwidth: None,
        priority: None,
        police: None,
        shape: None,
        queue_limit: None,
        fair_queue: None,
        random_detect: None,
        marks: Vec::new(),
        drop: false,
        policy: None,
    });
    &DEFAULT
}
