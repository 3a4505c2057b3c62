//! Taps on the captured directions of links.

use super::Builder;
use crate::capture::Tap;
use crate::hosts::Hosts;
use crate::session::Ledger;
use perhop_scenario::{InterfaceConfig, LinkConfig};

impl Builder<'_> {
    /// Puts a tap on each direction of a link between `captured` nodes.
    pub(super) fn add_taps(&mut self, captured: &[[String; 2]]) {
        let Hosts { taps, link_ends, transport, .. } = &mut self.hosts;
        let links = taps.iter_mut().zip(link_ends).zip(&self.directions);
        for ((tap, ends), direction) in links.filter(|((_, ends), _)| captured.contains(ends)) {
            let is_between = |config: &&LinkConfig| ends.iter().all(|end| config.between.contains(end));
            let Some(config) = self.scenario.links.iter().find(is_between) else { continue };
            let plain = InterfaceConfig::default();
            let near = config.interfaces.get(&ends[0]).unwrap_or(&plain);
            *tap = Some(Box::new(Tap::new(config.wire(near), &config.rate_changes, direction.delay)));
            transport.ledger = Some(Ledger::default());
        }
    }
}
