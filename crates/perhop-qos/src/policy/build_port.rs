//! [`PolicyConfig::build_port`], in a separate file because the port itself reads the configuration.

use super::{PolicyConfig, WireConfig};
use crate::buffer::MemoryPools;
use crate::conditioner::TrafficConditioner;
use crate::packet::Encapsulation;
use crate::random::Streams;
use crate::{ConfigError, Port};

impl PolicyConfig {
    /// Builds the port of an interface's output. `interfaces` are the names of the node's interfaces, listed
    /// in the order of their numbers. The port shares its memory with no other port.
    ///
    /// # Errors
    /// A class, buffer manager, scheduler or ring cannot be built (the first one is reported), or the
    /// overhead is out of range.
    pub fn build_port(
        &self,
        wire: &WireConfig,
        interfaces: &[String],
        streams: &Streams,
    ) -> Result<Port, ConfigError> {
        self.build_port_in(wire, interfaces, streams, &mut MemoryPools::default())
    }
    /// Builds the port like [`build_port`](PolicyConfig::build_port), for a node with these `pools` of
    /// memory.
    ///
    /// # Errors
    /// The errors are those of [`build_port`](PolicyConfig::build_port), or another port of the same pool has
    /// other settings.
    pub fn build_port_in(
        &self,
        wire: &WireConfig,
        interfaces: &[String],
        streams: &Streams,
        pools: &mut MemoryPools,
    ) -> Result<Port, ConfigError> {
        let port = Port::build_in(self.queueing.as_ref(), wire, interfaces, streams, pools)?;
        Ok(port.counting(self.accounting()?))
    }
}

impl WireConfig {
    /// Prepares the output `conditioner` that precedes `port` and its wire. The conditioner adds tags and
    /// labels to packets if the wire carries marks, or if the conditioner or the port reads them.
    pub fn leaving_by(&self, conditioner: TrafficConditioner, port: &Port) -> TrafficConditioner {
        let encapsulation = self.headers.encapsulation();
        let reads_marks = conditioner.reads_link_marks() || port.reads_link_marks();
        if reads_marks || encapsulation != Encapsulation::default() {
            conditioner.leaving_by(encapsulation)
        } else {
            conditioner
        }
    }
}
