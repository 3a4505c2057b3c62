//! TCP compared with theory: Mathis et al. 1997, Padhye et al. 1998, RFC 9438's curve.

use crate::pair;
use crate::pair::{CLIENT, Pair, SERVER};
use perhop_qos::QueueSize;
use perhop_qos::random::Streams;
use perhop_qos::units::Time;
use perhop_scenario::tcp::{
    Acknowledgment, CongestionControl, Handshake, InitialWindow, Profile, Recovery, TcpConfig,
};

const ROUND_TRIP_S: f64 = 0.1;
const MSS: f64 = 1000.0;

/// A long-lived connection with a large window and a timeout close to the round-trip time.
fn long_lived(recovery: Recovery) -> TcpConfig {
    TcpConfig {
        mss: Some(perhop_qos::ByteSize::from_bytes(MSS as u64)),
        window: Some(QueueSize::Packets(10_000)),
        initial_ssthresh: Some(QueueSize::Packets(20)),
        recovery: Some(recovery),
        handshake: Some(Handshake::None),
        acknowledgment: Some(Acknowledgment::EveryPacket),
        minimum_rto: Some(Time::from_milliseconds(200)),
        ..TcpConfig::new(Profile::Rfc5681Reno)
    }
}

/// The segments per second that arrive in order, and the number of timeouts, over `seconds`. Each data
/// segment is lost with the probability `loss`.
fn throughput(tcp: &TcpConfig, loss: f64, seconds: u64) -> (f64, u64) {
    let parameters = tcp.build().unwrap();
    let mut stream = Streams::new(1, 0).stream();
    let mut pair = Pair::new(&parameters, move |end, _| {
        let lost = end == CLIENT && stream.uniform() < loss;
        (!lost).then_some(Time::from_seconds_f64(ROUND_TRIP_S / 2.0))
    });
    pair.ends[CLIENT].send(u64::MAX);
    pair.run(Time::from_seconds(seconds), pair::silent);
    let segments = pair.received(SERVER) as f64 / MSS;
    (segments / seconds as f64, pair.ends[CLIENT].statistics().timeouts)
}

fn within(actual: f64, expected: f64, share: f64, what: &str) {
    let ratio = actual / expected;
    assert!((1.0 - share..=1.0 + share).contains(&ratio), "{what}: {actual:.1}, expected {expected:.1}");
}

/// The number of seconds in which a flow at Mathis' rate has about 1000 losses.
fn seconds_for(loss: f64) -> u64 {
    (1000.0 * ROUND_TRIP_S / (1.22 * loss.sqrt())) as u64
}

/// Mathis et al. 1997, equation 3: MSS/RTT · sqrt(3/2) / sqrt(p), for TCPs that repair losses without
/// timeouts.
#[test]
fn mathis() {
    for recovery in [Recovery::NewReno, Recovery::Sack] {
        for loss in [0.001, 0.003, 0.01, 0.02] {
            let (rate, _) = throughput(&long_lived(recovery), loss, seconds_for(loss));
            let expected = 1.5f64.sqrt() / (ROUND_TRIP_S * loss.sqrt());
            within(rate, expected, 0.25, &format!("{recovery:?} at {loss}"));
        }
    }
}

/// Mathis' formula with an acknowledgment for every second segment and growth per acknowledgment: K =
/// sqrt(3/4).
#[test]
fn mathis_with_delayed_acknowledgments() {
    for loss in [0.001, 0.003, 0.01] {
        let tcp = TcpConfig {
            acknowledgment: Some(Acknowledgment::Delayed { timeout: Time::from_milliseconds(100), quick: 0 }),
            counting: Some(perhop_scenario::tcp::Counting::Acknowledgments),
            ..long_lived(Recovery::Sack)
        };
        let (rate, _) = throughput(&tcp, loss, seconds_for(loss));
        within(rate, 0.75f64.sqrt() / (ROUND_TRIP_S * loss.sqrt()), 0.25, &format!("{loss}"));
    }
}

