//! Runs the scripts of `vectors/tcp/`: they test one end of a connection, segment by segment. The script
//! provides the peer and the clock, and lists every segment that the connection sends, with its time.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use perhop_qos::packet::Ecn;
use perhop_qos::units::Time;
use perhop_scenario::tcp::{Flags, TcpConfig};
use perhop_sim::tcp::{Connection, Numbering, Reading, Role, Segment, Timestamps};
use serde::Deserialize;
use serde::de::DeserializeOwned;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    name: String,
    #[serde(rename = "source")]
    _source: String,
    tcp: TcpConfig,
    #[serde(default)]
    passive: bool,
    #[serde(default)]
    reads_on_demand: bool,
    /// Whether the source of the script has only windows. In this case, sent segments are not compared if a
    /// step lists none or if the pace sends segments between steps.
    #[serde(default)]
    states_windows_only: bool,
    steps: Vec<Step>,
}

/// The events at one instant, with the expected result.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Step {
    at: Time,
    /// The application sends this number of bytes.
    send: Option<u64>,
    /// The application closes its direction.
    #[serde(default)]
    close: bool,
    /// The application reads this number of bytes.
    read: Option<u64>,
    /// The connection's next timer expires at this instant.
    #[serde(default)]
    timer: bool,
    /// The peer's acknowledgments, one segment each.
    #[serde(default)]
    acks: Vec<u64>,
    /// The peer's data, one segment each: [start, end].
    #[serde(default)]
    data: Vec<[u64; 2]>,
    /// Other fields of the segments that arrive in this step.
    #[serde(default)]
    sack: Vec<[u64; 2]>,
    window: Option<u32>,
    #[serde(default)]
    flags: Vec<String>,
    #[serde(default)]
    ce: bool,
    /// The send time of the segment that the arriving segments echo. Without it, they have no timestamps.
    echo: Option<Time>,
    /// The segments that the connection sends; `0..10000 by 1000` means ten segments.
    #[serde(default)]
    sends: Vec<String>,
    cwnd: Option<f64>,
    ssthresh: Option<f64>,
    rto: Option<Time>,
    /// The time of the connection's next timer.
    next_timer: Option<Time>,
    state: Option<String>,
    /// `tcpi_ca_state`, `tcpi_lost`, `tcpi_sacked` and `tcpi_reordering` of Linux's `TCP_INFO`.
    recovery: Option<String>,
    lost: Option<u32>,
    sacked: Option<u32>,
    reordering: Option<u32>,
}

fn vectors() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../vectors/tcp")
}

fn cases<T: DeserializeOwned>(file: &str) -> Vec<T> {
    #[derive(Deserialize)]
    struct File<T> {
        case: Vec<T>,
    }
    let path = vectors().join(file);
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let File { case } = toml::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    assert!(!case.is_empty(), "{file} has no case");
    case
}

impl Step {
    /// The segments that arrive in this step. `acknowledgment` is the last acknowledgment of the peer.
    fn arrivals(&self, acknowledgment: u64, window: u32) -> Vec<Segment> {
        let mut base = Segment {
            acknowledgment,
            window: self.window.unwrap_or(window),
            flags: Flags::ACK,
            ..Segment::default()
        };
        if self.ce {
            base.ecn = Ecn::CongestionExperienced;
        }
        if let Some(echo) = self.echo {
            base.numbering = Numbering::Timestamps(Timestamps { value: self.at, echo });
        }
        for [start, end] in &self.sack {
            base.sack.push(*start, *end);
        }
        for flag in &self.flags {
            match flag.as_str() {
                "syn" => base.flags = Flags::SYN,
                "syn ack" => base.flags = Flags::SYN | Flags::ACK,
                "fin" => base.flags |= Flags::FIN,
                "ece" => base.flags |= Flags::ECE,
                "cwr" => base.flags |= Flags::CWR,
                "ae" => base.flags |= Flags::AE,
                other => panic!("there is no flag {other}"),
            }
        }
        let acks = self.acks.iter().map(|ack| Segment { acknowledgment: *ack, ..base.clone() });
        let data = self.data.iter().map(|[start, end]| Segment {
            sequence: *start,
            length: (end - start) as u32,
            ..base.clone()
        });
        let mut segments: Vec<Segment> = acks.chain(data).collect();
        if segments.is_empty() && !self.flags.is_empty() {
            segments.push(base);
        }
        segments
    }
    /// Compares the state of loss recovery in Linux's `TCP_INFO`.
    fn compare_recovery(&self, connection: &Connection, place: &str) {
        if self.recovery.is_none() && [self.lost, self.sacked, self.reordering] == [None; 3] {
            return;
        }
        let actual = connection.loss_recovery().unwrap_or_else(|| panic!("{place}: no record of segments"));
        if let Some(state) = &self.recovery {
            assert_eq!(&format!("{:?}", actual.state), state, "{place}: state of recovery");
        }
        for (name, expected, actual) in [
            ("lost", self.lost, actual.lost),
            ("sacked", self.sacked, actual.sacked),
            ("reordering", self.reordering, actual.reordering),
        ] {
            if let Some(expected) = expected {
                assert_eq!(actual, expected, "{place}: {name}");
            }
        }
    }
}

/// The segments that `text` describes. `A..B by N` describes the segments of N bytes from A to B; other texts
/// describe one segment.
fn segments(text: &str) -> Vec<String> {
    let Some((range, rest)) = text.split_once(" by ") else { return vec![text.to_owned()] };
    let (size, marks) =
        rest.split_once(' ').map_or((rest, String::new()), |(size, m)| (size, format!(" {m}")));
    let (start, end) = range.split_once("..").expect("a range");
    let number = |text: &str| text.parse::<u64>().unwrap_or_else(|_| panic!("{text} is no offset"));
    let (start, end, size) = (number(start), number(end), number(size));
    (start..end)
        .step_by(size as usize)
        .map(|from| format!("{from}..{}{marks}", (from + size).min(end)))
        .collect()
}

