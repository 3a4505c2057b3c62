//! [`World`]: the network in motion. One `match` over what can happen, one method for each.

use perhop_qos::conditioner::Count;
use perhop_qos::packet::Packet;
use perhop_qos::port::{Sent, Transmission};
use perhop_qos::units::Time;
use perhop_qos::verdict::{DropCause, Verdict};

use crate::agenda::{Agenda, Slot};
use crate::link::{Counters, Flight, Link, flow_of, payload, sequence_of};
use crate::probe::{Delays, FlowTally, QueueSamples, ThroughputSamples};
use crate::routing::LinkId;
use crate::source::{Emission, Source};

/// What can happen.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Event {
    /// The packet at the head of a link's flight reaches the far end.
    Arrival(LinkId),
    /// A port's ring has room again, or a shaper's tokens suffice.
    PortReady(LinkId),
    /// A source sends its next packet.
    Emission(usize),
    /// A queue probe takes a sample.
    QueueSample(usize),
    /// An interval of the throughput series ends.
    ThroughputSample,
}

/// One flow: its way through the network and what was counted of it.
#[derive(Debug)]
pub(crate) struct Flow {
    /// Index of its entry in the scenario's traffic.
    pub(crate) traffic: usize,
    /// Which of that entry's flows it is, from 0.
    pub(crate) number: u32,
    /// Index of its class in results.
    pub(crate) class: usize,
    /// The links it takes, in order.
    pub(crate) path: Vec<LinkId>,
    /// All its packets have in common.
    pub(crate) template: Packet,
}

/// A source and the packet it sends next.
#[derive(Debug)]
pub(crate) struct Sender {
    pub(crate) source: Source,
    pub(crate) flow: usize,
    pub(crate) due: Emission,
    pub(crate) stops: Time,
    pub(crate) slot: Slot,
}

/// A queue probe.
#[derive(Debug)]
pub(crate) struct QueueProbe {
    pub(crate) link: LinkId,
    pub(crate) every: Time,
    pub(crate) slot: Slot,
    pub(crate) samples: QueueSamples,
}

/// One replication of a scenario, ready to run, running or finished.
#[derive(Debug)]
pub struct World {
    pub(crate) agenda: Agenda<Event>,
    pub(crate) links: Vec<Link>,
    pub(crate) flows: Vec<Flow>,
    pub(crate) tallies: Vec<FlowTally>,
    pub(crate) senders: Vec<Sender>,
    pub(crate) class_names: Vec<String>,
    pub(crate) delays: Vec<Delays>,
    pub(crate) queue_probes: Vec<QueueProbe>,
    pub(crate) throughput: Option<(Time, Slot, ThroughputSamples)>,
    pub(crate) warmup: Time,
    pub(crate) duration: Time,
}

impl World {
    /// Lets happen whatever happens no later than `limit`.
    pub fn run_until(&mut self, limit: Time) {
        while let Some((now, event)) = self.agenda.pop_until(limit) {
            match event {
                Event::Arrival(link) => self.arrive(now, link),
                Event::PortReady(link) => self.wake(now, link),
                Event::Emission(sender) => self.emit(now, sender),
                Event::QueueSample(probe) => self.sample_queues(now, probe),
                Event::ThroughputSample => self.sample_throughput(now),
            }
        }
    }
    /// Simulated time at which the run ends.
    pub fn duration(&self) -> Time {
        self.duration
    }
    /// Packets times the links whose wire they entered, since the start of the run.
    pub fn packet_hops(&self) -> u64 {
        self.links.iter().map(|link| link.transmitted).sum()
    }

    fn emit(&mut self, now: Time, sender: usize) {
        let Sender { flow, due, stops, slot, .. } = self.senders[sender];
        let tally = &mut self.tallies[flow];
        let mut packet = self.flows[flow].template;
        packet.length = due.length;
        packet.sent_at = now;
        packet.dscp = due.dscp.unwrap_or(packet.dscp);
        packet.color = packet.dscp.color();
        packet.payload = payload(flow, tally.next_sequence);
        tally.next_sequence = tally.next_sequence.wrapping_add(1);
        if now >= self.warmup {
            tally.offered.add(packet.length);
        }
        let first = self.flows[flow].path[0];
        if let Some(next) = self.senders[sender].source.next_packet().filter(|next| next.at < stops) {
            self.senders[sender].due = next;
            self.agenda.schedule(slot, next.at);
        }
        self.forward(now, first, packet);
    }

    /// The packet at the head of `link`'s flight reaches the far end.
    fn arrive(&mut self, now: Time, link: LinkId) {
        let Link { in_flight, far_interface, input, arrival, .. } = &mut self.links[link.index()];
        let Some(Flight { mut packet, .. }) = in_flight.pop_front() else { return };
        if let Some(next) = in_flight.front() {
            self.agenda.schedule(*arrival, next.arrives);
        }
        packet.arrive(*far_interface);
        if let Verdict::Drop(cause) = input.condition(now, &mut packet) {
            return self.drop_unqueued(now, link, &packet, cause);
        }
        packet.hops += 1;
        match self.flows[flow_of(&packet)].path.get(usize::from(packet.hops)) {
            Some(next) => self.forward(now, *next, packet),
            None => self.deliver(now, &packet),
        }
    }

