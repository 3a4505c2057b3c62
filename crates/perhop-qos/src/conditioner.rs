//! [`TrafficConditioner`]: stages in sequence, each with a classifier, a meter and actions (RFC 3290 §8).

#[cfg(test)]
mod tests;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::accounting::Accounting;
use crate::action::{Action, Outcome, Steps, Treatment, check};
use crate::classifier::{Match, MatchConfig};
use crate::meter::{AnyMeter, FlowMeters, Meter, MeterConfig, MeterScope};
use crate::packet::Encapsulation;
use crate::random::Streams;
use crate::{Color, ConfigError, DropCause, FlowKey, Packet, Time, Verdict};

/// A stage of conditioning: the matched packets, their meter, and the actions for each color.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct ConditionerConfig {
    /// The name in results and in random streams. Default: the position of the conditioner in the list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The packets that the stage processes. Default: all packets. Other packets continue with the next
    /// conditioner.
    #[serde(default, rename = "match", skip_serializing_if = "Option::is_none")]
    pub matches: Option<MatchConfig>,
    /// The meter, which sets the color of each packet. Without it, packets keep their color.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub meter: Option<MeterConfig>,
    /// The packets that one meter measures: all packets of the conditioner (`aggregate`), or the packets of
    /// each flow separately (`flow`).
    #[serde(default, skip_serializing_if = "MeterScope::is_aggregate")]
    pub per: MeterScope,
    /// The name of a meter that several conditioners share. Its buckets count the packets of all these
    /// conditioners. The conditioners must have equal `meter` and `per`. Default: the conditioner has its own
    /// meter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shared: Option<String>,
    /// The actions for packets that are green after metering.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub green: Vec<Action>,
    /// The actions for packets that are yellow after metering.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub yellow: Vec<Action>,
    /// The actions for packets that are red after metering or have a higher color.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub red: Vec<Action>,
    /// The actions for all colors that have no list of their own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub actions: Vec<Action>,
}

/// The processing of a packet at one interface, before the packet is routed or queued.
#[derive(Clone, Debug, Default)]
pub struct TrafficConditioner {
    stages: Box<[Stage]>,
    /// The marks of the output's link, if one of the stages reads them.
    leaves_by: Option<Encapsulation>,
    /// The time from which on the stages count packets.
    counts_from: Time,
    /// Whether some of the stages share meters.
    meters: Meters,
}

/// Whether some of the stages share a meter. This is rare.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Meters {
    #[default]
    Own,
    Shared,
}

#[derive(Clone, Debug)]
#[repr(C, align(64))] // the fields that every packet reads are in three cache lines
struct Stage {
    matches: Option<Match>,
    meter: Option<StageMeter>,
    treatments: [Treatment; Color::COUNT],
    /// For each color, the changes that a [`Treatment`] cannot express. Most stages have no such changes.
    steps: Option<Box<[Option<Steps>; Color::COUNT]>>,
    /// The number of packets and IP bytes of each color after metering.
    counted: [Count; Color::COUNT],
    /// The name of the stage in results.
    name: String,
}

/// The meter of a stage.
#[derive(Clone, Debug)]
enum StageMeter {
    /// A meter that counts IP bytes.
    Plain(Metering),
    /// A meter that counts the bytes of the policy's accounting.
    Counting(Box<(Accounting, Metering)>),
    /// The meter of the earlier stage with this index.
    SharedWith(usize),
}

/// One meter for all packets of a stage, or one meter for each flow.
#[derive(Clone, Debug)]
enum Metering {
    Aggregate(AnyMeter),
    Flow(FlowMeters),
}

/// A number of packets and their IP bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Count {
    /// The number of packets.
    pub packets: u64,
    /// The number of IP bytes.
    pub bytes: u64,
}

impl Count {
    /// Counts one packet of `length` IP bytes.
    pub fn add(&mut self, length: u32) {
        self.packets += 1;
        self.bytes += u64::from(length);
    }
    /// Adds the counters of `other`.
    pub fn merge(&mut self, other: Count) {
        self.packets += other.packets;
        self.bytes += other.bytes;
    }
}

