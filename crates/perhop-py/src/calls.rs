//! The E-model for Python: codecs, quality categories, and calls through the classes of a run.

use std::collections::BTreeMap;

use perhop_measure::emodel;
use perhop_measure::fitness::{self, Known};
use perhop_measure::telephony::{self, Delivered, OwnCall, Rated, Telephony};
use perhop_qos::units::Time;
use perhop_scenario::{Codec, JitterBuffer};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// A row of the classes of a run: replication, class, delivered and dropped packets, least and mean delay in
/// seconds.
type ClassRow = (u64, String, u64, u64, Option<f64>, Option<f64>);
/// A row of the calls of a run: replication, class, codec, R, MOS, mouth-to-ear delay in seconds, late and
/// missing packets in percent.
type CallRow = (u64, String, String, Option<f64>, Option<f64>, Option<f64>, Option<f64>, Option<f64>);
/// A row of the delay distributions of calls: replication, class, upper edge of a bin in seconds, packets.
type BinRow = (u64, String, f64, u64);
/// R, MOS, mouth-to-ear delay in seconds and late packets in percent, of one replication.
type RatedRow = (Option<f64>, Option<f64>, Option<f64>, Option<f64>);

/// Returns the name, the description, the seconds of speech per packet, and the seconds of coding and
/// packetization of every codec.
#[pyfunction]
pub(crate) fn codecs() -> Vec<(&'static str, &'static str, f64, f64)> {
    let planning = Codec::ALL.map(Codec::planning);
    planning
        .iter()
        .map(|codec| (codec.name, codec.words, codec.packet().as_seconds(), codec.delay().as_seconds()))
        .collect()
}

/// Returns the speech quality category of R by ITU-T G.109.
#[pyfunction]
pub(crate) fn speech_category(r: f64) -> &'static str {
    emodel::category(r).0
}

/// Judges the classes of the summary by their roles. `known_json` contains R and the guaranteed rate of each
/// class. Returns JSON: a list of classes, roles, verdicts and compared figures.
#[pyfunction]
pub(crate) fn judge_roles(summary_json: &str, known_json: &str) -> PyResult<String> {
    let invalid = |error: serde_json::Error| PyValueError::new_err(error.to_string());
    let known: BTreeMap<String, Known> = serde_json::from_str(known_json).map_err(invalid)?;
    let summary = serde_json::from_str(summary_json).map_err(invalid)?;
    serde_json::to_string(&fitness::judge(&summary, &known)).map_err(invalid)
}

/// Returns the class, the ratings by replication, and a remark for the call through each class, in the order
/// of `classes`.
#[pyfunction]
#[allow(clippy::needless_pass_by_value)] // Python hands over new lists
pub(crate) fn rate_calls(
    classes: Vec<ClassRow>,
    bins: Vec<BinRow>,
    own: Vec<CallRow>,
    codec: &str,
    fixed_s: Option<f64>,
    burst_ratio: f64,
    advantage: f64,
) -> PyResult<Vec<(String, Vec<RatedRow>, String)>> {
    let codec = Codec::named(codec).ok_or_else(|| PyValueError::new_err(format!("no codec {codec}")))?;
    let fixed = fixed_s.map(|seconds| JitterBuffer::Fixed(Time::from_seconds_f64(seconds)));
    let jitter_buffer = fixed.unwrap_or_default();
    let telephony = Telephony { codec: codec.planning(), jitter_buffer, burst_ratio, advantage };
    let mut by_class: BTreeMap<(u64, &str), Vec<(f64, u64)>> = BTreeMap::new();
    for (replication, class, edge, packets) in &bins {
        by_class.entry((*replication, class)).or_default().push((*edge, *packets));
    }
    let rows: Vec<Delivered> = classes
        .iter()
        .map(|(replication, class, delivered, dropped, least, mean)| Delivered {
            replication: *replication,
            class,
            delivered: *delivered,
            dropped: *dropped,
            least_s: least.unwrap_or(f64::NAN),
            mean_s: mean.unwrap_or(f64::NAN),
            bins: by_class.remove(&(*replication, class.as_str())).unwrap_or_default(),
        })
        .collect();
    let known = |value: Option<f64>| value.filter(|value| !value.is_nan());
    let own: Vec<OwnCall> = own
        .iter()
        .map(|(replication, class, codec, r, mos, mouth_to_ear, late, missing)| OwnCall {
            replication: *replication,
            class,
            codec,
            rated: Rated {
                r: known(*r),
                mos: known(*mos),
                mouth_to_ear_s: known(*mouth_to_ear),
                late_percent: known(*late),
                lost_percent: known(*missing).unwrap_or_default(),
            },
        })
        .collect();
    let calls = telephony::rate_calls(&rows, &own, &telephony).into_iter().map(|call| {
        let rated =
            call.rated.iter().map(|rated| (rated.r, rated.mos, rated.mouth_to_ear_s, rated.late_percent));
        (call.class.to_owned(), rated.collect(), call.remark)
    });
    Ok(calls.collect())
}
