//! [`Files`]: the captures of a run, written while it goes on.

use std::io::{self, Write};

use perhop_capture::{Frame, Interface, Transport, Writer};
use perhop_qos::packet::Packet;
use perhop_qos::units::Time;

use super::tap::Record;
use super::{Captured, Captures, End, Fate, Tap, tcp};
use crate::link::{Link, flow_of};
use crate::session::Carried;
use crate::world::World;
use perhop_measure::Measurements;
use perhop_scenario::Scenario;
use perhop_scenario::routing::LinkId;

/// One file for each link: what a capture on either of its ends would show, and so a whole conversation.
pub(crate) struct Files<'a> {
    scenario: &'a Scenario,
    most_packets: u64,
    open: Vec<File>,
}

struct File {
    writer: Writer<Box<dyn Write + Send>>,
    /// Its interfaces: the captured directions.
    directions: Vec<LinkId>,
    captured: Captured,
}

impl<'a> Files<'a> {
    /// A file for each link of `world` with a tap; `comment` says what all of them are about.
    pub(crate) fn create(
        scenario: &'a Scenario,
        world: &World,
        captures: &Captures,
        comment: &str,
    ) -> io::Result<Files<'a>> {
        let mut open: Vec<File> = Vec::new();
        // The two directions of a link stand side by side.
        for (index, pair) in world.links.chunks(2).enumerate() {
            let tapped = (0..).zip(pair).filter_map(|(direction, link)| Some((direction, link, tap(link)?)));
            let interfaces: Vec<(LinkId, Interface)> = tapped
                .map(|(direction, link, tap)| {
                    let near = 2 * index as u32 + direction;
                    let stations = [near, near ^ 1];
                    let (rate, framing) = (tap.rate(), tap.framing());
                    (LinkId(near), Interface { name: link.name.clone(), framing, rate, stations })
                })
                .collect();
            if interfaces.is_empty() {
                continue;
            }
            let name = unused(&file_name(&pair[0]), &open);
            let names = interfaces.iter().map(|(_, interface)| interface.name.clone()).collect();
            let (directions, interfaces) = interfaces.into_iter().unzip();
            let writer = Writer::new((captures.create)(&name)?, comment, interfaces, captures.snap_length)?;
            let captured = Captured { name, interfaces: names, packets: 0, dropped: 0, full_at: None };
            open.push(File { writer, directions, captured });
        }
        Ok(Files { scenario, most_packets: captures.most_packets, open })
    }

    /// Writes what has come by, nothing of it being from after `until`, up to which everything has happened.
    pub(crate) fn write(&mut self, world: &mut World, until: Time) -> io::Result<()> {
        for file in &mut self.open {
            // What is on a wire now comes by when it has arrived, and began before.
            let began = |link: &LinkId| {
                let link = &world.links[link.index()];
                let flight = link.in_flight.front()?;
                Some(tap(link)?.began(flight.arrives, &flight.packet))
            };
            let limit = file.directions.iter().filter_map(began).min();
            let is_due = |time: &Time| *time <= until && limit.is_none_or(|limit| *time < limit);
            while let Some((interface, record)) = file.next(world, is_due) {
                file.write(self.scenario, self.most_packets, world, interface, &record)?;
            }
        }
        Ok(())
    }

    /// Writes the rest: what is on a wire at the end of the run has not arrived, but was sent.
    pub(crate) fn finish(mut self, world: &mut World) -> io::Result<Vec<Captured>> {
        let World { links, transport, measurements: Measurements { duration, .. }, .. } = world;
        for Link { tap, in_flight, .. } in links {
            let Some(tap) = tap else { continue };
            for flight in in_flight.iter() {
                if tap.began(flight.arrives, &flight.packet) <= *duration {
                    tap.crossed(flight.arrives, &flight.packet, transport.segments.of(&flight.packet));
                }
            }
        }
        let duration = *duration;
        let mut captured = Vec::new();
        for mut file in self.open {
            while let Some((interface, record)) = file.next(world, |time| *time <= duration) {
                file.write(self.scenario, self.most_packets, world, interface, &record)?;
            }
            file.writer.finish()?;
            captured.push(file.captured);
        }
        self.open = Vec::new();
        Ok(captured)
    }
}

