//! [`ClassFlow`]: a flow whose packets must wait in the queue of their class at the first access link.

use std::collections::{BTreeMap, BTreeSet};

use perhop_network::snapshot::{PortId, Site, Snapshot};
use perhop_qos::ConfigError;
use rayon::prelude::*;

use super::site_flow::{Routed, SiteFlow, Walked};
use crate::candidates::candidates;
use crate::header::Header;

/// Maximum number of headers tried for a class at an entrance.
const MOST_HEADERS: usize = 200;
/// Maximum number of headers tried for one condition of the entrance's input policy.
const MOST_OF_CONDITION: usize = 16;

/// A flow of a class at an access link.
pub(super) struct ClassFlow {
    pub(super) site_flow: SiteFlow,
    /// The first and the last port between devices on the path.
    pub(super) ports: [PortId; 2],
    /// The index of the class in the load of the first port.
    pub(super) class: usize,
    /// The queue of the class at the first port.
    pub(super) queue: Option<String>,
}

/// Follows the packets of flows. The result for a flow is `None` if no tried header leads to the queue of the
/// class.
///
/// # Errors
/// The errors of [`SiteFlow::walk`].
pub(super) fn walk_all(
    site_flows: &[ClassFlow],
    snapshot: &Snapshot,
    sites: &[Site],
) -> Result<Vec<Option<Walked>>, ConfigError> {
    let mut groups: BTreeMap<(usize, PortId, usize), Vec<usize>> = BTreeMap::new();
    for (place, wanted) in site_flows.iter().enumerate() {
        groups.entry((wanted.site_flow.from, wanted.ports[0], wanted.class)).or_default().push(place);
    }
    let groups: Vec<Vec<usize>> = groups.into_values().collect();
    let walked: Result<Vec<_>, ConfigError> = groups
        .par_iter()
        .map(|places| {
            let group = places.iter().map(|place| &site_flows[*place]);
            Ok(places.iter().copied().zip(walk_group(group, snapshot, sites)?).collect::<Vec<_>>())
        })
        .collect();
    let mut walked: Vec<(usize, Option<Walked>)> = walked?.into_iter().flatten().collect();
    walked.sort_by_key(|(place, _)| *place);
    Ok(walked.into_iter().map(|(_, walked)| walked).collect())
}

/// Follows the packets of the flows of one class from one site.
///
/// If an input policy writes the marks of the packets, headers that its conditions match are also tried. For
/// example, the policy can mark calls by their ports.
fn walk_group<'w>(
    group: impl Iterator<Item = &'w ClassFlow>,
    snapshot: &Snapshot,
    sites: &[Site],
) -> Result<Vec<Option<Walked>>, ConfigError> {
    // A header that reaches the class for one destination usually reaches it for the next.
    let mut known: Option<Header> = None;
    let mut walk = |wanted: &ClassFlow| {
        let own = wanted.site_flow.clone().walk(snapshot, sites)?;
        let Some(entrance) = wanted.missed_from(&own) else { return Ok(Some(own)) };
        let conditions = snapshot.input_conditions(entrance);
        let tried = conditions.iter().flat_map(|condition| {
            let none_taken = BTreeSet::new();
            candidates(&[*condition], &none_taken).take(MOST_OF_CONDITION).collect::<Vec<Header>>()
        });
        for header in known.clone().into_iter().chain(tried).take(MOST_HEADERS) {
            // The packets have the addresses of the sites, not the addresses of the header.
            let header = Header { source: None, destination: None, ..header };
            let walked = wanted.site_flow.with_header(header.clone()).walk(snapshot, sites)?;
            if walked.routed.is_ok() && wanted.missed_from(&walked).is_none() {
                known = Some(header);
                return Ok(Some(walked));
            }
        }
        Ok(None)
    };
    group.map(&mut walk).collect()
}

impl ClassFlow {
    /// Returns the port where packets enter the network, if they wait in another queue than the queue of the
    /// class.
    fn missed_from(&self, walked: &Walked) -> Option<PortId> {
        let Routed { there, .. } = walked.routed.as_ref().ok()?;
        let at_first = there.iter().flatten().find(|stop| stop.leaves == self.ports[0])?;
        let is_other = self.queue.is_some() && at_first.queue != self.queue;
        is_other.then(|| there.first()?.first().map(|stop| stop.arrives)).flatten()
    }

    /// Returns a remark that no packets of the class were found.
    pub(super) fn unreached(&self, snapshot: &Snapshot, sites: &[Site]) -> String {
        let (device, interface) = snapshot.names_of(self.ports[0]);
        let from = &sites[self.site_flow.from].name;
        format!(
            "{device} {interface}: class {} gets no load: perhop found no packet from {from} that waits in \
             the queue of the class",
            self.site_flow.class
        )
    }
}
