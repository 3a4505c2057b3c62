//! Rules about the queues and the trust of switches with `mls qos`.

use perhop_device::PortMemory;
use perhop_lint::Diagnostic;
use perhop_qos::Dscp;

use crate::convert::context::Context;
use crate::mls;
use crate::platform::SwitchHardware;
use crate::rules;

impl Context<'_> {
    /// Reports trust settings and weights that send packets to an unintended queue.
    pub(in crate::convert) fn switch_queue_rules(&mut self) {
        let is_own = self.platform.switch() == Some(SwitchHardware::Mls);
        let Some(line) = mls::enabled_by(self.configuration).filter(|_| is_own) else { return };
        let ports = || {
            let all = self.configuration.interfaces.iter();
            all.filter(|interface| interface.shutdown.is_none() && mls::is_switch_port(interface))
        };
        let knows = ports().any(|interface| {
            let own = &interface.mls;
            own.trust.is_some() || own.cos_override.is_some() || interface.service_policies.input.is_some()
        });
        let mut found: Vec<Diagnostic> = Vec::new();
        if ports().next().is_some() && !knows {
            found.push(Diagnostic::new(
                &rules::SWITCH_PORTS_UNTRUSTED,
                line,
                "mls qos is on, but no port trusts its packets or has an input policy",
                "the switch sets codepoint and class of service of all packets to 0, so all packets lose \
                 their marks and wait in one queue",
            ));
        } else {
            found.extend(self.shaped_by_default(line));
        }
        let named = ports().filter_map(|interface| interface.mls.mutation.as_ref());
        let undefined = named.filter(|name| !self.configuration.mls.mutations.contains_key(&name.value));
        found.extend(undefined.map(|name| {
            Diagnostic::new(
                &rules::TABLE_MAP_UNDEFINED,
                name.line,
                format!("the map `mls qos map dscp-mutation {}` is not defined", name.value),
                "the port does not change the codepoints",
            )
        }));
        self.found.extend(found);
    }

    /// Reports ports whose voice queue has the default shaped weight.
    fn shaped_by_default(&self, line: usize) -> Option<Diagnostic> {
        let memory = self.memory.as_ref()?;
        let is_shaped = |port: &&PortMemory| {
            let interface = self.configuration.interfaces.get(&port.interface);
            let has_line = interface.is_some_and(|own| own.mls.shape.is_some() || own.shutdown.is_some());
            !has_line && voice_ceiling(port).is_some()
        };
        let shaped: Vec<&PortMemory> = memory.ports.iter().filter(is_shaped).collect();
        let first = shaped.first()?;
        let ceiling = voice_ceiling(first)?;
        let others = match shaped.len() {
            1 => String::new(),
            2 => " and 1 other port".to_owned(),
            count => format!(" and {} other ports", count - 1),
        };
        Some(Diagnostic::new(
            &rules::SWITCH_QUEUE_SHAPED,
            line,
            format!(
                "on {}{others}, the default weight limits the queue of dscp ef to {} kb/s",
                first.interface,
                ceiling / 1000
            ),
            "packets above this rate wait or are dropped: write priority-queue out, or srr-queue bandwidth \
             shape with 0 for the queue",
        ))
    }
}

/// Returns the maximum rate of the expedited forwarding queue, bit/s, if it is below the rate of the port.
fn voice_ceiling(port: &PortMemory) -> Option<u64> {
    let is_voice = |dscp: &Dscp| dscp.value() == 46;
    let queue = port.queues.iter().find(|queue| {
        queue.default.as_ref().is_some_and(|default| default.codepoints.iter().any(is_voice))
    })?;
    queue.srr.as_ref()?.ceiling_bps.filter(|ceiling| Some(*ceiling) < port.rate_bps)
}