impl TrafficConditioner {
    /// Builds the stages of `configs` in order, for a node with the interfaces `interfaces`, listed in the
    /// order of their numbers.
    ///
    /// # Errors
    /// A stage cannot be built, has the name of an earlier stage, or is reached by no packet. The path of the
    /// error begins with the index of the first such stage.
    pub fn build(
        configs: &[ConditionerConfig],
        interfaces: &[String],
        streams: &Streams,
    ) -> Result<TrafficConditioner, ConfigError> {
        let mut stages: Vec<Stage> = Vec::with_capacity(configs.len());
        let mut meters = Meters::Own;
        for (index, config) in configs.iter().enumerate() {
            let name = config.name.clone().unwrap_or_else(|| index.to_string());
            let owner = owner(configs, index).map_err(|error| error.within(index))?;
            let mut stage = check_stage_after(&name, &stages)
                .and_then(|()| Stage::build(name, config, interfaces, streams))
                .map_err(|error| error.within(index))?;
            if let Some(owner) = owner {
                (stage.meter, meters) = (Some(StageMeter::SharedWith(owner)), Meters::Shared);
            }
            stages.push(stage);
        }
        Ok(TrafficConditioner { stages: stages.into_boxed_slice(), meters, ..TrafficConditioner::default() })
    }
    /// Sets the `encapsulation` of the output's link. A packet then gets the tags and labels of this link
    /// before the stages read them.
    pub fn leaving_by(self, encapsulation: Encapsulation) -> TrafficConditioner {
        TrafficConditioner { leaves_by: Some(encapsulation), ..self }
    }
    /// Whether one of the stages reads a mark of the link layer.
    pub(crate) fn reads_link_marks(&self) -> bool {
        self.stages.iter().any(Stage::reads_link_marks)
    }
    /// Sets the accounting that the meters use.
    pub fn counting(mut self, accounting: Accounting) -> TrafficConditioner {
        for stage in &mut self.stages {
            stage.meter = stage.meter.take().map(|meter| meter.counting(accounting));
        }
        self
    }
    /// Whether the conditioner has no stages and sets no marks of a link.
    pub fn is_empty(&self) -> bool {
        self.stages.is_empty() && self.leaves_by.is_none()
    }
    /// Moves the conditioner into a box. Returns `None` if the conditioner [is
    /// empty](TrafficConditioner::is_empty), which is usual.
    pub fn boxed(self) -> Option<Box<TrafficConditioner>> {
        (!self.is_empty()).then(|| Box::new(self))
    }
    /// Excludes the packets before `time`, the warm-up, from the counters.
    pub fn count_from(&mut self, time: Time) {
        self.counts_from = time;
    }
    /// Creates the meters of `flow` in all stages that have a meter for each flow.
    pub fn announce(&mut self, flow: &FlowKey) {
        for stage in &mut self.stages {
            if let Some(Metering::Flow(meters)) = stage.meter.as_mut().and_then(StageMeter::metering) {
                meters.announce(flow);
            }
        }
    }
    /// Meters and marks `packet`, which arrives at `now`.
    pub fn condition(&mut self, now: Time, packet: &mut Packet) -> Verdict {
        if let Some(encapsulation) = self.leaves_by {
            packet.depart(encapsulation);
        }
        if self.meters == Meters::Shared {
            return self.condition_with_shared_meters(now, packet);
        }
        for stage in &mut self.stages {
            match stage.condition(now, packet, self.counts_from) {
                Outcome::Continue => {}
                Outcome::Transmit => return Verdict::Pass,
                Outcome::Drop => return Verdict::Drop(DropCause::Policed),
            }
        }
        Verdict::Pass
    }
    /// Processes a packet like [`condition`](TrafficConditioner::condition), for stages that share meters. A
    /// stage that shares the meter of an earlier stage borrows this meter while it processes the packet.
    #[inline(never)]
    fn condition_with_shared_meters(&mut self, now: Time, packet: &mut Packet) -> Verdict {
        for index in 0..self.stages.len() {
            let owner = match self.stages[index].meter {
                Some(StageMeter::SharedWith(owner)) => Some(owner),
                _ => None,
            };
            if let Some(owner) = owner {
                self.stages[index].meter = self.stages[owner].meter.take();
            }
            let outcome = self.stages[index].condition_with_moved_meter(now, packet, self.counts_from);
            if let Some(owner) = owner {
                self.stages[owner].meter = self.stages[index].meter.replace(StageMeter::SharedWith(owner));
            }
            match outcome {
                Outcome::Continue => {}
                Outcome::Transmit => return Verdict::Pass,
                Outcome::Drop => return Verdict::Drop(DropCause::Policed),
            }
        }
        Verdict::Pass
    }
    /// The name of each stage, and its counters for each color.
    pub fn counted(&self) -> impl Iterator<Item = (&str, &[Count; Color::COUNT])> {
        self.stages.iter().map(|stage| (stage.name.as_str(), &stage.counted))
    }
}

impl ConditionerConfig {
    /// The actions for packets of `color`: the list of green, yellow or red, or the common list if that list
    /// is empty. Colors above red use the list of red.
    pub fn actions_of(&self, color: Color) -> &[Action] {
        let own = [&self.green, &self.yellow, &self.red][color.index().min(2)];
        if own.is_empty() { &self.actions } else { own }
    }
}

