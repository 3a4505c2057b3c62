//! Which links settle what becomes of a packet at their far end as soon as it is on their wire, and which ports book its departure.

use perhop_measure::tcp::{CLIENT, SERVER};
use perhop_qos::packet::Protocol;

use super::Builder;
use crate::world::World;
use perhop_scenario::routing::LinkId;

/// Over which link packets come to the node where they leave by another.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Feeding {
    Unused,
    By(LinkId),
    /// Over several, or from the hosts themselves.
    Mixed,
}

impl Builder<'_> {
    /// Finds the links that settle what becomes of their packets ([`crate::link::Link::settles`]): every
    /// packet goes on to a link that gets its packets from here alone, and whose queue nobody watches, or ends at a host:
    /// then nothing can come between. Whether TCP answers there ahead of the agenda is asked for each packet.
    ///
    /// Links away from a host do so only where their packets meet others further on: their sources and TCP run
    /// ahead, and an arrival on the agenda must call a halt to that.
    pub(super) fn settle(&mut self) {
        let world = &mut self.world;
        let feeding = feeding(world);
        let mut settles = vec![true; world.links.len()];
        for flow in 0..world.flow_paths.len() {
            let way: Vec<LinkId> = way(world, flow).collect();
            let is_tcp = world.templates[flow].protocol == Protocol::TCP;
            for (place, link) in way.iter().enumerate() {
                let leads_away = place == 0 && (way.len() > 1 || is_tcp);
                settles[link.index()] &= !leads_away
                    && way.get(place + 1).is_none_or(|next| {
                        feeding[next.index()] == Feeding::By(*link) && !is_watched(world, *next)
                    });
            }
        }
        for (link, settles) in world.links.iter_mut().zip(settles) {
            link.settles = settles;
        }
        settle_away_from_hosts(world, &feeding);
        find_who_may_be_ahead(world);
        find_the_punctual(world);
    }

    /// Finds the ports that book departures ([`crate::link::Link::books`]).
    pub(super) fn book(&mut self) {
        for link in &mut self.world.links {
            link.books = link.port.can_book() && !self.is_observed;
        }
    }

    /// Finds the links on from which there is one way for all packets ([`crate::link::Link::next`]).
    pub(super) fn find_ways_on(&mut self) {
        let world = &mut self.world;
        let mut found = vec![None; world.links.len()];
        for flow in 0..world.flow_paths.len() {
            let way: Vec<LinkId> = way(world, flow).collect();
            for pair in way.windows(2) {
                let known = found[pair[0].index()].get_or_insert(Some(pair[1]));
                *known = known.filter(|next| *next == pair[1]);
            }
        }
        for (link, next) in world.links.iter_mut().zip(found) {
            link.next = next.flatten();
        }
    }
}

/// Lets links away from hosts settle, too, where all their packets come to one link that does not, and nobody else's.
fn settle_away_from_hosts(world: &mut World, feeding: &[Feeding]) {
    /// Of a link away from a host: the links up to the first that does not settle, where all is as it must be.
    type Stretch = Option<Vec<LinkId>>;
    let mut stretches: Vec<Option<Stretch>> = vec![None; world.links.len()];
    for flow in 0..world.flow_paths.len() {
        let way: Vec<LinkId> = way(world, flow).collect();
        let halt = way[1..].iter().position(|link| !world.links[link.index()].settles);
        let is_alone =
            |pair: &[LinkId]| feeding[pair[1].index()] == Feeding::By(pair[0]) && !is_watched(world, pair[1]);
        let stretch = halt.map(|place| way[..place + 2].to_vec());
        let stretch = stretch.filter(|stretch| stretch.windows(2).all(is_alone));
        let known = stretches[way[0].index()].get_or_insert_with(|| stretch.clone());
        if *known != stretch {
            *known = None;
        }
    }
    for stretch in stretches.into_iter().flatten().flatten() {
        let [first, others @ .., halt] = &stretch[..] else { continue };
        world.links[first.index()].settles = true;
        world.links[first.index()].halt = *halt;
        for link in others.iter().chain([halt]) {
            world.links[link.index()].driven_by = Some(*first);
        }
    }
}

/// Whether a probe looks at the queues before `link`.
pub(super) fn is_watched<W>(world: &World<W>, link: LinkId) -> bool {
    world.queue_probes.iter().any(|probe| probe.link == link)
}

/// Finds the ends of sessions that may answer ahead of the agenda: nobody else sends by the link by which their packets
/// leave, and nobody looks at that link's queues, or at connections.
fn find_who_may_be_ahead(world: &mut World) {
    let mut senders = vec![0u32; world.links.len()];
    for flow in 0..world.flow_paths.len() {
        senders[world.paths[world.flow_paths[flow] as usize].index()] += 1;
    }
    let looked_at = !world.transport.probes.is_empty();
    for session in 0..world.transport.sessions.len() {
        for end in [CLIENT, SERVER] {
            let flows = world.transport.sessions[session].flows;
            let leaves = world.link_of(flows[end], 0);
            let arrives = way(world, flows[1 - end]).last();
            let may = !looked_at && senders[leaves.index()] == 1 && !is_watched(world, leaves);
            world.transport.sessions[session].may_be_ahead[end] = may;
            if let Some(arrives) = arrives {
                // Asked for each packet, which may be another session's.
                let arrives = &mut world.links[arrives.index()];
                arrives.answers = arrives.settles;
            }
        }
    }
}

/// Finds the links that settle what is answered, or what something on the agenda waits for further along the way.
fn find_the_punctual(world: &mut World) {
    for link in &mut world.links {
        link.punctual = link.answers;
    }
    let mut found = true;
    while std::mem::take(&mut found) {
        for flow in 0..world.flow_paths.len() {
            let way: Vec<LinkId> = way(world, flow).collect();
            for hop in way.windows(2) {
                let [link, next] = [hop[0].index(), hop[1].index()];
                let awaited = !world.links[next].settles || world.links[next].punctual;
                let link = &mut world.links[link];
                found |= link.settles && awaited && !link.punctual;
                link.punctual |= link.settles && awaited;
            }
        }
    }
}

/// What feeds each link.
fn feeding(world: &World) -> Vec<Feeding> {
    let mut feeding = vec![Feeding::Unused; world.links.len()];
    for flow in 0..world.flow_paths.len() {
        let mut before = Feeding::Mixed;
        for link in way(world, flow) {
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

/// The links that `flow` takes.
fn way(world: &World, flow: usize) -> impl Iterator<Item = LinkId> + '_ {
    let mut ended = false;
    world.paths[world.flow_paths[flow] as usize..]
        .iter()
        .copied()
        .take_while(move |link| !std::mem::replace(&mut ended, world.links[link.index()].leads_to_host))
}
