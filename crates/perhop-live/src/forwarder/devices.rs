//! [`Devices`]: the edge of a forwarder's network. Frames arrive at this edge, wait in slots and leave.

use std::convert::Infallible;

use perhop_net::{Direction, DropPoint, DropSink, Edge, Flights, FlowControl, Network};
use perhop_qos::observer::PortObservers;
use perhop_qos::packet::{Dscp, Marks, Packet, TcpHeader};
use perhop_qos::units::Time;
use perhop_qos::verdict::{DropCause, Verdict};
use perhop_scenario::routing::LinkId;

use super::entrance::{Entrance, Input};
use super::flows::FlowDrops;
use super::passed::Passed;
use super::routes::Routes;
use super::slots::{SlotId, Slots};
use super::totals::Totals;
use crate::frame::{Layout, LinkLayer, Refusal, read_packet, read_tcp, stays_on_link};
use crate::wire::DeviceId;

/// The far end of a direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FarEnd {
    /// The node of this process, which routes the packets.
    Node,
    /// Another process or a host, to which this device sends the packets.
    Device(DeviceId),
}

/// A frame that is due for sending.
#[derive(Clone, Copy, Debug)]
pub(super) struct Leaving {
    pub(super) device: DeviceId,
    /// The scheduled time of sending, to the picosecond.
    pub(super) due: Time,
    pub(super) slot: SlotId,
    /// The marks to write into the frame, if it contains a packet.
    pub(super) dscp: Dscp,
    pub(super) marks: Marks,
}

/// The state between the devices and the directions of one process. It processes frames and does not use
/// sockets.
#[derive(Debug)]
pub(crate) struct Devices {
    pub(super) link_layer: LinkLayer,
    /// By device: the entrance; `None` if no frames are expected on the device.
    pub(super) entrances: Vec<Option<Entrance>>,
    pub(crate) inputs: Vec<Input>,
    pub(super) routes: Routes,
    /// By direction: the name in reports.
    pub(crate) names: Vec<String>,
    /// By direction: the far end.
    pub(super) far_ends: Vec<FarEnd>,
    /// Frames to send, in order of time.
    pub(super) outbox: Vec<Leaving>,
    pub(crate) slots: Slots,
    pub(crate) totals: Totals,
    pub(crate) flows: FlowDrops,
    /// By direction: the frames that bypassed its port.
    pub(crate) passed: Vec<Passed>,
    /// The time from which the drops of flows and inputs are counted.
    pub(super) counts_from: Time,
}

impl Devices {
    /// Accepts `frame`, which arrived on `device` at `now`. Passes its packet to a direction, unless the
    /// frame is dropped or bypasses the ports.
    pub(super) fn accept<W: PortObservers>(
        network: &mut Network<Devices, W>,
        now: Time,
        device: DeviceId,
        frame: &[u8],
    ) {
        let devices = &mut network.edge;
        devices.totals.received += 1;
        devices.totals.received_bytes += frame.len() as u64;
        let Some(entrance) = devices.entrances.get(device.index()).copied().flatten() else {
            devices.totals.unexpected += 1;
            return;
        };
        let frame_in = match read_packet(devices.link_layer, frame) {
            Ok(frame_in) => frame_in,
            Err(refusal) => return devices.refuse(now, entrance, refusal, frame),
        };
        if entrance.passes_others_to().is_none() && stays_on_link(&frame_in.packet) {
            devices.totals.local += 1;
            return;
        }
        let Some(slot) = devices.store(frame, frame_in.layout) else { return };
        let mut packet = frame_in.packet;
        packet.sent_at = now;
        packet.payload = u64::from(slot.0);
        if let Some(direction) = devices.direction_from(now, entrance, &mut packet, (frame, frame_in.layout))
        {
            network.forward(now, direction, &mut packet);
        }
    }

    /// Returns the direction by which `packet` leaves the node. The packet arrived at `entrance` in a frame.
    /// `None` means that this function has dropped the packet.
    #[inline]
    fn direction_from(
        &mut self,
        now: Time,
        entrance: Entrance,
        packet: &mut Packet,
        (frame, layout): (&[u8], Layout),
    ) -> Option<LinkId> {
        let read_link_marks = |packet: &mut Packet| {
            if !layout.is_plain() {
                layout.read_link_marks(frame, packet);
            }
        };
        if let Some(input) = entrance.input {
            packet.arrive(self.inputs[input].ingress);
            read_link_marks(packet);
            if !self.passes(now, input, packet) {
                return None;
            }
        } else {
            read_link_marks(packet);
        }
        entrance.direction.or_else(|| self.route(now, packet))
    }

