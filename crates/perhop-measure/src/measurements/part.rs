//! Measurements of one part of a network. Flows, sessions and distributions of the part have their own
//! numbers.
//!
//! Every count is a sum, a minimum or a maximum, and samples are sorted before they become tables. The order
//! in which parts are added therefore does not matter.

use std::collections::BTreeMap;

use super::Measurements;
use crate::counters::{Delays, FlowCounters, PacketLog, Samples};
use crate::tcp::{SessionMeasurements, TcpMeasurements};

impl Measurements {
    /// Creates empty measurements of a part of the network with these `flows` and `sessions`. `self` must not
    /// have any counts yet. A flow that enters the part several times is listed once for each entry.
    pub fn part(&self, flows: &[usize], sessions: &[usize]) -> Measurements {
        let mut distributions: BTreeMap<u32, usize> = BTreeMap::new();
        let counters = flows.iter().map(|flow| {
            let next = distributions.len();
            FlowCounters::new(*distributions.entry(self.counters[*flow].distribution).or_insert(next))
        });
        let counters: Vec<FlowCounters> = counters.collect();
        let mut tcp = TcpMeasurements::default();
        for session in sessions {
            let whole = &self.tcp.sessions[*session];
            let completions = tcp.completions_of(whole.class);
            tcp.sessions.push(SessionMeasurements { completions, ..whole.clone() });
        }
        Measurements {
            warmup: self.warmup,
            duration: self.duration,
            flows: flows.iter().map(|flow| self.flows[*flow]).collect(),
            delays: vec![Delays::default(); distributions.len()],
            counters,
            samples: self.samples.as_ref().map(|samples| Box::new(samples.part(flows))),
            tcp,
            ..Measurements::default()
        }
    }

    /// Adds the measurements of a part, which [`Measurements::part`] created with the same `flows` and
    /// `sessions`. The caller adds the samples of queues and connections, and the results of applications.
    pub fn add_part(&mut self, part: Measurements, flows: &[usize], sessions: &[usize]) {
        let mut added = vec![false; part.delays.len()];
        for (counters, flow) in part.counters.into_iter().zip(flows) {
            let (own, distribution) = (&mut self.counters[*flow], counters.distribution as usize);
            if !std::mem::replace(&mut added[distribution], true) {
                self.delays[own.distribution as usize].merge(&part.delays[distribution]);
            }
            own.add_part(counters);
        }
        if let (Some(own), Some(samples)) = (&mut self.samples, part.samples) {
            own.add_part(*samples, flows);
        }
        for (session, whole) in part.tcp.sessions.iter().zip(sessions) {
            self.tcp.sessions[*whole].tally.merge(&session.tally);
        }
        for (class, times) in &part.tcp.completions {
            let place = self.tcp.completions_of(*class);
            self.tcp.completions[place].1.merge(times);
        }
        self.packet_hops += part.packet_hops;
    }
}

impl Samples {
    /// Creates empty samples of a part of the network with these `flows`.
    fn part(&self, flows: &[usize]) -> Samples {
        let log = |log: &PacketLog| PacketLog {
            kept: flows.iter().map(|flow| log.kept.get(*flow) == Some(&true)).collect(),
            packets: Vec::new(),
        };
        Samples {
            throughput: self.throughput.clone(),
            drops: self.drops.clone(),
            packets: self.packets.as_ref().map(log),
            application_packets: self.application_packets.as_ref().map(log),
            delays: self.delays.clone(),
        }
    }
    /// Adds the samples of a part of the network with these `flows`.
    fn add_part(&mut self, part: Samples, flows: &[usize]) {
        if let (Some(own), Some(part)) = (&mut self.throughput, part.throughput) {
            own.merge(part, |own, part| own.iter_mut().zip(part).for_each(|(own, part)| own.merge(part)));
        }
        if let (Some(own), Some(part)) = (&mut self.drops, part.drops) {
            own.merge(part, |own, part| own.iter_mut().zip(part).for_each(|(own, part)| *own += part));
        }
        for (own, part) in self.delays.iter_mut().zip(part.delays) {
            own.merge(part, |own, part| own.merge(&part));
        }
        let application_packets = (&mut self.application_packets, part.application_packets);
        for (own, part) in [(&mut self.packets, part.packets), application_packets] {
            if let (Some(own), Some(part)) = (own, part) {
                own.packets.extend(part.packets.into_iter().map(|mut packet| {
                    packet.flow = flows[packet.flow as usize] as u32;
                    packet
                }));
            }
        }
    }
}
