//! [`Mode`]: the blocks of a configuration.

/// The block of a line, with the index of the block in the syntax tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Outside of all blocks.
    Global,
    /// `class-map`
    ClassMap(usize),
    /// `policy-map`
    PolicyMap(usize),
    /// `class` in a policy-map.
    Class(usize, usize),
    /// `police` in a class, written over several lines.
    Police(usize, usize),
    /// `ip access-list`, `ipv6 access-list`
    AccessList(usize),
    /// `object-group`
    ObjectGroup(usize),
    /// `table-map`
    TableMap(usize),
    /// `interface`
    Interface(usize),
    /// `interface range`, with the index of the range.
    InterfaceRange(usize),
    /// `pvc` of an interface.
    Pvc(usize, usize),
    /// `service instance` of an interface.
    ServiceInstance(usize, usize),
    /// `controller`
    Controller(usize),
    /// `control-plane`
    ControlPlane,
    /// `crypto ipsec transform-set`
    TransformSet(usize),
    /// `crypto ipsec profile`
    IpsecProfile(usize),
    /// `crypto map`
    CryptoMap(usize),
    /// `router`, and `vrf` of NX-OS and IOS XR inside it, which is a process of its own.
    RouterProcess(usize),
    /// `area` of IOS XR, with the indexes of the process and of the area.
    RouterArea(usize, usize),
    /// `interface` in a routing process of IOS XR, with the indexes of the process and of the port.
    RouterPort(usize, usize),
    /// `router static` of IOS XR, and its address families.
    StaticRoutes,
    /// `vrf` in `router static` of IOS XR, and its address families, with the index of the VRF.
    VrfStaticRoutes(usize),
    /// `mpls ldp` of IOS XR, and the blocks inside it.
    Labels,
    /// `controller` of IOS XR.
    OpticalController,
    /// `policy-map type network-qos` of NX-OS.
    NetworkPolicy(usize),
    /// `class type network-qos` in such a policy-map.
    NetworkClass(usize, usize),
    /// `system qos` of NX-OS.
    SystemQos,
    /// `vrf context` of NX-OS, with its index.
    VrfContext(usize),
    /// A block without effect on packets.
    Irrelevant,
    /// A block outside the model, with its effect on packets.
    NotModelled(&'static str),
}
