//! Properties of all profiles with arbitrary arrivals. The bounds are closed formulas.
//!
//! The unit is 10⁻¹² bit. In this unit, a rate in bit/s times a time in picoseconds is an integer, so every
//! bound is exact.

use perhop_qos::meter::{FlowMeters, Meter};
use perhop_qos::random::Streams;
use perhop_qos::{Color, FlowKey, Packet, Time};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::plain::meters::{Arrival, BYTE};
use crate::profile::{arrivals_of, bits, bytes, colors, measure, meter, mode};

/// Arrivals with bursts, odd numbers of picoseconds and long silences. Packets have 1 to 1500 bytes and any
/// of four colors.
fn arrivals() -> impl Strategy<Value = Vec<Arrival>> {
    let gap = prop_oneof![3 => Just(0_u64), 6 => 1_u64..5_000_000_000, 1 => 1_u64..2_000_000_000_000];
    arrivals_of(gap, 1_u32..=1500)
}

fn rate() -> impl Strategy<Value = u64> {
    prop_oneof![1_u64..100, 1_000_u64..10_000_000, Just(10_000_000_000)]
}
fn burst() -> impl Strategy<Value = u64> {
    1_u64..6_000
}

/// Checks that in each interval that begins and ends with a packet, the packets of the colors `counted` have
/// at most `rate`·Δt + `burst` bits.
fn conforms(
    arrivals: &[Arrival],
    colors: &[Color],
    counted: std::ops::RangeInclusive<Color>,
    rate: u64,
    burst: u64,
) -> Result<(), TestCaseError> {
    for first in 0..arrivals.len() {
        let mut sent = 0;
        for last in first..arrivals.len() {
            if counted.contains(&colors[last]) {
                sent += u128::from(arrivals[last].length) * BYTE;
            }
            let elapsed = (arrivals[last].at - arrivals[first].at).as_picoseconds();
            let bound = u128::from(rate) * u128::from(elapsed) + u128::from(burst) * BYTE;
            prop_assert!(sent <= bound, "packets {first} to {last}: {sent} > {bound}");
        }
    }
    Ok(())
}

const ONLY_GREEN: std::ops::RangeInclusive<Color> = Color::GREEN..=Color::GREEN;
const ONLY_YELLOW: std::ops::RangeInclusive<Color> = Color::YELLOW..=Color::YELLOW;
const UP_TO_YELLOW: std::ops::RangeInclusive<Color> = Color::GREEN..=Color::YELLOW;

