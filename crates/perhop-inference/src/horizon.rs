//! [`Horizon`]: the simulated time of an inferred scenario.

use crate::traffic::Traffic;

/// The maximum load, Mb/s, and the simulated time for loads up to it, milliseconds. The time is shorter for
/// higher loads, so that a run takes seconds.
const DURATIONS: [(f64, f64); 6] = [
    (2.5, 100_000.0),
    (25.0, 20_000.0),
    (250.0, 5_000.0),
    (2_500.0, 1_000.0),
    (25_000.0, 400.0),
    (f64::INFINITY, 100.0),
];
/// The warm-up, as a fraction of the run.
const WARMUP: f64 = 0.1;
/// The maximum warm-up, milliseconds.
const LONGEST_WARMUP: f64 = 2_000.0;
/// The length below which a run is short, milliseconds.
const SHORT: f64 = 1_000.0;
/// The warm-up of a short run, as a fraction of the run. It is larger, because TCP needs time to start.
const SHORT_WARMUP: f64 = 0.4;

/// The end of a run and the end of its warm-up, milliseconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Horizon {
    pub(crate) warmup: f64,
    pub(crate) milliseconds: f64,
}

impl Horizon {
    /// Returns the horizon of a run with this traffic.
    pub(crate) fn new(traffic: &Traffic) -> Horizon {
        let megabits = traffic.flows.iter().map(|flow| flow.rate).sum::<f64>() / 1e6;
        let usual = DURATIONS.iter().find(|(most, _)| megabits <= *most).map_or(100.0, |(_, usual)| *usual);
        let milliseconds = traffic.milliseconds.unwrap_or(usual);
        let part = if milliseconds <= SHORT { SHORT_WARMUP } else { WARMUP };
        let warmup =
            if traffic.milliseconds.is_some() { 0.0 } else { (part * milliseconds).min(LONGEST_WARMUP) };
        Horizon { warmup, milliseconds }
    }
}
