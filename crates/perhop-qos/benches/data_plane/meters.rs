//! Meters. Packets of 64 to 1500 bytes arrive every 600 ns, which is 10.4 Gb/s, and half of this rate is
//! committed. One meter measures all packets, or 4096 meters share them.

use std::hint::black_box;

use perhop_qos::meter::{
    ColorMode, Meter, MeterConfig, SingleRateTcmConfig, TokenBucketWithDebtConfig, TwoRateTcmConfig,
    TwoRateTcmRfc4115Config,
};
use perhop_qos::random::Streams;
use perhop_qos::{ByteSize, Color, FlowKey, Packet, Rate, Time};

use crate::{Arrival, Bench, MOST, TABLE, arrivals, most};

/// The picoseconds between packets.
const GAP: u64 = 600_000;
const COMMITTED: u64 = 5_000_000_000;
/// The peak rate (RFC 2698); `EXCESS` is the excess rate (RFC 4115).
const PEAK: u64 = 8_000_000_000;
const EXCESS: u64 = 3_000_000_000;

pub(crate) fn run(bench: &Bench) {
    for instances in [1, MOST] {
        let rate = |total: u64| Rate::from_bits_per_second(total / instances as u64);
        let (cir, pir, eir, burst) =
            (rate(COMMITTED), rate(PEAK), rate(EXCESS), ByteSize::from_bytes(30_000));
        let case = |name: String, config: MeterConfig| {
            bench.case(&format!("meter/{name}/{instances}"), || meter(&config, instances));
        };
        for (name, mode) in [("blind", ColorMode::ColorBlind), ("aware", ColorMode::ColorAware)] {
            let srtcm = SingleRateTcmConfig { cir, cbs: burst, ebs: burst, mode };
            case(format!("srtcm-{name}"), MeterConfig::SingleRateTcm(srtcm));
            let trtcm = TwoRateTcmConfig { cir, cbs: burst, pir, pbs: burst, mode };
            case(format!("trtcm-{name}"), MeterConfig::TwoRateTcm(trtcm));
            let rfc4115 = TwoRateTcmRfc4115Config { cir, cbs: burst, eir, ebs: burst, mode };
            case(format!("rfc4115-{name}"), MeterConfig::Rfc4115(rfc4115));
        }
        let (debt_limit, excess) = (ByteSize::from_bytes(60_000), Color::RED);
        let car = TokenBucketWithDebtConfig { rate: cir, burst, debt_limit, excess };
        case(String::from("car"), MeterConfig::TokenBucketWithDebt(car));
    }
}

/// Passes packets to `instances` meters and returns their colors.
fn meter(config: &MeterConfig, instances: usize) -> impl FnMut(usize) -> usize + use<> {
    let meter = config.build(&Streams::new(1, 0)).expect("the benchmark's meter can be built");
    let mut meters = most(meter);
    let arrivals = arrivals(1437, instances);
    let mut packet = black_box(Packet::new(FlowKey::default(), 0));
    move |n| {
        let Arrival { length, place, color } = arrivals[n % TABLE];
        packet.length = 64 + length;
        packet.color = color;
        let now = Time::from_picoseconds(n as u64 * GAP);
        meters[place as usize % MOST].measure(now, &packet).index()
    }
}
