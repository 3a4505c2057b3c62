//! [`Player`]: the packets at a port of the run, for drawing.

use std::path::Path;

use perhop_qos::units::Time;
use perhop_scenario::Scenario;
use perhop_sim::playback::Playback;
use serde_json::json;

use crate::answer::{Answer, Column};

/// A repetition of the run, packet by packet.
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

    /// Returns the fates of the packets at port number `port` between `from` and `until`, seconds. The span
    /// ends early after `enough` packets.
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
        let columns = span.columns().into_iter().map(|(name, values)| Column::new(name, values));
        Ok(Answer::ok(about).with(columns.collect()))
    }
}

fn time(seconds: f64) -> Time {
    Time::from_picoseconds((seconds.max(0.0) * 1e12) as u64)
}
