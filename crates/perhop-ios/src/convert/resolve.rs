//! Turns policy-maps into [`ResolvedPolicy`]s: percentages into rates, silence into the profile's defaults.

use perhop_qos::Rate;

use super::Context;
use super::bandwidth::{bursts_of_police, bytes_in, priority_rate, rate_of, shaper};
use super::condition::{Condition, of_class};
use super::guarantees::guarantees;
use super::limits::{class_limit, default_class_limit, fair_queue, priority_limit};
use super::random_detect::{Queue, random_detect};
use super::reference::Reference;
use super::resolved::{
    Awareness, PoliceKind, PriorityKind, PriorityLimit, ResolvedClass, ResolvedPolice, ResolvedPolicy,
    ResolvedPriority, ResolvedShape, Share,
};
use super::value_limits::value_limits;
use crate::ast::{
    Action, CLASS_DEFAULT, ClassMap, Combination, Criterion, PacketPolice, Polarity, Police, PolicyClass,
    PolicyMap, PriorityRate, Shape, Statement, TrafficRate,
};
use crate::profile::{OwnQueue, ProfileRules};

impl<'a> Context<'a> {
    /// `policy` with all its numbers. Classes whose class-map is not there are left out, as the router
    /// leaves them out; class-default comes last, wherever it stands.
    pub(super) fn resolve(&self, policy: &'a PolicyMap, reference: Reference) -> ResolvedPolicy {
        let queues = self.queues(policy, reference.depth);
        let unsaid = PolicyClass { name: CLASS_DEFAULT.to_owned(), ..PolicyClass::default() };
        let mut known: Vec<(&PolicyClass, Condition)> = policy
            .classes
            .iter()
            .filter_map(|class| Some((class, of_class(self.configuration, &class.name, reference.tags)?)))
            .collect();
        known.sort_by_key(|(class, _)| class.name == CLASS_DEFAULT);
        if queues && known.last().is_none_or(|(class, _)| class.name != CLASS_DEFAULT) {
            known.push((&unsaid, Condition::Always));
        }
        let shares = guarantees(
            &known
                .iter()
                .map(|(class, _)| (*class, self.has_queue(class, reference.depth)))
                .collect::<Vec<_>>(),
            reference,
            self.platform.rules(),
        );
        let classes: Vec<ResolvedClass> = known
            .into_iter()
            .zip(shares)
            .map(|((class, condition), share)| {
                let mut resolved = self.class_of(class, condition, share, reference);
                let inside = class.service_policy.as_ref().filter(|_| self.may_nest(reference.depth));
                let inside = inside.and_then(|at| self.configuration.policy_maps.get(&at.value));
                resolved.policy = inside.map(|policy| self.resolve(policy, reference.inside(&resolved)));
                if queues {
                    self.limits(&mut resolved, class, reference);
                }
                resolved
            })
            .collect();
        let priority_limits = priority_limits(&classes, reference);
        ResolvedPolicy {
            name: policy.name.clone(),
            line: policy.line,
            rate_bps: reference.queueing.as_bits_per_second(),
            classes,
            priority_limits,
        }
    }

    /// Whether `class` has a queue, or a scheduler, of its own; what has none waits in class-default's.
    pub(super) fn has_queue(&self, class: &PolicyClass, depth: usize) -> bool {
        let has_share = class.bandwidth.is_some() || class.shape.is_some();
        let inner = class.service_policy.as_ref().filter(|_| self.may_nest(depth));
        let has_own = class.name == CLASS_DEFAULT || class.priority.is_some() || has_share;
        has_own
            || match *self.platform.rules().own_queue {
                OwnQueue::AnyPolicyInside => inner.is_some(),
                OwnQueue::FairQueueOrQueuesInside => {
                    let inner = inner.and_then(|at| self.configuration.policy_maps.get(&at.value));
                    class.fair_queue.is_some() || inner.is_some_and(|policy| self.queues(policy, depth + 1))
                }
            }
    }

