//! [`judge`]: whether classes are fit for their roles, decided with confidence intervals over replications.
//!
//! The playground and Python use this module, so their answers are equal. The module reads the JSON of
//! summaries. `docs/verdicts.md` lists the bounds and their sources.

use std::collections::BTreeMap;

use perhop_scenario::Role;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::statistics::widened_to_99;

/// The minimum R of calls. Below this value, many users are dissatisfied (ITU-T G.109, Table 1).
pub const LEAST_R: f64 = 70.0;
/// The fraction of a required rate that is sufficient, because the last packets of a run are still in queues.
const OBTAINED: f64 = 0.95;
/// A class with a guaranteed rate starves if it receives less than this fraction of its offered traffic.
const SERVED: f64 = 0.5;
/// A class without a guaranteed rate starves if it receives less than this fraction of its offered traffic.
const SERVED_WITHOUT: f64 = 0.1;

/// A mean over the replications, with its 95 % confidence interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Figure {
    /// The mean.
    pub mean: f64,
    /// The ends of the interval; `None` with one replication.
    pub ci95: Option<[f64; 2]>,
}

/// Measurements of a class that are not in the result tables.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
pub struct Known {
    /// R of calls through the class.
    pub r: Option<Figure>,
    /// The guaranteed rate of the queue of the class, bits per second, if it is known.
    pub guaranteed_bps: Option<f64>,
}

/// Whether a class is fit for its role.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Answer {
    /// The class satisfies every bound.
    Fit,
    /// The class violates a bound.
    Unfit,
    /// A bound is inside the 99 % confidence interval of its figure. With a 95 % interval, a figure that
    /// equals its bound was judged wrongly for two of fifty seeds.
    Undecided,
}

/// A figure compared with its bound.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Compared {
    /// The measured quantity as text.
    pub words: &'static str,
    /// The unit: `s`, `%`, `b/s`, or empty.
    pub unit: &'static str,
    /// The measured value.
    pub figure: Figure,
    /// The ends of the 99 % confidence interval of the figure, which are compared with the bound; `None` with
    /// one replication.
    pub range: Option<[f64; 2]>,
    /// The bound, in the same unit.
    pub bound: f64,
    /// Whether the bound is a lower bound.
    pub is_least: bool,
    /// The result.
    pub answer: Answer,
}

/// The fitness of a class for its role.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Fitness {
    /// The name of the class.
    pub class: String,
    /// The role of the class.
    pub role: Role,
    /// The answer; `None` if a figure was not measured or the class sent no packets.
    pub answer: Option<Answer>,
    /// The figures that determine the answer.
    pub compared: Vec<Compared>,
}

/// A figure compared with its bound; `None` if the figure was not measured.
type Requirement = Option<Compared>;

/// Judges each class of `summary` that has a role, in the order of the `roles` in the summary. `known`
/// contains further measurements of classes, by name.
pub fn judge(summary: &Value, known: &BTreeMap<String, Known>) -> Vec<Fitness> {
    let roles = summary["roles"].as_array().map_or(&[][..], Vec::as_slice);
    let judged = |value: &Value| {
        let class = value["class"].as_str()?;
        let role: Role = serde_json::from_value(value["role"].clone()).ok()?;
        let group = |table: &str| summary[table].as_array()?.iter().find(|row| row["class"] == class);
        let measured = Measured {
            class: group("classes")?,
            tcp: group("tcp"),
            video: group("videos"),
            known: known.get(class).copied().unwrap_or_default(),
            replications: summary["replications"].as_u64()? as usize,
            seconds: summary["duration_s"].as_f64()? - summary["warmup_s"].as_f64()?,
        };
        let requirements = measured.requirements(role);
        let answer = if measured.is_silent() { None } else { combine_answers(&requirements) };
        let compared = requirements.into_iter().flatten().collect();
        Some(Fitness { class: class.to_owned(), role, answer, compared })
    };
    roles.iter().filter_map(judged).collect()
}

/// Combines the answers for all figures of a class. One violated bound makes the class unfit. Otherwise,
/// there is no answer if a figure was not measured.
fn combine_answers(requirements: &[Requirement]) -> Option<Answer> {
    let has = |answer| requirements.iter().flatten().any(|figure| figure.answer == answer);
    match (has(Answer::Unfit), has(Answer::Undecided)) {
        (true, _) => Some(Answer::Unfit),
        _ if requirements.iter().any(Option::is_none) => None,
        (_, true) => Some(Answer::Undecided),
        _ => Some(Answer::Fit),
    }
}

/// The measurements of a class.
struct Measured<'v> {
    class: &'v Value,
    tcp: Option<&'v Value>,
    video: Option<&'v Value>,
    known: Known,
    replications: usize,
    seconds: f64,
}

