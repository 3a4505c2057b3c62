//! Common parts of the property tests of meters: arriving packets, meters as written in policies, and the
//! colors.

use perhop_qos::meter::{AnyMeter, Meter, MeterConfig};
use perhop_qos::random::Streams;
use perhop_qos::{Color, FlowKey, Packet, Time};
use proptest::prelude::*;
use serde_json::Value;

use super::plain::meters::Arrival;

/// 1 to 79 packets. Each arrives `gap` picoseconds after the previous one and has `length` IP bytes and any
/// of four colors.
pub(crate) fn arrivals_of(
    gap: impl Strategy<Value = u64>,
    length: impl Strategy<Value = u32>,
) -> impl Strategy<Value = Vec<Arrival>> {
    prop::collection::vec((gap, length, 0_usize..4), 1..80).prop_map(|steps| {
        let mut at = Time::ZERO;
        let arrival = |(gap, length, color)| {
            at = at.saturating_add(Time::from_picoseconds(gap));
            Arrival { at, length, color: Color::new(color) }
        };
        steps.into_iter().map(arrival).collect()
    })
}

pub(crate) fn mode() -> impl Strategy<Value = &'static str> {
    prop_oneof![Just("color-blind"), Just("color-aware")]
}
pub(crate) fn bits(rate: u64) -> String {
    format!("{rate}b/s")
}
pub(crate) fn bytes(burst: u64) -> String {
    format!("{burst}B")
}

/// Creates the meter of `config`.
pub(crate) fn meter(config: Value) -> AnyMeter {
    serde_json::from_value::<MeterConfig>(config).unwrap().build(&Streams::new(1, 0)).unwrap()
}

pub(crate) fn measure(meter: &mut impl Meter, arrival: &Arrival) -> Color {
    let mut packet = Packet::new(FlowKey::default(), arrival.length);
    packet.color = arrival.color;
    meter.measure(arrival.at, &packet)
}

/// The colors that the meter of `config` assigns.
pub(crate) fn colors(config: Value, arrivals: &[Arrival]) -> Vec<Color> {
    let mut meter = meter(config);
    arrivals.iter().map(|arrival| measure(&mut meter, arrival)).collect()
}
