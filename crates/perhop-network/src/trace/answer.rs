//! [`Answer`]: the paths of a packet through a device, stage by stage.

use std::net::IpAddr;

use perhop_device::AccessDecision;
use perhop_qos::ByteSize;
use perhop_qos::action::Action;
use perhop_qos::meter::MeterConfig;
use perhop_qos::packet::LinkMark;
use perhop_qos::policy::ClassConfig;
use perhop_qos::scheduler::SchedulerConfig;
use perhop_qos::{Dscp, Packet};
use serde::Serialize;

/// The paths of a packet through a device.
#[derive(Clone, Debug, Serialize)]
pub struct Answer {
    /// The packet on arrival.
    pub packet: String,
    /// The paths, one for each combination of colors that meters can give.
    pub paths: Vec<Path>,
    /// The assumptions of the paths.
    pub assumed: Vec<String>,
    /// The ignored parts of the configuration that can change the paths.
    pub not_looked_at: Vec<String>,
}

/// One path of a packet.
#[derive(Clone, Debug, Serialize)]
pub struct Path {
    /// The stages in order.
    pub stages: Vec<Stage>,
    /// The packet at the end of the path.
    pub packet: String,
    /// The end of the path.
    #[serde(flatten)]
    pub end: End,
    /// The output interface; `None` if the packet is dropped or the interface is not known.
    pub leaves: Option<String>,
    /// The name of the packet's queue; `None` if the packet joins no queue.
    pub queue: Option<String>,
    /// The drop precedence of the packet as an index by color, 0 to 2.
    pub color: usize,
    /// The packet at the end of the path, with the header by which the last stage classifies it.
    #[serde(skip)]
    pub last: Packet,
    /// The EXP of the new labels when the device adds them, before the output policy.
    #[serde(skip)]
    pub(crate) pushed_exp: Option<LinkMark>,
    /// The headers that the device adds, the outermost last.
    #[serde(skip)]
    pub added_headers: Vec<AddedHeader>,
}

/// A header that a device adds to a packet.
#[derive(Clone, Debug)]
pub struct AddedHeader {
    /// The packet before the device adds the header.
    pub inner: Packet,
    /// The packet with the added header.
    pub outer: Packet,
    /// The header by which later stages classify the packet.
    pub classified_by: HeaderName,
}

/// The end of a path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "end", rename_all = "kebab-case")]
pub enum End {
    /// The packet waits in a queue of an interface.
    Queued,
    /// No class matches the packet.
    NoQueue,
    /// The packet leaves via an unknown interface.
    Leaves,
    /// The packet is for the device itself.
    Delivered,
    /// The packet is dropped.
    Dropped {
        /// The stage that drops the packet.
        cause: Cause,
    },
}

/// The cause of a drop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cause {
    /// An access list denies the packet.
    AccessList,
    /// A conditioner drops the packet.
    Conditioner,
    /// The route discards the packet.
    Route,
}

/// A line of the configuration.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LineText {
    /// The number of the line, from 1.
    pub line: usize,
    /// The text of the line without surrounding spaces.
    pub text: String,
}

/// The side of a device on which a stage is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Place {
    /// The side of arriving packets.
    Input,
    /// The side of departing packets.
    Output,
    /// The processor, for packets to the device itself.
    ControlPlane,
}

/// The header by which a stage classifies a packet with two headers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum HeaderName {
    /// The header of the tunnel.
    Outer,
    /// The header of the packet inside the tunnel.
    Inner,
}

/// The source of a forwarding decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Route {
    /// The destination is an address of the device.
    Own,
    /// The destination is in the subnet of an interface.
    Connected,
    /// A static route.
    Static,
    /// A route from the user or from an output of the device.
    Given,
    /// The shortest path of OSPF.
    Ospf,
    /// The shortest path of IS-IS.
    Isis,
    /// A route of an MPLS VPN.
    Vpn,
    /// The output interface that the caller chooses.
    Chosen,
    /// A route that discards packets.
    Discard,
    /// The source is unknown.
    Unknown,
}

/// The effect of a device on the labels of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum LabelOperation {
    /// The device adds labels (RFC 3031 §3.10).
    Impose,
    /// The device replaces the label at the top.
    Swap,
    /// The device removes the label at the top.
    Pop,
    /// The next device does not announce a label, so the packet leaves without labels.
    Unlabeled,
}

