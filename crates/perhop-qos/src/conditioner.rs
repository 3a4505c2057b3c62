//! [`TrafficConditioner`]: classifier → meter → actions, one after the other (RFC 3290 §8).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::accounting::Accounting;
use crate::action::{Action, Outcome, Treatment, check};
use crate::classifier::{Match, MatchConfig};
use crate::meter::{AnyMeter, FlowMeters, Meter, MeterConfig, MeterScope};
use crate::random::Streams;
use crate::{Color, ConfigError, DropCause, FlowKey, Packet, Time, Verdict};

/// One stage of conditioning: the packets it takes, how they are metered, what is done per color.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct ConditionerConfig {
    /// Name in results and in random streams; by default its place in the list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The packets it takes; without it, all of them. The others go on to the next conditioner.
    #[serde(default, rename = "match", skip_serializing_if = "Option::is_none")]
    pub matches: Option<MatchConfig>,
    /// Gives each packet its color; without it the packet keeps the one it has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub meter: Option<MeterConfig>,
    /// Over what the meter measures: all packets that the conditioner takes together (`aggregate`), or those
    /// of each flow by themselves (`flow`).
    #[serde(default, skip_serializing_if = "MeterScope::is_aggregate")]
    pub per: MeterScope,
    /// Actions for packets that are green after metering.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub green: Vec<Action>,
    /// Actions for packets that are yellow after metering.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub yellow: Vec<Action>,
    /// Actions for packets that are red after metering, and for every color beyond.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub red: Vec<Action>,
    /// Actions for every color that has none of its own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub actions: Vec<Action>,
}

/// Everything that happens to a packet at one interface before it is routed or queued.
#[derive(Clone, Debug, Default)]
pub struct TrafficConditioner {
    stages: Box<[Stage]>,
    /// Since when the stages count what they take.
    counts_from: Time,
}

#[derive(Clone, Debug)]
#[repr(C, align(64))] // what every packet asks lies in three cache lines
struct Stage {
    matches: Option<Match>,
    meter: Option<StageMeter>,
    treatments: [Treatment; Color::COUNT],
    /// Packets and IP bytes it took, by the color it gave them.
    counted: [Count; Color::COUNT],
    name: String,
}

/// How a stage meters.
#[derive(Clone, Debug)]
enum StageMeter {
    /// By IP bytes.
    Plain(Metering),
    /// By what is counted of a packet.
    Counting(Box<(Accounting, Metering)>),
}

/// The meter of a stage, or its meters.
#[derive(Clone, Debug)]
enum Metering {
    Aggregate(AnyMeter),
    Flow(FlowMeters),
}

/// Packets and IP bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Count {
    /// Packets.
    pub packets: u64,
    /// IP bytes.
    pub bytes: u64,
}

impl Count {
    /// Counts one packet of `length` IP bytes.
    pub fn add(&mut self, length: u32) {
        self.packets += 1;
        self.bytes += u64::from(length);
    }
    /// Adds what `other` counted.
    pub fn merge(&mut self, other: Count) {
        self.packets += other.packets;
        self.bytes += other.bytes;
    }
}

