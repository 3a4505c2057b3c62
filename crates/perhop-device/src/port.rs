//! [`Port`]: one interface of a device.

use perhop_qos::conditioner::ConditionerConfig;
use perhop_qos::framing::{Framing, HeaderStack};
use perhop_qos::policy::PolicyConfig;
use perhop_qos::ring::RingConfig;
use perhop_qos::{ByteSize, Rate};
use serde::Serialize;

use crate::forwarding::{Forwarding, InterfaceAddress, PortForwarding};
use crate::intent::PortIntent;
use crate::lower::{PortLinks, STAGES_OF_DEVICE};
use crate::policy::AttachedPolicy;

/// A device as its configuration describes it.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Router {
    /// The name of the device, if configured.
    pub hostname: Option<String>,
    /// The interfaces and virtual circuits, in the order of the file.
    pub ports: Vec<Port>,
    /// The routes and access lists.
    #[serde(skip)]
    pub forwarding: Forwarding,
}

impl Router {
    /// Returns the port `name`, or the only port of the interface `name`.
    pub fn port(&self, name: &str) -> Option<&Port> {
        let exact = self.ports.iter().find(|port| port.name == name);
        exact.or_else(|| {
            let mut of_interface = self.ports.iter().filter(|port| port.interface == name);
            of_interface.next().filter(|_| of_interface.next().is_none())
        })
    }
}

/// One interface, or one virtual circuit of an interface.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Port {
    /// Name, unique in the device. An interface with several circuits has one name for each.
    pub name: String,
    /// Name of the interface, also for a virtual circuit on it.
    pub interface: String,
    /// The first line of the section of the interface in the configuration, from 1.
    pub line: usize,
    /// The kind of the physical interface; `None` if the configuration language does not define kinds.
    #[serde(rename = "hardware", skip_serializing_if = "Option::is_none")]
    pub kind: Option<LineKind>,
    /// IPv4 addresses, the primary one first.
    pub addresses: Vec<InterfaceAddress>,
    /// The rate to which shares and percentages refer, bits per second; `None` if unknown.
    pub bandwidth: Option<Rate>,
    /// The link rate that perhop assumes if neither the text nor the scenario sets it. `bandwidth` can then
    /// be the rate of a shaper.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub assumed_rate: Option<Rate>,
    /// Whether the configuration determines the physical interface through which packets leave. False for a
    /// tunnel if the configuration does not define the source of the tunnel. Serialized only if false.
    #[serde(skip_serializing_if = "std::clone::Clone::clone")]
    pub has_known_line: bool,
    /// Policy for arriving packets.
    pub input: PolicyConfig,
    /// Policy for departing packets.
    pub output: PolicyConfig,
    /// The attached policies as the device prints them; `None` if the language has no such policies.
    #[serde(rename = "policies", skip_serializing_if = "Option::is_none")]
    pub attachments: Option<Attachments>,
    /// The vendor-neutral policies that `input` and `output` implement.
    #[serde(skip)]
    pub intent: PortIntent,
    /// The classes of `intent`, and the lines of the conditioners and queues of `input` and `output`. Only
    /// the limiters in front of the policies are serialized.
    #[serde(rename = "limiters", skip_serializing_if = "PortLinks::has_no_limiter")]
    pub links: PortLinks,
    /// The bytes that the device counts for each packet in addition to its IP bytes; `None` if the
    /// configuration does not determine their number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub counted_bytes: Option<CountedBytes>,
    /// The configured properties of the link.
    pub wire: Wire,
    /// The reason why perhop does not model the output queues. Packets of a run may then not wait in these
    /// queues.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unmodeled_queues: Option<String>,
    /// Whether the interface is administratively down.
    pub shutdown: bool,
    /// The configuration that determines the path of packets of the port. The only serialized property is
    /// whether packets through the port go to the device itself.
    #[serde(rename = "leads_to_device", skip_serializing_if = "PortForwarding::is_of_interface")]
    pub forwarding: PortForwarding,
}

/// Whether a stage comes from a configured policy or limiter. The device adds other stages without
/// configuration.
fn is_configured(stage: &ConditionerConfig) -> bool {
    !stage.name.as_deref().is_some_and(|name| STAGES_OF_DEVICE.contains(&name))
}

impl Port {
    /// Whether a policy or a limiter marks, polices or drops arriving packets.
    pub fn conditions_input(&self) -> bool {
        self.input.conditioners.iter().any(is_configured)
    }

    /// Whether a policy or a limiter marks, polices or drops departing packets.
    pub fn conditions_output(&self) -> bool {
        self.output.conditioners.iter().any(is_configured)
    }

    /// Creates a port without addresses and policies; its section begins at `line`.
    pub fn new(name: &str, line: usize) -> Port {
        Port {
            name: name.to_owned(),
            interface: name.to_owned(),
            line,
            kind: None,
            addresses: Vec::new(),
            bandwidth: None,
            assumed_rate: None,
            has_known_line: true,
            input: PolicyConfig::default(),
            output: PolicyConfig::default(),
            attachments: None,
            intent: PortIntent::default(),
            links: PortLinks::default(),
            counted_bytes: None,
            wire: Wire::default(),
            unmodeled_queues: None,
            shutdown: false,
            forwarding: PortForwarding::default(),
        }
    }

    /// Returns the attached policy for arriving packets, as the device prints it.
    pub fn input_policy(&self) -> Option<&AttachedPolicy> {
        self.attachments.as_ref()?.input.as_ref()
    }

    /// Returns the attached policy for departing packets, as the device prints it.
    pub fn output_policy(&self) -> Option<&AttachedPolicy> {
        self.attachments.as_ref()?.output.as_ref()
    }
}

/// The kind of an interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum LineKind {
    /// Ethernet of any speed.
    Ethernet,
    /// A synchronous serial line.
    Serial,
    /// ATM.
    Atm,
    /// Packet over SONET.
    PacketOverSonet,
    /// An interface without its own wire: loopback, null, virtual LANs, tunnels, bundles.
    Virtual,
    /// Another kind that the language defines.
    Other,
    /// An unknown name.
    Unknown,
}

/// The policies attached to a port. Policies that the device refuses are omitted.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Attachments {
    /// The policy of arriving packets.
    pub input: Option<AttachedPolicy>,
    /// The policy of departing packets.
    pub output: Option<AttachedPolicy>,
}

/// The bytes that the counters of a device count for each packet in addition to its IP bytes. Meters and
/// schedulers can count other bytes, which the policies of the port set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CountedBytes {
    /// The bytes in counters of classes.
    pub classes: i32,
    /// The bytes in counters of queues.
    pub queues: i32,
}

/// The configured properties of the link at a port. `None`: the scenario sets the value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Wire {
    /// The link rate, bits per second of wire bytes; for a circuit, of cells.
    pub rate: Option<Rate>,
    /// The framing around an IP packet.
    pub framing: Option<Framing>,
    /// Headers between the IP packet and the framing.
    #[serde(skip_serializing_if = "HeaderStack::is_empty")]
    pub headers: HeaderStack,
    /// The FIFO between scheduler and wire.
    pub ring: Option<RingConfig>,
    /// The MTU: the length of the longest IP packet that is sent without fragmentation, before tunnels add
    /// their headers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mtu: Option<ByteSize>,
    /// The maximum segment size that the device writes into TCP connections that pass through it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub adjust_mss: Option<ByteSize>,
}
