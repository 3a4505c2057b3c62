//! [`Player`]: the packets at a port of the run, for drawing.

use std::path::Path;

use perhop_qos::units::Time;
use perhop_scenario::Scenario;
use perhop_sim::playback::{MemorySpan, Playback, PortLayout, QueueLayout};
use serde_json::{Value, json};

use crate::answer::{Answer, Column};

/// A repetition of the run, packet by packet.
#[derive(Debug)]
pub(crate) struct Player {
    scenario: Scenario,
    seed: u64,
    playback: Option<(usize, Playback)>,
    /// A separate repetition for the packet memory, because its spans differ from the spans of the packets.
    of_memory: Option<(usize, Playback)>,
}

impl Player {
    pub(crate) fn new(scenario: Scenario, seed: u64) -> Player {
        Player { scenario, seed, playback: None, of_memory: None }
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
        let playback = playback_of(&mut self.playback, &self.scenario, self.seed, port)?;
        let span = playback.span(time(from), time(until), enough).map_err(Answer::unbuildable)?;
        let about = json!({
            "from": span.from.as_seconds(), "until": span.until.as_seconds(), "packets": span.packets.len(),
        });
        let columns = span.columns().into_iter().map(|(name, values)| Column::new(name, values));
        Ok(Answer::ok(about).with(columns.collect()))
    }

    /// Returns the packet memory of port number `port` between `from` and `until`, seconds, in `samples`
    /// intervals; `null` if the port has no memory that queues share.
    pub(crate) fn memory(
        &mut self,
        port: usize,
        from: f64,
        until: f64,
        samples: u32,
    ) -> Result<Answer, Answer> {
        let playback = playback_of(&mut self.of_memory, &self.scenario, self.seed, port)?;
        let span = playback.memory(time(from), time(until), samples.max(1)).map_err(Answer::unbuildable)?;
        let Some(MemorySpan { layout, samples, drops }) = span else { return Ok(Answer::ok(Value::Null)) };
        let ports: Vec<Value> = layout.ports.iter().map(port_value).collect();
        let about = json!({"unit_bytes": layout.unit_bytes, "pool_units": layout.pool_units, "ports": ports});
        let drops = drops.into_iter().map(|(name, values)| Column::new(format!("drop/{name}"), values));
        let samples = samples.into_iter().map(|(name, values)| Column::new(name, values));
        Ok(Answer::ok(about).with(samples.chain(drops).collect()))
    }
}

fn port_value(port: &PortLayout) -> Value {
    let queue =
        |queue: &QueueLayout| json!({"name": queue.name, "reserved": queue.reserved, "most": queue.most});
    let queues: Vec<Value> = port.queues.iter().map(queue).collect();
    json!({"number": port.number, "name": port.name, "reserved": port.reserved, "queues": queues})
}

/// Returns the repetition in `place`, or a new one if that repetition is of another port.
fn playback_of<'p>(
    place: &'p mut Option<(usize, Playback)>,
    scenario: &Scenario,
    seed: u64,
    port: usize,
) -> Result<&'p mut Playback, Answer> {
    let playback = match place.take() {
        Some((known, playback)) if known == port => playback,
        _ => Playback::new(scenario, Path::new("."), seed, port).map_err(Answer::unbuildable)?,
    };
    let (_, playback) = place.insert((port, playback));
    Ok(playback)
}

fn time(seconds: f64) -> Time {
    Time::from_picoseconds((seconds.max(0.0) * 1e12) as u64)
}
