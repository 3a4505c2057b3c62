//! [`Runner`]: a run in steps, and the data of its charts.

use std::collections::BTreeMap;
use std::path::Path;

use perhop_bounds::network;
use perhop_bounds::report::Report;
use perhop_measure::Results;
use perhop_measure::counters::{DelayStatistics, Intervals, Samples};
use perhop_measure::emodel::category;
use perhop_measure::exercise::Exercise;
use perhop_measure::fitness::{self, Figure, Known};
use perhop_measure::guarantees::guaranteed_rates;
use perhop_measure::places::Place;
use perhop_measure::telephony::{self, Call, Telephony};
use perhop_qos::conditioner::Count;
use perhop_qos::units::Time;
use perhop_qos::verdict::DropCause;
use perhop_scenario::queue_description::queue_descriptions;
use perhop_scenario::{Codec, JitterBuffer, MeasureConfig, QueueProbeConfig, Scenario};
use perhop_sim::playback::Playback;
use perhop_sim::stepwise::Stepwise;
use serde_json::{Value, json};

use crate::answer::{Answer, Column};
use crate::check::load;
use crate::csv::csv;

/// A run in steps.
#[derive(Debug)]
pub(crate) struct Runner {
    scenario: Scenario,
    seed: u64,
    every: Time,
    /// The number of intervals that the page has received.
    seen: usize,
    /// The number of samples that the page has received, by probe.
    seen_samples: Vec<usize>,
    run: Option<Stepwise>,
    results: Option<Results>,
}

impl Runner {
    /// Prepares a run of the scenario in `text`. The reply describes the run for the page.
    pub(crate) fn start(text: &str, seed: Option<u64>, intervals: u32) -> Result<(Runner, Answer), Answer> {
        let loaded = load(text)?;
        let seed = seed.unwrap_or(loaded.resolved.seed);
        let mut scenario = loaded.resolved;
        let every = sample(&mut scenario, intervals);
        let unbuildable = Answer::unbuildable;
        let run = Stepwise::new(&scenario, Path::new("."), seed, every).map_err(unbuildable)?;
        let ports = Playback::new(&scenario, Path::new("."), seed, 0).map_err(unbuildable)?;
        let ports: Vec<Value> =
            ports.ports().iter().map(|(name, queues)| json!({"name": name, "queues": queues})).collect();
        let probes: Vec<String> =
            scenario.measure.queues.iter().map(|probe| format!("{}->{}", probe.from, probe.to)).collect();
        let answer = Answer::ok(json!({
            "name": scenario.name, "seed": seed, "duration": scenario.duration.as_seconds(),
            "warmup": scenario.measure.warmup.as_seconds(), "every": every.as_seconds(),
            "classes": run.measurements().class_names, "ports": ports, "probes": probes,
            "causes": DropCause::ALL.map(DropCause::name), "queues": queue_descriptions(&scenario), "resolved": scenario,
            "warnings": loaded.warnings,
        }));
        let seen_samples = vec![0; scenario.measure.queues.len()];
        let runner = Runner { scenario, seed, every, seen: 0, seen_samples, run: Some(run), results: None };
        Ok((runner, answer))
    }
    /// Returns the resolved scenario of the run.
    pub(crate) fn scenario(&self) -> &Scenario {
        &self.scenario
    }
    /// Returns the seed of the run.
    pub(crate) fn seed(&self) -> u64 {
        self.seed
    }

    /// Runs up to `fraction` of the run. The reply has the chart data of the intervals since the last step.
    pub(crate) fn advance(&mut self, fraction: f64) -> Result<Answer, Answer> {
        let run = self.run.as_mut().ok_or_else(over)?;
        let duration = self.scenario.duration.as_picoseconds() as f64;
        let until = Time::from_picoseconds((duration * fraction.clamp(0.0, 1.0)) as u64);
        run.advance(until);
        let mut columns = intervals(run, self.every, self.seen, until);
        self.seen += columns.first().map_or(0, |times| times.values.len());
        for (probe, seen) in self.seen_samples.iter_mut().enumerate() {
            columns.extend(samples(run, probe, *seen));
            *seen = run.queue_samples(probe).len();
        }
        let about = json!({"time": until.as_seconds(), "packet_hops": run.packet_hops()});
        Ok(Answer::ok(about).with(columns))
    }

