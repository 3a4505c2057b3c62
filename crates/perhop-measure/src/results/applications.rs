//! The tables of applications, with one row per application.

use perhop_qos::units::Time;
use perhop_scenario::{Scenario, SourceConfig, VoiceConfig};

use super::table::{Rows, Table};
use super::traffic::{flow_name, percent};
use crate::Measurements;
use crate::applications::{PageTally, Played, SpeedTally, Ticks, game_delays, nearest_rank, play};
use crate::counters::{Distribution, FlowTally, LoggedPacket};
use crate::tcp::SessionMeasurements;
use crate::telephony::{Delivered, Rated, Telephony, playout_s, rate};

/// Returns the logged packets of each flow, in order of arrival.
fn packets_by_flow(measurements: &Measurements) -> Vec<Vec<&LoggedPacket>> {
    let mut flows = vec![Vec::new(); measurements.flows.len()];
    let log = measurements.samples.iter().filter_map(|samples| samples.application_packets.as_ref());
    for packet in log.flat_map(|log| &log.packets) {
        flows[packet.flow as usize].push(packet);
    }
    flows
}

/// A call in one direction.
struct CallRow<'a> {
    flow: String,
    class: &'a str,
    voice: &'a VoiceConfig,
    played: Played,
    tally: FlowTally,
    rated: Rated,
}

pub(super) fn call_table(scenario: &Scenario, measurements: &Measurements, replication: u64) -> Table {
    let packets = packets_by_flow(measurements);
    let rows = measurements.flows.iter().enumerate().filter_map(|(index, flow)| {
        let traffic = &scenario.traffic[flow.traffic];
        let SourceConfig::Voice(voice) = &traffic.source else { return None };
        let (class, tally) = (&measurements.class_names[flow.class], measurements.counters[index].tally());
        let delivered = delivered_of(class, &tally, &packets[index], replication);
        let played = play(packets[index].iter().copied(), playout_s(voice.jitter_buffer, &delivered));
        let telephony = Telephony {
            codec: voice.codec.planning(),
            jitter_buffer: voice.jitter_buffer,
            burst_ratio: played.burst_ratio(),
            advantage: 0.0,
        };
        let rated = rate(&delivered, &telephony);
        Some(CallRow { flow: flow_name(traffic, flow.number), class, voice, played, tally, rated })
    });
    let float = |value: Option<f64>| value.unwrap_or(f64::NAN);
    Rows::new(replication, rows)
        .text("flow", |row| &row.flow)
        .text("class", |row| row.class)
        .text("codec", |row| row.voice.codec.planning().name)
        .count("delivered_packets", "packets", |row| row.tally.delivered.packets)
        .count("dropped_packets", "packets", |row| row.tally.dropped_in_all().packets)
        .count("late_packets", "packets", |row| row.played.late)
        .float("late_percent", "%", move |row| float(row.rated.late_percent))
        .float("missing_percent", "%", |row| row.rated.lost_percent)
        .float("burst_ratio", "", |row| row.played.burst_ratio())
        .float("playout_delay_s", "s", move |row| {
            float(row.rated.mouth_to_ear_s) - row.voice.codec.planning().delay().as_seconds()
        })
        .float("mouth_to_ear_s", "s", move |row| float(row.rated.mouth_to_ear_s))
        .float("r", "", move |row| float(row.rated.r))
        .float("mos", "", move |row| float(row.rated.mos))
        .table("calls")
}

/// Returns the packets of one flow of `class` as [`Delivered`].
fn delivered_of<'a>(
    class: &'a str,
    tally: &FlowTally,
    packets: &[&LoggedPacket],
    replication: u64,
) -> Delivered<'a> {
    let mut delays = Distribution::default();
    for packet in packets {
        delays.record(packet.delay.as_picoseconds());
    }
    Delivered {
        replication,
        class,
        delivered: tally.delivered.packets,
        dropped: tally.dropped_in_all().packets,
        least_s: tally.delay.least.as_seconds(),
        mean_s: tally.delay.mean(),
        bins: delays.bins().map(|bin| (bin.longest as f64 / 1e9, u64::from(bin.count))).collect(),
    }
}

/// A player of a game.
struct GameRow<'a> {
    flow: String,
    class: &'a str,
    ticks: Ticks,
    up: FlowTally,
    down: FlowTally,
    jitter_s: [f64; 2],
}

pub(super) fn game_table(scenario: &Scenario, measurements: &Measurements, replication: u64) -> Table {
    let packets = packets_by_flow(measurements);
    // The server's flow follows the player's flow.
    let rows = measurements.flows.iter().enumerate().filter_map(|(index, flow)| {
        let traffic = &scenario.traffic[flow.traffic];
        let SourceConfig::Game(game) = &traffic.source else { return None };
        if flow.answers {
            return None;
        }
        let [up, down] = [index, index + 1].map(|flow| &measurements.counters[flow]);
        Some(GameRow {
            flow: flow_name(traffic, flow.number),
            class: &measurements.class_names[flow.class],
            ticks: game_delays(&packets[index], &packets[index + 1], game.tick()),
            up: up.tally(),
            down: down.tally(),
            jitter_s: [up, down].map(|counters| counters.tally().delay.mean_absolute_variation()),
        })
    });
    let up = |quantile: f64| move |row: &GameRow| Ticks::quantile(&row.ticks.up, quantile);
    let down = |quantile: f64| move |row: &GameRow| Ticks::quantile(&row.ticks.down, quantile);
    let response = |quantile: f64| move |row: &GameRow| Ticks::quantile(&row.ticks.response, quantile);
    Rows::new(replication, rows)
        .text("flow", |row| &row.flow)
        .text("class", |row| row.class)
        .count("commands", "packets", |row| row.up.delivered.packets)
        .count("ticks", "packets", |row| row.down.delivered.packets)
        .float("lost_commands_percent", "%", |row| {
            let dropped = row.up.dropped_in_all().packets;
            percent(dropped, dropped + row.up.delivered.packets)
        })
        .float("late_ticks_percent", "%", |row| {
            let dropped = row.down.dropped_in_all().packets;
            percent(dropped + row.ticks.late, dropped + row.down.delivered.packets)
        })
        .float("up_p50_s", "s", up(0.5))
        .float("up_p99_s", "s", up(0.99))
        .float("down_p50_s", "s", down(0.5))
        .float("down_p99_s", "s", down(0.99))
        .float("up_jitter_s", "s", |row| row.jitter_s[0])
        .float("down_jitter_s", "s", |row| row.jitter_s[1])
        .float("response_p50_s", "s", response(0.5))
        .float("response_p95_s", "s", response(0.95))
        .float("response_p99_s", "s", response(0.99))
        .table("games")
}

