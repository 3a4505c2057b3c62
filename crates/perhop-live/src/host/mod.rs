//! Traffic of the hosts on real sockets.
//!
//! Datagrams come from the sources of the simulator with equal seeds, and are sent at equal times. TCP
//! applications follow the plans of the scenario on the kernel's TCP. Each host records every sent and
//! received packet; [`merge`] computes results from these records and the forwarders' reports.
//!
//! Reading order: [`HostRun`], `flows` (flow of a packet), `datagram` and `stream` (traffic), `tap`
//! (observation of TCP packets), `record` and `report` (records and counters), [`merge`].

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
pub use report::{ClientConnection, HostReport, SendDelay, SessionReport};

/// The traffic of one host in one run.
#[derive(Debug)]
pub struct HostRun<'a> {
    /// The scenario, including defaults.
    pub scenario: &'a Scenario,
    /// Directory of relative paths in the scenario.
    pub base: &'a Path,
    /// Name of the host.
    pub host: &'a str,
    /// Seed for all random streams.
    pub seed: u64,
    /// Number of the replication, from 0; each has its own random numbers.
    pub replication: u64,
    /// Start of the run, nanoseconds of the monotonic clock.
    pub start_at: u64,
    /// Congestion control instead of the scenario's, by its name in the kernel.
    pub congestion: Option<&'a str>,
    /// File for the report; files for records are in its directory.
    pub result: PathBuf,
}

/// Why the traffic of a host failed.
#[derive(Debug)]
pub enum HostError {
    /// The scenario is not valid for a live run.
    Config(ConfigError),
    /// A system call failed; the text describes its purpose.
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

/// Adds the purpose of a system call to its error.
fn trying<T>(what: impl Fn() -> String, outcome: io::Result<T>) -> Result<T, HostError> {
    outcome.map_err(|error| HostError::System(what(), error))
}

/// Time after the end of the run in which packets in flight may arrive.
const LINGER: u64 = 1_000_000_000;

impl HostRun<'_> {
    /// Runs the host's traffic, and writes the report and the records.
    ///
    /// # Errors
    /// When the scenario is not valid, or a socket or file fails.
    pub fn play(&self) -> Result<HostReport, HostError> {
        let flows = Flows::new(self.scenario);
        let mut report = HostReport::new(self.host);
        let (sender, receiver, streams, tap) = thread::scope(|scope| {
            // Receivers are open before anything is sent.
            let receiver = datagram::DatagramReceiver::open(self, &flows)?;
            let streams = stream::Exchange::open(self, &flows)?;
            let tap = tap::Tap::open(self, &flows)?;
            let sender = datagram::DatagramSender::open(self, &flows)?;
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
        trying(|| format!("cannot write `{}`", self.result.display()), written)?;
        Ok(report)
    }

    /// The host's address.
    fn address(&self) -> Option<IpAddr> {
        let place = self.scenario.hosts.keys().position(|name| name == self.host)?;
        perhop_scenario::topology::host_addresses(self.scenario).get(place).copied()
    }
    /// The random streams of this replication.
    fn streams(&self) -> Streams {
        Streams::new(self.seed, self.replication)
    }
    /// Time in the run at the reading `nanoseconds` of the monotonic clock.
    fn elapsed(&self, nanoseconds: u64) -> u64 {
        nanoseconds.saturating_sub(self.start_at)
    }
    /// Reading of the monotonic clock at `time` in the run.
    fn clock_at(&self, time: Time) -> u64 {
        self.start_at.saturating_add(time.as_picoseconds() / 1000)
    }
    /// Reading of the monotonic clock at the end of the run.
    fn ends(&self) -> u64 {
        self.clock_at(self.scenario.duration)
    }
    /// The file for records of `kind`, in the directory of the report.
    fn records(&self, kind: &str) -> PathBuf {
        records_of(&self.result, kind)
    }
    /// A recorder for records of `kind`.
    fn recorder(&self, kind: &str) -> Result<Recorder, HostError> {
        let path = self.records(kind);
        trying(|| format!("cannot write `{}`", path.display()), Recorder::create(&path))
    }
    /// Whether `address` is this host's.
    fn is_own(&self, address: Address) -> bool {
        self.address().is_some_and(|own| Address::from(own) == address)
    }
}

/// The file for records of `kind` that belongs to the report at `result`.
fn records_of(result: &Path, kind: &str) -> PathBuf {
    let mut name = result.as_os_str().to_owned();
    name.push(format!(".{kind}"));
    name.into()
}

/// The result of a thread; its panic is propagated.
fn joined<T>(thread: thread::ScopedJoinHandle<T>) -> T {
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}
