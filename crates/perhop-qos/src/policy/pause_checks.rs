//! Checks of [`PauseConfig`] against its class and scheduler, and the pauses of a port.

use super::{ClassConfig, PauseBuffer, PauseConfig, PauseMode, QueueingConfig};
use crate::ConfigError;
use crate::buffer::BufferConfig;
use crate::scheduler::SchedulerConfig;

impl PauseConfig {
    /// Checks the thresholds, and that the queue of `class` forwards every packet it has admitted.
    pub(crate) fn check(&self, class: &ClassConfig) -> Result<(), ConfigError> {
        if class.fair_queueing.is_some() {
            let message = "a queue with `pause` admits a packet or drops it, and fair-queueing drops another";
            return Err(ConfigError::new("fair-queueing", message).help("leave one of the two out"));
        }
        if let Some(BufferConfig::FqCodel(_) | BufferConfig::FqPie(_) | BufferConfig::DualPi2(_)) =
            class.buffer
        {
            let message = "the buffer manager of a queue with `pause` decides about arriving packets only";
            return Err(ConfigError::new("buffer", message).help("for example tail-drop or red"));
        }
        if class.buffer.is_none() {
            let message = "the default limit of 64 packets would drop packets before a neighbor is paused";
            return Err(ConfigError::new("buffer", message).help(
                "write a limit above the memory of all interfaces, for example `tail-drop: {limit: 16MB}`",
            ));
        }
        let Some(PauseBuffer { xoff, xon, .. }) = self.buffer else { return Ok(()) };
        if self.mode == PauseMode::Off {
            let message = "an interface with `mode: off` sends no pause frames";
            return Err(ConfigError::new("pause.buffer", message).help("leave `buffer` or `mode` out"));
        }
        if xon > xoff {
            let message = format!("the neighbor would resume at {xon}, above the {xoff} that pause it");
            return Err(ConfigError::new("pause.buffer.xon", message).help("at most `xoff`"));
        }
        Ok(())
    }
}

impl QueueingConfig {
    /// Checks that the scheduler can serve other classes while one is paused, and that no priority has two
    /// memories.
    pub(crate) fn check_pauses(&self) -> Result<(), ConfigError> {
        let mut known = [false; 8];
        for (index, class) in self.classes.iter().enumerate() {
            let within = |error: ConfigError| error.within("pause").within(index).within("classes");
            let Some(pause) = class.pause else { continue };
            if self.scheduler == SchedulerConfig::Fifo
                && self.classes.len() > 1
                && pause.mode == PauseMode::On
            {
                let message =
                    "fifo serves classes in order of arrival, so a paused class holds all others back";
                return Err(within(ConfigError::new("", message).help("for example `scheduler: drr`")));
            }
            let is_another = &mut known[usize::from(pause.priority.value())];
            if pause.buffer.is_some() && std::mem::replace(is_another, true) {
                let message = format!("priority {} already has a buffer", pause.priority);
                return Err(within(ConfigError::new("buffer", message).help("write it in one class")));
            }
        }
        Ok(())
    }

    /// Priority flow control of each queue of the port, in the order of the queues.
    pub fn pauses(&self) -> Vec<Option<PauseConfig>> {
        let of_class = |class: &ClassConfig| match &class.queueing {
            Some(inner) => inner.pauses(),
            None => vec![class.pause; class.queues()],
        };
        self.classes.iter().flat_map(of_class).collect()
    }
}
