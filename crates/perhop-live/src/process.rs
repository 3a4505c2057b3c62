//! What a forwarder's process does, from its configuration to its result.
#![allow(clippy::disallowed_methods)] // it runs by the clock

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use std::{fmt, fs, io};

use perhop_qos::error::ConfigError;
use perhop_qos::units::Time;
use serde::de::DeserializeOwned;

use crate::bridge::BridgeConfig;
use crate::config::{ForwarderConfig, Scheduling};
use crate::control::Control;
use crate::forwarder::Forwarder;
use crate::socket::{Bell, OpenError, SocketWire, StopSignals, machine};
use crate::status::{Ending, Status};

/// Why a forwarder did not start, or could not leave its result.
#[derive(Debug)]
pub enum ProcessError {
    /// The configuration cannot be read or built.
    Config(ConfigError),
    /// An interface cannot be used.
    Open(OpenError),
    /// A file, a socket or another means of the system.
    System {
        /// What failed.
        what: String,
        /// What the system said.
        error: io::Error,
    },
}

/// Runs the forwarder of a laboratory that `text`, a [`ForwarderConfig`] as JSON, describes: until `SIGTERM` or
/// `SIGINT`, until whoever started it is gone or closes its end of standard input, or until no interface is left.
///
/// # Errors
/// Where it cannot start, or its result cannot be written.
pub fn forward(text: &str) -> Result<(), ProcessError> {
    let config = read::<ForwarderConfig>(text)?;
    // The laboratory may die of anything; its forwarders must not outlive it.
    machine::die_with_parent().map_err(failed("cannot ask for the parent's death"))?;
    run(&config)
}

/// Runs the policies that `text`, a [`BridgeConfig`] as JSON, describes between two existing interfaces, until
/// `SIGTERM` or `SIGINT`, until standard input is closed from the other end, or until both interfaces are gone.
///
/// # Errors
/// Where it cannot start, or its result cannot be written.
pub fn bridge(text: &str) -> Result<(), ProcessError> {
    run(&read::<BridgeConfig>(text)?.forwarder()?)
}

/// Runs the forwarder that `config` describes until it is asked to end, then writes its result.
///
/// # Errors
/// Where it cannot start, or its result cannot be written.
pub fn run(config: &ForwarderConfig) -> Result<(), ProcessError> {
    let bell = Bell::new().map_err(failed("no descriptor is left"))?;
    let stop = StopSignals::catch(&bell);
    let wire = SocketWire::open(&config.devices(), config.socket, &bell).map_err(ProcessError::Open)?;
    if config.scheduling == Scheduling::RealTime {
        machine::run_in_real_time().map_err(failed("cannot run in real time (it needs CAP_SYS_NICE)"))?;
    }
    let mut forwarder = Forwarder::build(config, wire, ()).map_err(ProcessError::Config)?;
    let began = Began::now();
    // Whoever can connect knows that frames are forwarded.
    let control = config.control.as_deref().map(|path| {
        Control::listen(path, &bell).map_err(failed(&format!("cannot listen at \"{}\"", path.display())))
    });
    let control = control.transpose()?;
    let ending = serve(&mut forwarder, control.as_ref(), &stop, &began);
    let status = began.status(&mut forwarder, Some(ending));
    // First the result, then the socket: who sees the socket gone finds the result.
    config.result.as_deref().map_or(Ok(()), |path| write_whole(path, &status.json().to_string()))
}

/// Goes round until there is a reason to end.
fn serve(
    forwarder: &mut Forwarder<SocketWire>,
    control: Option<&Control>,
    stop: &StopSignals,
    began: &Began,
) -> Ending {
    loop {
        if let Err(error) = forwarder.step()
            && error.device.is_none()
        {
            return Ending::Failed(error.to_string());
        }
        if stop.asked() {
            return Ending::Asked;
        }
        if forwarder.wire().is_orphaned() {
            return Ending::Orphaned;
        }
        let Some(control) = control else { continue };
        if control.is_asked() {
            control.answer(began.status(forwarder, None));
        }
        if let Some(reading_ns) = control.counts_from_ns() {
            let started_ns = forwarder.wire().started_at_ns();
            forwarder.count_from(Time::from_nanoseconds(reading_ns.saturating_sub(started_ns)));
        }
    }
}

/// When the work began, and what the process had used by then.
struct Began {
    at: Instant,
    processor: Duration,
}

impl Began {
    fn now() -> Began {
        Began { at: Instant::now(), processor: machine::processor_time() }
    }
    fn status(&self, forwarder: &mut Forwarder<SocketWire>, ending: Option<Ending>) -> Status {
        let report = forwarder.report();
        let wire = forwarder.wire();
        Status {
            report,
            devices: wire.devices(),
            waiting: wire.waiting(),
            started_at_ns: wire.started_at_ns(),
            processor_s: machine::processor_time().saturating_sub(self.processor).as_secs_f64(),
            elapsed_s: self.at.elapsed().as_secs_f64(),
            resident_bytes: machine::resident_bytes(),
            ending,
        }
    }
}

/// Reads a configuration; an error says where it is.
fn read<T: DeserializeOwned>(text: &str) -> Result<T, ProcessError> {
    let mut json = serde_json::Deserializer::from_str(text);
    serde_path_to_error::deserialize(&mut json).map_err(|error| {
        let path = error.path().to_string();
        let field = if path == "." { "" } else { path.as_str() };
        ProcessError::Config(ConfigError::new(field, error.inner().to_string()))
    })
}

/// Writes a file that is there as a whole or not at all.
fn write_whole(path: &Path, text: &str) -> Result<(), ProcessError> {
    let mut unfinished = path.as_os_str().to_owned();
    unfinished.push(".part");
    let unfinished = PathBuf::from(unfinished);
    fs::write(&unfinished, text)
        .and_then(|()| fs::rename(&unfinished, path))
        .map_err(failed(&format!("cannot write the result \"{}\"", path.display())))
}

fn failed(what: &str) -> impl FnOnce(io::Error) -> ProcessError + use<> {
    let what = what.to_owned();
    move |error| ProcessError::System { what, error }
}

impl ProcessError {
    /// The system's number for it, where the system is at fault.
    pub fn number(&self) -> Option<i32> {
        match self {
            ProcessError::Config(_) => None,
            ProcessError::Open(error) => error.number(),
            ProcessError::System { error, .. } => error.raw_os_error(),
        }
    }
}

impl fmt::Display for ProcessError {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        match self {
            ProcessError::Config(error) => error.fmt(formatter),
            ProcessError::Open(error) => error.fmt(formatter),
            ProcessError::System { what, error } => write!(formatter, "{what}: {error}"),
        }
    }
}

impl std::error::Error for ProcessError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            ProcessError::Config(error) => Some(error),
            ProcessError::Open(error) => Some(error),
            ProcessError::System { error, .. } => Some(error),
        }
    }
}

impl From<ConfigError> for ProcessError {
    fn from(error: ConfigError) -> ProcessError {
        ProcessError::Config(error)
    }
}
