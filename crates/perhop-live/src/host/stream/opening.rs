//! Preparation of a run: the sessions of this host, their scheduled tasks, and the listening ports.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::io;
use std::net::SocketAddr;
use std::os::fd::AsFd;

use perhop_qos::units::Time;
use perhop_scenario::plan::Plan;
use perhop_scenario::tcp::Parameters;

use super::session::{Session, SessionEnd};
use super::{Exchange, LISTENER, Task, kernel, nanoseconds};
use crate::host::error::{HostError, trying};
use crate::host::flows::Flows;
use crate::host::report::SessionReport;
use crate::host::run::HostRun;
use crate::host::system;

/// Backlog of a listener.
const WAITING: i32 = 1024;
/// Size of the read buffer, bytes.
const ROOM: usize = 1 << 16;

impl Exchange {
    /// Opens the listeners of `run`'s host as a server, and schedules its tasks as a client. Returns `None`
    /// if the host has no TCP traffic.
    pub(in crate::host) fn open(run: &HostRun, flows: &Flows) -> Result<Option<Exchange>, HostError> {
        let mut exchange = Exchange {
            flows: flows.clone(),
            poll: trying(|| "cannot wait for sockets".to_owned(), system::Poll::new())?,
            sessions: Vec::new(),
            by_flow: BTreeMap::new(),
            listeners: Vec::new(),
            connections: Vec::new(),
            free: Vec::new(),
            held: 0,
            agenda: BinaryHeap::new(),
            failures: 0,
            failure: None,
            notes: Vec::new(),
            warmup: nanoseconds(run.scenario.measure.warmup),
            room: vec![0; ROOM],
        };
        for flow in 0..flows.ids().len() {
            exchange.add_session(run, flow)?;
        }
        if exchange.sessions.is_empty() {
            return Ok(None);
        }
        exchange.notes.extend(kernel::apply_settings(run.scenario));
        exchange.listen()?;
        exchange.agenda.push(Reverse((exchange.warmup, Task::EndWarmup)));
        for (probe, config) in run.scenario.measure.connections.iter().enumerate() {
            if config.every > Time::ZERO {
                exchange.agenda.push(Reverse((exchange.warmup, Task::Sample(probe))));
            }
        }
        Ok(Some(exchange))
    }

    /// Adds the session whose client's flow is `flow`, if this host is one of its ends.
    fn add_session(&mut self, run: &HostRun, flow: usize) -> Result<(), HostError> {
        let id = self.flows.ids()[flow].clone();
        let config = &run.scenario.traffic[id.traffic];
        let Some((plan, tcp)) = Plan::for_source(&config.source).filter(|_| !id.answers) else {
            return Ok(());
        };
        let (end, dscp) = if config.from == run.host {
            (SessionEnd::Client, config.dscp)
        } else if config.to == run.host {
            (SessionEnd::Server, config.reply_dscp.unwrap_or(config.dscp))
        } else {
            return Ok(());
        };
        let parameters = tcp.build().map_err(HostError::Config)?;
        let congestion = self.congestion(run, &parameters)?;
        let tcp = kernel::Tcp::new(&parameters, &plan, dscp.value() << 2, congestion);
        let (streams, start) = config.flow_start(id.number, &run.streams());
        let place = self.sessions.len();
        let stops = nanoseconds(config.stop.unwrap_or(Time::MAX).min(run.scenario.duration));
        if end == SessionEnd::Client {
            self.agenda.push(Reverse((nanoseconds(start), Task::Begin(place))));
            if config.stop.is_some_and(|stop| stop < run.scenario.duration) {
                self.agenda.push(Reverse((stops, Task::Stop(place))));
            }
        }
        self.by_flow.insert(flow, place);
        self.sessions.push(Session {
            flow,
            end,
            plan,
            tcp,
            stream: streams.child("session").stream(),
            stops,
            started: false,
            begun: 0,
            tally: SessionReport {
                traffic: id.traffic,
                number: id.number,
                is_client: end == SessionEnd::Client,
                ..SessionReport::default()
            },
            over: kernel::Counted::default(),
        });
        Ok(())
    }

    /// The congestion control of an endpoint with `parameters`: the congestion control of the run if it is
    /// set, otherwise that of the scenario. If the kernel does not have the scenario's congestion control,
    /// the result is `None`, which selects the default of the system.
    fn congestion(&mut self, run: &HostRun, parameters: &Parameters) -> Result<Option<String>, HostError> {
        let what = |name: &str| format!("cannot use congestion control `{name}`");
        let has = |name: &str| trying(|| what(name), kernel::has_congestion(name));
        if let Some(name) = run.congestion {
            let missing = || io::Error::from(io::ErrorKind::NotFound);
            return if has(name)? {
                Ok(Some(name.to_owned()))
            } else {
                trying(|| what(name), Err(missing()))
            };
        }
        let name = kernel::congestion(parameters);
        if has(name)? {
            return Ok(Some(name.to_owned()));
        }
        let note =
            format!("the kernel has no congestion control `{name}`: connections use the system's default");
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
        Ok(None)
    }

    /// Listens at the port of every server.
    fn listen(&mut self) -> Result<(), HostError> {
        for session in self.sessions.iter().filter(|session| session.end == SessionEnd::Server) {
            let key = &self.flows.ids()[session.flow].key;
            let address = SocketAddr::new(key.destination.to_ip(), key.destination_port);
            if self.listeners.iter().any(|(known, _)| *known == address) {
                continue;
            }
            let what = || format!("cannot listen at {address}");
            let fd = session.tcp.socket(address);
            let fd = trying(what, fd)?;
            trying(what, system::listen(&fd, WAITING))?;
            trying(what, self.poll.add(fd.as_fd(), LISTENER | self.listeners.len() as u64))?;
            self.listeners.push((address, fd));
        }
        Ok(())
    }
}
