//! [`World`]: the network in motion. One `match` over what can happen, one method for each: here, where packets travel
//! (`journey`), where ports catch up (`lateness`), and at the ends of connections (`session`).

mod hop;
mod journey;
mod lateness;

use perhop_qos::observer::Watch;
use perhop_qos::packet::{Packet, Protocol};
use perhop_qos::units::Time;

use crate::link::{Link, flow_of, payload, sequence_of};
use crate::session::{Carried, Transport};
use perhop_measure::counters::QueueSamples;
use perhop_measure::{Conditioned, Measurements, PortMeasurements, QueueSeries};
use perhop_net::agenda::{Agenda, Slot};
use perhop_net::source::{Due, Emission, Replay, Source};
use perhop_scenario::routing::LinkId;

/// What can happen, in eight bytes: the agenda looks up each before anything else is known of it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Event {
    /// The packet at the head of a link's flight reaches the far end.
    Arrival(LinkId),
    /// A link's port is to be polled: a shaper's tokens suffice, or a packet must leave to be in time elsewhere.
    Poll(LinkId),
    /// A source sends its next packet.
    Emission(u32),
    /// A recording's next packet is due.
    Replay(u32),
    /// A queue probe takes a sample.
    QueueSample(u32),
    /// An application on TCP starts, begins a transaction, or stops.
    SessionDue(u32),
    /// A timer of one end of a TCP connection may have expired.
    ConnectionTimer(u32),
    /// A probe of TCP connections takes a sample.
    ConnectionSample(u32),
    /// The warm-up is over.
    WarmupEnds,
}

const _: () = assert!(size_of::<Event>() == 8);

/// A source and the packet it sends next.
#[derive(Debug)]
#[repr(C, align(64))] // what every packet asks lies in three cache lines
pub(crate) struct Sender {
    /// What all its packets have in common, as its flow has it.
    pub(crate) template: Packet,
    /// Its next packet; `at` is [`Time::MAX`] when there is none.
    pub(crate) due: Emission,
    pub(crate) stops: Time,
    pub(crate) flow: usize,
    /// Its place on the agenda; none where the host's link runs ahead ([`Link::feeders`]).
    pub(crate) slot: Option<Slot>,
    pub(crate) source: Source,
}

/// A queue probe.
#[derive(Debug)]
pub(crate) struct QueueProbe {
    pub(crate) link: LinkId,
    pub(crate) every: Time,
    pub(crate) slot: Slot,
    pub(crate) samples: QueueSamples,
}

/// One replication of a scenario, ready to run, running or finished; `W` sees what happens at its ports.
#[derive(Debug)]
pub struct World<W = ()> {
    pub(crate) agenda: Agenda<Event>,
    pub(crate) links: Vec<Link>,
    /// Where the path of each flow begins in `paths`.
    pub(crate) flow_paths: Vec<u32>,
    /// What all packets of each flow have in common.
    pub(crate) templates: Vec<Packet>,
    /// The links that each flow takes, in order, one path after the other.
    pub(crate) paths: Vec<LinkId>,
    /// What is counted.
    pub(crate) measurements: Measurements,
    pub(crate) senders: Vec<Sender>,
    pub(crate) replays: Vec<Replay>,
    pub(crate) transport: Transport,
    pub(crate) queue_probes: Vec<QueueProbe>,
    /// Up to when TCP may be ahead of the agenda: the end of the warm-up, when its counters are read.
    pub(crate) horizon: Time,
    pub(crate) watch: W,
}

impl World {
    /// The same world, of which nothing has happened yet, seen by `watch`.
    pub(crate) fn seen_by<W>(self, watch: W) -> World<W> {
        World {
            agenda: self.agenda,
            links: self.links,
            flow_paths: self.flow_paths,
            templates: self.templates,
            paths: self.paths,
            measurements: self.measurements,
            senders: self.senders,
            replays: self.replays,
            transport: self.transport,
            queue_probes: self.queue_probes,
            horizon: self.horizon,
            watch,
        }
    }
}

impl<W: Watch> World<W> {
    /// Lets happen whatever happens no later than `limit`.
    pub fn run_until(&mut self, limit: Time) {
        while let Some((now, event)) = self.agenda.pop_until(limit) {
            match event {
                Event::Arrival(link) => self.arrive(now, link),
                Event::Poll(link) => self.poll(now, link),
                Event::Emission(sender) => self.emit(now, sender as usize),
                Event::Replay(replay) => self.replay(now, replay as usize),
                Event::QueueSample(probe) => self.sample_queues(now, probe as usize),
                Event::SessionDue(session) => self.session_due(now, session as usize),
                Event::ConnectionTimer(end) => self.connection_timer(now, end as usize),
                Event::ConnectionSample(probe) => self.sample_connections(now, probe as usize),
                Event::WarmupEnds => {
                    self.horizon = Time::MAX;
                    self.transport.end_warmup();
                }
            }
        }
    }
    /// Lets happen whatever happens in the whole run.
    pub fn finish(&mut self) {
        self.run_until(self.measurements.duration);
        self.catch_up_everywhere(self.measurements.duration);
    }
    /// Simulated time at which the run ends.
    pub fn duration(&self) -> Time {
        self.measurements.duration
    }
    /// Who sees what happens at its ports, which are numbered in the order of the scenario's links, both directions of each.
    pub fn watch(&mut self) -> &mut W {
        &mut self.watch
    }
    /// The name of port number `port`.
    pub fn port_name(&self, port: usize) -> Option<&str> {
        self.links.get(port).map(|link| link.name.as_str())
    }
    /// Packets times the links whose wire they entered, since the start of the run.
    pub fn packet_hops(&self) -> u64 {
        self.links.iter().map(|link| link.transmitted).sum()
    }

