//! Construction of the plan of each link of a [`World`]: the steps of packets at the link ([`super::link`]).
//!
//! Most of the plan follows from the lookahead of conservative parallel simulation (Chandy and Misra 1979;
//! Bryant 1977). The lookahead is the time before which no other packet can reach the elements at the far end
//! of a link. It is the end of the run if all packets reach these elements over this wire. If TCP answers at
//! the far end, the state of the connection determines the lookahead for each packet. In all other cases, the
//! arrival is an event of the agenda.

use std::collections::BTreeMap;

use perhop_measure::tcp::{CLIENT, SERVER};
use perhop_net::{Direction, Event, Flights};
use perhop_qos::observer::PortObservers;
use perhop_qos::packet::Protocol;
use perhop_qos::units::Time;
use perhop_scenario::routing::LinkId;

use super::link::{Awaited, Departures, Entry, FarEnd, Link, Onward, PortMode, Wire};
use super::lookahead::{Feeders, Lookahead, Prescheduled};
use super::world::World;
use crate::event::HostEvent;
use crate::hosts::{FarNode, FlowSource, Hosts};
use crate::session::{Answers, Session};
use crate::setup::{Crossing, Entering, Setup};

/// The links over which the packets of a link reach its near node.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Feeding {
    Unused,
    By(LinkId),
    /// Several links, or the hosts themselves.
    Mixed,
}

impl<W: PortObservers> World<W> {
    /// Creates the fast engine, whose ports are observed by `observers`.
    ///
    /// # Panics
    /// If the network has pauses.
    pub fn new(setup: Setup, observers: W) -> World<W> {
        let Setup { agenda, directions, mut hosts, entering, crossings, returning, pauses } = setup;
        assert!(pauses.is_none(), "only the plain engine has pauses");
        let (feeding, probed) = (feeding(&hosts), read_links(&hosts, &directions));
        let mut inline = inline_links(&hosts, &feeding, &probed, &crossings);
        let stretches = stretches(&hosts, &feeding, &inline, &probed, &crossings);
        let mut entries = vec![Entry::Agenda; directions.len()];
        for stretch in &stretches {
            inline[stretch[0].index()] = true;
            stretch[1..].iter().for_each(|link| entries[link.index()] = Entry::Upstream(stretch[0]));
        }
        let far_ends = far_ends(&mut hosts, &inline, &probed, &returning);
        let onward = onward(&hosts);
        let (wires, mut links) = (wires(&hosts, &directions), Vec::with_capacity(directions.len()));
        for (index, direction) in directions.into_iter().enumerate() {
            let departures = if W::TIME_ORDERED || !direction.port.precomputes_departures() {
                Departures::Polled
            } else {
                Departures::Precomputed
            };
            let mode = if direction.mtu != Direction::UNLIMITED {
                PortMode::Limited(departures)
            } else if direction.output.is_none() && direction.port.allows_cut_through() {
                PortMode::CutThrough(departures)
            } else {
                PortMode::Queued(departures)
            };
            links.push(Link {
                onward: onward[index],
                entry: entries[index],
                mode,
                far_end: far_end_of(far_ends[index], &direction, crossings[index]),
                wire: wires[index],
                direction,
            });
        }
        let mut world =
            World { agenda, links, flights: Flights::default(), lookaheads: Vec::new(), hosts, observers };
        world.start_sources(&entering, &stretches, &probed);
        world
    }

    /// Schedules each source, or lets it send ahead of the agenda if this does not change the results.
    fn start_sources(&mut self, entering: &[Entering], stretches: &[Vec<LinkId>], probed: &[bool]) {
        let stretches: BTreeMap<LinkId, &Vec<LinkId>> =
            stretches.iter().map(|stretch| (stretch[0], stretch)).collect();
        let mut feeders = vec![Vec::new(); self.links.len()];
        for (source, FlowSource { flow, .. }) in self.hosts.sources.iter().enumerate() {
            feeders[self.hosts.link_of(*flow, 0).index()].push(source);
        }
        let mut ahead = Vec::new();
        for (index, feeders) in feeders.iter().enumerate().filter(|(_, feeders)| !feeders.is_empty()) {
            let id = LinkId(index as u32);
            // A link from host to host has no event that could be a barrier.
            if probed[index]
                || self.hosts.far_nodes[index] == FarNode::Host
                || entering[index] == Entering::Reactive
                || feeders.len() > Feeders::MOST
            {
                for source in feeders {
                    let slot = self.agenda.register(Event::Edge(HostEvent::Emission(*source as u32)));
                    self.agenda.schedule(slot, self.hosts.sources[*source].due.at);
                    self.hosts.sources[*source].slot = Some(slot);
                }
                continue;
            }
            let link = &mut self.links[index];
            let may_preschedule = link.mode.cuts_through() && link.far_end == FarEnd::Event;
            let stretch = stretches.get(&id);
            link.entry = Entry::Lookahead(self.lookaheads.len() as u32);
            ahead.push((id, self.lookaheads.len() as u32));
            self.lookaheads.push(Lookahead {
                feeders: Feeders::new(feeders),
                barrier: stretch.map_or(id, |stretch| stretch[stretch.len() - 1]),
                prescheduled: if may_preschedule { Prescheduled::Nothing } else { Prescheduled::Never },
            });
        }
        for (link, lookahead) in ahead {
            self.look_ahead(Time::ZERO, link, lookahead);
        }
    }
}