/// Padhye et al. 1998, equation 32, b = 1: Reno with its timeouts. T0 is the minimum timeout, which follows
/// from a constant round-trip time.
#[test]
fn padhye() {
    for minimum_ms in [200, 1000] {
        for loss in [0.001, 0.003, 0.01, 0.02] {
            let tcp = TcpConfig {
                minimum_rto: Some(Time::from_milliseconds(minimum_ms)),
                limited_transmit: Some(false),
                ..long_lived(Recovery::Reno)
            };
            let (rate, timeouts) = throughput(&tcp, loss, seconds_for(loss));
            let timeout = minimum_ms as f64 / 1000.0;
            let without = ROUND_TRIP_S * (2.0 * loss / 3.0).sqrt();
            let with =
                timeout * (3.0 * (3.0 * loss / 8.0).sqrt()).min(1.0) * loss * (1.0 + 32.0 * loss * loss);
            let what = format!("Reno at {loss}, timeout {minimum_ms} ms, {timeouts} timeouts");
            within(rate, 1.0 / (without + with), 0.25, &what);
        }
    }
}

/// RFC 9438, figures 1 and 2: after a loss at 500 segments the window follows 0.4 (t - K)³ + 500, K = 7.21 s.
#[test]
fn cubic_follows_its_curve() {
    const PLATEAU: f64 = 500.0;
    let tcp = TcpConfig {
        congestion: Some(CongestionControl::Cubic),
        initial_window: Some(InitialWindow::Segments(PLATEAU as u32)),
        initial_ssthresh: Some(QueueSize::Packets(PLATEAU as u64)),
        ..long_lived(Recovery::Sack)
    };
    let mut lost = false;
    let mut pair = Pair::new(&tcp.build().unwrap(), |end, segment: &perhop_sim::tcp::Segment| {
        let lose = end == CLIENT && segment.sequence == 10_000 && !lost;
        lost |= lose;
        (!lose).then_some(Time::from_seconds_f64(ROUND_TRIP_S / 2.0))
    });
    pair.ends[CLIENT].send(u64::MAX);
    // The loss is detected after one round trip and repaired after a second one. Then the epoch begins.
    pair.run(Time::from_milliseconds(201), pair::silent);
    let reached = pair.ends[CLIENT].slow_start_threshold() / 0.7;
    within(reached, PLATEAU, 0.03, "window at the loss");
    let start = 0.2;
    let k = (reached * 0.3 / 0.4).cbrt();
    let curve = |seconds: f64| 0.4 * (seconds - k).powi(3) + reached;
    for tenths in [5u64, 10, 20, 40, 60, 70, 80, 100, 120, 150] {
        let seconds = tenths as f64 / 10.0;
        pair.run(Time::from_seconds_f64(start + seconds), pair::silent);
        let window = pair.ends[CLIENT].congestion_window();
        // Within a round trip the window approaches the value of the curve one round trip later.
        let (low, high) = (curve(seconds - ROUND_TRIP_S) - 1.0, curve(seconds + ROUND_TRIP_S) + 1.0);
        assert!((low..=high).contains(&window), "after {seconds} s: {window}, curve {low} to {high}");
    }
}

/// RFC 9438 §4.3: with small windows CUBIC is as fast as Reno, with 1.22/sqrt(p) on average.
#[test]
fn cubic_is_no_slower_than_reno_where_reno_is_fast() {
    let tcp = TcpConfig { congestion: Some(CongestionControl::Cubic), ..long_lived(Recovery::Sack) };
    let (rate, _) = throughput(&tcp, 0.01, seconds_for(0.01));
    let reno = 1.5f64.sqrt() / (ROUND_TRIP_S * 0.1);
    assert!(rate > 0.85 * reno && rate < 1.5 * reno, "{rate}, Reno {reno}");
}
