//! The queues of a port and their scheduler.
//!
//! ```text
//! with priority classes:   strict priority ─┬─ priority ─ FIFO ─ the priority classes, policed
//!                                           └─ others ─┐
//! without:                                             └─ SCFQ ─ the other classes, class-default last
//! ```

use perhop_qos::buffer::{BufferConfig, TailDropConfig};
use perhop_qos::classifier::MatchConfig;
use perhop_qos::policer::{PoliceConfig, PoliceWhen};
use perhop_qos::policy::{ClassConfig, QueueingConfig};
use perhop_qos::scheduler::{SchedulerConfig, ShareConfig};
use perhop_qos::units::QueueSize;
use perhop_qos::{ByteSize, Rate};

use super::Context;
use super::bandwidth::{Reservations, bytes_in, priority_rate, shaper};
use super::circuit::Circuit;
use super::condition::{Condition, of_class};
use super::conditioners::{DEEPEST, matches};
use super::plain_queue::fair_queueing;
use super::random_detect::wred;
use crate::ast::{AtmService, CLASS_DEFAULT, Interface, PolicyClass, PolicyMap, QueueLimit};
use crate::diagnostic::Diagnostic;

/// What a port queues by, and the policy that stays attached to it.
pub(super) struct Queueing<'a> {
    pub(super) config: QueueingConfig,
    pub(super) policy: Option<&'a PolicyMap>,
}

