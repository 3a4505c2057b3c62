//! [`Conditioners`]: writing of conditioners as filters with actions.

use perhop_device::{Missing, Notes, NotesAt, comment};
use perhop_qos::action::{Action, Outcome};
use perhop_qos::classifier::MatchConfig;
use perhop_qos::conditioner::ConditionerConfig;
use perhop_qos::meter::MeterScope;
use perhop_qos::{Color, Dscp};

use super::condition::{ALL, Conditions, Overlap, Version};
use super::policer::{Counted, buckets};

/// The filters that mark and police on one side of an interface.
pub(super) struct Conditioners<'a> {
    /// The side: `ingress` or `egress`.
    pub(super) hook: &'static str,
    pub(super) counted: Counted,
    /// The policy, for messages.
    pub(super) place: &'a str,
    pub(super) lines: Vec<String>,
    /// The number of policers in the script. The filters for IPv4 and IPv6 share a policer, which they name
    /// by its number.
    pub(super) policers: usize,
    chains: usize,
    preference: usize,
}

/// The words of an action list for each version of IP.
type Words = [String; 2];

impl Conditioners<'_> {
    /// Creates an empty set of filters. The other side already has `policers` policers.
    pub(super) fn new<'a>(
        hook: &'static str,
        counted: Counted,
        place: &'a str,
        policers: usize,
    ) -> Conditioners<'a> {
        Conditioners { hook, counted, place, lines: Vec::new(), policers, chains: 0, preference: 0 }
    }

    /// Adds the `number`-th stage.
    pub(super) fn add(
        &mut self,
        stage: &ConditionerConfig,
        number: usize,
        conditions: &mut Conditions,
        notes: &mut Notes,
    ) {
        let name = stage.name.clone().unwrap_or_else(|| number.to_string());
        let mut notes = notes.at(&format!("{}, class {name}", self.place));
        if let Err(missing) = self.try_add(stage, &name, conditions, &mut notes) {
            notes.add(missing);
        }
    }

    fn try_add(
        &mut self,
        stage: &ConditionerConfig,
        name: &str,
        conditions: &mut Conditions,
        notes: &mut NotesAt,
    ) -> Result<(), Missing> {
        if stage.per == MeterScope::Flow {
            return Err(Missing::new(
                "meter per flow",
                "a policer of Linux polices all its packets together",
            ));
        }
        if stage.shared.is_some() {
            return Err(Missing::new("meter of several classes", "perhop writes a policer for each filter"));
        }
        self.lines.push(format!("# {}", comment(name)));
        if stage.meter.is_some() {
            return self.add_metered(stage, conditions, notes);
        }
        let actions = if stage.actions.is_empty() { &stage.green } else { &stage.actions };
        if [&stage.yellow, &stage.red].into_iter().any(|other| !other.is_empty() && other != actions) {
            notes.report(
                "actions by color without a meter",
                "tc has no packet colors: all packets have the actions of green packets",
            );
        }
        let words = Version::BOTH.map(|version| words(actions, version, notes));
        self.add_filters(stage.matches.as_ref(), (actions, &words), conditions)
    }

    /// Adds a policer, with the actions of its other colors in separate chains.
    fn add_metered(
        &mut self,
        stage: &ConditionerConfig,
        conditions: &mut Conditions,
        notes: &mut NotesAt,
    ) -> Result<(), Missing> {
        let Some(meter) = &stage.meter else { return Ok(()) };
        let buckets = buckets(meter, self.counted, notes)?;
        for bucket in &buckets {
            if ending(actions_of(stage, bucket.exceeding)) == Outcome::Continue {
                let construct = format!("continue for {} packets", bucket.exceeding);
                return Err(Missing::new(construct, "a chain does not return"));
            }
        }
        let mut parts = Vec::new();
        for bucket in &buckets {
            let actions = actions_of(stage, bucket.exceeding);
            let exceed = match ending(actions) {
                Outcome::Drop => "drop".to_owned(),
                _ => format!("goto chain {}", self.add_chain(actions, notes)),
            };
            self.policers += 1;
            let index = format!("\"${{P}}{:03}\"", self.policers);
            let bucket = &bucket.words;
            parts.push(format!("action police index {index} {bucket} conform-exceed {exceed} / pipe"));
        }
        let green = actions_of(stage, Color::GREEN);
        let words = Version::BOTH.map(|version| {
            let own = [words(green, version, notes)];
            parts.iter().chain(&own).cloned().collect::<Vec<_>>().join(" ")
        });
        self.add_filters(stage.matches.as_ref(), (green, &words), conditions)
    }

    /// Adds a chain of filters with these actions for all packets. Returns its number.
    fn add_chain(&mut self, actions: &[Action], notes: &mut NotesAt) -> usize {
        self.chains += 1;
        for (preference, version) in (1..).zip(Version::BOTH) {
            self.lines.push(format!(
                "tc filter add dev \"$DEV\" {} chain {} protocol {} pref {preference} u32 {ALL} {}",
                self.hook,
                self.chains,
                version.protocol(),
                words(actions, version, notes)
            ));
        }
        self.chains
    }

    fn add_filters(
        &mut self,
        matches: Option<&MatchConfig>,
        (actions, words): (&[Action], &Words),
        conditions: &mut Conditions,
    ) -> Result<(), Missing> {
        let matches: Vec<MatchConfig> = matches.into_iter().cloned().collect();
        let goes_on = ending(actions) == Outcome::Continue;
        let overlap = if goes_on { Overlap::Apart } else { Overlap::Allowed };
        let found = conditions.filters(&matches, overlap)?;
        for (version, words) in Version::BOTH.into_iter().zip(words) {
            self.preference += 1;
            let own = found.iter().filter(|filter| filter.version == version);
            self.lines.extend(own.map(|filter| {
                format!(
                    "tc filter add dev \"$DEV\" {} protocol {} pref {} u32 {} {words}",
                    self.hook,
                    version.protocol(),
                    self.preference,
                    filter.words
                )
            }));
        }
        Ok(())
    }
}