/// One application of TCP traffic and its first session.
struct SessionRow<'a, T> {
    flow: String,
    class: &'a str,
    tally: &'a T,
    /// The index of the application's first session.
    first: usize,
}

/// Returns the applications of TCP traffic for which `is_one` is true. `tallies` are in the same order.
fn sessions<'a, T>(
    scenario: &'a Scenario,
    measurements: &'a Measurements,
    tallies: &'a [T],
    is_one: impl Fn(&SourceConfig) -> bool,
) -> Vec<SessionRow<'a, T>> {
    let sessions = measurements.tcp.sessions.iter().enumerate();
    let firsts = sessions.filter(|(_, session)| {
        let source = &scenario.traffic[session.traffic].source;
        is_one(source) && session.number.is_multiple_of(source.connections())
    });
    let row = |((first, session), tally): ((usize, &'a SessionMeasurements), &'a T)| {
        let traffic = &scenario.traffic[session.traffic];
        let number = session.number / traffic.source.connections();
        let flow =
            if traffic.count == 1 { traffic.name.clone() } else { format!("{}#{number}", traffic.name) };
        SessionRow { flow, class: &measurements.class_names[session.class], tally, first }
    };
    firsts.zip(tallies).map(row).collect()
}

pub(super) fn video_table(scenario: &Scenario, measurements: &Measurements, replication: u64) -> Table {
    let is_one = |source: &SourceConfig| matches!(source, SourceConfig::Video(_));
    let rows = sessions(scenario, measurements, &measurements.tcp.videos, is_one);
    Rows::new(replication, rows)
        .text("flow", |row| &row.flow)
        .text("class", |row| row.class)
        .count("segments", "", |row| row.tally.segments)
        .count("switches", "", |row| row.tally.switches)
        .count("stalls", "", |row| row.tally.stalls)
        .float("startup_delay_s", "s", |row| row.tally.startup.map_or(f64::NAN, Time::as_seconds))
        .float("stalled_s", "s", |row| row.tally.stalled.as_seconds())
        .float("stalled_percent", "%", |row| row.tally.stalled_percent())
        .float("played_s", "s", |row| row.tally.played.as_seconds())
        .float("bitrate_mean_bps", "b/s", |row| row.tally.bitrate())
        .table("videos")
}

pub(super) fn page_table(scenario: &Scenario, measurements: &Measurements, replication: u64) -> Table {
    let is_one = |source: &SourceConfig| matches!(source, SourceConfig::PageLoad(_));
    let rows = sessions(scenario, measurements, &measurements.tcp.pages, is_one);
    let quantile = |quantile: f64| {
        move |row: &SessionRow<PageTally>| {
            let mut sorted = row.tally.loads.clone();
            sorted.sort_unstable();
            nearest_rank(&sorted, quantile)
        }
    };
    Rows::new(replication, rows)
        .text("flow", |row| &row.flow)
        .text("class", |row| row.class)
        .count("pages", "", |row| row.tally.loads.len() as u64)
        .count("objects", "", |row| row.tally.objects)
        .float("load_mean_s", "s", |row| {
            let sum: f64 = row.tally.loads.iter().map(|time| time.as_seconds()).sum();
            sum / row.tally.loads.len() as f64
        })
        .float("load_p50_s", "s", quantile(0.5))
        .float("load_p75_s", "s", quantile(0.75))
        .float("load_p95_s", "s", quantile(0.95))
        .table("pages")
}

pub(super) fn speed_test_table(scenario: &Scenario, measurements: &Measurements, replication: u64) -> Table {
    let is_one = |source: &SourceConfig| matches!(source, SourceConfig::SpeedTest(_));
    let rows = sessions(scenario, measurements, &measurements.tcp.speed_tests, is_one);
    let sessions = &measurements.tcp.sessions;
    // The last connection of the test is the probe.
    let probe = |row: &SessionRow<SpeedTally>| &sessions[row.first + row.tally.connections as usize].tally;
    let latency =
        |row: &SessionRow<SpeedTally>| probe(row).completion as f64 / probe(row).completed as f64 / 1e12;
    Rows::new(replication, rows)
        .text("flow", |row| &row.flow)
        .text("class", |row| row.class)
        .count("connections", "", |row| u64::from(row.tally.connections))
        .count("probes", "", |row| probe(row).completed)
        .float("rate_bps", "b/s", |row| row.tally.trimmed_bps())
        .float("rate_mean_bps", "b/s", |row| row.tally.mean_bps())
        .float("loaded_latency_s", "s", latency)
        .float("rpm", "1/min", |row| 60.0 / latency(row))
        .table("speed_tests")
}
