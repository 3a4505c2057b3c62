//! The guarantees of `guarantee-excess`: the guaranteed rates by level, and the rate that remains after all
//! other queues.

use perhop_qos::policy::{ClassConfig, QueueingConfig};
use perhop_qos::scheduler::{Cells, ShapeConfig, ShapeForm, ShareConfig};
use perhop_qos::units::{ByteSize, Rate};

use crate::arrival::Arrival;
use crate::guarantee::{Guarantee, Plain};
use crate::lengths::Measure;
use crate::port::{Active, Walk};
use crate::rule::Rule;
use crate::schedule::Above;
use crate::service::Service;
use crate::shaping;

/// The default size of a token bucket of `guarantee-excess`, bytes.
const BURST: u64 = 3200;

/// Returns the token bucket of a guaranteed rate or of a maximum.
fn bucket(rate: Rate, burst: Option<ByteSize>) -> ShapeConfig {
    let burst = burst.unwrap_or(ByteSize::from_bytes(BURST));
    ShapeConfig { rate, burst, excess: ByteSize::from_bytes(0), form: ShapeForm::Average }
}

/// Whether a class never exceeds its guaranteed rate, because its maximum is not higher.
fn is_always_guaranteed(share: &ShareConfig) -> bool {
    share.rate.zip(share.ceil).is_some_and(|(rate, ceil)| rate >= ceil)
}

/// Returns the token bucket of the guaranteed rate of a class, if it has one.
fn guarantee_of(share: &ShareConfig) -> Option<ShapeConfig> {
    match (share.rate, share.ceil) {
        (Some(rate), Some(ceil)) if rate >= ceil => Some(bucket(ceil, share.ceil_burst)),
        (rate, _) => rate.map(|rate| bucket(rate, share.burst)),
    }
}

