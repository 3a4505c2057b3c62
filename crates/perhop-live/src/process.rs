//! The forwarder process, from its configuration to its result.
#![allow(clippy::disallowed_methods)] // it reads the clock

use std::time::{Duration, Instant};
use std::{fmt, io};

use perhop_qos::error::ConfigError;
use perhop_qos::units::Time;
use serde::de::DeserializeOwned;

use crate::bridge::BridgeConfig;
use crate::config::{ForwarderConfig, Scheduling};
use crate::confinement;
use crate::control::{Bound, Control};
use crate::forwarder::Forwarder;
use crate::result_file::ResultFile;
use crate::socket::system::ResidentMemory;
use crate::socket::{Bell, OpenError, SocketWire, StopSignals, system};
use crate::status::{Ending, Status};

/// The reason why a forwarder could not start or could not write its result.
#[derive(Debug)]
pub enum ProcessError {
    /// The configuration is invalid.
    Config(ConfigError),
    /// An interface cannot be opened.
    Open(OpenError),
    /// A file, a socket or another system resource failed.
    System {
        /// The failed operation.
        what: String,
        /// Error of the system.
        error: io::Error,
    },
}

/// Runs the forwarder of a testbed with the configuration `text`, a [`ForwarderConfig`] as JSON. The
/// forwarder ends on `SIGTERM` or `SIGINT`, when the parent process ends or closes standard input, or when no
/// interface is left.
///
/// # Errors
/// The forwarder cannot start, or its result cannot be written.
pub fn forward(text: &str) -> Result<(), ProcessError> {
    let config = read::<ForwarderConfig>(text)?;
    // Forwarders must end with the testbed, even if it is killed.
    system::die_with_parent().map_err(failed("cannot request a signal at the end of the parent process"))?;
    run(&config)
}

/// Runs a bridge with the configuration `text`, a [`BridgeConfig`] as JSON. The bridge ends on `SIGTERM` or
/// `SIGINT`, when the parent process ends or closes standard input, or when both interfaces have been
/// removed.
///
/// # Errors
/// The bridge cannot start, or its result cannot be written.
pub fn bridge(text: &str) -> Result<(), ProcessError> {
    let config = read::<BridgeConfig>(text)?.forwarder()?;
    system::die_with_parent().map_err(failed("cannot request a signal at the end of the parent process"))?;
    run(&config)
}

/// Runs the forwarder with `config` until it ends, then writes its result. Before the first frame is read,
/// the process permanently drops all rights that forwarding does not need ([`confinement`]).
///
/// # Errors
/// The forwarder cannot start, or its result cannot be written.
pub fn run(config: &ForwarderConfig) -> Result<(), ProcessError> {
    let bell = Bell::new().map_err(failed("cannot create an event descriptor"))?;
    let stop = StopSignals::catch(&bell);
    let wire = SocketWire::open(&config.devices(), config.socket, &bell).map_err(ProcessError::Open)?;
    if config.scheduling == Scheduling::RealTime {
        system::run_in_real_time()
            .map_err(failed("cannot set real-time priority (CAP_SYS_NICE is required)"))?;
    }
    let mut forwarder = Forwarder::build(config, wire, ()).map_err(ProcessError::Config)?;
    let began = Began::now();
    let result = config.result.as_deref().map(|path| {
        ResultFile::create(path).map_err(failed(&format!("cannot write the result `{}`", path.display())))
    });
    let mut result = result.transpose()?;
    // From now on, clients can connect. They are served after the forwarder has started.
    let bound = config
        .control
        .as_deref()
        .map(|path| Bound::new(path).map_err(failed(&format!("cannot listen at `{}`", path.display()))));
    let control = confined(bound.transpose()?, &bell)?;
    result.iter_mut().for_each(ResultFile::begin);
    let ending = serve(&mut forwarder, control.as_ref(), &stop, &began);
    let status = began.status(&mut forwarder, Some(ending));
    let Some(result) = result else { return Ok(()) };
    let what = format!("cannot write the result `{}`", result.path().display());
    // The result is complete before the control socket closes.
    result.write(&status.json().to_string()).map_err(failed(&what))
}

/// Drops the rights that forwarding does not need, and serves the control socket.
fn confined(bound: Option<Bound>, bell: &Bell) -> Result<Option<Control>, ProcessError> {
    confinement::keep_only(&[]).map_err(failed("cannot give up the forwarder's capabilities"))?;
    let control = bound.map(|bound| Control::serve(bound, bell)).transpose();
    let control = control.map_err(failed("cannot start the thread of the control socket"))?;
    confinement::only_forward().map_err(failed("cannot limit the forwarder's system calls"))?;
    Ok(control)
}

/// The main loop.
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
        if stop.is_requested() {
            return Ending::Asked;
        }
        if forwarder.wire().is_orphaned() {
            return Ending::Orphaned;
        }
        let Some(control) = control else { continue };
        if control.has_request() {
            control.answer(began.status(forwarder, None));
        }
        if let Some(reading_ns) = control.counts_from_ns() {
            let started_ns = forwarder.wire().started_at_ns();
            forwarder.count_from(Time::from_nanoseconds(reading_ns.saturating_sub(started_ns)));
        }
    }
}

/// The time and the processor time at the start, and the open file with the memory use of the process.
struct Began {
    at: Instant,
    processor: Duration,
    memory: ResidentMemory,
}

impl Began {
    fn now() -> Began {
        let (at, processor) = (Instant::now(), system::processor_time());
        Began { at, processor, memory: ResidentMemory::open() }
    }
    fn status(&self, forwarder: &mut Forwarder<SocketWire>, ending: Option<Ending>) -> Status {
        let report = forwarder.report();
        let wire = forwarder.wire();
        Status {
            report,
            devices: wire.devices(),
            waiting: wire.waiting(),
            started_at_ns: wire.started_at_ns(),
            processor_s: system::processor_time().saturating_sub(self.processor).as_secs_f64(),
            elapsed_s: self.at.elapsed().as_secs_f64(),
            resident_bytes: self.memory.bytes(),
            ending,
        }
    }
}

/// Reads a configuration; an error contains its path.
fn read<T: DeserializeOwned>(text: &str) -> Result<T, ProcessError> {
    let mut json = serde_json::Deserializer::from_str(text);
    serde_path_to_error::deserialize(&mut json).map_err(|error| {
        let path = error.path().to_string();
        let field = if path == "." { "" } else { path.as_str() };
        ProcessError::Config(ConfigError::new(field, error.inner().to_string()))
    })
}

fn failed(what: &str) -> impl FnOnce(io::Error) -> ProcessError + use<> {
    let what = what.to_owned();
    move |error| ProcessError::System { what, error }
}

impl ProcessError {
    /// The system's error number, if there is one.
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
