//! [`Files`]: the captures of a run, written while it runs.

use std::io::{self, Write};

use perhop_capture::{Frame, Interface, Transport, Writer};
use perhop_net::{DropPoint, Flight};
use perhop_qos::packet::{Packet, Protocol};
use perhop_qos::policy::WireConfig;
use perhop_qos::units::Time;
use perhop_qos::verdict::DropCause;
use perhop_scenario::Scenario;
use perhop_scenario::routing::LinkId;

use super::captures::{Captured, Captures};
use super::ports::Ports;
use super::tap::{Contents, Record, Tap};
use super::tcp;
use crate::engine::Engine;
use crate::flow::flow_of;
use crate::hosts::Hosts;
use crate::link_ends::port_name;
use crate::session::Carried;

/// One file for each captured link. A file has both directions, like a capture at one end of the link.
pub(crate) struct Files {
    most_packets: u64,
    ports: Ports,
    open: Vec<File>,
}

struct File {
    writer: Writer<Box<dyn Write + Send>>,
    /// The captured directions, which are the file's interfaces.
    directions: Vec<LinkId>,
    captured: Captured,
}

impl Files {
    /// Creates a file for each link of `engine` with a tap. Each file contains `comment`, the description of
    /// the run.
    pub(crate) fn create(
        scenario: &Scenario,
        engine: &impl Engine,
        captures: &Captures,
        comment: &str,
    ) -> io::Result<Files> {
        let mut open: Vec<File> = Vec::new();
        // The two directions of a link have consecutive numbers.
        for (index, pair) in engine.hosts().taps.chunks(2).enumerate() {
            let tapped = (0..).zip(pair).filter_map(|(direction, tap)| Some((direction, tap.as_deref()?)));
            let interfaces: Vec<(LinkId, Interface)> = tapped
                .map(|(direction, tap)| {
                    let near = 2 * index as u32 + direction;
                    let stations = [near, near ^ 1];
                    let WireConfig { rate, framing, headers, .. } = tap.wire;
                    let name = port_name(engine.hosts().link_ends.names(LinkId(near)));
                    (LinkId(near), Interface { name, framing, headers, rate, stations })
                })
                .collect();
            if interfaces.is_empty() {
                continue;
            }
            let name = unused(&file_name(engine.hosts().link_ends.names(LinkId(2 * index as u32))), &open);
            let names = interfaces.iter().map(|(_, interface)| interface.name.clone()).collect();
            let (directions, interfaces) = interfaces.into_iter().unzip();
            let writer = Writer::new((captures.create)(&name)?, comment, interfaces, captures.snap_length)?;
            let captured = Captured { name, interfaces: names, packets: 0, dropped: 0, full_at: None };
            open.push(File { writer, directions, captured });
        }
        Ok(Files { most_packets: captures.most_packets, ports: Ports::assign(scenario), open })
    }

    /// Writes the records up to `until`, the time up to which the simulation is complete.
    pub(crate) fn write(&mut self, engine: &mut impl Engine, until: Time) -> io::Result<()> {
        for file in &mut self.open {
            // A packet on the wire is recorded when it arrives, but its record has the earlier time of its
            // first bit.
            let began = |link: &LinkId| {
                let flight = engine.flights().front(&engine.direction(*link).in_flight)?;
                Some(tap(engine.hosts(), *link)?.began(flight.arrives, &flight.packet))
            };
            let limit = file.directions.iter().filter_map(began).min();
            let is_due = |time: &Time| *time <= until && limit.is_none_or(|limit| *time < limit);
            while let Some((interface, record)) = file.next(engine.hosts_mut(), is_due) {
                file.write(&self.ports, self.most_packets, engine, interface, &record)?;
            }
        }
        Ok(())
    }

    /// Writes the remaining records, including those of packets on a wire, and completes the files. Call it
    /// at the end of the run.
    pub(crate) fn finish(mut self, engine: &mut impl Engine) -> io::Result<Vec<Captured>> {
        let duration = engine.hosts().measurements.duration;
        for link in (0..engine.hosts().taps.len() as u32).map(LinkId) {
            let Some(tap) = tap(engine.hosts(), link) else { continue };
            let in_flight = engine.flights().iter(&engine.direction(link).in_flight);
            let sent: Vec<Flight> = in_flight
                .filter(|flight| tap.began(flight.arrives, &flight.packet) <= duration)
                .copied()
                .collect();
            for Flight { packet, arrives } in sent {
                engine.hosts_mut().crossed(arrives, link, &packet);
            }
        }
        let mut captured = Vec::new();
        for mut file in self.open {
            while let Some((interface, record)) = file.next(engine.hosts_mut(), |time| *time <= duration) {
                file.write(&self.ports, self.most_packets, engine, interface, &record)?;
            }
            file.writer.finish()?;
            captured.push(file.captured);
        }
        self.open = Vec::new();
        Ok(captured)
    }
}