/// Returns, for each link, whether it delivers inline. A link does so if all its packets end at hosts, or
/// continue to a link that has no probed queues and receives packets from no other link. No other packet can
/// then arrive between the departure and the arrival of a packet. TCP decides for each packet whether to
/// answer ahead of the agenda.
///
/// A link away from a host does not deliver inline. Sources and TCP send on it ahead of the agenda, so an
/// event for the arrival must be their barrier. See [`stretches`].
///
/// A link to another part of the network does not deliver inline, because the other part receives its
/// packets.
fn inline_links(hosts: &Hosts, feeding: &[Feeding], probed: &[bool], crossings: &[Crossing]) -> Vec<bool> {
    let mut inline = vec![true; hosts.far_nodes.len()];
    for flow in 0..hosts.flow_paths.len() {
        let path: Vec<LinkId> = hosts.path(flow).collect();
        let is_tcp = hosts.templates[flow].0.protocol == Protocol::TCP;
        for (place, link) in path.iter().enumerate() {
            let crossing = crossings[link.index()];
            let leads_away = place == 0 && crossing != Crossing::Enters && (path.len() > 1 || is_tcp);
            inline[link.index()] &= !leads_away
                && crossing != Crossing::Leaves
                && path
                    .get(place + 1)
                    .is_none_or(|next| feeding[next.index()] == Feeding::By(*link) && !probed[next.index()]);
        }
    }
    inline
}

/// Returns the stretches: lists of links from a link away from a host to the barrier, the next link of the
/// path that is not inline. A stretch exists only if all packets of its first link, and no others, reach the
/// barrier. Then the first link also delivers inline.
///
/// The barrier must be inside this part of the network, because the sources continue when a packet arrives at
/// the barrier.
fn stretches(
    hosts: &Hosts,
    feeding: &[Feeding],
    inline: &[bool],
    probed: &[bool],
    crossings: &[Crossing],
) -> Vec<Vec<LinkId>> {
    let mut found: Vec<Option<Option<Vec<LinkId>>>> = vec![None; hosts.far_nodes.len()];
    for flow in 0..hosts.flow_paths.len() {
        let path: Vec<LinkId> = hosts.path(flow).collect();
        let barrier = path[1..].iter().position(|link| !inline[link.index()]);
        let is_alone =
            |pair: &[LinkId]| feeding[pair[1].index()] == Feeding::By(pair[0]) && !probed[pair[1].index()];
        let stretch = barrier.map(|place| path[..place + 2].to_vec());
        let is_inside = |link: &LinkId| crossings[link.index()] == Crossing::Inside;
        let stretch =
            stretch.filter(|stretch| stretch.windows(2).all(is_alone) && stretch.iter().all(is_inside));
        let known = found[path[0].index()].get_or_insert_with(|| stretch.clone());
        if *known != stretch {
            *known = None;
        }
    }
    found.into_iter().flatten().flatten().collect()
}

