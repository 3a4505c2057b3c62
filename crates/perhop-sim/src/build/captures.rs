//! Taps on the captured directions of links.

use std::collections::BTreeSet;

use super::Builder;
use crate::capture::Tap;
use crate::hosts::Hosts;
use crate::session::Ledger;
use perhop_scenario::InterfaceConfig;

impl Builder<'_> {
    /// Adds a tap to each direction in `captured`.
    pub(super) fn add_taps(&mut self, captured: &[[String; 2]]) {
        let Hosts { taps, link_ends, transport, .. } = &mut self.hosts;
        let captured: BTreeSet<[&str; 2]> =
            captured.iter().map(|ends| ends.each_ref().map(String::as_str)).collect();
        let links = taps.iter_mut().zip(link_ends.iter()).zip(&self.directions);
        for (number, ((tap, ends), direction)) in links.enumerate() {
            // `number` counts directions, two for every link.
            let config = &self.scenario.links[number / 2];
            if !captured.contains(&ends) {
                continue;
            }
            let plain = InterfaceConfig::default();
            let near = config.interfaces.get(ends[0]).unwrap_or(&plain);
            *tap = Some(Box::new(Tap::new(config.wire(near), &config.rate_changes, direction.delay)));
            transport.ledger = Some(Ledger::default());
        }
    }
}
