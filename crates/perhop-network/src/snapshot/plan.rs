//! [`Snapshot::plan`]: hosts, routers, links and routes of a scenario whose packets take the same paths as in
//! the network.

use std::collections::{BTreeMap, BTreeSet};

use perhop_qos::classifier::Prefix;

use super::planned::{Carries, Journey, Node, Plan, PlannedStop, Routes, Wire};
use super::wires::Wires;
use super::{NotRun, PortId, Site, Snapshot, Stop, Way};
use crate::whole_port::has_output_policy;

impl Snapshot<'_> {
    /// Returns the hosts, routers and links of a scenario, with routes for the paths of `journeys`.
    pub fn plan(&self, journeys: &[Journey]) -> Plan {
        let mut planner =
            Planner { wires: Wires::new(self), routes: Routes::new(), carries: BTreeMap::new() };
        let mut accepted: Vec<Result<(), NotRun>> =
            journeys.iter().map(|journey| planner.attach(journey)).collect();
        for (journey, accepted) in journeys.iter().zip(&mut accepted) {
            if accepted.is_ok() {
                *accepted = planner.route(journey);
            }
        }
        planner.finish(journeys, accepted)
    }
}

struct Planner<'s, 'a> {
    wires: Wires<'s, 'a>,
    routes: Routes,
    carries: Carries,
}

impl Planner<'_, '_> {
    /// Attaches the two hosts of a journey to the wires at the ends of its paths, and records the links of
    /// the paths.
    fn attach(&mut self, journey: &Journey) -> Result<(), NotRun> {
        for stop in ways(journey).flat_map(|(way, ..)| way) {
            let device = &self.wires.snapshot.devices[stop.leaves.device];
            if let Some(refusal) = device.device.refusal() {
                return Err(NotRun::because(format!("{}: {}", device.name, refusal.message)));
            }
        }
        for (way, from, to) in ways(journey) {
            self.wires.attach(from, way[0].arrives)?;
            self.wires.attach(to, way[way.len() - 1].leaves)?;
            for pair in way.windows(2) {
                self.wires.cross(pair[0].leaves, pair[1].arrives);
            }
        }
        Ok(())
    }

    /// Adds the routes of a journey, unless a route contradicts the routes of other journeys.
    fn route(&mut self, journey: &Journey) -> Result<(), NotRun> {
        let mut new = Routes::new();
        for (way, _, to) in ways(journey) {
            for (node, next) in self.steps(way, to) {
                let key = (node, to.name.clone());
                match new.get(&key).or_else(|| self.routes.get(&key)) {
                    Some(known) if *known != next => {
                        return Err(NotRun::because(format!(
                            "other packets to {} leave {} over another path",
                            to.name,
                            self.wires.name(&key.0)
                        )));
                    }
                    _ => new.insert(key, next),
                };
            }
        }
        self.routes.append(&mut new);
        for (way, from, to) in ways(journey) {
            self.wires.use_way(way, from, to);
            for stop in way {
                for tunnel in &stop.tunnels {
                    let carried = self.carries.entry(stop.leaves).or_default();
                    carried.entry(*tunnel).or_default().insert(to.address.into());
                }
            }
        }
        Ok(())
    }

    /// Returns the nodes on a path after the sender, each with the next node.
    fn steps(&self, way: &Way, to: &Site) -> Vec<(Node, Node)> {
        let mut nodes: Vec<Node> = self.wires.segment_at(way[0].arrives).into_iter().collect();
        for stop in way {
            nodes.push(Node::Device(stop.leaves.device));
            nodes.extend(self.wires.segment_at(stop.leaves));
        }
        nodes.push(Node::Host(to.name.clone()));
        nodes.windows(2).map(|pair| (pair[0].clone(), pair[1].clone())).collect()
    }

