//! Devices in a network: configurations of the routers of a scenario, and the paths of packets through
//! devices.
//!
//! ```text
//! RouterConfiguration → FrontEnd::parse → DeviceModel → policies, rates, framings and rings of the scenario
//! DeviceModel → forwarding::Table → trace::trace → paths, stage by stage
//! ```
//!
//! This layer depends on the device model and on scenarios. It does not depend on a vendor or an engine.

mod assemble;
mod device;
mod devices;
mod finding;
pub mod forwarding;
mod given;
mod neighbors;
mod options;
pub mod rules;
pub mod show;
pub mod snapshot;
pub mod trace;
mod whole_port;

use std::path::Path;

pub use device::{Neighbor, NetworkDevice};
pub use devices::{Device, Devices, with_added};
pub use options::options;
use perhop_device::FrontEnds;
use perhop_scenario::{Assembler, Diagnostic, Document, Scenario};
pub use whole_port::{
    CarriedPort, different_wires, has_classes, has_input_policy, has_nodes, has_output_policy, whole_port,
};

/// The configurations of a network, in the languages of some front ends.
pub struct Network<'a>(pub FrontEnds<'a>);

impl Assembler for Network<'_> {
    fn assemble(&self, document: &Document, written: &Scenario, base: &Path) -> (Scenario, Vec<Diagnostic>) {
        assemble::assemble(&Devices::new(self.0), document, written, base)
    }
}

impl Assembler for Devices<'_> {
    fn assemble(&self, document: &Document, written: &Scenario, base: &Path) -> (Scenario, Vec<Diagnostic>) {
        assemble::assemble(self, document, written, base)
    }
}
