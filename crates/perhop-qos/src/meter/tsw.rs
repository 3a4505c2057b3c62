//! [`Tsw3cm`]: the time sliding window three color marker (RFC 2859), and [`Tsw2cm`], the earlier marker with
//! one target rate (Clark and Fang, "Explicit allocation of best-effort packet delivery service", 1998; the
//! RFC's reference TON98).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::contract::{Meter, is_red, red, require_excess, require_rate};
use crate::random::{Stream, Streams};
use crate::units::PICOSECONDS_PER_SECOND;
use crate::{Color, ConfigError, Packet, Rate, Time};

/// The time sliding window two color marker as written in a policy.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Tsw2cmConfig {
    /// The committed target rate, bits per second of IP packets.
    pub ctr: Rate,
    /// `AVG_INTERVAL`: the time over which the rate is averaged. Use about the round-trip time for one TCP
    /// flow, and 1 s for aggregates (RFC 2859 §5.1).
    pub avg_interval: Time,
    /// The color of packets that exceed the target rate. Default: red.
    #[serde(default = "red", skip_serializing_if = "is_red")]
    pub excess: Color,
}

/// The TSWTCM as written in a policy.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Tsw3cmConfig {
    /// The committed target rate, bits per second of IP packets.
    pub ctr: Rate,
    /// The peak target rate, bits per second of IP packets, at least the committed target rate.
    pub ptr: Rate,
    /// `AVG_INTERVAL`: the time over which the rate is averaged. Use about the round-trip time for one TCP
    /// flow, and 1 s for aggregates (RFC 2859 §5.1).
    pub avg_interval: Time,
}

impl Tsw2cmConfig {
    /// Builds the meter. Its first estimate is the target rate.
    ///
    /// # Errors
    /// The rate or the interval is 0, or the excess is green.
    pub fn build(&self, streams: &Streams) -> Result<Tsw2cm, ConfigError> {
        require_excess(self.excess)?;
        let estimator = RateEstimator::build(self.ctr, self.avg_interval)?;
        let ctr = self.ctr.as_bits_per_second() as f64;
        Ok(Tsw2cm { estimator, ctr, excess: self.excess, stream: streams.stream() })
    }
}

impl Tsw3cmConfig {
    /// Builds the meter. Its first estimate is the committed target rate.
    ///
    /// # Errors
    /// A rate or the interval is 0, or the peak rate is below the committed rate.
    pub fn build(&self, streams: &Streams) -> Result<Tsw3cm, ConfigError> {
        let estimator = RateEstimator::build(self.ctr, self.avg_interval)?;
        // RFC 2859 §5.2: "The PTR MUST be equal to or greater than the CTR."
        if self.ptr < self.ctr {
            return Err(ConfigError::new(
                "ptr",
                format!("the peak rate {} is below the committed rate {}", self.ptr, self.ctr),
            )
            .help("ptr must be at least ctr"));
        }
        let (ctr, ptr) = (self.ctr.as_bits_per_second() as f64, self.ptr.as_bits_per_second() as f64);
        Ok(Tsw3cm { estimator, ctr, ptr, stream: streams.stream() })
    }
}

/// The rate estimator of RFC 2859 §3, figure 2.
#[derive(Clone, Debug)]
struct RateEstimator {
    /// The estimate, bits per second.
    avg_rate: f64,
    /// `AVG_INTERVAL` of the RFC, picoseconds.
    avg_interval: f64,
    /// The arrival time of the last packet.
    t_front: Time,
}

impl RateEstimator {
    fn build(ctr: Rate, avg_interval: Time) -> Result<RateEstimator, ConfigError> {
        require_rate("ctr", ctr)?;
        if avg_interval == Time::ZERO {
            return Err(
                ConfigError::new("avg-interval", "the interval must be above 0").help("for example 1s")
            );
        }
        Ok(RateEstimator {
            avg_rate: ctr.as_bits_per_second() as f64,
            avg_interval: avg_interval.as_picoseconds() as f64,
            t_front: Time::ZERO,
        })
    }
    /// Returns the average rate, bits per second, including `packet`, which arrives at `now`.
    fn update(&mut self, now: Time, packet: &Packet) -> f64 {
        // Bytes_in_win = avg-rate * AVG_INTERVAL; New_bytes = Bytes_in_win + pkt_size; avg-rate = New_bytes /
        // (now - t-front + AVG_INTERVAL); t-front = now. The units of this code are bits and picoseconds.
        let elapsed = now.saturating_sub(self.t_front);
        let length = f64::from(packet.length) * (8 * PICOSECONDS_PER_SECOND) as f64;
        self.avg_rate = (self.avg_rate * self.avg_interval + length)
            / (elapsed.as_picoseconds() as f64 + self.avg_interval);
        self.t_front += elapsed;
        self.avg_rate
    }
}

/// The time sliding window two color marker, color-blind.
#[derive(Clone, Debug)]
pub struct Tsw2cm {
    estimator: RateEstimator,
    ctr: f64,
    excess: Color,
    stream: Stream,
}

impl Meter for Tsw2cm {
    fn measure(&mut self, now: Time, packet: &Packet) -> Color {
        let avg_rate = self.estimator.update(now, packet);
        // A packet is out of profile with the probability (avg-rate - CTR) / avg-rate.
        if avg_rate > self.ctr && self.stream.uniform() * avg_rate >= self.ctr {
            self.excess
        } else {
            Color::GREEN
        }
    }
}

/// The time sliding window three color marker, color-blind.
#[derive(Clone, Debug)]
pub struct Tsw3cm {
    estimator: RateEstimator,
    ctr: f64,
    ptr: f64,
    stream: Stream,
}

impl Meter for Tsw3cm {
    fn measure(&mut self, now: Time, packet: &Packet) -> Color {
        let avg_rate = self.estimator.update(now, packet);
        // RFC 2859 §4, figure 3: "if (avg-rate <= CTR) the packet is green".
        if avg_rate <= self.ctr {
            return Color::GREEN;
        }
        // Above PTR, a packet is red with the probability P1 = (avg-rate - PTR) / avg-rate, yellow with P2 =
        // (PTR - CTR) / avg-rate, and otherwise green. Up to PTR, it is yellow with P0 = (avg-rate - CTR) /
        // avg-rate, and otherwise green. A uniform point of [0, avg-rate) is above PTR, between CTR and PTR,
        // or below CTR with exactly these probabilities.
        let point = self.stream.uniform() * avg_rate;
        if point >= self.ptr {
            Color::RED
        } else if point >= self.ctr {
            Color::YELLOW
        } else {
            Color::GREEN
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::FlowKey;

    #[test]
    fn the_estimate_follows_figure_2() {
        // 8 kb/s is 1000 B/s, and AVG_INTERVAL is 1 s, so the window contains 1000 B.
        let rate = Rate::from_bits_per_second(8_000);
        let mut estimator = RateEstimator::build(rate, Time::from_seconds(1)).unwrap();
        let packet = Packet::new(FlowKey::default(), 500);
        // The estimates are (1000 B + 500 B) / (0 s + 1 s) = 1500 B/s, then (1500 B + 500 B) / (1 s + 1 s) =
        // 1000 B/s, and then (1000 B + 500 B) / (3 s + 1 s) = 375 B/s.
        let estimates = [0, 1, 4].map(|seconds| estimator.update(Time::from_seconds(seconds), &packet));
        assert_eq!(estimates, [12_000.0, 8_000.0, 3_000.0]);
    }
}
