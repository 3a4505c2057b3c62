//! The kernel's TCP: its settings for a scenario's parameters, and its counters.

use std::net::SocketAddr;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::{fs, io};

use perhop_scenario::Scenario;
use perhop_scenario::plan::{Connections, Plan};
use perhop_scenario::tcp::{CongestionControl, Parameters, Recovery};

use super::super::report::Sample;
use super::super::system;

/// Limit on unsent bytes in the kernel. A session that stops discards its unsent data, but cannot discard
/// data that are already in the kernel.
pub(super) const UNSENT: i32 = 16 << 10;

/// Socket options of one endpoint.
#[derive(Clone, Debug)]
pub(super) struct Tcp {
    mss: i32,
    window: i32,
    /// Name of the congestion control; `None` selects the default of the system.
    congestion: Option<String>,
    /// The octet of DSCP and ECN.
    class: u8,
    /// Whether Nagle's algorithm is disabled.
    at_once: bool,
}

impl Tcp {
    /// Options of an endpoint for `plan` with `parameters` and the traffic class `class`.
    pub(super) fn new(parameters: &Parameters, plan: &Plan, class: u8, congestion: Option<String>) -> Tcp {
        Tcp {
            mss: parameters.mss.cast_signed(),
            window: parameters.window.cast_signed(),
            congestion,
            class,
            // Data of transactions are sent immediately. A continuous stream fills its segments.
            at_once: plan.connections == Connections::PerTransaction || plan.response > 0,
        }
    }
    /// A socket bound to `own`.
    pub(super) fn socket(&self, own: SocketAddr) -> io::Result<OwnedFd> {
        let fd = system::open_socket(system::domain(own.ip()), libc::SOCK_STREAM, libc::IPPROTO_TCP)?;
        system::set_option(&fd, libc::SOL_SOCKET, libc::SO_REUSEADDR, &1)?;
        system::set_option(&fd, libc::IPPROTO_TCP, libc::TCP_MAXSEG, &self.mss)?;
        self.set_options(&fd, own)?;
        system::bind(&fd, own)?;
        Ok(fd)
    }
    /// Sets the options of a connection, which may differ from the options of its listener.
    pub(super) fn set_options(&self, fd: &OwnedFd, own: SocketAddr) -> io::Result<()> {
        if let Some(congestion) = &self.congestion {
            system::set_option(fd, libc::IPPROTO_TCP, libc::TCP_CONGESTION, congestion.as_bytes())?;
        }
        system::set_option(fd, libc::IPPROTO_TCP, libc::TCP_WINDOW_CLAMP, &self.window)?;
        system::set_option(fd, libc::IPPROTO_TCP, libc::TCP_NOTSENT_LOWAT, &UNSENT)?;
        system::set_option(fd, libc::IPPROTO_TCP, libc::TCP_NODELAY, &i32::from(self.at_once))?;
        if own.is_ipv4() {
            system::set_option(fd, libc::IPPROTO_IP, libc::IP_TOS, &i32::from(self.class))
        } else {
            system::set_option(fd, libc::IPPROTO_IPV6, libc::IPV6_TCLASS, &i32::from(self.class))
        }
    }
}

/// Name of the congestion control of `parameters` in the kernel.
pub(super) fn congestion(parameters: &Parameters) -> &'static str {
    match parameters.congestion {
        CongestionControl::Reno => "reno",
        CongestionControl::Cubic => "cubic",
        CongestionControl::Dctcp => "dctcp",
        CongestionControl::Prague => "prague",
        CongestionControl::Bbr => "bbr",
        CongestionControl::Bbr3 => "bbr3",
        CongestionControl::Ledbat => "ledbat",
    }
}

/// Whether the kernel has the congestion control `name`.
pub(super) fn has_congestion(name: &str) -> io::Result<bool> {
    let fd = system::open_socket(libc::AF_INET, libc::SOCK_STREAM, libc::IPPROTO_TCP)?;
    match system::set_option(&fd, libc::IPPROTO_TCP, libc::TCP_CONGESTION, name.as_bytes()) {
        Err(error) if error.raw_os_error() == Some(libc::ENOENT) => Ok(false),
        other => other.map(|()| true),
    }
}

/// The kernel's counters and state of one endpoint.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counted {
    pub(super) segments: u64,
    pub(super) retransmissions: u64,
    pub(super) timeouts: u64,
    /// The sample for a probe, without the probe's index, the time and the connection.
    pub(super) state: Sample,
}

/// Offsets in the kernel's `struct tcp_info` (include/uapi/linux/tcp.h), to which new versions only append
/// fields.
mod place {
    pub(super) const RTO: usize = 8;
    pub(super) const SEGMENT: usize = 16;
    pub(super) const UNACKED: usize = 24;
    pub(super) const ROUND_TRIP: usize = 68;
    pub(super) const THRESHOLD: usize = 76;
    pub(super) const WINDOW: usize = 80;
    pub(super) const RETRANSMISSIONS: usize = 100;
    pub(super) const DATA_SEGMENTS_OUT: usize = 156;
    /// This field of 16 bits exists since Linux 6.7.
    pub(super) const TIMEOUTS: usize = 240;
}

