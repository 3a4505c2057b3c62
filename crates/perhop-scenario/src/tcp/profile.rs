//! [`Profile`]: TCP implementations of different eras, as data.

use perhop_qos::units::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::parameters::{
    Accounting, Acknowledgment, CongestionControl, Counting, EcnFeedback, FastRetransmit, Fin, Growth,
    Handshake, HandshakeTiming, Headers, InitialWindow, Parameters, QUIC_HEADERS, Recovery, Reduction,
    RepeatedTimeout, RtoRule, SlowStartExit, TimerRestart, WindowReduction,
};

/// A TCP implementation of an era: the values of all parameters that a scenario does not set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Profile {
    /// ns-2 in 1999 (Agent/TCP/Reno, Agent/TCPSink): one-way, counted in packets, Reno with one fast
    /// retransmit per window, every packet acknowledged, clock of 0.1 s, window of 20 packets.
    #[serde(rename = "ns2-reno-1999")]
    Ns2Reno1999,
    /// Linux 2.0: Reno without selective acknowledgment, initial window of one segment, window of 32,736
    /// bytes, estimated delay of acknowledgments.
    #[serde(rename = "linux-2.0")]
    Linux2_0,
    /// Linux 2.2: selective acknowledgment and timestamps, initial window of one segment, window of 32,767
    /// bytes in whole segments, estimated delay of acknowledgments.
    #[serde(rename = "linux-2.2")]
    Linux2_2,
    /// The RFCs: Reno with limited transmit (RFC 5681), the timeout of RFC 6298, a window of 65,535 bytes.
    #[serde(rename = "rfc5681-reno")]
    Rfc5681Reno,
    /// Linux of the 2020s, by the RFCs: CUBIC, selective acknowledgment, timestamps, initial window of ten
    /// segments, loss recovery of RFC 6675. `linux-6` is closer to Linux.
    #[serde(rename = "linux-modern")]
    LinuxModern,
    /// Linux 6.1: a record of every segment, RACK-TLP, PRR, CUBIC with HyStart in whole segments, undo,
    /// adaptive delay of acknowledgments.
    #[serde(rename = "linux-6")]
    Linux6,
    /// FreeBSD 14 with its base stack: CUBIC, selective acknowledgment, PRR, limited transmit, a timeout that
    /// is 200 ms longer.
    #[serde(rename = "freebsd")]
    FreeBsd,
    /// Windows 11, as far as documented, with the template `Internet`: CUBIC with HyStart++, RACK-TLP, PRR,
    /// F-RTO, no timestamps, timeouts of at least 300 ms.
    #[serde(rename = "windows-11")]
    Windows11,
    /// QUIC of RFC 9000 and RFC 9002: datagrams of 1200 bytes with packet numbers, loss detection and probe
    /// timeouts of QUIC, NewReno, pacing, an acknowledgment for every second packet.
    #[serde(rename = "quic")]
    Quic,
}

/// The default window of a profile, before the segment size is known.
pub(super) enum DefaultWindow {
    Segments(u32),
    Bytes(u32),
    /// The number of whole segments that fit into this number of bytes.
    WholeSegments(u32),
}

impl Profile {
    /// All profiles.
    pub const ALL: [Profile; 9] = [
        Profile::Ns2Reno1999,
        Profile::Linux2_0,
        Profile::Linux2_2,
        Profile::Rfc5681Reno,
        Profile::LinuxModern,
        Profile::Linux6,
        Profile::FreeBsd,
        Profile::Windows11,
        Profile::Quic,
    ];

    /// Returns the default receive buffer.
    pub(super) fn window(self) -> DefaultWindow {
        match self {
            // ns-2: window_ 20.
            Profile::Ns2Reno1999 => DefaultWindow::Segments(20),
            // p0f 2, p0fa.fp (answers to SYN): 32736:64:0:44:M*:A:Linux:2.0.
            Profile::Linux2_0 => DefaultWindow::Bytes(32_736),
            // Linux 2.2 net/ipv4/tcp_output.c, tcp_select_initial_window(sock_rspace(sk)/2, mss, …) and
            // __tcp_select_window: half of the buffer of 65,535 bytes (SK_RMEM_MAX, include/linux/skbuff.h),
            // in whole segments. The signature of p0f 2 has 22 segments:
            // S22:64:1:60:M*,S,T,N,W0:AT:Linux:2.2.
            Profile::Linux2_2 => DefaultWindow::WholeSegments(32_767),
            Profile::Rfc5681Reno => DefaultWindow::Bytes(65_535),
            // Linux's net.ipv4.tcp_rmem: at most 6 MiB. No RFC defines a value for MAX_DATA of QUIC. With the
            // same value as Linux, the profiles differ only in the sender.
            Profile::LinuxModern | Profile::Linux6 | Profile::Quic => DefaultWindow::Bytes(6 << 20),
            // FreeBSD 14 sys/netinet/tcp_input.c: tcp_autorcvbuf_max.
            Profile::FreeBsd => DefaultWindow::Bytes(2 << 20),
            // Microsoft Learn, Performance tuning network adapters, level Normal: a scale factor of 8 for
            // 65,535 bytes.
            Profile::Windows11 => DefaultWindow::Bytes(65_535 << 8),
        }
    }

