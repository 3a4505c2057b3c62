//! The effect of conditioners on streams: the headers and outcomes that are possible, and their arrival
//! curves.

use perhop_qos::accounting::Accounting;
use perhop_qos::action::{Action, Outcome};
use perhop_qos::conditioner::{ConditionerConfig, TrafficConditioner};
use perhop_qos::error::ConfigError;
use perhop_qos::meter::{MeterConfig, MeterScope};
use perhop_qos::packet::Packet;
use perhop_qos::random::Streams;
use perhop_qos::units::{ByteSize, Rate, Time};
use perhop_qos::{Color, Verdict};

use crate::arrival::Arrival;
use crate::lengths::{Lengths, Measure};
use crate::stream::{Limit, Stream};

/// The conditioners of one side of an interface.
#[derive(Clone, Debug)]
pub struct Conditioners<'a> {
    /// The stages in order.
    pub stages: &'a [ConditionerConfig],
    /// The interfaces of the node.
    pub interfaces: &'a [String],
    /// The bytes that the meters count for a packet.
    pub accounting: Accounting,
    /// The number of the first limit that these conditioners create. Each stage has [`IDS_PER_STAGE`]
    /// numbers.
    pub first_id: usize,
}

/// The number of limits of a stage: one for each color, and one for all packets that the stage passes.
pub const IDS_PER_STAGE: usize = Color::COUNT + 1;

/// The bounds of the packets that a meter gives one color.
struct Metered {
    color: Color,
    /// The arrival curve of this color. `None` means unbounded.
    own: Option<Arrival>,
    /// The arrival curve of this color and all lower colors together. `None` means unbounded.
    cumulative: Option<Arrival>,
}

impl Conditioners<'_> {
    /// Returns the streams after all stages.
    ///
    /// # Errors
    /// A stage of the conditioners cannot be built.
    pub fn pass(&self, streams: Vec<Stream>) -> Result<Vec<Stream>, ConfigError> {
        let (mut continuing, mut passed) = (streams, Vec::new());
        for (place, stage) in self.stages.iter().enumerate() {
            let mut next = Vec::new();
            for stream in continuing {
                for (outcome, stream) in self.condition(place, stage, &stream)? {
                    match outcome {
                        Outcome::Continue => next.push(stream),
                        Outcome::Transmit => passed.push(stream),
                        Outcome::Drop => {}
                    }
                }
            }
            continuing = next;
        }
        passed.extend(continuing);
        Ok(passed)
    }

    /// Returns each outcome of `stage` that is possible for packets of `stream`, together with these packets.
    fn condition(
        &self,
        place: usize,
        stage: &ConditionerConfig,
        stream: &Stream,
    ) -> Result<Vec<(Outcome, Stream)>, ConfigError> {
        let matches = stage.matches.as_ref().map(|matches| matches.build(self.interfaces)).transpose()?;
        let takes = |length| {
            matches.as_ref().is_none_or(|matches| matches.matches(&Packet { length, ..stream.packet }))
        };
        let mut outcomes = Vec::new();
        if let Some(lengths) = Lengths::among(stream.lengths.each().filter(|length| !takes(*length))) {
            outcomes.push((Outcome::Continue, stream.with_lengths(lengths)));
        }
        if let Some(lengths) = Lengths::among(stream.lengths.each().filter(|length| takes(*length))) {
            outcomes.extend(self.treat(place, stage, &stream.with_lengths(lengths))?);
        }
        Ok(outcomes)
    }

    /// Applies `stage` to the packets that match it.
    fn treat(
        &self,
        place: usize,
        stage: &ConditionerConfig,
        stream: &Stream,
    ) -> Result<Vec<(Outcome, Stream)>, ConfigError> {
        let plain = ConditionerConfig {
            matches: None,
            meter: None,
            per: MeterScope::default(),
            shared: None,
            ..stage.clone()
        };
        let mut conditioner =
            TrafficConditioner::build(std::slice::from_ref(&plain), self.interfaces, &Streams::new(0, 0))?;
        let metered = metered(stage.meter.as_ref(), stream.packet.color);
        let mut treated = Vec::new();
        for output in &metered {
            let mut packet = Packet { color: output.color, ..stream.packet };
            let is_dropped = matches!(conditioner.condition(Time::ZERO, &mut packet), Verdict::Drop(_));
            let outcome = if is_dropped { Outcome::Drop } else { outcome(stage, output.color) };
            treated.push((outcome, output, packet));
        }
        let worst = treated
            .iter()
            .filter(|(outcome, ..)| *outcome != Outcome::Drop)
            .map(|(_, metered, _)| metered.color)
            .max();
        let together = metered
            .iter()
            .find(|output| Some(output.color) == worst)
            .and_then(|output| output.cumulative.clone());
        let first = self.first_id + place * IDS_PER_STAGE;
        let is_packets = matches!(stage.meter, Some(MeterConfig::PacketRate(_)));
        let measure = if is_packets { Measure::Packets } else { Measure::Counted(self.accounting) };
        let limited = |(outcome, metered, packet): (Outcome, &Metered, Packet)| {
            let mut treated = Stream { packet, ..stream.clone() };
            let limits = [(first + metered.color.index(), &metered.own), (first + Color::COUNT, &together)];
            for (id, curve) in limits {
                let Some(curve) = curve else { continue };
                match stage.per {
                    MeterScope::Aggregate => treated.limits.push(Limit { id, measure, curve: curve.clone() }),
                    // Each flow has its own meter.
                    MeterScope::Flow => treated.restrict(measure, &curve.scaled(f64::from(stream.flows))),
                }
            }
            (outcome, treated)
        };
        Ok(treated.into_iter().map(limited).collect())
    }
}