impl File {
    /// The first record of any direction that `is_due`; of several from one instant, the first direction's.
    fn next(&self, world: &mut World, is_due: impl Fn(&Time) -> bool) -> Option<(usize, Record)> {
        let due = |(interface, link): (usize, &LinkId)| {
            let time = tap(&world.links[link.index()])?.next()?;
            is_due(&time).then_some((time, interface))
        };
        let (_, interface) = self.directions.iter().enumerate().filter_map(due).min()?;
        let tap = world.links[self.directions[interface].index()].tap.as_mut()?;
        Some((interface, tap.take()?))
    }

    fn write(
        &mut self,
        scenario: &Scenario,
        most_packets: u64,
        world: &World,
        interface: usize,
        record: &Record,
    ) -> io::Result<()> {
        let captured = &mut self.captured;
        if captured.packets >= most_packets {
            captured.full_at = captured.full_at.or(Some(record.time));
            return Ok(());
        }
        captured.packets += 1;
        captured.dropped += u64::from(record.fate.is_some());
        let link = &world.links[self.directions[interface].index()];
        let mut packet = record.packet;
        let transport = match &record.carried {
            None => Transport::Plain,
            Some(carried) => segment(scenario, world, carried, &mut packet),
        };
        let comment = record.fate.map(|fate| comment(fate, link));
        self.writer.write(&Frame {
            interface,
            time: record.time,
            packet: &packet,
            transport: &transport,
            comment: comment.as_deref(),
        })
    }
}

fn tap(link: &Link) -> Option<&Tap> {
    link.tap.as_deref()
}

/// The TCP header in `packet`, whose ports become those of the connection.
///
/// To classifiers all connections of a flow have its ports. On the wire they need some of their own: the n-th
/// connection has the flow's client port and n times the number of flows.
fn segment(scenario: &Scenario, world: &World, carried: &Carried, packet: &mut Packet) -> Transport {
    if carried.is_replayed() {
        return Transport::Tcp(tcp::replayed_fields(&carried.segment));
    }
    let ledger = world.transport.ledger.as_ref();
    let Some((session, number)) = ledger.and_then(|ledger| ledger.connection_of(carried)) else {
        return Transport::Plain;
    };
    let flow = &world.measurements.flows[flow_of(packet)];
    let config = &scenario.traffic[flow.traffic];
    let above = u64::from(flow.number) + u64::from(number) * u64::from(config.count);
    let port = config.source_port + (above % (0x1_0000 - u64::from(config.source_port))) as u16;
    let is_clients = carried.is_clients();
    *(if is_clients { &mut packet.source_port } else { &mut packet.destination_port }) = port;
    let parameters = &world.transport.sessions[session].parameters;
    Transport::Tcp(tcp::fields(carried, number, parameters, packet))
}

/// `dropped: early-random, queue af1, yellow`.
fn comment(Fate { cause, end }: Fate, link: &Link) -> String {
    match end {
        End::Output => format!("dropped: {cause}, output of {}", link.ends[0]),
        End::Port(None) => format!("dropped: {cause}"),
        End::Port(Some(place)) => {
            format!("dropped: {cause}, queue {}, {}", link.queue_names[place.queue.index()], place.precedence)
        }
        End::Wire => format!("dropped: {cause}, on the wire"),
        End::Input => format!("dropped: {cause}, input of {}", link.ends[1]),
    }
}

/// `C1--E3`, without what file systems take amiss.
fn file_name(link: &Link) -> String {
    let harmless =
        |letter: char| if letter.is_alphanumeric() || "._-".contains(letter) { letter } else { '_' };
    link.ends.join("--").chars().map(harmless).collect()
}

fn unused(stem: &str, open: &[File]) -> String {
    let is_free = |name: &String| open.iter().all(|file| file.captured.name != *name);
    let numbered = (2..).map(|number| format!("{stem}-{number}.pcapng"));
    std::iter::once(format!("{stem}.pcapng")).chain(numbered).find(is_free).unwrap_or_default()
}