proptest! {
    /// A packet is green if and only if all intervals that end with it conform to the profile. The token
    /// bucket is exact to one bit.
    #[test]
    fn token_bucket_is_exactly_its_profile(arrivals in arrivals(), rate in rate(), burst in burst()) {
        let colors = colors(json!({"token-bucket": {"rate": bits(rate), "burst": bytes(burst)}}), &arrivals);
        conforms(&arrivals, &colors, ONLY_GREEN, rate, burst)?;
        for (last, arrival) in arrivals.iter().enumerate() {
            let mut sent = u128::from(arrival.length) * BYTE;
            let mut fits = sent <= u128::from(burst) * BYTE;
            for first in (0..last).rev().filter(|first| colors[*first] == Color::GREEN) {
                sent += u128::from(arrivals[first].length) * BYTE;
                let elapsed = (arrival.at - arrivals[first].at).as_picoseconds();
                fits &= sent <= u128::from(rate) * u128::from(elapsed) + u128::from(burst) * BYTE;
            }
            prop_assert_eq!(colors[last] == Color::GREEN, fits, "packet {}", last);
        }
    }

    /// Green packets conform to a bucket whose burst is the burst plus the debt limit.
    #[test]
    fn token_bucket_with_debt_lends_up_to_its_limit(
        arrivals in arrivals(), rate in rate(), burst in burst(), limit in burst(),
    ) {
        let config = json!({"token-bucket-with-debt":
            {"rate": bits(rate), "burst": bytes(burst), "debt-limit": bytes(limit)}});
        let colors = colors(config, &arrivals);
        conforms(&arrivals, &colors, ONLY_GREEN, rate, burst + limit)?;
    }

    /// Regardless of other flows at the interface, each flow conforms in every interval, and its colors are
    /// those of a separate meter.
    #[test]
    fn each_flow_has_the_profile_to_itself(
        arrivals in arrivals(), flows in prop::collection::vec(0_u16..5, 80), rate in rate(), burst in burst(),
    ) {
        let config = json!({"token-bucket": {"rate": bits(rate), "burst": bytes(burst)}});
        let shared = serde_json::from_value(config.clone()).unwrap();
        let mut meters = FlowMeters::new(&shared, &Streams::new(1, 0)).unwrap();
        let color = |(arrival, source_port): (&Arrival, &u16)| {
            let flow = FlowKey { source_port: *source_port, ..FlowKey::default() };
            meters.measure(arrival.at, &Packet::new(flow, arrival.length))
        };
        let together: Vec<Color> = arrivals.iter().zip(&flows).map(color).collect();
        for flow in 0..5 {
            let of_flow = |index: &usize| flows[*index] == flow;
            let own: Vec<Arrival> = (0..arrivals.len()).filter(of_flow).map(|index| arrivals[index]).collect();
            let found: Vec<Color> = (0..arrivals.len()).filter(of_flow).map(|index| together[index]).collect();
            conforms(&own, &found, ONLY_GREEN, rate, burst)?;
            prop_assert_eq!(&found, &colors(config.clone(), &own), "flow {}", flow);
        }
    }

    #[test]
    fn single_rate_tcm_conforms(
        arrivals in arrivals(), cir in rate(), cbs in burst(), ebs in burst(), mode in mode(),
    ) {
        let config = json!({"single-rate-tcm":
            {"cir": bits(cir), "cbs": bytes(cbs), "ebs": bytes(ebs), "mode": mode}});
        let colors = colors(config, &arrivals);
        conforms(&arrivals, &colors, ONLY_GREEN, cir, cbs)?;
        conforms(&arrivals, &colors, ONLY_YELLOW, cir, ebs)?;
        conforms(&arrivals, &colors, UP_TO_YELLOW, cir, cbs + ebs)?;
    }

    #[test]
    fn two_rate_tcm_conforms(
        arrivals in arrivals(), cir in rate(), more in rate(), cbs in burst(), pbs in burst(), mode in mode(),
    ) {
        let pir = cir + more;
        let config = json!({"two-rate-tcm":
            {"cir": bits(cir), "cbs": bytes(cbs), "pir": bits(pir), "pbs": bytes(pbs), "mode": mode}});
        let colors = colors(config, &arrivals);
        conforms(&arrivals, &colors, ONLY_GREEN, cir, cbs)?;
        conforms(&arrivals, &colors, UP_TO_YELLOW, pir, pbs)?;
    }

    #[test]
    fn rfc4115_conforms(
        arrivals in arrivals(), cir in rate(), eir in rate(), cbs in burst(), ebs in burst(), mode in mode(),
    ) {
        let config = json!({"rfc4115":
            {"cir": bits(cir), "cbs": bytes(cbs), "eir": bits(eir), "ebs": bytes(ebs), "mode": mode}});
        let colors = colors(config, &arrivals);
        conforms(&arrivals, &colors, ONLY_GREEN, cir, cbs)?;
        conforms(&arrivals, &colors, ONLY_YELLOW, eir, ebs)?;
    }

    #[test]
    fn rate_based_marker_conforms_on_every_level(
        arrivals in arrivals(), profiles in prop::collection::vec((rate(), burst()), 1..8), mode in mode(),
    ) {
        let buckets: Vec<_> = profiles
            .iter()
            .map(|(rate, burst)| json!({"rate": bits(*rate), "burst": bytes(*burst)}))
            .collect();
        let colors = colors(json!({"rate-based": {"buckets": buckets, "mode": mode}}), &arrivals);
        for (level, (rate, burst)) in profiles.into_iter().enumerate() {
            conforms(&arrivals, &colors, Color::new(level)..=Color::new(level), rate, burst)?;
        }
    }

    #[test]
    fn color_aware_never_promotes(
        arrivals in arrivals(), r in rate(), s in rate(), b in burst(), c in burst(),
    ) {
        let (r, rs, s, b, c) = (bits(r), bits(r + s), bits(s), bytes(b), bytes(c));
        let aware = "color-aware";
        for config in [
            json!({"single-rate-tcm": {"cir": r, "cbs": b, "ebs": c, "mode": aware}}),
            json!({"two-rate-tcm": {"cir": r, "cbs": b, "pir": rs, "pbs": c, "mode": aware}}),
            json!({"rfc4115": {"cir": r, "cbs": b, "eir": s, "ebs": c, "mode": aware}}),
            json!({"rate-based": {"buckets": [{"rate": r, "burst": b}, {"rate": s, "burst": c}]}}),
            json!({"rate-based": {"buckets": [{"rate": r, "burst": b}]}}),
            json!({"early-tcm": {"cir": r, "cbs": b, "ebs": c}}),
            json!({"early-tcm": {"cir": r, "cbs": b}}),
        ] {
            for (arrival, color) in arrivals.iter().zip(colors(config.clone(), &arrivals)) {
                prop_assert!(color >= arrival.color, "{config}: {} became {color}", arrival.color);
            }
        }
    }

    /// With two drop precedences, both markers of the drop precedence study are the same bucket. In this
    /// case, tables 2 and 3 of the study differ only by chance.
    #[test]
    fn early_tcm_and_rate_based_marker_agree_on_two_levels(
        arrivals in arrivals(), rate in rate(), burst in burst(), mode in mode(),
    ) {
        let (rate, burst) = (bits(rate), bytes(burst));
        let early = json!({"early-tcm": {"cir": rate, "cbs": burst, "mode": mode}});
        let marker = json!({"rate-based": {"buckets": [{"rate": rate, "burst": burst}], "mode": mode}});
        prop_assert_eq!(colors(early, &arrivals), colors(marker, &arrivals));
    }

    /// With three levels and in color-aware mode, the marker of 1999 equals the published srTCM.
    #[test]
    fn early_tcm_on_three_levels_is_the_single_rate_tcm(
        arrivals in arrivals(), cir in rate(), cbs in burst(), ebs in burst(), mode in mode(),
    ) {
        let parameters = json!({"cir": bits(cir), "cbs": bytes(cbs), "ebs": bytes(ebs), "mode": mode});
        prop_assert_eq!(
            colors(json!({"early-tcm": parameters}), &arrivals),
            colors(json!({"single-rate-tcm": parameters}), &arrivals)
        );
    }
}

