//! [`HostRun`]: the traffic of one host in one run, and its clock.

use std::net::IpAddr;
use std::path::{Path, PathBuf};

use perhop_qos::packet::Address;
use perhop_qos::random::Streams;
use perhop_qos::units::Time;
use perhop_scenario::Scenario;

use super::error::{HostError, trying};
use super::record::{Recorder, records_of};

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
    /// Number of the replication, from 0; each replication has its own random numbers.
    pub replication: u64,
    /// Start of the run, nanoseconds of the monotonic clock.
    pub start_at: u64,
    /// The kernel's name of the congestion control that replaces the congestion control of the scenario, if
    /// any.
    pub congestion: Option<&'a str>,
    /// File for the report; files for records are in its directory.
    pub result: PathBuf,
}

/// Time after the end of the run in which packets in flight may arrive.
pub(super) const LINGER: u64 = 1_000_000_000;

impl HostRun<'_> {
    /// The host's address; `None` if the scenario has no such host.
    pub(super) fn address(&self) -> Option<IpAddr> {
        let place = self.scenario.hosts.keys().position(|name| name == self.host)?;
        perhop_scenario::topology::host_addresses(self.scenario).get(place).copied()
    }
    /// The random streams of this replication.
    pub(super) fn streams(&self) -> Streams {
        Streams::new(self.seed, self.replication)
    }
    /// Time in the run at the reading `nanoseconds` of the monotonic clock.
    pub(super) fn elapsed(&self, nanoseconds: u64) -> u64 {
        nanoseconds.saturating_sub(self.start_at)
    }
    /// Reading of the monotonic clock at `time` in the run.
    pub(super) fn clock_at(&self, time: Time) -> u64 {
        self.start_at.saturating_add(time.as_picoseconds() / 1000)
    }
    /// Reading of the monotonic clock at the end of the run.
    pub(super) fn ends(&self) -> u64 {
        self.clock_at(self.scenario.duration)
    }
    /// A recorder for records of `kind`, in the directory of the report.
    pub(super) fn recorder(&self, kind: &str) -> Result<Recorder, HostError> {
        let path = records_of(&self.result, kind);
        trying(|| format!("cannot write `{}`", path.display()), Recorder::create(&path))
    }
    /// Whether `address` is the address of this host.
    pub(super) fn is_own(&self, address: Address) -> bool {
        self.address().is_some_and(|own| Address::from(own) == address)
    }
}
