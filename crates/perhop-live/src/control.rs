//! [`Control`]: a Unix socket for reading the counters of a running forwarder.
//!
//! A client that sends nothing receives the counters as JSON. A client can also send a request line:
//! `metrics` requests Prometheus metrics, and `count-from NANOSECONDS` starts counting at a reading of the
//! monotonic clock. `GET /metrics` and `GET /` also work, for `curl --unix-socket`. A separate thread serves
//! clients. The forwarder only copies its counters for this thread, between two rounds.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::FileTypeExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Barrier, Condvar, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crate::socket::{Bell, system};
use crate::status::Status;

/// Time after which a client without a request receives the counters.
const SILENCE: Duration = Duration::from_millis(50);
/// The time after which a request counts as unanswered. A running forwarder copies its counters in less time.
const PATIENCE: Duration = Duration::from_secs(1);
/// Limit on the length of a request, bytes.
const LONGEST_REQUEST: u64 = 1024;
/// The value without a `count-from` request.
const NEVER: u64 = u64::MAX;

/// The control socket of a forwarder. Its file is removed on drop if the process may still remove files. A
/// confined forwarder cannot remove the file, so the process that started the forwarder removes it. Until
/// then, connections to this socket are refused.
#[derive(Debug)]
pub struct Control {
    shared: Arc<Shared>,
    path: PathBuf,
    listener: Arc<UnixListener>,
    server: Option<JoinHandle<()>>,
}

/// The state that the forwarder and the server share.
#[derive(Debug)]
struct Shared {
    wanted: AtomicBool,
    count_from_ns: AtomicU64,
    closed: AtomicBool,
    answer: Mutex<Option<Status>>,
    answered: Condvar,
    bell: Bell,
}

/// A control socket to which clients can already connect, although no thread serves it yet.
#[derive(Debug)]
pub struct Bound {
    path: PathBuf,
    listener: UnixListener,
}

impl Bound {
    /// Creates the socket at `path`. Only this user can access the socket.
    ///
    /// # Errors
    /// The socket cannot be created at `path`, or another process listens there.
    pub fn new(path: &Path) -> io::Result<Bound> {
        remove_if_abandoned(path)?;
        let listener = system::with_private_files(|| UnixListener::bind(path))?;
        Ok(Bound { path: path.to_owned(), listener })
    }
}

impl Control {
    /// Starts a thread that serves a socket. The thread wakes the forwarder with `bell`. When this function
    /// returns, the new thread has finished the system calls that start a thread, so the process can be
    /// confined.
    ///
    /// # Errors
    /// The thread cannot be started.
    pub fn serve(bound: Bound, bell: &Bell) -> io::Result<Control> {
        let Bound { path, listener } = bound;
        let listener = Arc::new(listener);
        let shared = Arc::new(Shared {
            wanted: AtomicBool::new(false),
            count_from_ns: AtomicU64::new(NEVER),
            closed: AtomicBool::new(false),
            answer: Mutex::new(None),
            answered: Condvar::new(),
            bell: bell.clone(),
        });
        let started = Arc::new(Barrier::new(2));
        let (waiting, served, begun) = (Arc::clone(&listener), Arc::clone(&shared), Arc::clone(&started));
        let thread = thread::Builder::new().name("control".to_owned()).spawn(move || {
            begun.wait();
            serve(&waiting, &served);
        })?;
        started.wait();
        Ok(Control { shared, path, listener, server: Some(thread) })
    }
    /// Whether a client waits for the counters. The check is a single load.
    #[inline]
    pub fn has_request(&self) -> bool {
        self.shared.wanted.load(Ordering::Relaxed)
    }
    /// Passes the counters to the waiting client.
    pub fn answer(&self, status: Status) {
        self.shared.wanted.store(false, Ordering::Relaxed);
        *self.shared.answer.lock().unwrap_or_else(PoisonError::into_inner) = Some(status);
        self.shared.answered.notify_one();
    }
    /// Removes and returns the reading of the monotonic clock in the last `count-from` request, nanoseconds;
    /// `None` without a new request.
    pub fn counts_from_ns(&self) -> Option<u64> {
        let is_requested = self.shared.count_from_ns.load(Ordering::Relaxed) != NEVER;
        is_requested
            .then(|| self.shared.count_from_ns.swap(NEVER, Ordering::Relaxed))
            .filter(|ns| *ns != NEVER)
    }
}

impl Drop for Control {
    fn drop(&mut self) {
        self.shared.closed.store(true, Ordering::Relaxed);
        self.shared.answered.notify_one();
        // The server sleeps until a client connects or the socket stops listening.
        system::stop_listening(self.listener.as_fd());
        if let Some(server) = self.server.take() {
            let _ = server.join();
        }
        let _ = std::fs::remove_file(&self.path);
    }
}

/// Removes a stale socket, on which no process listens.
fn remove_if_abandoned(path: &Path) -> io::Result<()> {
    let is_socket = path.symlink_metadata().is_ok_and(|found| found.file_type().is_socket());
    if is_socket && UnixStream::connect(path).is_err() { std::fs::remove_file(path) } else { Ok(()) }
}

fn serve(listener: &UnixListener, shared: &Shared) {
    for stream in listener.incoming() {
        if shared.closed.load(Ordering::Relaxed) {
            return;
        }
        // A client that has disconnected needs no answer.
        let _ = stream.and_then(|stream| answer_client(stream, shared));
    }
}

/// Answers one request.
fn answer_client(mut stream: UnixStream, shared: &Shared) -> io::Result<()> {
    stream.set_read_timeout(Some(SILENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let mut line = String::new();
    match BufReader::new((&stream).take(LONGEST_REQUEST)).read_line(&mut line) {
        Err(error) if error.kind() != io::ErrorKind::WouldBlock => return Err(error),
        _ => {}
    }
    let words: Vec<&str> = line.split_whitespace().collect();
    if let ["count-from", nanoseconds] = words.as_slice() {
        let start_ns = nanoseconds.parse().ok().filter(|ns| *ns != NEVER);
        if let Some(ns) = start_ns {
            shared.count_from_ns.store(ns, Ordering::Relaxed);
            shared.bell.ring();
        }
        let answer = if start_ns.is_some() { "ok" } else { "error: expected a number of nanoseconds" };
        return writeln!(stream, "{answer}");
    }
    let Some(status) = shared.request_status() else { return Ok(()) };
    match words.as_slice() {
        ["metrics"] => stream.write_all(status.metrics().as_bytes()),
        ["GET", "/metrics", ..] => reply(&mut stream, "text/plain; version=0.0.4", &status.metrics()),
        ["GET", ..] => reply(&mut stream, "application/json", &format!("{}\n", status.json())),
        _ => writeln!(stream, "{}", status.json()),
    }
}

fn reply(stream: &mut UnixStream, kind: &str, body: &str) -> io::Result<()> {
    write!(stream, "HTTP/1.0 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {}\r\n\r\n{body}", body.len())
}

impl Shared {
    /// Requests a copy of the forwarder's counters; `None` if the forwarder has ended.
    fn request_status(&self) -> Option<Status> {
        let mut answer = self.answer.lock().unwrap_or_else(PoisonError::into_inner);
        *answer = None; // a late answer to an earlier request
        self.wanted.store(true, Ordering::Relaxed);
        self.bell.ring();
        let waits = |answer: &mut Option<Status>| answer.is_none() && !self.closed.load(Ordering::Relaxed);
        let (mut answer, _) =
            self.answered.wait_timeout_while(answer, PATIENCE, waits).unwrap_or_else(PoisonError::into_inner);
        answer.take()
    }
}
