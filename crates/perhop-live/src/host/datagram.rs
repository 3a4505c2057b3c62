//! Datagrams. They are sent at the times of the simulator's sources, and received with timestamps of the
//! kernel.

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

use super::error::{HostError, trying};
use super::flows::Flows;
use super::record::Record;
use super::report::{HostReport, SendDelay};
use super::run::{HostRun, LINGER};
use super::system;

/// The time of busy waiting before a deadline, nanoseconds. A wake-up takes about this time.
const AWAKE: u64 = 60_000;
/// The payload of a datagram begins with its number. The flow and the time of sending follow, if there is
/// room. These are the ends of the number and of the flow, bytes.
const NUMBER: usize = 4;
const FLOW: usize = 8;
const INSTANT: usize = 16;
/// Maximum length of a datagram, bytes.
const LONGEST: usize = 65_535;

/// The length of IP and UDP headers, bytes.
fn headers(destination: SocketAddr) -> u32 {
    if destination.is_ipv4() { 28 } else { 48 }
}

/// A flow of datagrams, with the next datagram to send.
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

/// Sender of all datagrams of one host.
pub(super) struct DatagramSender {
    outgoing: Vec<Outgoing>,
}

impl DatagramSender {
    /// Opens a socket for every flow of datagrams from `run`'s host.
    pub(super) fn open(run: &HostRun, flows: &Flows) -> Result<DatagramSender, HostError> {
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
            let socket = trying(|| format!("cannot open a socket for {}", id.key), connected(&id.key))?;
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
        Ok(DatagramSender { outgoing })
    }

    /// Sends datagrams until the end of the run. Returns the host's report with the counters of sent
    /// datagrams.
    pub(super) fn run(mut self, run: &HostRun) -> Result<HostReport, HostError> {
        let what = || "cannot write the records of sent datagrams".to_owned();
        // Without this permission, datagrams are sent up to 50 µs late.
        let _ = system::sharpen_timers();
        let mut recorder = run.recorder("sent")?;
        let mut delays = Histogram::<u64>::new(3).expect("digits that the histogram takes");
        let mut report = HostReport { host: run.host.to_owned(), ..HostReport::default() };
        let mut refusal = None;
        let mut bytes = vec![0_u8; LONGEST];
        let mut agenda: BinaryHeap<Reverse<(Time, usize)>> =
            self.outgoing.iter().enumerate().map(|(place, flow)| Reverse((flow.due.at, place))).collect();
        while let Some(Reverse((at, place))) = agenda.pop() {
            let due = run.clock_at(at);
            let now = wait_for(due);
            let outgoing = &mut self.outgoing[place];
            match outgoing.send(run, now, &mut bytes, &mut report.lengthened_packets) {
                Ok(record) => trying(what, recorder.add(record))?,
                Err(error) => {
                    report.refused_packets += 1;
                    refusal.get_or_insert(error);
                }
            }
            delays.saturating_record(now - due);
            outgoing.due = outgoing.source.next_packet();
            if outgoing.due.at < outgoing.stops {
                agenda.push(Reverse((outgoing.due.at, place)));
            }
        }
        trying(what, recorder.finish())?;
        report.send_delay = SendDelay::from_histogram(&delays);
        if let Some(error) = refusal {
            let refused = report.refused_packets;
            report.notes.push(format!("the kernel did not send {refused} datagrams: {error}"));
        }
        Ok(report)
    }
}

impl Outgoing {
    /// Sends the next datagram, and counts it in `lengthened` if it must be lengthened.
    fn send(
        &mut self,
        run: &HostRun,
        now: u64,
        bytes: &mut [u8],
        lengthened: &mut u64,
    ) -> io::Result<Record> {
        let headers = headers(self.destination);
        let wanted = self.due.length.saturating_sub(headers) as usize;
        let payload = wanted.clamp(NUMBER, LONGEST - headers as usize);
        *lengthened += u64::from(payload > wanted);
        let number = self.number;
        self.number = number.wrapping_add(1);
        bytes[..NUMBER].copy_from_slice(&number.to_be_bytes());
        bytes[NUMBER..FLOW].copy_from_slice(&self.flow.to_be_bytes());
        bytes[FLOW..INSTANT].copy_from_slice(&run.elapsed(now).to_be_bytes());
        let class = self.due.dscp.map_or(self.class, |dscp| dscp.value() << 2);
        let domain = system::domain(self.destination.ip());
        again(|| system::send(&self.socket, domain, &bytes[..payload], class))?;
        let length = payload as u32 + headers;
        Ok(Record { flow: self.flow, length, at: run.elapsed(now), identity: number.into(), class })
    }
}