/// Size of the buffer, bytes: more than `struct tcp_info` currently has.
const INFO: usize = 512;

impl Counted {
    /// Reads the counters of the connection `fd`.
    pub(super) fn read(fd: BorrowedFd) -> Counted {
        // Fields that an older kernel does not have remain 0.
        let Ok(bytes) = system::option(fd, libc::IPPROTO_TCP, libc::TCP_INFO, [0; INFO]) else {
            return Counted::default();
        };
        let word = |from: usize| {
            u32::from_ne_bytes([bytes[from], bytes[from + 1], bytes[from + 2], bytes[from + 3]])
        };
        let timeouts = [bytes[place::TIMEOUTS], bytes[place::TIMEOUTS + 1]];
        Counted {
            segments: word(place::DATA_SEGMENTS_OUT).into(),
            retransmissions: word(place::RETRANSMISSIONS).into(),
            timeouts: u16::from_ne_bytes(timeouts).into(),
            state: Sample {
                window: word(place::WINDOW),
                threshold: word(place::THRESHOLD),
                in_flight: word(place::UNACKED),
                segment: word(place::SEGMENT),
                round_trip: word(place::ROUND_TRIP),
                timeout: word(place::RTO),
                ..Sample::default()
            },
        }
    }
    /// Adds the increase of the counters from `earlier` to `later`.
    pub(super) fn add(&mut self, later: &Counted, earlier: &Counted) {
        self.segments += later.segments.saturating_sub(earlier.segments);
        self.retransmissions += later.retransmissions.saturating_sub(earlier.retransmissions);
        self.timeouts += later.timeouts.saturating_sub(earlier.timeouts);
    }
}

/// Sets the TCP parameters of this network namespace according to `scenario`, if the kernel supports them.
/// Returns the differences as text. The initial namespace of the machine is not changed.
pub(super) fn apply_settings(scenario: &Scenario) -> Vec<String> {
    let all: Vec<Parameters> = scenario
        .traffic
        .iter()
        .filter_map(|traffic| Plan::for_source(&traffic.source)?.1.build().ok())
        .collect();
    let mut notes = differences(&all);
    if is_initial_namespace() {
        notes.push(
            "TCP uses the settings of the machine, because perhop does not change the initial network \
             namespace"
                .to_owned(),
        );
        return notes;
    }
    let any = |wants: fn(&Parameters) -> bool| if all.iter().any(wants) { "1" } else { "0" };
    for (name, value) in [
        ("tcp_sack", any(|tcp| tcp.recovery.is_selective())),
        // Time-based loss detection (RACK) requires selective acknowledgment.
        ("tcp_recovery", any(|tcp| tcp.recovery.is_selective())),
        ("tcp_timestamps", any(|tcp| tcp.timestamps)),
        ("tcp_ecn", any(|tcp| tcp.ecn)),
        ("tcp_slow_start_after_idle", any(|tcp| tcp.idle_restart)),
        // With these settings, a connection does not use metrics of earlier connections, and may reuse their
        // ports.
        ("tcp_no_metrics_save", "1"),
        ("tcp_tw_reuse", "1"),
    ] {
        if let Err(error) = fs::write(format!("/proc/sys/net/ipv4/{name}"), value) {
            notes.push(format!("cannot set {name} to {value}: {error}"));
        }
    }
    notes
}

/// Whether this process is in the initial network namespace of the machine.
fn is_initial_namespace() -> bool {
    let namespace = |process: &str| fs::read_link(format!("/proc/{process}/ns/net")).ok();
    // A process without the right to read the namespace of process 1 cannot change this namespace either.
    namespace("1").is_some_and(|first| Some(first) == namespace("self"))
}

/// Describes the parameters in `all` that no kernel supports.
fn differences(all: &[Parameters]) -> Vec<String> {
    let mut notes = Vec::new();
    let mut note = |differs: bool, text: &str| {
        if differs {
            notes.push(text.to_owned());
        }
    };
    let old = |tcp: &Parameters| matches!(tcp.recovery, Recovery::Tahoe | Recovery::Reno);
    note(
        all.iter().any(old),
        "connections use NewReno (RFC 6582), because the kernel has neither Tahoe nor Reno",
    );
    let quic = |tcp: &Parameters| tcp.recovery == Recovery::Quic;
    note(all.iter().any(quic), "connections use TCP, because the kernel has no QUIC");
    let mixed = |wants: fn(&Parameters) -> bool| all.iter().any(wants) && !all.iter().all(wants);
    note(
        mixed(|tcp| tcp.recovery.is_selective()),
        "all connections use selective acknowledgment, because some of them require it",
    );
    note(
        mixed(|tcp| tcp.timestamps),
        "all connections use timestamps, because some of them require timestamps",
    );
    notes
}