    /// Returns the parameters of the profile. Windows are placeholders until the segment size is known.
    pub(super) fn parameters(self) -> Parameters {
        match self {
            Profile::Ns2Reno1999 => NS2_RENO_1999,
            Profile::Linux2_0 => LINUX_2_0,
            Profile::Linux2_2 => Parameters {
                recovery: Recovery::Sack,
                fast_retransmit: FastRetransmit::OncePerWindow,
                handshake_timing: HandshakeTiming::Measured,
                fin: Fin::WithData,
                rto_rule: RtoRule::Linux2,
                timestamps: true,
                // Linux 2.2 net/ipv4/tcp_input.c, tcp_delack_estimator: one tick, and none for the first
                // segment.
                acknowledgment: Acknowledgment::Estimated { first: Time::from_milliseconds(10), quick: 1 },
                ..LINUX_2_0
            },
            Profile::Rfc5681Reno => RFC5681_RENO,
            Profile::LinuxModern => LINUX_MODERN,
            Profile::Linux6 => LINUX_6,
            Profile::FreeBsd => FREEBSD,
            Profile::Windows11 => WINDOWS_11,
            Profile::Quic => QUIC,
        }
    }
}

/// RFC 5681, RFC 6298 (minimum timeout 1 s, initial 1 s), RFC 3042, RFC 3465. The comments of the other
/// profiles name the differences from this one.
const RFC5681_RENO: Parameters = Parameters {
    mss: 1460,
    headers: Headers::Added,
    window: 0,
    initial_window: InitialWindow::Rfc5681,
    initial_ssthresh: 0,
    recovery: Recovery::Reno,
    congestion: CongestionControl::Reno,
    duplicate_threshold: 3,
    limited_transmit: true,
    fast_retransmit: FastRetransmit::Always,
    acknowledgment: Acknowledgment::Delayed { timeout: Time::from_milliseconds(200), quick: 0 },
    handshake: Handshake::ThreeWay,
    handshake_timing: HandshakeTiming::Measured,
    fin: Fin::WithData,
    timestamps: false,
    ecn: false,
    // RFC 3168 §6.1.1.1: a host MAY retransmit a SYN without ECN. This profile always retransmits it with
    // ECN.
    ecn_setups: u32::MAX,
    clock: Time::from_milliseconds(1),
    rto_rule: RtoRule::Rfc6298,
    minimum_rto: Time::from_seconds(1),
    initial_rto: Time::from_seconds(1),
    maximum_rto: Time::from_seconds(60),
    maximum_back_off: 64,
    reduction: Reduction::FlightSize,
    repeated_timeout: RepeatedTimeout::Hold,
    timer_restart: TimerRestart::AfterSample,
    growth: Growth::WhenLimited,
    counting: Counting::Bytes,
    idle_restart: true,
    accounting: Accounting::Bytes,
    window_reduction: WindowReduction::AtOnce,
    slow_start_exit: SlowStartExit::Loss,
    tail_loss_probe: false,
    dsack: false,
    undo: false,
    frto: false,
    ack_compression: false,
    ecn_feedback: EcnFeedback::Classic,
    autotuning: false,
    abe: false,
    pacing: false,
    // prague_rtt_target of the Prague in L4STeam/linux.
    virtual_rtt: Time::from_milliseconds(25),
    segmentation_offload: None,
};