/// One stage of a path.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "stage", rename_all = "kebab-case")]
pub enum Stage {
    /// The packet arrives.
    Entrance {
        /// The interface; `None` if it is unknown, or if the device itself sends the packet.
        interface: Option<String>,
        /// The reason for the choice of this interface.
        because: String,
        /// The lines that determine the interface.
        lines: Vec<LineText>,
    },
    /// An access list permits or denies the packet.
    AccessList {
        /// The side of the device on which the stage is.
        side: Place,
        /// The interface at which the stage is.
        interface: String,
        /// The name of the access list.
        list: String,
        /// The decision of the list.
        decision: AccessDecision,
        /// The line that applies the list, and the entry that matches the packet.
        lines: Vec<LineText>,
    },
    /// The packet belongs to a class of an attached policy.
    Class {
        /// The side of the device on which the stage is.
        side: Place,
        /// The interface at which the stage is.
        interface: String,
        /// The name of the policy.
        policy: String,
        /// The name of the class.
        class: String,
        /// The line of the class; `None` if the policy has no line for the class.
        line: Option<usize>,
        /// The criteria that match the packet. For an access list, the entry that matches.
        criteria: Vec<LineText>,
    },
    /// A conditioner marks, polices or drops the packet.
    Conditioner {
        /// The side of the device on which the stage is.
        side: Place,
        /// The interface at which the stage is.
        interface: String,
        /// The name of the conditioner.
        name: String,
        /// The meter of the conditioner.
        meter: Option<MeterConfig>,
        /// The color that the meter gives the packet on this path.
        color: Option<String>,
        /// The actions for this color.
        actions: Vec<Action>,
        /// The packet after the actions.
        packet: String,
        /// The lines of the conditioner.
        lines: Vec<LineText>,
        /// The codepoint after the actions.
        #[serde(skip)]
        dscp: Dscp,
        /// The EXP after the actions.
        #[serde(skip)]
        exp: Option<LinkMark>,
    },
    /// The device forwards the packet.
    Forwarding {
        /// The destination address that the device looks up.
        destination: IpAddr,
        /// The kind of route.
        route: Route,
        /// The prefix of the route.
        prefix: Option<String>,
        /// The address of the next router.
        next_hop: Option<IpAddr>,
        /// The interface through which the packet leaves, or the interface that has the destination address.
        interface: Option<String>,
        /// The lines that determine the decision.
        lines: Vec<LineText>,
    },
    /// The device adds, replaces or removes MPLS labels.
    Labels {
        /// The kind of change to the labels.
        operation: LabelOperation,
        /// The labels after the operation, the outermost first.
        labels: Vec<String>,
        /// The reason for the operation.
        because: String,
        /// The lines that determine the operation.
        lines: Vec<LineText>,
    },
    /// The packet enters a tunnel, or is encrypted.
    Encapsulation {
        /// The tunnel, or the interface that encrypts.
        interface: String,
        /// The protocol of the outermost IP header.
        protocol: u8,
        /// The packet with its outer header.
        packet: String,
        /// The header by which later stages classify the packet.
        classified_by: HeaderName,
        /// The lines that determine the outer header.
        lines: Vec<LineText>,
    },
    /// The packet joins a queue.
    Queue {
        /// The side: output, or the control plane.
        side: Place,
        /// The interface at which the stage is.
        interface: String,
        /// The name of the queue; `None` if no class matches the packet, or for a single queue without a
        /// name.
        queue: Option<String>,
        /// The classes on the path to the queue, the outermost first.
        classes: Vec<QueueClass>,
        /// The lines of the class of the queue.
        lines: Vec<LineText>,
    },
}

/// The bytes that a class of HTB sends per round.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Turn {
    /// The bytes that the class sends per round (quantum).
    pub quantum: ByteSize,
    /// The quantum that the kernel computes from rate and r2q, bytes, before it applies its limits; `None` if
    /// the configuration sets a quantum.
    pub of_rate: Option<ByteSize>,
    /// The divisor of the rate, `r2q`.
    pub rate_to_quantum: u32,
}

/// A class on the path to a queue.
#[derive(Clone, Debug, Serialize)]
pub struct QueueClass {
    /// The scheduler that serves the class.
    pub scheduler: SchedulerConfig,
    /// The quantum of the class, if it is a class of HTB with a queue.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turn: Option<Turn>,
    /// The class, without its match criteria and without its inner classes.
    #[serde(flatten)]
    pub class: ClassConfig,
}