impl Measured<'_> {
    fn requirements(&self, role: Role) -> Vec<Requirement> {
        match role {
            // ITU-T G.107, G.109.
            Role::Voice => vec![self.at_least(self.known.r, "R", "", LEAST_R)],
            // Cisco, Enterprise QoS SRND 3.3 (2005), chapter 1. The bound on the delay is from G.114.
            Role::Video => {
                let jitter = self.column_at_most("ipdv_mean_abs_s", "jitter", "s", 0.030);
                vec![self.loss(1.0), self.column_at_most("delay_p99_s", "p99 of delay", "s", 0.150), jitter]
            }
            Role::Streaming => match self.video {
                // The bound is perhop's own, because ITU-T G.1010 has no bound for stalls.
                Some(video) => vec![self.at_most(figure(video, "stalled_percent"), "stalled", "%", 1.0)],
                // Cisco, Enterprise QoS SRND 3.3 (2005), chapter 1.
                None => vec![self.loss(5.0), self.column_at_most("delay_p99_s", "p99 of delay", "s", 5.0)],
            },
            // ITU-T Y.1541, class 2.
            Role::Signaling | Role::Control => self.short_exchanges(0.1),
            // ITU-T Y.1541, class 3.
            Role::Transactions => self.short_exchanges(0.4),
            Role::Bulk => self.bulk(),
            Role::BestEffort => vec![self.is_not_starved()],
            // RFC 8622: the class may starve.
            Role::Scavenger => Vec::new(),
        }
    }

    /// Returns the requirements on short exchanges: the completion time for TCP, and the bounds of a class of
    /// Y.1541 with a mean delay of `mean_delay_s` for datagrams.
    fn short_exchanges(&self, mean_delay_s: f64) -> Vec<Requirement> {
        let Some(tcp) = self.tcp else {
            // ITU-T Y.1541, Table 1: IPLR 1e-3.
            return vec![
                self.column_at_most("delay_mean_s", "mean delay", "s", mean_delay_s),
                self.loss(0.1),
            ];
        };
        match figure(tcp, "completion_p95_s") {
            // ITU-T G.1010, Table I.2: transaction services take at most 4 s.
            Some(completion) => vec![self.at_most(Some(completion), "p95 of completion", "s", 4.0)],
            None => self.bulk(),
        }
    }

    /// Returns the requirement on file transfers: the class obtains its guaranteed rate, or the offered rate
    /// if this is lower. Without a guaranteed rate, the loss may be at most 5 %. At this loss, the
    /// square-root formula of Mathis et al. (1997) gives a TCP window of 5.5 segments.
    fn bulk(&self) -> Vec<Requirement> {
        let Some(guaranteed) = self.known.guaranteed_bps else { return vec![self.loss(5.0)] };
        vec![self.throughput(OBTAINED * guaranteed.min(self.offered_bps()))]
    }

    /// Returns the requirement that the class does not starve.
    fn is_not_starved(&self) -> Requirement {
        let offered = self.offered_bps();
        let least = match self.known.guaranteed_bps {
            Some(guaranteed) => (SERVED * offered).min(OBTAINED * guaranteed),
            None => SERVED_WITHOUT * offered,
        };
        self.throughput(least)
    }

    fn throughput(&self, least_bps: f64) -> Requirement {
        self.at_least(figure(self.class, "throughput_bps"), "throughput", "b/s", least_bps)
    }
    fn loss(&self, bound: f64) -> Requirement {
        // If no packet was delivered or dropped, the loss is unknown, because all packets may still be in the
        // network.
        let decided = self.mean("delivered_packets") + self.mean("dropped_packets");
        let loss = figure(self.class, "dropped_percent").filter(|_| decided > 0.0);
        self.at_most(loss, "loss", "%", bound)
    }
    fn column_at_most(
        &self,
        column: &str,
        words: &'static str,
        unit: &'static str,
        bound: f64,
    ) -> Requirement {
        self.at_most(figure(self.class, column), words, unit, bound)
    }
    fn at_most(
        &self,
        figure: Option<Figure>,
        words: &'static str,
        unit: &'static str,
        bound: f64,
    ) -> Requirement {
        Some(self.compared(figure?, words, unit, bound, Side::AtMost))
    }
    fn at_least(
        &self,
        figure: Option<Figure>,
        words: &'static str,
        unit: &'static str,
        bound: f64,
    ) -> Requirement {
        Some(self.compared(figure?, words, unit, bound, Side::AtLeast))
    }
    fn compared(
        &self,
        figure: Figure,
        words: &'static str,
        unit: &'static str,
        bound: f64,
        side: Side,
    ) -> Compared {
        let range = figure.ci95.map(|ends| widened_to_99(ends, self.replications));
        let [low, high] = range.unwrap_or([figure.mean; 2]);
        let (is_exceeded, is_kept) = match side {
            Side::AtMost => (low > bound, high <= bound),
            Side::AtLeast => (high < bound, low >= bound),
        };
        let answer = match (is_exceeded, is_kept) {
            (true, _) => Answer::Unfit,
            (_, true) => Answer::Fit,
            _ => Answer::Undecided,
        };
        Compared { words, unit, figure, range, bound, is_least: side == Side::AtLeast, answer }
    }
    fn mean(&self, column: &str) -> f64 {
        self.class[column]["mean"].as_f64().unwrap_or(0.0)
    }
    fn offered_bps(&self) -> f64 {
        8.0 * self.mean("offered_bytes") / self.seconds
    }
    fn is_silent(&self) -> bool {
        self.mean("offered_packets") == 0.0
    }
}

