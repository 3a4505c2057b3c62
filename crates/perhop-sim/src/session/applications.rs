//! What players and browsers do at hosts: the steps that they take, on the connections of their sessions.

use perhop_measure::tcp::{CLIENT, SERVER};
use perhop_qos::random::Stream;
use perhop_qos::units::Time;

use super::application::{Application, SpeedTest};
use super::browser::{Browser, Step};
use super::player::Next;
use super::transport::{Transport, end_of};
use crate::engine::Engine;
use crate::hosts::Hosts;

/// What the steps of players and browsers come to.
pub(super) trait Steps: Engine {
    /// A new connection of `session`.
    fn connect(&mut self, now: Time, session: usize);
    /// Sends what the end at `place` has to send.
    fn serve(&mut self, now: Time, place: usize);
    /// A transaction of `session` that began at `began` is over.
    fn complete(&mut self, now: Time, session: usize, began: Time);
}

/// The time for which the player or browser of `session` asked has come.
pub(super) fn due<S: Steps>(world: &mut S, now: Time, session: usize) {
    let transport = &mut world.hosts_mut().transport;
    transport.sessions[session].due = Time::MAX;
    match transport.sessions[session].application {
        Application::Plan => {}
        Application::Player(player) => {
            if std::mem::replace(&mut transport.sessions[session].started, true) {
                return play_on(world, now, [session, player]);
            }
            transport.players[player].begin(now);
            world.connect(now, session);
        }
        Application::Browser(browser) => {
            walk(world, now, browser, |browser, stream, steps| browser.wake(now, stream, steps));
        }
    }
}

/// The connection at `place` is open.
pub(super) fn connected<S: Steps>(world: &mut S, now: Time, place: usize) {
    let transport = &mut world.hosts_mut().transport;
    let session = transport.pairs[place].session;
    match transport.sessions[session].application {
        Application::Plan => {}
        Application::Player(player) => {
            transport.players[player].place = place;
            play_on(world, now, [session, player]);
        }
        Application::Browser(browser) => {
            walk(world, now, browser, |browser, _, steps| browser.connected(session, place, steps));
        }
    }
}

/// The whole response has arrived on the connection at `place`.
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
            play_on(world, now, [session, player]);
        }
        Application::Browser(browser) => walk(world, now, browser, |browser, stream, steps| {
            browser.received(now, [session, place], stream, steps);
        }),
    }
}

/// A player requests its next segment, or waits.
fn play_on<S: Steps>(world: &mut S, now: Time, [session, player]: [usize; 2]) {
    let player = &mut world.hosts_mut().transport.players[player];
    let (place, request) = (player.place, player.request());
    match player.next(now) {
        Next::Request(bytes) => fetch(world, now, place, [request, bytes]),
        Next::At(later) => wake(world, session, later),
        Next::Over => {}
    }
}

/// A browser hears something, and takes the steps that follow.
fn walk<S: Steps>(
    world: &mut S,
    now: Time,
    browser: usize,
    hears: impl FnOnce(&mut Browser, &mut Stream, &mut Vec<Step>),
) {
    let Transport { browsers, sessions, .. } = &mut world.hosts_mut().transport;
    let (browser, mut steps) = (&mut browsers[browser], Vec::new());
    let session = browser.session();
    hears(browser, &mut sessions[session].stream, &mut steps);
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

/// The client at `place` requests so many bytes by so many.
fn fetch<S: Steps>(world: &mut S, now: Time, place: usize, [request, response]: [u64; 2]) {
    let Transport { ends, pairs, .. } = &mut world.hosts_mut().transport;
    pairs[place].response = response;
    ends[end_of(place, SERVER)].awaited = request;
    let client = end_of(place, CLIENT);
    ends[client].awaited = response;
    ends[client].connection.send(request);
    world.serve(now, client);
}

/// The agenda comes to `session` at `later`.
fn wake<S: Steps>(world: &mut S, session: usize, later: Time) {
    let (Hosts { transport, .. }, agenda) = world.split();
    let session = &mut transport.sessions[session];
    session.due = later;
    agenda.schedule(session.slot, later);
}

/// A slice of the speed test at a place is over.
pub(crate) fn sample_speed<E: Engine>(world: &mut E, test: usize) {
    let (Hosts { transport, measurements, .. }, agenda) = world.split();
    let Transport { ends, speed_tests, .. } = transport;
    let SpeedTest { slot, first, tally } = &mut speed_tests[test];
    let sessions = *first..*first + tally.connections as usize;
    let over: u64 =
        measurements.tcp.sessions[sessions.clone()].iter().map(|one| one.tally.received[SERVER]).sum();
    let servers = ends.iter().skip(SERVER).step_by(2);
    let open: u64 = servers.filter(|end| sessions.contains(&end.session)).map(|end| end.received).sum();
    tally.readings.push(over + open);
    if let Some(next) = tally.next() {
        agenda.schedule(*slot, next);
    }
}