/// The bits of each color. Packets of 1000 bytes arrive at `kilobits` kb/s for `seconds` seconds.
fn constant_rate(config: Value, kilobits: u64, seconds: u64) -> [u64; Color::COUNT] {
    let mut meter = meter(config);
    let gap = Time::from_picoseconds(8_000 * 1_000_000_000_000 / (kilobits * 1_000));
    let mut bits = [0; Color::COUNT];
    for number in 0..seconds * kilobits / 8 {
        let arrival = Arrival { at: gap * number, length: 1_000, color: Color::GREEN };
        bits[measure(&mut meter, &arrival).index()] += 8_000;
    }
    bits
}

/// Checks that `bits` equals `rate`·`seconds` plus at most one `burst`. The tolerance is one packet.
fn assert_long_run(bits: u64, rate: u64, burst: u64, seconds: u64, what: &str) {
    let (earned, packet) = (rate * seconds, 8_000);
    let most = earned + burst * 8;
    assert!(bits <= most && bits + 2 * packet >= most, "{what}: {bits} bits, expected {most}");
}

#[test]
fn bucket_meters_share_out_an_overload_by_their_rates() {
    // The load is 4 Mb/s for 100 s, so every token is spent.
    let offered = 4_000 * 1_000 * 100;
    let [green, yellow, red, ..] =
        constant_rate(json!({"single-rate-tcm": {"cir": "1Mb/s", "cbs": "5kB", "ebs": "3kB"}}), 4_000, 100);
    assert_long_run(green, 1_000_000, 5_000, 100, "srTCM green");
    assert_long_run(yellow, 0, 3_000, 100, "srTCM yellow: C is never full again, so E never fills");
    assert_eq!(green + yellow + red, offered);

    // In the long run, borrowed tokens are paid back, so the debt limit increases the total only once.
    let config = json!({"token-bucket-with-debt": {"rate": "1Mb/s", "burst": "5kB", "debt-limit": "3kB"}});
    let [green, _, red, ..] = constant_rate(config, 4_000, 100);
    assert!(
        (100_000_000 - 16_000..=100_000_000 + 8 * (5_000 + 3_000)).contains(&green),
        "lent for good: {green}"
    );
    assert_eq!(green + red, offered);

    let config = json!({"two-rate-tcm": {"cir": "1Mb/s", "cbs": "5kB", "pir": "3Mb/s", "pbs": "5kB"}});
    let [green, yellow, red, ..] = constant_rate(config, 4_000, 100);
    assert_long_run(green, 1_000_000, 5_000, 100, "trTCM green");
    assert_long_run(green + yellow, 3_000_000, 5_000, 100, "trTCM green and yellow");
    assert_eq!(green + yellow + red, offered);

    let config = json!({"rfc4115": {"cir": "1Mb/s", "cbs": "5kB", "eir": "2Mb/s", "ebs": "5kB"}});
    let [green, yellow, red, ..] = constant_rate(config, 4_000, 100);
    assert_long_run(green, 1_000_000, 5_000, 100, "RFC 4115 green");
    // The tokens of C suffice for the packets at 0, 2, … 10 ms (5000 B + 250 B every 2 ms - 1000 B each). E
    // is full up to the first yellow packet at 12 ms, and the tokens that arrive before are lost.
    let lost = 2_000_000 * 12 / 1_000;
    assert_long_run(yellow + lost, 2_000_000, 5_000, 100, "RFC 4115 yellow");
    assert_eq!(green + yellow + red, offered);
}

