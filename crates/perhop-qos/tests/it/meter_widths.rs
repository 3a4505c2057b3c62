//! Meters count in units that depend on their rate, and use 64-bit words if these are exact. The tests
//! compare them with plain 128-bit arithmetic in 10⁻¹² bit. Rates, bursts, silences and lengths are below and
//! above each limit.

use crate::plain::meters::{Arrival, PlainMeter};
use perhop_qos::random::Streams;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::profile::{arrivals_of, bits, bytes, colors, mode};

/// Checks that the meter of `config` assigns the same colors to `arrivals` as plain arithmetic.
fn compare(config: Value, arrivals: &[Arrival]) -> Result<(), TestCaseError> {
    let found = colors(config.clone(), arrivals);
    let mut plain = PlainMeter::from_config(&serde_json::from_value(config).unwrap(), &Streams::new(1, 0));
    for (index, (arrival, found)) in arrivals.iter().zip(found).enumerate() {
        let Some(expected) = plain.color(arrival) else { return Ok(()) };
        prop_assert_eq!(found, expected, "packet {}", index);
    }
    Ok(())
}

fn arrivals() -> impl Strategy<Value = Vec<Arrival>> {
    // Gaps are from 0 to months, because a run can last 213 days.
    let gap = prop_oneof![
        2 => Just(0_u64), 4 => 1_u64..5_000, 6 => 1_u64..5_000_000_000, 2 => 1_u64..10_000_000_000_000_000,
        1 => 1_u64..=u64::MAX,
    ];
    let length = prop_oneof![8 => 1_u32..=1500, 2 => 1_u32..=3_000_000, 1 => 1_u32..=u32::MAX];
    arrivals_of(gap, length)
}

fn rate() -> impl Strategy<Value = u64> {
    let round = (1_u64..=400, 0_u32..10).prop_map(|(digits, zeros)| digits * 10_u64.pow(zeros));
    prop_oneof![4 => round, 4 => 1_u64..400_000_000_000, 1 => 1_u64..100, 1 => 1_u64..u64::MAX / 2]
}
/// If the rate has no common factor with 8·10¹², a bucket of 2,305,843 bytes is the largest that fits in 64
/// bits.
fn burst() -> impl Strategy<Value = u64> {
    prop_oneof![
        6 => 1_u64..100_000, 4 => 2_305_743_u64..2_305_943, 2 => 1_152_800_u64..1_153_000, 2 => 1_u64..8 << 30,
        1 => 1_u64..=u64::MAX,
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1024))]

    #[test]
    fn token_bucket(arrivals in arrivals(), rate in rate(), burst in burst()) {
        compare(json!({"token-bucket": {"rate": bits(rate), "burst": bytes(burst)}}), &arrivals)?;
    }

    #[test]
    fn packet_rate(arrivals in arrivals(), rate in 1_u64..=1_000_000_000, burst in 1_u64..=1_000_000) {
        let (rate, burst) = (format!("{rate} packets/s"), format!("{burst} packets"));
        compare(json!({"packet-rate": {"rate": rate, "burst": burst, "excess": "yellow"}}), &arrivals)?;
    }

    #[test]
    fn token_bucket_with_debt(
        arrivals in arrivals(), rate in rate(), burst in burst(), limit in burst(),
    ) {
        let limits = json!({"rate": bits(rate), "burst": bytes(burst), "debt-limit": bytes(limit)});
        compare(json!({"token-bucket-with-debt": limits}), &arrivals)?;
    }

    #[test]
    fn single_rate_tcm(
        arrivals in arrivals(), cir in rate(), cbs in burst(), ebs in burst(), mode in mode(), early in any::<bool>(),
    ) {
        let kind = if early { "early-tcm" } else { "single-rate-tcm" };
        compare(json!({kind: {"cir": bits(cir), "cbs": bytes(cbs), "ebs": bytes(ebs), "mode": mode}}), &arrivals)?;
    }

    #[test]
    fn two_rate_tcm(
        arrivals in arrivals(), cir in rate(), more in rate(), cbs in burst(), pbs in burst(), mode in mode(),
    ) {
        let rates = json!({"cir": bits(cir), "cbs": bytes(cbs), "pir": bits(cir + more), "pbs": bytes(pbs), "mode": mode});
        compare(json!({"two-rate-tcm": rates}), &arrivals)?;
    }

    #[test]
    fn rfc4115(
        arrivals in arrivals(), cir in rate(), eir in rate(), cbs in burst(), ebs in burst(), mode in mode(),
    ) {
        let rates = json!({"cir": bits(cir), "cbs": bytes(cbs), "eir": bits(eir), "ebs": bytes(ebs), "mode": mode});
        compare(json!({"rfc4115": rates}), &arrivals)?;
    }

    #[test]
    fn rate_based(
        arrivals in arrivals(), levels in prop::collection::vec((rate(), burst()), 1..8), mode in mode(),
    ) {
        let buckets: Vec<_> =
            levels.iter().map(|(rate, burst)| json!({"rate": bits(*rate), "burst": bytes(*burst)})).collect();
        compare(json!({"rate-based": {"buckets": buckets, "mode": mode}}), &arrivals)?;
    }

    /// Both meters use the same random numbers. Cases that depend on the last digits of the estimate are
    /// skipped.
    #[test]
    fn time_sliding_windows(
        arrivals in arrivals(), ctr in rate(), more in rate(), interval in 1_u64..10_000, two_colors in any::<bool>(),
    ) {
        let interval = format!("{interval}ms");
        compare(if two_colors {
            json!({"tsw2cm": {"ctr": bits(ctr), "avg-interval": interval}})
        } else {
            json!({"tsw3cm": {"ctr": bits(ctr), "ptr": bits(ctr + more), "avg-interval": interval}})
        }, &arrivals)?;
    }
}