/// Returns, for each link, how the far end receives packets, given the links that deliver `inline`. Also
/// marks the ends of sessions that may answer ahead of the agenda. No other flow may use the link over which
/// the packets of such an end leave, and no probe may observe the queues of this link or any connection.
fn far_ends(
    hosts: &mut Hosts,
    inline: &[bool],
    probed: &[bool],
    returning: &BTreeMap<usize, usize>,
) -> Vec<FarEnd> {
    let far_end = |inline: &bool| if *inline { FarEnd::Inline(Awaited::Never) } else { FarEnd::Event };
    let mut far_ends: Vec<FarEnd> = inline.iter().map(far_end).collect();
    let mut leaving = vec![0u32; inline.len()];
    for flow in 0..hosts.flow_paths.len() {
        leaving[hosts.link_of(flow, 0).index()] += 1;
    }
    let no_probes = hosts.transport.probes.is_empty();
    for session in 0..hosts.transport.sessions.len() {
        for end in [CLIENT, SERVER] {
            let Session { flows, is_watched, .. } = hosts.transport.sessions[session];
            let leaves = hosts.link_of(flows[end], 0);
            if no_probes && !is_watched && leaving[leaves.index()] == 1 && !probed[leaves.index()] {
                hosts.transport.sessions[session].answers[end] = Answers::Ahead;
            }
            let arriving = returning.get(&flows[1 - end]).copied().unwrap_or(flows[1 - end]);
            if let Some(arrives) = hosts.path(arriving).last()
                && inline[arrives.index()]
            {
                // The link also carries packets of other sessions, so `lookahead` decides for each packet.
                far_ends[arrives.index()] = FarEnd::Inline(Awaited::Tcp);
            }
        }
    }
    find_awaited(hosts, &mut far_ends);
    far_ends
}

/// Returns `far_end`, except that an `Event` becomes a `PolledEvent` if the port sends fragments or the link
/// leads to another part of the network.
fn far_end_of(far_end: FarEnd, direction: &Direction, crossing: Crossing) -> FarEnd {
    match far_end {
        FarEnd::Event if direction.port.sends_fragments() || crossing == Crossing::Leaves => {
            FarEnd::PolledEvent
        }
        others => others,
    }
}

/// Marks the inline links whose packets must be on time, because a later link of the same path receives them
/// by an event.
fn find_awaited(hosts: &Hosts, far_ends: &mut [FarEnd]) {
    let mut found = true;
    while std::mem::take(&mut found) {
        for flow in 0..hosts.flow_paths.len() {
            let path: Vec<LinkId> = hosts.path(flow).collect();
            for pair in path.windows(2) {
                let [link, next] = [pair[0].index(), pair[1].index()];
                let unawaited = FarEnd::Inline(Awaited::Never);
                if far_ends[link] == unawaited && far_ends[next] != unawaited {
                    far_ends[link] = FarEnd::Inline(Awaited::Downstream);
                    found = true;
                }
            }
        }
    }
}

/// Returns, for each link, the next step of packets that have reached the far end.
fn onward(hosts: &Hosts) -> Vec<Onward> {
    let mut next: Vec<Option<Option<LinkId>>> = vec![None; hosts.far_nodes.len()];
    for flow in 0..hosts.flow_paths.len() {
        let path: Vec<LinkId> = hosts.path(flow).collect();
        for pair in path.windows(2) {
            let known = next[pair[0].index()].get_or_insert(Some(pair[1]));
            *known = known.filter(|next| *next == pair[1]);
        }
    }
    let onward = |(far_node, next): (&FarNode, Option<Option<LinkId>>)| match far_node {
        FarNode::Host => Onward::Host,
        FarNode::Router => next.flatten().map_or(Onward::Routed, Onward::Link),
    };
    hosts.far_nodes.iter().zip(next).map(onward).collect()
}

/// Returns the processing of packets on each wire.
fn wires(hosts: &Hosts, directions: &[Direction]) -> Vec<Wire> {
    let wire = |(direction, tap): (&Direction, &Option<_>)| {
        if direction.loss.is_none() && tap.is_none() { Wire::Ideal } else { Wire::Inspected }
    };
    directions.iter().zip(&hosts.taps).map(wire).collect()
}

/// Returns, for each link, the links over which its packets reach its near node.
fn feeding(hosts: &Hosts) -> Vec<Feeding> {
    let mut feeding = vec![Feeding::Unused; hosts.far_nodes.len()];
    for flow in 0..hosts.flow_paths.len() {
        let mut before = Feeding::Mixed;
        for link in hosts.path(flow) {
            let known = &mut feeding[link.index()];
            *known = match *known {
                Feeding::Unused => before,
                same if same == before => same,
                _ => Feeding::Mixed,
            };
            before = Feeding::By(link);
        }
    }
    feeding
}

/// Returns, for each link, whether a probe or another port that shares memory reads the queues of its port.
/// Packets must arrive at such a port in the order of time.
fn read_links(hosts: &Hosts, directions: &[Direction]) -> Vec<bool> {
    let mut probed: Vec<bool> = directions.iter().map(|direction| direction.sharing.is_some()).collect();
    for probe in &hosts.queue_probes {
        probed[probe.link.index()] = true;
    }
    probed
}