    /// Runs to the end. The reply has the names of the tables and the summary, which has the same bytes as
    /// the summary of `perhop run`.
    pub(crate) fn finish(&mut self) -> Result<Answer, Answer> {
        let results = self.run.take().ok_or_else(over)?.finish();
        let tables: Vec<&str> = results.tables.iter().map(|table| table.name).collect();
        let answer = Answer::ok(json!({"summary": results.summary.to_json(), "tables": tables}));
        self.results = Some(results);
        Ok(answer)
    }

    /// Judges the completed run of the scenario in `text` by `exercise`, which starts from `start`.
    pub(crate) fn judge(&self, exercise: &Exercise, start: &str, text: &str) -> Result<Answer, Answer> {
        let results = self
            .results
            .as_ref()
            .ok_or_else(|| Answer::failed("the run has not ended", "ask for `finish`"))?;
        let resolved = |text: &str| load(text).map(|loaded| json!(loaded.resolved));
        let judgment = exercise.judge(&resolved(start)?, &resolved(text)?, &json!(results.summary));
        Ok(Answer::ok(judgment))
    }

    /// Returns the bounds that the scenario guarantees for any traffic within its contract.
    pub(crate) fn bounds(&self) -> Result<Answer, Answer> {
        let found = network::bounds(&self.scenario, Path::new(".")).map_err(Answer::unbuildable)?;
        Ok(Answer::ok(Report::from_bounds(&self.scenario, &found)))
    }

    /// Rates calls through the classes of a completed run, with an adaptive de-jitter buffer. If a class has
    /// its own calls, the rating is that of these calls. Judges each class by its role.
    pub(crate) fn calls(&self, codec: Codec, queues: &BTreeMap<String, Place>) -> Result<Answer, Answer> {
        let table = |name: &str| self.results.as_ref().and_then(|results| results.table(name));
        let missing = || Answer::failed("the run has not ended", "ask for `finish`");
        let classes = table("classes").ok_or_else(missing)?;
        let histogram = table("histogram").ok_or_else(missing)?;
        let own = telephony::own_calls(table("calls").ok_or_else(missing)?);
        let jitter_buffer = JitterBuffer::default();
        let telephony =
            Telephony { codec: codec.planning(), jitter_buffer, burst_ratio: 1.0, advantage: 0.0 };
        let rows = telephony::delivered(classes, histogram);
        let calls = telephony::rate_calls(&rows, &own, &telephony);
        // The page runs one replication, so only the first one has a rating.
        let rated = |call: &Call| call.rated.first().copied().unwrap_or_default();
        let summary = json!(self.results.as_ref().map(|results| &results.summary));
        let guaranteed = guaranteed_rates(&self.scenario, &summary, queues);
        let known: BTreeMap<String, Known> = calls
            .iter()
            .map(|call| {
                let r = rated(call).r.map(|mean| Figure { mean, ci95: None });
                (call.class.to_owned(), Known { r, guaranteed_bps: guaranteed.get(call.class).copied() })
            })
            .collect();
        let fitness = fitness::judge(&summary, &known);
        let calls = calls.into_iter().map(|call| {
            let rating = rated(&call);
            json!({
                "fitness": fitness.iter().find(|fitness| fitness.class == call.class),
                "class": call.class, "r": rating.r, "mos": rating.mos, "mouth_to_ear_s": rating.mouth_to_ear_s,
                "late_percent": rating.late_percent, "remark": call.remark,
                "category": rating.r.map(|r| category(r).0),
            })
        });
        Ok(Answer::ok(calls.collect::<Vec<Value>>()))
    }

    /// Returns the table `name` of a completed run as CSV.
    pub(crate) fn table(&self, name: &str) -> Result<Answer, Answer> {
        let table = self.results.as_ref().and_then(|results| results.table(name));
        let missing = || Answer::failed(&format!("there is no table {name}"), "ask for `finish`");
        Ok(Answer::ok(json!({"csv": csv(table.ok_or_else(missing)?)})))
    }
}

fn over() -> Answer {
    Answer::failed("the run has ended", "send `start`")
}

/// Adds samples of throughput, delay and the queues of interfaces with a policy to the measurements of
/// `scenario`. Returns the interval. Sampling does not affect the run.
fn sample(scenario: &mut Scenario, intervals: u32) -> Time {
    let measured = scenario.duration.saturating_sub(scenario.measure.warmup).as_picoseconds();
    let every = Time::from_picoseconds((measured / u64::from(intervals.max(1))).max(1));
    let ends: Vec<[String; 2]> = watched(scenario);
    let MeasureConfig { throughput_every, delay_every, queues, .. } = &mut scenario.measure;
    (*throughput_every, *delay_every) = (Some(every), Some(every));
    for [from, to] in ends {
        match queues.iter_mut().find(|probe| probe.from == from && probe.to == to) {
            Some(probe) => probe.every = every,
            None => queues.push(QueueProbeConfig { from, to, every }),
        }
    }
    every
}

