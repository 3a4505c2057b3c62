//! A packet's way from node to node: through a port, over a wire, into the next node.

use perhop_qos::observer::Watch;
use perhop_qos::packet::{Packet, Protocol};
use perhop_qos::port::Sent;
use perhop_qos::units::Time;
use perhop_qos::verdict::{DropCause, Verdict};

use super::World;
use crate::capture::{End, Fate};
use crate::link::{Counters, Flight, Link, Loss, flow_of};
use crate::routing::LinkId;

/// Where at a link a packet is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// At its near end, before the port.
    Leaves,
    /// At its far end.
    Reaches,
}

#[allow(clippy::inline_always)] // parts of `travel`, which every packet takes on every hop
impl<W: Watch> World<W> {
    /// `packet` leaves a node by `link`, and goes on as far as what becomes of it is known now.
    #[inline]
    pub(crate) fn forward(&mut self, now: Time, link: LinkId, packet: &mut Packet) {
        self.travel(now, link, packet, Stage::Leaves);
    }

    /// `packet` reaches the far end of `link`, and goes on as far as what becomes of it is known now.
    #[inline]
    pub(super) fn go_on(&mut self, now: Time, link: LinkId, packet: &mut Packet) {
        self.travel(now, link, packet, Stage::Reaches);
    }

    fn travel(&mut self, mut now: Time, mut link: LinkId, packet: &mut Packet, mut stage: Stage) {
        loop {
            if stage == Stage::Reaches {
                let Some(next) = self.reach(now, link, packet) else { return };
                link = next;
            }
            self.catch_up(now, link);
            let Some(arrives) = self.pass(now, link, packet) else { return };
            now = arrives;
            stage = Stage::Reaches;
        }
    }

    /// `packet` passes `link`'s output conditioners and its port. Where what becomes of it at the far end is known now, the
    /// answer is when it arrives there.
    #[inline(always)]
    pub(super) fn pass(&mut self, now: Time, link: LinkId, packet: &mut Packet) -> Option<Time> {
        self.watch.comes(now, link.index(), packet);
        let Link { output, port, tally, .. } = &mut self.links[link.index()];
        if !output.is_empty()
            && let Verdict::Drop(cause) = output.condition(now, packet)
        {
            self.drop_unqueued(now, link, packet, cause, End::Output);
            return None;
        }
        let mut counters = Counters {
            port: tally,
            flows: &mut self.tallies,
            segments: &mut self.transport.segments,
            warmup: self.warmup,
            observer: self.watch.at(link.index()),
        };
        let sent = port.send(now, packet, &mut counters);
        drop(counters);
        match sent {
            Sent::Transmitted(departure) => self.launch(link, packet, departure.ends),
            Sent::Queued => {
                self.transmit(now, link);
                self.await_poll(link);
                None
            }
            Sent::Dropped => None,
        }
    }

    /// Puts on `link`'s wire whatever its port lets out at `now`.
    pub(super) fn transmit(&mut self, now: Time, link: LinkId) {
        loop {
            let Link { port, tally, .. } = &mut self.links[link.index()];
            let mut counters = Counters {
                port: tally,
                flows: &mut self.tallies,
                segments: &mut self.transport.segments,
                warmup: self.warmup,
                observer: self.watch.at(link.index()),
            };
            let transmission = port.poll_transmit(now, &mut counters);
            drop(counters);
            let Some(mut transmission) = transmission else { break };
            if let Some(arrives) = self.launch(link, &transmission.packet, transmission.ends) {
                self.go_on(arrives, link, &mut transmission.packet);
            }
        }
    }

    /// `packet` is on `link`'s wire until `ends`: it arrives when its last bit does. The answer is when, if what becomes
    /// of it at the far end is known now; else the agenda will come to it.
    #[inline(always)]
    fn launch(&mut self, link: LinkId, packet: &Packet, ends: Time) -> Option<Time> {
        let Link { transmitted, delay, settles, in_flight, .. } = &mut self.links[link.index()];
        *transmitted += 1;
        let arrives = ends + *delay;
        let is_first = in_flight.is_empty();
        if *settles && is_first && self.may_settle(link, packet, arrives) {
            return Some(arrives);
        }
        let Link { in_flight, arrival, .. } = &mut self.links[link.index()];
        if is_first {
            self.agenda.schedule(*arrival, arrives);
        }
        in_flight.push_back(Flight { arrives, packet: *packet });
        None
    }

