//! The proved properties of the schedulers, checked for all packets that a wire has sent: delay bounds,
//! fairness bounds, and shares within a round. Property tests and fuzzing share these checks.
//!
//! Wires run at 8 Mb/s, one byte per microsecond.

#![allow(clippy::doc_markdown)] // formulas

use perhop_qos::scheduler::SchedulerConfig;
use perhop_qos::units::{Rate, Time};

use super::fluid;
use super::wire::{Arrival, Departure};

pub(crate) const RATE: Rate = Rate::from_bits_per_second(8_000_000);
/// The bytes per second of [`RATE`].
pub(crate) const BYTES_PER_SECOND: f64 = 1e6;
/// The bytes of a DRR quantum for a weight of 1.
pub(crate) const QUANTUM: f64 = 500.0;

/// Checks all proved properties of `scheduler` with the `weights` of its classes.
///
/// # Panics
/// A property does not hold.
pub(crate) fn check(
    scheduler: SchedulerConfig,
    weights: &[f64],
    arrivals: &[Arrival],
    departures: &[Departure],
) {
    let longest = |queue| longest(arrivals, Some(queue));
    match scheduler {
        SchedulerConfig::Fifo => {
            assert!(departures.iter().map(|departure| departure.arrival).is_sorted(), "first in, first out");
        }
        SchedulerConfig::Priority => priority(arrivals, departures),
        // A round sends `weight` packets of each class, and the weights in these tests are integers. Between
        // two turns of a class, each other class has one turn, so no class is ahead by more than a round.
        SchedulerConfig::Wrr => fairness(arrivals, departures, |queue, _| 1.0 / weights[queue], |_| 0.5),
        // Shreedhar & Varghese 1995, theorem: the numbers of bytes that two backlogged classes have sent for
        // each byte of their quanta differ by at most 2 Max + Q, in units of the smallest quantum Q.
        SchedulerConfig::Drr => {
            let smallest = weights.iter().copied().fold(f64::INFINITY, f64::min);
            let bound = f64::from(arrivals.iter().map(|arrival| arrival.length).max().unwrap_or(0))
                + QUANTUM * smallest / 2.0;
            let sent = |queue: usize, length| f64::from(length) * smallest / weights[queue];
            fairness(arrivals, departures, sent, |_| bound);
        }
        // Golestani 1994, theorem 1: |W_i / φ_i − W_j / φ_j| ≤ L_i / φ_i + L_j / φ_j.
        SchedulerConfig::Scfq => {
            scfq_delay(weights, arrivals, departures);
            let sent = |queue: usize, length| f64::from(length) / weights[queue];
            fairness(arrivals, departures, sent, |queue| longest(queue) / weights[queue]);
        }
        SchedulerConfig::Wfq => wfq_delay(weights, arrivals, departures),
        SchedulerConfig::Wf2qPlus => worst_case_fair(weights, arrivals, departures),
        SchedulerConfig::ThreeParameter
        | SchedulerConfig::Cbq
        | SchedulerConfig::Hfsc
        | SchedulerConfig::Htb
        | SchedulerConfig::GuaranteeExcess => {}
    }
}

fn longest(arrivals: &[Arrival], queue: Option<usize>) -> f64 {
    let packets = arrivals.iter().filter(|arrival| queue.is_none_or(|queue| arrival.queue == queue));
    f64::from(packets.map(|arrival| arrival.length).max().unwrap_or(0))
}

/// The bytes of `queue` that the wire has sent by `now`, including the part of the current packet that has
/// been sent.
pub(crate) fn served(departures: &[Departure], queue: Option<usize>, now: Time) -> f64 {
    let of_queue = departures.iter().filter(|departure| queue.is_none_or(|queue| departure.queue == queue));
    of_queue
        .map(|d| (now.saturating_sub(d.starts).as_seconds() * BYTES_PER_SECOND).min(f64::from(d.length)))
        .sum()
}

/// A packet of a higher level waits for at most one packet of a lower level, the packet that is being sent.
fn priority(arrivals: &[Arrival], departures: &[Departure]) {
    for lower in departures {
        let overtaken = departures.iter().find(|higher| {
            higher.queue < lower.queue
                && arrivals[higher.arrival].at <= lower.starts
                && higher.starts > lower.starts
        });
        assert!(overtaken.is_none(), "{lower:?} before {overtaken:?}");
    }
}