    /// Stores `frame` in a slot. If the frame is too long or no slot is free, drops the frame and returns
    /// `None`.
    #[inline]
    fn store(&mut self, frame: &[u8], layout: Layout) -> Option<SlotId> {
        if !self.slots.fits(frame.len()) {
            self.totals.oversized += 1;
            return None;
        }
        let slot = self.slots.store(frame, layout);
        self.totals.no_slot += u64::from(slot.is_none());
        slot
    }

    /// Handles `frame`, which contains no packet to forward. A valid frame that is not IP bypasses the ports.
    /// Any other frame is dropped.
    #[cold]
    fn refuse(&mut self, now: Time, entrance: Entrance, refusal: Refusal, frame: &[u8]) {
        if refusal == Refusal::NotInternet
            && let Some(direction) = entrance.passes_others_to()
            && let FarEnd::Device(device) = self.far_ends[direction.index()]
        {
            if let Some(slot) = self.store(frame, Layout::NO_PACKET) {
                if now >= self.counts_from {
                    self.passed[direction.index()].add(frame);
                }
                let (dscp, marks) = (Dscp::default(), Marks::default());
                self.outbox.push(Leaving { device, due: now, slot, dscp, marks });
            }
        } else {
            self.totals.refused[refusal.index()] += 1;
        }
    }

    /// Whether `packet`, which another process sent, passes the conditioners of `input`.
    fn passes(&mut self, now: Time, input: usize, packet: &mut Packet) -> bool {
        let Input { conditioner, dropped, .. } = &mut self.inputs[input];
        if !conditioner.is_empty()
            && let Verdict::Drop(cause) = conditioner.condition(now, packet)
        {
            if now >= self.counts_from {
                dropped[cause.index()].add(packet.length);
            }
            self.end(now, packet, cause);
            return false;
        }
        true
    }

    /// Returns the direction by which `packet` leaves the node. Drops the packet if no route exists.
    #[inline]
    fn route(&mut self, now: Time, packet: &Packet) -> Option<LinkId> {
        let direction = self.routes.find(packet.destination);
        if direction.is_none() {
            self.end(now, packet, DropCause::NoRoute);
        }
        direction
    }

    /// Counts `packet`, which was dropped, and frees its slot.
    #[cold]
    fn end(&mut self, now: Time, packet: &Packet, cause: DropCause) {
        self.slots.give_back(SlotId::from_packet(packet));
        self.totals.dropped[cause.index()] += 1;
        if now >= self.counts_from {
            self.flows.add(&packet.flow_key(), cause, packet.length);
        }
    }

    /// Excludes events before `time` from the counters of inputs and flows.
    pub(super) fn count_from(&mut self, time: Time) {
        self.counts_from = time;
        self.inputs.iter_mut().for_each(|input| input.conditioner.count_from(time));
    }

    /// Returns the number of frames that are about to be sent, or whose packets are in `directions`.
    pub(crate) fn held(&self, directions: &[Direction], flights: &Flights) -> u64 {
        directions.iter().map(|direction| direction.held(flights)).sum::<u64>() + self.outbox.len() as u64
    }
}

impl DropSink for Devices {
    fn dropped(&mut self, now: Time, _: LinkId, packet: &Packet, cause: DropCause, _: DropPoint) {
        self.end(now, packet, cause);
    }
    fn tcp_header(&self, packet: &Packet) -> Option<TcpHeader> {
        let (frame, layout) = self.slots.stored(SlotId::from_packet(packet));
        read_tcp(frame.get(layout.header()..)?, layout.version())
    }
}

impl Edge for Devices {
    /// Frames arrive from the wire; there are no scheduled events.
    type Event = Infallible;

    fn handle_event<W: PortObservers, P: FlowControl>(
        _: &mut Network<Devices, W, P>,
        _: Time,
        event: Infallible,
    ) {
        match event {}
    }

    fn receive<W: PortObservers, P: FlowControl>(
        network: &mut Network<Devices, W, P>,
        now: Time,
        link: LinkId,
        packet: &mut Packet,
    ) {
        match network.edge.far_ends[link.index()] {
            FarEnd::Device(device) => {
                let (slot, dscp, marks) = (SlotId::from_packet(packet), packet.dscp, packet.marks);
                network.edge.outbox.push(Leaving { device, due: now, slot, dscp, marks });
            }
            FarEnd::Node => {
                if let Some(direction) = network.edge.route(now, packet) {
                    network.forward(now, direction, packet);
                }
            }
        }
    }
}