    fn finish(self, journeys: &[Journey], accepted: Vec<Result<(), NotRun>>) -> Plan {
        let mut plan = self.wires.plan(&self.routes, &self.carried());
        let stops = |journey: &Journey| {
            let named = |way: &Way| way.iter().map(|stop| self.planned(stop, &journey.to.name)).collect();
            journey.there.iter().map(named).collect()
        };
        plan.journeys = journeys
            .iter()
            .zip(accepted)
            .map(|(journey, accepted)| accepted.map(|()| stops(journey)))
            .collect();
        self.note_tunnels(&mut plan);
        plan
    }

    /// Returns the tunnels that have their own queues, by the port below.
    fn carried(&self) -> Carries {
        let snapshot = self.wires.snapshot;
        let with_policy = |tunnels: &BTreeMap<PortId, BTreeSet<Prefix>>| -> BTreeMap<_, _> {
            let own = tunnels.iter().filter(|(id, _)| has_output_policy(snapshot.port(**id)));
            own.map(|(id, to)| (*id, to.clone())).collect()
        };
        self.carries.iter().map(|(port, tunnels)| (*port, with_policy(tunnels))).collect()
    }

    fn note_tunnels(&self, plan: &mut Plan) {
        let snapshot = self.wires.snapshot;
        for (below, tunnels) in &self.carries {
            for tunnel in tunnels.keys() {
                let (device, name) = snapshot.names_of(*tunnel);
                plan.not_modeled.insert(format!(
                    "{device}: behind {name}, devices classify by the inner header; the addresses of the \
                     tunnel are not in the run"
                ));
                let has_policy = has_output_policy(snapshot.port(*tunnel));
                if !has_policy && !snapshot.port(*tunnel).wire.headers.is_empty() {
                    plan.not_modeled.insert(format!("{device}: the bytes of the headers of {name}"));
                }
                if has_policy && has_output_policy(snapshot.port(*below)) {
                    let below = &snapshot.port(*below).name;
                    plan.not_modeled.insert(format!("{device}: the policy of {below} for packets of {name}"));
                }
            }
        }
    }

    fn planned(&self, stop: &Stop, to: &str) -> PlannedStop {
        let snapshot = self.wires.snapshot;
        let (device, interface) = snapshot.names_of(stop.leaves);
        let next = self
            .wires
            .segment_at(stop.leaves)
            .or_else(|| self.routes.get(&(Node::Device(stop.leaves.device), to.to_owned())).cloned());
        let next = next.unwrap_or_else(|| Node::Host(to.to_owned()));
        let tunnel = stop.tunnels.iter().find(|tunnel| has_output_policy(snapshot.port(**tunnel)));
        PlannedStop {
            device: device.to_owned(),
            interface: interface.to_owned(),
            port: format!("{device}->{}", self.wires.name(&next)),
            queue: match tunnel {
                Some(tunnel) => Some(snapshot.queue_below(*tunnel, stop.queue.as_deref())),
                None => stop.queue.clone(),
            },
        }
    }
}

impl Snapshot<'_> {
    /// Returns the wire of a port.
    pub(super) fn wire_of(&self, port: PortId) -> Wire {
        self.link_of[port.device][port.port].map_or(Wire::Lan(port), Wire::Link)
    }

    /// Returns the name of a tunnel's queue at the port below, as `whole_port` names it.
    fn queue_below(&self, tunnel: PortId, queue: Option<&str>) -> String {
        let port = self.port(tunnel);
        let classes = port.output.queueing.as_ref().map(|queueing| queueing.classes.as_slice());
        let inner = match (classes, queue) {
            // `whole_port` replaces a class that encloses all queues, so its name is removed.
            (Some([only]), Some(queue)) if only.matches.is_none() => {
                queue.split_once('/').map(|(_, inner)| inner)
            }
            (_, queue) => queue,
        };
        inner.map_or_else(|| port.name.clone(), |inner| format!("{}/{inner}", port.name))
    }
}

/// Generates the paths of a journey and of its replies, each with the sender and the receiver.
fn ways<'j>(journey: &'j Journey) -> impl Iterator<Item = (&'j Way, &'j Site, &'j Site)> {
    let there = journey.there.iter().map(|way| (way, journey.from, journey.to));
    there.chain(journey.back.iter().map(|way| (way, journey.to, journey.from)))
}
