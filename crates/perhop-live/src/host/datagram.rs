//! Datagrams: sent when the simulator's sources say, received with the kernel's own timestamps.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsFd, OwnedFd};

use hdrhistogram::Histogram;
use perhop_net::source::{Emission, Source};
use perhop_qos::packet::{Address, FlowKey, Protocol};
use perhop_qos::units::Time;
use perhop_scenario::{SourceConfig, TrafficConfig, read_trace};

use super::flows::Flows;
use super::record::Record;
use super::report::Lateness;
use super::{HostError, HostRun, LINGER, system, trying};

/// The last stretch before an instant is waited for awake: a wake-up takes about as long.
const AWAKE: u64 = 60_000;
/// A datagram's number stands first in it; then its flow and when it was sent, where there is room.
const NUMBER: usize = 4;
const FLOW: usize = 8;
const INSTANT: usize = 16;
/// The longest datagram.
const LONGEST: usize = 65_535;

/// Bytes before the payload: IP and UDP headers.
fn headers(destination: SocketAddr) -> u32 {
    if destination.is_ipv4() { 28 } else { 48 }
}

/// One flow of datagrams and the one that it sends next.
struct Outgoing {
    flow: u32,
    socket: OwnedFd,
    destination: SocketAddr,
    class: u8,
    source: Source,
    due: Emission,
    stops: Time,
    number: u32,
}

/// Sends all datagrams of one host.
pub(super) struct Sender {
    outgoing: Vec<Outgoing>,
}

/// What a sender says when it has ended.
#[derive(Debug)]
pub(super) struct Sent {
    pub(super) lateness: Lateness,
    pub(super) refused: u64,
    /// What the system said to the first that it refused.
    pub(super) refusal: Option<String>,
    pub(super) lengthened: u64,
}

impl Sender {
    /// Opens a socket for every flow of datagrams that `run`'s host sends.
    pub(super) fn open(run: &HostRun, flows: &Flows) -> Result<Sender, HostError> {
        let mut outgoing = Vec::new();
        for (flow, id) in flows.ids().iter().enumerate() {
            let config = &run.scenario.traffic[id.traffic];
            if config.from != run.host || id.key.protocol != Protocol::UDP {
                continue;
            }
            let (streams, start) = config.flow_start(id.number, &run.streams());
            let trace = trace_of(run, config)?;
            let stops = config.stop.unwrap_or(Time::MAX).min(run.scenario.duration);
            let source = Source::new(&config.source, start, streams.child("source").stream(), trace);
            let Some(mut source) = source else { continue };
            let due = source.next_packet();
            if due.at >= stops {
                continue;
            }
            let socket = trying(|| format!("no socket for {}", id.key), connected(&id.key))?;
            let destination = SocketAddr::new(id.key.destination.to_ip(), id.key.destination_port);
            let class = config.dscp.value() << 2;
            outgoing.push(Outgoing {
                flow: flow as u32,
                socket,
                destination,
                class,
                source,
                due,
                stops,
                number: 0,
            });
        }
        Ok(Sender { outgoing })
    }

    /// Sends until the end of the run.
    pub(super) fn run(mut self, run: &HostRun) -> Result<Sent, HostError> {
        system::wake_precisely();
        let mut recorder = run.recorder("sent")?;
        let mut lateness = Histogram::<u64>::new(3).map_err(|_| no_histogram())?;
        let mut sent = Sent { lateness: Lateness::default(), refused: 0, refusal: None, lengthened: 0 };
        let mut bytes = vec![0_u8; LONGEST];
        let mut agenda: BinaryHeap<Reverse<(Time, usize)>> =
            self.outgoing.iter().enumerate().map(|(place, flow)| Reverse((flow.due.at, place))).collect();
        while let Some(Reverse((at, place))) = agenda.pop() {
            let due = run.clock_at(at);
            let now = wait_for(due);
            let outgoing = &mut self.outgoing[place];
            let record = outgoing.send(run, now, &mut bytes, &mut sent);
            if let Some(record) = record {
                let written = recorder.add(record);
                trying(|| "what was sent cannot be written down".to_owned(), written)?;
            }
            lateness.saturating_record(now - due);
            outgoing.due = outgoing.source.next_packet();
            if outgoing.due.at < outgoing.stops {
                agenda.push(Reverse((outgoing.due.at, place)));
            }
        }
        trying(|| "what was sent cannot be written down".to_owned(), recorder.finish())?;
        sent.lateness = Lateness::of(&lateness);
        Ok(sent)
    }
}