/// Returns the index of the earlier stage whose meter stage `index` shares: the first stage that names the
/// same shared meter.
fn owner(configs: &[ConditionerConfig], index: usize) -> Result<Option<usize>, ConfigError> {
    let config = &configs[index];
    let Some(name) = &config.shared else { return Ok(None) };
    if config.meter.is_none() {
        return Err(ConfigError::new("shared", "`shared` needs a meter")
            .help("give the conditioner a `meter`, or leave `shared` out"));
    }
    let Some(owner) = configs[..index].iter().position(|earlier| earlier.shared.as_ref() == Some(name))
    else {
        return Ok(None);
    };
    if configs[owner].meter != config.meter || configs[owner].per != config.per {
        let message = format!("conditioners with the shared meter `{name}` have different meters");
        return Err(
            ConfigError::new("shared", message).help("give them equal `meter` and `per`, or different names")
        );
    }
    Ok(Some(owner))
}

/// Checks that no stage of `earlier` has the name `name`, and that packets reach the stage after them.
fn check_stage_after(name: &str, earlier: &[Stage]) -> Result<(), ConfigError> {
    if earlier.iter().any(|stage| stage.name == name) {
        return Err(ConfigError::new("name", format!("there is already a conditioner `{name}` here"))
            .help("give each conditioner of an interface a different name"));
    }
    match earlier.last() {
        Some(stage) if stage.is_last() => Err(ConfigError::new("", "no packet reaches this conditioner")
            .help(format!(
                "the earlier conditioner `{0}` matches every packet and passes none on: add the action \
                 `continue` or a `match` to `{0}`",
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
        let by_color = [("green", &config.green), ("yellow", &config.yellow), ("red", &config.red)];
        for (key, actions) in by_color.into_iter().chain([("actions", &config.actions)]) {
            check(actions).map_err(|error| error.within(key))?;
        }
        let actions = |index: usize| config.actions_of(Color::new(index));
        let treatments = std::array::from_fn(|index| Treatment::from_actions(actions(index)));
        let all = by_color.into_iter().map(|(_, own)| own).chain([&config.actions]);
        let steps = all.flatten().any(Steps::are_needed_for);
        let steps = steps.then(|| Box::new(std::array::from_fn(|index| Steps::from_actions(actions(index)))));
        Ok(Stage { matches, meter, treatments, steps, counted: Default::default(), name })
    }
    /// Whether the stage passes no packet to the next stage.
    fn is_last(&self) -> bool {
        self.matches.is_none()
            && self.treatments.iter().all(|treatment| treatment.outcome() != Outcome::Continue)
    }
    /// Whether the stage reads a mark of the link layer.
    fn reads_link_marks(&self) -> bool {
        self.matches.as_ref().is_some_and(Match::reads_link_marks)
            || self.steps.iter().flat_map(|steps| steps.iter()).flatten().any(Steps::read_link_marks)
    }
    /// Processes a packet like [`Stage::condition`]. It is not inlined, because few packets need it.
    #[inline(never)]
    fn condition_with_moved_meter(&mut self, now: Time, packet: &mut Packet, counts_from: Time) -> Outcome {
        self.condition(now, packet, counts_from)
    }
    #[allow(clippy::inline_always)] // executed for every conditioned packet; a call took about 2 % of a run
    #[inline(always)]
    fn condition(&mut self, now: Time, packet: &mut Packet, counts_from: Time) -> Outcome {
        if self.matches.as_ref().is_some_and(|matches| !matches.matches(packet)) {
            return Outcome::Continue;
        }
        match &mut self.meter {
            // `SharedWith` does not occur here, because the caller has replaced it by the shared meter.
            None | Some(StageMeter::SharedWith(_)) => {}
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
        if let Some(steps) = &self.steps
            && let Some(steps) = &steps[color]
        {
            steps.apply(packet);
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
    fn metering(&mut self) -> Option<&mut Metering> {
        match self {
            StageMeter::Plain(metering) => Some(metering),
            StageMeter::Counting(counting) => Some(&mut counting.1),
            StageMeter::SharedWith(_) => None,
        }
    }
    /// Returns this meter with `accounting` instead of its own accounting.
    fn counting(self, accounting: Accounting) -> StageMeter {
        let metering = match self {
            StageMeter::Plain(metering) => metering,
            StageMeter::Counting(counting) => counting.1,
            StageMeter::SharedWith(_) => return self,
        };
        if accounting.is_ip() {
            StageMeter::Plain(metering)
        } else {
            StageMeter::Counting(Box::new((accounting, metering)))
        }
    }
}

/// Measures a packet by its length under the accounting.
#[inline(never)]
fn measure_counted((accounting, metering): &mut (Accounting, Metering), now: Time, packet: &Packet) -> Color {
    let counted = Packet { length: accounting.counted(packet.length), ..*packet };
    match metering {
        Metering::Aggregate(meter) => meter.measure(now, &counted),
        Metering::Flow(meters) => meters.measure(now, &counted),
    }
}
