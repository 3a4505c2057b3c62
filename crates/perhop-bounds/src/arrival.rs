//! [`Arrival`]: an upper bound of the arrivals in any time span (Le Boudec and Thiran, "Network Calculus",
//! 2001, §1.2).

/// An arrival curve. In any closed span of `t` seconds, at most the minimum of `burst + rate · t` over the
/// token buckets arrives. The curve is concave and piecewise linear. The code that creates the curve defines
/// its unit: bytes of a layer, or packets.
///
/// Bounds are computed in floating point. Each result is widened once, at the end
/// ([`crate::deviation::widened`]).
#[derive(Clone, Debug, PartialEq)]
pub struct Arrival {
    /// The buckets that are the minimum in some time span, in order of decreasing rate and increasing burst.
    /// The list is never empty.
    buckets: Vec<Bucket>,
}

/// A token bucket.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bucket {
    /// The amount that may arrive at once.
    pub burst: f64,
    /// The amount that may arrive per second.
    pub rate: f64,
}

impl Bucket {
    fn at(self, seconds: f64) -> f64 {
        self.burst + self.rate * seconds
    }
}

impl Arrival {
    /// Creates the curve of no arrivals.
    pub fn nothing() -> Arrival {
        Arrival::token_bucket(0.0, 0.0)
    }
    /// Creates the curve of one token bucket: `burst` at once, and then `rate` per second.
    pub fn token_bucket(burst: f64, rate: f64) -> Arrival {
        Arrival { buckets: vec![Bucket { burst, rate }] }
    }
    /// Returns the token buckets of the curve, in order of decreasing rate.
    pub fn buckets(&self) -> &[Bucket] {
        &self.buckets
    }
    /// Returns the largest amount that arrives in `seconds`.
    pub fn at(&self, seconds: f64) -> f64 {
        self.buckets.iter().map(|bucket| bucket.at(seconds)).fold(f64::INFINITY, f64::min)
    }
    /// Returns the largest amount that arrives at once.
    pub fn burst(&self) -> f64 {
        self.at(0.0)
    }
    /// Returns the long-term amount per second.
    pub fn rate(&self) -> f64 {
        self.buckets.iter().map(|bucket| bucket.rate).fold(f64::INFINITY, f64::min)
    }
    /// Returns the shortest span in which `amount` may arrive, seconds; infinity if this amount never
    /// arrives.
    pub fn time_until(&self, amount: f64) -> f64 {
        let span = |bucket: &Bucket| {
            let missing = amount - bucket.burst;
            if missing <= 0.0 { 0.0 } else { missing / bucket.rate }
        };
        self.buckets.iter().map(span).fold(0.0, f64::max)
    }
    /// Returns the sum of both curves.
    pub fn plus(&self, other: &Arrival) -> Arrival {
        let pairs = self.buckets.iter().flat_map(|bucket| {
            other
                .buckets
                .iter()
                .map(|second| Bucket { burst: bucket.burst + second.burst, rate: bucket.rate + second.rate })
        });
        Arrival::least_of(pairs.collect())
    }
    /// Returns the minimum of both curves.
    pub fn within(&self, other: &Arrival) -> Arrival {
        Arrival::least_of(self.buckets.iter().chain(&other.buckets).copied().collect())
    }
    /// Converts the curve to another unit. One old unit is `factor` new units.
    pub fn scaled(&self, factor: f64) -> Arrival {
        let scaled = |bucket: &Bucket| Bucket { burst: bucket.burst * factor, rate: bucket.rate * factor };
        Arrival { buckets: self.buckets.iter().map(scaled).collect() }
    }
    /// Returns the curve after a path whose delays differ by up to `seconds`: `α(t + seconds)` (Le Boudec and
    /// Thiran 2001, theorem 1.4.3, with the delay bound as the service).
    pub fn after(&self, seconds: f64) -> Arrival {
        let later = |bucket: &Bucket| Bucket { burst: bucket.at(seconds), rate: bucket.rate };
        Arrival { buckets: self.buckets.iter().map(later).collect() }
    }
    /// Returns the spans at which the slope of the curve changes, in seconds.
    pub fn corners(&self) -> impl Iterator<Item = f64> {
        let crossing = |pair: &[Bucket]| (pair[1].burst - pair[0].burst) / (pair[0].rate - pair[1].rate);
        self.buckets.windows(2).map(crossing)
    }

    /// Returns the minimum of `buckets`. Buckets that are never the smallest are omitted.
    fn least_of(mut buckets: Vec<Bucket>) -> Arrival {
        buckets.sort_by(|first, second| {
            second.rate.total_cmp(&first.rate).then(first.burst.total_cmp(&second.burst))
        });
        let mut kept: Vec<Bucket> = Vec::with_capacity(buckets.len());
        for bucket in buckets {
            // A slower bucket whose burst is not larger is always below the faster bucket.
            while kept.last().is_some_and(|last| last.burst >= bucket.burst) {
                kept.pop();
            }
            if kept.last().is_some_and(|last| last.rate == bucket.rate) {
                continue;
            }
            while let [.., before, last] = kept[..]
                && crosses(before, bucket) <= crosses(before, last)
            {
                kept.pop();
            }
            kept.push(bucket);
        }
        Arrival { buckets: kept }
    }
}

/// Returns the span after which `slower` permits less than `faster`, seconds.
fn crosses(faster: Bucket, slower: Bucket) -> f64 {
    (slower.burst - faster.burst) / (faster.rate - slower.rate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_minimum_of_several_buckets() {
        // The bucket of 1500 at 1000/s and the bucket of 2000 at 500/s cross at 1 s, at an amount of 2500.
        // The third bucket is above both.
        let both = Arrival::token_bucket(1500.0, 1000.0).within(&Arrival::token_bucket(2000.0, 500.0));
        let all = both.within(&Arrival::token_bucket(2600.0, 450.0).within(&Arrival::token_bucket(9e9, 1e9)));
        assert_eq!(both.corners().collect::<Vec<_>>(), [1.0]);
        assert_eq!([both.at(0.0), both.at(1.0), both.at(3.0)], [1500.0, 2500.0, 3500.0]);
        assert_eq!(
            [both.time_until(1500.0), both.time_until(2000.0), both.time_until(3000.0)],
            [0.0, 0.5, 2.0]
        );
        // 2000 + 500 t and 2600 + 450 t cross at 12 s.
        assert_eq!(all.corners().collect::<Vec<_>>(), [1.0, 12.0]);
        assert_eq!(all.rate(), 450.0);
    }

    #[test]
    fn a_sum_and_a_delay() {
        let curve = Arrival::token_bucket(100.0, 30.0).within(&Arrival::token_bucket(400.0, 10.0));
        let sum = curve.plus(&Arrival::token_bucket(1000.0, 5.0));
        for span in [0.0, 7.0, 15.0, 40.0] {
            assert_eq!(sum.at(span), curve.at(span) + 1000.0 + 5.0 * span);
            assert_eq!(curve.after(2.0).at(span), curve.at(span + 2.0).min(curve.at(span + 2.0)));
        }
        assert_eq!(Arrival::nothing().plus(&curve), curve);
        assert_eq!(curve.scaled(2.0).at(1.0), 260.0);
        assert_eq!(Arrival::nothing().time_until(1.0), f64::INFINITY);
    }
}
