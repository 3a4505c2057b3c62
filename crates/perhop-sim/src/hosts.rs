//! [`Hosts`]: the edge of a simulated network. Hosts send, TCP endpoints answer, probes take samples, and
//! arrivals are counted.

use perhop_measure::Measurements;
use perhop_measure::counters::QueueSample;
use perhop_net::agenda::Slot;
use perhop_net::source::{Emission, Replay, Source};
use perhop_net::{DropPoint, DropSink};
use perhop_qos::packet::{Packet, TcpHeader};
use perhop_qos::port::Peak;
use perhop_qos::units::Time;
use perhop_qos::verdict::DropCause;
use perhop_scenario::routing::LinkId;

use crate::capture::{Contents, Tap};
use crate::flow::{Template, flow_of, payload, sequence_of};
use crate::fragments::{Fragments, Loss, Reassembled};
use crate::link_ends::LinkEnds;
use crate::session::Transport;

/// The source of a flow's datagrams, with the next packet.
#[derive(Debug)]
#[repr(C, align(64))] // the fields that every packet reads fit into three cache lines
pub(crate) struct FlowSource {
    /// The header fields that all packets of the source share.
    pub(crate) template: Packet,
    /// The next packet; `at` is [`Time::MAX`] if the source has ended.
    pub(crate) due: Emission,
    pub(crate) stops: Time,
    pub(crate) flow: usize,
    /// The slot of the source on the agenda; `None` if the source sends ahead of the agenda.
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
    /// The peak of each queue since the last sample of this probe, from samples of other probes at the port.
    /// Empty if no other probe has taken a sample since then.
    pub(crate) most: Vec<Peak>,
}

/// The kind of node at the far end of one direction of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FarNode {
    /// A host, at which packets end.
    Host,
    /// A router, at which packets continue.
    Router,
}

/// The hosts of a scenario and the counts of their traffic.
#[derive(Debug)]
pub struct Hosts {
    /// By flow: the start of its path in `paths`.
    pub(crate) flow_paths: Vec<u32>,
    /// By flow: the header fields that its packets share.
    pub(crate) templates: Vec<Template>,
    /// The links of all paths, one path after the other.
    pub(crate) paths: Vec<LinkId>,
    pub(crate) sources: Vec<FlowSource>,
    pub(crate) replays: Vec<Replay>,
    pub(crate) transport: Transport,
    pub(crate) fragments: Fragments,
    pub(crate) queue_probes: Vec<QueueProbe>,
    /// By link: the captured packets, if the link is captured.
    pub(crate) taps: Vec<Option<Box<Tap>>>,
    /// By link: the names of the nodes at its ends.
    pub(crate) link_ends: LinkEnds,
    /// By link: the kind of node at its far end.
    pub(crate) far_nodes: Vec<FarNode>,
    pub(crate) measurements: Measurements,
}

impl Hosts {
    /// Returns the link over which packets of `flow` leave the node that they reach after `hops` links.
    #[inline]
    pub(crate) fn link_of(&self, flow: usize, hops: u8) -> LinkId {
        self.paths[self.flow_paths[flow] as usize + usize::from(hops)]
    }

    /// Does the same as [`link_of`](Hosts::link_of), but returns `None` if `flow` has no path or the link
    /// would be after the end of all paths.
    #[inline]
    pub(crate) fn link_after(&self, flow: usize, hops: u8) -> Option<LinkId> {
        self.paths.get(*self.flow_paths.get(flow)? as usize + usize::from(hops)).copied()
    }

