//! Writing of conditioners as `rate-limit` lines.

use perhop_device::Missing;
use perhop_device::intent::Direction;
use perhop_qos::Color;
use perhop_qos::action::{Action, Outcome};
use perhop_qos::classifier::{MatchConfig, OneOrMany};
use perhop_qos::conditioner::ConditionerConfig;
use perhop_qos::meter::MeterConfig;

use super::actions::{acting, ending, of_color, outcome, steps};
use super::criteria::{Key, keys};
use super::table_map::TableMaps;
use super::words::{codepoint, name};

const PREFIX: &str = "rate-limit ";

/// Whether a conditioner corresponds to a `rate-limit` line, which is a token bucket with debt.
pub(super) fn is_rate_limit(stage: &ConditionerConfig) -> bool {
    matches!(stage.meter, Some(MeterConfig::TokenBucketWithDebt(_)))
        || stage.name.as_deref().is_some_and(|name| name.starts_with(PREFIX))
}

/// Returns the word for a direction.
pub(super) fn direction_word(direction: Option<Direction>) -> &'static str {
    match direction {
        Some(Direction::Input) => "input",
        Some(Direction::Output) | None => "output",
    }
}

/// A `rate-limit` line, and the access list that it names.
pub(super) struct RateLimit {
    pub(super) line: String,
    pub(super) list: Option<String>,
}

/// Returns the line of the `number`-th conditioner.
///
/// # Errors
/// `rate-limit` has no such meter or actions.
pub(super) fn rate_limit(
    stage: &ConditionerConfig,
    direction: Option<Direction>,
    number: usize,
    tables: &mut TableMaps,
) -> Result<RateLimit, Missing> {
    let (rate, burst, extended) = match &stage.meter {
        Some(MeterConfig::TokenBucketWithDebt(config)) => (config.rate, config.burst, config.debt_limit),
        Some(MeterConfig::TokenBucket(config)) => (config.rate, config.burst, config.burst),
        other => {
            let construct = if other.is_some() { "another meter" } else { "no meter" };
            return Err(Missing::new(format!("rate-limit with {construct}"), "rate-limit is one bucket"));
        }
    };
    let (words, list) = stage.matches.as_ref().map_or((String::new(), None), |condition| {
        packets(condition, stage.name.as_deref().unwrap_or_default(), number)
    });
    let conform = action(of_color(stage, Color::GREEN), tables)?;
    let exceed = action(of_color(stage, Color::RED), tables)?;
    let direction = direction_word(direction);
    let (rate, burst, extended) = (rate.as_bits_per_second(), burst.as_bytes(), extended.as_bytes());
    let line = format!(
        "rate-limit {direction} {words}{rate} {burst} {extended} conform-action {conform} exceed-action \
         {exceed}"
    );
    Ok(RateLimit { line, list })
}

/// Returns the match criterion of a line, and the access list that it names.
fn packets(condition: &MatchConfig, stage: &str, number: usize) -> (String, Option<String>) {
    let keys = keys(condition);
    if let Some(OneOrMany(codepoints)) = &condition.dscp
        && let [dscp] = codepoints.as_slice()
        && keys == [Key::Dscp]
    {
        return (format!("dscp {} ", codepoint(*dscp)), None);
    }
    if let Some(OneOrMany(labels)) = &condition.label
        && let [label] = labels.as_slice()
        && keys == [Key::Label]
    {
        return (format!("qos-group {label} "), None);
    }
    let given =
        stage.strip_prefix("rate-limit access-group ").map(|rest| rest.split(" (").next().unwrap_or(rest));
    let is_numbered = |given: &&str| {
        let number = given.strip_prefix(PREFIX).unwrap_or_default();
        (1..=3).contains(&number.len()) && number.bytes().all(|digit| digit.is_ascii_digit())
    };
    let list = if keys == [Key::Precedence] {
        given.filter(is_numbered).map_or_else(|| format!("{PREFIX}{number}"), str::to_owned)
    } else {
        let usual = || format!("{}-{number}", if stage.is_empty() { "LIMIT" } else { stage });
        name(&given.filter(|given| !given.contains(' ')).map_or_else(usual, str::to_owned))
    };
    (format!("access-group {list} "), Some(list))
}

fn action(actions: &[Action], tables: &mut TableMaps) -> Result<String, Missing> {
    let end = ending(actions);
    match steps(actions) {
        [] => Ok(outcome(end).to_owned()),
        [action] if end != Outcome::Drop => {
            let words = acting(action, tables)?;
            Ok(if end == Outcome::Transmit { words } else { words.replace("-transmit", "-continue") })
        }
        _ => {
            Err(Missing::new("several actions for one color", "a `rate-limit` has one action for each color"))
        }
    }
}
