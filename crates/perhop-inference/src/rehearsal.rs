//! [`Rehearsal`]: streams of packets through the conditioners and the port of the router, without hosts.

use perhop_network::Devices;
use perhop_qos::conditioner::TrafficConditioner;
use perhop_qos::observer::{Observer, Place};
use perhop_qos::packet::Encapsulation;
use perhop_qos::random::Streams;
use perhop_qos::{ConfigError, DropCause, Packet, Port, Time, Verdict};
use perhop_scenario::Scenario;

use crate::failure::Failure;
use crate::network::{CosOrigin, FAR, NEAR, Network};
use crate::path_links::PathLinks;
use crate::trial::resolved;

/// Equal packets in bursts of equal length. If a burst has one packet, the packets have regular intervals.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stream {
    pub(crate) packet: Packet,
    /// The time of the first packet.
    pub(crate) start: Time,
    /// The number of packets of a burst.
    pub(crate) packets: u64,
    /// The time between two packets of a burst.
    pub(crate) gap: Time,
    /// The time between the first packets of two bursts.
    pub(crate) period: Time,
}

impl Stream {
    fn time_of(&self, number: u64) -> Time {
        let [start, gap, period] = [self.start, self.gap, self.period].map(Time::as_picoseconds);
        let (burst, place) = (number / self.packets, number % self.packets);
        Time::from_picoseconds(start.saturating_add(burst.saturating_mul(period)).saturating_add(place * gap))
    }
}

/// The packets of a stream that reached the router, and the packets that it dropped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) arrived: u64,
    pub(crate) dropped: u64,
}

/// The times between which packets are counted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Counted {
    pub(crate) from: Time,
    pub(crate) until: Time,
}

/// A router through which packets can be sent repeatedly, each time with empty queues at the start.
pub(crate) struct Rehearsal {
    scenario: Scenario,
    router: String,
    cos: CosOrigin,
    counted: Counted,
}

impl Rehearsal {
    /// Converts the configuration of a network's router.
    ///
    /// # Errors
    /// The device would refuse a feature of the path.
    pub(crate) fn new(network: &Network, devices: &Devices, counted: Counted) -> Result<Rehearsal, Failure> {
        let scenario = resolved(network, devices)?;
        Ok(Rehearsal { scenario, router: network.site.router.clone(), cos: network.cos, counted })
    }

    /// Sends the streams through the router.
    ///
    /// # Errors
    /// A policy cannot be built.
    pub(crate) fn run(&self, streams: &[Stream]) -> Result<Vec<Tally>, ConfigError> {
        let links = PathLinks::new(&self.scenario, &self.router, [NEAR, FAR])?;
        let mut router = Router::new(&links, self.counted.from, streams.len())?;
        let arrival = links.arriving.headers.encapsulation();
        let (rate, framing) = (links.arriving.rate, links.arriving.framing());
        let mut sent = vec![0_u64; streams.len()];
        let mut wire_free = Time::ZERO;
        loop {
            let next = streams.iter().zip(&sent).map(|(stream, number)| stream.time_of(*number)).enumerate();
            let Some((index, at)) = next.min_by_key(|(_, at)| *at) else { break };
            if at >= self.counted.until {
                break;
            }
            sent[index] += 1;
            let mut packet = self.leaving_sender(&streams[index], index, arrival);
            let bytes = framing.wire_bytes(packet.length.into());
            wire_free = wire_free.max(at).saturating_add(rate.transmission_time(bytes));
            packet.arrive(links.ingress());
            router.receive(wire_free, packet);
        }
        router.advance(self.counted.until);
        Ok(router.counter.tallies)
    }

    /// Returns the next packet of a stream with the marks of the link to the router.
    fn leaving_sender(&self, stream: &Stream, index: usize, arrival: Encapsulation) -> Packet {
        let mut packet = Packet { payload: index as u64, ..stream.packet };
        if self.cos == CosOrigin::Precedence {
            packet.set_cos(packet.dscp.precedence().into());
        }
        packet.depart(arrival);
        packet
    }
}

/// The conditioners and the port of the router.
struct Router {
    input: TrafficConditioner,
    output: TrafficConditioner,
    port: Port,
    counter: Counter,
}

impl Router {
    fn new(links: &PathLinks, counts_from: Time, streams: usize) -> Result<Router, ConfigError> {
        let random = Streams::new(1, 0);
        let [input, output] = links.conditioners(&random)?;
        let output = output.leaving_by(links.departing.headers.encapsulation());
        let counter = Counter { counts_from, tallies: vec![Tally::default(); streams] };
        Ok(Router { input, output, port: links.port(&random)?, counter })
    }

    /// Handles the arrival of a packet at `now`, after all earlier events.
    fn receive(&mut self, now: Time, mut packet: Packet) {
        self.advance(now);
        self.counter.count(now, &packet, |tally| tally.arrived += 1);
        for conditioner in [&mut self.input, &mut self.output] {
            conditioner.announce(&packet.flow_key());
            if let Verdict::Drop(_) = conditioner.condition(now, &mut packet) {
                return self.counter.count(now, &packet, |tally| tally.dropped += 1);
            }
        }
        self.port.enqueue(now, &mut packet, &mut self.counter);
        self.transmit(now);
    }

    /// Polls the port at each time that it requests, up to `limit`.
    fn advance(&mut self, limit: Time) {
        while let Some(due) = self.port.poll_timeout().filter(|due| *due <= limit) {
            self.transmit(due);
        }
    }

    fn transmit(&mut self, now: Time) {
        let mut packet = Packet::default();
        while self.port.poll_transmit(now, &mut packet, &mut self.counter).is_some() {}
    }
}

/// Counts the packets of each stream. The payload of a packet is the number of its stream.
struct Counter {
    counts_from: Time,
    tallies: Vec<Tally>,
}

impl Counter {
    fn count(&mut self, now: Time, packet: &Packet, add: impl Fn(&mut Tally)) {
        if now >= self.counts_from
            && let Some(tally) = self.tallies.get_mut(packet.payload as usize)
        {
            add(tally);
        }
    }
}

impl Observer for Counter {
    fn dropped(&mut self, now: Time, _: Option<Place>, packet: &Packet, _: DropCause) {
        self.count(now, packet, |tally| tally.dropped += 1);
    }
}