/// Returns the outcome for a packet of `color` after `stage`.
fn outcome(stage: &ConditionerConfig, color: Color) -> Outcome {
    let lists = [&stage.green, &stage.yellow, &stage.red];
    let own = lists[color.index().min(lists.len() - 1)];
    let list = if own.is_empty() { &stage.actions } else { own };
    match list.last() {
        Some(Action::Continue) => Outcome::Continue,
        _ => Outcome::Transmit,
    }
}

/// Returns the colors that `meter` may set for a packet of `color`, with their bounds, lowest color first.
fn metered(meter: Option<&MeterConfig>, color: Color) -> Vec<Metered> {
    let any = |color| Metered { color, own: None, cumulative: None };
    let Some(meter) = meter else { return vec![any(color)] };
    let within = |color, own: &Arrival, cumulative: Arrival| Metered {
        color,
        own: Some(own.clone()),
        cumulative: Some(cumulative),
    };
    let two_colors = |green: Arrival, excess| vec![within(Color::GREEN, &green, green.clone()), any(excess)];
    let three_colors = |green: Arrival, yellow: &Arrival, both| {
        let green = within(Color::GREEN, &green, green.clone());
        vec![green, within(Color::YELLOW, yellow, both), any(Color::RED.max(color))]
    };
    match meter {
        MeterConfig::TokenBucket(config) => two_colors(bucket(config.rate, config.burst), config.excess),
        // The debt is at most the debt limit.
        MeterConfig::TokenBucketWithDebt(config) => {
            let most = config.burst.as_bytes().saturating_add(config.debt_limit.as_bytes());
            two_colors(bucket(config.rate, ByteSize::from_bytes(most)), config.excess)
        }
        MeterConfig::PacketRate(config) => {
            let burst = config.burst.count();
            let rate = config.rate.as_packets_per_second() as f64;
            two_colors(Arrival::token_bucket(burst as f64, rate), config.excess)
        }
        MeterConfig::SingleRateTcm(config) => {
            let both = config.cbs.as_bytes().saturating_add(config.ebs.as_bytes());
            let (green, yellow) = (bucket(config.cir, config.cbs), bucket(config.cir, config.ebs));
            three_colors(green, &yellow, bucket(config.cir, ByteSize::from_bytes(both)))
        }
        MeterConfig::TwoRateTcm(config) => {
            let peak = bucket(config.pir, config.pbs);
            three_colors(bucket(config.cir, config.cbs).within(&peak), &peak, peak.clone())
        }
        MeterConfig::Rfc4115(config) => {
            let (green, yellow) = (bucket(config.cir, config.cbs), bucket(config.eir, config.ebs));
            three_colors(green.clone(), &yellow, green.plus(&yellow))
        }
        // A green packet uses tokens of the bucket for all packets. If a premium packet needs more tokens
        // than this bucket has, the difference becomes a debt. The debt is at most the premium burst if the
        // premium rate is not higher than `rate`.
        MeterConfig::Hierarchical(config) => {
            let burst = config.burst.as_bytes().saturating_add(config.premium_burst.as_bytes());
            let green = if config.premium_rate <= config.rate {
                bucket(config.rate, ByteSize::from_bytes(burst))
            } else {
                let premium = bucket(config.premium_rate, config.premium_burst);
                bucket(config.rate, config.burst).plus(&premium)
            };
            vec![within(Color::GREEN, &green, green.clone()), any(Color::YELLOW), any(Color::RED)]
        }
        // An average rate does not bound the arrivals in a short span.
        MeterConfig::Tsw2cm(_)
        | MeterConfig::Tsw3cm(_)
        | MeterConfig::RateBased(_)
        | MeterConfig::EarlyTcm(_) => (0..Color::COUNT).map(|level| any(Color::new(level))).collect(),
    }
}

fn bucket(rate: Rate, burst: ByteSize) -> Arrival {
    Arrival::token_bucket(burst.as_bytes() as f64, rate.as_bits_per_second() as f64 / 8.0)
}