/// Calls `send` again if it failed because of an ICMP error for an earlier datagram to a closed port.
fn again(send: impl Fn() -> io::Result<()>) -> io::Result<()> {
    match send() {
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => send(),
        other => other,
    }
}

/// Waits until the monotonic clock reaches `due`; returns its reading.
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

/// A socket connected according to `key`.
fn connected(key: &FlowKey) -> io::Result<OwnedFd> {
    let own = SocketAddr::new(key.source.to_ip(), key.source_port);
    let domain = system::domain(own.ip());
    let fd = system::open_socket(domain, libc::SOCK_DGRAM, libc::IPPROTO_UDP)?;
    // The option permits flows to different destinations to use the same source port.
    system::set_option(&fd, libc::SOL_SOCKET, libc::SO_REUSEADDR, &1)?;
    if own.is_ipv4() {
        // The option makes the kernel fragment packets above the MTU instead of rejecting them.
        system::set_option(&fd, libc::IPPROTO_IP, libc::IP_MTU_DISCOVER, &libc::IP_PMTUDISC_DONT)?;
    }
    system::bind(&fd, own)?;
    system::connect(&fd, SocketAddr::new(key.destination.to_ip(), key.destination_port))?;
    Ok(fd)
}

/// Receiver of all datagrams for one host.
pub(super) struct DatagramReceiver {
    ports: Vec<(SocketAddr, OwnedFd)>,
    flows: BTreeMap<FlowKey, u32>,
}

/// Size of the receive buffer, for arrivals while this process is not running.
const RECEIVE_BUFFER: i32 = 4 << 20;

impl DatagramReceiver {
    /// Opens a socket for every port at which `run`'s host receives datagrams.
    pub(super) fn open(run: &HostRun, flows: &Flows) -> Result<DatagramReceiver, HostError> {
        let mut receiver = DatagramReceiver { ports: Vec::new(), flows: BTreeMap::new() };
        for (flow, id) in flows.ids().iter().enumerate() {
            if run.scenario.traffic[id.traffic].to != run.host || id.key.protocol != Protocol::UDP {
                continue;
            }
            let address = SocketAddr::new(id.key.destination.to_ip(), id.key.destination_port);
            if receiver.ports.iter().all(|(known, _)| *known != address) {
                let socket = trying(|| format!("cannot open a socket at {address}"), listening(address))?;
                receiver.ports.push((address, socket));
            }
            receiver.flows.insert(id.key, flow as u32);
        }
        Ok(receiver)
    }

    /// Receives datagrams until no packets can be in flight. Returns the number of datagrams that do not
    /// belong to a flow.
    pub(super) fn run(self, run: &HostRun) -> Result<u64, HostError> {
        if self.ports.is_empty() {
            return Ok(0);
        }
        let what = || "cannot receive datagrams".to_owned();
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

    /// The record of a datagram that arrived at `address`, if it belongs to a flow.
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

/// A socket at `address` that reports time of arrival and traffic class of each datagram.
fn listening(address: SocketAddr) -> io::Result<OwnedFd> {
    let fd = system::open_socket(system::domain(address.ip()), libc::SOCK_DGRAM, libc::IPPROTO_UDP)?;
    system::set_option(&fd, libc::SOL_SOCKET, libc::SO_TIMESTAMPNS, &1)?;
    if address.is_ipv4() {
        system::set_option(&fd, libc::IPPROTO_IP, libc::IP_RECVTOS, &1)?;
    } else {
        system::set_option(&fd, libc::IPPROTO_IPV6, libc::IPV6_RECVTCLASS, &1)?;
    }
    // A buffer above the system's limit requires a privilege. Without this privilege, the buffer is at most
    // the limit.
    system::set_option(&fd, libc::SOL_SOCKET, libc::SO_RCVBUFFORCE, &RECEIVE_BUFFER)
        .or_else(|_| system::set_option(&fd, libc::SOL_SOCKET, libc::SO_RCVBUF, &RECEIVE_BUFFER))?;
    system::bind(&fd, address)?;
    Ok(fd)
}
