//! [`Labels`]: the lines about the distribution of MPLS labels.

use perhop_device::LabelDistribution;
use perhop_device::intent::At;

/// The lines about the distribution of MPLS labels.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Labels {
    /// `no mpls ip`: no interface sends or receives labels.
    pub off: Option<usize>,
    /// The properties of the whole device.
    pub distribution: LabelDistribution,
    /// `interface` in the block `mpls ldp` of IOS XR.
    pub ports: Vec<At<String>>,
}
