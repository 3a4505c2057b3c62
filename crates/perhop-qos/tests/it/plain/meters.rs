//! All meters in plain arithmetic. Tokens are 128-bit integers in units of 10⁻¹² bit, so a picosecond earns,
//! and a byte costs, a whole number of them. Estimates of rates are in floating point.

use perhop_qos::meter::{ColorMode, MeterConfig};
use perhop_qos::random::{Stream, Streams};
use perhop_qos::units::PICOSECONDS_PER_SECOND;
use perhop_qos::{ByteSize, Color, QueueSize, Rate, Time};

/// The tokens of a byte, in 10⁻¹² bit.
pub(crate) const BYTE: u128 = 8_000_000_000_000;

/// An arriving packet. Times do not decrease.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrival {
    pub(crate) at: Time,
    /// The length of the packet, IP bytes.
    pub(crate) length: u32,
    pub(crate) color: Color,
}

/// One bucket. Tokens are in 10⁻¹² bit.
struct Bucket {
    rate: u128,
    size: u128,
    tokens: u128,
    last: u128,
}

impl Bucket {
    fn full(rate: Rate, burst: ByteSize) -> Bucket {
        let size = u128::from(burst.as_bytes()) * BYTE;
        Bucket { rate: rate.as_bits_per_second().into(), size, tokens: size, last: 0 }
    }
    fn earned(&mut self, now: Time) -> u128 {
        let now = u128::from(now.as_picoseconds());
        let earned = self.rate * now.saturating_sub(self.last);
        self.last = self.last.max(now);
        earned
    }
    /// Adds `earned` and returns the tokens that exceed the size.
    fn add(&mut self, earned: u128) -> u128 {
        let fits = earned.min(self.size - self.tokens);
        self.tokens += fits;
        earned - fits
    }
    fn at(&mut self, now: Time) -> &mut Bucket {
        let earned = self.earned(now);
        self.add(earned);
        self
    }
    fn take(&mut self, length: u32) -> bool {
        let cost = u128::from(length) * BYTE;
        let takes = cost <= self.tokens;
        self.tokens -= if takes { cost } else { 0 };
        takes
    }
}

/// The committed access rate according to its documentation (docs/algorithms/committed-access-rate.md).
/// Tokens below 0 are a debt.
struct Lending {
    rate: i128,
    burst: i128,
    limit: i128,
    tokens: i128,
    compounded: i128,
    last: Time,
}

impl Lending {
    fn conforms(&mut self, now: Time, length: u32) -> bool {
        let elapsed = i128::from((now - self.last).as_picoseconds());
        self.last = now;
        self.tokens = self.burst.min((self.rate * elapsed).saturating_add(self.tokens));
        let after = self.tokens - units(length.into());
        if after >= 0 {
            self.tokens = after;
            return true;
        }
        if self.compounded - after > self.limit {
            self.compounded = 0;
            return false;
        }
        (self.tokens, self.compounded) = (after, self.compounded - after);
        true
    }
}

fn units(bytes: u64) -> i128 {
    i128::from(bytes) * BYTE.cast_signed()
}

/// The estimator of RFC 2859 §3, figure 2, in bits and seconds.
struct Window {
    rate: f64,
    interval: f64,
    front: Time,
}

impl Window {
    fn new(rate: Rate, interval: Time) -> Window {
        Window { rate: rate.as_bits_per_second() as f64, interval: seconds(interval), front: Time::ZERO }
    }
    fn update(&mut self, now: Time, length: u32) -> f64 {
        let bits = self.rate * self.interval + 8.0 * f64::from(length);
        // The times are subtracted first. A product with a late time in seconds would lose the last digits.
        self.rate = bits / (seconds(now - self.front) + self.interval);
        self.front = now;
        self.rate
    }
}

fn seconds(time: Time) -> f64 {
    time.as_picoseconds() as f64 / PICOSECONDS_PER_SECOND as f64
}