/// Checks that `bits` are about the fraction `expected` of `offered`, the bits of 50,000 packets. The
/// tolerance is five standard deviations of the binomial distribution.
fn assert_share(bits: u64, offered: u64, expected: f64, what: &str) {
    let share = bits as f64 / offered as f64;
    assert!((share - expected).abs() < 0.0112, "{what}: {share}, expected {expected}");
}

#[test]
fn sliding_window_meters_share_out_an_overload_by_their_target_rates() {
    // The load is 4 Mb/s for 100 s, which is 50,000 packets. The estimate reaches 4 Mb/s within a second.
    let offered = 400_000_000;
    let config = json!({"tsw3cm": {"ctr": "1Mb/s", "ptr": "3Mb/s", "avg-interval": "100ms"}});
    let [green, yellow, red, ..] = constant_rate(config, 4_000, 100);
    assert_share(green, offered, 0.25, "TSW3CM green");
    assert_share(yellow, offered, 0.5, "TSW3CM yellow");
    assert_share(red, offered, 0.25, "TSW3CM red");

    let config = json!({"tsw2cm": {"ctr": "1Mb/s", "avg-interval": "100ms"}});
    let [green, _, red, ..] = constant_rate(config, 4_000, 100);
    assert_share(green, offered, 0.25, "TSW2CM green");
    assert_eq!(green + red, offered);

    // Below the target rate, all packets are green.
    let config = json!({"tsw2cm": {"ctr": "5Mb/s", "avg-interval": "100ms"}});
    assert_eq!(constant_rate(config, 4_000, 10)[0], 40_000_000);
}