    fn class_of(
        &self,
        class: &PolicyClass,
        condition: Condition,
        (bandwidth, share): (Option<super::resolved::Guarantee>, Share),
        reference: Reference,
    ) -> ResolvedClass {
        let map = self.configuration.class_maps.get(&class.name);
        ResolvedClass {
            name: class.name.clone(),
            line: class.line,
            combination: map.map_or(Combination::MatchAny, |map| map.combination),
            matches: map.map_or_else(|| vec!["any".to_owned()], |map| self.match_lines(map)),
            queue: None,
            conditioner: None,
            bandwidth,
            share,
            priority: class
                .priority
                .map(|priority| resolved_priority(priority.value, reference.queueing, self.platform.rules())),
            police: match (&class.police, &class.police_packets) {
                (Some(police), _) => Some(ResolvedPolice {
                    aware: self.awareness(&class.name, &police.value, reference),
                    ..resolved_police(&police.value, reference.police, self.platform.rules())
                }),
                (None, Some(police)) => Some(resolved_packet_police(&police.value)),
                (None, None) => None,
            },
            shape: class.shape.map(|shape| self.resolved_shape(&shape.value, reference.queueing)),
            queue_limit: None,
            has_written_limit: false,
            value_limits: None,
            label: None,
            fair_queue: None,
            random_detect: None,
            marks: class.marks.iter().map(|mark| mark.value.clone()).collect(),
            drop: class.drop.is_some(),
            policy: None,
            condition,
        }
    }

    /// The colors with which packets come, where the policer of the class called `class` is aware of them.
    fn awareness(&self, class: &str, police: &Police, reference: Reference) -> Option<Awareness> {
        let conform = police.conform_class.as_ref()?;
        if self.configuration.color_blind(class, police).is_some() {
            return None;
        }
        let of = |name: &str| of_class(self.configuration, name, reference.tags);
        let exceed = police.exceed_class.as_ref().and_then(|exceed| of(&exceed.value));
        Some(Awareness { conform: of(&conform.value)?, exceed })
    }

    fn resolved_shape(&self, shape: &Shape, reference: Rate) -> ResolvedShape {
        let config = shaper(shape, reference, *self.platform.rules().shaper_burst);
        let (bc_bits, be_bits) = (config.burst.as_bytes() * 8, config.excess.as_bytes() * 8);
        let cir_bps = config.rate.as_bits_per_second();
        let peak = u128::from(cir_bps) * u128::from(bc_bits + be_bits) / u128::from(bc_bits.max(1));
        let target_bps = match shape.kind {
            crate::ast::ShapeKind::Average => cir_bps,
            crate::ast::ShapeKind::Peak => u64::try_from(peak).unwrap_or(u64::MAX),
        };
        let value_percent = match shape.rate {
            TrafficRate::Percent(percent) => Some(percent),
            TrafficRate::BitsPerSecond(_) => None,
        };
        ResolvedShape { kind: shape.kind, cir_bps, bc_bits, be_bits, target_bps, value_percent }
    }

    /// The limits of the class's queue, WRED and fair queueing on it.
    fn limits(&self, resolved: &mut ResolvedClass, class: &PolicyClass, reference: Reference) {
        if !self.has_queue(class, reference.depth) {
            return;
        }
        let own = resolved.shape.map(|shape| shape.target_bps).or(resolved.priority.and_then(|p| p.rate_bps));
        let own = own.or((resolved.share.rate_bps > 0).then_some(resolved.share.rate_bps));
        let rate = own.map_or(reference.queueing, Rate::from_bits_per_second);
        let line =
            resolved.shape.map_or(reference.line, |shape| Rate::from_bits_per_second(shape.target_bps));
        let written = class.queue_limit.map(|limit| class_limit(limit.value, rate));
        let default = || match resolved.priority {
            Some(_) => priority_limit(rate, reference, self.platform),
            None => default_class_limit(class.random_detect.as_ref(), rate, line, reference, self.platform),
        };
        let limit = written.unwrap_or_else(default);
        resolved.random_detect = class.random_detect.as_ref().map(|detect| {
            random_detect(&detect.value, &resolved.condition, Queue { limit, rate }, self.platform)
        });
        resolved.fair_queue = class.fair_queue.map(|fair| {
            fair_queue(&fair.value, written, limit, resolved.random_detect.is_some(), self.platform)
        });
        resolved.has_written_limit = written.is_some();
        resolved.value_limits = value_limits(&class.value_limits, limit, rate);
        resolved.queue_limit = Some(limit);
    }

    fn match_lines(&self, map: &ClassMap) -> Vec<String> {
        if let Some(criteria) = self.configuration.assumed.get(&map.name) {
            return criteria.clone();
        }
        if map.statements.is_empty() {
            return vec!["none".to_owned()];
        }
        map.statements.iter().map(|statement| self.match_line(statement)).collect()
    }

