//! [`PolicyConfig::build_port`]: apart from the configuration, which the port itself reads.

use super::{PolicyConfig, WireConfig};
use crate::conditioner::TrafficConditioner;
use crate::packet::Encapsulation;
use crate::random::Streams;
use crate::{ConfigError, Port};

impl PolicyConfig {
    /// The port, for an interface's output side, in a node whose interfaces are called `interfaces`,
    /// in the order of their numbers.
    ///
    /// # Errors
    /// The first class, buffer manager, scheduler or ring that cannot be built, or an overhead out of range.
    pub fn build_port(
        &self,
        wire: &WireConfig,
        interfaces: &[String],
        streams: &Streams,
    ) -> Result<Port, ConfigError> {
        let port = Port::build(self.queueing.as_ref(), wire, interfaces, streams)?;
        Ok(port.counting(self.accounting()?))
    }
}

impl WireConfig {
    /// The output `conditioner` before `port` and this wire. Packets get their tags and labels there, if the
    /// wire carries some or one of the two reads them.
    pub fn leaving_by(&self, conditioner: TrafficConditioner, port: &Port) -> TrafficConditioner {
        let encapsulation = self.headers.encapsulation();
        let asks = conditioner.reads_link_marks() || port.reads_link_marks();
        if asks || encapsulation != Encapsulation::default() {
            conditioner.leaving_by(encapsulation)
        } else {
            conditioner
        }
    }
}
