//! TCP traffic: from its entry in a scenario to sessions and the flows of both directions.

use perhop_qos::error::ConfigError;
use perhop_qos::packet::{Dscp, FlowKey, Packet, Protocol};
use perhop_qos::units::Time;

use super::Builder;
use crate::probe::Delays;
use crate::session::{CLIENT, SERVER, Session, SessionTally};
use crate::world::{Event, Flow, World};
use perhop_scenario::TrafficConfig;
use perhop_scenario::plan::Plan;
use perhop_scenario::routing::LinkId;
use perhop_scenario::tcp::Parameters;

impl<'a> Builder<'a> {
    /// The flows and sessions of TCP traffic; `ways` lead to the server and back, `class` is the client's.
    pub(super) fn add_sessions(
        &mut self,
        index: usize,
        config: &'a TrafficConfig,
        ways: [&Vec<LinkId>; 2],
        class: usize,
        plan: Plan,
        parameters: Parameters,
    ) -> Result<(), ConfigError> {
        let classes = [class, self.class(&format!("{} (back)", self.world.class_names[class]))];
        let dscps = [config.dscp, config.reply_dscp.unwrap_or(config.dscp)];
        let completions = self.completions(class);
        let paths = ways.map(|way| self.add_reactive_path(way));
        for number in 0..config.count {
            let keys = self.flow_key(config, number, Protocol::TCP).map(|key| [key, key.reversed()])?;
            let flows = [CLIENT, SERVER].map(|end| {
                let flow = Flow {
                    traffic: index,
                    number,
                    class: classes[end],
                    answers: end == SERVER,
                    path: paths[end],
                    template: template(dscps[end], keys[end]),
                };
                self.add_flow(flow, ways[end])
            });
            let (streams, start) = config.flow_start(number, &self.streams);
            let slot =
                self.world.agenda.register(Event::SessionDue(self.world.transport.sessions.len() as u32));
            self.world.agenda.schedule(slot, start);
            self.world.transport.sessions.push(Session {
                traffic: index,
                number,
                flows,
                parameters,
                plan,
                stops: config.stop.unwrap_or(Time::MAX),
                stream: streams.child("session").stream(),
                slot,
                due: start,
                may_be_ahead: [false; 2],
                open: 0,
                started: false,
                begun: 0,
                completions,
                tally: SessionTally::default(),
            });
        }
        Ok(())
    }

    /// The place of `class` among the distributions of completion times.
    fn completions(&mut self, class: usize) -> usize {
        let all = &mut self.world.transport.completions;
        all.iter().position(|(known, _)| *known == class).unwrap_or_else(|| {
            all.push((class, Delays::default()));
            all.len() - 1
        })
    }

    /// The place of `way` among the paths. What enters its first link is on the agenda, as TCP is, which answers
    /// what arrives: other sources of that link do not run ahead.
    pub(super) fn add_reactive_path(&mut self, way: &[LinkId]) -> u32 {
        if let Some(first) = way.first() {
            self.world.links[first.index()].reacts = true;
        }
        self.add_path(way)
    }

    /// The senders of TCP count from the start; what they counted in the warm-up is subtracted.
    pub(super) fn await_warmup(&mut self) {
        let World { transport, agenda, warmup, horizon, .. } = &mut self.world;
        if !transport.sessions.is_empty() && *warmup > Time::ZERO {
            let slot = agenda.register(Event::WarmupEnds);
            agenda.schedule(slot, *warmup);
            *horizon = *warmup;
        }
    }
}

/// What all packets of flow `key` have in common: all that their sender's host knows of a color is what the
/// codepoint says.
pub(super) fn template(dscp: Dscp, key: FlowKey) -> Packet {
    Packet { dscp, color: dscp.color(), ..Packet::new(key, 0) }
}
