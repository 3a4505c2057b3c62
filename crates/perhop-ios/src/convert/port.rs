//! [`Router`] and [`Port`]: the result of a conversion.

use std::net::Ipv4Addr;

use perhop_device::lower::{PortLinks, ResolvedPolicy};
use perhop_device::{CountedBytes, Wire};
use perhop_qos::Rate;
use perhop_qos::policy::PolicyConfig;

use crate::ast::Hardware;

/// A router as its configuration describes it.
#[derive(Clone, Debug, PartialEq)]
pub struct Router {
    /// Its name.
    pub hostname: Option<String>,
    /// Its interfaces and virtual circuits, in the order of the file.
    pub ports: Vec<Port>,
}

impl Router {
    /// The port called `name`, or the only one of the interface called `name`.
    pub fn port(&self, name: &str) -> Option<&Port> {
        let name = crate::interface_name(name);
        let exact = self.ports.iter().find(|port| port.name == name);
        exact.or_else(|| {
            let mut of_interface = self.ports.iter().filter(|port| port.interface == name);
            of_interface.next().filter(|_| of_interface.next().is_none())
        })
    }
}

/// One interface, or one virtual circuit of an ATM interface.
#[derive(Clone, Debug, PartialEq)]
pub struct Port {
    /// The interface's name; where it has several circuits, with the circuit's: `ATM1/0.8 8/9`.
    pub name: String,
    /// The interface's name.
    pub interface: String,
    /// The line that opens the interface or the circuit.
    pub line: usize,
    /// The kind of its wire.
    pub hardware: Hardware,
    /// Addresses and lengths of their subnets' prefixes, the primary one first.
    pub addresses: Vec<(Ipv4Addr, u8)>,
    /// Bits per second that shares and percentages refer to: `bandwidth`, or the circuit's rate.
    pub bandwidth: Rate,
    /// Whether the configuration names the line by which packets leave. The bandwidth of a tunnel without a
    /// source is a metric of routing protocols, not the rate of a line.
    pub has_known_line: bool,
    /// The treatment of packets that arrive here.
    pub input: PolicyConfig,
    /// The treatment of packets that leave here.
    pub output: PolicyConfig,
    /// The attached policies with all their numbers.
    pub policies: Policies,
    /// The classes and lines behind the conditioners and queues of `input` and `output`.
    pub links: PortLinks,
    /// The bytes that the router counts of a packet besides those of IP.
    pub counted_bytes: CountedBytes,
    /// The wire, as far as the configuration says.
    pub wire: Wire,
    /// Whether it is shut down: nothing arrives or leaves here.
    pub shutdown: bool,
}

/// The policies attached to a port, with all their numbers; those that the router refuses are not.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Policies {
    /// For packets that arrive.
    pub input: Option<ResolvedPolicy>,
    /// For packets that leave.
    pub output: Option<ResolvedPolicy>,
}
