//! [`Queue`]: a queue and its arrivals. [`QueueBound`]: the bounds of a queue.

use perhop_qos::buffer::{MemoryConfig, SharedMemoryConfig};
use perhop_qos::policy::WireConfig;
use perhop_qos::units::QueueSize;

use crate::arrival::Arrival;
use crate::capacity::largest_content;
use crate::deviation::{self, widened};
use crate::guarantee::{Guarantee, Plain, line_delay};
use crate::lengths::{Lengths, Measure};
use crate::rule::Rule;
use crate::service::Service;
use crate::stream::{self, Stream};

/// A queue and its arrivals.
#[derive(Clone, Debug)]
pub struct Queue<'a> {
    /// The streams that arrive at the queue.
    pub streams: &'a [Stream],
    /// The packets that the policer of the queue passes while packets wait, IP bytes.
    pub policer: Option<Arrival>,
    /// The limits of the queue.
    pub limits: &'a [QueueSize],
    /// Whether packets of different flows may depart in another order than they arrived.
    pub is_fair: bool,
    /// The wire of the port.
    pub wire: WireConfig,
}

/// The bounds of a queue. Times are in seconds, and amounts in IP bytes.
#[derive(Clone, Debug)]
pub struct QueueBound {
    /// The arrival curve after the policer of the queue.
    pub arrival: Option<Arrival>,
    /// Whether a policer of the queue limits `arrival`.
    pub is_policed: bool,
    /// The long-term service rate while packets wait, bytes per second. It is 0 if nothing is guaranteed.
    pub rate: f64,
    /// The time from the arrival of a packet until its last bit is on the wire, or the reason why this time
    /// is unbounded.
    pub delay: Result<f64, String>,
    /// The rules from which the delay is derived.
    pub rules: Vec<Rule>,
    /// The largest content of the queue, IP bytes.
    pub backlog_bytes: Result<f64, String>,
    /// The largest content of the queue, packets.
    pub backlog_packets: Result<f64, String>,
    /// Whether packets may arrive when the queue is full. It is `None` if the queue has no limit.
    pub overflows: Option<bool>,
    /// The service curve, IP bytes.
    pub service: Option<Service>,
    /// The shortest delay of a packet.
    pub least_delay: f64,
    /// The lengths of the packets of the queue.
    pub lengths: Lengths,
}

impl Queue<'_> {
    /// Computes the bounds of a queue with this `guarantee` from the scheduler. Returns `None` if nothing
    /// arrives.
    pub fn bound(&self, guarantee: Guarantee) -> Option<QueueBound> {
        let lengths = stream::lengths(self.streams)?;
        let Guarantee { measure, strict, plain, rules } = guarantee;
        let (ip, arrival) = (self.arrival(Measure::Ip, &lengths), self.arrival(measure, &lengths));
        let wire = Measure::Wire(self.wire);
        let rate = self.wire.rate.as_bits_per_second() as f64 / 8.0;
        let line = plain.as_ref().map(Plain::line).unwrap_or_default();
        let grain = lengths.only().map(|length| measure.amount(length));
        let by_arrivals = match (&plain, &arrival) {
            (Err(reason), _) => Err(reason.clone()),
            (_, None) => Err("the arrivals at this queue have no bound".to_owned()),
            (Ok(plain), Some(arrival)) => plain.delay(arrival, grain).ok_or_else(|| exceeded(&line, arrival)),
        };
        let full = largest_content(self.limits, &lengths, measure);
        let by_limit = strict.as_ref().ok().zip(full).map(|(strict, full)| strict.time(full));
        let (delay, rules) = least(by_arrivals, by_limit, rules);
        let backlog =
            arrival.as_ref().and_then(|arrival| in_queue(arrival, &line, measure, &lengths, self.wire));
        let per_unit = Measure::Ip.per(measure, &lengths);
        let mut bound = QueueBound {
            arrival: ip,
            is_policed: self.policer.is_some(),
            rate: line.rate()
                * lengths.each().map(|l| f64::from(l) / measure.amount(l)).fold(f64::INFINITY, f64::min),
            delay: if self.is_fair { Err(FAIR.to_owned()) } else { delay.map(widened) },
            rules,
            backlog_bytes: Err(String::new()),
            backlog_packets: Err(String::new()),
            overflows: None,
            service: line.is_some().then(|| line.shared(measure.per(Measure::Ip, &lengths), 0.0)),
            least_delay: wire.least(&lengths) / rate,
            lengths,
        };
        bound.limit_backlog(
            backlog.map(|amount| amount * per_unit),
            backlog.map(|amount| amount / measure.least(&bound.lengths)),
        );
        bound.limit(self.limits);
        Some(bound)
    }

    /// Returns the arrival curve after the policer; `None` if it is unbounded.
    fn arrival(&self, measure: Measure, lengths: &Lengths) -> Option<Arrival> {
        let policed = self.policer.as_ref().map(|policer| policer.scaled(measure.per(Measure::Ip, lengths)));
        match (stream::arrival(self.streams, measure), policed) {
            (Some(arrival), Some(policed)) => Some(arrival.within(&policed)),
            (arrival, policed) => arrival.or(policed),
        }
    }
}

/// Returns the largest content of a queue with these arrivals and the service curve `line`, in `measure`.
///
/// The queue contains whole packets. A packet leaves the queue when its first bit is sent, but `line` counts
/// the packet when its last bit is sent, `wire / C` later. In this time, a line of rate r serves r · wire / C
/// of the packet. The difference to the packet's length is added to the backlog.
fn in_queue(
    arrival: &Arrival,
    line: &Service,
    measure: Measure,
    lengths: &Lengths,
    wire: WireConfig,
) -> Option<f64> {
    let bytes_per_second = wire.rate.as_bits_per_second() as f64 / 8.0;
    let slowest = line.lines().first()?.rate;
    let on_wire = Measure::Wire(wire);
    let rest = lengths
        .greatest(|length| measure.amount(length) - slowest * on_wire.amount(length) / bytes_per_second);
    Some(deviation::backlog(arrival, line)? + rest)
}