fn transmit(connection: &mut Connection, now: Time, sent: &mut Vec<String>) {
    while let Some(segment) = connection.poll_transmit(now) {
        sent.push(segment.to_string());
    }
}

/// Runs the timers that expire before `until`, and ignores the segments that they send.
fn pass_timers(connection: &mut Connection, until: Time) {
    while let Some(now) = connection.poll_timeout().filter(|timer| *timer < until) {
        connection.on_timer(now);
        transmit(connection, now, &mut Vec::new());
    }
}

fn play(file: &str, case: &Case) {
    let parameters = case.tcp.build().unwrap_or_else(|error| panic!("{}: {error}", case.name));
    let role = if case.passive { Role::Passive } else { Role::Active };
    let mut connection = Connection::new(&Arc::new(parameters), role, Time::ZERO);
    if case.reads_on_demand {
        connection.set_reading(Reading::OnDemand);
    }
    let mut acknowledgment = 0;
    for (index, step) in case.steps.iter().enumerate() {
        let place = format!("{file}, \"{}\", step {index} at {}", case.name, step.at);
        if case.states_windows_only {
            pass_timers(&mut connection, step.at);
        }
        let timer = connection.poll_timeout();
        if step.timer {
            assert_eq!(timer, Some(step.at), "{place}: the timer");
            connection.on_timer(step.at);
        } else {
            assert!(
                timer.is_none_or(|timer| timer >= step.at),
                "{place}: a timer expires before, at {timer:?}"
            );
        }
        connection.send(step.send.unwrap_or(0));
        if step.close {
            connection.close();
        }
        if let Some(bytes) = step.read {
            connection.read(bytes);
        }
        let mut sent = Vec::new();
        transmit(&mut connection, step.at, &mut sent);
        for segment in step.arrivals(acknowledgment, parameters.first_window()) {
            acknowledgment = segment.acknowledgment;
            connection.on_segment(step.at, &segment);
            transmit(&mut connection, step.at, &mut sent);
        }
        if !(case.states_windows_only && step.sends.is_empty()) {
            let expected: Vec<String> = step.sends.iter().flat_map(|text| segments(text)).collect();
            assert_eq!(sent, expected, "{place}: sent");
        }
        let near = |actual: f64, expected: f64| (actual - expected).abs() < 1e-3;
        if let Some(cwnd) = step.cwnd {
            let actual = connection.congestion_window();
            assert!(near(actual, cwnd), "{place}: cwnd {actual}, expected {cwnd}");
        }
        if let Some(ssthresh) = step.ssthresh {
            assert_eq!(connection.slow_start_threshold(), ssthresh, "{place}: ssthresh");
        }
        if let Some(rto) = step.rto {
            assert_eq!(connection.retransmission_timeout(), rto, "{place}: rto");
        }
        if let Some(next_timer) = step.next_timer {
            assert_eq!(connection.poll_timeout(), Some(next_timer), "{place}: next timer");
        }
        if let Some(state) = &step.state {
            assert_eq!(&format!("{:?}", connection.state(step.at)), state, "{place}: state");
        }
        step.compare_recovery(&connection, &place);
    }
}

#[test]
fn every_script_passes() {
    let (mut scripts, mut failed) = (0, Vec::new());
    for entry in fs::read_dir(vectors()).unwrap() {
        let file = entry.unwrap().file_name().into_string().unwrap();
        if file != "refused.toml" {
            scripts += 1;
            for case in cases::<Case>(&file) {
                if std::panic::catch_unwind(|| play(&file, &case)).is_err() {
                    failed.push(format!("{file}: {}", case.name));
                }
            }
        }
    }
    assert!(failed.is_empty(), "{} cases failed: {failed:#?}", failed.len());
    assert!(scripts >= 10, "only {scripts} scripts");
}

/// Under packetdrill, the kernel sends bursts that the device segments, and scripts do not distinguish a
/// burst from its segments. The scripts must therefore also pass with segmentation offload.
#[test]
fn scripts_of_packetdrill_hold_with_segmentation_offload() {
    let (mut played, mut failed) = (0, Vec::new());
    for file in ["packetdrill-recovery.toml", "packetdrill-window.toml"] {
        for mut case in cases::<Case>(file) {
            let offload = serde_json::from_str("{}").expect("Linux's values");
            case.tcp.segmentation_offload = Some(offload);
            played += 1;
            if std::panic::catch_unwind(|| play(file, &case)).is_err() {
                failed.push(format!("{file}: {}", case.name));
            }
        }
    }
    assert!(failed.is_empty(), "{} cases failed: {failed:#?}", failed.len());
    assert!(played >= 40, "only {played} scripts");
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Refused {
    tcp: TcpConfig,
    path: String,
    found: String,
}

#[test]
fn invalid_parameters_are_refused() {
    for case in cases::<Refused>("refused.toml") {
        let error = case.tcp.build().expect_err(&case.found);
        assert_eq!(error.path.join("."), case.path, "{error}");
        assert!(error.message.contains(&case.found), "{error}\nexpected: {}", case.found);
        assert!(error.help.is_some(), "{error} says nothing about what would be right");
    }
}

#[test]
fn an_unknown_profile_is_refused_with_the_known_ones() {
    let error = toml::from_str::<TcpConfig>("profile = \"linux-2.4\"").unwrap_err().to_string();
    for profile in ["ns2-reno-1999", "linux-2.0", "linux-2.2", "rfc5681-reno", "linux-modern"] {
        assert!(error.contains(profile), "{error}");
    }
}
