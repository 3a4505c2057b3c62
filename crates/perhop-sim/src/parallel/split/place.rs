//! [`Place`]: the place of an element of the whole network in its part.

/// A part, and the number of an element in this part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) part: usize,
    pub(super) number: usize,
}

/// The places of all elements that have events.
#[derive(Default)]
pub(super) struct Places {
    pub(super) sessions: Vec<Place>,
    pub(super) queue_probes: Vec<Place>,
    pub(super) connection_probes: Vec<Place>,
    pub(super) speed_tests: Vec<Place>,
}

/// Returns the places of elements that are added to `parts` in this order.
pub(super) fn numbered(parts: impl Iterator<Item = usize>) -> Vec<Place> {
    let mut counts: Vec<usize> = Vec::new();
    let place = |part: usize| {
        counts.resize(counts.len().max(part + 1), 0);
        counts[part] += 1;
        Place { part, number: counts[part] - 1 }
    };
    parts.map(place).collect()
}