/// The classes of a policy by what they ask for, each with the packets that are its own.
struct Sorted<'a> {
    priorities: Vec<(&'a PolicyClass, Option<MatchConfig>)>,
    others: Vec<(&'a PolicyClass, Option<MatchConfig>)>,
    default: Default<'a>,
}

/// Whether packets are left for class-default.
enum Default<'a> {
    /// They are; the policy may say something about it.
    Takes(Option<&'a PolicyClass>),
    /// A class before it takes them all.
    Unreached,
}

/// Burst of a priority class's policer where nothing is said: 200 milliseconds of its rate.
const PRIORITY_BURST_MICROSECONDS: u64 = 200_000;

impl<'a> Context<'a> {
    /// What `circuit` queues by.
    pub(super) fn queueing(&mut self, interface: &'a Interface, circuit: &Circuit<'a>) -> Queueing<'a> {
        let attached = self.attached(interface, circuit, |policies| &policies.output);
        let policy = attached.and_then(|at| {
            let policy = self.configuration.policy_maps.get(&at.value)?;
            self.may_be_attached(interface, circuit, policy, at.line).then_some(policy)
        });
        let queueing = policy.filter(|policy| self.queues(policy, 0));
        let config = queueing.map(|policy| {
            let percent = interface.max_reserved_bandwidth.map(|percent| percent.value);
            self.of_policy_map(
                policy,
                circuit.bandwidth,
                percent.unwrap_or(self.platform.reservable_percent),
                0,
            )
        });
        Queueing { config: config.unwrap_or_else(|| self.without_classes(interface, circuit)), policy }
    }

    /// Whether `policy`, or one inside it, queues.
    fn queues(&self, policy: &PolicyMap, depth: usize) -> bool {
        let inside = |class: &PolicyClass| {
            let name = class.service_policy.as_ref().filter(|_| depth < DEEPEST)?;
            self.configuration.policy_maps.get(&name.value)
        };
        let mut classes = policy.classes.iter();
        classes
            .any(|class| class.queues() || inside(class).is_some_and(|policy| self.queues(policy, depth + 1)))
    }

    /// Whether the router attaches `policy`: what its classes reserve must be there.
    fn may_be_attached(
        &mut self,
        interface: &Interface,
        circuit: &Circuit,
        policy: &PolicyMap,
        line: usize,
    ) -> bool {
        let reserving: Vec<&PolicyClass> = policy
            .classes
            .iter()
            .filter(|class| {
                class.name == CLASS_DEFAULT || self.configuration.class_maps.get(&class.name).is_some()
            })
            .collect();
        let reserves = reserving.iter().any(|class| class.bandwidth.is_some() || class.priority.is_some());
        let unspecified = circuit.pvc.is_some_and(|pvc| {
            let service = pvc.service.map(|service| service.value).unwrap_or_default();
            matches!(service, AtmService::Ubr(_) | AtmService::Unspecified)
        });
        if reserves && unspecified {
            self.found.push(Diagnostic::error(
                line,
                format!("policy {} reserves bandwidth on a circuit without a guaranteed rate", policy.name),
                "the router refuses the line: no policy applies here; give the circuit vbr-nrt or cbr",
            ));
            return false;
        }
        let percent = interface.max_reserved_bandwidth.map(|percent| percent.value);
        let percent = percent.unwrap_or(self.platform.reservable_percent);
        let reservations = Reservations::of(&reserving, circuit.bandwidth, percent);
        if reservations.total() > reservations.reservable {
            self.found.push(Diagnostic::error(
                line,
                format!(
                    "policy {} reserves {} kb/s, but only {} kb/s are available: {percent} % of {}",
                    policy.name,
                    reservations.total() / 1000,
                    reservations.reservable / 1000,
                    circuit.bandwidth
                ),
                "the router refuses the line: no policy applies here; max-reserved-bandwidth or bandwidth raises the limit",
            ));
            return false;
        }
        true
    }

    /// The classes of `policy` on a circuit of `bandwidth`, `percent` of which may be reserved.
    fn of_policy_map(
        &mut self,
        policy: &PolicyMap,
        bandwidth: Rate,
        percent: u64,
        depth: usize,
    ) -> QueueingConfig {
        let classes = self.classes(policy);
        let all: Vec<&PolicyClass> = classes.iter().map(|(class, _)| *class).collect();
        let reservations = Reservations::of(&all, bandwidth, percent);
        let Sorted { priorities, others, default } = self.sorted(classes);
        let mut configs = Vec::with_capacity(others.len() + 1);
        for (class, matches) in others {
            let share = class.bandwidth.map(|bandwidth| reservations.share(bandwidth.value));
            let share =
                ShareConfig { bandwidth: share.map(Rate::from_bits_per_second), ..ShareConfig::default() };
            configs.push(self.class(class, matches, share, bandwidth, depth));
        }
        if let Default::Takes(class) = default {
            configs.push(self.class_default(class, &reservations, bandwidth, depth));
        }
        let weighted = weigh(configs, &reservations, self.platform.least_default_percent);
        self.under_priority(&priorities, weighted, bandwidth)
    }

    /// Which classes have priority, which have a queue of their own, and whether class-default gets anything.
    fn sorted<'p>(&mut self, classes: Vec<(&'p PolicyClass, Condition)>) -> Sorted<'p> {
        let mut sorted = Sorted { priorities: Vec::new(), others: Vec::new(), default: Default::Takes(None) };
        let (mut before, mut shared) = (Vec::new(), Vec::new());
        let mut taken_by: Option<&PolicyClass> = None;
        for (class, condition) in classes {
            if let Some(other) = taken_by {
                self.unreached(class, other);
                continue;
            }
            if class.name == CLASS_DEFAULT {
                sorted.default = Default::Takes(Some(class));
                continue;
            }
            // A class without a share of its own waits in class-default's queue.
            let own_queue =
                class.bandwidth.is_some() || class.shape.is_some() || class.service_policy.is_some();
            let takes_all = condition == Condition::Always;
            if class.priority.is_some() {
                let own = condition.but_not(&before);
                sorted.priorities.extend(matches(own).map(|matches| (class, matches)));
            } else if own_queue {
                let own = condition.clone().but_not(&shared);
                sorted.others.extend(matches(own).map(|matches| (class, matches)));
                before.push(condition);
            } else {
                before.push(condition.clone());
                shared.push(condition);
            }
            if takes_all {
                taken_by = Some(class);
                if class.priority.is_some() || own_queue {
                    sorted.default = Default::Unreached;
                }
            }
        }
        sorted
    }

    fn unreached(&mut self, class: &PolicyClass, other: &PolicyClass) {
        if class.name != CLASS_DEFAULT {
            self.found.push(Diagnostic::warning(
                class.line,
                format!("no packet reaches class {}: class {} matches every packet", class.name, other.name),
                "the router accepts the line; the class stays empty",
            ));
        }
    }

    /// The classes whose class-map is there, each with the packets that are its own.
    fn classes<'p>(&self, policy: &'p PolicyMap) -> Vec<(&'p PolicyClass, Condition)> {
        let condition = |class: &'p PolicyClass| Some((class, of_class(self.configuration, &class.name)?));
        policy.classes.iter().filter_map(condition).collect()
    }

    /// A class with a queue of its own; its share is still to be weighed.
    fn class(
        &mut self,
        class: &PolicyClass,
        matches: Option<MatchConfig>,
        share: ShareConfig,
        bandwidth: Rate,
        depth: usize,
    ) -> ClassConfig {
        let shape = class.shape.map(|shape| shaper(&shape.value, bandwidth));
        let rate = shape.map(|shape| shape.rate).or(share.bandwidth).unwrap_or(bandwidth);
        let mut config =
            ClassConfig { name: class.name.clone(), matches, share, shape, ..ClassConfig::default() };
        let inside = class.service_policy.as_ref().filter(|_| depth < DEEPEST);
        let inside = inside.and_then(|at| self.configuration.policy_maps.get(&at.value));
        if let Some(policy) = inside.filter(|policy| self.queues(policy, depth + 1)) {
            // Inside a shaped class all of its rate may be reserved.
            config.queueing = Some(self.of_policy_map(policy, rate, 100, depth + 1));
        } else {
            self.fill(&mut config, class, rate);
        }
        config
    }

    /// class-default, which may stand in the policy or not.
    fn class_default(
        &mut self,
        class: Option<&PolicyClass>,
        reservations: &Reservations,
        bandwidth: Rate,
        depth: usize,
    ) -> ClassConfig {
        let unsaid = PolicyClass { name: CLASS_DEFAULT.to_owned(), ..PolicyClass::default() };
        let class = class.unwrap_or(&unsaid);
        let share = class.bandwidth.map(|bandwidth| reservations.share(bandwidth.value));
        let share = share.unwrap_or_else(|| reservations.left(self.platform.least_default_percent));
        let share =
            ShareConfig { bandwidth: Some(Rate::from_bits_per_second(share)), ..ShareConfig::default() };
        self.class(class, None, share, bandwidth, depth)
    }

    /// What a class's queue is like, on which `rate` is served.
    fn fill(&self, config: &mut ClassConfig, class: &PolicyClass, rate: Rate) {
        let limit = class.queue_limit.map(|limit| queue_size(limit.value, rate));
        if let Some(detect) = &class.random_detect {
            let condition = Condition::of(config.matches.as_ref());
            let (buffer, precedence) = wred(&detect.value, &condition, limit, self.platform);
            (config.buffer, config.precedence) = (Some(buffer), precedence);
        } else if class.fair_queue.is_none() {
            let limit = limit.unwrap_or(QueueSize::Packets(self.platform.queue_limit));
            config.buffer = Some(BufferConfig::TailDrop(TailDropConfig { limit }));
        }
        if let Some(fair) = class.fair_queue {
            let flows = fair_queueing(&fair.value, limit.map(QueueSize::count), self.platform.queue_limit);
            config.fair_queueing = Some(flows);
        }
    }

    /// `others` under the priority classes, where there are any.
    fn under_priority(
        &self,
        priorities: &[(&PolicyClass, Option<MatchConfig>)],
        others: QueueingConfig,
        bandwidth: Rate,
    ) -> QueueingConfig {
        let mut classes = Vec::new();
        for level in 1..=2 {
            let of_level = priorities
                .iter()
                .filter(|(class, _)| class.priority.is_some_and(|priority| priority.value.level == level));
            let queues: Vec<ClassConfig> =
                of_level.map(|(class, matches)| self.priority(class, matches.clone(), bandwidth)).collect();
            let name = if level == 1 { "priority" } else { "priority level 2" };
            match queues.len() {
                0 => {}
                1 => classes.extend(queues),
                // The router has one priority queue, whatever class its packets belong to.
                _ => classes.push(ClassConfig {
                    name: name.to_owned(),
                    matches: Some(any_of(&queues)),
                    queueing: Some(QueueingConfig { scheduler: SchedulerConfig::Fifo, classes: queues }),
                    ..ClassConfig::default()
                }),
            }
        }
        if classes.is_empty() {
            return others;
        }
        if others.classes.is_empty() {
            return QueueingConfig { scheduler: SchedulerConfig::Priority, classes };
        }
        let name = "others".to_owned();
        classes.push(ClassConfig { name, queueing: Some(others), ..ClassConfig::default() });
        QueueingConfig { scheduler: SchedulerConfig::Priority, classes }
    }

    fn priority(&self, class: &PolicyClass, matches: Option<MatchConfig>, bandwidth: Rate) -> ClassConfig {
        let mut config = ClassConfig { name: class.name.clone(), matches, ..ClassConfig::default() };
        let priority = class.priority.map(|priority| priority.value);
        let rate = priority.and_then(|priority| priority_rate(priority.rate, bandwidth));
        config.police = rate.map(|rate| {
            let default = || bytes_in(rate, PRIORITY_BURST_MICROSECONDS).max(1);
            let burst = priority.and_then(|priority| priority.burst).unwrap_or_else(default);
            PoliceConfig { rate, burst: ByteSize::from_bytes(burst), when: PoliceWhen::Congested }
        });
        self.fill(&mut config, class, rate.unwrap_or(bandwidth));
        config
    }
}

fn queue_size(limit: QueueLimit, rate: Rate) -> QueueSize {
    match limit {
        QueueLimit::Packets(packets) => QueueSize::Packets(packets),
        QueueLimit::Bytes(bytes) => QueueSize::Bytes(bytes),
        QueueLimit::Microseconds(span) => QueueSize::Bytes(bytes_in(rate, span).max(1)),
    }
}

/// The classes under SCFQ, each with a share: those that ask for none (they are only shaped) get as
/// little as class-default at least.
fn weigh(mut classes: Vec<ClassConfig>, reservations: &Reservations, least_percent: u64) -> QueueingConfig {
    let least = Rate::from_bits_per_second(reservations.least(least_percent));
    for class in &mut classes {
        class.share.bandwidth.get_or_insert(least);
    }
    QueueingConfig { scheduler: SchedulerConfig::Scfq, classes }
}

fn any_of(classes: &[ClassConfig]) -> MatchConfig {
    let any = classes.iter().filter_map(|class| class.matches.clone()).collect();
    MatchConfig { any: Some(any), ..MatchConfig::default() }
}
