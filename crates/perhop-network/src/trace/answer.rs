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
    /// The packet as it arrives.
    pub packet: String,
    /// Its paths: one for each combination of the colors that meters may give.
    pub paths: Vec<Path>,
    /// The assumptions of the paths.
    pub assumed: Vec<String>,
    /// Ignored parts of the configuration that may change the paths.
    pub not_looked_at: Vec<String>,
}

/// One path of a packet.
#[derive(Clone, Debug, Serialize)]
pub struct Path {
    /// The stages in order.
    pub stages: Vec<Stage>,
    /// The packet at the end.
    pub packet: String,
    /// The end of the path.
    #[serde(flatten)]
    pub end: End,
    /// The output interface; `None` if the packet is dropped or the interface is not known.
    pub leaves: Option<String>,
    /// The name of its queue; `None` if it joins none.
    pub queue: Option<String>,
    /// Its drop precedence by color: 0 to 2.
    pub color: usize,
    /// The packet at the end, as the last stage classifies it.
    #[serde(skip)]
    pub last: Packet,
    /// The EXP of new labels when the device adds them, before the output policy.
    #[serde(skip)]
    pub(crate) pushed_exp: Option<LinkMark>,
    /// The headers that the device adds, the outermost last.
    #[serde(skip)]
    pub added_headers: Vec<AddedHeader>,
}

/// A header that a device adds to a packet.
#[derive(Clone, Debug)]
pub struct AddedHeader {
    /// The inner packet, when the header is added.
    pub inner: Packet,
    /// The packet with the header.
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
    /// No class takes the packet.
    NoQueue,
    /// The packet leaves via an unknown interface.
    Leaves,
    /// The packet is for the device itself.
    Delivered,
    /// The packet is dropped.
    Dropped {
        /// The stage that drops it.
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
    /// Its number, from 1.
    pub line: usize,
    /// Its text without spaces around.
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
    /// The header of the packet inside.
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
    /// A route that the caller gives.
    Given,
    /// The shortest path of OSPF.
    Ospf,
    /// The shortest path of IS-IS.
    Isis,
    /// A route of an MPLS VPN.
    Vpn,
    /// The interface that the caller chooses.
    Chosen,
    /// A route that discards.
    Discard,
    /// No source is known.
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
        /// The interface; `None` if it is not known, and for packets of the device itself.
        interface: Option<String>,
        /// The reason for the choice of this interface.
        because: String,
        /// The lines that decide.
        lines: Vec<LineText>,
    },
    /// An access list permits or denies the packet.
    AccessList {
        /// The side.
        side: Place,
        /// The interface.
        interface: String,
        /// The name of the list.
        list: String,
        /// Its decision.
        decision: AccessDecision,
        /// The line that applies the list, and the entry that decides.
        lines: Vec<LineText>,
    },
    /// The packet belongs to a class of an attached policy.
    Class {
        /// The side.
        side: Place,
        /// The interface.
        interface: String,
        /// The policy.
        policy: String,
        /// The class.
        class: String,
        /// The line of the class; `None` if the policy does not contain it.
        line: Option<usize>,
        /// The matching criteria; for access lists, the deciding entries.
        criteria: Vec<LineText>,
    },
    /// A conditioner marks, polices or drops the packet.
    Conditioner {
        /// The side.
        side: Place,
        /// The interface.
        interface: String,
        /// Its name.
        name: String,
        /// Its meter.
        meter: Option<MeterConfig>,
        /// The color that the meter gives on this path.
        color: Option<String>,
        /// The actions for that color.
        actions: Vec<Action>,
        /// The packet afterwards.
        packet: String,
        /// Its lines.
        lines: Vec<LineText>,
        /// The codepoint afterwards.
        #[serde(skip)]
        dscp: Dscp,
        /// The EXP afterwards.
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
        /// The next router.
        next_hop: Option<IpAddr>,
        /// The interface through which the packet leaves, or which has the destination address.
        interface: Option<String>,
        /// The lines that decide.
        lines: Vec<LineText>,
    },
    /// The device adds, replaces or removes MPLS labels.
    Labels {
        /// The operation.
        operation: LabelOperation,
        /// The labels afterwards, the outermost first.
        labels: Vec<String>,
        /// The reason.
        because: String,
        /// The lines that decide.
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
        /// The header by which later stages classify it.
        classified_by: HeaderName,
        /// The lines that decide.
        lines: Vec<LineText>,
    },
    /// The packet joins a queue.
    Queue {
        /// The side: output, or the control plane.
        side: Place,
        /// The interface.
        interface: String,
        /// The name of the queue; `None` if no class takes the packet, and for a single queue without a name.
        queue: Option<String>,
        /// The classes on the path to the queue, the outermost first.
        classes: Vec<QueueClass>,
        /// The lines of the class of the queue.
        lines: Vec<LineText>,
    },
}

/// The bytes that a class of HTB sends in one turn of the round robin.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Turn {
    /// The quantum, bytes.
    pub quantum: ByteSize,
    /// The quantum that the kernel computes from rate and r2q, before its limits apply; `None` if the class
    /// sets a quantum.
    pub of_rate: Option<ByteSize>,
    /// The divisor of the rate.
    pub rate_to_quantum: u32,
}

/// A class on the path to a queue.
#[derive(Clone, Debug, Serialize)]
pub struct QueueClass {
    /// The scheduler that serves it.
    pub scheduler: SchedulerConfig,
    /// The turn of the class, if it is a class of HTB with a queue.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turn: Option<Turn>,
    /// The class, without its match and the classes inside it.
    #[serde(flatten)]
    pub class: ClassConfig,
}