    fn emit(&mut self, now: Time, sender: usize) {
        let mut packet = self.senders[sender].template;
        self.take_packet(sender, &mut packet);
        let Sender { flow, due, slot, .. } = self.senders[sender];
        if let Some(slot) = slot.filter(|_| due.at < Time::MAX) {
            self.agenda.schedule(slot, due.at);
        }
        self.forward(now, self.link_of(flow, 0), &mut packet);
    }

    /// A recording's next packet is sent; its successor becomes due.
    fn replay(&mut self, now: Time, replay: usize) {
        let replay = &mut self.replays[replay];
        let Some(Due { flow, recorded }) = replay.next_packet() else { return };
        if let Some(due) = replay.due_at() {
            self.agenda.schedule(replay.slot, due);
        }
        let tally = &mut self.measurements.counters[flow];
        let number = tally.next_sequence;
        tally.next_sequence = number.wrapping_add(1);
        let mut packet = self.templates[flow];
        packet.length = recorded.length;
        packet.sent_at = now;
        packet.dscp = recorded.dscp;
        packet.ecn = recorded.ecn;
        packet.color = packet.dscp.color();
        if now >= self.measurements.warmup {
            tally.offered.add(packet.length);
        }
        let carries_segment = packet.protocol == Protocol::TCP;
        let place = if carries_segment {
            self.transport.segments.hold(Carried::replayed(&recorded, number))
        } else {
            number
        };
        packet.payload = payload(flow, place);
        self.forward(now, self.link_of(flow, 0), &mut packet);
    }

    /// Makes of its template the packet that `sender` sends now; its successor becomes due.
    #[allow(clippy::inline_always)] // a part of what runs ahead
    #[inline(always)]
    fn take_packet(&mut self, sender: usize, packet: &mut Packet) {
        let Sender { source, flow, due, stops, .. } = &mut self.senders[sender];
        let tally = &mut self.measurements.counters[*flow];
        packet.length = due.length;
        packet.sent_at = due.at;
        if let Some(dscp) = due.dscp {
            packet.dscp = dscp;
            packet.color = dscp.color();
        }
        packet.payload = payload(*flow, tally.next_sequence);
        tally.next_sequence = tally.next_sequence.wrapping_add(1);
        if due.at >= self.measurements.warmup {
            tally.offered.add(packet.length);
        }
        source.put_next_packet(due);
        if due.at >= *stops {
            due.at = Time::MAX;
        }
    }

    /// `packet` has arrived at its host. Where that answers it at once the answer takes its place, and leaves by the link that
    /// is returned.
    fn deliver(&mut self, now: Time, packet: &mut Packet) -> Option<LinkId> {
        if packet.protocol == Protocol::TCP {
            return self.receive(now, packet);
        }
        self.count_datagram(now, packet);
        None
    }

    /// A datagram has arrived.
    #[inline(never)]
    fn count_datagram(&mut self, now: Time, packet: &Packet) {
        // Without samples counting comes last, and nothing is kept for afterwards.
        if self.measurements.samples.is_some() {
            return self.count_sampled_datagram(now, packet);
        }
        self.measurements.count(now, flow_of(packet), packet, sequence_of(packet));
    }

    /// A datagram has arrived, and the scenario asks for samples.
    #[inline(never)]
    fn count_sampled_datagram(&mut self, now: Time, packet: &Packet) {
        self.measurements.deliver(now, flow_of(packet), packet, sequence_of(packet));
    }

    fn sample_queues(&mut self, now: Time, probe: usize) {
        self.catch_up(now, self.queue_probes[probe].link);
        let QueueProbe { link, every, slot, samples } = &mut self.queue_probes[probe];
        let port = &mut self.links[link.index()].port;
        port.let_go(now);
        samples.sample(now, port);
        self.agenda.schedule(*slot, now + *every);
    }

    /// All that was counted of a run that is over.
    pub(crate) fn measure(mut self) -> Measurements {
        let mut measurements = self.measurements;
        measurements.packet_hops = self.links.iter().map(|link| link.transmitted).sum();
        measurements.in_network = vec![0; measurements.flows.len()];
        for packet in packets(&self.links) {
            measurements.in_network[flow_of(packet)] += u64::from(packet.sent_at >= measurements.warmup);
        }
        for Link { ends: [from, to], output, input, .. } in &self.links {
            measurements.conditioners.extend(Conditioned::by(output, [from, to], "output"));
            measurements.conditioners.extend(Conditioned::by(input, [to, from], "input"));
        }
        let series = |probe: QueueProbe| QueueSeries { port: probe.link.index(), samples: probe.samples };
        measurements.queues = self.queue_probes.into_iter().map(series).collect();
        self.transport.measure(&mut measurements.tcp);
        if cfg!(debug_assertions) {
            measurements.assert_conservation();
            let is_tcp = |packet: &&Packet| packet.protocol == Protocol::TCP;
            let carrying = packets(&self.links).filter(is_tcp).count();
            assert_eq!(
                carrying,
                self.transport.segments.len(),
                "TCP segments under way and packets for them"
            );
        }
        let port = |link: Link| PortMeasurements {
            name: link.name,
            queue_names: link.queue_names,
            tally: link.tally,
        };
        measurements.ports = self.links.into_iter().map(port).collect();
        measurements
    }
}

/// All packets that are queued at `links` or in flight on them.
fn packets(links: &[Link]) -> impl Iterator<Item = &Packet> {
    links.iter().flat_map(|link| {
        let queued = link.port.queues().iter().flat_map(perhop_qos::queue::Queue::iter);
        link.in_flight.iter().map(|flight| &flight.packet).chain(queued)
    })
}
