//! [`Bell`]: what another thread or a signal wakes a sleeping forwarder by.
#![allow(unsafe_code)]

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};

use super::system;

/// Wakes a [`SocketWire`](super::SocketWire) that waits; every clone rings the same.
#[derive(Clone, Debug)]
pub struct Bell(Arc<File>);

impl Bell {
    /// A bell that nobody has rung.
    ///
    /// # Errors
    /// When the system has no descriptor left.
    pub fn new() -> io::Result<Bell> {
        Ok(Bell(Arc::new(File::from(system::event_descriptor()?))))
    }
    /// Wakes whoever waits, or will wait next.
    pub fn ring(&self) {
        // It fails only where the count of unheard rings overflows, and then it rings anyway.
        let _ = (&*self.0).write(&1_u64.to_ne_bytes());
    }
    /// The rings so far are heard.
    pub(super) fn hear(&self) {
        let _ = (&*self.0).read(&mut [0; 8]);
    }
    pub(super) fn descriptor(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// The bell of whoever handles signals, -1 without one.
static BELL: AtomicI32 = AtomicI32::new(-1);
/// Whether a signal asked for the end.
static ASKED: AtomicBool = AtomicBool::new(false);

/// `SIGTERM` and `SIGINT` ask for a clean end while this lives, in place of whatever they did before.
#[derive(Debug)]
pub struct StopSignals {
    before: [(libc::c_int, libc::sighandler_t); 2],
    /// Keeps the descriptor open that the handler writes to.
    _bell: Bell,
}

impl StopSignals {
    /// From now on those signals ring `bell`. There can be one such handler in a process at a time.
    pub fn catch(bell: &Bell) -> StopSignals {
        ASKED.store(false, Ordering::SeqCst);
        BELL.store(bell.descriptor().as_raw_fd(), Ordering::SeqCst);
        let before = [libc::SIGTERM, libc::SIGINT].map(|signal| {
            let handler = handle as extern "C" fn(libc::c_int) as *const () as libc::sighandler_t;
            // SAFETY: `handle` does only what a signal handler may: it stores to an atomic and writes.
            (signal, unsafe { libc::signal(signal, handler) })
        });
        StopSignals { before, _bell: bell.clone() }
    }
    /// Whether one of them has come.
    pub fn asked(&self) -> bool {
        ASKED.load(Ordering::Relaxed)
    }
}

impl Drop for StopSignals {
    fn drop(&mut self) {
        for (signal, handler) in self.before {
            // SAFETY: what was there before; where it is unknown (`SIG_ERR`) the signal keeps its default.
            unsafe { libc::signal(signal, if handler == libc::SIG_ERR { libc::SIG_DFL } else { handler }) };
        }
        BELL.store(-1, Ordering::SeqCst);
    }
}

extern "C" fn handle(_: libc::c_int) {
    ASKED.store(true, Ordering::SeqCst);
    let one = 1_u64;
    // SAFETY: `errno` belongs to this thread.
    let errno = unsafe { libc::__errno_location() };
    // SAFETY: `write` is async-signal-safe; `one` lives through the call, and `errno` is put back for whoever
    // was interrupted. A descriptor of -1 makes it fail without effect.
    unsafe {
        let before = *errno;
        libc::write(BELL.load(Ordering::SeqCst), (&raw const one).cast(), size_of::<u64>());
        *errno = before;
    }
}
