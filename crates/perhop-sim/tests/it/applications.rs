//! Applications on empty links, compared with a calculation by hand.

use crate::simulation::{ONCE, numbers, simulate};
use perhop_measure::Results;
use perhop_measure::results::Values;
use perhop_sim::{EngineChoice, RunOptions};
use serde_json::{Value, json};

/// A client and a server at the ends of one link.
fn scenario(rate: &str, delay: &str, duration: &str, traffic: &Value) -> Value {
    json!({
        "perhop": 1, "name": "applications", "duration": duration,
        "hosts": {"client": {}, "server": {}},
        "links": [{"between": ["client", "server"], "rate": rate, "delay": delay}],
        "traffic": traffic,
    })
}

fn one_entry(name: &str, source: &Value) -> Value {
    json!([{"name": name, "from": "client", "to": "server", "source": source}])
}

fn number(results: &Results, table: &str, column: &str) -> f64 {
    numbers(results.table(table).unwrap(), column)[0]
}

fn video(rest: &Value) -> Value {
    let mut video = json!({"tcp": {"profile": "linux-modern"}, "ladder": ["1Mb/s", "2Mb/s", "4Mb/s", "8Mb/s"],
        "segment": "2s", "buffer": "20s", "starts-with": "2s"});
    video.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
    json!({"video": video})
}

/// A handshake and three objects of one segment need four round trips. The browser pauses for 50 ms after the
/// first and after the second object.
#[test]
fn a_page_takes_the_round_trips_of_its_waterfall() {
    let page = json!({"page-load": {"tcp": {"profile": "rfc5681-reno"}, "html": "1000B",
        "scripts": {"count": 1, "size": "1000B"}, "images": {"count": 1, "size": "1000B"},
        "tls-round-trips": 0, "parse": "50ms", "think": "1s"}});
    let results = simulate(&scenario("100Mb/s", "50ms", "60s", &one_entry("page", &page)), ONCE);
    let (p50, p95) = (number(&results, "pages", "load_p50_s"), number(&results, "pages", "load_p95_s"));
    // Each round trip has a request of 440 bytes and a response of 1040 bytes, or two segments of 40 to 60
    // bytes.
    let by_hand = 4.0 * 0.1 + 3.0 * 1480.0 * 8.0 / 100e6 + 2.0 * 0.05;
    assert!((p50 - by_hand).abs() < 2e-5, "{p50} for {by_hand}");
    assert!((p95 - p50).abs() < 1e-9);
    let pages = number(&results, "pages", "pages");
    assert!((25.0..60.0).contains(&pages), "0.5 and 1 s each: {pages}");
    let objects = number(&results, "pages", "objects") - 3.0 * pages;
    assert!((0.0..3.0).contains(&objects), "those of a page under way: {objects}");
}

/// TLS 1.3 adds a round trip to each connection. With two connections, two of three objects are transferred
/// in parallel.
#[test]
fn connections_in_parallel_save_round_trips() {
    let load = |connections: u32, tls: u32| {
        let page = json!({"page-load": {"tcp": {"profile": "rfc5681-reno"}, "html": "1000B",
            "scripts": {"count": 2, "size": "1000B"}, "images": {"count": 4, "size": "1000B"},
            "connections": connections, "tls-round-trips": tls, "parse": "0s", "think": "1s"}});
        number(
            &simulate(&scenario("1Gb/s", "50ms", "30s", &one_entry("page", &page)), ONCE),
            "pages",
            "load_p50_s",
        )
    };
    // One connection takes eight round trips: handshake, HTML, two scripts, and four images in turn.
    assert!((load(1, 0) - 0.8).abs() < 1e-3, "{}", load(1, 0));
    // With two connections, the second script waits for the first script, because a handshake would take
    // longer. After that, objects are loaded in pairs.
    assert!((load(2, 0) - 0.6).abs() < 1e-3, "{}", load(2, 0));
    // The 4,000 bytes of the server's TLS handshake fit into an initial window.
    assert!((load(1, 1) - 0.9).abs() < 1e-3, "{}", load(1, 1));
}

#[test]
fn a_player_plays_the_highest_bitrate_below_the_throughput() {
    let results = simulate(&scenario("10Mb/s", "1ms", "120s", &one_entry("video", &video(&json!({})))), ONCE);
    let segments = number(&results, "videos", "segments");
    // The first segment has the lowest bitrate. All others have 8 Mb/s, which is below 0.9 of 9.65 Mb/s.
    let mean = (1e6 + (segments - 1.0) * 8e6) / segments;
    assert!((number(&results, "videos", "bitrate_mean_bps") - mean).abs() < 1.0);
    assert_eq!(number(&results, "videos", "switches"), 1.0);
    assert_eq!(number(&results, "videos", "stalls"), 0.0);
    let played = number(&results, "videos", "played_s") + number(&results, "videos", "startup_delay_s");
    assert!((played - 120.0).abs() < 1e-9, "{played}");
}