enum Kind {
    Two(Bucket, Color),
    Packets(Bucket, Color),
    Lending(Lending, Color),
    /// RFC 2697. Without a second bucket, packets that exceed the first bucket are yellow
    /// (draft-heinanen-00).
    SingleRate {
        committed: Bucket,
        excess: Option<Bucket>,
    },
    TwoRate {
        committed: Bucket,
        peak: Bucket,
    },
    Rfc4115 {
        committed: Bucket,
        excess: Bucket,
    },
    Levels(Vec<Bucket>),
    /// The color of an arriving packet is its label.
    Hierarchical {
        labels: Vec<u8>,
        premium: Bucket,
        all: Bucket,
        debt: u128,
    },
    /// `limits` has the limits in bit/s, each with the color of packets above it. Below the first limit,
    /// packets are green.
    Window {
        window: Window,
        limits: Vec<(f64, Color)>,
        random: Stream,
    },
}

/// A meter of any kind.
pub(crate) struct PlainMeter {
    kind: Kind,
    mode: ColorMode,
}

impl PlainMeter {
    /// Creates the meter of `config` with the random streams of the meter under test.
    pub(crate) fn from_config(config: &MeterConfig, streams: &Streams) -> PlainMeter {
        let mode = match config {
            MeterConfig::SingleRateTcm(config) => config.mode,
            MeterConfig::TwoRateTcm(config) => config.mode,
            MeterConfig::Rfc4115(config) => config.mode,
            MeterConfig::RateBased(config) => config.mode,
            MeterConfig::EarlyTcm(config) => config.mode,
            _ => ColorMode::ColorBlind,
        };
        PlainMeter { kind: kind(config, streams), mode }
    }

    /// Returns the color of a packet, or `None` if it depends on the last digit of a fraction. After a
    /// `None`, the two meters cannot be compared.
    pub(crate) fn color(&mut self, arrival: &Arrival) -> Option<Color> {
        let Arrival { at, length, color } = *arrival;
        let color = if self.mode == ColorMode::ColorBlind { Color::GREEN } else { color };
        Some(match &mut self.kind {
            Kind::Two(bucket, excess) => two_colors(bucket.at(at).take(length), *excess),
            Kind::Packets(bucket, excess) => two_colors(bucket.at(at).take(1), *excess),
            Kind::Lending(bucket, excess) => two_colors(bucket.conforms(at, length), *excess),
            Kind::SingleRate { committed, excess } => {
                // RFC 2697 §3: tokens that overflow the first bucket go to the second.
                let earned = committed.earned(at);
                let surplus = committed.add(earned);
                if let Some(excess) = excess {
                    excess.add(surplus);
                }
                committed_first(color, length, committed, excess.as_mut())
            }
            Kind::TwoRate { committed, peak } => {
                // RFC 2698 §3: both buckets receive their tokens first.
                committed.at(at);
                peak.at(at);
                if color >= Color::RED || !peak.take(length) {
                    color.max(Color::RED)
                } else if color == Color::GREEN && committed.take(length) {
                    Color::GREEN
                } else {
                    Color::YELLOW
                }
            }
            Kind::Rfc4115 { committed, excess } => {
                committed.at(at);
                committed_first(color, length, committed, Some(excess.at(at)))
            }
            Kind::Levels(buckets) => {
                let taken = (color.index()..buckets.len()).find(|level| buckets[*level].at(at).take(length));
                taken.map_or(color.max(Color::new(buckets.len())), Color::new)
            }
            Kind::Hierarchical { labels, premium, all, debt } => {
                let color = arrival.color;
                let earned = all.earned(at);
                let paid = earned.min(*debt);
                *debt -= paid;
                all.add(earned - paid);
                if !labels.contains(&(color.index() as u8)) {
                    return Some(if all.take(length) { Color::GREEN } else { Color::YELLOW });
                }
                if !premium.at(at).take(length) {
                    return Some(Color::RED);
                }
                let cost = u128::from(length) * BYTE;
                *debt += cost.saturating_sub(all.tokens);
                all.tokens = all.tokens.saturating_sub(cost);
                Color::GREEN
            }
            Kind::Window { window, limits, random } => {
                return drawn(window.update(at, length), limits, random);
            }
        })
    }
}

