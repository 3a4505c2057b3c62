//! The ports of a router as those of [`perhop_device`].

use perhop_device::Attachments;

use crate::convert::{Policies, Port, Router};

impl From<Router> for perhop_device::Router {
    fn from(router: Router) -> perhop_device::Router {
        let Router { hostname, ports } = router;
        perhop_device::Router { hostname, ports: ports.into_iter().map(Into::into).collect() }
    }
}

impl From<Port> for perhop_device::Port {
    fn from(port: Port) -> perhop_device::Port {
        perhop_device::Port {
            name: port.name,
            interface: port.interface,
            line: port.line,
            kind: Some(port.hardware),
            addresses: port.addresses,
            bandwidth: Some(port.bandwidth),
            has_known_line: port.has_known_line,
            input: port.input,
            output: port.output,
            attachments: Some(port.policies.into()),
            links: port.links,
            counted_bytes: Some(port.counted_bytes),
            wire: port.wire,
            shutdown: port.shutdown,
        }
    }
}

impl From<Policies> for Attachments {
    fn from(policies: Policies) -> Attachments {
        Attachments { input: policies.input.map(Into::into), output: policies.output.map(Into::into) }
    }
}