/// By hand: a handshake and a request, then 250 kB in segments of 1448 bytes at 10 Mb/s.
#[test]
fn playback_starts_after_the_first_segment() {
    let results =
        simulate(&scenario("10Mb/s", "100us", "10s", &one_entry("video", &video(&json!({})))), ONCE);
    let by_hand = 250_000.0 / 1448.0 * 1500.0 * 8.0 / 10e6 + 2.0 * 0.0002;
    let found = number(&results, "videos", "startup_delay_s");
    assert!((found / by_hand - 1.0).abs() < 0.01, "{found} for {by_hand}");
}

/// On a link with half the rate of the lowest bitrate, half a second of video arrives per second.
#[test]
fn a_link_below_the_lowest_bitrate_stalls_for_the_rest_of_the_time() {
    for adaptation in [json!({"throughput": {}}), json!({"bba": {}}), json!({"bola": {}})] {
        // A window of eight packets keeps the link busy without a timeout in its queue.
        let tcp = json!({"profile": "rfc5681-reno", "window": "8 packets"});
        let video = video(&json!({"adaptation": adaptation, "tcp": tcp}));
        let results = simulate(&scenario("500kb/s", "1ms", "600s", &one_entry("video", &video)), ONCE);
        let expected = 100.0 * (1.0 - 0.5 * 1460.0 / 1500.0);
        let found = number(&results, "videos", "stalled_percent");
        assert!((found - expected).abs() < 0.5, "{adaptation}: {found} for {expected}");
        assert_eq!(number(&results, "videos", "bitrate_mean_bps"), 1e6);
    }
}

/// Video at a bitrate below the link's rate fills the buffer. After that, the player requests a segment every
/// 2 s.
#[test]
fn a_full_buffer_is_refilled_segment_by_segment() {
    let results =
        simulate(&scenario("100Mb/s", "1ms", "100s", &one_entry("video", &video(&json!({})))), ONCE);
    // The player plays 100 s minus the start, and at most 20 s are in the buffer.
    let segments = number(&results, "videos", "segments");
    assert!((segments - 60.0).abs() <= 1.0, "{segments}");
}

/// Compares the count of late packets with the times of the packets.
#[test]
fn late_packets_of_a_call_are_those_beyond_the_buffer() {
    let traffic = json!([
        {"name": "voice", "from": "client", "to": "server",
         "source": {"voice": {"codec": "g711", "jitter-buffer": {"fixed": "10ms"}}}},
        {"name": "data", "from": "client", "to": "server",
         "source": {"poisson": {"rate": "800kb/s", "packet": {"ip": "1500B"}}}},
    ]);
    let mut scenario = scenario("1Mb/s", "5ms", "60s", &traffic);
    scenario["measure"] = json!({"warmup": "1s", "packets": ["voice"]});
    let results = simulate(&scenario, ONCE);
    let delays = numbers(results.table("packets").unwrap(), "delay_s");
    let played = delays.iter().copied().fold(f64::INFINITY, f64::min) + 0.010;
    let late = delays.iter().filter(|delay| **delay > played).count() as f64;
    assert!(late > 100.0);
    // Delays are known with a precision of 0.1 %.
    assert!((number(&results, "calls", "late_packets") - late).abs() < 5.0, "{late}");
    let percent = 100.0 * number(&results, "calls", "late_packets") / delays.len() as f64;
    assert!((number(&results, "calls", "late_percent") - percent).abs() < 1e-9);
    assert!((number(&results, "calls", "mouth_to_ear_s") - played - 0.020_125).abs() < 1e-9);
    assert!(number(&results, "calls", "burst_ratio") > 1.0, "full queues lose in bursts");
    let r = number(&results, "calls", "r");
    assert!((0.0..93.0).contains(&r), "{r}");
}