impl<'a> Walk<'a, '_> {
    /// Computes the bounds of the classes of `config`, whose first queue has number `first`.
    pub(crate) fn guarantee_excess(&mut self, config: &'a QueueingConfig, first: usize, above: &Above) {
        let active = self.active(config, first);
        if let Some(node) = active.iter().find(|active| active.child.class.queueing.is_some()) {
            let reason = "perhop computes no bound for several levels of guarantee-excess, where the queues \
                          determine the priorities";
            let all = first..first + config.classes.iter().map(ClassConfig::queues).sum::<usize>();
            return match active.as_slice() {
                [_] => self.only_node(node, above),
                _ => self.set_unbounded(all, reason),
            };
        }
        let mut order: Vec<&Active> = active.iter().collect();
        // The first levels are processed first, because their delays bound the traffic that other levels must
        // wait for. Within a level, classes that never exceed their guaranteed rate are processed first,
        // because their known delays improve the bounds of the other classes.
        order.sort_by_key(|active| {
            let share = &active.child.class.share;
            (share.level.unwrap_or(0), !is_always_guaranteed(share))
        });
        for own in order {
            let others: Vec<&Active> = active.iter().filter(|other| other.first != own.first).collect();
            let guarantee = self.guaranteed(above, own, &others);
            self.class(own, guarantee, above, false);
        }
        for own in &active {
            let others: Vec<&Active> = active.iter().filter(|other| other.first != own.first).collect();
            if let Some(rest) = self.rest(above, own, &others) {
                self.improve(own.first, &rest, above);
            }
        }
    }

    /// Computes the bounds of the classes inside the only node that has traffic. The maximum of this node
    /// limits all of them.
    fn only_node(&mut self, node: &Active<'a>, above: &Above) {
        let class = node.child.class;
        let Some(inner) = &class.queueing else { return };
        let Some(ceil) = class.share.ceil else { return self.node(inner, node.first, above) };
        let Some(counted) = counted(above, &class.share) else {
            return self.set_unbounded(node.first..node.first + node.count, CELLS);
        };
        let inside = Above { counted, ..above.clone() };
        let maximum = bucket(ceil, class.share.ceil_burst);
        let shaped = shaping::among(&inside, above.whole(), &maximum, &node.child.lengths);
        match shaped.strict {
            Ok(strict) => {
                let (plain, rules) = (strict.clone(), shaped.rules);
                let (measure, counted) = (shaped.measure, above.counted);
                let inside =
                    Above { measure, plain, strict, counted, is_at_wire: false, is_raw: false, rules };
                self.node(inner, node.first, &inside);
            }
            Err(reason) => self.set_unbounded(node.first..node.first + node.count, &reason),
        }
    }

    /// Returns the guarantee of a queue by its guaranteed rate.
    ///
    /// A packet within this rate waits only for packets of the same and of higher levels that are within
    /// their own guaranteed rates. The amount of these packets is bounded by their token buckets and by their
    /// arrivals, in any order. The queue therefore has the same service as a queue with a shaper of the
    /// guaranteed rate ([`shaping::among`]). Packets that are sent as excess depart earlier and use no tokens
    /// of the guaranteed rate.
    fn guaranteed(&self, above: &Above, own: &Active, others: &[&Active]) -> Guarantee {
        let share = &own.child.class.share;
        let Some(counted) = counted(above, share) else { return Guarantee::none(above.counted, CELLS) };
        let lengths = &own.child.lengths;
        let at_rate = || {
            let rate = guarantee_of(share).ok_or(NO_RATE)?;
            if share.ceil.is_some() && !is_always_guaranteed(share) {
                return Err(HELD_BACK);
            }
            let level = share.level.unwrap_or(0);
            let is_before = |other: &&&Active| other.child.class.share.level.unwrap_or(0) <= level;
            let mut before = others.iter().filter(is_before).map(|other| self.within_guarantee(above, other));
            let before = before.try_fold(Arrival::nothing(), |sum, arrivals| Some(sum.plus(&arrivals?)));
            let left = above.strict.less(&before.ok_or(CELLS)?);
            if !left.is_some() {
                return Err(NOTHING_LEFT);
            }
            let scheduled = Guarantee {
                measure: above.measure,
                plain: Ok(Plain::Line(left.clone())),
                strict: Ok(left.clone()),
                rules: Vec::new(),
            };
            let inside = Above { counted, ..above.clone() };
            // The rate that remains after the other queues may be lower than the guaranteed rate. A token
            // bucket with a lower rate admits a subset of the packets. The queue therefore has at least the
            // guarantee of the remaining rate.
            let per_counted = above.measure.per(counted, lengths);
            let left = left.lines().iter().map(|line| (line.rate / per_counted * 8.0).floor() as u64);
            let rates = left.map(|left| left.min(rate.rate.as_bits_per_second())).filter(|bits| *bits > 0);
            let lines = rates.map(|bits| {
                let rate = ShapeConfig { rate: Rate::from_bits_per_second(bits), ..rate };
                shaping::among(&inside, scheduled.clone(), &rate, lengths).strict.unwrap_or_default()
            });
            let line = lines.fold(Service::default(), |first, second| first.or(&second));
            if line.is_some() { Ok(line) } else { Err(NOTHING_LEFT) }
        };
        match at_rate() {
            Ok(line) => above.guarantee(counted, line.clone(), line, Rule::GuaranteedRate),
            Err(reason) => Guarantee::none(counted, reason),
        }
    }

    /// Returns the arrival curve of the packets of `other` that are within its guaranteed rate, in the unit
    /// of `above`. They are bounded by the token bucket, and by the arrivals if the delay of `other` is
    /// known.
    fn within_guarantee(&self, above: &Above, other: &Active) -> Option<Arrival> {
        let share = &other.child.class.share;
        let Some(rate) = guarantee_of(share) else { return Some(Arrival::nothing()) };
        let curve = curve(above, other, &rate)?;
        let arrivals = self.competing_arrivals(other, above.measure, true);
        Some(arrivals.map_or(curve.clone(), |arrivals| arrivals.within(&curve)))
    }

    /// Returns the service that remains for a queue without a maximum after all other queues, in any order;
    /// `None` if the other queues may use the whole rate.
    ///
    /// While a queue without a maximum has packets, the scheduler sends. Consider the time since all such
    /// queues were last empty. Each of them has sent at most its arrivals in this time. A queue with a
    /// maximum may have had packets at the start of this time. It has sent at most the amount of its token
    /// bucket, and at most the arrivals in this time and in its delay before this time.
    fn rest(&self, above: &Above, own: &Active, others: &[&Active]) -> Option<Service> {
        let is_held = |class: &ClassConfig| class.share.ceil.is_some() || class.shape.is_some();
        if is_held(own.child.class) {
            return None;
        }
        let mut taken = others.iter().map(|other| {
            let class = other.child.class;
            let arrivals = self.competing_arrivals(other, above.measure, is_held(class));
            let Some(ceil) = class.share.ceil else { return arrivals };
            let maximum = curve(above, other, &bucket(ceil, class.share.ceil_burst))?;
            Some(arrivals.map_or(maximum.clone(), |arrivals| arrivals.within(&maximum)))
        });
        let taken = taken.try_fold(Arrival::nothing(), |sum, arrivals| Some(sum.plus(&arrivals?)));
        Some(above.strict.less(&taken?)).filter(Service::is_some)
    }
}

/// Returns the arrival curve of a token bucket of a class, in the unit of `above`.
fn curve(above: &Above, class: &Active, bucket: &ShapeConfig) -> Option<Arrival> {
    let counted = counted(above, &class.child.class.share)?;
    let lengths = &class.child.lengths;
    // A packet that is longer than the bucket is sent when the bucket is full.
    let burst = (bucket.burst.as_bytes() as f64).max(counted.most(lengths));
    let curve = Arrival::token_bucket(burst, bucket.rate.as_bits_per_second() as f64 / 8.0);
    Some(curve.scaled(above.measure.per(counted, lengths)))
}

/// Returns the bytes that the rates of a class count for a packet; `None` if they count cells.
fn counted(above: &Above, share: &ShareConfig) -> Option<Measure> {
    let link = share.link_layer.unwrap_or_default();
    let Measure::Counted(accounting) = above.counted else { return None };
    let is_plain = link.cells == Cells::None && link.minimum_packet_unit == 0;
    accounting.with_more(link.overhead).ok().filter(|_| is_plain).map(Measure::Counted)
}

const CELLS: &str = "perhop computes no bound for rates that count cells or a minimum packet length";
const NO_RATE: &str = "the queue has no guaranteed rate: its share of the remaining rate depends on all \
                       other queues";
const HELD_BACK: &str = "perhop computes no bound for a guaranteed rate inside a class with a maximum rate";
const NOTHING_LEFT: &str = "queues of the same or a higher priority level may take the whole rate";
