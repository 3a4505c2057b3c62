//! Reports commands that divide a packet memory, on hardware that does not divide its memory.

use perhop_device::profile::Acceptance;
use perhop_lint::Diagnostic;

use crate::convert::context::Context;
use crate::rules;

impl Context<'_> {
    /// Reports the commands that divide the memory of a port, if the hardware does not divide its memory.
    pub(in crate::convert) fn memory_commands(&mut self) {
        if *self.platform.rules().memory_division == Acceptance::Accepted {
            return;
        }
        let classes = self.configuration.policy_maps.iter().flat_map(|policy| &policy.classes);
        let ratios = classes.filter_map(|class| {
            let ratio = class.buffers_percent.as_ref()?;
            Some((ratio.line, format!("class {} has `queue-buffers ratio`", class.name)))
        });
        let multiplier = self.configuration.softmax_multiplier.as_ref();
        let multiplier = multiplier
            .map(|written| (written.line, "the switch has `qos queue-softmax-multiplier`".to_owned()));
        let found: Vec<Diagnostic> = ratios
            .chain(multiplier)
            .map(|(line, subject)| {
                Diagnostic::new(
                    &rules::MEMORY_COMMAND_REFUSED,
                    line,
                    format!(
                        "{subject}, but the ports of its chip (Silicon One) have no memory that the line \
                             could divide"
                    ),
                    "remove the line: each queue has the same limit, a fixed time at the port's rate; \
                     `perhop buffers` shows it",
                )
            })
            .collect();
        self.found.extend(found);
    }
}