/// On an empty link every command waits the same time for the next tick, because both have the same rate.
#[test]
fn a_command_is_answered_by_the_next_tick() {
    let results =
        simulate(&scenario("100Mb/s", "20ms", "10s", &one_entry("game", &json!({"game": {}}))), ONCE);
    let [p50, p99] = ["response_p50_s", "response_p99_s"].map(|column| number(&results, "games", column));
    // With headers, the packets have 108 and 148 bytes. A tick lasts 15.625 ms.
    let way = 0.040 + (108.0 + 148.0) * 8.0 / 100e6;
    assert!((way..way + 0.015_626).contains(&p50), "{p50}");
    assert!((p99 - p50).abs() < 1e-9);
    assert_eq!(number(&results, "games", "late_ticks_percent"), 0.0);
    let up = number(&results, "games", "up_p99_s");
    assert!((up - 0.020 - 108.0 * 8.0 / 100e6).abs() < 1e-9, "{up}");
    // The server sends 64 ticks per second for 10 s. The last ticks are in the network at the end.
    assert!((number(&results, "games", "ticks") - 638.0).abs() <= 2.0);
}

/// Four connections fill the link. They fill its queue, so a byte of a latency measurement waits behind this
/// queue.
#[test]
fn a_speed_test_measures_link_rate_and_queue_latency() {
    let traffic = one_entry("test", &json!({"speed-test": {"tcp": {"profile": "linux-modern"}}}));
    let mut scenario = scenario("10Mb/s", "10ms", "12s", &traffic);
    scenario["traffic"][0]["start"] = json!("1s");
    scenario["traffic"][0]["stop"] = json!("11s");
    scenario["links"][0]["interfaces"] = json!({"client": {"output": "queue"}});
    scenario["policies"] = json!({"queue": {"queueing": {"classes": [
        {"name": "all", "buffer": {"tail-drop": {"limit": "100 packets"}}}]}}});
    let results = simulate(&scenario, ONCE);
    let (rate, mean) =
        (number(&results, "speed_tests", "rate_bps"), number(&results, "speed_tests", "rate_mean_bps"));
    let full = 10e6 * 1448.0 / 1500.0;
    // Bytes that waited for a retransmission are delivered together with it, so slices differ. The six
    // slowest and the two fastest slices are excluded.
    assert!((0.98..1.05).contains(&(rate / full)), "{rate}");
    assert!(mean < rate && (0.95 * full..=full).contains(&mean), "the ramp counts in the mean: {mean}");
    let latency = number(&results, "speed_tests", "loaded_latency_s");
    // The latency is between the latency of the empty link and the latency behind 100 packets of 1.2 ms.
    assert!((0.06..0.02 + 0.125).contains(&latency), "{latency}");
    assert!((number(&results, "speed_tests", "rpm") - 60.0 / latency).abs() < 1e-9);
    assert_eq!(results.table("speed_tests").unwrap().rows(), 1);
}

/// Runs all applications together, in both engines.
#[test]
fn engines_agree_on_all_applications() {
    let tcp = json!({"profile": "linux-modern"});
    let entry = |name: &str, source: Value| json!({"name": name, "from": "client", "to": "server", "count": 2, "start-within": "500ms", "source": source});
    let traffic = json!([
        entry("video", json!({"video": {"tcp": tcp, "segment": "1s", "starts-with": "1s", "buffer": "6s"}})),
        entry("bola", json!({"video": {"tcp": tcp, "adaptation": {"bola": {}}}})),
        entry("pages", json!({"page-load": {"tcp": tcp, "connections": 3, "think": "500ms"}})),
        entry("test", json!({"speed-test": {"tcp": tcp, "connections": 2}})),
        entry("game", json!({"game": {"command-rate": "30pps"}})),
        entry(
            "voice",
            json!({"voice": {"codec": "g729a-vad", "talk-spurts": {}, "jitter-buffer": {"adaptive": {}}}})
        ),
    ]);
    let mut scenario = scenario("6Mb/s", "15ms", "12s", &traffic);
    scenario["measure"] = json!({"warmup": "2s"});
    let tables = |engine| {
        let results = simulate(&scenario, RunOptions { engine, ..ONCE });
        results.tables.iter().map(|table| format!("{table:?}")).collect::<Vec<_>>()
    };
    let (fast, plain) = (tables(EngineChoice::Fast), tables(EngineChoice::Plain));
    for (fast, plain) in fast.iter().zip(&plain) {
        assert_eq!(fast, plain);
    }
    let results = simulate(&scenario, ONCE);
    for (table, rows) in [("videos", 4), ("pages", 2), ("speed_tests", 2), ("games", 2), ("calls", 2)] {
        assert_eq!(results.table(table).unwrap().rows(), rows, "{table}");
    }
    let Some(Values::Text { names, .. }) = results.table("pages").unwrap().column("flow") else { panic!() };
    assert_eq!(names, &["pages#0", "pages#1"]);
    let summary = serde_json::to_value(&results.summary).unwrap();
    assert!(summary["pages"][0]["objects"]["mean"].as_f64().unwrap() > 0.0);
    assert!(summary["calls"][0]["r"]["mean"].is_number());
}
