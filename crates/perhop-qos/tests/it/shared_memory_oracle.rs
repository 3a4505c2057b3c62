//! Shared memory compared with plain arithmetic, in which each count is a sum over the queued packets.

use std::collections::VecDeque;

use perhop_qos::buffer::{
    BufferManager, FallConfig, FallSlope, MemoryConfig, MemoryPools, MemoryQueue, SharedMemoryConfig,
};
use perhop_qos::queue::{Occupancy, Stay};
use perhop_qos::random::Streams;
use perhop_qos::{Color, DropCause, FlowKey, Packet, Time, Verdict};
use proptest::prelude::*;

/// The pool of each port: ports 0 and 1 use the first pool, and port 2 the second. Each port has two queues.
const POOL_OF_PORT: [usize; 3] = [0, 0, 1];
const QUEUES: usize = 6;

/// The packets in each queue, and the settings.
struct Plain {
    memory: MemoryConfig,
    queues: Vec<SharedMemoryConfig>,
    waiting: Vec<VecDeque<u32>>,
}

impl Plain {
    fn units(&self, length: u32) -> i128 {
        let bytes = i128::from(length) + i128::from(self.memory.overhead);
        let unit = i128::from(self.memory.unit_bytes);
        bytes / unit + i128::from(bytes % unit > 0)
    }
    fn used(&self, queue: usize) -> i128 {
        self.waiting[queue].iter().map(|length| self.units(*length)).sum()
    }
    /// The units of `queue` in addition to its reserved units, if it uses `used` units.
    fn shared(&self, queue: usize, used: i128) -> i128 {
        (used - i128::from(self.queues[queue].reserved)).max(0)
    }
    /// The units of `port` in addition to the reserved units of its queues, if `queue` uses `held` units.
    fn port(&self, port: usize, queue: usize, held: i128) -> i128 {
        let used = |other: usize| if other == queue { held } else { self.used(other) };
        (0..QUEUES).filter(|other| other / 2 == port).map(|other| self.shared(other, used(other))).sum()
    }
    fn free(&self, pool: usize, queue: usize, held: i128) -> i128 {
        let ports = (0..POOL_OF_PORT.len()).filter(|port| POOL_OF_PORT[*port] == pool);
        let reserved = i128::from(self.memory.reserved);
        let used: i128 = ports.map(|port| (self.port(port, queue, held) - reserved).max(0)).sum();
        i128::from(self.memory.shared) - used
    }
    /// The verdict on a packet, computed with integer divisions.
    fn verdict(&self, queue: usize, length: u32, precedence: usize) -> Verdict {
        let config = &self.queues[queue];
        let (port, pool) = (queue / 2, POOL_OF_PORT[queue / 2]);
        let (before, after) = (self.used(queue), self.used(queue) + self.units(length));
        let threshold = config.thresholds.get(precedence).or(config.thresholds.last());
        if threshold.is_some_and(|threshold| after > i128::from(*threshold)) {
            return Verdict::Drop(DropCause::QueueFull);
        }
        let (own, wanted) = (self.shared(queue, before), self.shared(queue, after));
        if wanted == own {
            return Verdict::Pass;
        }
        let free = self.free(pool, queue, before);
        if config.alpha.is_some_and(|alpha| own as f64 >= alpha * free as f64) {
            return Verdict::Drop(DropCause::SharedMemory);
        }
        if let Some(limit) = config.limit {
            let falls = [
                (self.memory.port_fall, config.port_minimum, self.port(port, queue, before)),
                (self.memory.pool_fall, config.pool_minimum, i128::from(self.memory.shared) - free),
            ];
            let least = falls.into_iter().map(|(fall, minimum, used)| {
                limit_at(fall, i128::from(limit), i128::from(minimum.unwrap_or(limit)), used)
            });
            if wanted > least.min().unwrap() {
                return Verdict::Drop(DropCause::SharedMemory);
            }
        }
        if self.memory.limit.is_some_and(|limit| self.port(port, queue, after) > i128::from(limit)) {
            return Verdict::Drop(DropCause::PortMemory);
        }
        if self.free(pool, queue, after) < 0 {
            return Verdict::Drop(DropCause::SharedMemory);
        }
        Verdict::Pass
    }
}

/// The limit while `used` units are in use.
fn limit_at(fall: Option<FallConfig>, limit: i128, minimum: i128, used: i128) -> i128 {
    let Some(FallConfig { start, end, slope }) = fall else { return limit };
    let (start, end) = (i128::from(start), i128::from(end));
    if used <= start {
        limit
    } else if used >= end {
        minimum
    } else {
        match slope {
            FallSlope::Early => minimum,
            FallSlope::Late => limit,
            FallSlope::Linear => {
                limit - ((limit - minimum) * (used - start) + end - start - 1) / (end - start)
            }
        }
    }
}

fn fall() -> impl Strategy<Value = Option<FallConfig>> {
    let slope = prop_oneof![Just(FallSlope::Linear), Just(FallSlope::Early), Just(FallSlope::Late)];
    prop::option::of((0..60u32, 1..60u32, slope).prop_map(|(start, span, slope)| FallConfig {
        start,
        end: start + span,
        slope,
    }))
}

