//! [`Bell`]: wakes a sleeping forwarder from another thread or a signal handler.
#![allow(unsafe_code)]

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};

use super::system;

/// Wakes a waiting [`SocketWire`](super::SocketWire). All clones ring the same bell.
#[derive(Clone, Debug)]
pub struct Bell(Arc<File>);

impl Bell {
    /// Creates a bell.
    ///
    /// # Errors
    /// No descriptor is available.
    pub fn new() -> io::Result<Bell> {
        Ok(Bell(Arc::new(File::from(system::event_descriptor()?))))
    }
    /// Ends the current or the next wait.
    pub fn ring(&self) {
        // The write fails only if the count of rings overflows. In this case, the bell is already ringing.
        let _ = (&*self.0).write(&1_u64.to_ne_bytes());
    }
    /// Resets the bell.
    pub(super) fn reset(&self) {
        let _ = (&*self.0).read(&mut [0; 8]);
    }
    pub(super) fn descriptor(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// Descriptor of the bell that the signal handler rings; -1 if there is none.
static BELL: AtomicI32 = AtomicI32::new(-1);
/// Whether a signal requested the end.
static REQUESTED: AtomicBool = AtomicBool::new(false);

/// While this value exists, `SIGTERM` and `SIGINT` request a clean end of the process instead of their
/// previous effect.
#[derive(Debug)]
pub struct StopSignals {
    before: [(libc::c_int, libc::sighandler_t); 2],
    /// Keeps open the descriptor that the handler uses.
    _bell: Bell,
}

impl StopSignals {
    /// Makes `SIGTERM` and `SIGINT` ring `bell`. A process can have one such handler at a time.
    pub fn catch(bell: &Bell) -> StopSignals {
        REQUESTED.store(false, Ordering::SeqCst);
        BELL.store(bell.descriptor().as_raw_fd(), Ordering::SeqCst);
        let before = [libc::SIGTERM, libc::SIGINT].map(|signal| {
            let handler = handle as extern "C" fn(libc::c_int) as *const () as libc::sighandler_t;
            // SAFETY: `handle` only stores to an atomic and writes, as a signal handler may.
            (signal, unsafe { libc::signal(signal, handler) })
        });
        StopSignals { before, _bell: bell.clone() }
    }
    /// Whether one of the signals has arrived.
    pub fn is_requested(&self) -> bool {
        REQUESTED.load(Ordering::Relaxed)
    }
}

impl Drop for StopSignals {
    fn drop(&mut self) {
        for (signal, handler) in self.before {
            // SAFETY: the call restores the previous action, or the default action if the previous one is
            // unknown (`SIG_ERR`).
            unsafe { libc::signal(signal, if handler == libc::SIG_ERR { libc::SIG_DFL } else { handler }) };
        }
        BELL.store(-1, Ordering::SeqCst);
    }
}

extern "C" fn handle(_: libc::c_int) {
    REQUESTED.store(true, Ordering::SeqCst);
    let count = 1_u64;
    // SAFETY: `errno` belongs to this thread.
    let errno = unsafe { libc::__errno_location() };
    // SAFETY: `write` is async-signal-safe; `count` outlives the call, and `errno` is restored for the
    // interrupted code. With a descriptor of -1 it fails without effect.
    unsafe {
        let before = *errno;
        libc::write(BELL.load(Ordering::SeqCst), (&raw const count).cast(), size_of::<u64>());
        *errno = before;
    }
}
