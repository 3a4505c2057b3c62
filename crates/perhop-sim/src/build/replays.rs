//! Conversion of recordings to flows and slots of the agenda.

use perhop_measure::Flow;
use perhop_qos::error::ConfigError;
use perhop_qos::packet::Packet;
use perhop_qos::units::Time;

use super::Builder;
use crate::event::HostEvent;
use perhop_net::Event;
use perhop_net::source::Replay;
use perhop_scenario::routing::LinkId;
use perhop_scenario::{Recording, TrafficConfig};

impl<'a> Builder<'a> {
    /// Adds the flows of `recording`, which is the source of `config`. All flows take `path`.
    pub(super) fn add_replay(
        &mut self,
        index: usize,
        config: &'a TrafficConfig,
        path: &[LinkId],
        class: usize,
        recording: Recording,
    ) -> Result<(), ConfigError> {
        let place = self.add_reactive_path(path);
        let first = self.hosts.templates.len();
        for (number, key) in (0..).zip(&recording.flows) {
            let key = key.map_or_else(|| self.flow_key(config, number), Ok)?;
            let number =
                self.hosts.measurements.add_flow(Flow { traffic: index, number, class, answers: false });
            debug_assert_eq!(number, self.hosts.templates.len());
            self.add_flow_path(place, Packet::new(key, 0), path);
        }
        let (_, start) = config.flow_start(0, &self.streams);
        let times = [start, config.stop.unwrap_or(Time::MAX)];
        let slot = self.agenda.register(Event::Edge(HostEvent::Replay(self.hosts.replays.len() as u32)));
        let replay = Replay::new(recording.packets, first, times, slot);
        if let Some(due) = replay.due_at() {
            self.agenda.schedule(slot, due);
        }
        self.hosts.replays.push(replay);
        Ok(())
    }
}