    /// Whether what becomes of `packet`, which arrives at the far end of a `link` that settles at `arrives`, is known now.
    #[inline(always)]
    fn may_settle(&self, link: LinkId, packet: &Packet, arrives: Time) -> bool {
        arrives <= self.duration
            && (!self.links[link.index()].answers
                || packet.protocol != Protocol::TCP
                || (arrives <= self.horizon && self.transport.may_answer(packet, arrives)))
    }

    /// The packet at the head of `link`'s flight reaches the far end.
    pub(super) fn arrive(&mut self, now: Time, link: LinkId) {
        let Link { in_flight, arrival, settles, driven_by, .. } = &mut self.links[link.index()];
        if *settles {
            return self.settle_in_flight(now, link);
        }
        let Some(Flight { mut packet, .. }) = in_flight.pop_front() else { return };
        if let Some(next) = in_flight.front() {
            self.agenda.schedule(*arrival, next.arrives);
        }
        if let Some(first) = *driven_by {
            self.drive(now, first);
        }
        self.catch_up(now, link);
        self.go_on(now, link, &mut packet);
    }

    /// The packet at the head of `link`'s flight, which could not be settled when it was launched, reaches the far
    /// end; those behind it are settled as far as they can be now.
    #[inline(never)]
    fn settle_in_flight(&mut self, now: Time, link: LinkId) {
        while let Some(Flight { mut packet, arrives }) = self.links[link.index()].in_flight.front().copied() {
            if arrives > now && !self.may_settle(link, &packet, arrives) {
                self.agenda.schedule(self.links[link.index()].arrival, arrives);
                break;
            }
            // It stays in flight until it has arrived, so that none is settled before it.
            self.go_on(arrives, link, &mut packet);
            self.links[link.index()].in_flight.pop_front();
        }
        self.catch_up(now, link);
    }

    /// `packet` reaches the far end of `link`: the answer is by which link it, or what a host answers it, leaves the
    /// node there, if it does.
    #[inline(always)]
    fn reach(&mut self, now: Time, link: LinkId, packet: &mut Packet) -> Option<LinkId> {
        if !self.links[link.index()].uneventful && !self.survives_the_wire(now, link, packet) {
            return None;
        }
        let Link { far_interface, input, leads_to_host, .. } = &mut self.links[link.index()];
        packet.arrive(*far_interface);
        if !input.is_empty()
            && let Verdict::Drop(cause) = input.condition(now, packet)
        {
            self.drop_unqueued(now, link, packet, cause, End::Input);
            return None;
        }
        packet.hops += 1;
        if *leads_to_host {
            return self.deliver(now, packet);
        }
        Some(self.link_of(flow_of(packet), packet.hops))
    }

    /// Whether `packet` reaches the far end of a `link` that loses packets, or that is captured.
    #[inline(never)]
    fn survives_the_wire(&mut self, now: Time, link: LinkId, packet: &Packet) -> bool {
        let Link { loss, tally, .. } = &mut self.links[link.index()];
        if let Some(tap) = &mut tally.tap {
            tap.crossed(now, packet, self.transport.segments.of(packet));
        }
        let lost = loss.as_mut().is_some_and(Loss::strikes);
        if lost {
            self.drop_unqueued(now, link, packet, DropCause::Lost, End::Wire);
        }
        !lost
    }

    /// The link by which packets of `flow` leave the node that they reach after `hops` links.
    #[inline]
    pub(crate) fn link_of(&self, flow: usize, hops: u8) -> LinkId {
        self.paths[self.flows[flow].path as usize + usize::from(hops)]
    }

    /// `packet` ends at `link` outside its queues, at `end`: counted for its flow and by the port.
    #[cold]
    fn drop_unqueued(&mut self, now: Time, link: LinkId, packet: &Packet, cause: DropCause, end: End) {
        self.watch.ends(now, link.index(), packet, cause);
        self.tallies[flow_of(packet)].drop(packet, cause, self.warmup);
        let tally = &mut self.links[link.index()].tally;
        if let Some(tap) = &mut tally.tap {
            tap.dropped(now, packet, self.transport.segments.of(packet), Fate { cause, end });
        }
        self.transport.segments.release(packet);
        if now >= self.warmup {
            let counters = if end.is_beyond_port() { &mut tally.beyond } else { &mut tally.unqueued };
            counters[cause.index()].add(packet.length);
        }
    }
}
