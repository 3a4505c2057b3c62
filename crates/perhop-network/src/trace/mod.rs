//! [`trace`]: the path of one packet through a device.
//!
//! ```text
//! entrance → access lists → input conditioners → forwarding → own address: control plane
//!          → access lists → [tunnel: outer header → forwarding]* → encryption → output conditioners → queue
//! ```
//!
//! A meter splits a path into one path per color that the meter can give. All these paths have the same
//! forwarding decision, because the destination does not change before the decision.

mod answer;
mod decision;
mod entrance;
mod exit;
mod labels;
pub(crate) mod outer;
mod stages;

use std::collections::BTreeSet;

pub use answer::{
    AddedHeader, Answer, Cause, End, HeaderName, LabelOperation, LineText, Path, Place, QueueClass,
    Route as RouteKind, Stage, Turn,
};
pub(crate) use labels::{LabelSwitching, LeavingLabels, TableChoice};
use perhop_analysis::Witness;
use perhop_device::intent::VisibleHeader;
use perhop_device::{ClassLines, OpenLine, Port, Router};
use perhop_lint::Line;
use perhop_qos::packet::{Encapsulation, Ingress, InterfaceId, LinkMark};
use perhop_qos::{Color, ConfigError, Packet};

use crate::forwarding::Table;
use crate::given::Given;

/// A device, and the data that tracing a packet needs.
#[derive(Clone, Copy)]
pub struct TracedDevice<'a> {
    /// The device.
    pub router: &'a Router,
    /// The lines of the configuration; empty for a device without a configuration text.
    pub lines: &'a [Line],
    /// The lines that perhop does not model.
    pub open_lines: &'a [OpenLine],
    /// The classes of packets with their lines, if the language has such classes.
    pub class_lines: Option<&'a dyn ClassLines>,
    /// The facts about forwarding that are not in the configuration.
    pub(crate) given: &'a Given,
}

/// The options of [`trace`].
#[derive(Clone, Copy, Debug, Default)]
pub struct TraceOptions<'a> {
    /// The port on which packets arrive; by default the port that leads to their source.
    pub arrives: Option<&'a Port>,
    /// The port through which packets leave; by default the port of the route.
    pub leaves: Option<&'a Port>,
    /// The treatment of packets to the device itself.
    pub own: OwnPackets,
    /// The labels of packets in a network. `None` means that no labels arrive, and that the headers of links
    /// determine the labels of departing packets.
    pub(crate) labels: Option<&'a LabelSwitching>,
}

/// The treatment of packets to the device itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OwnPackets {
    /// The processor of the device receives them, after the policy of the control plane.
    #[default]
    ControlPlane,
    /// The device removes the outer header and forwards the packet inside.
    Decapsulated,
}

/// Returns the paths of `packet` through a device.
///
/// # Errors
/// A policy cannot be built, or the output port is unknown and several ports have output policies.
pub fn trace(device: &TracedDevice, options: TraceOptions, packet: &Packet) -> Result<Answer, ConfigError> {
    let mut tracer = Tracer {
        device: *device,
        table: Table { router: device.router, given: device.given },
        options,
        interfaces: device.router.ports.iter().map(|port| port.interface.clone()).collect(),
        assumed: BTreeSet::new(),
        not_looked_at: BTreeSet::new(),
        crossed: BTreeSet::new(),
    };
    let (entrance, port) = tracer.entrance(packet);
    let mut packet = tracer.arrived(packet, port);
    let visible = match options.labels {
        Some(labels) if labels.arrives_labeled => VisibleHeader::Labels,
        _ => VisibleHeader::Ip,
    };
    if visible == VisibleHeader::Labels {
        // The drop precedence of an arriving packet depends on its codepoint, which labels hide.
        packet.color = Color::GREEN;
    }
    let written = written(&packet);
    let mut ways = vec![Way {
        stages: vec![entrance],
        packet,
        visible,
        pushed_exp: None,
        end: None,
        leaves: None,
        queue: None,
        added_headers: Vec::new(),
    }];
    if let Some(port) = port {
        ways = tracer.arrive(ways, port)?;
    }
    let ways = tracer.forward(ways, port)?;
    tracer.look_for_open_lines();
    Ok(Answer {
        packet: written,
        paths: ways.into_iter().map(Tracer::path).collect(),
        assumed: tracer.assumed.into_iter().collect(),
        not_looked_at: tracer.not_looked_at.into_iter().collect(),
    })
}