/// The side of a bound on which a figure satisfies the bound.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    AtMost,
    AtLeast,
}

/// Returns the metric `column` in a group of the summary.
fn figure(group: &Value, column: &str) -> Option<Figure> {
    let ends = group[column]["ci95"].as_array().and_then(|ends| Some([ends[0].as_f64()?, ends[1].as_f64()?]));
    Some(Figure { mean: group[column]["mean"].as_f64()?, ci95: ends })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn around(mean: f64, half: f64) -> Value {
        json!({"mean": mean, "ci95": [mean - half, mean + half]})
    }

    /// Judges a class of 1000 packets with these further columns. `loss` percent of the packets are dropped.
    /// 1 Mb/s are offered, and 0.9 Mb/s arrive.
    fn judged(role: &str, loss: &Value, columns: &Value, tcp: &Value, known: Known) -> Fitness {
        let mut class = json!({
            "class": "c", "offered_packets": {"mean": 1000.0}, "offered_bytes": {"mean": 1.25e6},
            "delivered_packets": {"mean": 900.0}, "dropped_packets": {"mean": 50.0}, "dropped_percent": loss,
            "throughput_bps": {"mean": 0.9e6, "ci95": null},
        });
        class.as_object_mut().unwrap().extend(columns.as_object().unwrap().clone());
        let summary = json!({
            "roles": [{"class": "c", "role": role}], "classes": [class], "tcp": tcp, "duration_s": 12.0,
            "warmup_s": 2.0, "replications": 10,
        });
        judge(&summary, &BTreeMap::from([("c".to_owned(), known)])).remove(0)
    }

    fn answer(role: &str, loss: &Value, columns: &Value) -> Option<Answer> {
        judged(role, loss, columns, &json!([]), Known::default()).answer
    }

    #[test]
    fn an_interval_across_the_bound_leaves_it_undecided() {
        let voice = |mean, half| {
            let known = Known {
                r: Some(Figure { mean, ci95: Some([mean - half, mean + half]) }),
                ..Known::default()
            };
            judged("voice", &around(9.0, 0.0), &json!({}), &json!([]), known).answer
        };
        assert_eq!(voice(72.5, 12.5), Some(Answer::Undecided));
        assert_eq!(voice(90.0, 5.0), Some(Answer::Fit), "for any loss: R includes it");
        assert_eq!(voice(50.0, 5.0), Some(Answer::Unfit));
        assert_eq!(judged("voice", &around(9.0, 0.0), &json!({}), &json!([]), Known::default()).answer, None);
    }

    #[test]
    fn one_exceeded_bound_decides() {
        let columns = json!({"delay_mean_s": around(0.2, 0.01)});
        assert_eq!(answer("signaling", &around(0.1, 0.09), &columns), Some(Answer::Unfit));
        assert_eq!(answer("transactions", &around(0.1, 0.09), &columns), Some(Answer::Undecided));
        assert_eq!(answer("transactions", &around(0.05, 0.01), &columns), Some(Answer::Fit));
        assert_eq!(answer("transactions", &around(0.05, 0.01), &json!({})), None, "no delay was measured");
    }

    #[test]
    fn transactions_on_tcp_are_judged_by_their_completion() {
        let tcp = |seconds| json!([{"class": "c", "completion_p95_s": around(seconds, 0.1)}]);
        let answer = |seconds| {
            judged("transactions", &around(3.0, 0.1), &json!({}), &tcp(seconds), Known::default()).answer
        };
        assert_eq!((answer(3.0), answer(5.0)), (Some(Answer::Fit), Some(Answer::Unfit)));
    }

    /// The class receives 0.9 Mb/s of 1 Mb/s.
    #[test]
    fn bulk_is_judged_by_its_guaranteed_rate_and_best_effort_by_starvation() {
        let answer = |role, guaranteed_bps| {
            let known = Known { guaranteed_bps, ..Known::default() };
            judged(role, &around(6.0, 0.1), &json!({}), &json!([]), known).answer
        };
        assert_eq!(answer("bulk", Some(0.9e6)), Some(Answer::Fit));
        assert_eq!(answer("bulk", Some(2e6)), Some(Answer::Unfit), "it offers 1 Mb/s");
        assert_eq!(answer("bulk", None), Some(Answer::Unfit), "loss above 5 %");
        assert_eq!(answer("best-effort", None), Some(Answer::Fit));
        assert_eq!(answer("best-effort", Some(5e6)), Some(Answer::Fit));
        assert_eq!(answer("scavenger", Some(5e6)), Some(Answer::Fit));
    }
}
