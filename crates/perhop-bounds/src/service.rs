//! [`Service`]: a lower bound of the sent bytes (Le Boudec and Thiran, "Network Calculus", 2001, §1.3).

use crate::arrival::Arrival;

/// A service curve for whole packets. In `t` seconds in which packets always wait, the complete packets that
/// are sent have at least the amount `rate · (t − latency)` of every line. The curve is convex and piecewise
/// linear.
///
/// The proofs use the inverse, [`Service::time`]. They compare a packet with any earlier packet of the same
/// busy period. The packet ends at most `time(amount)` after the arrival of the earlier packet. `amount` is
/// the sum of these two packets and all packets between them. This is the definition of latency-rate servers
/// by Stiliadis and Varma (IEEE/ACM Transactions on Networking 6(5), 1998), applied to packets.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Service {
    /// The lines that are the maximum for some time, in order of increasing rate and latency. The list is
    /// empty if nothing is guaranteed.
    lines: Vec<RateLatency>,
}

/// A service rate that begins after a latency.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RateLatency {
    /// The amount per second.
    pub rate: f64,
    /// The latency, in which possibly no packet is sent, seconds.
    pub latency: f64,
}

impl RateLatency {
    /// Returns the time until `amount` has been sent, seconds.
    pub fn time(self, amount: f64) -> f64 {
        self.latency + amount / self.rate
    }
}

impl Service {
    /// Creates the curve of one line: `rate` per second after `latency` seconds.
    pub fn rate_latency(rate: f64, latency: f64) -> Service {
        Service::largest_of(vec![RateLatency { rate, latency }])
    }
    /// Returns the lines, in order of increasing rate.
    pub fn lines(&self) -> &[RateLatency] {
        &self.lines
    }
    /// Whether the curve guarantees any service.
    pub fn is_some(&self) -> bool {
        !self.lines.is_empty()
    }
    /// Returns the long-term rate per second; 0 if nothing is guaranteed.
    pub fn rate(&self) -> f64 {
        self.lines.last().map_or(0.0, |line| line.rate)
    }
    /// Returns the amount that is sent in the first `seconds`.
    pub fn at(&self, seconds: f64) -> f64 {
        self.lines.iter().map(|line| line.rate * (seconds - line.latency)).fold(0.0, f64::max)
    }
    /// Returns the longest time until `amount` has been sent, seconds; infinity if nothing is guaranteed.
    pub fn time(&self, amount: f64) -> f64 {
        self.lines.iter().map(|line| line.time(amount)).fold(f64::INFINITY, f64::min)
    }
    /// Returns the amounts above which another line is the largest.
    pub fn corners(&self) -> impl Iterator<Item = f64> {
        let crossing = |pair: &[RateLatency]| {
            (pair[1].latency - pair[0].latency) / (1.0 / pair[0].rate - 1.0 / pair[1].rate)
        };
        self.lines.windows(2).map(crossing)
    }
    /// Returns the service that remains after the arrivals `before`, which are served first: `β(t) − α(t)`
    /// (Le Boudec and Thiran 2001, §6.2.1).
    pub fn less(&self, before: &Arrival) -> Service {
        let left = self.lines.iter().flat_map(|line| {
            before.buckets().iter().filter(|bucket| bucket.rate < line.rate).map(|bucket| {
                let rate = line.rate - bucket.rate;
                RateLatency { rate, latency: (line.rate * line.latency + bucket.burst) / rate }
            })
        });
        Service::largest_of(left.collect())
    }
    /// Returns the service of one class. Each unit of the class uses `factor` units of this service, and
    /// `fixed` units are used once in addition.
    pub fn shared(&self, factor: f64, fixed: f64) -> Service {
        let part = |line: &RateLatency| RateLatency {
            rate: line.rate / factor,
            latency: line.latency + fixed / line.rate,
        };
        Service::largest_of(self.lines.iter().map(part).collect())
    }
    /// Returns the larger of two guarantees. Both must be valid at all times.
    pub fn or(&self, other: &Service) -> Service {
        Service::largest_of(self.lines.iter().chain(&other.lines).copied().collect())
    }
    /// Returns the service of this server followed by `next`, for packets of up to `longest`. The latencies
    /// are added, the lower rate applies, and `next` adds the time of one whole packet (bursts are paid only
    /// once: Le Boudec and Thiran 2001, theorem 1.4.6, and §1.7 on packetizers).
    pub fn then(&self, next: &Service, longest: f64) -> Service {
        let pairs = self.lines.iter().flat_map(|line| {
            next.lines.iter().map(move |after| RateLatency {
                rate: line.rate.min(after.rate),
                latency: line.latency + after.latency + longest / line.rate.max(after.rate),
            })
        });
        Service::largest_of(pairs.collect())
    }