    /// Returns the links of the path of `flow`.
    pub(crate) fn path(&self, flow: usize) -> impl Iterator<Item = LinkId> + '_ {
        let mut ended = false;
        self.paths[self.flow_paths[flow] as usize..].iter().copied().take_while(move |link| {
            !std::mem::replace(&mut ended, self.far_nodes[link.index()] == FarNode::Host)
        })
    }

    /// Turns the template in `packet` into the due packet of `source`, and determines the packet after it.
    #[allow(clippy::inline_always)] // part of the fast engine's lookahead
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

    /// Records that `packet` reached the far end of `link`, before the far node handles it.
    pub(crate) fn crossed(&mut self, now: Time, link: LinkId, packet: &Packet) {
        if self.taps[link.index()].is_some() {
            let contents = self.contents(packet);
            if let Some(tap) = &mut self.taps[link.index()] {
                tap.crossed(now, packet, contents);
            }
        }
    }

    /// Records that a fragment reached its host. Delivers the datagram, or records its loss, if the fate of
    /// all its fragments is now known.
    #[cold]
    pub(crate) fn receive_fragment(&mut self, now: Time, fragment: &Packet) {
        if let Some(Reassembled { datagram, lost }) = self.fragments.arrived(fragment) {
            let (flow, number) = (flow_of(&datagram), sequence_of(&datagram));
            match lost {
                None => self.measurements.deliver(now, flow, &datagram, number),
                Some(loss) => self.lose(&datagram, loss),
            }
        }
    }
    /// Records that a fragment was dropped. Records the loss of the datagram if the fate of all its fragments
    /// is now known.
    #[cold]
    fn lose_fragment(&mut self, now: Time, fragment: &Packet, cause: DropCause) {
        let loss = Loss { cause, at: now };
        if let Some(Reassembled { datagram, lost }) = self.fragments.dropped(fragment, loss) {
            self.lose(&datagram, lost.unwrap_or(loss));
        }
    }
    fn lose(&mut self, datagram: &Packet, loss: Loss) {
        self.measurements.drop_packet(loss.at, flow_of(datagram), datagram, loss.cause);
    }
    /// Counts the datagrams that have fragments in the network at the end of the run. Such a datagram counts
    /// as in the network, or as lost if one of its fragments was dropped.
    pub(crate) fn settle_fragments(&mut self) {
        let left: Vec<Reassembled> = self.fragments.unresolved().collect();
        for Reassembled { datagram, lost } in left {
            if let Some(loss) = lost {
                self.lose(&datagram, loss);
            } else {
                let is_counted = datagram.sent_at >= self.measurements.warmup;
                self.measurements.in_network[flow_of(&datagram)] += u64::from(is_counted);
            }
        }
    }

    /// Returns the contents of `packet` for a capture. `packet` is in the network.
    fn contents(&self, packet: &Packet) -> Contents {
        match (self.fragments.fields(packet), self.transport.segments.carried_by(packet)) {
            (Some(fields), _) => Contents::Fragment(fields),
            (None, Some(carried)) => Contents::Segment(carried.clone()),
            (None, None) => Contents::Datagram,
        }
    }

    /// Records a dropped packet in the capture of `link`, if there is one.
    #[cold]
    fn record(&mut self, now: Time, link: LinkId, packet: &Packet, cause: DropCause, point: DropPoint) {
        let contents = self.contents(packet);
        if let Some(tap) = &mut self.taps[link.index()] {
            tap.dropped(now, packet, contents, cause, point);
        }
    }
}

impl DropSink for Hosts {
    #[inline]
    fn dropped(&mut self, now: Time, link: LinkId, packet: &Packet, cause: DropCause, point: DropPoint) {
        let flow = flow_of(packet);
        if flow < self.measurements.counters.len() {
            self.measurements.drop_packet(now, flow, packet, cause);
        } else {
            self.lose_fragment(now, packet, cause);
        }
        if self.taps[link.index()].is_some() {
            self.record(now, link, packet, cause, point);
        }
        self.transport.segments.release(packet);
    }
    fn tcp_header(&self, packet: &Packet) -> Option<TcpHeader> {
        // A capture in the network sees QUIC only as UDP.
        let carried =
            self.transport.segments.carried_by(packet).filter(|carried| carried.segment.packet().is_none());
        carried.map(|carried| carried.segment.header())
    }
}
