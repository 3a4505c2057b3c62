//! The filter of system calls: a separate process installs it and then makes a forbidden call.
#![cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
#![allow(clippy::disallowed_methods)] // it reads the clock, as a forwarder does

use std::fs::File;
use std::io::{IsTerminal, Write};
use std::net::UdpSocket;
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, ExitStatus, exit};
use std::time::{Duration, Instant};
use std::{env, fs, thread};

use perhop_live::confinement;

/// The environment variable that names the call to attempt.
const ATTEMPT: &str = "PERHOP_ATTEMPT";
/// Exit codes of the process.
const REFUSED: i32 = 10;
const SUCCEEDED: i32 = 11;
const NO_FILTERS: i32 = 77;

/// Makes the forbidden call, in a separate process that the other tests start.
#[test]
#[ignore = "ends the process"]
fn attempt() {
    let Ok(what) = env::var(ATTEMPT) else { return };
    let (mut near, far) = UnixStream::pair().expect("two ends");
    if confinement::only_forward().is_err() {
        exit(NO_FILTERS);
    }
    let was_refused = match what.as_str() {
        "open" => File::open("/etc/hostname").is_err(),
        "create" => File::create("/tmp/perhop-never").is_err(),
        "terminal" => !std::io::stdin().is_terminal(),
        "remove" => fs::remove_file("/tmp/perhop-never").is_err(),
        "rename" => fs::rename("/tmp/perhop-never", "/tmp/perhop-ever").is_err(),
        "socket" => UdpSocket::bind("127.0.0.1:0").is_err(),
        "connect" => UnixStream::connect("/tmp/perhop-never").is_err(),
        "execute" => Command::new("/bin/true").status().is_err(),
        "thread" => thread::Builder::new().spawn(|| ()).is_err(),
        "abort" => std::process::abort(),
        "panic" => panic!("with a trace"),
        _ => {
            let began = Instant::now();
            let mut bytes: Vec<u8> = vec![1; 1 << 26];
            bytes.reserve(1 << 27);
            drop(bytes);
            thread::sleep(Duration::from_millis(1));
            let is_written = near.write_all(b"x").is_ok();
            near.set_read_timeout(Some(Duration::from_millis(1))).expect("a timeout is allowed");
            drop(far);
            !(is_written && began.elapsed() > Duration::ZERO)
        }
    };
    exit(if was_refused { REFUSED } else { SUCCEEDED });
}

/// The exit status of the process of an attempt; `None` if the kernel has no filters.
fn tried(what: &str) -> Option<ExitStatus> {
    let status = Command::new(env::current_exe().expect("this program"))
        .args(["--exact", "confinement::attempt", "--ignored", "--nocapture"])
        .env(ATTEMPT, what)
        .env("RUST_BACKTRACE", "1")
        .output()
        .expect("it starts")
        .status;
    let offered = status.code() != Some(NO_FILTERS);
    if !offered {
        eprintln!("skipped: this kernel has no filters of system calls");
    }
    offered.then_some(status)
}

#[test]
fn calls_of_the_exit_path_are_refused() {
    for what in ["open", "create", "remove", "terminal"] {
        let Some(status) = tried(what) else { return };
        assert_eq!(status.code(), Some(REFUSED), "{what}: {status}");
    }
}
#[test]
fn other_system_calls_end_the_process() {
    for what in ["rename", "socket", "connect", "execute", "thread"] {
        let Some(status) = tried(what) else { return };
        assert_eq!(status.signal(), Some(libc::SIGSYS), "{what}: {status}");
    }
}
#[test]
fn memory_time_and_open_descriptors_remain_usable() {
    let Some(status) = tried("work") else { return };
    assert_eq!(status.code(), Some(SUCCEEDED), "{status}");
}
#[test]
fn a_panic_and_an_abort_end_as_without_confinement() {
    let (Some(panicked), Some(aborted)) = (tried("panic"), tried("abort")) else { return };
    assert_eq!(panicked.code(), Some(101), "{panicked}");
    assert_eq!(aborted.signal(), Some(libc::SIGABRT), "{aborted}");
}
