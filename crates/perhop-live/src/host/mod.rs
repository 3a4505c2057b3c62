//! The hosts' traffic programs: what a scenario's hosts send and receive, on real sockets.
//!
//! Datagrams are those of the simulator's own sources with the same seed, sent at the same instants; TCP
//! applications follow the same plans on the kernel's own TCP. Each program writes down what it sent and
//! what arrived, packet by packet; [`merge`] makes results of the programs' and the forwarders' accounts.
//!
//! Reading order: [`HostRun`], `flows` (whose packet it is), `datagram` and `stream` (what is sent),
//! `tap` (how packets of TCP are seen), `record` and `report` (what is written down), [`merge`].

mod datagram;
mod flows;
pub mod merge;
mod record;
mod report;
mod stream;
mod system;
mod tap;

use std::io;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::thread;

use perhop_qos::error::ConfigError;
use perhop_qos::packet::Address;
use perhop_qos::random::Streams;
use perhop_qos::units::Time;
use perhop_scenario::Scenario;

pub use flows::Flows;
pub use record::{Record, Recorder, read_records};
pub use report::{ClientConnection, HostReport, Lateness, SessionReport};

/// One host's part of one run.
#[derive(Debug)]
pub struct HostRun<'a> {
    /// The scenario, completed with its defaults.
    pub scenario: &'a Scenario,
    /// Where relative paths in it start.
    pub base: &'a Path,
    /// Name of the host.
    pub host: &'a str,
    /// Seed of every random stream.
    pub seed: u64,
    /// Which repetition it is, from 0: each draws anew.
    pub replication: u64,
    /// When the run begins, nanoseconds of the monotonic clock.
    pub start_at: u64,
    /// Congestion control in place of the scenario's, as the kernel calls it.
    pub congestion: Option<&'a str>,
    /// Where the report goes; the records go into files beside it.
    pub result: PathBuf,
}

/// Why a host's programs did not do their part.
#[derive(Debug)]
pub enum HostError {
    /// The scenario cannot be played.
    Config(ConfigError),
    /// The system refused something; the text says what.
    System(String, io::Error),
}

impl std::fmt::Display for HostError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter) -> std::fmt::Result {
        match self {
            HostError::Config(error) => error.fmt(formatter),
            HostError::System(what, error) => write!(formatter, "{what}: {error}"),
        }
    }
}

impl std::error::Error for HostError {}

/// Says what was tried when the system refused it.
fn trying<T>(what: impl Fn() -> String, outcome: io::Result<T>) -> Result<T, HostError> {
    outcome.map_err(|error| HostError::System(what(), error))
}

/// After the end, what is still under way may arrive for so long.
const LINGER: u64 = 1_000_000_000;

impl HostRun<'_> {
    /// Plays the host's part from its beginning to its end, and writes down what happened.
    ///
    /// # Errors
    /// Where a socket, a file or the scenario makes it impossible.
    pub fn play(&self) -> Result<HostReport, HostError> {
        let flows = Flows::new(self.scenario);
        let mut report = HostReport::new(self.host);
        let (sender, receiver, streams, tap) = thread::scope(|scope| {
            // What receives stands before anything is sent.
            let receiver = datagram::Receiver::open(self, &flows)?;
            let streams = stream::Exchange::open(self, &flows)?;
            let tap = tap::Tap::open(self, &flows)?;
            let sender = datagram::Sender::open(self, &flows)?;
            let receiver = scope.spawn(|| receiver.run(self));
            let tap = scope.spawn(|| tap.map(|tap| tap.run(self)).transpose());
            let streams = scope.spawn(|| streams.map(|streams| streams.run(self)).transpose());
            let sender = scope.spawn(|| sender.run(self));
            Ok((joined(sender), joined(receiver), joined(streams), joined(tap)))
        })?;
        report.sender(sender?);
        report.receiver(receiver?);
        if let Some(streams) = streams? {
            report.streams(streams);
        }
        if let Some(lost) = tap? {
            report.unseen_packets = u64::from(lost);
        }
        let text = serde_json::to_string(&report).map_err(io::Error::from);
        let written = text.and_then(|text| std::fs::write(&self.result, text));
        trying(|| format!("{} cannot be written", self.result.display()), written)?;
        Ok(report)
    }

    /// The host's address.
    fn address(&self) -> Option<IpAddr> {
        let place = self.scenario.hosts.keys().position(|name| name == self.host)?;
        perhop_scenario::topology::host_addresses(self.scenario).get(place).copied()
    }
    /// The random streams of this repetition.
    fn streams(&self) -> Streams {
        Streams::new(self.seed, self.replication)
    }
    /// The instant of the run at which the monotonic clock shows `nanoseconds`.
    fn elapsed(&self, nanoseconds: u64) -> u64 {
        nanoseconds.saturating_sub(self.start_at)
    }
    /// What the monotonic clock shows at `time` of the run.
    fn clock_at(&self, time: Time) -> u64 {
        self.start_at.saturating_add(time.as_picoseconds() / 1000)
    }
    /// What the monotonic clock shows at the end of the run.
    fn ends(&self) -> u64 {
        self.clock_at(self.scenario.duration)
    }
    /// The file of the records called `kind`, beside the report.
    fn records(&self, kind: &str) -> PathBuf {
        records_of(&self.result, kind)
    }
    /// A recorder into the file of the records called `kind`.
    fn recorder(&self, kind: &str) -> Result<Recorder, HostError> {
        let path = self.records(kind);
        trying(|| format!("{} cannot be written", path.display()), Recorder::create(&path))
    }
    /// Whether `address` is this host's.
    fn is_own(&self, address: Address) -> bool {
        self.address().is_some_and(|own| Address::from(own) == address)
    }
}

/// The file of the records called `kind` that belongs to the report at `result`.
fn records_of(result: &Path, kind: &str) -> PathBuf {
    let mut name = result.as_os_str().to_owned();
    name.push(format!(".{kind}"));
    name.into()
}

/// What a thread answered; its panic goes on here.
fn joined<T>(thread: thread::ScopedJoinHandle<T>) -> T {
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}