fn kind(config: &MeterConfig, streams: &Streams) -> Kind {
    let bits = |rate: Rate| rate.as_bits_per_second() as f64;
    match config {
        MeterConfig::TokenBucket(config) => Kind::Two(Bucket::full(config.rate, config.burst), config.excess),
        MeterConfig::PacketRate(config) => {
            // This meter counts each packet as one byte.
            let QueueSize::Packets(burst) = config.burst else { panic!("a burst in packets") };
            let rate = Rate::from_bits_per_second(8 * config.rate.as_packets_per_second());
            Kind::Packets(Bucket::full(rate, ByteSize::from_bytes(burst)), config.excess)
        }
        MeterConfig::TokenBucketWithDebt(config) => {
            let [burst, limit] = [config.burst, config.debt_limit].map(|size| units(size.as_bytes()));
            let rate = config.rate.as_bits_per_second().into();
            let bucket = Lending { rate, burst, limit, tokens: burst, compounded: 0, last: Time::ZERO };
            Kind::Lending(bucket, config.excess)
        }
        MeterConfig::SingleRateTcm(config) => Kind::SingleRate {
            committed: Bucket::full(config.cir, config.cbs),
            excess: Some(Bucket::full(config.cir, config.ebs)),
        },
        MeterConfig::EarlyTcm(config) => Kind::SingleRate {
            committed: Bucket::full(config.cir, config.cbs),
            excess: config.ebs.map(|ebs| Bucket::full(config.cir, ebs)),
        },
        MeterConfig::TwoRateTcm(config) => Kind::TwoRate {
            committed: Bucket::full(config.cir, config.cbs),
            peak: Bucket::full(config.pir, config.pbs),
        },
        MeterConfig::Rfc4115(config) => Kind::Rfc4115 {
            committed: Bucket::full(config.cir, config.cbs),
            excess: Bucket::full(config.eir, config.ebs),
        },
        MeterConfig::RateBased(config) => Kind::Levels(
            config.buckets.iter().map(|bucket| Bucket::full(bucket.rate, bucket.burst)).collect(),
        ),
        MeterConfig::Hierarchical(config) => Kind::Hierarchical {
            labels: config.premium.0.clone(),
            premium: Bucket::full(config.premium_rate, config.premium_burst),
            all: Bucket::full(config.rate, config.burst),
            debt: 0,
        },
        MeterConfig::Tsw2cm(config) => Kind::Window {
            window: Window::new(config.ctr, config.avg_interval),
            limits: vec![(bits(config.ctr), config.excess)],
            random: streams.stream(),
        },
        MeterConfig::Tsw3cm(config) => Kind::Window {
            window: Window::new(config.ctr, config.avg_interval),
            limits: vec![(bits(config.ctr), Color::YELLOW), (bits(config.ptr), Color::RED)],
            random: streams.stream(),
        },
    }
}

fn two_colors(conforms: bool, excess: Color) -> Color {
    if conforms { Color::GREEN } else { excess }
}

/// The rule of RFC 2697 and RFC 4115 for a packet of this color. Tokens have already been added to both
/// buckets.
fn committed_first(color: Color, length: u32, committed: &mut Bucket, excess: Option<&mut Bucket>) -> Color {
    if color == Color::GREEN && committed.take(length) {
        return Color::GREEN;
    }
    let Some(excess) = excess else { return color.max(Color::YELLOW) };
    if color <= Color::YELLOW && excess.take(length) { Color::YELLOW } else { color.max(Color::RED) }
}

/// RFC 2859 §4: draws a number from 0 to `rate`. The packet has the color of the highest limit that the
/// number reaches, and is green below all limits. Returns `None` if this depends on the last digits.
fn drawn(rate: f64, limits: &[(f64, Color)], random: &mut Stream) -> Option<Color> {
    let near = |number: f64| limits.iter().any(|(limit, _)| (number / limit - 1.0).abs() < 1e-9);
    if near(rate) {
        return None;
    }
    if rate < limits[0].0 {
        return Some(Color::GREEN);
    }
    let point = random.uniform() * rate;
    let reached = limits.iter().rev().find(|(limit, _)| point >= *limit);
    (!near(point)).then_some(reached.map_or(Color::GREEN, |(_, color)| *color))
}
