//! [`LabelDistribution`]: the distribution of MPLS labels by a device (LDP, RFC 5036), as configured.

/// The distribution of labels by a device. A port that distributes labels has a line in
/// [`PortForwarding::ldp`](crate::PortForwarding::ldp).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LabelDistribution {
    /// The destinations that get labels.
    pub destinations: LabeledDestinations,
    /// The line that makes the device request packets with a label when it is the last router of a path
    /// (explicit null, RFC 3032 §2.1). Without the line, the previous router removes the label (implicit
    /// null, RFC 3031 §3.16).
    pub explicit_null: Option<usize>,
    /// The lines that limit labels to some destinations or neighbors. perhop does not compute these limits.
    pub not_computed: Vec<usize>,
}

/// The destinations for which a device assigns labels, and to which it sends packets with labels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LabeledDestinations {
    /// All routes of interior protocols, connected subnets and static routes, without waiting for the label
    /// of the next hop (independent control, RFC 5036 §2.6.1.1).
    #[default]
    AllInterior,
    /// The device's own loopback addresses, and destinations whose next hop has sent a label (ordered
    /// control, RFC 5036 §2.6.1.2). Only packets over a route whose next hop is such a destination get
    /// labels.
    Loopbacks,
}
