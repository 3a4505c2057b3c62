//! TCP at simulated hosts: sessions (an application between two hosts) and their connections.
//!
//! A session is one flow of a scenario's TCP traffic: a client at `from`, a server at `to`, and a path in
//! each direction. Most applications follow a [`Plan`](perhop_scenario::plan::Plan). A connection pair is one
//! connection of the session with both ends. The session has two flows, one for the packets of each end.
//!
//! Reading order: `transport` (the state), `end` (one end of a connection), `exchange` (the events),
//! `lookahead` (the ends that may answer ahead of the agenda), `segments` (segments in the network); `player`
//! and `browser` (applications without a plan), `applications` (their use of connections).

mod application;
mod applications;
mod browser;
mod end;
mod exchange;
mod lookahead;
mod player;
mod segments;
mod transport;

pub(crate) use application::{Application, SpeedTest};
pub(crate) use applications::sample_speed;
pub(crate) use browser::Browser;
pub(crate) use end::End;
pub(crate) use exchange::Sessions;
pub(crate) use player::Player;
pub(crate) use segments::Carried;
pub(crate) use transport::{Answers, ConnectionProbe, Ledger, Session, Transport};
