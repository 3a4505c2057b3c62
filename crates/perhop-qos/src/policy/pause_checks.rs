//! Checks of a [`PauseConfig`] against its class and scheduler, and the pauses of all queues of a port.

use super::{ClassConfig, PauseBuffer, PauseConfig, PauseMode, QueueingConfig};
use crate::ConfigError;
use crate::buffer::BufferConfig;
use crate::packet::LinkMark;
use crate::scheduler::SchedulerConfig;

impl PauseConfig {
    /// Checks the thresholds, and that the queue of `class` sends every packet that has joined it.
    pub(crate) fn check(&self, class: &ClassConfig) -> Result<(), ConfigError> {
        if class.fair_queueing.is_some() {
            let message = "a queue with `pause` may drop only the packet that arrives, but fair-queueing \
                           drops packets of other flows";
            return Err(ConfigError::new("fair-queueing", message).help("leave one of the two out"));
        }
        if let Some(BufferConfig::FqCodel(_) | BufferConfig::FqPie(_) | BufferConfig::DualPi2(_)) =
            class.buffer
        {
            let message = "a queue with `pause` needs a buffer manager that drops only packets that arrive";
            return Err(ConfigError::new("buffer", message).help("write for example tail-drop or red"));
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
            let message = format!(
                "`xon`, where the neighbor resumes, is {xon}, but `xoff`, where the neighbor pauses, is only \
                 {xoff}"
            );
            return Err(ConfigError::new("pause.buffer.xon", message).help("write at most `xoff`"));
        }
        Ok(())
    }
}

impl ClassConfig {
    /// Returns the priorities of the class, or of the classes inside it, that have a buffer.
    fn buffered_priorities(&self) -> Vec<LinkMark> {
        let own = self.pause.filter(|pause| pause.buffer.is_some()).map(|pause| pause.priority);
        let inside = self.queueing.iter().flat_map(|queueing| &queueing.classes);
        own.into_iter().chain(inside.flat_map(ClassConfig::buffered_priorities)).collect()
    }
}

impl QueueingConfig {
    /// Checks that the scheduler can serve other classes while a class is paused, and that each priority has
    /// at most one memory. The check includes nested classes.
    pub(crate) fn check_pauses(&self) -> Result<(), ConfigError> {
        let mut known = [false; 8];
        let is_paused = |class: &ClassConfig| class.pause.is_some_and(|pause| pause.mode == PauseMode::On);
        for (index, class) in self.classes.iter().enumerate() {
            let within = |error: ConfigError| error.within("pause").within(index).within("classes");
            let is_fifo = self.scheduler == SchedulerConfig::Fifo && self.classes.len() > 1;
            if is_fifo && class.has_property(is_paused) {
                let message =
                    "fifo serves classes in order of arrival, so a paused class blocks all other classes";
                return Err(within(ConfigError::new("", message).help("write for example `scheduler: drr`")));
            }
            for priority in class.buffered_priorities() {
                if std::mem::replace(&mut known[usize::from(priority.value())], true) {
                    let message = format!("priority {priority} already has a buffer");
                    return Err(within(ConfigError::new("buffer", message).help("write it in one class")));
                }
            }
        }
        Ok(())
    }

    /// The priority flow control of each queue of the port, in the order of the queues.
    pub fn pauses(&self) -> Vec<Option<PauseConfig>> {
        let of_class = |class: &ClassConfig| match &class.queueing {
            Some(inner) => inner.pauses(),
            None => vec![class.pause; class.queues()],
        };
        self.classes.iter().flat_map(of_class).collect()
    }
}