impl Outgoing {
    /// Sends the datagram that is due; what was sent, if the system took it.
    fn send(&mut self, run: &HostRun, now: u64, bytes: &mut [u8], sent: &mut Sent) -> Option<Record> {
        let headers = headers(self.destination);
        let wanted = self.due.length.saturating_sub(headers) as usize;
        let payload = wanted.clamp(NUMBER, LONGEST - headers as usize);
        sent.lengthened += u64::from(payload > wanted);
        let number = self.number;
        self.number = number.wrapping_add(1);
        bytes[..NUMBER].copy_from_slice(&number.to_be_bytes());
        bytes[NUMBER..FLOW].copy_from_slice(&self.flow.to_be_bytes());
        bytes[FLOW..INSTANT].copy_from_slice(&run.elapsed(now).to_be_bytes());
        let class = self.due.dscp.map_or(self.class, |dscp| dscp.value() << 2);
        let domain = system::domain(self.destination.ip());
        if let Err(error) = again(|| system::send(&self.socket, domain, &bytes[..payload], class)) {
            sent.refused += 1;
            sent.refusal.get_or_insert_with(|| error.to_string());
            return None;
        }
        let length = payload as u32 + headers;
        Some(Record { flow: self.flow, length, at: run.elapsed(now), identity: number.into(), class })
    }
}

/// Tries once more what failed because of a datagram before: nobody had listened to it.
fn again(send: impl Fn() -> io::Result<()>) -> io::Result<()> {
    match send() {
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => send(),
        other => other,
    }
}

fn no_histogram() -> HostError {
    HostError::System("a histogram".to_owned(), io::Error::from(io::ErrorKind::InvalidInput))
}

/// Waits until the monotonic clock shows `due`, or more; what it shows then.
fn wait_for(due: u64) -> u64 {
    let mut now = system::monotonic();
    if now + AWAKE < due {
        system::sleep_until(due - AWAKE);
        now = system::monotonic();
    }
    while now < due {
        std::hint::spin_loop();
        now = system::monotonic();
    }
    now
}

fn trace_of(run: &HostRun, config: &TrafficConfig) -> Result<Vec<perhop_scenario::TraceEntry>, HostError> {
    match &config.source {
        SourceConfig::Trace(trace) => {
            let read = read_trace(run.base, &trace.file);
            trying(|| trace.file.clone(), read.map_err(|error| io::Error::other(error.to_string())))
        }
        _ => Ok(Vec::new()),
    }
}

/// A socket from and to where `key` says.
fn connected(key: &FlowKey) -> io::Result<OwnedFd> {
    let own = SocketAddr::new(key.source.to_ip(), key.source_port);
    let domain = system::domain(own.ip());
    let fd = system::socket(domain, libc::SOCK_DGRAM, libc::IPPROTO_UDP)?;
    // Flows to different destinations may have the same source port.
    system::set(&fd, libc::SOL_SOCKET, libc::SO_REUSEADDR, 1)?;
    if own.is_ipv4() {
        // A packet larger than the path takes is split up, as a router would; it is not refused.
        system::set(&fd, libc::IPPROTO_IP, libc::IP_MTU_DISCOVER, libc::IP_PMTUDISC_DONT)?;
    }
    system::bind(&fd, own)?;
    system::connect(&fd, SocketAddr::new(key.destination.to_ip(), key.destination_port))?;
    Ok(fd)
}

/// Receives all datagrams for one host.
pub(super) struct Receiver {
    ports: Vec<(SocketAddr, OwnedFd)>,
    flows: BTreeMap<FlowKey, u32>,
}

/// Room for what arrives while this program has no processor.
const RECEIVE_BUFFER: i32 = 4 << 20;