impl File {
    /// Removes and returns the earliest record of all directions, with the index of the direction, if its
    /// time `is_due`. At equal times, the record of the first direction comes first.
    fn next(&self, hosts: &mut Hosts, is_due: impl Fn(&Time) -> bool) -> Option<(usize, Record)> {
        let due = |(interface, link): (usize, &LinkId)| {
            let time = tap(hosts, *link)?.next()?;
            is_due(&time).then_some((time, interface))
        };
        let (_, interface) = self.directions.iter().enumerate().filter_map(due).min()?;
        let tap = hosts.taps[self.directions[interface].index()].as_mut()?;
        Some((interface, tap.take()?))
    }

    fn write(
        &mut self,
        ports: &Ports,
        most_packets: u64,
        engine: &impl Engine,
        interface: usize,
        record: &Record,
    ) -> io::Result<()> {
        let captured = &mut self.captured;
        if captured.packets >= most_packets {
            captured.full_at = captured.full_at.or(Some(record.time));
            return Ok(());
        }
        captured.packets += 1;
        captured.dropped += u64::from(record.dropped.is_some());
        let link = self.directions[interface];
        let mut packet = record.packet;
        let transport = match &record.contents {
            Contents::Datagram => {
                if let Some(flow) = engine.hosts().measurements.flows.get(flow_of(&packet)) {
                    ports.assign_port(flow.traffic, flow.number, &mut packet);
                }
                Transport::Plain
            }
            Contents::Fragment(fields) => Transport::Fragment(*fields),
            Contents::Segment(carried) => segment(ports, engine.hosts(), carried, &mut packet),
        };
        let ends = engine.hosts().link_ends.names(link);
        let queues = &engine.direction(link).queue_names;
        let comment = record.dropped.map(|(cause, point)| comment(cause, point, ends, queues));
        self.writer.write(&Frame {
            interface,
            time: record.time,
            packet: &packet,
            transport: &transport,
            comment: comment.as_deref(),
        })
    }
}

fn tap(hosts: &Hosts, link: LinkId) -> Option<&Tap> {
    hosts.taps[link.index()].as_deref()
}

/// Returns the transport header of `packet`, and sets the client port in `packet` to the port of the
/// connection.
///
/// In the simulation, all connections of a flow have the ports of the flow. In the file, each connection
/// needs its own port.
fn segment(ports: &Ports, hosts: &Hosts, carried: &Carried, packet: &mut Packet) -> Transport {
    if carried.is_replayed() {
        return Transport::Tcp(tcp::replayed_fields(&carried.segment));
    }
    let ledger = hosts.transport.ledger.as_ref();
    let Some((session, number)) = ledger.and_then(|ledger| ledger.connection_of(carried)) else {
        return Transport::Plain;
    };
    let flow = &hosts.measurements.flows[flow_of(packet)];
    let port = ports.client(flow.traffic, flow.number, u64::from(number));
    let is_clients = carried.is_clients();
    *(if is_clients { &mut packet.source_port } else { &mut packet.destination_port }) = port;
    if carried.segment.packet().is_some() {
        // A capture shows QUIC only as UDP, because the payload is encrypted.
        packet.protocol = Protocol::UDP;
        return Transport::Plain;
    }
    let parameters = &hosts.transport.sessions[session].parameters;
    Transport::Tcp(tcp::fields(carried, number, parameters, packet))
}

/// Returns the description of a drop: `dropped: early-random, queue af1, yellow`.
fn comment(cause: DropCause, point: DropPoint, ends: [&str; 2], queues: &[String]) -> String {
    match point {
        DropPoint::Output => format!("dropped: {cause}, output of {}", ends[0]),
        DropPoint::Port(None) => format!("dropped: {cause}"),
        DropPoint::Port(Some(place)) => {
            format!("dropped: {cause}, queue {}, {}", queues[place.queue.index()], place.precedence)
        }
        DropPoint::Wire => format!("dropped: {cause}, on the wire"),
        DropPoint::Input => format!("dropped: {cause}, input of {}", ends[1]),
    }
}

/// Returns the file name of a link, such as `C1--E3`, without characters that file systems do not allow.
fn file_name(ends: [&str; 2]) -> String {
    let harmless =
        |letter: char| if letter.is_alphanumeric() || "._-".contains(letter) { letter } else { '_' };
    ends.join("--").chars().map(harmless).collect()
}

fn unused(stem: &str, open: &[File]) -> String {
    let is_free = |name: &String| open.iter().all(|file| file.captured.name != *name);
    let numbered = (2..).map(|number| format!("{stem}-{number}.pcapng"));
    std::iter::once(format!("{stem}.pcapng")).chain(numbered).find(is_free).unwrap_or_default()
}
