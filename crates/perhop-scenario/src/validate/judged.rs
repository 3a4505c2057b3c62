//! Checks of applications by which users judge a network.

use perhop_qos::units::Time;

use super::datagram::{IP_AND_UDP_HEADERS, LARGEST_PACKET};
use super::findings::Findings;
use crate::path::ValuePath;
use crate::tcp::Recovery;
use crate::{
    Adaptation, GameConfig, JitterBuffer, PageConfig, SpeedTestConfig, TalkSpurts, VideoConfig, VoiceConfig,
};

/// Limit on the ticks per second of a game.
const MOST_TICKS: u64 = 100_000;
/// Limit on the connections of a browser or a speed test.
const MOST_CONNECTIONS: u32 = 1000;
/// Limit on the objects of one kind on a page.
const MOST_OBJECTS: u32 = 100_000;

/// Checks the voice of a call.
pub(super) fn voice(path: &ValuePath, config: &VoiceConfig, findings: &mut Findings) {
    if let Some(TalkSpurts { talk, .. }) = config.talk_spurts {
        let path = path.join("talk-spurts");
        findings.require(talk > Time::ZERO, &path, "talk", "above 0", "the value of ITU-T P.59 is 1.004s");
    }
    let JitterBuffer::Adaptive(buffer) = config.jitter_buffer else { return };
    let path = path.join("jitter-buffer").join("adaptive");
    let help = format!("at most `most` ({})", buffer.most);
    findings.require(buffer.least <= buffer.most, &path, "least", "at most `most`", &help);
}

/// Checks the packets of a game.
pub(super) fn game(path: &ValuePath, config: &GameConfig, findings: &mut Findings) {
    let rates = [("tick-rate", Some(config.tick_rate)), ("command-rate", config.command_rate)];
    for (key, rate) in rates {
        let sends = rate.is_none_or(|rate| (1..=MOST_TICKS).contains(&rate.as_packets_per_second()));
        findings.require(
            sends,
            path,
            key,
            "from 1pps to 100000pps",
            "usual game servers have 64pps or 128pps",
        );
    }
    for (key, size) in [("command", config.command), ("snapshot", config.snapshot)] {
        let (bytes, most) = (size.as_bytes(), LARGEST_PACKET - IP_AND_UDP_HEADERS);
        let condition = format!("from 1B to {most}B, the payload of an IP packet");
        findings.require((1..=most).contains(&bytes), path, key, &condition, "for example 100B");
    }
}

/// Checks the ladder and the buffer of adaptive video.
pub(super) fn video(path: &ValuePath, config: &VideoConfig, findings: &mut Findings) {
    let ladder = &config.ladder;
    let ascends = ladder.windows(2).all(|pair| pair[0] < pair[1]);
    let is_ladder = ascends && ladder.first().is_some_and(|rate| rate.as_bits_per_second() > 0);
    findings.require(
        is_ladder,
        path,
        "ladder",
        "rates above 0 in ascending order",
        "for example [1Mb/s, 3Mb/s]",
    );
    findings.require(config.segment > Time::ZERO, path, "segment", "above 0", "for example 4s");
    let help =
        format!("at least `segment` ({}), because the player can show only whole segments", config.segment);
    let starts = config.starts_with >= config.segment;
    findings.require(starts, path, "starts-with", "at least a segment", &help);
    let needed = config.starts_with.saturating_add(config.segment);
    let help = format!("write at least {needed}; with a smaller buffer, playback never starts");
    findings.require(
        config.buffer >= needed,
        path,
        "buffer",
        "at least the sum of `starts-with` and `segment`",
        &help,
    );
    let path = path.join("adaptation");
    match config.adaptation {
        Adaptation::Throughput(rule) => {
            let path = path.join("throughput");
            let (fits, found) = (
                rule.safety > 0.0 && rule.safety <= 1.0,
                format!("above 0 and at most 1, got {}", rule.safety),
            );
            findings.require(fits, &path, "safety", &found, "dash.js uses 0.9");
            findings.require(rule.segments > 0, &path, "segments", "at least 1", "for example 5");
        }
        Adaptation::Bba(rule) => {
            let sum = rule.reservoir.unwrap_or_default().saturating_add(rule.cushion.unwrap_or_default());
            let help = format!("reservoir and cushion together at most `buffer` ({})", config.buffer);
            let key = if rule.cushion.is_some() { "cushion" } else { "reservoir" };
            findings.require(sum <= config.buffer, &path.join("bba"), key, "within the buffer", &help);
            let rises = rule.cushion.is_none_or(|cushion| cushion > Time::ZERO);
            findings.require(rises, &path.join("bba"), "cushion", "above 0", "for example 10s");
        }
        Adaptation::Bola(rule) => {
            let (fits, found) =
                (rule.gamma_p > 0.0 && rule.gamma_p.is_finite(), format!("above 0, got {}", rule.gamma_p));
            findings.require(fits, &path.join("bola"), "gamma-p", &found, "the authors of BOLA use 5");
        }
    }
}

/// Checks connections and objects of page loads.
pub(super) fn page(path: &ValuePath, config: &PageConfig, findings: &mut Findings) {
    connections(path, config.connections, "browsers open 6 per host", findings);
    for (key, objects) in [("scripts", config.scripts), ("images", config.images)] {
        let path = path.join(key);
        let help = "for example 20";
        findings.require(objects.count <= MOST_OBJECTS, &path, "count", "at most 100000", help);
        let has_bytes = objects.count == 0 || objects.size.as_bytes() > 0;
        findings.require(has_bytes, &path, "size", "above 0", "at least 1B");
    }
    findings.require(config.tls_round_trips <= 10, path, "tls-round-trips", "at most 10", "1 for TLS 1.3");
    // With QUIC, users would mistake the one request at a time per connection for a model of HTTP/3.
    if config.tcp.build().is_ok_and(|parameters| parameters.recovery == Recovery::Quic) {
        let message = "page-load models HTTP/1.1 over TCP; perhop does not model the streams of HTTP/3";
        findings.error(&path.join("tcp"), message).help =
            Some("use a TCP profile; for QUIC use a source such as `bulk` or `file-transfer`".into());
    }
}

/// Checks the connections of a speed test.
pub(super) fn speed_test(path: &ValuePath, config: &SpeedTestConfig, findings: &mut Findings) {
    connections(path, config.connections, "usual tests have 4 to 16", findings);
}

fn connections(path: &ValuePath, connections: u32, help: &str, findings: &mut Findings) {
    let fits = (1..=MOST_CONNECTIONS).contains(&connections);
    findings.require(fits, path, "connections", "from 1 to 1000", help);
}
