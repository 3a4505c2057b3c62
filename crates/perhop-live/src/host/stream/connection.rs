//! [`Connection`]: one end of a connection, and the bytes that go in and out.

use std::io;
use std::os::fd::{AsFd, OwnedFd};

use super::super::system::{self, Next};
use super::TURN;
use super::kernel::{Counted, UNSENT};

/// One end of a connection.
#[derive(Debug)]
pub(super) struct Connection {
    pub(super) fd: OwnedFd,
    /// What its readiness is told as.
    pub(super) token: u64,
    /// Its session's place among those of this host.
    pub(super) session: usize,
    /// Which of its session's connections it is, from 0.
    pub(super) number: u32,
    /// The client's port.
    pub(super) port: u16,
    /// When the transaction under way began, nanoseconds since the run did.
    pub(super) began: u64,
    /// The connection is made.
    pub(super) open: bool,
    /// Bytes that the application has said and the kernel has not taken; [`u64::MAX`] of one that never ends.
    pub(super) unsaid: u64,
    /// Bytes heard of the transaction under way.
    pub(super) heard: u64,
    /// Bytes of a request, at the server.
    pub(super) request: u64,
    pub(super) saying: Saying,
    /// The peer says no more.
    pub(super) peer_finished: bool,
    /// What was counted before the warm-up ended.
    pub(super) before: Counted,
}

/// How far one direction of a connection is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Saying {
    /// More may be said.
    On,
    /// No more is said than what is to be said already.
    Closing,
    /// The end of what is said is on its way.
    Finished,
}

/// What is said: its content is nobody's business.
static NOTHING: [u8; UNSENT as usize] = [0; UNSENT as usize];

/// What was heard by one look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Heard {
    /// So many bytes, perhaps more to come.
    Bytes(u64),
    /// The peer says no more.
    End,
    /// Nothing for now.
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
            unsaid: 0,
            heard: 0,
            request: u64::MAX,
            saying: Saying::On,
            peer_finished: false,
            before: Counted::default(),
        }
    }
    /// Says no more than what is to be said already.
    pub(super) fn close(&mut self) {
        if self.saying == Saying::On {
            self.saying = Saying::Closing;
        }
    }
    /// Says `bytes` more.
    pub(super) fn say(&mut self, bytes: u64) {
        self.unsaid = self.unsaid.saturating_add(bytes);
    }
    /// Hands the kernel what it takes of what is to be said, and the end after it. Answers whether more is left.
    pub(super) fn speak(&mut self) -> io::Result<bool> {
        for _ in 0..TURN {
            if self.unsaid == 0 {
                break;
            }
            let part = self.unsaid.min(NOTHING.len() as u64) as usize;
            let next = if self.unsaid > part as u64 { Next::More } else { Next::Nothing };
            let Some(taken) = system::write(self.fd.as_fd(), &NOTHING[..part], next)? else {
                return Ok(true);
            };
            if self.unsaid != u64::MAX {
                self.unsaid -= taken as u64;
            }
        }
        if self.unsaid == 0 && self.saying == Saying::Closing {
            self.saying = Saying::Finished;
            system::finish(self.fd.as_fd())?;
        }
        Ok(self.unsaid > 0)
    }
    /// Looks for what the peer has said.
    pub(super) fn hear(&mut self, room: &mut [u8]) -> io::Result<Heard> {
        Ok(match system::read(self.fd.as_fd(), room)? {
            Some(0) => Heard::End,
            Some(bytes) => Heard::Bytes(bytes as u64),
            None => Heard::Nothing,
        })
    }
    /// Both directions have ended.
    pub(super) fn is_over(&self) -> bool {
        self.saying == Saying::Finished && self.peer_finished
    }
    /// What the kernel has counted of it.
    pub(super) fn counted(&self) -> Counted {
        Counted::of(self.fd.as_fd())
    }
}