impl Receiver {
    /// Opens a socket for every port at which `run`'s host is sent datagrams.
    pub(super) fn open(run: &HostRun, flows: &Flows) -> Result<Receiver, HostError> {
        let mut receiver = Receiver { ports: Vec::new(), flows: BTreeMap::new() };
        for (flow, id) in flows.ids().iter().enumerate() {
            if run.scenario.traffic[id.traffic].to != run.host || id.key.protocol != Protocol::UDP {
                continue;
            }
            let address = SocketAddr::new(id.key.destination.to_ip(), id.key.destination_port);
            if receiver.ports.iter().all(|(known, _)| *known != address) {
                let socket = trying(|| format!("no socket at {address}"), listening(address))?;
                receiver.ports.push((address, socket));
            }
            receiver.flows.insert(id.key, flow as u32);
        }
        Ok(receiver)
    }

    /// Receives until nothing can be under way any more; how many datagrams belonged to no flow.
    pub(super) fn run(self, run: &HostRun) -> Result<u64, HostError> {
        if self.ports.is_empty() {
            return Ok(0);
        }
        let what = || "datagrams cannot be received".to_owned();
        let poll = trying(what, system::Poll::new())?;
        for (token, (_, socket)) in (0..).zip(&self.ports) {
            trying(what, poll.add(socket.as_fd(), token))?;
        }
        let mut recorder = run.recorder("arrived")?;
        let ahead = system::timestamps_ahead();
        let (mut foreign, mut bytes) = (0, [0; INSTANT]);
        let until = run.ends() + LINGER;
        while let Some(left) = until.checked_sub(system::monotonic()) {
            for ready in trying(what, poll.wait(left.div_ceil(1_000_000)))? {
                let (address, socket) = &self.ports[ready.token as usize];
                while let Some(received) = trying(what, system::receive(socket.as_fd(), &mut bytes))? {
                    match self.record(run, *address, &received, &bytes, ahead) {
                        Some(record) => trying(what, recorder.add(record))?,
                        None => foreign += 1,
                    }
                }
            }
        }
        trying(what, recorder.finish())?;
        Ok(foreign)
    }

    /// What arrived at `address`, if it is a datagram of a flow.
    fn record(
        &self,
        run: &HostRun,
        address: SocketAddr,
        received: &system::Received,
        bytes: &[u8; INSTANT],
        ahead: u64,
    ) -> Option<Record> {
        let from = received.from?;
        let key = FlowKey {
            source: Address::from(from.ip().to_canonical()),
            destination: Address::from(address.ip()),
            source_port: from.port(),
            destination_port: address.port(),
            protocol: Protocol::UDP,
        };
        let flow = *self.flows.get(&key)?;
        let number = u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
        let at = received.at.map_or_else(system::monotonic, |at| at.saturating_sub(ahead));
        let length = received.length as u32 + headers(address);
        (received.length >= NUMBER).then_some(Record {
            flow,
            length,
            at: run.elapsed(at),
            identity: number.into(),
            class: received.class,
        })
    }
}

/// A socket at `address` that tells of each datagram when it came and in which class.
fn listening(address: SocketAddr) -> io::Result<OwnedFd> {
    let fd = system::socket(system::domain(address.ip()), libc::SOCK_DGRAM, libc::IPPROTO_UDP)?;
    system::set(&fd, libc::SOL_SOCKET, libc::SO_TIMESTAMPNS, 1)?;
    if address.is_ipv4() {
        system::set(&fd, libc::IPPROTO_IP, libc::IP_RECVTOS, 1)?;
    } else {
        system::set(&fd, libc::IPPROTO_IPV6, libc::IPV6_RECVTCLASS, 1)?;
    }
    // Beyond the system's limit only for who may: what is allowed will do otherwise.
    system::set(&fd, libc::SOL_SOCKET, libc::SO_RCVBUFFORCE, RECEIVE_BUFFER)
        .or_else(|_| system::set(&fd, libc::SOL_SOCKET, libc::SO_RCVBUF, RECEIVE_BUFFER))?;
    system::bind(&fd, address)?;
    Ok(fd)
}
