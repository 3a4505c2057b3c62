//! The receive buffer that follows the data read in a round trip.

use std::cell::RefCell;
use std::rc::Rc;

use crate::pair;
use crate::pair::{CLIENT, Pair, SERVER};
use perhop_qos::QueueSize;
use perhop_qos::units::Time;
use perhop_scenario::tcp::{Profile, TcpConfig};
use perhop_sim::tcp::Segment;

const RATE: f64 = 100e6;
const ROUND_TRIP: Time = Time::from_milliseconds(100);

/// Payload bits per second between 4 and 8 s over an idle link, and the offered windows with their times.
fn transfer(tcp: &TcpConfig) -> (f64, Vec<(Time, u32)>) {
    let (offered, mut free_at) = (Rc::new(RefCell::new(Vec::new())), Time::ZERO);
    let seen = Rc::clone(&offered);
    let half = Time::from_picoseconds(ROUND_TRIP.as_picoseconds() / 2);
    let mut pair = Pair::new(&tcp.build().unwrap(), move |end, segment: &Segment| {
        let now = segment.timestamps().map_or(Time::ZERO, |timestamps| timestamps.value);
        if end == SERVER {
            seen.borrow_mut().push((now, segment.window));
            return Some(half);
        }
        free_at = free_at.max(now) + Time::from_seconds_f64(f64::from(segment.length + 52) * 8.0 / RATE);
        Some(half + (free_at - now))
    });
    pair.ends[CLIENT].send(u64::MAX);
    pair.run(Time::from_seconds(4), pair::silent);
    let before = pair.received(SERVER);
    pair.run(Time::from_seconds(8), pair::silent);
    let rate = (pair.received(SERVER) - before) as f64 * 8.0 / 4.0;
    drop(pair);
    (rate, Rc::try_unwrap(offered).unwrap().into_inner())
}

/// The bandwidth-delay product is 1.25 MB (100 Mb/s for 100 ms). A window of 64 KiB would limit the rate to
/// 5.2 Mb/s. A buffer of twice the data read in a round trip never limits a window that doubles. At most 3
/// MiB are offered.
#[test]
fn a_tuned_buffer_does_not_limit() {
    let tuned = TcpConfig { autotuning: Some(true), ..TcpConfig::new(Profile::Linux6) };
    let (rate, offered) = transfer(&tuned);
    assert!(rate > 0.9 * RATE * 1448.0 / 1500.0, "{rate}");
    let first = offered.iter().find(|(time, _)| *time > Time::ZERO).unwrap().1;
    assert!(first <= 65_535, "{first} at first");
    let most = offered.iter().map(|(_, window)| *window).max().unwrap();
    assert!((1_250_000..=3 << 20).contains(&most), "{most} at most");
    // One round trip after the handshake, the application has not read data yet.
    let early = offered.iter().filter(|(time, _)| *time < Time::from_milliseconds(250));
    assert!(early.clone().count() > 5 && early.clone().all(|(_, window)| *window <= 65_535));
}

/// A buffer of a fixed size limits the rate to one window per round trip.
#[test]
fn a_fixed_buffer_limits() {
    let fixed = TcpConfig { window: Some(QueueSize::Bytes(65_535)), ..TcpConfig::new(Profile::Linux6) };
    let (rate, _) = transfer(&fixed);
    let expected = 65_535.0 * 8.0 / ROUND_TRIP.as_seconds();
    assert!((0.9 * expected..=expected).contains(&rate), "{rate}, expected {expected}");
}