/// Parekh & Gallager 1993, theorem 1: each packet ends at most one longest packet time later than in the
/// fluid server.
fn wfq_delay(weights: &[f64], arrivals: &[Arrival], departures: &[Departure]) {
    let fluid = fluid::finish_times(arrivals, weights, BYTES_PER_SECOND);
    for departure in departures {
        let bound = fluid[departure.arrival] + longest(arrivals, None) / BYTES_PER_SECOND;
        // The fluid model uses floating point, so the tolerance is one picosecond.
        assert!(departure.ends.as_seconds() <= bound + 1e-12, "{departure:?}: {bound}");
    }
}

/// Bennett & Zhang 1997 on WF2Q+, bit worst-case fair index: from the arrival a of a packet to its end d,
/// W_i(a, d) ≥ φ_i W(a, d) − (L_i + (L − L_i) φ_i).
fn worst_case_fair(weights: &[f64], arrivals: &[Arrival], departures: &[Departure]) {
    for departure in departures {
        let queue = Some(departure.queue);
        let part = weights[departure.queue] / weights.iter().sum::<f64>();
        let own = longest(arrivals, queue);
        let index = own + (longest(arrivals, None) - own) * part;
        let (from, to) = (arrivals[departure.arrival].at, departure.ends);
        let sent = |queue| served(departures, queue, to) - served(departures, queue, from);
        assert!(sent(queue) >= part * sent(None) - index - 1e-3, "{departure:?}");
    }
}

/// Goyal, Vin & Cheng 1996 on SCFQ: a packet ends no later than its guaranteed-rate clock, G = max(a, G of
/// the previous packet) + L / ρ_i, plus the time of one longest packet of each other class.
fn scfq_delay(weights: &[f64], arrivals: &[Arrival], departures: &[Departure]) {
    let longest = |queue| longest(arrivals, Some(queue)) / BYTES_PER_SECOND;
    let mut clocks = vec![0.0f64; weights.len()];
    for departure in departures {
        let rate = BYTES_PER_SECOND * weights[departure.queue] / weights.iter().sum::<f64>();
        let clock = &mut clocks[departure.queue];
        *clock = clock.max(arrivals[departure.arrival].at.as_seconds()) + f64::from(departure.length) / rate;
        let others: f64 = (0..weights.len()).filter(|queue| *queue != departure.queue).map(longest).sum();
        assert!(departure.ends.as_seconds() <= *clock + others + 1e-9, "{departure:?}");
    }
}

/// Checks that in each interval in which two classes are backlogged, their service differs by at most the sum
/// of their bounds. `counts` returns the service of one packet, given its class and its length. `bound`
/// returns the bound of a class.
fn fairness(
    arrivals: &[Arrival],
    departures: &[Departure],
    counts: impl Fn(usize, u32) -> f64,
    bound: impl Fn(usize) -> f64,
) {
    let queues = 1 + arrivals.iter().map(|arrival| arrival.queue).max().unwrap_or(0);
    let busy: Vec<_> = (0..queues).map(|queue| busy_periods(arrivals, departures, queue)).collect();
    for (queue, other) in (0..queues).flat_map(|queue| (0..queue).map(move |other| (queue, other))) {
        let bound = bound(queue) + bound(other);
        for (left, right) in
            busy[queue].iter().flat_map(|left| busy[other].iter().map(move |right| (left, right)))
        {
            let (from, to) = (left.0.max(right.0), left.1.min(right.1));
            let inside = |departure: &&Departure| departure.starts >= from && departure.starts <= to;
            let inside: Vec<&Departure> = departures.iter().filter(inside).collect();
            for first in 0..inside.len() {
                let mut ahead = 0.0;
                for departure in &inside[first..] {
                    let sent = counts(departure.queue, departure.length);
                    ahead += match departure.queue {
                        sender if sender == queue => sent,
                        sender if sender == other => -sent,
                        _ => 0.0,
                    };
                    assert!(
                        ahead.abs() <= bound + 1e-6,
                        "{queue} and {other}: {ahead} of {bound} at {departure:?}"
                    );
                }
            }
        }
    }
}

/// The periods in which `queue` is backlogged. The last period ends when the last packet has left.
fn busy_periods(arrivals: &[Arrival], departures: &[Departure], queue: usize) -> Vec<(Time, Time)> {
    let mut periods: Vec<(Time, Time)> = Vec::new();
    for departure in departures.iter().filter(|departure| departure.queue == queue) {
        let at = arrivals[departure.arrival].at;
        match periods.last_mut() {
            Some((_, until)) if at <= *until => *until = departure.starts,
            _ => periods.push((at, departure.starts)),
        }
    }
    periods
}
