//! Meters count in words of 64 bits where those are exact, in units of their rate: held here against the
//! plain arithmetic of 128 bits and 10⁻¹² bit, for rates, bursts, silences and lengths on both sides of every
//! limit.

mod profile;

use perhop_qos::{Color, Time};
use proptest::prelude::*;
use serde_json::json;

use self::profile::{Arrival, BYTE, arrivals_of, bits, bytes, colors, mode};

/// One bucket, in 10⁻¹² bit.
struct Plain {
    rate: u128,
    size: u128,
    tokens: u128,
    last: u128,
}

impl Plain {
    fn full(rate: u64, burst: u64) -> Plain {
        let size = u128::from(burst) * BYTE;
        Plain { rate: rate.into(), size, tokens: size, last: 0 }
    }
    fn earned(&mut self, now: Time) -> u128 {
        let now = u128::from(now.as_picoseconds());
        let earned = self.rate * now.saturating_sub(self.last);
        self.last = self.last.max(now);
        earned
    }
    /// Adds `earned`, and returns what did not fit.
    fn add(&mut self, earned: u128) -> u128 {
        let fits = earned.min(self.size - self.tokens);
        self.tokens += fits;
        earned - fits
    }
    fn at(&mut self, now: Time) -> &mut Plain {
        let earned = self.earned(now);
        self.add(earned);
        self
    }
    fn take(&mut self, length: u32) -> bool {
        let cost = u128::from(length) * BYTE;
        let takes = cost <= self.tokens;
        self.tokens -= if takes { cost } else { 0 };
        takes
    }
}

/// What `judge` says of each packet; in a color-blind meter they are all green.
fn plainly(arrivals: &[Arrival], mode: &str, mut judge: impl FnMut(Arrival) -> Color) -> Vec<Color> {
    let blind = mode == "color-blind";
    let seen =
        |arrival: &Arrival| Arrival { color: if blind { Color::GREEN } else { arrival.color }, ..*arrival };
    arrivals.iter().map(|arrival| judge(seen(arrival))).collect()
}

/// What RFC 2697 and RFC 4115 say of a packet of this color, where both buckets are filled.
fn committed_first(color: Color, length: u32, [committed, excess]: [&mut Plain; 2]) -> Color {
    if color == Color::GREEN && committed.take(length) {
        Color::GREEN
    } else if color <= Color::YELLOW && excess.take(length) {
        Color::YELLOW
    } else {
        color.max(Color::RED)
    }
}

/// The committed access rate as its description goes: tokens in 10⁻¹² bit, below 0 where they are owed.
fn committed_access_rate(arrivals: &[Arrival], rate: u64, burst: u64, limit: u64) -> Vec<Color> {
    let units = |bytes: u64| i128::from(bytes) * BYTE.cast_signed();
    let (mut tokens, mut compounded, mut last) = (units(burst), 0, Time::ZERO);
    let judge = |arrival: &Arrival| {
        let elapsed = i128::from((arrival.at - last).as_picoseconds());
        tokens = units(burst).min((i128::from(rate) * elapsed).saturating_add(tokens));
        last = arrival.at;
        let after = tokens - units(arrival.length.into());
        if after >= 0 {
            tokens = after;
            return Color::GREEN;
        }
        if compounded - after > units(limit) {
            compounded = 0;
            return Color::RED;
        }
        (tokens, compounded) = (after, compounded - after);
        Color::GREEN
    };
    arrivals.iter().map(judge).collect()
}

fn arrivals() -> impl Strategy<Value = Vec<Arrival>> {
    // Down to back to back, up to months: a run can be 213 days long.
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
/// With a rate that shares no factor with 8·10¹², a bucket of 2,305,843 bytes is the largest of 64 bits.
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
        let mut plain = Plain::full(rate, burst);
        let expected = plainly(&arrivals, "color-blind", |arrival| {
            if plain.at(arrival.at).take(arrival.length) { Color::GREEN } else { Color::RED }
        });
        let config = json!({"token-bucket": {"rate": bits(rate), "burst": bytes(burst)}});
        prop_assert_eq!(colors(config, &arrivals), expected);
    }

    #[test]
    fn token_bucket_with_debt(
        arrivals in arrivals(), rate in rate(), burst in burst(), limit in burst(),
    ) {
        let config = json!({"token-bucket-with-debt":
            {"rate": bits(rate), "burst": bytes(burst), "debt-limit": bytes(limit)}});
        prop_assert_eq!(colors(config, &arrivals), committed_access_rate(&arrivals, rate, burst, limit));
    }

    #[test]
    fn single_rate_tcm(
        arrivals in arrivals(), cir in rate(), cbs in burst(), ebs in burst(), mode in mode(),
    ) {
        let (mut committed, mut excess) = (Plain::full(cir, cbs), Plain::full(cir, ebs));
        let expected = plainly(&arrivals, mode, |Arrival { at, length, color }| {
            let earned = committed.earned(at);
            excess.add(committed.add(earned));
            committed_first(color, length, [&mut committed, &mut excess])
        });
        let config = json!({"single-rate-tcm":
            {"cir": bits(cir), "cbs": bytes(cbs), "ebs": bytes(ebs), "mode": mode}});
        prop_assert_eq!(colors(config, &arrivals), expected);
    }

    #[test]
    fn two_rate_tcm(
        arrivals in arrivals(), cir in rate(), more in rate(), cbs in burst(), pbs in burst(), mode in mode(),
    ) {
        let pir = cir + more;
        let (mut committed, mut peak) = (Plain::full(cir, cbs), Plain::full(pir, pbs));
        let expected = plainly(&arrivals, mode, |Arrival { at, length, color }| {
            committed.at(at);
            if color >= Color::RED || !peak.at(at).take(length) {
                color.max(Color::RED)
            } else if color == Color::GREEN && committed.take(length) {
                Color::GREEN
            } else {
                Color::YELLOW
            }
        });
        let config = json!({"two-rate-tcm":
            {"cir": bits(cir), "cbs": bytes(cbs), "pir": bits(pir), "pbs": bytes(pbs), "mode": mode}});
        prop_assert_eq!(colors(config, &arrivals), expected);
    }

    #[test]
    fn rfc4115(
        arrivals in arrivals(), cir in rate(), eir in rate(), cbs in burst(), ebs in burst(), mode in mode(),
    ) {
        let (mut committed, mut excess) = (Plain::full(cir, cbs), Plain::full(eir, ebs));
        let expected = plainly(&arrivals, mode, |Arrival { at, length, color }| {
            committed.at(at);
            excess.at(at);
            committed_first(color, length, [&mut committed, &mut excess])
        });
        let config = json!({"rfc4115":
            {"cir": bits(cir), "cbs": bytes(cbs), "eir": bits(eir), "ebs": bytes(ebs), "mode": mode}});
        prop_assert_eq!(colors(config, &arrivals), expected);
    }
}
