//! A packet's way from node to node: through a port, over a wire, into the next node.

use perhop_qos::observer::Watch;
use perhop_qos::packet::Packet;
use perhop_qos::port::Sent;
use perhop_qos::units::Time;
use perhop_qos::verdict::{DropCause, Verdict};

use super::World;
use crate::capture::{End, Fate};
use crate::link::{Flight, Link, Loss, flow_of};
use perhop_scenario::routing::LinkId;

#[allow(clippy::inline_always)] // parts of what every packet does on every hop
impl<W: Watch> World<W> {
    /// `packet` leaves a node by `link`, and goes on as far as what becomes of it is known now.
    #[inline]
    pub(crate) fn forward(&mut self, now: Time, link: LinkId, packet: &mut Packet) {
        if let Some(arrives) = self.pass(now, link, packet) {
            self.go_on(arrives, link, packet);
        }
    }

    /// `packet` reaches the far end of `link`, and goes on as far as what becomes of it is known now.
    #[inline(never)]
    fn go_on(&mut self, now: Time, link: LinkId, packet: &mut Packet) {
        self.travel(now, link, packet);
    }

    /// The same, as a part of what brings most packets here.
    #[inline(always)]
    fn travel(&mut self, mut now: Time, mut link: LinkId, packet: &mut Packet) {
        while let Some(next) = self.reach(now, link, packet) {
            let Some(arrives) = self.pass(now, next, packet) else { return };
            (now, link) = (arrives, next);
        }
    }

    /// `packet` passes `link`'s output conditioners and its port, after what is due there by `now`. Where what becomes of it
    /// at the far end is known now, the answer is when it arrives there.
    #[inline(always)]
    fn pass(&mut self, now: Time, link: LinkId, packet: &mut Packet) -> Option<Time> {
        let mut hop = self.hop(link);
        if hop.link.straight
            && let Some(departure) = hop.link.port.foresee(now, packet.length)
        {
            hop.come(now, packet);
            hop.pass(packet, departure);
            return hop.launch(now, packet, departure);
        }
        self.pass_by_queue(now, link, packet)
    }

    /// The same where somebody decides about `packet`, or something is before it.
    #[inline(never)]
    fn pass_by_queue(&mut self, now: Time, link: LinkId, packet: &mut Packet) -> Option<Time> {
        let mut hop = self.hop(link);
        // Sources that run ahead are all that enters a link, and have seen to its port.
        if hop.link.port.backlog() > 0 && hop.link.feeders.is_empty() {
            self.let_out(now, link);
            hop = self.hop(link);
        }
        hop.come(now, packet);
        if !hop.link.output.is_empty()
            && let Verdict::Drop(cause) = hop.link.output.condition(now, packet)
        {
            self.drop_unqueued(now, link, packet, cause, End::Output);
            return None;
        }
        if !hop.link.books {
            return self.pass_by_scheduler(now, link, packet);
        }
        let departure = hop.book(now, packet)?;
        hop.launch(departure.starts, packet, departure)
    }

    /// `packet`, which has passed the output conditioners, passes a port that says when it departs as late as it leaves its queue.
    #[inline(never)]
    fn pass_by_scheduler(&mut self, now: Time, link: LinkId, packet: &mut Packet) -> Option<Time> {
        let mut hop = self.hop(link);
        match hop.send(now, packet) {
            Sent::Transmitted(departure) => hop.launch(now, packet, departure),
            Sent::Queued => {
                // Mostly the ring has none, and what was queued waits for that.
                if hop.link.port.ring().has_room() {
                    self.transmit(now, link);
                } else if hop.link.awaits_poll() {
                    self.ask_for_poll(link);
                }
                None
            }
            Sent::Dropped => None,
        }
    }

    /// Puts on `link`'s wire whatever its port lets out at `now`.
    #[inline(never)]
    pub(super) fn transmit(&mut self, now: Time, link: LinkId) {
        self.let_out_at(now, link);
        self.await_poll(link);
    }

    /// The same without asking for a wake-up, as a part of [`World::let_out`].
    #[inline(always)]
    pub(super) fn let_out_at(&mut self, now: Time, link: LinkId) {
        let mut packet = Packet::default();
        loop {
            let mut hop = self.hop(link);
            let Some(departure) = hop.poll_transmit(now, &mut packet) else { return };
            if let Some(arrives) = hop.launch(now, &packet, departure) {
                self.travel(arrives, link, &mut packet);
            }
            // What has just left mostly fills the ring: to ask that is shorter than to poll once more in vain.
            let port = &self.links[link.index()].port;
            if port.backlog() == 0 || !port.ring().has_room() {
                return;
            }
        }
    }