/// Returns the interfaces whose queues are sampled: all interfaces with an output policy or, if no interface
/// has one, the interface of the slowest link.
fn watched(scenario: &Scenario) -> Vec<[String; 2]> {
    let mut ends = Vec::new();
    for link in &scenario.links {
        let [a, b] = &link.between;
        for (from, to) in [(a, b), (b, a)] {
            let policy = link.interfaces.get(from).and_then(|interface| interface.output.as_ref());
            let queues = policy.and_then(|name| scenario.policies.get(name)?.queueing.as_ref());
            if queues.is_some() && !scenario.hosts.contains_key(from) {
                ends.push([from.clone(), to.clone()]);
            }
        }
    }
    if ends.is_empty()
        && let Some(slowest) = scenario.links.iter().min_by_key(|link| link.rate)
    {
        let [a, b] = &slowest.between;
        let is_host = scenario.hosts.contains_key(a);
        ends.push(if is_host { [b.clone(), a.clone()] } else { [a.clone(), b.clone()] });
    }
    ends
}

/// Returns the intervals from number `seen` on that have ended by `until`: `time`, and by class number
/// `throughput/0` (bits per second), `delay/0` (mean, seconds), `worst/0` (greatest, seconds), `loss/0`
/// (dropped packets as a fraction of received and dropped packets).
fn intervals(run: &mut Stepwise, every: Time, seen: usize, until: Time) -> Vec<Column> {
    let classes = 0..run.measurements().class_names.len();
    let dropped: Vec<Vec<u64>> =
        classes.map(|class| run.dropped(class).get(seen..).unwrap_or_default().to_vec()).collect();
    let samples = run.measurements().samples.as_deref();
    let Some(Samples { throughput: Some(throughput), delays, .. }) = samples else { return Vec::new() };
    let shown: Vec<(Time, &Vec<Count>)> =
        throughput.iter().skip(seen).take_while(|(ends, _)| *ends <= until).collect();
    let mut columns = vec![Column::new("time", shown.iter().map(|(ends, _)| ends.as_seconds()))];
    for (class, delays) in delays.iter().enumerate() {
        let counts = || shown.iter().map(|(_, counts)| counts[class]);
        let rates = counts().map(|count| count.bytes as f64 * 8.0 / every.as_seconds());
        columns.push(Column::new(format!("throughput/{class}"), rates));
        columns.extend(delay_columns(delays, class, seen, shown.len()));
        let dropped = |place: usize| dropped[class].get(place).copied().unwrap_or(0) as f64;
        let loss = counts().enumerate().map(|(place, count)| {
            let (lost, received) = (dropped(place), count.packets as f64);
            lost / (lost + received)
        });
        columns.push(Column::new(format!("loss/{class}"), loss));
    }
    columns
}

fn delay_columns(
    delays: &Intervals<DelayStatistics>,
    class: usize,
    seen: usize,
    count: usize,
) -> [Column; 2] {
    let shown = || delays.iter().skip(seen).take(count).map(|(_, delay)| delay);
    let worst = shown().map(|delay| match delay.packets {
        0 => f64::NAN,
        _ => delay.greatest.as_seconds(),
    });
    [
        Column::new(format!("delay/{class}"), shown().map(DelayStatistics::mean)),
        Column::new(format!("worst/{class}"), worst),
    ]
}

/// Returns the samples of probe number `probe`, starting at number `seen`: `queue-time/0`, and by queue
/// number `queue/0/1`, packets.
fn samples(run: &Stepwise, probe: usize, seen: usize) -> Vec<Column> {
    let samples = run.queue_samples(probe).get(seen..).unwrap_or_default();
    // A queue with several averages has one row per average; the first row is sufficient.
    let rows: Vec<_> = samples.iter().filter(|sample| sample.precedence == 0).collect();
    let first = rows.iter().filter(|sample| sample.queue == 0);
    let mut columns =
        vec![Column::new(format!("queue-time/{probe}"), first.map(|sample| sample.time.as_seconds()))];
    let most = rows.iter().map(|sample| sample.queue).max().map_or(0, |queue| queue + 1);
    for queue in 0..most {
        let of_queue = rows.iter().filter(|sample| sample.queue == queue);
        columns.push(Column::new(
            format!("queue/{probe}/{queue}"),
            of_queue.map(|sample| sample.packets as f64),
        ));
    }
    columns
}
