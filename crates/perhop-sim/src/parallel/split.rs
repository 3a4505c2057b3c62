//! [`split`]: a [`Setup`] divided into the setups of its parts, each with its own numbers.
//!
//! The links, sessions, probes and slots of the agenda of a part are in the order of the whole network.
//! Simultaneous events of a part therefore happen in the order of the whole network.

mod divider;
mod draft;
mod place;
mod transport;

use perhop_measure::Measurements;

use super::numbering::Numbering;
use super::partition::Partition;
use crate::hosts::Hosts;
use crate::link_ends::LinkEnds;
use crate::setup::Setup;
use divider::Divider;

/// A divided network.
pub(super) struct Split {
    pub(super) parts: Vec<(Setup, Numbering)>,
    /// Measurements of the whole network, without counts.
    pub(super) measurements: Measurements,
    pub(super) link_ends: LinkEnds,
}

/// Divides `setup` by `partition`.
pub(super) fn split(setup: Setup, partition: &Partition) -> Split {
    let Setup { agenda, directions, hosts, entering, .. } = setup;
    let mut divider = Divider::new(partition, &hosts, &entering);
    (0..hosts.flow_paths.len()).for_each(|flow| divider.add_flow(flow, &hosts));
    divider.assign_places(&hosts);
    divider.add_events(agenda, hosts.measurements.warmup);
    for (link, direction) in directions.into_iter().enumerate() {
        divider.add_direction(link, direction);
    }
    let Hosts { sources, transport, queue_probes, link_ends, measurements, .. } = hosts;
    divider.add_sources(sources);
    divider.add_queue_probes(queue_probes);
    divider.add_transport(transport);
    let parts = divider.drafts.into_iter().map(|draft| draft.finish(&measurements)).collect();
    Split { parts, measurements, link_ends }
}