/// ns-2.1b4 to 2.1b5. Values that later versions changed: windowInit 1 (2 since 2001), tcpTick 0.1 s (0.01 s
/// since 2002), least timeout two ticks (0.2 s since 2004), initial timeout 6 s (3 s since 2006), greatest
/// timeout 64 times the timeout (maxrto is 100,000 s in the ns-default.tcl of 1997 and of 2002), a timer that
/// restarts before the new round-trip sample is used (since 2003 after it: timerfix), packets with the size
/// packetSize (since 2001 headers are added).
const NS2_RENO_1999: Parameters = Parameters {
    mss: 1000,
    headers: Headers::Included,
    initial_window: InitialWindow::Segments(1),
    limited_transmit: false,
    fast_retransmit: FastRetransmit::OncePerWindow,
    acknowledgment: Acknowledgment::EveryPacket,
    handshake: Handshake::None,
    clock: Time::from_milliseconds(100),
    minimum_rto: Time::from_milliseconds(200),
    initial_rto: Time::from_seconds(6),
    maximum_rto: Time::from_seconds(100_000),
    reduction: Reduction::Window,
    repeated_timeout: RepeatedTimeout::Reduce,
    timer_restart: TimerRestart::BeforeSample,
    growth: Growth::Always,
    counting: Counting::Acknowledgments,
    idle_restart: false,
    ..RFC5681_RENO
};

/// Linux 2.0 `net/ipv4/tcp_input.c`: HZ is 100, RTO between HZ/5 and 120 HZ (`tcp_bound_rto`),
/// `TCP_TIMEOUT_INIT` 3 s, which applies again once the connection is open, delayed acknowledgments first
/// after HZ/3 (`tcp_delack_estimator`). `net/ipv4/tcp_output.c`: `tcp_send_fin` queues a separate segment
/// after the data.
const LINUX_2_0: Parameters = Parameters {
    initial_window: InitialWindow::Segments(1),
    limited_transmit: false,
    acknowledgment: Acknowledgment::Estimated { first: Time::from_milliseconds(330), quick: 0 },
    handshake_timing: HandshakeTiming::Forgotten,
    fin: Fin::Alone,
    clock: Time::from_milliseconds(10),
    rto_rule: RtoRule::Linux2_0,
    minimum_rto: Time::from_milliseconds(200),
    initial_rto: Time::from_seconds(3),
    maximum_rto: Time::from_seconds(120),
    maximum_back_off: 1 << 15,
    reduction: Reduction::Window,
    growth: Growth::Always,
    counting: Counting::Acknowledgments,
    idle_restart: false,
    ..RFC5681_RENO
};

/// Linux since 3.0: `TCP_INIT_CWND` 10, `TCP_TIMEOUT_INIT` 1 s, `TCP_RTO_MIN` 200 ms,
/// `TCP_DELACK_MIN` 40 ms.
const LINUX_MODERN: Parameters = Parameters {
    initial_window: InitialWindow::Segments(10),
    recovery: Recovery::Sack,
    congestion: CongestionControl::Cubic,
    fast_retransmit: FastRetransmit::OncePerWindow,
    acknowledgment: Acknowledgment::Delayed { timeout: Time::from_milliseconds(40), quick: 16 },
    timestamps: true,
    // net/ipv4/tcp_output.c, tcp_ecn_clear_syn (tcp_ecn_fallback 1).
    ecn_setups: 1,
    rto_rule: RtoRule::Linux,
    minimum_rto: Time::from_milliseconds(200),
    maximum_rto: Time::from_seconds(120),
    maximum_back_off: 1 << 15,
    reduction: Reduction::Window,
    ..RFC5681_RENO
};

/// Linux 6.1 with the settings of `net/ipv4/tcp_ipv4.c`, `tcp_sk_init`, in `include/net/tcp.h`: `TCP_ATO_MIN`
/// 40 ms, `TCP_DELACK_MAX` 200 ms, `TCP_MAX_QUICKACKS` 16.
const LINUX_6: Parameters = Parameters {
    recovery: Recovery::Rack,
    acknowledgment: Acknowledgment::Adaptive {
        least: Time::from_milliseconds(40),
        most: Time::from_milliseconds(200),
        quick: 16,
    },
    rto_rule: RtoRule::Linux6,
    counting: Counting::Segments,
    accounting: Accounting::Segments,
    window_reduction: WindowReduction::Proportional,
    slow_start_exit: SlowStartExit::Hystart,
    tail_loss_probe: true,
    dsack: true,
    undo: true,
    frto: true,
    ack_compression: true,
    ..LINUX_MODERN
};

