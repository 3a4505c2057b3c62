//! [`ProofQuestion`]: two configurations, and the parts that are compared.

use perhop_device::intent::Direction;
use perhop_device::{DeviceModel, FrontEnd, ParseOptions};
use perhop_qos::Rate;

/// Two configurations, and the parts that are compared.
#[derive(Clone, Debug)]
pub struct ProofQuestion<'a> {
    /// The texts of the configurations.
    pub texts: [&'a str; 2],
    /// The names of the configurations in answers.
    pub names: [&'a str; 2],
    /// The options for reading each configuration.
    pub options: [&'a ParseOptions; 2],
    /// The port of each configuration; `None` for all ports, or for the only port with a policy.
    pub at: [Option<&'a str>; 2],
    /// The policy of each configuration; `None` for any policy.
    pub policy: [Option<&'a str>; 2],
    /// The direction to compare; `None` for all directions that both ports have.
    pub direction: Option<Direction>,
    /// The rate of the interface that perhop adds for an unattached policy.
    pub rate: Option<Rate>,
}

/// A parsed configuration.
pub(super) struct Side<'a> {
    pub(super) name: &'a str,
    pub(super) text: &'a str,
    pub(super) front_end: &'a dyn FrontEnd,
    pub(super) options: ParseOptions,
    pub(super) model: DeviceModel,
}
