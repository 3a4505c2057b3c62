//! [`Port`]: the bounds of every queue of one port.

use perhop_qos::accounting::Accounting;
use perhop_qos::buffer::BufferConfig;
use perhop_qos::policer::{PoliceConfig, PoliceWhen};
use perhop_qos::policy::{ClassConfig, QueueingConfig, WireConfig};
use perhop_qos::ring::{RingAdmission, RingConfig, RingRelease};
use perhop_qos::scheduler::{CapConfig, SchedulerConfig};
use perhop_qos::units::QueueSize;

use crate::arrival::Arrival;
use crate::capacity::{limits_of, limits_of_all};
use crate::guarantee::Guarantee;
use crate::lengths::{Lengths, Measure};
use crate::queue::{Queue, QueueBound};
use crate::rule::Rule;
use crate::schedule::{self, Above, Child, Levels, PICOSECOND};
use crate::service::Service;
use crate::shaping;
use crate::stream::{self, Stream};

/// One port and the arrivals at each of its queues.
#[derive(Clone, Debug)]
pub struct Port<'a> {
    /// The classes of the port. `None` means that the port has a single queue.
    pub queueing: Option<&'a QueueingConfig>,
    /// The wire of the port.
    pub wire: WireConfig,
    /// The bytes that the policy of the port counts.
    pub accounting: Accounting,
    /// The streams that arrive at each queue, in depth-first order of the queues.
    pub streams: Vec<Vec<Stream>>,
}

impl Port<'_> {
    /// Computes the bounds of the queues of the port. A queue without traffic has none.
    pub fn bounds(&self) -> Vec<Option<QueueBound>> {
        let mut bounds: Vec<Option<QueueBound>> = vec![None; self.streams.len()];
        let all: Vec<&Stream> = self.streams.iter().flatten().collect();
        let Some(lengths) = stream::lengths(all.iter().copied()) else { return bounds };
        let plain_class = ClassConfig::default();
        let leaves = match self.queueing {
            Some(config) => limits_of_all(config),
            None => vec![(&plain_class, limits_of(&plain_class))],
        };
        let above = self.above(&lengths);
        let mut walk = Walk { port: self, leaves: &leaves, bounds: &mut bounds };
        if self.wire.headers.fragmentation().is_some() {
            walk.set_unbounded(0..leaves.len(), "the link sends packets in fragments");
            return bounds;
        }
        match self.queueing {
            None => walk.leaf(0, above.whole()),
            Some(config) => walk.node(config, 0, &above),
        }
        if self.queueing.is_some_and(|config| !may_hold_back(config)) {
            walk.improve_by_rest_of_rate(&above);
        }
        bounds
    }

    /// Returns the limit of queue number `place`, as text.
    pub fn limit_text(&self, place: usize) -> Option<String> {
        let plain = limits_of(&ClassConfig::default());
        let limits = match self.queueing {
            Some(config) => limits_of_all(config).into_iter().nth(place)?.1,
            None => plain,
        };
        let written = limits.iter().filter(|limit| limit.count() < u64::MAX).map(ToString::to_string);
        let words: Vec<String> = written.collect();
        (!words.is_empty()).then(|| words.join(", "))
    }

    /// Returns the capacity of the wire, which packets reach through the transmit ring.
    fn above(&self, lengths: &Lengths) -> Above {
        let (measure, counted) = (Measure::Wire(self.wire), Measure::Counted(self.accounting));
        let rate = self.wire.rate.as_bits_per_second() as f64 / 8.0;
        let ring = self.ring(lengths);
        let at_congestion = self.queueing.is_some_and(has_policer_at_congestion);
        let is_single = self.wire.ring == RingConfig::Packets(1);
        let strict = Service::rate_latency(rate, ring / rate);
        let plain = if at_congestion { strict.clone() } else { Service::rate_latency(rate, 0.0) };
        let is_raw = lengths.each().all(|length| measure.amount(length) == counted.amount(length));
        Above {
            measure,
            plain,
            strict,
            counted,
            is_at_wire: is_single && !at_congestion,
            is_raw: is_single && is_raw && !at_congestion,
            rules: Vec::new(),
        }
    }

    /// Returns the largest difference between the times that packets of `lengths` spend in the transmit ring,
    /// seconds.
    pub fn ring_time(&self, lengths: &Lengths) -> f64 {
        let rate = self.wire.rate.as_bits_per_second() as f64 / 8.0;
        (self.ring(lengths) - Measure::Wire(self.wire).least(lengths)).max(0.0) / rate
    }

    /// Returns the largest content of the transmit ring, including the packet on the wire, wire bytes.
    fn ring(&self, lengths: &Lengths) -> f64 {
        let wire = Measure::Wire(self.wire);
        let longest = wire.most(lengths);
        match self.wire.ring {
            RingConfig::Packets(count) => f64::from(count) * longest,
            RingConfig::Particles { count, size, admission, release } => {
                let size = size.as_bytes().max(1);
                let per_particle = lengths
                    .greatest(|length| wire.amount(length) / u64::from(length).div_ceil(size).max(1) as f64);
                let most = |count: u32| f64::from(count) * per_particle;
                let holds = match admission {
                    RingAdmission::Strict => most(count),
                    RingAdmission::Overshoot => most(count) + longest,
                    // The ring contains the batch that was added last and the batch that is being collected.
                    RingAdmission::Batches => most(count.saturating_sub(4)) + 2.0 * most(2).max(longest),
                };
                // The packet on the wire has already released its particles, so the ring does not count it.
                // It is therefore added.
                let sent = if release == RingRelease::FirstBit { longest } else { 0.0 };
                holds.max(longest) + sent
            }
        }
    }
}