    /// `packet` leaves a node by `link`: conditioners, then the port.
    fn forward(&mut self, now: Time, link: LinkId, mut packet: Packet) {
        let Link { output, port, tally, .. } = &mut self.links[link.index()];
        if let Verdict::Drop(cause) = output.condition(now, &mut packet) {
            return self.drop_unqueued(now, link, &packet, cause);
        }
        let mut counters = Counters { port: tally, flows: &mut self.tallies, warmup: self.warmup };
        match port.send(now, packet, &mut counters) {
            Sent::Transmitted(transmission) => {
                launch(&mut self.agenda, &mut self.links[link.index()], &transmission);
            }
            Sent::Queued => self.transmit(now, link),
            Sent::Dropped => {}
        }
    }

    /// Puts on `link`'s wire whatever its port lets out now, and asks for a wake-up if more waits.
    fn transmit(&mut self, now: Time, link: LinkId) {
        let link = &mut self.links[link.index()];
        loop {
            let mut counters =
                Counters { port: &mut link.tally, flows: &mut self.tallies, warmup: self.warmup };
            let Some(transmission) = link.port.poll_transmit(now, &mut counters) else { break };
            launch(&mut self.agenda, link, &transmission);
        }
        // A wake-up that comes too early costs a look and is asked for again; one too late would be wrong.
        if let Some(time) = link.port.poll_timeout()
            && link.ready_at.is_none_or(|pending| time < pending)
        {
            self.agenda.schedule(link.ready, time);
            link.ready_at = Some(time);
        }
    }

    /// `link`'s port asked to be polled at `now`, unless an earlier wake-up has taken this one's place.
    fn wake(&mut self, now: Time, link: LinkId) {
        let ready_at = &mut self.links[link.index()].ready_at;
        if *ready_at == Some(now) {
            *ready_at = None;
            self.transmit(now, link);
        }
    }

    fn deliver(&mut self, now: Time, packet: &Packet) {
        let flow = flow_of(packet);
        let tally = &mut self.tallies[flow];
        if now >= self.warmup {
            tally.received.add(packet.length);
        }
        if packet.sent_at >= self.warmup {
            tally.delivered.add(packet.length);
            let delay = now - packet.sent_at;
            let variation = tally.delay.record(sequence_of(packet), delay);
            self.delays[self.flows[flow].class].record(delay, variation);
        }
    }

    fn drop_unqueued(&mut self, now: Time, link: LinkId, packet: &Packet, cause: DropCause) {
        self.tallies[flow_of(packet)].drop(packet, cause, self.warmup);
        if now >= self.warmup {
            self.links[link.index()].tally.unqueued[cause.index()].add(packet.length);
        }
    }

    fn sample_queues(&mut self, now: Time, probe: usize) {
        let QueueProbe { link, every, slot, samples } = &mut self.queue_probes[probe];
        samples.sample(now, &self.links[link.index()].port);
        self.agenda.schedule(*slot, now + *every);
    }

    fn sample_throughput(&mut self, now: Time) {
        let mut totals = vec![Count::default(); self.class_names.len()];
        for (flow, tally) in self.flows.iter().zip(&self.tallies) {
            totals[flow.class].merge(tally.received);
        }
        if let Some((every, slot, samples)) = &mut self.throughput {
            samples.sample(now, totals);
            self.agenda.schedule(*slot, now + *every);
        }
    }

    /// Packets of each flow that are still queued or in flight, those of the warm-up left out.
    pub(crate) fn in_network(&self) -> Vec<u64> {
        let mut packets = vec![0; self.flows.len()];
        let mut count =
            |packet: &Packet| packets[flow_of(packet)] += u64::from(packet.sent_at >= self.warmup);
        for link in &self.links {
            link.in_flight.iter().for_each(|flight| count(&flight.packet));
            link.port.queues().iter().flat_map(perhop_qos::queue::Queue::iter).for_each(&mut count);
        }
        packets
    }

    /// Every packet is somewhere: offered = delivered + dropped + in the network, for every flow.
    ///
    /// # Panics
    /// Where a packet was lost or invented: a bug of the simulator.
    pub(crate) fn assert_conservation(&self) {
        for (flow, (tally, in_network)) in self.tallies.iter().zip(self.in_network()).enumerate() {
            let accounted = tally.delivered.packets + tally.dropped_in_all().packets + in_network;
            assert_eq!(tally.offered.packets, accounted, "flow {flow}: packets offered and accounted for");
        }
    }
}

/// A packet is on `link`'s wire: it arrives when its last bit does.
fn launch(agenda: &mut Agenda<Event>, link: &mut Link, transmission: &Transmission) {
    let arrives = transmission.ends + link.delay;
    if link.in_flight.is_empty() {
        agenda.schedule(link.arrival, arrives);
    }
    link.in_flight.push_back(Flight { arrives, packet: transmission.packet });
    link.transmitted += 1;
}