    /// Returns the maximum of `lines`. Lines that are never the largest are omitted.
    fn largest_of(mut lines: Vec<RateLatency>) -> Service {
        lines.sort_by(|first, second| {
            first.rate.total_cmp(&second.rate).then(second.latency.total_cmp(&first.latency))
        });
        let mut kept: Vec<RateLatency> = Vec::with_capacity(lines.len());
        for line in lines {
            // A faster line whose latency is not longer is always above the slower line.
            while kept.last().is_some_and(|last| last.latency >= line.latency) {
                kept.pop();
            }
            while let [.., before, last] = kept[..]
                && crosses(before, line) <= crosses(before, last)
            {
                kept.pop();
            }
            kept.push(line);
        }
        Service { lines: kept }
    }
}

/// Returns the amount above which `faster` ends earlier than `slower`.
fn crosses(slower: RateLatency, faster: RateLatency) -> f64 {
    (faster.latency - slower.latency) / (1.0 / slower.rate - 1.0 / faster.rate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_of_several_lines() {
        // The first line is 100/s without latency, and the second line is 200/s after 1 s. Both lines reach
        // an amount of 200 at 2 s. The third line is below both.
        let both = Service::rate_latency(100.0, 0.0).or(&Service::rate_latency(200.0, 1.0));
        let all = both.or(&Service::rate_latency(150.0, 0.9));
        assert_eq!(all, both);
        assert_eq!(both.corners().collect::<Vec<_>>(), [200.0]);
        assert_eq!([both.at(1.0), both.at(2.0), both.at(3.0)], [100.0, 200.0, 400.0]);
        assert_eq!([both.time(100.0), both.time(200.0), both.time(400.0)], [1.0, 2.0, 3.0]);
        assert_eq!((both.rate(), Service::default().rate()), (200.0, 0.0));
        assert_eq!(Service::default().time(1.0), f64::INFINITY);
    }

    #[test]
    fn residual_service() {
        // The curve 1000 (t − 0.5) minus the arrivals 200 + 600 t is 400 t − 700 = 400 (t − 1.75).
        let left = Service::rate_latency(1000.0, 0.5).less(&Arrival::token_bucket(200.0, 600.0));
        assert_eq!(left.lines(), [RateLatency { rate: 400.0, latency: 1.75 }]);
        assert!(!Service::rate_latency(1000.0, 0.5).less(&Arrival::token_bucket(0.0, 1000.0)).is_some());
        // Each unit of the class takes two units of the service, and 300 units are added.
        let part = Service::rate_latency(1000.0, 0.5).shared(2.0, 300.0);
        assert_eq!(part.lines(), [RateLatency { rate: 500.0, latency: 0.8 }]);
    }

    #[test]
    fn servers_in_series() {
        let both = Service::rate_latency(100.0, 1.0).then(&Service::rate_latency(400.0, 2.0), 40.0);
        assert_eq!(both.lines(), [RateLatency { rate: 100.0, latency: 3.1 }]);
    }
}