fn any(config: &QueueingConfig, holds: &impl Fn(&ClassConfig) -> bool) -> bool {
    let inside = |class: &ClassConfig| class.queueing.as_ref().is_some_and(|inner| any(inner, holds));
    config.classes.iter().any(|class| holds(class) || inside(class))
}

/// Whether the wire may be idle while packets wait.
fn may_hold_back(config: &QueueingConfig) -> bool {
    may_hold_alone(config)
        || any(config, &|class| {
            let is_cake = matches!(class.buffer, Some(BufferConfig::Cake(_)));
            is_cake || class.shape.is_some() || class.queueing.as_ref().is_some_and(may_hold_alone)
        })
}

/// Whether the scheduler may delay the packets of a class that is the only class with packets.
fn may_hold_alone(config: &QueueingConfig) -> bool {
    matches!(
        config.scheduler,
        SchedulerConfig::Cbq
            | SchedulerConfig::Hfsc
            | SchedulerConfig::Htb
            | SchedulerConfig::GuaranteeExcess
    )
}

/// Whether a policer passes packets above its rate while no other packets wait.
fn has_policer_at_congestion(config: &QueueingConfig) -> bool {
    any(config, &|class| class.police.is_some_and(|police| police.when == PoliceWhen::Congested))
}

/// Returns the arrival curve of the packets that a class with this cap may send with priority.
fn cap_curve(cap: &CapConfig) -> Arrival {
    Arrival::token_bucket(cap.burst.as_bytes() as f64, cap.rate.as_bits_per_second() as f64 / 8.0)
}

/// The reason why a class of HTB has no guarantee.
const NO_BOUND_FOR_HTB: &str =
    "no bound is known for htb, where the turns of a class depend on all other classes";
/// The reason why a class of CBQ has no guarantee.
const NO_BOUND_FOR_CBQ: &str = "no bound is known for cbq, which delays a class according to its average use \
                                of the link";
/// The reason why a class of HFSC has no guarantee.
const NO_BOUND_FOR_HFSC: &str = "perhop computes no bound for hfsc, which combines the service curves of all \
                                 classes";

/// The reason why a tin of CAKE has no guarantee.
const NO_BOUND_FOR_CAKE: &str = "no bound is known for cake, where flows and hosts share a tin";

/// The recursive traversal of the schedulers of a port, from the wire to the classes.
pub(crate) struct Walk<'a, 'b> {
    port: &'a Port<'a>,
    /// The configuration and the limits of the class of each queue.
    leaves: &'b [(&'b ClassConfig, Vec<QueueSize>)],
    bounds: &'b mut Vec<Option<QueueBound>>,
}

