//! The division of TCP sessions and their applications. Both hosts of a session are in the same part.

use perhop_measure::tcp::{CLIENT, SERVER};

use super::divider::Divider;
use super::place::{Place, Places, numbered};
use crate::event::HostEvent;
use crate::hosts::Hosts;
use crate::session::{Application, Browser, ConnectionProbe, Player, Session, Transport};

impl Divider {
    /// Assigns places to the elements of `hosts`, whose flows have places.
    pub(super) fn assign_places(&mut self, hosts: &Hosts) {
        let Transport { sessions, probes, speed_tests, .. } = &hosts.transport;
        let part_of_session = |session: &Session| self.flow_ends[session.flows[CLIENT]][0].part;
        // A probe without sessions takes no samples, so any part may have it.
        let part_of_first = |first: usize| sessions.get(first).map_or(0, part_of_session);
        self.places = Places {
            sessions: numbered(sessions.iter().map(part_of_session)),
            queue_probes: numbered(hosts.queue_probes.iter().map(|probe| self.near[probe.link.index()].part)),
            connection_probes: numbered(probes.iter().map(|probe| part_of_first(probe.sessions.start))),
            speed_tests: numbered(speed_tests.iter().map(|test| part_of_first(test.first))),
        };
    }

    /// Returns the part of `event`, and the event with the number of its element in this part.
    pub(super) fn renumbered(&self, event: HostEvent) -> (usize, HostEvent) {
        let Places { sessions, queue_probes, connection_probes, speed_tests } = &self.places;
        let (places, number, renumbered): (_, _, fn(u32) -> HostEvent) = match event {
            HostEvent::SessionDue(number) => (sessions, number, HostEvent::SessionDue),
            HostEvent::QueueSample(number) => (queue_probes, number, HostEvent::QueueSample),
            HostEvent::ConnectionSample(number) => (connection_probes, number, HostEvent::ConnectionSample),
            HostEvent::SpeedSample(number) => (speed_tests, number, HostEvent::SpeedSample),
            HostEvent::Emission(_)
            | HostEvent::Replay(_)
            | HostEvent::ConnectionTimer(_)
            | HostEvent::WarmupEnds => unreachable!("{event:?} of a network that can be divided"),
        };
        let Place { part, number } = places[number as usize];
        (part, renumbered(number as u32))
    }

    /// Adds the sessions of `transport`, whose events are registered, with their applications and probes.
    pub(super) fn add_transport(&mut self, transport: Transport) {
        let Transport { sessions, probes, players, browsers, speed_tests, .. } = transport;
        let mut players: Vec<Option<Player>> = players.into_iter().map(Some).collect();
        let mut browsers: Vec<Option<Browser>> = browsers.into_iter().map(Some).collect();
        for (index, mut session) in sessions.into_iter().enumerate() {
            let Place { part, number } = self.places.sessions[index];
            let draft = &mut self.drafts[part];
            for end in [CLIENT, SERVER] {
                let [sends, arrives] = self.flow_ends[session.flows[end]];
                debug_assert_eq!([sends.part, arrives.part], [part; 2], "both hosts are in one part");
                session.flows[end] = sends.number;
                if sends != arrives {
                    draft.returning.insert(sends.number, arrives.number);
                }
            }
            session.slot = self.slots[session.slot.index()];
            match &mut session.application {
                Application::Plan => {}
                Application::Player(player) => {
                    draft.transport.players.extend(players[*player].take());
                    draft.numbering.players.push(*player);
                    *player = draft.transport.players.len() - 1;
                }
                Application::Browser(browser) => {
                    // This is the first of the browser's sessions.
                    if let Some(mut moved) = browsers[*browser].take() {
                        moved.renumber(number);
                        draft.transport.browsers.push(moved);
                        draft.numbering.browsers.push(*browser);
                    }
                    *browser = draft.transport.browsers.len() - 1;
                }
            }
            draft.transport.sessions.push(session);
            draft.numbering.sessions.push(index);
        }
        for (index, mut test) in speed_tests.into_iter().enumerate() {
            let draft = &mut self.drafts[self.places.speed_tests[index].part];
            (test.slot, test.first) =
                (self.slots[test.slot.index()], self.places.sessions[test.first].number);
            draft.transport.speed_tests.push(test);
            draft.numbering.speed_tests.push(index);
        }
        for (index, probe) in probes.into_iter().enumerate() {
            self.add_connection_probe(index, probe);
        }
    }

    fn add_connection_probe(&mut self, index: usize, mut probe: ConnectionProbe) {
        let draft = &mut self.drafts[self.places.connection_probes[index].part];
        let first = self.places.sessions.get(probe.sessions.start).map_or(0, |first| first.number);
        probe.sessions = first..first + probe.sessions.len();
        probe.slot = self.slots[probe.slot.index()];
        draft.transport.probes.push(probe);
        draft.numbering.connection_probes.push(index);
    }
}