impl TrafficConditioner {
    /// The stages of `configs` in order, in a node whose interfaces are called `interfaces`, in the
    /// order of their numbers.
    ///
    /// # Errors
    /// The first stage that cannot be built, its index first in the error's path; a name that stands
    /// twice; a stage that no packet reaches.
    pub fn build(
        configs: &[ConditionerConfig],
        interfaces: &[String],
        streams: &Streams,
    ) -> Result<TrafficConditioner, ConfigError> {
        let mut stages: Vec<Stage> = Vec::with_capacity(configs.len());
        for (index, config) in configs.iter().enumerate() {
            let name = config.name.clone().unwrap_or_else(|| index.to_string());
            let stage = follows(&name, &stages)
                .and_then(|()| Stage::build(name, config, interfaces, streams))
                .map_err(|error| error.within(index))?;
            stages.push(stage);
        }
        Ok(TrafficConditioner { stages: stages.into_boxed_slice(), counts_from: Time::ZERO })
    }
    /// These stages, whose meters count as `accounting` says.
    pub fn counting(mut self, accounting: Accounting) -> TrafficConditioner {
        for stage in &mut self.stages {
            stage.meter = stage.meter.take().map(|meter| meter.counting(accounting));
        }
        self
    }
    /// Whether it does anything at all.
    pub fn is_empty(&self) -> bool {
        self.stages.is_empty()
    }
    /// Leaves what comes before `time` out of the counters, for a warm-up.
    pub fn count_from(&mut self, time: Time) {
        self.counts_from = time;
    }
    /// Tells the stages that meter per flow that packets of `flow` will come by here.
    pub fn announce(&mut self, flow: &FlowKey) {
        for stage in &mut self.stages {
            if let Some(Metering::Flow(meters)) = stage.meter.as_mut().map(StageMeter::metering) {
                meters.announce(flow);
            }
        }
    }
    /// Meters and marks `packet`, which arrives at `now`.
    pub fn condition(&mut self, now: Time, packet: &mut Packet) -> Verdict {
        for stage in &mut self.stages {
            match stage.condition(now, packet, self.counts_from) {
                Outcome::Continue => {}
                Outcome::Transmit => return Verdict::Pass,
                Outcome::Drop => return Verdict::Drop(DropCause::Policed),
            }
        }
        Verdict::Pass
    }
    /// Each stage by name, and what it has taken so far by the color it gave.
    pub fn counted(&self) -> impl Iterator<Item = (&str, &[Count; Color::COUNT])> {
        self.stages.iter().map(|stage| (stage.name.as_str(), &stage.counted))
    }
}

/// Whether a stage called `name` may come after `earlier`.
fn follows(name: &str, earlier: &[Stage]) -> Result<(), ConfigError> {
    if earlier.iter().any(|stage| stage.name == name) {
        return Err(ConfigError::new("name", format!("there is already a conditioner `{name}` here"))
            .help("conditioners of one interface have different names"));
    }
    match earlier.last() {
        Some(stage) if stage.is_last() => Err(ConfigError::new("", "no packet reaches this conditioner")
            .help(format!(
                "conditioner `{}` before it takes every packet and passes none on: add the action `continue` \
                 to it, or a `match`",
                stage.name
            ))),
        _ => Ok(()),
    }
}

impl Stage {
    fn build(
        name: String,
        config: &ConditionerConfig,
        interfaces: &[String],
        streams: &Streams,
    ) -> Result<Stage, ConfigError> {
        let matches = config.matches.as_ref().map(|matches| matches.build(interfaces));
        let matches = matches.transpose().map_err(|error| error.within("match"))?;
        let meter = StageMeter::build(config, &streams.child(&name))?;
        let of_color = [("green", &config.green), ("yellow", &config.yellow), ("red", &config.red)];
        for (key, actions) in of_color.into_iter().chain([("actions", &config.actions)]) {
            check(actions).map_err(|error| error.within(key))?;
        }
        let treatments = std::array::from_fn(|index| {
            let (_, own) = of_color[index.min(of_color.len() - 1)];
            Treatment::of(if own.is_empty() { &config.actions } else { own })
        });
        Ok(Stage { matches, meter, treatments, counted: Default::default(), name })
    }
    /// Whether no packet ever goes on from here to the next stage.
    fn is_last(&self) -> bool {
        self.matches.is_none()
            && self.treatments.iter().all(|treatment| treatment.outcome() != Outcome::Continue)
    }
    fn condition(&mut self, now: Time, packet: &mut Packet, counts_from: Time) -> Outcome {
        if self.matches.as_ref().is_some_and(|matches| !matches.matches(packet)) {
            return Outcome::Continue;
        }
        match &mut self.meter {
            None => {}
            Some(StageMeter::Plain(Metering::Aggregate(meter))) => {
                packet.color = meter.measure_here(now, packet);
            }
            Some(StageMeter::Plain(Metering::Flow(meters))) => packet.color = meters.measure(now, packet),
            Some(StageMeter::Counting(counting)) => packet.color = measure_counted(counting, now, packet),
        }
        let color = packet.color.index();
        if now >= counts_from {
            self.counted[color].add(packet.length);
        }
        self.treatments[color].apply(packet)
    }
}

