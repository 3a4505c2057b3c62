//! [`Connection`]: one endpoint of a connection, with its pending bytes.

use std::io;
use std::os::fd::{AsFd, OwnedFd};

use super::super::system::{self, Next};
use super::kernel::{Counted, UNSENT};

/// Limit on consecutive reads and writes of one connection, after which other connections are served.
pub(super) const TURN: usize = 16;

/// One endpoint of a connection.
#[derive(Debug)]
pub(super) struct Connection {
    pub(super) fd: OwnedFd,
    /// Token for polling.
    pub(super) token: u64,
    /// Index of its session among the sessions of this host.
    pub(super) session: usize,
    /// Number of the connection within its session, from 0.
    pub(super) number: u32,
    /// The client's port.
    pub(super) port: u16,
    /// Start of the current transaction, nanoseconds since the start of the run.
    pub(super) began: u64,
    /// Whether the connection is open.
    pub(super) open: bool,
    /// Bytes that the application has sent and the kernel has not accepted; [`u64::MAX`] for an endless
    /// transfer.
    pub(super) unsent: u64,
    /// Bytes received in the current transaction.
    pub(super) transaction_bytes: u64,
    /// Size of a request at the server, bytes.
    pub(super) request: u64,
    pub(super) sending: Sending,
    /// Whether the peer has closed its direction.
    pub(super) peer_finished: bool,
    /// Counters at the end of the warm-up.
    pub(super) before: Counted,
}

/// State of the sending direction of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sending {
    /// The application may send more data.
    On,
    /// The application has closed this direction; pending data and FIN must still be sent.
    Closing,
    /// FIN was sent.
    Finished,
}

/// The content of sent data, which is arbitrary, because only the number of bytes matters.
static NOTHING: [u8; UNSENT as usize] = [0; UNSENT as usize];

/// Result of a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReadOutcome {
    /// A number of bytes; more may be available.
    Bytes(u64),
    /// The peer has closed its direction.
    End,
    /// Nothing is available.
    Nothing,
}

impl Connection {
    pub(super) fn new(fd: OwnedFd, session: usize, number: u32, port: u16, began: u64) -> Connection {
        Connection {
            fd,
            token: 0,
            session,
            number,
            port,
            began,
            open: false,
            unsent: 0,
            transaction_bytes: 0,
            request: u64::MAX,
            sending: Sending::On,
            peer_finished: false,
            before: Counted::default(),
        }
    }
    /// Closes the sending direction after the pending data.
    pub(super) fn close(&mut self) {
        if self.sending == Sending::On {
            self.sending = Sending::Closing;
        }
    }
    /// Adds `bytes` to the pending data.
    pub(super) fn send(&mut self, bytes: u64) {
        self.unsent = self.unsent.saturating_add(bytes);
    }
    /// Writes pending data until the kernel accepts no more. Sends FIN after the last data. Returns whether
    /// data remain.
    pub(super) fn write_pending(&mut self) -> io::Result<bool> {
        for _ in 0..TURN {
            if self.unsent == 0 {
                break;
            }
            let part = self.unsent.min(NOTHING.len() as u64) as usize;
            let next = if self.unsent > part as u64 { Next::More } else { Next::Nothing };
            let Some(taken) = system::write(self.fd.as_fd(), &NOTHING[..part], next)? else {
                return Ok(true);
            };
            if self.unsent != u64::MAX {
                self.unsent -= taken as u64;
            }
        }
        if self.unsent == 0 && self.sending == Sending::Closing {
            self.sending = Sending::Finished;
            system::finish(self.fd.as_fd())?;
        }
        Ok(self.unsent > 0)
    }
    /// Reads data of the peer into `room`.
    pub(super) fn read_data(&mut self, room: &mut [u8]) -> io::Result<ReadOutcome> {
        Ok(match system::read(self.fd.as_fd(), room)? {
            Some(0) => ReadOutcome::End,
            Some(bytes) => ReadOutcome::Bytes(bytes as u64),
            None => ReadOutcome::Nothing,
        })
    }
    /// Whether both directions are closed.
    pub(super) fn is_over(&self) -> bool {
        self.sending == Sending::Finished && self.peer_finished
    }
    /// The kernel's counters of the connection.
    pub(super) fn counted(&self) -> Counted {
        Counted::read(self.fd.as_fd())
    }
}
