//! Taps: which directions of links are captured.

use super::Builder;
use crate::capture::Tap;
use crate::hosts::Hosts;
use crate::session::Ledger;
use perhop_scenario::{LinkConfig, Scenario};

/// The ends of the directions of links that `scenario` captures: those it names, else both directions of every
/// link with a policy at one of its ends, else all.
pub(crate) fn captured(scenario: &Scenario) -> Vec<[String; 2]> {
    let named = &scenario.measure.captures;
    if !named.is_empty() {
        return named.iter().map(|capture| [capture.from.clone(), capture.to.clone()]).collect();
    }
    let has_policy = |link: &&LinkConfig| {
        link.interfaces.values().any(|interface| interface.input.is_some() || interface.output.is_some())
    };
    let both = |link: &LinkConfig| {
        let [a, b] = link.between.clone();
        [[a.clone(), b.clone()], [b, a]]
    };
    let around: Vec<[String; 2]> = scenario.links.iter().filter(has_policy).flat_map(both).collect();
    if around.is_empty() { scenario.links.iter().flat_map(both).collect() } else { around }
}

impl Builder<'_> {
    /// Puts a tap on each direction of a link between `captured` nodes.
    pub(super) fn add_taps(&mut self, captured: &[[String; 2]]) {
        let Hosts { taps, link_ends, transport, .. } = &mut self.hosts;
        let links = taps.iter_mut().zip(link_ends).zip(&self.directions);
        for ((tap, ends), direction) in links.filter(|((_, ends), _)| captured.contains(ends)) {
            let is_between = |config: &&LinkConfig| ends.iter().all(|end| config.between.contains(end));
            let Some(config) = self.scenario.links.iter().find(is_between) else { continue };
            let rate = config.interfaces.get(&ends[0]).and_then(|near| near.rate).unwrap_or(config.rate);
            *tap = Some(Box::new(Tap::new(rate, config.framing(), direction.delay)));
            transport.ledger = Some(Ledger::default());
        }
    }
}