impl StageMeter {
    fn build(config: &ConditionerConfig, streams: &Streams) -> Result<Option<StageMeter>, ConfigError> {
        let Some(meter) = &config.meter else {
            return match config.per {
                MeterScope::Aggregate => Ok(None),
                MeterScope::Flow => Err(ConfigError::new("per", "`per` needs a meter")
                    .help("give the conditioner a `meter`, or leave `per` out")),
            };
        };
        let built = match config.per {
            MeterScope::Aggregate => meter.build(streams).map(Metering::Aggregate),
            MeterScope::Flow => FlowMeters::new(meter, streams).map(Metering::Flow),
        };
        built.map(|metering| Some(StageMeter::Plain(metering))).map_err(|error| error.within("meter"))
    }
    fn metering(&mut self) -> &mut Metering {
        match self {
            StageMeter::Plain(metering) => metering,
            StageMeter::Counting(counting) => &mut counting.1,
        }
    }
    /// The same, counting as `accounting` says.
    fn counting(self, accounting: Accounting) -> StageMeter {
        let metering = match self {
            StageMeter::Plain(metering) => metering,
            StageMeter::Counting(counting) => counting.1,
        };
        if accounting.is_ip() {
            StageMeter::Plain(metering)
        } else {
            StageMeter::Counting(Box::new((accounting, metering)))
        }
    }
}