/// The reason why a queue that consists of several flow queues has no delay bound.
const FAIR: &str = "packets leave this queue in a different order than they arrive";

/// Explains why a service curve gives no delay bound.
fn exceeded(line: &Service, arrival: &Arrival) -> String {
    format!(
        "the arrivals, up to {:.0} per second, exceed the guaranteed {:.0} per second",
        arrival.rate(),
        line.rate()
    )
}

/// Returns the smaller of two bounds, and its rules. One bound follows from the arrivals, the other one from
/// the limit.
fn least(
    by_arrivals: Result<f64, String>,
    by_limit: Option<f64>,
    rules: Vec<Rule>,
) -> (Result<f64, String>, Vec<Rule>) {
    match (by_arrivals, by_limit) {
        (Ok(arrivals), Some(limit)) if arrivals <= limit => (Ok(arrivals), rules),
        (_, Some(limit)) => (Ok(limit), rules.into_iter().chain([Rule::QueueLimit]).collect()),
        (by_arrivals, None) => (by_arrivals, rules),
    }
}

impl QueueBound {
    /// Improves the bounds with `rest`, the service in `measure` that remains after all other queues.
    pub fn improve(&mut self, streams: &[Stream], rest: &Service, measure: Measure, wire: WireConfig) {
        let Some(arrival) = stream::arrival(streams, measure) else { return };
        let per_ip = measure.per(Measure::Ip, &self.lengths);
        let service = rest.shared(per_ip, 0.0);
        self.service = Some(self.service.take().map_or(service.clone(), |own| own.or(&service)));
        self.rate = self.rate.max(service.rate());
        let fair = self.delay.as_ref().is_err_and(|reason| reason == FAIR);
        let grain = self.lengths.only().map(|length| measure.amount(length));
        if let Some(delay) = line_delay(&arrival, rest, grain).map(widened)
            && !fair
            && self.delay.as_ref().is_ok_and(|own| delay < *own) | self.delay.is_err()
        {
            self.delay = Ok(delay);
            self.rules = vec![Rule::Rest];
        }
        if let Some(backlog) = in_queue(&arrival, rest, measure, &self.lengths, wire) {
            let bytes = backlog * Measure::Ip.per(measure, &self.lengths);
            self.limit_backlog(Some(bytes), Some(backlog / measure.least(&self.lengths)));
        }
    }

    /// Records upper bounds of the content of the queue: `bytes` and `packets`, and the packets that arrive
    /// during the largest delay.
    fn limit_backlog(&mut self, bytes: Option<f64>, packets: Option<f64>) {
        let arrived =
            self.arrival.as_ref().zip(self.delay.as_ref().ok()).map(|(arrival, delay)| arrival.at(*delay));
        let least = f64::from(self.lengths.least());
        let bytes = bytes.into_iter().chain(arrived).map(widened).map(f64::floor);
        let arrived_packets = arrived.map(|bytes| bytes / least);
        let packets = packets.into_iter().chain(arrived_packets).map(widened).map(f64::floor);
        lower(&mut self.backlog_bytes, bytes.fold(f64::INFINITY, f64::min));
        lower(&mut self.backlog_packets, packets.fold(f64::INFINITY, f64::min));
    }

    /// Records whether the backlog may exceed the reserved part of `memory`. The queue is certain to have
    /// only this part, because other queues may use the rest.
    pub fn check_reserved(&mut self, queue: &SharedMemoryConfig, memory: Option<&MemoryConfig>) {
        let fits = memory.is_some_and(|memory| {
            let bytes = u64::from(self.lengths.most()) + u64::from(memory.overhead);
            let units = bytes.div_ceil(memory.unit_bytes.max(1).into()) as f64;
            let reserved = queue.thresholds.iter().copied().chain([queue.reserved]).min().unwrap_or(0);
            self.backlog_packets.as_ref().is_ok_and(|packets| packets * units <= f64::from(reserved))
        });
        self.overflows = Some(!fits);
    }

    /// Applies the limits of the queue to its bounds.
    fn limit(&mut self, limits: &[QueueSize]) {
        let Some(bytes) = largest_content(limits, &self.lengths, Measure::Ip) else { return };
        let packets = largest_content(limits, &self.lengths, Measure::Packets).unwrap_or(f64::INFINITY);
        let needs_more = |limit: &QueueSize| match *limit {
            QueueSize::Packets(most) => !self.backlog_packets.as_ref().is_ok_and(|held| *held <= most as f64),
            QueueSize::Bytes(most) => !self.backlog_bytes.as_ref().is_ok_and(|held| *held <= most as f64),
        };
        self.overflows = Some(limits.iter().any(needs_more));
        lower(&mut self.backlog_bytes, bytes);
        // Packets are whole, so the number of packets is rounded down.
        lower(&mut self.backlog_packets, packets.floor());
    }
}

/// Replaces `bound` by `other` if `other` is smaller.
fn lower(bound: &mut Result<f64, String>, other: f64) {
    match bound {
        Ok(own) if *own <= other => {}
        _ if other.is_finite() => *bound = Ok(other),
        Err(reason) if reason.is_empty() => {
            "neither the arrivals nor the length of the queue have a bound".clone_into(reason);
        }
        _ => {}
    }
}
