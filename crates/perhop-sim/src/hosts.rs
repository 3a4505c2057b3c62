//! [`Hosts`]: the edge of a simulated network. Sources send, TCP answers, probes look, and what arrives is counted.

use perhop_measure::Measurements;
use perhop_measure::counters::{FlowCounters, QueueSample};
use perhop_net::agenda::Slot;
use perhop_net::source::{Emission, Replay, Source};
use perhop_net::{DropPoint, DropSink};
use perhop_qos::packet::Packet;
use perhop_qos::units::Time;
use perhop_qos::verdict::DropCause;
use perhop_scenario::routing::LinkId;

use crate::capture::Tap;
use crate::flow::{flow_of, payload};
use crate::session::Transport;

/// A flow's source of datagrams, and the packet it sends next.
#[derive(Debug)]
#[repr(C, align(64))] // what every packet asks lies in three cache lines
pub(crate) struct FlowSource {
    /// What all its packets have in common, as its flow has it.
    pub(crate) template: Packet,
    /// Its next packet; `at` is [`Time::MAX`] when there is none.
    pub(crate) due: Emission,
    pub(crate) stops: Time,
    pub(crate) flow: usize,
    /// Its place on the agenda; none where its host's link looks ahead.
    pub(crate) slot: Option<Slot>,
    pub(crate) source: Source,
}

/// A queue probe.
#[derive(Debug)]
pub(crate) struct QueueProbe {
    pub(crate) link: LinkId,
    pub(crate) every: Time,
    pub(crate) slot: Slot,
    pub(crate) samples: Vec<QueueSample>,
}

/// What stands at the far end of one direction of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FarNode {
    /// A host: packets end there.
    Host,
    /// A router: packets go on.
    Router,
}

/// The hosts of a scenario, and what is counted of their traffic.
#[derive(Debug)]
pub struct Hosts {
    /// Where the path of each flow begins in `paths`.
    pub(crate) flow_paths: Vec<u32>,
    /// What all packets of each flow have in common.
    pub(crate) templates: Vec<Packet>,
    /// The links that each flow takes, in order, one path after the other.
    pub(crate) paths: Vec<LinkId>,
    pub(crate) sources: Vec<FlowSource>,
    pub(crate) replays: Vec<Replay>,
    pub(crate) transport: Transport,
    pub(crate) queue_probes: Vec<QueueProbe>,
    /// By link: what came by, where it is captured.
    pub(crate) taps: Vec<Option<Box<Tap>>>,
    /// By link: the names of the nodes at its ends.
    pub(crate) link_ends: Vec<[String; 2]>,
    /// By link.
    pub(crate) far_nodes: Vec<FarNode>,
    pub(crate) measurements: Measurements,
}

impl Hosts {
    /// The link by which packets of `flow` leave the node that they reach after `hops` links.
    #[inline]
    pub(crate) fn link_of(&self, flow: usize, hops: u8) -> LinkId {
        self.paths[self.flow_paths[flow] as usize + usize::from(hops)]
    }

    /// Makes of its template the packet that `source` sends now; its successor becomes due.
    #[allow(clippy::inline_always)] // a part of the fast engine's lookahead
    #[inline(always)]
    pub(crate) fn take_packet(&mut self, source: usize, packet: &mut Packet) {
        let FlowSource { source, flow, due, stops, .. } = &mut self.sources[source];
        let counters = &mut self.measurements.counters[*flow];
        packet.length = due.length;
        packet.sent_at = due.at;
        if let Some(dscp) = due.dscp {
            packet.dscp = dscp;
            packet.color = dscp.color();
        }
        packet.payload = payload(*flow, counters.next_sequence);
        counters.next_sequence = counters.next_sequence.wrapping_add(1);
        if due.at >= self.measurements.warmup {
            counters.offered.add(packet.length);
        }
        *due = source.next_packet();
        if due.at >= *stops {
            due.at = Time::MAX;
        }
    }

    /// `packet` came to the far end of `link`, before anything is done to it there.
    pub(crate) fn crossed(&mut self, now: Time, link: LinkId, packet: &Packet) {
        if let Some(tap) = &mut self.taps[link.index()] {
            tap.crossed(now, packet, self.transport.segments.of(packet));
        }
    }

    /// Shows a dropped packet to whoever captures `link`.
    #[cold]
    fn record(&mut self, now: Time, link: LinkId, packet: &Packet, cause: DropCause, point: DropPoint) {
        if let Some(tap) = &mut self.taps[link.index()] {
            tap.dropped(now, packet, self.transport.segments.of(packet), cause, point);
        }
    }
}

impl DropSink for Hosts {
    #[inline]
    fn dropped(&mut self, now: Time, link: LinkId, packet: &Packet, cause: DropCause, point: DropPoint) {
        let counters: &mut FlowCounters = &mut self.measurements.counters[flow_of(packet)];
        counters.drop(packet, cause, self.measurements.warmup);
        if self.taps[link.index()].is_some() {
            self.record(now, link, packet, cause, point);
        }
        self.transport.segments.release(packet);
    }
}