/// Returns the actions of a stage for a color.
fn actions_of(stage: &ConditionerConfig, color: Color) -> &[Action] {
    let own = match color.index() {
        0 => &stage.green,
        1 => &stage.yellow,
        _ => &stage.red,
    };
    if own.is_empty() { &stage.actions } else { own }
}

/// Returns the outcome of some actions; by default the packet is transmitted.
fn ending(actions: &[Action]) -> Outcome {
    actions.last().and_then(Action::ends_with).unwrap_or(Outcome::Transmit)
}

/// Returns the words of actions in their order.
fn words(actions: &[Action], version: Version, notes: &mut NotesAt) -> String {
    let end = match ending(actions) {
        Outcome::Drop => return "action drop".to_owned(),
        Outcome::Transmit => "action pass",
        Outcome::Continue => "action continue",
    };
    let mut found = Vec::new();
    for action in actions.iter().filter(|action| action.ends_with().is_none()) {
        match field_action(action, version) {
            Some(words) => found.push(words),
            None => notes.report(format!("action {}", written(action)), "Linux has no such field here"),
        }
    }
    found.push(end.to_owned());
    found.join(" ")
}

/// Returns the words of an action on a codepoint, a precedence or a label; `None` for other fields.
fn field_action(action: &Action, version: Version) -> Option<String> {
    let (number, mask) = match action {
        Action::Label(label) => return Some(format!("action skbedit mark {label} pipe")),
        Action::Mark(dscp) => (Dscp::value(*dscp) << 2, 0xFC),
        Action::MarkPrecedence(precedence) => (precedence.value() << 5, 0xE0),
        _ => return None,
    };
    Some(match version {
        Version::V4 => format!(
            "action pedit ex munge ip dsfield set {number:#04x} retain {mask:#04x} pipe action csum ip4h pipe"
        ),
        Version::V6 => {
            format!("action pedit ex munge ip6 traffic_class set {number:#04x} retain {mask:#04x} pipe")
        }
    })
}

/// Returns an action as it is written in scenarios.
fn written(action: &Action) -> String {
    let value = serde_json::to_value(action).unwrap_or_default();
    let text = match &value {
        serde_json::Value::Object(fields) => {
            fields.iter().map(|(key, value)| format!("{key}: {value}")).collect::<Vec<_>>().join(", ")
        }
        other => other.to_string(),
    };
    text.replace('"', "")
}
