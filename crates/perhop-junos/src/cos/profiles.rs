//! Traffic-control profiles: the rates of the nodes of a hierarchy.

use std::collections::BTreeMap;

use perhop_device::intent::At;

use super::schedulers::{Amount, ExcessRate, Schedulers, amount, excess_rate};
use crate::context::{Context, Word};
use crate::tree::NodeId;

/// A traffic-control profile.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Profile {
    pub(crate) line: usize,
    pub(crate) scheduler_map: Option<At<String>>,
    pub(crate) shaping: Option<At<Amount>>,
    /// Bytes.
    pub(crate) burst: Option<At<u64>>,
    pub(crate) guaranteed: Option<At<Amount>>,
    pub(crate) excess: Option<At<ExcessRate>>,
    /// The rate that buffers refer to.
    pub(crate) delay_buffer: Option<At<Amount>>,
    pub(crate) overhead: Option<At<Overhead>>,
}

/// The bytes that a node counts for a packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Overhead {
    /// Bytes added to the length of the packet.
    pub(crate) bytes: i32,
    /// Whether the node counts packets as ATM cells.
    pub(crate) is_cells: bool,
}

impl Profile {
    /// Returns the lines of the profile.
    pub(crate) fn lines(&self) -> Vec<usize> {
        let map = self.scheduler_map.as_ref().map(|at| at.line);
        let rates = [self.shaping, self.guaranteed, self.delay_buffer].map(|at| at.map(|at| at.line));
        let others =
            [self.burst.map(|at| at.line), self.excess.map(|at| at.line), self.overhead.map(|at| at.line)];
        [Some(self.line), map].into_iter().chain(rates).chain(others).flatten().collect()
    }
}

/// Statements of a profile that perhop does not model.
const NOT_MODELED: [(&str, &str); 14] = [
    ("shaping-rate-priority-high", "shapers of single priorities"),
    ("shaping-rate-priority-medium", "shapers of single priorities"),
    ("shaping-rate-priority-medium-low", "shapers of single priorities"),
    ("shaping-rate-priority-low", "shapers of single priorities"),
    ("shaping-rate-priority-strict-high", "shapers of single priorities"),
    ("shaping-rate-excess-high", "shapers of single priorities"),
    ("shaping-rate-excess-medium-high", "shapers of single priorities"),
    ("shaping-rate-excess-medium-low", "shapers of single priorities"),
    ("shaping-rate-excess-low", "shapers of single priorities"),
    ("excess-rate-high", "excess rates of single priorities"),
    ("excess-rate-low", "excess rates of single priorities"),
    ("adjust-minimum", "dynamic bandwidth adjustment"),
    ("max-burst-size", "bursts of chassis schedulers"),
    ("strict-priority-scheduler", "pure priority scheduling"),
];

pub(super) fn read(context: &mut Context, cos: NodeId, schedulers: &Schedulers) -> BTreeMap<String, Profile> {
    let mut found = BTreeMap::new();
    for name in context.items(cos, "traffic-control-profiles") {
        let profile = profile(context, &name, schedulers);
        found.insert(name.text, profile);
    }
    found
}

fn profile(context: &mut Context, name: &Word, schedulers: &Schedulers) -> Profile {
    let node = name.node;
    let mut found = Profile { line: name.line, ..Profile::default() };
    for word in context.keywords(node) {
        match word.text.as_str() {
            "scheduler-map" => found.scheduler_map = map(context, node, schedulers),
            "shaping-rate" => (found.shaping, found.burst) = rate(context, &word),
            "guaranteed-rate" => {
                let (rate, burst) = rate(context, &word);
                found.guaranteed = rate;
                // MX uses the smaller burst for both rates (TechLibrary cos-burst-size-trio).
                found.burst = match (found.burst, burst) {
                    (Some(first), Some(second)) => {
                        Some(if second.value < first.value { second } else { first })
                    }
                    (first, second) => first.or(second),
                };
            }
            "delay-buffer-rate" => found.delay_buffer = rate(context, &word).0,
            "excess-rate" => {
                found.excess = excess_rate(context, word.node);
                let levels = ["excess-rate-high", "excess-rate-low"];
                if let Some(other) = levels.into_iter().find(|key| context.tree.child(node, key).is_some()) {
                    let message = format!("`excess-rate` and `{other}` exclude each other");
                    context.found(&crate::rules::JUNOS_VALUE_INVALID, word.node, message, "the commit fails");
                }
            }
            "overhead-accounting" => found.overhead = Some(overhead(context, &word)),
            text => {
                if let Some((_, note)) = NOT_MODELED.iter().find(|(known, _)| *known == text) {
                    context.not_modeled(word.node, note);
                }
            }
        }
    }
    found
}

fn map(context: &mut Context, node: NodeId, schedulers: &Schedulers) -> Option<At<String>> {
    let word = context.value(node, "scheduler-map")?;
    if !schedulers.maps.contains_key(&word.text) {
        context.undefined(word.node, "scheduler map", &word.text);
        return None;
    }
    Some(At::new(word.line, word.text))
}

/// Reads a rate and its burst: `50m burst-size 64k`, `percent 20`.
fn rate(context: &mut Context, word: &Word) -> (Option<At<Amount>>, Option<At<u64>>) {
    amount(context, word.node, &word.text)
        .map_or((None, None), |written| (Some(written.amount), written.burst))
}

/// Reads `frame-mode`, `cell-mode` and `bytes N`; N is rounded up to a multiple of 4
/// (Junos CoS User Guide, "overhead-accounting").
fn overhead(context: &mut Context, word: &Word) -> At<Overhead> {
    context.modeled(word.node);
    let mut found = Overhead::default();
    let mut is_bytes = false;
    for option in context.flat(word.node) {
        context.modeled(option.node);
        match option.text.as_str() {
            "frame-mode" => {}
            "cell-mode" => found.is_cells = true,
            "bytes" => is_bytes = true,
            text => {
                let bytes = text.parse::<i32>().ok().filter(|bytes| (-120..=124).contains(bytes));
                match bytes {
                    Some(bytes) if is_bytes => found.bytes = (bytes + 3).div_euclid(4) * 4,
                    _ => context.invalid(&option, "overhead-accounting"),
                }
            }
        }
    }
    At::new(word.line, found)
}

#[cfg(test)]
mod tests {
    /// Junos CoS User Guide, "overhead-accounting": 6 becomes 8, and -10 becomes -8.
    #[test]
    fn bytes_are_rounded_up_to_multiples_of_4() {
        assert_eq!([6, -10, 8, 0, -8].map(|bytes: i32| (bytes + 3).div_euclid(4) * 4), [8, -8, 8, 0, -8]);
    }
}
