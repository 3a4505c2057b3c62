//! [`Player`]: the packets at a port of the run, for the drawing.

use std::path::Path;

use perhop_qos::units::Time;
use perhop_scenario::Scenario;
use perhop_sim::playback::{Playback, Span, Way};
use serde_json::json;

use crate::answer::{Answer, Column};

/// The run again, packet by packet.
#[derive(Debug)]
pub(crate) struct Player {
    scenario: Scenario,
    seed: u64,
    playback: Option<(usize, Playback)>,
}

impl Player {
    pub(crate) fn new(scenario: Scenario, seed: u64) -> Player {
        Player { scenario, seed, playback: None }
    }

    /// What became of the packets at port number `port` between `from` and `until`, in seconds; the span ends
    /// earlier once there are `enough` of them.
    pub(crate) fn packets(
        &mut self,
        port: usize,
        from: f64,
        until: f64,
        enough: usize,
    ) -> Result<Answer, Answer> {
        let unbuildable = Answer::unbuildable;
        let playback = match self.playback.take() {
            Some((known, playback)) if known == port => playback,
            _ => Playback::new(&self.scenario, Path::new("."), self.seed, port).map_err(unbuildable)?,
        };
        let (_, playback) = self.playback.insert((port, playback));
        let span = playback.span(time(from), time(until), enough).map_err(unbuildable)?;
        let about = json!({
            "from": span.from.as_seconds(), "until": span.until.as_seconds(), "packets": span.ways.len(),
        });
        Ok(Answer::of(about).with(columns(&span)))
    }
}

fn time(seconds: f64) -> Time {
    Time::from_picoseconds((seconds.max(0.0) * 1e12) as u64)
}

fn columns(Span { ways, .. }: &Span) -> Vec<Column> {
    let column = |name: &str, value: fn(&Way) -> f64| Column::new(name, ways.iter().map(value));
    let seconds = |time: Option<Time>| time.map_or(f64::NAN, Time::as_seconds);
    let maybe = |number: Option<u32>| number.map_or(f64::NAN, f64::from);
    vec![
        column("number", |way| f64::from(way.number)),
        column("flow", |way| f64::from(way.flow)),
        Column::new("class", ways.iter().map(|way| maybe(way.class))),
        column("length", |way| f64::from(way.length)),
        column("dscp", |way| f64::from(way.dscp.value())),
        column("arrived", |way| way.arrived.as_seconds()),
        Column::new("queue", ways.iter().map(|way| maybe(way.queue))),
        column("precedence", |way| f64::from(way.precedence)),
        column("marked", |way| f64::from(u8::from(way.marked))),
        Column::new("dequeued", ways.iter().map(|way| seconds(way.left.map(|(at, _)| at)))),
        Column::new("starts", ways.iter().map(|way| seconds(way.left.map(|(_, sent)| sent.starts)))),
        Column::new("ends", ways.iter().map(|way| seconds(way.left.map(|(_, sent)| sent.ends)))),
        Column::new("dropped", ways.iter().map(|way| seconds(way.dropped.map(|(at, _)| at)))),
        column("cause", |way| way.dropped.map_or(f64::NAN, |(_, cause)| cause.index() as f64)),
    ]
}
