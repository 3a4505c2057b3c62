//! Priority flow control: the settings of both ends of every link, and the slots of pause frames.

use std::collections::BTreeMap;

use perhop_net::{Event, PausableLink, Pauses};
use perhop_qos::error::ConfigError;
use perhop_qos::policy::{PauseConfig, QueueingConfig};
use perhop_scenario::routing::LinkId;
use perhop_scenario::{InterfaceConfig, LinkConfig};

use super::Builder;

impl<'a> Builder<'a> {
    /// Builds the state of priority flow control, if an interface may send pause frames. All directions of
    /// links must exist.
    pub(super) fn pauses(&mut self) -> Result<Option<Pauses>, ConfigError> {
        let plain = InterfaceConfig::default();
        let (scenario, mut settings) = (self.scenario, Vec::with_capacity(self.directions.len()));
        for (index, link) in scenario.links.iter().enumerate() {
            let [a, b] = &link.between;
            for from in [a, b] {
                let near = link.interfaces.get(from).unwrap_or(&plain);
                let policy = near.output.as_ref().and_then(|name| scenario.policies.get(name));
                let queueing = policy.and_then(|policy| policy.queueing.as_ref());
                let queues = queueing.map_or_else(Vec::new, QueueingConfig::pauses);
                refuse_rate_changes(link, &queues).map_err(|error| error.within(index).within("links"))?;
                settings.push((from.as_str(), queues, link.wire(near).rate));
            }
        }
        // A network without pauses registers no slots for pauses, because the order of slots decides the
        // order of simultaneous events.
        if settings.iter().all(|(_, queues, _)| queues.iter().all(Option::is_none)) {
            return Ok(None);
        }
        let arrivals = self.arrivals();
        let settings = settings.into_iter().enumerate().map(|(number, (from, queues, rate))| PausableLink {
            queues,
            rate,
            reverse: LinkId(number as u32 ^ 1),
            arrivals: arrivals.get(from).cloned().unwrap_or_default(),
            slot: self.agenda.register(Event::Pause(LinkId(number as u32))),
        });
        Ok(Pauses::new(settings.collect(), self.hosts.measurements.warmup))
    }

    /// Returns, for each interface of each router, the direction of the link on which packets arrive at it.
    fn arrivals(&self) -> BTreeMap<&'a str, Vec<Option<LinkId>>> {
        let mut arrivals: BTreeMap<&'a str, Vec<Option<LinkId>>> = BTreeMap::new();
        for (number, direction) in self.directions.iter().enumerate() {
            let [_, to] = self.topology.ends(LinkId(number as u32));
            if self.topology.is_host(to) {
                continue;
            }
            let known = arrivals.entry(to).or_insert_with(|| vec![None; self.topology.interfaces(to).len()]);
            if let Some(place) = known.get_mut(usize::from(direction.ingress.interface().0)) {
                *place = Some(LinkId(number as u32));
            }
        }
        arrivals
    }
}

/// Refuses rate changes of a link with pauses, because the transmission time of a pause frame would be
/// unknown.
fn refuse_rate_changes(link: &LinkConfig, queues: &[Option<PauseConfig>]) -> Result<(), ConfigError> {
    if link.rate_changes.is_empty() || queues.iter().all(Option::is_none) {
        return Ok(());
    }
    let message = "the rate of a link with priority flow control (`pause`) cannot change";
    Err(ConfigError::new("rate-changes", message).help("leave `rate-changes` or `pause` out"))
}
