//! Conversion of TCP traffic of the scenario to sessions and the flows of both directions.

use std::sync::Arc;

use perhop_qos::error::ConfigError;
use perhop_qos::packet::{Dscp, FlowKey, Packet};
use perhop_qos::units::Time;

use super::Builder;
use crate::event::HostEvent;
use crate::hosts::Hosts;
use crate::session::{Answers, Application, Browser, Player, Session, SpeedTest};
use crate::setup::Entering;
use perhop_measure::Measurements;
use perhop_measure::applications::SpeedTally;
use perhop_measure::tcp::{CLIENT, SERVER};
use perhop_net::Event;
use perhop_scenario::plan::Plan;
use perhop_scenario::routing::LinkId;
use perhop_scenario::tcp::Parameters;
use perhop_scenario::{SourceConfig, TrafficConfig};

/// The maximum number of known parameters with which new parameters are compared.
const MOST_COMPARED: usize = 16;

impl<'a> Builder<'a> {
    /// Adds the flows and sessions of TCP traffic. `links` are the links of the paths to the server and back.
    /// `class` is the class of the client's flow.
    pub(super) fn add_sessions(
        &mut self,
        index: usize,
        config: &'a TrafficConfig,
        links: [&Vec<LinkId>; 2],
        class: usize,
        parameters: &Arc<Parameters>,
    ) -> Result<(), ConfigError> {
        let classes = [class, self.hosts.measurements.class_of_answers(class)];
        let dscps = [config.dscp, config.reply_dscp.unwrap_or(config.dscp)];
        let paths = links.map(|path| self.add_reactive_path(path));
        for number in 0..config.flows() {
            let keys = self.flow_key(config, number).map(|key| [key, key.reversed()])?;
            let flows = self.hosts.measurements.add_session(index, number, classes);
            for end in [CLIENT, SERVER] {
                self.add_flow_path(paths[end], template(dscps[end], keys[end]), links[end]);
            }
            let (streams, start) = config.flow_start(number, &self.streams);
            let slot = self
                .agenda
                .register(Event::Edge(HostEvent::SessionDue(self.hosts.transport.sessions.len() as u32)));
            let application = self.add_application(config, number);
            // The first connection of a browser opens the others.
            let due = if application.1 { start } else { Time::MAX };
            if due < Time::MAX {
                self.agenda.schedule(slot, start);
            }
            let Some((plan, _)) = Plan::for_flow(&config.source, number) else { continue };
            self.hosts.transport.sessions.push(Session {
                traffic: index,
                flows,
                parameters: Arc::clone(parameters),
                plan,
                application: application.0,
                is_watched: config.source.connections() > 1 || application.0 != Application::Plan,
                stops: config.stop.unwrap_or(Time::MAX),
                stream: streams.child("session").stream(),
                slot,
                due,
                answers: [Answers::default(); 2],
                open: 0,
                started: false,
                begun: 0,
                over: None,
                before: None,
                free: Vec::new(),
            });
        }
        Ok(())
    }

    /// Returns `parameters` as a shared value. Traffic entries with equal parameters share one value, if it
    /// is among the [`MOST_COMPARED`] newest values.
    pub(super) fn share(&mut self, parameters: Parameters) -> Arc<Parameters> {
        let recent = self.parameters.iter().rev().take(MOST_COMPARED);
        if let Some(known) = recent.into_iter().find(|known| ***known == parameters) {
            return Arc::clone(known);
        }
        let parameters = Arc::new(parameters);
        self.parameters.push(Arc::clone(&parameters));
        parameters
    }

    /// Returns the application that controls flow `number` of `config`, and whether the session of this flow
    /// starts at its own time. The first session of a browser opens the others.
    fn add_application(&mut self, config: &TrafficConfig, number: u32) -> (Application, bool) {
        let Hosts { transport, measurements: Measurements { warmup, duration, .. }, .. } = &mut self.hosts;
        let (stops, first) = (config.stop.unwrap_or(Time::MAX), transport.sessions.len());
        match &config.source {
            SourceConfig::Video(video) => {
                transport.players.push(Player::new(video, *warmup, stops));
                (Application::Player(transport.players.len() - 1), true)
            }
            SourceConfig::PageLoad(page) => {
                let begins = number.is_multiple_of(page.connections);
                if begins {
                    transport.browsers.push(Browser::new(page, first, *warmup, stops));
                }
                (Application::Browser(transport.browsers.len() - 1), begins)
            }
            SourceConfig::SpeedTest(test) => {
                if number.is_multiple_of(config.source.connections()) {
                    let event = HostEvent::SpeedSample(transport.speed_tests.len() as u32);
                    let slot = self.agenda.register(Event::Edge(event));
                    let begins = config.start.saturating_add(config.start_within).max(*warmup);
                    let tally = SpeedTally::new(test.connections, begins, stops.min(*duration));
                    if let Some(time) = tally.next() {
                        self.agenda.schedule(slot, time);
                    }
                    transport.speed_tests.push(SpeedTest { slot, first, tally });
                }
                (Application::Plan, true)
            }
            _ => (Application::Plan, true),
        }
    }

    /// Adds the path over `links` and returns its start. TCP reacts to arrivals, so its packets enter the
    /// first link by events of the agenda. Sources that send over this link therefore cannot send ahead of
    /// the agenda.
    pub(super) fn add_reactive_path(&mut self, links: &[LinkId]) -> u32 {
        if let Some(first) = links.first() {
            self.entering[first.index()] = Entering::Reactive;
        }
        self.add_path(links)
    }

    /// Schedules the end of the warm-up. TCP senders count from the start of the run, so this event stores
    /// the counts of the warm-up, to subtract them later.
    pub(super) fn await_warmup(&mut self) {
        let Hosts { transport, measurements: Measurements { warmup, .. }, .. } = &self.hosts;
        if !transport.sessions.is_empty() && *warmup > Time::ZERO {
            let slot = self.agenda.register(Event::Edge(HostEvent::WarmupEnds));
            self.agenda.schedule(slot, *warmup);
        }
    }
}

/// The header fields that all packets of flow `key` share. No meter precedes the sender, so the codepoint
/// determines the color.
pub(super) fn template(dscp: Dscp, key: FlowKey) -> Packet {
    Packet { dscp, color: dscp.color(), ..Packet::new(key, 0) }
}