/// Measures a packet as long as the accounting says.
#[inline(never)]
fn measure_counted((accounting, metering): &mut (Accounting, Metering), now: Time, packet: &Packet) -> Color {
    let counted = Packet { length: accounting.counted(packet.length), ..*packet };
    match metering {
        Metering::Aggregate(meter) => meter.measure(now, &counted),
        Metering::Flow(meters) => meters.measure(now, &counted),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::packet::{Dscp, FlowKey};

    fn build(stages: Value) -> Result<TrafficConditioner, ConfigError> {
        let configs: Vec<ConditionerConfig> = serde_json::from_value(stages).unwrap();
        TrafficConditioner::build(&configs, &[], &Streams::new(1, 0))
    }

    fn packet(dscp: &str, length: u32) -> Packet {
        let dscp: Dscp = dscp.parse().unwrap();
        Packet { dscp, color: dscp.color(), ..Packet::new(FlowKey::default(), length) }
    }

    /// 1000 bytes are green at time 0, the rest is red.
    fn bucket() -> Value {
        json!({"token-bucket": {"rate": "8kb/s", "burst": "1000B"}})
    }

    #[test]
    fn colors_have_actions_of_their_own_or_the_common_ones() {
        let mut conditioner = build(json!([
            {"meter": bucket(), "green": [{"mark": "af11"}, "transmit"], "actions": ["drop"]}
        ]))
        .unwrap();
        let mut first = packet("default", 1000);
        assert_eq!(conditioner.condition(Time::ZERO, &mut first), Verdict::Pass);
        assert_eq!((first.dscp.to_string().as_str(), first.color), ("af11", Color::GREEN));
        let mut second = packet("default", 1);
        assert_eq!(conditioner.condition(Time::ZERO, &mut second), Verdict::Drop(DropCause::Policed));
    }

    #[test]
    fn a_marked_af_codepoint_is_the_color_and_another_leaves_it() {
        let color_after = |mark: &str| {
            let mut conditioner = build(json!([{"meter": bucket(), "red": [{"mark": mark}]}])).unwrap();
            let mut packet = packet("default", 1001);
            conditioner.condition(Time::ZERO, &mut packet);
            (packet.dscp.to_string(), packet.color)
        };
        assert_eq!(color_after("af12"), ("af12".to_owned(), Color::YELLOW));
        assert_eq!(color_after("cs1"), ("cs1".to_owned(), Color::RED));
    }

    #[test]
    fn only_continue_and_a_match_that_fails_lead_to_the_next_stage() {
        let mut conditioner = build(json!([
            {"name": "voice", "match": {"dscp": "ef"}, "meter": bucket(), "red": ["drop"]},
            {"name": "edge", "meter": bucket(), "red": [{"mark": "le"}, "continue"]},
            {"name": "rest", "actions": [{"mark-precedence": 1}]},
        ]))
        .unwrap();
        let mut outcome = |dscp: &str, length: u32| {
            let mut packet = packet(dscp, length);
            (conditioner.condition(Time::ZERO, &mut packet), packet.dscp.to_string())
        };
        assert_eq!(outcome("ef", 400), (Verdict::Pass, "ef".to_owned()));
        assert_eq!(outcome("ef", 601), (Verdict::Drop(DropCause::Policed), "ef".to_owned()));
        assert_eq!(outcome("af41", 1000), (Verdict::Pass, "af41".to_owned()));
        assert_eq!(outcome("af41", 300), (Verdict::Pass, "cs1".to_owned()));
        let counted: Vec<_> = conditioner
            .counted()
            .map(|(name, of)| (name, of[Color::GREEN.index()].bytes, of[Color::RED.index()].bytes))
            .collect();
        assert_eq!(counted, [("voice", 400, 601), ("edge", 1000, 300), ("rest", 0, 300)]);
    }

    #[test]
    fn a_label_is_read_by_later_stages_and_forgotten_on_arrival() {
        let mut conditioner = build(json!([
            {"match": {"dscp": "ef"}, "actions": [{"label": 5}, "continue"]},
            {"match": {"label": 5}, "actions": ["drop"]},
        ]))
        .unwrap();
        let mut labeled = packet("ef", 40);
        assert_eq!(conditioner.condition(Time::ZERO, &mut labeled), Verdict::Drop(DropCause::Policed));
        assert_eq!(conditioner.condition(Time::ZERO, &mut packet("af11", 40)), Verdict::Pass);
        labeled.arrive(crate::packet::InterfaceId(3));
        assert_eq!(labeled.label, 0);
    }

    #[test]
    fn a_stage_without_meter_goes_by_the_color_that_the_packet_has() {
        let mut conditioner = build(json!([{"red": ["drop"]}])).unwrap();
        assert_eq!(conditioner.condition(Time::ZERO, &mut packet("af12", 40)), Verdict::Pass);
        let dropped = Verdict::Drop(DropCause::Policed);
        assert_eq!(conditioner.condition(Time::ZERO, &mut packet("af13", 40)), dropped);
    }

    #[test]
    fn a_meter_per_flow_gives_each_flow_the_whole_profile() {
        let mut conditioner = build(json!([{"meter": bucket(), "per": "flow", "red": ["drop"]}])).unwrap();
        let mut passes = |source_port: u16| {
            let mut packet = Packet { source_port, ..packet("default", 600) };
            conditioner.condition(Time::ZERO, &mut packet) == Verdict::Pass
        };
        assert_eq!([1, 2, 1, 3, 2].map(&mut passes), [true, true, false, true, false]);
        let counted: Vec<_> = conditioner
            .counted()
            .map(|(name, of)| (name, of[Color::GREEN.index()].packets, of[Color::RED.index()].packets))
            .collect();
        assert_eq!(counted, [("0", 3, 2)], "one row for all flows");
    }

    #[test]
    fn what_is_never_carried_out_is_refused() {
        for (stages, error) in [
            (json!([{"green": ["transmit", {"mark": "ef"}]}]), "0.green.1: this action is never carried out"),
            (json!([{"actions": ["continue", "drop"]}]), "0.actions.1: this action is never carried out"),
            (
                json!([{"green": ["continue"]}, {"red": ["drop"]}, {}]),
                "2: no packet reaches this conditioner",
            ),
            (json!([{"name": "a", "match": {"dscp": "ef"}}, {"name": "a"}]), "1.name: there is already"),
            (json!([{"match": {}}]), "0.match: a match without conditions"),
            (
                json!([{"meter": {"token-bucket": {"rate": "0b/s", "burst": "1B"}}}]),
                "0.meter.token-bucket.rate:",
            ),
            (
                json!([{"meter": {"token-bucket": {"rate": "0b/s", "burst": "1B"}}, "per": "flow"}]),
                "0.meter.token-bucket.rate:",
            ),
            (json!([{"per": "flow", "red": ["drop"]}]), "0.per: `per` needs a meter"),
        ] {
            let found = build(stages).expect_err(error).to_string();
            assert!(found.starts_with(error), "{found}\nexpected: {error}");
        }
    }
}