/// A path that is not complete.
#[derive(Clone, Debug)]
struct Way {
    stages: Vec<Stage>,
    /// The packet as later stages classify it.
    packet: Packet,
    /// The header by which later stages classify the packet.
    visible: VisibleHeader,
    /// The EXP of the new labels when the device adds them.
    pushed_exp: Option<LinkMark>,
    /// The end of the path; `None` until the end is reached.
    end: Option<End>,
    leaves: Option<String>,
    queue: Option<String>,
    added_headers: Vec<AddedHeader>,
}

impl Way {
    fn drop(&mut self, cause: Cause) {
        self.end = Some(End::Dropped { cause });
        (self.leaves, self.queue) = (None, None);
    }
}

struct Tracer<'a> {
    device: TracedDevice<'a>,
    table: Table<'a>,
    options: TraceOptions<'a>,
    /// The names of the interfaces, by [`InterfaceId`].
    interfaces: Vec<String>,
    assumed: BTreeSet<String>,
    not_looked_at: BTreeSet<String>,
    /// The names of the interfaces on the path.
    crossed: BTreeSet<String>,
}

impl Tracer<'_> {
    /// Returns the packet as the device receives it.
    fn arrived(&self, packet: &Packet, port: Option<&Port>) -> Packet {
        let place = port.and_then(|port| self.interfaces.iter().position(|name| *name == port.interface));
        let carried = Encapsulation { tag: packet.cos().is_some(), labels: packet.exp().is_some() };
        let mut arrived = *packet;
        arrived.arrive(Ingress::new(InterfaceId(place.unwrap_or(0) as u16), carried));
        arrived
    }

    fn line(&self, line: usize) -> LineText {
        let text = self.device.lines.get(line.wrapping_sub(1)).map_or("", |line| line.text.trim());
        LineText { line, text: text.to_owned() }
    }

    fn lines(&self, lines: impl IntoIterator<Item = usize>) -> Vec<LineText> {
        lines.into_iter().filter(|line| *line > 0).map(|line| self.line(line)).collect()
    }

    /// Records a port on the path, for the later search for ignored lines.
    fn cross(&mut self, port: &Port) {
        self.crossed.insert(port.interface.clone());
    }

    /// Records the unmodeled lines that affect packets at the ports on the path.
    fn look_for_open_lines(&mut self) {
        let ports = self.device.router.ports.iter();
        let considered: BTreeSet<usize> = ports
            .flat_map(|port| {
                let forwarding = &port.forwarding;
                let groups = forwarding.access_groups.iter().map(|group| group.line);
                let encryption = forwarding.encryption.as_ref().map(|encryption| encryption.line);
                let labels = forwarding.ldp.filter(|_| self.options.labels.is_some());
                groups.chain(encryption).chain(labels)
            })
            .collect();
        let near = |open: &&OpenLine| open.concerns(|name| self.crossed.contains(name));
        let open = self.device.open_lines.iter().filter(near).map(|open| open.line);
        let open = open.filter(|line| !considered.contains(line));
        self.not_looked_at.extend(open.filter_map(|line| words(self.device.lines, line)));
    }

    fn path(way: Way) -> Path {
        Path {
            packet: written(&way.packet),
            color: way.packet.color.index(),
            last: way.packet,
            pushed_exp: way.pushed_exp,
            added_headers: way.added_headers,
            stages: way.stages,
            end: way.end.unwrap_or(End::Leaves),
            leaves: way.leaves,
            queue: way.queue,
        }
    }
}

/// Returns the text of an ignored line and the reason why it is ignored.
pub fn words(lines: &[Line], number: usize) -> Option<String> {
    let line = lines.get(number.checked_sub(1)?)?;
    let reason = line.note.as_ref().map_or(String::new(), |note| format!(": {note}"));
    Some(format!("line {number}, `{}`{reason}", line.text.trim()))
}

/// Returns a packet in text notation, without the input interface, which is a separate stage.
fn written(packet: &Packet) -> String {
    Witness { packet: *packet, input: None }.to_string()
}