    /// The packet at the head of `link`'s flight reaches the far end.
    #[inline]
    pub(super) fn arrive(&mut self, now: Time, link: LinkId) {
        let Link { announced, feeders, settles, in_flight, arrival, .. } = &mut self.links[link.index()];
        // Copied once: what follows changes it in place.
        let mut packet;
        if let Some(feeder) = *announced {
            let sender = feeders.sender(feeder);
            packet = self.senders[sender].template;
            self.send_announced(now, link, sender, &mut packet);
        } else if *settles {
            return self.settle_in_flight(now, link);
        } else {
            let Some(flight) = in_flight.front() else { return };
            packet = flight.packet;
            in_flight.drop_front();
            if let Some(next) = in_flight.front() {
                self.agenda.schedule(*arrival, next.arrives);
            }
        }
        self.follow(now, link);
        self.travel(now, link, &mut packet);
    }

    /// A packet has reached the far end of `link`: what has become due before it happens.
    #[inline(always)]
    fn follow(&mut self, now: Time, link: LinkId) {
        let Link { driven_by, port, feeders, .. } = &self.links[link.index()];
        if !feeders.is_empty() {
            self.go_ahead(now, link);
        } else if let Some(first) = *driven_by {
            self.drive(now, first);
            self.catch_up(now, link);
        } else if port.backlog() > 0 {
            self.let_out(now, link);
        }
    }

    /// The packet at the head of `link`'s flight, which could not be settled when it was launched, reaches the far
    /// end; those behind it are settled as far as they can be now.
    #[inline(never)]
    fn settle_in_flight(&mut self, now: Time, link: LinkId) {
        loop {
            let mut hop = self.hop(link);
            let Some(&Flight { mut packet, arrives }) = hop.link.in_flight.front() else { break };
            if arrives > now && !hop.is_settled(&packet, arrives) {
                hop.await_arrival(arrives);
                break;
            }
            // It stays in flight until it has arrived, so that none is settled before it.
            self.go_on(arrives, link, &mut packet);
            self.links[link.index()].in_flight.drop_front();
        }
        self.catch_up(now, link);
    }

    /// `packet` reaches the far end of `link`: the answer is by which link it, or what a host answers it, leaves the
    /// node there, if it does.
    #[inline(always)]
    fn reach(&mut self, now: Time, link: LinkId, packet: &mut Packet) -> Option<LinkId> {
        let mut hop = &mut self.links[link.index()];
        if !hop.uneventful {
            if !self.survives_the_wire(now, link, packet) {
                return None;
            }
            hop = &mut self.links[link.index()];
        }
        // Nobody reads any more what a node knows of its packets: the interface, the color, the links behind it.
        if hop.ends_plainly {
            return self.deliver(now, packet);
        }
        packet.arrive(hop.far_interface);
        if !hop.input.is_empty()
            && let Verdict::Drop(cause) = hop.input.condition(now, packet)
        {
            self.drop_unqueued(now, link, packet, cause, End::Input);
            return None;
        }
        packet.hops += 1;
        if hop.leads_to_host {
            return self.deliver(now, packet);
        }
        hop.next.or_else(|| Some(self.link_of(flow_of(packet), packet.hops)))
    }

    /// Whether `packet` reaches the far end of a `link` that loses packets, or that is captured.
    #[inline(never)]
    fn survives_the_wire(&mut self, now: Time, link: LinkId, packet: &Packet) -> bool {
        let Link { loss, tap, .. } = &mut self.links[link.index()];
        if let Some(tap) = tap {
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
        self.paths[self.flow_paths[flow] as usize + usize::from(hops)]
    }

    /// `packet` ends at `link` outside its queues, at `end`: counted for its flow and by the port.
    #[cold]
    fn drop_unqueued(&mut self, now: Time, link: LinkId, packet: &Packet, cause: DropCause, end: End) {
        self.watch.ends(now, link.index(), packet, cause);
        self.measurements.counters[flow_of(packet)].drop(packet, cause, self.measurements.warmup);
        let Link { tally, tap, .. } = &mut self.links[link.index()];
        if let Some(tap) = tap {
            tap.dropped(now, packet, self.transport.segments.of(packet), Fate { cause, end });
        }
        self.transport.segments.release(packet);
        if now >= self.measurements.warmup {
            let counters = if end.is_beyond_port() { &mut tally.beyond } else { &mut tally.unqueued };
            counters[cause.index()].add(packet.length);
        }
    }
}