/// FreeBSD 14, base stack, files of sys/netinet. `tcp_input.c`: `tcp_initcwnd_segments` 10, `tcp_do_rfc3042`,
/// `tcp_do_prr`, `tcp_do_rfc1323`; ECN only on the peer's request (`tcp_do_ecn` 2). `tcp_timer.h`:
/// `TCPTV_DELACK` 40 ms, `TCPTV_MIN` 30 ms, `TCPTV_CPU_VAR` 200 ms (added to every timeout), `TCPTV_REXMTMAX`
/// 64 s, `TCPTV_RTOBASE` 1 s; `tcp_timer.c`: `tcp_backoff` up to 512. `tcp_input.c`, `cc_ack_received`: the
/// window grows regardless of its use. `tcp_sack.c`: DSACK. HyStart++ is for the RACK stack only
/// (`CCF_HYSTART_ALLOWED`). Here, windows count whole segments, and CUBIC is that of Linux.
const FREEBSD: Parameters = Parameters {
    acknowledgment: Acknowledgment::Delayed { timeout: Time::from_milliseconds(40), quick: 0 },
    // tcp_ecn.c, tcp_ecn_output_syn_sent: tcp_ecn_maxretries 1.
    ecn_setups: 2,
    rto_rule: RtoRule::FreeBsd,
    minimum_rto: Time::from_milliseconds(30),
    maximum_rto: Time::from_seconds(64),
    maximum_back_off: 512,
    growth: Growth::Always,
    reduction: Reduction::FlightSize,
    counting: Counting::Segments,
    accounting: Accounting::Segments,
    window_reduction: WindowReduction::Proportional,
    dsack: true,
    ..LINUX_MODERN
};

/// Windows 11. `Get-NetTCPSetting Internet` (Microsoft, TCP templates for Windows Server 2019): `MinRto` 300
/// ms, `InitialCongestionWindow` 10, CUBIC, `CwndRestart` false, `DelayedAckTimeout` 40 ms,
/// `DelayedAckFrequency` 2, ECN disabled; timestamps only on the peer's request; `netsh interface tcp show
/// global`: initial RTO 1000 ms. Microsoft, Algorithmic improvements boost TCP performance on the Internet
/// (2021): HyStart++, PRR, RACK with TLP; RFC 9406 §5: L = 8, no pacing. Microsoft, Next Generation TCP/IP
/// stack: RFC 2883 (DSACK), F-RTO. Not documented, and therefore as in the RFCs: limited transmit, the
/// timeout rule and its maximum, growth of an unused window, undo (none).
const WINDOWS_11: Parameters = Parameters {
    recovery: Recovery::Rack,
    timestamps: false,
    ecn_setups: RFC5681_RENO.ecn_setups,
    acknowledgment: Acknowledgment::Delayed { timeout: Time::from_milliseconds(40), quick: 0 },
    rto_rule: RtoRule::Rfc6298,
    minimum_rto: Time::from_milliseconds(300),
    maximum_rto: Time::from_seconds(60),
    idle_restart: false,
    counting: Counting::Segments,
    accounting: Accounting::Segments,
    window_reduction: WindowReduction::Proportional,
    slow_start_exit: SlowStartExit::HystartPlusPlus,
    tail_loss_probe: true,
    dsack: true,
    frto: true,
    ..LINUX_MODERN
};

/// QUIC; sections of RFC 9002 unless another RFC is named. Datagrams of 1200 bytes (RFC 9000 §14.1, without
/// path MTU discovery): 1228 with UDP and IP headers, less `QUIC_HEADERS`. §7.2: initial window; §6.2.2:
/// `kInitialRtt` 333 ms, so 333 + 4 * 166.5 = 999 ms before the first sample; §6.2.1: no greatest probe
/// timeout (here one day); `kGranularity` 1 ms; §7.3.2 and appendix B: NewReno, once per recovery period,
/// halves the window and not the flight size; §7.7: pacing; §7.8: an unused window does not grow. RFC 9000
/// §13.2.2: every second packet; §18.2: `max_ack_delay` 25 ms. §13.4: ECN is optional for an endpoint, and is
/// off here.
const QUIC: Parameters = Parameters {
    mss: 1228 - QUIC_HEADERS,
    headers: Headers::Quic,
    initial_window: InitialWindow::Rfc9002,
    recovery: Recovery::Quic,
    acknowledgment: Acknowledgment::Delayed { timeout: Time::from_milliseconds(25), quick: 0 },
    rto_rule: RtoRule::Quic,
    minimum_rto: Time::from_milliseconds(1),
    initial_rto: Time::from_milliseconds(999),
    maximum_rto: Time::from_seconds(86_400),
    maximum_back_off: 1 << 30,
    reduction: Reduction::Window,
    counting: Counting::Segments,
    idle_restart: false,
    accounting: Accounting::Segments,
    ecn_feedback: EcnFeedback::Accurate,
    pacing: true,
    ..RFC5681_RENO
};
