//! [`Tags`]: the VLAN tags of a sub-interface or service instance.

use crate::ast::{Interface, LinkEncapsulation, ServiceInstance};

/// The VLAN tags of packets on a sub-interface.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::convert) struct Tags {
    pub(in crate::convert) outer: Option<u16>,
    pub(in crate::convert) inner: Option<u16>,
}

impl Tags {
    pub(in crate::convert) fn of_interface(interface: &Interface) -> Tags {
        match interface.encapsulation.map(|encapsulation| encapsulation.value) {
            Some(LinkEncapsulation::Dot1q(outer)) if interface.native_vlan.is_none() => {
                Tags { outer: Some(outer), inner: interface.second_vlan.map(|inner| inner.value) }
            }
            _ => Tags::default(),
        }
    }
    /// Returns the tags of a service instance for one VLAN: `dot1q 10 second-dot1q 20`.
    pub(in crate::convert) fn of_instance(instance: &ServiceInstance) -> Tags {
        let words = instance.encapsulation.iter().flat_map(|at| at.value.split_ascii_whitespace());
        let words: Vec<&str> = words.collect();
        let after = |keyword: &str| {
            let value = words.iter().skip_while(|word| **word != keyword).nth(1);
            value.and_then(|value| value.parse().ok())
        };
        Tags { outer: after("dot1q"), inner: after("second-dot1q") }
    }
}
