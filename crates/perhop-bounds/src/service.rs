//! [`Service`]: a lower bound of the sent bytes (Le Boudec and Thiran, "Network Calculus", 2001, §1.3).

use crate::arrival::Arrival;

/// A service curve of whole packets: of packets that have waited for `t` seconds, at least the largest of
/// `rate · (t − latency)` has been sent to the last bit. Convex and piecewise linear.
///
/// The inverse, [`Service::time`], is the statement of the proofs: a packet ends at most `time(amount)` after
/// the arrival of any earlier packet of the same busy period, where `amount` is the sum from that packet up
/// to itself (the latency-rate servers of Stiliadis and Varma, IEEE/ACM Transactions on Networking 6(5),
/// 1998, packet by packet).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Service {
    /// The lines that are the largest somewhere, by increasing rate and latency. Empty if nothing is
    /// guaranteed.
    lines: Vec<RateLatency>,
}

/// A rate after a latency in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RateLatency {
    /// The amount per second.
    pub rate: f64,
    /// The latency, in which no packet may be sent, seconds.
    pub latency: f64,
}

impl RateLatency {
    /// The time at which `amount` has been sent, seconds.
    pub fn time(self, amount: f64) -> f64 {
        self.latency + amount / self.rate
    }
}

impl Service {
    /// `rate` per second after `latency` seconds.
    pub fn rate_latency(rate: f64, latency: f64) -> Service {
        Service::largest_of(vec![RateLatency { rate, latency }])
    }
    /// The lines, the slowest first.
    pub fn lines(&self) -> &[RateLatency] {
        &self.lines
    }
    /// Whether it guarantees anything.
    pub fn is_some(&self) -> bool {
        !self.lines.is_empty()
    }
    /// The long-term rate per second; 0 if nothing is guaranteed.
    pub fn rate(&self) -> f64 {
        self.lines.last().map_or(0.0, |line| line.rate)
    }
    /// The amount sent after `seconds`.
    pub fn at(&self, seconds: f64) -> f64 {
        self.lines.iter().map(|line| line.rate * (seconds - line.latency)).fold(0.0, f64::max)
    }
    /// The longest time for `amount`, seconds; infinite if nothing is guaranteed.
    pub fn time(&self, amount: f64) -> f64 {
        self.lines.iter().map(|line| line.time(amount)).fold(f64::INFINITY, f64::min)
    }
    /// The amounts at which another line becomes the largest.
    pub fn corners(&self) -> impl Iterator<Item = f64> {
        let crossing = |pair: &[RateLatency]| {
            (pair[1].latency - pair[0].latency) / (1.0 / pair[0].rate - 1.0 / pair[1].rate)
        };
        self.lines.windows(2).map(crossing)
    }
    /// The service left by arrivals of `before` that are served first: `β(t) − α(t)` (Le Boudec and Thiran
    /// 2001, §6.2.1).
    pub fn less(&self, before: &Arrival) -> Service {
        let left = self.lines.iter().flat_map(|line| {
            before.buckets().iter().filter(|bucket| bucket.rate < line.rate).map(|bucket| {
                let rate = line.rate - bucket.rate;
                RateLatency { rate, latency: (line.rate * line.latency + bucket.burst) / rate }
            })
        });
        Service::largest_of(left.collect())
    }
    /// The service of a class each of whose units takes `factor` units of this one, and `fixed` more in
    /// total.
    pub fn shared(&self, factor: f64, fixed: f64) -> Service {
        let part = |line: &RateLatency| RateLatency {
            rate: line.rate / factor,
            latency: line.latency + fixed / line.rate,
        };
        Service::largest_of(self.lines.iter().map(part).collect())
    }
    /// The larger of two guarantees. Both must hold at all times.
    pub fn or(&self, other: &Service) -> Service {
        Service::largest_of(self.lines.iter().chain(&other.lines).copied().collect())
    }
    /// Two services in sequence for packets of up to `longest`: the latencies add up, the slowest rate
    /// remains, and every further service adds the time of one whole packet (pay bursts only once: Le Boudec
    /// and Thiran 2001, theorem 1.4.6, §1.7 on packetizers).
    pub fn then(&self, next: &Service, longest: f64) -> Service {
        let pairs = self.lines.iter().flat_map(|line| {
            next.lines.iter().map(move |two| RateLatency {
                rate: line.rate.min(two.rate),
                latency: line.latency + two.latency + longest / line.rate.max(two.rate),
            })
        });
        Service::largest_of(pairs.collect())
    }

    /// The maximum of `lines`, without lines that are never the largest.
    fn largest_of(mut lines: Vec<RateLatency>) -> Service {
        lines.sort_by(|one, two| one.rate.total_cmp(&two.rate).then(two.latency.total_cmp(&one.latency)));
        let mut kept: Vec<RateLatency> = Vec::with_capacity(lines.len());
        for line in lines {
            // A faster line with at most the same latency is above a slower one everywhere.
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

/// The amount above which `faster` ends earlier than `slower`.
fn crosses(slower: RateLatency, faster: RateLatency) -> f64 {
    (faster.latency - slower.latency) / (1.0 / slower.rate - 1.0 / faster.rate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_of_several_lines() {
        // 100/s at once, 200/s after 1 s: 200 take 2 s by either. The third is below both.
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
        // 1000/s after 0.5 s, less 200 + 600 t: 400 t − 700 = 400 (t − 1.75).
        let left = Service::rate_latency(1000.0, 0.5).less(&Arrival::token_bucket(200.0, 600.0));
        assert_eq!(left.lines(), [RateLatency { rate: 400.0, latency: 1.75 }]);
        assert!(!Service::rate_latency(1000.0, 0.5).less(&Arrival::token_bucket(0.0, 1000.0)).is_some());
        // A class that needs two units for each of its own, and 300 more.
        let part = Service::rate_latency(1000.0, 0.5).shared(2.0, 300.0);
        assert_eq!(part.lines(), [RateLatency { rate: 500.0, latency: 0.8 }]);
    }

    #[test]
    fn servers_in_series() {
        let both = Service::rate_latency(100.0, 1.0).then(&Service::rate_latency(400.0, 2.0), 40.0);
        assert_eq!(both.lines(), [RateLatency { rate: 100.0, latency: 3.1 }]);
    }
}