/// A class with traffic, and its queues.
pub(crate) struct Active<'c> {
    pub(crate) child: Child<'c>,
    pub(crate) first: usize,
    pub(crate) count: usize,
}

impl<'a> Walk<'a, '_> {
    /// Computes the bounds of the classes of `config`, whose first queue has number `first`.
    pub(crate) fn node(&mut self, config: &'a QueueingConfig, first: usize, above: &Above) {
        if config.scheduler == SchedulerConfig::GuaranteeExcess {
            return self.guarantee_excess(config, first, above);
        }
        let active = self.active(config, first);
        let children: Vec<Child> = active.iter().map(|member| member.child.clone()).collect();
        // The levels are processed from the highest to the lowest, because the delays of higher levels bound
        // the traffic that lower levels must wait for.
        let mut order: Vec<usize> = (0..active.len()).collect();
        if config.scheduler == SchedulerConfig::Priority {
            order.sort_by_key(|index| {
                let place =
                    config.classes.iter().position(|class| std::ptr::eq(class, children[*index].class));
                children[*index].class.share.level.map_or(place.unwrap_or(0), usize::from)
            });
        }
        for (rank, index) in order.iter().enumerate() {
            let ranks = (&order[..rank], &order[rank + 1..]);
            let scheduled = self.scheduled(config, above, &active, &children, *index, ranks);
            let is_alone = active.len() == 1 && !may_hold_alone(config);
            self.class(&active[*index], scheduled, above, is_alone);
        }
    }

    pub(crate) fn active(&self, config: &'a QueueingConfig, first: usize) -> Vec<Active<'a>> {
        let mut next = first;
        let active = config.classes.iter().filter_map(|class| {
            let (first, count) = (next, class.queues());
            next += count;
            let lengths = stream::lengths(self.port.streams[first..first + count].iter().flatten())?;
            Some(Active { child: Child { class, lengths }, first, count })
        });
        active.collect()
    }

    /// Returns the guarantee of the scheduler of `config` to child `index`, without the effect of the child's
    /// shaper.
    fn scheduled(
        &self,
        config: &QueueingConfig,
        above: &Above,
        active: &[Active],
        children: &[Child],
        index: usize,
        (before, below): (&[usize], &[usize]),
    ) -> Guarantee {
        use SchedulerConfig as Scheduler;
        if children.len() == 1 && !may_hold_alone(config) {
            return above.whole();
        }
        match config.scheduler {
            Scheduler::Fifo => self.first_come(above, active, index),
            Scheduler::Priority => {
                let below: Vec<Child> = below.iter().map(|other| children[*other].clone()).collect();
                self.level(above, active, index, before, &below)
            }
            Scheduler::Wrr => schedule::wrr(above, children, index, &config.classes),
            Scheduler::Drr => schedule::drr(above, children, index),
            Scheduler::Scfq => schedule::scfq(above, children, index),
            Scheduler::Wfq => schedule::fluid(above, children, index, &config.classes, Rule::Wfq),
            Scheduler::Wf2qPlus => schedule::fluid(above, children, index, &config.classes, Rule::Wf2qPlus),
            Scheduler::ThreeParameter => schedule::minimum(above, children, index),
            Scheduler::Cbq => Guarantee::none(above.counted, NO_BOUND_FOR_CBQ),
            Scheduler::Hfsc => Guarantee::none(above.counted, NO_BOUND_FOR_HFSC),
            Scheduler::Htb => Guarantee::none(above.counted, NO_BOUND_FOR_HTB),
            // `guarantee_excess` computes the bounds of all classes of such a tree together.
            Scheduler::GuaranteeExcess => Guarantee::none(above.counted, "a class of a tree"),
        }
    }

    /// Computes the bounds of a class: of its queue, or of its inner classes. `scheduled` is the guarantee of
    /// the scheduler to the class.
    pub(crate) fn class(&mut self, active: &Active<'a>, scheduled: Guarantee, above: &Above, is_alone: bool) {
        let Active { child: Child { class, lengths }, first, count } = active;
        let guarantee = match &class.shape {
            None => scheduled,
            Some(shape) if is_alone => shaping::sole(above, shape, lengths),
            Some(shape) => shaping::among(above, scheduled, shape, lengths),
        };
        if matches!(class.buffer, Some(BufferConfig::Cake(_))) {
            return self.set_unbounded(*first..first + count, NO_BOUND_FOR_CAKE);
        }
        let Some(inner) = &class.queueing else {
            return self.leaf(*first, guarantee);
        };
        if is_alone && class.shape.is_none() {
            return self.node(inner, *first, above);
        }
        let strict = match &guarantee.strict {
            Ok(strict) => strict.clone(),
            Err(reason) => return self.set_unbounded(*first..first + count, reason),
        };
        let inside = Above {
            measure: guarantee.measure,
            plain: strict.clone(),
            strict,
            counted: above.counted,
            is_at_wire: false,
            is_raw: false,
            rules: guarantee.rules,
        };
        self.node(inner, *first, &inside);
    }

    /// Computes the bounds of queue `place`, whose class has this `guarantee`.
    pub(crate) fn leaf(&mut self, place: usize, guarantee: Guarantee) {
        let (class, limits) = &self.leaves[place];
        let streams = &self.port.streams[place];
        let queue = Queue {
            streams,
            policer: class.police.as_ref().and_then(|police| self.policer(police, streams)),
            limits,
            is_fair: !is_fifo(class),
            wire: self.port.wire,
        };
        self.bounds[place] = queue.bound(guarantee);
        if let (Some(BufferConfig::SharedMemory(config)), Some(bound)) =
            (&class.buffer, &mut self.bounds[place])
        {
            let memory = self.port.queueing.and_then(|queueing| queueing.memory.as_ref());
            bound.check_reserved(config, memory);
        }
    }

    /// Returns the arrival curve of the packets that a policer passes while packets wait, IP bytes.
    fn policer(&self, police: &PoliceConfig, streams: &[Stream]) -> Option<Arrival> {
        let rate = police.rate.as_bits_per_second() as f64 / 8.0;
        let curve = Arrival::token_bucket(police.burst.as_bytes() as f64 + rate * PICOSECOND, rate);
        let lengths = stream::lengths(streams)?;
        Some(curve.scaled(Measure::Ip.per(Measure::Counted(self.port.accounting), &lengths)))
    }

    /// Returns the arrival curve of the packets of `active` that other classes must wait for in any span, in
    /// `measure`. If `delayed` is true, they include the packets that wait when the span starts. The result
    /// is then `None` if the delay of `active` is unbounded.
    pub(crate) fn competing_arrivals(
        &self,
        active: &Active,
        measure: Measure,
        delayed: bool,
    ) -> Option<Arrival> {
        let mut sum = Arrival::nothing();
        for place in active.first..active.first + active.count {
            let streams = &self.port.streams[place];
            let Some(lengths) = stream::lengths(streams) else { continue };
            let bound = self.bounds[place].as_ref();
            let policed = bound.and_then(|bound| bound.arrival.clone());
            let arrival = match policed {
                Some(ip) if bound.is_some_and(|bound| bound.is_policed) => {
                    let scaled = ip.scaled(measure.per(Measure::Ip, &lengths));
                    stream::arrival(streams, measure).map_or(scaled.clone(), |own| own.within(&scaled))
                }
                _ => stream::arrival(streams, measure)?,
            };
            let wait =
                if delayed { bound.and_then(|bound| bound.delay.as_ref().ok().copied())? } else { 0.0 };
            sum = sum.plus(&arrival.after(wait));
        }
        Some(sum)
    }

    /// Returns the guarantee of strict priority for child `index`. The children `before` have higher levels,
    /// and the children `below` have lower levels.
    fn level(
        &self,
        above: &Above,
        active: &[Active],
        index: usize,
        before: &[usize],
        below: &[Child],
    ) -> Guarantee {
        let (mut plain, mut strict) = (Some(Arrival::nothing()), Arrival::nothing());
        for other in before {
            let Active { child, .. } = &active[*other];
            let per_byte = above.measure.per(above.counted, &child.lengths);
            let capped = child.class.share.cap.map(|cap| cap_curve(&cap).scaled(per_byte));
            let in_any = self.competing_arrivals(&active[*other], above.measure, true);
            let Some(in_any) = capped.clone().or(in_any) else {
                let name = &child.class.name;
                let reason = format!(
                    "`{name}` has priority over this queue, and the arrivals at `{name}` have no bound"
                );
                return Guarantee::none(above.measure, &reason);
            };
            strict = strict.plus(&in_any);
            plain = match capped {
                None => plain
                    .zip(self.competing_arrivals(&active[*other], above.measure, false))
                    .map(|(sum, more)| sum.plus(&more)),
                Some(_) => None,
            };
        }
        let guarantee = schedule::priority(above, below, &Levels { plain, strict });
        match &active[index].child.class.share.cap {
            Some(cap) if !self.stays_within_cap(cap, &active[index], above, &guarantee) => {
                let reason = "above its cap the class has no priority over other classes";
                Guarantee::none(above.measure, reason)
            }
            _ => guarantee,
        }
    }

    /// Whether the class never exceeds `cap` while it has priority. The packets that depart in a span arrived
    /// in this span, or earlier by at most the delay of the class.
    fn stays_within_cap(
        &self,
        cap: &CapConfig,
        active: &Active,
        above: &Above,
        guarantee: &Guarantee,
    ) -> bool {
        let class = active.child.class;
        if class.queueing.is_some() || class.shape.is_some() || !is_fifo(class) {
            return false;
        }
        let delay = self
            .competing_arrivals(active, above.measure, false)
            .and_then(|arrival| guarantee.plain.as_ref().ok().and_then(|plain| plain.delay(&arrival, None)));
        let Some((delay, counted)) = delay.zip(self.competing_arrivals(active, above.counted, false)) else {
            return false;
        };
        let (leaves, cap) = (counted.after(delay), cap_curve(cap));
        leaves.rate() <= cap.rate()
            && leaves.corners().chain([0.0]).all(|corner| leaves.at(corner) <= cap.at(corner))
    }

    /// Returns the guarantee of first come, first served for child `index`.
    fn first_come(&self, above: &Above, active: &[Active], index: usize) -> Guarantee {
        if active
            .iter()
            .any(|member| member.child.class.shape.is_some() || member.child.class.queueing.is_some())
        {
            return Guarantee::none(above.measure, "no bound is known for fifo above shapers or classes");
        }
        let mut others = Arrival::nothing();
        for (_, other) in active.iter().enumerate().filter(|(other, _)| *other != index) {
            let Some(more) = self.competing_arrivals(other, above.measure, false) else {
                return Guarantee::none(above.measure, "the arrivals of the other queues have no bound");
            };
            others = others.plus(&more);
        }
        schedule::together(above, others)
    }

    /// Records that the queues `places` have no bound, and the `reason`.
    pub(crate) fn set_unbounded(&mut self, places: std::ops::Range<usize>, reason: &str) {
        for place in places {
            self.leaf(place, Guarantee::none(Measure::Ip, reason));
        }
    }

    /// Improves the bounds of queue `place` with `rest`, the service that remains after all other queues, in
    /// the unit of `above`.
    pub(crate) fn improve(&mut self, place: usize, rest: &Service, above: &Above) {
        if let Some(bound) = &mut self.bounds[place] {
            bound.improve(&self.port.streams[place], rest, above.measure, self.port.wire);
        }
    }

    /// Improves the bounds of every queue with the rate that remains after all other queues. Requires that
    /// the wire is never idle while packets wait.
    fn improve_by_rest_of_rate(&mut self, above: &Above) {
        let carried: Vec<Option<Arrival>> =
            self.port.streams.iter().map(|streams| stream::arrival(streams, above.measure)).collect();
        for place in 0..self.bounds.len() {
            let others = carried.iter().enumerate().filter(|(other, _)| *other != place);
            let others = others.map(|(_, curve)| curve.clone()).reduce(|sum, curve| Some(sum?.plus(&curve?)));
            let Some(Some(others)) = others else { continue };
            let rest = above.plain.less(&others);
            if rest.is_some() {
                self.improve(place, &rest, above);
            }
        }
    }
}

/// Whether the packets of `class`, which has no inner classes, depart in the order of arrival.
fn is_fifo(class: &ClassConfig) -> bool {
    class.fair_queueing.is_none()
        && !matches!(class.buffer, Some(BufferConfig::DualPi2(_) | BufferConfig::Cake(_)))
}
