//! The actions of players and browsers on the connections of their sessions.

use perhop_measure::tcp::{CLIENT, SERVER};
use perhop_qos::random::Stream;
use perhop_qos::units::Time;

use super::application::{Application, SpeedTest};
use super::browser::{Browser, Step};
use super::player::Next;
use super::transport::{Transport, end_of};
use crate::engine::Engine;
use crate::hosts::Hosts;

/// The actions of an engine that players and browsers use.
pub(super) trait Steps: Engine {
    /// Opens a new connection of `session`.
    fn connect(&mut self, now: Time, session: usize);
    /// Sends the data that are due at the connection end at `place`.
    fn serve(&mut self, now: Time, place: usize);
    /// Counts a completed transaction of `session` that began at `began`.
    fn complete(&mut self, now: Time, session: usize, began: Time);
}

/// Handles the wake-up of the player or browser of `session`.
pub(super) fn on_wake_up<S: Steps>(world: &mut S, now: Time, session: usize) {
    let transport = &mut world.hosts_mut().transport;
    transport.sessions[session].due = Time::MAX;
    match transport.sessions[session].application {
        Application::Plan => {}
        Application::Player(player) => {
            if std::mem::replace(&mut transport.sessions[session].started, true) {
                return continue_playback(world, now, [session, player]);
            }
            transport.players[player].begin(now);
            world.connect(now, session);
        }
        Application::Browser(browser) => {
            drive_browser(world, now, browser, |browser, stream, steps| browser.wake(now, stream, steps));
        }
    }
}

/// Handles the opening of the connection at `place`.
pub(super) fn connected<S: Steps>(world: &mut S, now: Time, place: usize) {
    let transport = &mut world.hosts_mut().transport;
    let session = transport.pairs[place].session;
    match transport.sessions[session].application {
        Application::Plan => {}
        Application::Player(player) => {
            transport.players[player].place = place;
            continue_playback(world, now, [session, player]);
        }
        Application::Browser(browser) => {
            drive_browser(world, now, browser, |browser, _, steps| browser.connected(session, place, steps));
        }
    }
}

/// Handles the arrival of the last byte of a response on the connection at `place`.
pub(super) fn received<S: Steps>(world: &mut S, now: Time, place: usize) {
    let Transport { ends, pairs, sessions, players, .. } = &mut world.hosts_mut().transport;
    let end = &mut ends[end_of(place, CLIENT)];
    end.arrived -= end.awaited;
    let session = pairs[place].session;
    match sessions[session].application {
        Application::Plan => {}
        Application::Player(player) => {
            let requested = players[player].receive(now);
            world.complete(now, session, requested);
            continue_playback(world, now, [session, player]);
        }
        Application::Browser(browser) => drive_browser(world, now, browser, |browser, stream, steps| {
            browser.received(now, [session, place], stream, steps);
        }),
    }
}

/// Requests the next segment of a player, or schedules the player's next wake-up.
fn continue_playback<S: Steps>(world: &mut S, now: Time, [session, player]: [usize; 2]) {
    let player = &mut world.hosts_mut().transport.players[player];
    let (place, request) = (player.place, player.request());
    match player.next(now) {
        Next::Request(bytes) => fetch(world, now, place, [request, bytes]),
        Next::At(later) => wake(world, session, later),
        Next::Over => {}
    }
}

/// Reports an event to a browser and performs the steps that follow.
fn drive_browser<S: Steps>(
    world: &mut S,
    now: Time,
    browser: usize,
    report: impl FnOnce(&mut Browser, &mut Stream, &mut Vec<Step>),
) {
    let Transport { browsers, sessions, .. } = &mut world.hosts_mut().transport;
    let (browser, mut steps) = (&mut browsers[browser], Vec::new());
    let session = browser.session();
    report(browser, &mut sessions[session].stream, &mut steps);
    for step in steps {
        match step {
            Step::Open(member) => world.connect(now, member),
            Step::Fetch { place, request, response } => fetch(world, now, place, [request, response]),
            Step::Close(place) => {
                let client = end_of(place, CLIENT);
                world.hosts_mut().transport.ends[client].connection.close();
                world.serve(now, client);
            }
            Step::Wake(later) => wake(world, session, later),
            Step::Loaded(began) => world.complete(now, session, began),
        }
    }
}

/// Sends a request of `request` bytes from the client at `place` and expects a response of `response` bytes.
fn fetch<S: Steps>(world: &mut S, now: Time, place: usize, [request, response]: [u64; 2]) {
    let Transport { ends, pairs, .. } = &mut world.hosts_mut().transport;
    pairs[place].response = response;
    ends[end_of(place, SERVER)].awaited = request;
    let client = end_of(place, CLIENT);
    ends[client].awaited = response;
    ends[client].connection.send(request);
    world.serve(now, client);
}

/// Schedules the wake-up of `session` at `later`.
fn wake<S: Steps>(world: &mut S, session: usize, later: Time) {
    let (Hosts { transport, .. }, agenda) = world.split();
    let session = &mut transport.sessions[session];
    session.due = later;
    agenda.schedule(session.slot, later);
}

/// Records the end of a slice of the speed test with index `test`.
pub(crate) fn sample_speed<E: Engine>(world: &mut E, test: usize) {
    let (Hosts { transport, measurements, .. }, agenda) = world.split();
    let Transport { ends, speed_tests, .. } = transport;
    let SpeedTest { slot, first, tally } = &mut speed_tests[test];
    let sessions = *first..*first + tally.connections as usize;
    let over: u64 = measurements.tcp.sessions[sessions.clone()]
        .iter()
        .map(|session| session.tally.received[SERVER])
        .sum();
    let servers = ends.iter().skip(SERVER).step_by(2);
    let open: u64 = servers.filter(|end| sessions.contains(&end.session())).map(|end| end.received).sum();
    tally.readings.push(over + open);
    if let Some(next) = tally.next() {
        agenda.schedule(*slot, next);
    }
}