    /// A `match` line as the router prints it.
    fn match_line(&self, statement: &Statement) -> String {
        let line = self.configuration.lines.get(statement.line.wrapping_sub(1));
        let words: Vec<&str> =
            line.map_or_else(Vec::new, |line| line.text.split_ascii_whitespace().collect());
        let written = words.iter().skip_while(|word| !word.eq_ignore_ascii_case("match")).skip(1);
        let written: Vec<&str> = written.copied().collect();
        let not = if statement.polarity == Polarity::Not { "not " } else { "" };
        let of_ip = if written.contains(&"ip") { "ip" } else { "" };
        let text = match &statement.criterion {
            Criterion::Dscp(values) => {
                let values: Vec<String> =
                    values.iter().map(|dscp| format!("{dscp} ({})", dscp.value())).collect();
                format!("{of_ip} dscp {}", values.join(" "))
            }
            Criterion::Precedence(values) => {
                let values: Vec<String> = values.iter().map(|one| format!("{} ", one.value())).collect();
                format!("{of_ip} precedence {}", values.concat())
            }
            _ => written.into_iter().filter(|word| *word != "not").collect::<Vec<_>>().join(" "),
        };
        format!("{not}{text}")
    }
}

/// The most levels of priority that any router has.
pub(super) const LEVELS: u8 = 7;

/// The limit of the one queue that the priority classes of a level share.
fn priority_limits(classes: &[ResolvedClass], reference: Reference) -> Vec<PriorityLimit> {
    let of_level = |level: u8| {
        let limits: Vec<_> = classes
            .iter()
            .filter(|class| class.priority.is_some_and(|priority| priority.level == level))
            .filter_map(|class| class.queue_limit)
            .collect();
        let first = *limits.first()?;
        // Limits that go by the classes' rates add up.
        let value =
            if reference.is_per_tunnel { limits.iter().map(|limit| limit.value).sum() } else { first.value };
        Some(PriorityLimit { level, limit: super::resolved::Limit { value, ..first } })
    };
    (1..=LEVELS).filter_map(of_level).collect()
}

fn resolved_priority(
    priority: crate::ast::Priority,
    reference: Rate,
    rules: &ProfileRules,
) -> ResolvedPriority {
    let rate = priority_rate(priority.rate, reference);
    let (kind, value) = match priority.rate {
        PriorityRate::Unlimited => (PriorityKind::Strict, 0),
        PriorityRate::Kilobits(kilobits) => (PriorityKind::Kbps, kilobits),
        PriorityRate::Percent(percent) => (PriorityKind::Percent, percent),
    };
    let default = |rate: Rate| bytes_in(rate, *rules.priority_burst_us).max(1);
    let burst = rate.map(|rate| priority.burst.unwrap_or_else(|| default(rate)));
    ResolvedPriority {
        level: priority.level,
        has_level: priority.level > 1,
        kind,
        value,
        rate_bps: rate.map(Rate::as_bits_per_second),
        burst_bytes: burst,
    }
}

/// A policer that counts packets; its burst is a quarter of a second as that of one that counts bytes.
fn resolved_packet_police(police: &PacketPolice) -> ResolvedPolice {
    let or = |own: &[Action], other: Action| if own.is_empty() { vec![other] } else { own.to_vec() };
    ResolvedPolice {
        kind: PoliceKind::Pps,
        value: police.rate,
        cir_bps: police.rate,
        bc_bytes: police.burst.unwrap_or(police.rate / 4).max(1),
        pir_bps: None,
        be_bytes: None,
        colors: 2,
        conform: or(&police.conform, Action::TRANSMIT),
        exceed: or(&police.exceed, Action::DROP),
        violate: Vec::new(),
        aware: None,
    }
}

fn resolved_police(police: &Police, reference: Rate, rules: &ProfileRules) -> ResolvedPolice {
    let cir = rate_of(police.rate, reference);
    let (committed, excess) = bursts_of_police(police, cir, reference, rules);
    let (kind, value) = match police.rate {
        TrafficRate::BitsPerSecond(bits) => (PoliceKind::Bps, bits),
        TrafficRate::Percent(percent) => (PoliceKind::Percent, percent),
    };
    let or = |own: &[Action], other: Action| if own.is_empty() { vec![other] } else { own.to_vec() };
    let conform = or(&police.conform, Action::TRANSMIT);
    let exceed = or(&police.exceed, Action::DROP);
    let has_two_colors = police.peak.is_none() && police.violate.is_empty();
    // Without an action of its own what violates is treated as what exceeds.
    let violate = match (has_two_colors, police.violate.is_empty()) {
        (true, _) => Vec::new(),
        (false, true) => exceed.clone(),
        (false, false) => police.violate.clone(),
    };
    ResolvedPolice {
        kind,
        value,
        cir_bps: cir.as_bits_per_second(),
        bc_bytes: committed.as_bytes(),
        pir_bps: police.peak.map(|peak| rate_of(peak, reference).as_bits_per_second()),
        be_bytes: (!has_two_colors).then(|| excess.as_bytes()),
        colors: if has_two_colors { 2 } else { 3 },
        conform,
        exceed,
        violate,
        aware: None,
    }
}
