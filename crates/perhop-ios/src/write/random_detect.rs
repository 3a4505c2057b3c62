//! Writing of WRED as `random-detect`.

use perhop_device::{Missing, codepoints};
use perhop_qos::buffer::{AveragingConfig, EcnConfig, Law, MredConfig, PrecedenceConfig};
use perhop_qos::classifier::OneOrMany;
use perhop_qos::policy::ClassConfig;
use perhop_qos::queue::PrecedenceSource;
use perhop_qos::{Dscp, QueueSize};

use super::words::limit;
use crate::platform::Profile;

/// The default queue limit.
const LIMIT: QueueSize = QueueSize::Packets(64);
/// The default exponential weighting constant of the average of WRED.
const EXPONENT: u32 = 9;
/// The largest mark probability denominator of IOS.
const MOST_DENOMINATOR: f64 = 65_536.0;

/// Returns the lines of WRED on a class's queue.
///
/// # Errors
/// The router has no such thresholds or averages.
pub(super) fn lines(
    config: &MredConfig,
    class: &ClassConfig,
    profile: Profile,
) -> Result<Vec<String>, Missing> {
    let rows = &config.precedences;
    if rows.is_empty() {
        let missing =
            Missing::new("wred by a model of precedences", "IOS needs thresholds for each precedence");
        return Err(missing.instead("write `precedences`"));
    }
    let exponent = match config.averaging {
        Some(AveragingConfig::Exponent(exponent)) => exponent,
        None if config.law == Some(Law::Cisco) => EXPONENT,
        other => {
            let weight = match other {
                Some(AveragingConfig::Weight(weight)) => weight,
                _ => 0.002,
            };
            let missing =
                Missing::new(format!("averaging: weight {weight}"), "IOS configures n, for a weight of 2^-n");
            return Err(missing.instead("write `averaging: {exponent: 9}`"));
        }
    };
    let (basis, own) = match &class.precedence {
        PrecedenceSource::ByDscp(groups) => ("dscp-based", by_group(rows, groups, class, profile)?),
        PrecedenceSource::IpPrecedence => {
            let usual = usual_precedences(profile);
            let mut lines = by_number(rows, "precedence")?;
            lines.retain(|line| !usual.contains(line));
            ("", lines)
        }
        PrecedenceSource::Dscp => ("dscp-based", by_drop_precedence(rows)?),
        PrecedenceSource::Color | PrecedenceSource::Cos => {
            ("discard-class-based", by_number(rows, "discard-class")?)
        }
    };
    let mut found = vec![format!("random-detect {basis}").trim_end().to_owned()];
    found.extend(own);
    if exponent != EXPONENT {
        found.push(format!("random-detect exponential-weighting-constant {exponent}"));
    }
    if config.scalable.is_some() {
        return Err(Missing::new("scalable", "IOS does not mark by the current queue length"));
    }
    if config.ecn == EcnConfig::Mark {
        found.push("random-detect ecn".to_owned());
    }
    if let Some(size) = config.limit.filter(|size| *size != LIMIT || !profile.limits_early_drops()) {
        found.insert(0, format!("queue-limit {}", limit(size)));
    }
    Ok(found)
}

/// Returns the lines that set the default thresholds of the precedences.
fn usual_precedences(profile: Profile) -> Vec<String> {
    let line = |(value, low): (usize, &u64)| format!("random-detect precedence {value} {low} 40 10");
    profile.usual_precedence_minima().iter().enumerate().map(line).collect()
}

fn thresholds(row: &PrecedenceConfig) -> Result<String, Missing> {
    let probability = row.max_probability;
    let denominator = if probability > 0.0 { (1.0 / probability).round() } else { 0.0 };
    if !(1.0..=MOST_DENOMINATOR).contains(&denominator) {
        let construct = format!("max-probability {probability}");
        return Err(Missing::new(construct, "IOS has the probabilities 1/n for n from 1 to 65536"));
    }
    if row.own.is_some() {
        return Err(Missing::new(
            "own thresholds of a precedence",
            "IOS compares the same average for all precedences",
        ));
    }
    Ok(format!("{} {} {denominator}", limit(row.min), limit(row.max)))
}

fn row(rows: &[PrecedenceConfig], number: usize) -> &PrecedenceConfig {
    &rows[number.min(rows.len() - 1)]
}

fn by_number(rows: &[PrecedenceConfig], word: &str) -> Result<Vec<String>, Missing> {
    let line = |number| Ok(format!("random-detect {word} {number} {}", thresholds(row(rows, number))?));
    (0..8).map(line).collect()
}

/// Returns the threshold lines of the AF codepoints by drop precedence.
fn by_drop_precedence(rows: &[PrecedenceConfig]) -> Result<Vec<String>, Missing> {
    let each = (1..5).flat_map(|class| (0..3).map(move |color| (class, color)));
    let line = |(class, color): (usize, usize)| {
        Ok(format!("random-detect dscp af{class}{} {}", color + 1, thresholds(row(rows, color))?))
    };
    each.map(line).collect()
}

/// Returns the threshold lines of every codepoint of the class. Codepoints without a group have the
/// thresholds of the last group.
fn by_group(
    rows: &[PrecedenceConfig],
    groups: &[OneOrMany<Dscp>],
    class: &ClassConfig,
    profile: Profile,
) -> Result<Vec<String>, Missing> {
    let last = groups.len().saturating_sub(1);
    let mut lines = Vec::new();
    for dscp in codepoints(class.matches.as_ref()) {
        let group = groups.iter().rposition(|group| group.0.contains(&dscp)).unwrap_or(last);
        let text = thresholds(row(rows, group))?;
        if text != usual_codepoint(dscp) || !profile.has_usual_thresholds() {
            lines.push(format!("random-detect dscp {} {text}", dscp.value()));
        }
    }
    Ok(lines)
}

/// Returns the default thresholds of a codepoint (maximum 40).
fn usual_codepoint(dscp: Dscp) -> String {
    let (high, low) = (dscp.value() >> 3, dscp.value() & 7);
    let least = match (high, low) {
        _ if dscp.value() == 46 => 36,
        (1..=4, 2) => 32,
        (1..=4, 4) => 28,
        (1..=4, 6) => 24,
        (1.., 0) => 20 + 2 * high,
        _ => 20,
    };
    format!("{least} 40 10")
}
