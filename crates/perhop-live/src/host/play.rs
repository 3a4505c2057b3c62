//! [`HostRun::play`]: the threads of a host.

use std::{io, thread};

use caps::Capability;

use super::datagram::{DatagramReceiver, DatagramSender};
use super::error::{HostError, trying};
use super::flows::Flows;
use super::report::HostReport;
use super::run::HostRun;
use super::stream::Exchange;
use super::tap::Tap;
use crate::confinement;

/// The capabilities that later connections need: the first permits a restricted congestion control, and the
/// second permits ports below 1024.
const KEPT: [Capability; 2] = [Capability::CAP_NET_ADMIN, Capability::CAP_NET_BIND_SERVICE];

impl HostRun<'_> {
    /// Runs the host's traffic, and writes the report and the records. When its sockets are open, the process
    /// drops all capabilities that later connections do not need.
    ///
    /// # Errors
    /// The scenario is not valid, or an operation on a socket or a file failed.
    pub fn play(&self) -> Result<HostReport, HostError> {
        let flows = Flows::new(self.scenario);
        let (sender, receiver, streams, tap) = thread::scope(|scope| {
            // Receivers must be open before the first datagram is sent.
            let receiver = DatagramReceiver::open(self, &flows)?;
            let streams = Exchange::open(self, &flows)?;
            let tap = Tap::open(self, &flows)?;
            let sender = DatagramSender::open(self, &flows)?;
            let what = || "cannot give up capabilities".to_owned();
            trying(what, confinement::keep_only(&KEPT))?;
            let receiver = scope.spawn(|| receiver.run(self));
            let tap = scope.spawn(|| tap.map(|tap| tap.run(self)).transpose());
            let streams = scope.spawn(|| streams.map(|streams| streams.run(self)).transpose());
            let sender = scope.spawn(|| sender.run(self));
            Ok((joined(sender), joined(receiver), joined(streams), joined(tap)))
        })?;
        let mut report = sender?;
        report.foreign_packets = receiver?;
        if let Some((sessions, notes)) = streams? {
            report.sessions = sessions;
            report.notes.extend(notes);
        }
        if let Some(lost) = tap? {
            report.unseen_packets = u64::from(lost);
        }
        let text = serde_json::to_string(&report).map_err(io::Error::from);
        let written = text.and_then(|text| std::fs::write(&self.result, text));
        trying(|| format!("cannot write `{}`", self.result.display()), written)?;
        Ok(report)
    }
}

/// The result of a thread. A panic of the thread is propagated.
fn joined<T>(thread: thread::ScopedJoinHandle<T>) -> T {
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}
