//! The guarantees of classes with a shaper.

use std::ops::Range;

use perhop_analysis::rates::shaped_rate;
use perhop_qos::policy::QueueingConfig;
use perhop_qos::scheduler::ShapeConfig;

use crate::arrival::Arrival;
use crate::capacity::limits_of_all;
use crate::guarantee::{Guarantee, Plain};
use crate::lengths::Lengths;
use crate::rule::Rule;
use crate::schedule::{Above, PICOSECOND};
use crate::service::{RateLatency, Service};

/// Returns the rate and the size of a shaper's token bucket, in bytes per second and bytes that the policy
/// counts.
fn bucket(shape: &ShapeConfig) -> (f64, f64) {
    (shaped_rate(shape) / 8.0, (shape.burst.as_bytes() + shape.excess.as_bytes()) as f64)
}

/// Returns the shapers of `config`, inner ones first. Each shaper has the range of its queues and the arrival
/// curve of its output. The first queue of `config` has number `first`, and the longest packet has `longest`
/// bytes.
pub fn shapers(config: &QueueingConfig, first: usize, longest: f64) -> Vec<(Range<usize>, Arrival)> {
    let (mut next, mut found) = (first, Vec::new());
    for class in &config.classes {
        let inside = class.queueing.as_ref().map_or_else(Vec::new, |inner| shapers(inner, next, longest));
        let count = class.queueing.as_ref().map_or(1, |inner| limits_of_all(inner).len());
        found.extend(inside);
        if let Some(shape) = &class.shape {
            let (rate, depth) = bucket(shape);
            // A packet that is longer than the bucket is sent when the bucket is full.
            let curve = Arrival::token_bucket(depth.max(longest) + rate * PICOSECOND, rate);
            found.push((next..next + count, curve));
        }
        next += count;
    }
    found
}

/// Returns the guarantee of a class that is alone and has packets of `lengths`. Only its shaper and the wire
/// delay these packets.
///
/// The bucket never overflows while packets wait, because a packet on the wire uses more tokens than arrive
/// during its transmission. X bytes therefore end after X / r plus the times of two packets: the packet that
/// is on the wire before them, and the last packet itself. A packet that is longer than the bucket leaves a
/// debt. If the ring contains several packets, [`among`] gives the guarantee.
pub fn sole(above: &Above, shape: &ShapeConfig, lengths: &Lengths) -> Guarantee {
    let (rate, depth) = bucket(shape);
    let cost = above.measure.per(above.counted, lengths);
    let [line] = above.strict.lines() else { return Guarantee::none(above.counted, "two shapers") };
    if !above.is_at_wire || rate * cost > line.rate {
        return among(above, above.whole(), shape, lengths);
    }
    let (longest, on_wire) = (above.counted.most(lengths), above.measure.most(lengths) / line.rate);
    let debt = (longest - depth).max(0.0) / rate;
    let service = Service::rate_latency(rate, debt + 2.0 * on_wire);
    above.guarantee(above.counted, service.clone(), service, Rule::Shaper)
}

/// Returns the guarantee of a class that shares the port with other classes and has packets of `lengths`.
/// `scheduled` is the guarantee of the scheduler for packets that the shaper has released.
///
/// X bytes wait for tokens for at most X / r plus the time of a debt. In this time, the bucket receives at
/// most the tokens of two packets and of the scheduler's latency. If the bucket has room for these tokens, no
/// token is lost. For the scheduler, packets have then always waited since the last packet that had to wait
/// for tokens. Otherwise, each packet may wait for the scheduler separately.
pub fn among(above: &Above, scheduled: Guarantee, shape: &ShapeConfig, lengths: &Lengths) -> Guarantee {
    let (rate, depth) = bucket(shape);
    let counted = scheduled.counted(above.counted, lengths);
    let strict = match counted.strict {
        Ok(strict) => strict,
        Err(reason) => return Guarantee::none(above.counted, &reason),
    };
    let (longest, shortest) = (above.counted.most(lengths), above.counted.least(lengths));
    let alone = 1.0 / (1.0 / rate + strict.time(longest) / shortest);
    let mut service = Service::rate_latency(alone, (longest - depth).max(0.0) / rate);
    let fits = |line: &&RateLatency| line.rate >= rate && depth >= 2.0 * longest + rate * line.latency;
    for line in strict.lines().iter().filter(fits) {
        service = service.or(&Service::rate_latency(rate, line.latency + longest / line.rate));
    }
    let rules = counted.rules.into_iter().chain([Rule::Shaper]).collect();
    let (plain, strict) = (Ok(Plain::Line(service.clone())), Ok(service));
    Guarantee { measure: above.counted, plain, strict, rules }
}