fn memory() -> impl Strategy<Value = MemoryConfig> {
    let unit = prop_oneof![Just(208u32), Just(256), Just(416), 1..2000u32];
    (unit, 0..30u32, 0..120u32, 0..20u32, prop::option::of(0..90u32), fall(), fall()).prop_map(
        |(unit_bytes, overhead, shared, reserved, limit, port_fall, pool_fall)| MemoryConfig {
            unit_bytes,
            overhead,
            shared,
            pool: None,
            reserved,
            limit,
            port_fall,
            pool_fall,
        },
    )
}

fn queue() -> impl Strategy<Value = SharedMemoryConfig> {
    let alpha = prop_oneof![Just(0.125), Just(0.5), Just(1.75), Just(8.0)];
    let limit = prop::option::of((1..80u32, 0.0..1.0f64, 0.0..1.0f64));
    (0..20u32, limit, prop::option::of(alpha), prop::collection::vec(1..100u32, 0..4)).prop_map(
        |(reserved, limit, alpha, thresholds)| {
            let part = |(limit, part, _): (u32, f64, f64)| (f64::from(limit) * part) as u32;
            SharedMemoryConfig {
                reserved,
                limit: limit.map(|limit| limit.0),
                alpha,
                port_minimum: limit.map(part),
                pool_minimum: limit.map(|(limit, first, second)| part((limit, second, first))),
                thresholds,
                profiles: None,
            }
        },
    )
}

/// An arrival at a queue (its length and drop precedence), or a departure from the queue.
type Event = (usize, Option<(u32, usize)>);

fn events() -> impl Strategy<Value = Vec<Event>> {
    let arrival = prop::option::weighted(0.6, (1..1600u32, 0..4usize));
    prop::collection::vec((0..QUEUES, arrival), 1..400)
}

fn build(config: &MemoryConfig, queues: &[SharedMemoryConfig]) -> Vec<MemoryQueue> {
    let mut pools = MemoryPools::default();
    let (mut managers, streams) = (Vec::new(), Streams::new(1, 0));
    for (port, pool) in POOL_OF_PORT.into_iter().enumerate() {
        let named = MemoryConfig { pool: Some(format!("pool {pool}")), ..config.clone() };
        let memory = pools.port(&named).unwrap();
        managers.extend(
            queues[2 * port..2 * port + 2].iter().map(|queue| memory.queue(queue, &streams).unwrap()),
        );
    }
    managers
}

proptest! {
    #[test]
    fn verdicts_and_units_are_those_of_plain_arithmetic(
        config in memory(),
        queues in prop::collection::vec(queue(), QUEUES),
        events in events(),
    ) {
        let mut managers = build(&config, &queues);
        let mut plain = Plain { memory: config, queues, waiting: vec![VecDeque::new(); QUEUES] };
        let occupancy = Occupancy::default();
        let packet = |length| Packet::new(FlowKey::default(), length);
        for (queue, event) in events {
            let (manager, now) = (&mut managers[queue], Time::ZERO);
            if let Some((length, precedence)) = event {
                let expected = plain.verdict(queue, length, precedence);
                let found = manager.admit(now, &packet(length), Color::new(precedence), &occupancy);
                prop_assert_eq!(found, expected);
                if found == Verdict::Pass {
                    plain.waiting[queue].push_back(length);
                }
            } else if let Some(length) = plain.waiting[queue].pop_front() {
                manager.release(now, &packet(length), Color::GREEN, Stay::default(), &occupancy);
            }
            let units: Vec<i128> = managers.iter().map(|queue| queue.units().into()).collect();
            prop_assert_eq!(units, (0..QUEUES).map(|queue| plain.used(queue)).collect::<Vec<_>>());
            for (port, pool) in POOL_OF_PORT.into_iter().enumerate() {
                let memory = managers[2 * port].port();
                let (first, held) = (2 * port, plain.used(2 * port));
                prop_assert_eq!(i128::from(memory.shared_units()), plain.port(port, first, held));
                prop_assert_eq!(i128::from(memory.free_units()), plain.free(pool, first, held));
            }
        }
    }
}

proptest! {
    /// Choudhury and Hahne 1998, section III: with the factor α, each of `busy` queues that always have
    /// arriving packets uses α / (1 + α × busy) of the memory, rounded to whole units.
    #[test]
    fn busy_queues_hold_equal_parts_of_a_dynamic_limit(
        busy in 1..=QUEUES,
        eighths in 1..=160u32,
        shared in 100..5000u32,
    ) {
        let alpha = f64::from(eighths) / 8.0;
        let config = MemoryConfig {
            unit_bytes: 208, overhead: 0, shared, pool: None, reserved: 0, limit: None, port_fall: None, pool_fall: None,
        };
        let port = MemoryPools::default().port(&config).unwrap();
        let queue = SharedMemoryConfig { alpha: Some(alpha), ..SharedMemoryConfig::default() };
        let mut queues: Vec<MemoryQueue> = (0..busy).map(|_| port.queue(&queue, &Streams::new(1, 0)).unwrap()).collect();
        while queues.iter_mut().filter_map(|queue| queue.take(64, Color::GREEN).ok()).count() > 0 {}
        let expected = alpha * f64::from(shared) / (1.0 + alpha * busy as f64);
        for queue in &queues {
            let found = queue.units() as f64;
            prop_assert!((found - expected).abs() < 1.0, "{found} units instead of {expected}");
        }
    }
}
