//! Drop profiles: drop probabilities by the fill level of a queue.

use std::collections::BTreeMap;

use crate::context::{Context, Word};
use crate::tree::NodeId;
use crate::values::percent;

/// A drop profile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DropProfile {
    pub(crate) line: usize,
    pub(crate) node: NodeId,
    pub(crate) form: Form,
    /// Fill level and drop probability, percent, in ascending order of the fill level.
    pub(crate) points: Vec<(u8, u8)>,
}

/// The probability between the points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// The probability is constant from one point to the next.
    Steps,
    /// The probability is linear between two points.
    Interpolated,
}

/// The number of fill levels at which Junos samples an interpolated profile.
const SAMPLES: usize = 64;

impl DropProfile {
    /// Returns the corners of the profile from an empty to a full queue.
    ///
    /// An interpolated profile gets the points (0, 0) and (100, 100) if they are missing, and is linear
    /// between points (Junos CoS User Guide, "RED Drop Profiles"; two profiles that a vMX prints agree in 26
    /// of 26 values).
    pub(crate) fn corners(&self) -> Vec<(u8, u8)> {
        let mut corners = self.points.clone();
        if self.form == Form::Interpolated {
            if corners.first().is_none_or(|(fill, _)| *fill > 0) {
                corners.insert(0, (0, 0));
            }
            if corners.last().is_none_or(|(fill, _)| *fill < 100) {
                corners.push((100, 100));
            }
        }
        corners
    }

    /// Returns the probability at a fill level, percent. An interpolated probability is truncated to whole
    /// percent.
    pub(crate) fn probability(&self, fill: u8) -> u8 {
        let corners = self.corners();
        let below = corners.iter().rev().find(|(level, _)| *level <= fill);
        let above = corners.iter().find(|(level, _)| *level > fill);
        match (below, above, self.form) {
            (None, _, _) => 0,
            (Some((_, probability)), _, Form::Steps) | (Some((_, probability)), None, _) => *probability,
            (Some((from, low)), Some((to, high)), Form::Interpolated) => {
                let (from, low, to, high) =
                    (i32::from(*from), i32::from(*low), i32::from(*to), i32::from(*high));
                let scaled = low * (to - from) + (high - low) * (i32::from(fill) - from);
                (scaled / (to - from)).clamp(0, 100) as u8
            }
        }
    }

    /// Returns the table that the device prints: 64 samples of an interpolated profile, or the steps of
    /// another profile.
    pub(crate) fn table(&self) -> Vec<(u8, u8)> {
        match self.form {
            Form::Steps => self.points.clone(),
            Form::Interpolated => {
                sampled_levels().into_iter().map(|fill| (fill, self.probability(fill))).collect()
            }
        }
    }
}

/// Returns the 64 fill levels at which Junos samples: the even numbers except 50, the odd multiples of 5, and
/// 1, 49, 51 and 99 (`show class-of-service drop-profile` of a vMX).
pub(crate) fn sampled_levels() -> Vec<u8> {
    let is_sampled = |fill: &u8| {
        (fill.is_multiple_of(2) && *fill != 50) || (fill % 10 == 5) || matches!(fill, 1 | 49 | 51 | 99)
    };
    let levels: Vec<u8> = (0..=100).filter(is_sampled).collect();
    debug_assert_eq!(levels.len(), SAMPLES);
    levels
}

pub(super) fn read(context: &mut Context, cos: NodeId) -> BTreeMap<String, DropProfile> {
    let mut found = BTreeMap::new();
    for name in context.items(cos, "drop-profiles") {
        let mut points = BTreeMap::new();
        let mut form = Form::Steps;
        for level in context.items(name.node, "fill-level") {
            let probability = context.parsed(level.node, "drop-probability", percent);
            match (percent(&level.text), probability) {
                (Some(fill), Some(probability)) => {
                    points.insert(fill, probability.value);
                }
                (None, _) => context.invalid(&level, "fill-level"),
                _ => {}
            }
        }
        if let Some(interpolate) = context.tree.child(name.node, "interpolate") {
            context.modeled(interpolate);
            form = Form::Interpolated;
            points = interpolated(context, interpolate);
        }
        let points: Vec<(u8, u8)> = points.into_iter().collect();
        if points.windows(2).any(|pair| pair[1].1 < pair[0].1) {
            let message = format!("the drop probability of `{}` falls with the fill level", name.text);
            context.found(&crate::rules::JUNOS_VALUE_INVALID, name.node, message, "the commit fails");
        }
        let profile = DropProfile { line: name.line, node: name.node, form, points };
        found.insert(name.text, profile);
    }
    found
}

/// Pairs the lists of fill levels and probabilities in order. A probability can repeat.
fn interpolated(context: &mut Context, node: NodeId) -> BTreeMap<u8, u8> {
    let fills = context.items(node, "fill-level");
    context.items(node, "drop-probability");
    let statement = context.tree.child(node, "drop-probability");
    let values = statement.map(|statement| context.tree.mentioned(statement)).unwrap_or_default();
    if fills.len() != values.len() {
        let message = format!("{} fill levels have {} drop probabilities", fills.len(), values.len());
        context.found(&crate::rules::JUNOS_VALUE_INVALID, node, message, "the commit fails");
    }
    let mut points = BTreeMap::new();
    for (fill, value) in fills.into_iter().zip(values) {
        let value =
            Word { node: value, line: context.tree.line(value), text: context.tree.word(value).to_owned() };
        match (percent(&fill.text), percent(&value.text)) {
            (Some(fill), Some(value)) => {
                points.insert(fill, value);
            }
            (None, _) => context.invalid(&fill, "fill-level"),
            (_, None) => context.invalid(&value, "drop-probability"),
        }
    }
    points
}

#[cfg(test)]
mod tests {
    use super::*;

    fn profile(form: Form, points: &[(u8, u8)]) -> DropProfile {
        DropProfile { line: 1, node: NodeId::ROOT, form, points: points.to_vec() }
    }

    #[test]
    fn an_interpolated_profile_is_sampled_at_64_levels() {
        let table = profile(Form::Interpolated, &[(50, 20), (75, 60)]).table();
        assert_eq!(table.len(), 64);
        for row in [(0, 0), (10, 4), (25, 10), (49, 19), (51, 21), (75, 60), (80, 68), (99, 98), (100, 100)] {
            assert!(table.contains(&row), "{row:?} of {table:?}");
        }
    }

    #[test]
    fn a_step_keeps_its_probability() {
        let steps = profile(Form::Steps, &[(30, 10), (60, 100)]);
        assert_eq!([0, 29, 30, 59, 60, 100].map(|fill| steps.probability(fill)), [0, 0, 10, 10, 100, 100]);
    }
}
