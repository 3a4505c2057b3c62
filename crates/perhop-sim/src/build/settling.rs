//! Which links settle what becomes of a packet as soon as it is on their wire.

use perhop_qos::packet::Protocol;

use super::Builder;
use crate::routing::LinkId;
use crate::world::{Flow, World};

/// Over which link packets come to the node where they leave by another.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Feeding {
    Unused,
    By(LinkId),
    /// Over several, or from the hosts themselves.
    Mixed,
}

impl Builder<'_> {
    /// Finds the links that settle what becomes of their packets ([`crate::link::Link::settles`]): all of
    /// these packets are datagrams, and go on to links that settle it too and get their packets from here
    /// alone, or end at a host. Then nothing can come between a packet and its fate. Links away from a host
    /// are left out: their sources run ahead, and the arrival at the router calls a halt to that.
    pub(super) fn settle(&mut self) {
        let world = &mut self.world;
        let feeding = feeding(world);
        for flow in &world.flows {
            for link in way(world, flow).collect::<Vec<_>>() {
                world.links[link.index()].settles = true;
            }
        }
        // A link that does not settle makes others that lead to it not settle: until no more are found.
        let mut found = true;
        while std::mem::take(&mut found) {
            for flow in 0..world.flows.len() {
                let way: Vec<LinkId> = way(world, &world.flows[flow]).collect();
                let is_tcp = world.flows[flow].template.protocol == Protocol::TCP;
                let mut settles = !is_tcp;
                for (place, link) in way.iter().enumerate().rev() {
                    let settled = &mut world.links[link.index()].settles;
                    settles &= place > 0 || way.len() == 1;
                    found |= *settled && !settles;
                    *settled &= settles;
                    let watched = world.queue_probes.iter().any(|probe| probe.link == *link);
                    let alone = place > 0 && feeding[link.index()] == Feeding::By(way[place - 1]);
                    settles = *settled && alone && !watched && !is_tcp;
                }
            }
        }
    }
}

/// What feeds each link.
fn feeding(world: &World) -> Vec<Feeding> {
    let mut feeding = vec![Feeding::Unused; world.links.len()];
    for flow in &world.flows {
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
fn way<'w>(world: &'w World, flow: &Flow) -> impl Iterator<Item = LinkId> + 'w {
    let mut ended = false;
    world.paths[flow.path as usize..]
        .iter()
        .copied()
        .take_while(move |link| !std::mem::replace(&mut ended, world.links[link.index()].leads_to_host))
}
