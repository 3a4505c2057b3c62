//! [`Cake`]: CAKE, a shaper, a scheduler and flow queues in one (Høiland-Jørgensen, Täht and Morton, "Piece
//! of CAKE", LANMAN 2018; details and names of constants from `sch_cake.c` of Linux 6.1).
//!
//! The codepoint of a packet selects a tin, and its flow selects a queue in the tin. A virtual clock sets the
//! time of the next packet, and the clocks of the tins select the tin. In a tin, flows take turns. `Cobalt`
//! drops or marks packets at the head of a queue that have waited too long.

mod ack_filter;
mod backlogs;
mod cobalt;
mod config;
mod hosts;
mod isolation;
mod length;
mod pace;
mod tin;
mod tins;

pub use ack_filter::CakeAckFilter;
pub use config::CakeConfig;
pub use isolation::CakeIsolation;
pub use length::CakeCells;
pub use tins::CakeTins;

use crate::framing::Framing;
use crate::packet::{Ecn, TcpHeader};
use crate::random::{Stream, Streams};
use crate::{ConfigError, DropCause, Dscp, Packet, Time};
use backlogs::Backlogs;
use cobalt::{Decision, Leaving};
use config::MTU;
use length::{Lengths, memory};
use pace::{ByteTime, Pace};
use tin::{FLOWS, Flow, LooksAtDecaying, NO_SLOT, Tin};

/// CAKE for one port: it stores the packets of the port and selects the packet that leaves next.
#[derive(Clone, Debug)]
pub struct Cake {
    tins: Box<[Tin]>,
    /// The packets of all flows. Memory for the largest number of packets is allocated at the start.
    slots: Vec<Slot>,
    /// The first free slot. [`Slot::next`] links all free slots.
    free: u32,
    /// The number of waiting packets.
    held: u64,
    pace: Pace,
    lengths: Lengths,
    /// The bytes that the queues count for a packet in addition to its IP bytes.
    header: u32,
    /// The backlogs of all flows, to find the longest queue.
    backlogs: Backlogs,
    /// The bytes of memory that the queued packets use.
    memory_used: u64,
    memory_limit: u64,
    /// The number of the tin whose turn it is. Only for CAKE without a bandwidth.
    turn: usize,
    /// Whether dropped packets count as sent, because the bottleneck before this port has already transmitted
    /// them.
    is_ingress: bool,
    /// Whether the codepoints of packets that leave are cleared.
    washes: bool,
    random: Stream,
    /// The time until which the shaper delays all packets, as determined by the last pull.
    held_until: Option<Time>,
    ack_filter: CakeAckFilter,
    /// The TCP header of the packet in each slot. Only for ports that filter acknowledgments and packets that
    /// have a TCP header.
    headers: Vec<Option<TcpHeader>>,
}

#[derive(Clone, Copy, Debug)]
struct Slot {
    packet: Packet,
    since: Time,
    next: u32,
    /// The length of the packet for the shaper, bytes.
    counted: u32,
}

/// The tin and the mark of a packet that [`pull`](Cake::pull) has removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pulled {
    /// The number of the packet's tin.
    pub tin: usize,
    /// Whether the packet must be marked.
    pub is_marked: bool,
}

/// The result of a flow's turn.
enum Head {
    Sent(Pulled),
    /// A packet was dropped and charged to the flow (`ingress`). The next turn can belong to another flow.
    Dropped,
    /// The queue of the flow is empty.
    NoPacket,
}

impl CakeConfig {
    /// Builds CAKE for a link of this `framing`.
    ///
    /// # Errors
    /// The error names the first field that is out of range.
    pub fn build(&self, framing: Framing, streams: &Streams) -> Result<Cake, ConfigError> {
        self.check()?;
        let header = framing.queued_header();
        let rate = self.bandwidth.map_or(0, |rate| rate.as_bits_per_second() / 8);
        let key = streams.child("hash").stream().bits();
        let tins: Box<[Tin]> = self
            .tins
            .shares(rate)
            .into_iter()
            .map(|(rate, weight)| self.tin(rate, weight, MTU + header, key))
            .collect();
        let memory_limit = self.memory(rate, header);
        // The queues can exceed the limit by one packet, because a packet joins before another one is
        // dropped.
        let packets = memory_limit / memory(header) + 1;
        Ok(Cake {
            backlogs: Backlogs::new(tins.len() * FLOWS),
            tins,
            slots: Vec::with_capacity(packets as usize),
            free: NO_SLOT,
            held: 0,
            pace: Pace::new(ByteTime::at(rate)),
            lengths: self.lengths(header.cast_signed()),
            header,
            memory_used: 0,
            memory_limit,
            turn: 0,
            is_ingress: self.ingress,
            washes: self.wash,
            random: streams.stream(),
            held_until: None,
            ack_filter: self.ack_filter,
            headers: Vec::with_capacity(if self.ack_filter == CakeAckFilter::None {
                0
            } else {
                packets as usize
            }),
        })
    }
}

impl Cake {
    /// Clears the codepoint of `packet`, which is about to leave, if the configuration has `wash`.
    pub fn wash(&self, packet: &mut Packet) {
        if self.washes {
            packet.mark(Dscp::DEFAULT);
        }
    }
    /// The number of waiting packets.
    pub fn held(&self) -> u64 {
        self.held
    }
    /// The time until which the shaper delays all packets, as determined by the last [`pull`](Cake::pull).
    pub fn held_until(&self) -> Option<Time> {
        self.held_until
    }
    /// The queued packets, ordered by tin and flow.
    pub fn iter(&self) -> impl Iterator<Item = &Packet> {
        let flows = self.tins.iter().flat_map(|tin| &tin.flows);
        flows.flat_map(|flow: &Flow| {
            let slot = |index: u32| self.slots.get(index as usize);
            std::iter::successors(slot(flow.first), move |before| slot(before.next)).map(|slot| &slot.packet)
        })
    }

    /// Whether the caller must add packets with TCP headers by [`push_filtered`](Cake::push_filtered) instead
    /// of [`push`](Cake::push).
    pub fn filters_acknowledgments(&self) -> bool {
        self.ack_filter != CakeAckFilter::None
    }
    /// Adds `packet` and its TCP header, if it has one, to the queue of its flow in tin number `tin`. Returns
    /// the acknowledgment that is dropped because of this packet, if there is one.
    pub fn push_filtered(
        &mut self,
        now: Time,
        tin: usize,
        packet: &Packet,
        header: Option<TcpHeader>,
    ) -> Option<Packet> {
        let index = self.push(now, tin, packet);
        let last = self.tins[tin].flows[usize::from(index)].last as usize;
        if self.headers.len() <= last {
            self.headers.resize(last + 1, None);
        }
        self.headers[last] = header;
        let (before, place) = self.redundant_ack(tin, index, header?)?;
        let Slot { packet, counted, .. } = self.unlink(tin, index, before, place)?;
        if self.is_ingress {
            self.charge_drop(now, tin, counted);
        }
        Some(packet)
    }
    /// Finds the queued acknowledgment of flow `index` of `tin` that the newest packet, with the header
    /// `latest`, makes redundant. Returns the slot of the packet before this acknowledgment, or [`NO_SLOT`],
    /// and the slot of this acknowledgment.
    ///
    /// Linux, `cake_ack_filter`.
    fn redundant_ack(&self, tin: usize, index: u16, latest: TcpHeader) -> Option<(u32, u32)> {
        if !ack_filter::triggers(&latest) {
            return None;
        }
        let flow = &self.tins[tin].flows[usize::from(index)];
        let last = self.slots[flow.last as usize].packet.flow_key();
        let (mut search, mut before, mut place) =
            (ack_filter::Search::new(self.ack_filter, latest), NO_SLOT, flow.first);
        while place != flow.last {
            let slot = &self.slots[place as usize];
            let header = self.headers[place as usize].as_ref();
            let own = header.filter(|_| slot.packet.flow_key() == last);
            if let Some(found) = search.next((before, place), own) {
                return Some(found);
            }
            (before, place) = (place, slot.next);
        }
        search.end()
    }

    /// Adds `packet` to the queue of its flow in tin number `tin`. Returns the index of the flow.
    pub fn push(&mut self, now: Time, tin: usize, packet: &Packet) -> u16 {
        let length = packet.length + self.header;
        let place = self.occupy(now, packet);
        if self.held == 0 {
            self.pace.restart(now);
        }
        self.held += 1;
        self.memory_used += memory(length);
        let at = &mut self.tins[tin];
        if at.backlog == 0 {
            at.clock.restart(now);
        }
        at.backlog += u64::from(length);
        let index = at.flow_of(packet);
        let flow = &mut at.flows[usize::from(index)];
        match std::mem::replace(&mut flow.last, place) {
            NO_SLOT => flow.first = place,
            before => self.slots[before as usize].next = place,
        }
        at.joined(index, &mut self.random);
        self.backlogs.add(tin * FLOWS + usize::from(index), length);
        index
    }

    /// Drops the head of the queue with the most bytes if the memory limit is exceeded. Returns the number of
    /// the tin and the packet.
    ///
    /// Linux, `cake_drop`.
    pub fn overflow(&mut self, now: Time) -> Option<(usize, Packet)> {
        if self.memory_used <= self.memory_limit {
            return None;
        }
        let longest = self.backlogs.longest();
        let (tin, flow) = (longest / FLOWS, longest % FLOWS);
        let place = self.take(tin, flow as u16)?;
        let at = &mut self.tins[tin];
        at.flows[flow].cobalt.overflowed(&at.settings.cobalt, now);
        if self.is_ingress {
            self.charge_drop(now, tin, self.slots[place].counted);
        }
        Some((tin, self.slots[place].packet))
    }

    /// Removes the packet that is sent at `now`, if there is one, and writes it to `packet`. Calls `dropped`
    /// with the number of the tin for each packet that is dropped before it.
    ///
    /// Linux, `cake_dequeue`.
    pub fn pull(
        &mut self,
        now: Time,
        packet: &mut Packet,
        mut dropped: impl FnMut(usize, &Packet, DropCause),
    ) -> Option<Pulled> {
        let mut looks = LooksAtDecaying::First;
        self.held_until = None;
        while self.held > 0 {
            self.held_until = self.pace.holds_until(now);
            if self.held_until.is_some() {
                return None;
            }
            let tin = self.choose(now)?;
            while let Some((index, place)) = self.tins[tin].first(looks) {
                looks = LooksAtDecaying::Last;
                if self.tins[tin].flows[usize::from(index)].deficit <= 0 {
                    self.tins[tin].turn_over(index, place, &mut self.random);
                    continue;
                }
                match self.serve(now, tin, index, packet, &mut dropped) {
                    Head::Sent(pulled) => return Some(pulled),
                    Head::Dropped => {}
                    Head::NoPacket => {
                        self.tins[tin].found_empty(index, place, now);
                        break;
                    }
                }
            }
        }
        None
    }

    /// Returns the tin to serve at `now`.
    #[inline]
    fn choose(&mut self, now: Time) -> Option<usize> {
        if self.pace.byte_time == pace::ByteTime::default() {
            self.choose_in_turns()
        } else {
            self.choose_by_clock(now)
        }
    }
    /// Returns the last of the tins whose clock is due. If no clock is due, returns the tin whose clock
    /// becomes due first.
    #[inline]
    fn choose_by_clock(&self, now: Time) -> Option<usize> {
        let mut best = None;
        for (number, tin) in self.tins.iter().enumerate().filter(|(_, tin)| tin.has_turns()) {
            // All tins whose clock is due are equal, and they precede all other tins.
            let due = tin.clock.next.max(now);
            if best.is_none_or(|(_, earliest)| due <= earliest) {
                best = Some((number, due));
            }
        }
        best.map(|(number, _)| number)
    }
    /// Returns the tin whose turn it is, for CAKE without a bandwidth. Tins with packets take turns in
    /// proportion to their weights.
    #[inline]
    fn choose_in_turns(&mut self) -> Option<usize> {
        let tin = &self.tins[self.turn];
        if tin.deficit >= 0 && tin.has_turns() { Some(self.turn) } else { self.pass_turns() }
    }
    /// Advances the turn to the next tin that may send. Returns `None` if no tin has packets.
    #[inline(never)]
    fn pass_turns(&mut self) -> Option<usize> {
        if !self.tins.iter().any(Tin::has_turns) {
            return None;
        }
        loop {
            let tin = &mut self.tins[self.turn];
            if tin.deficit >= 0 && tin.has_turns() {
                return Some(self.turn);
            }
            if tin.deficit <= 0 {
                tin.deficit += tin.settings.weight;
            }
            self.turn = if self.turn + 1 < self.tins.len() { self.turn + 1 } else { 0 };
        }
    }

    /// Serves flow `index` of `tin` for one turn: sends the first packet that COBALT does not drop, if there
    /// is one.
    #[inline]
    fn serve(
        &mut self,
        now: Time,
        tin: usize,
        index: u16,
        packet: &mut Packet,
        dropped: &mut impl FnMut(usize, &Packet, DropCause),
    ) -> Head {
        while let Some(place) = self.take(tin, index) {
            let (at, slot) = (&mut self.tins[tin], &self.slots[place]);
            let leaving = Leaving {
                waited: now.saturating_sub(slot.since),
                is_capable: slot.packet.marks.ecn() != Ecn::NotCapable,
                bulk_flows: if self.is_ingress { at.bulk } else { 0 },
            };
            let flow = &mut at.flows[usize::from(index)];
            let Decision { marks, drops } =
                flow.cobalt.decide(&at.settings.cobalt, now, leaving, &mut self.random);
            // The last packet of a queue is never dropped.
            if let Some(cause) = drops.filter(|_| flow.first != NO_SLOT) {
                dropped(tin, &slot.packet, cause);
                if self.is_ingress {
                    let counted = slot.counted;
                    flow.deficit -= counted.cast_signed();
                    at.deficit -= i64::from(counted);
                    self.charge_drop(now, tin, counted);
                    return Head::Dropped;
                }
                continue;
            }
            *packet = slot.packet;
            flow.deficit -= slot.counted.cast_signed();
            at.deficit -= i64::from(slot.counted);
            at.clock.sent(now, slot.counted);
            self.pace.sent(slot.counted);
            self.backlogs.sent();
            return Head::Sent(Pulled { tin, is_marked: marks });
        }
        Head::NoPacket
    }

    /// Charges a dropped packet of `counted` bytes to `tin` and to the shaper. Called only if dropped packets
    /// count as sent.
    fn charge_drop(&mut self, now: Time, tin: usize, counted: u32) {
        self.tins[tin].clock.sent(now, counted);
        self.pace.dropped(counted);
    }

    /// Removes the first packet of flow `index` of `tin`. Returns its slot. Until another packet joins, the
    /// slot is unchanged except for its `next`.
    #[inline]
    fn take(&mut self, tin: usize, index: u16) -> Option<usize> {
        let flow = &mut self.tins[tin].flows[usize::from(index)];
        let place = flow.first;
        let slot = self.slots.get_mut(place as usize)?;
        flow.first = std::mem::replace(&mut slot.next, self.free);
        self.free = place;
        if flow.first == NO_SLOT {
            flow.last = NO_SLOT;
        }
        self.discount(tin, index, place as usize);
        Some(place as usize)
    }
    /// Removes the packet in slot `place`, which must not be the last one, from flow `index` of `tin`. Its
    /// predecessor is in slot `before`.
    #[inline(never)]
    fn unlink(&mut self, tin: usize, index: u16, before: u32, place: u32) -> Option<Slot> {
        let slot = self.slots.get_mut(place as usize)?;
        let next = std::mem::replace(&mut slot.next, self.free);
        let slot = *slot;
        match self.slots.get_mut(before as usize) {
            Some(before) => before.next = next,
            None => self.tins[tin].flows[usize::from(index)].first = next,
        }
        self.free = place;
        self.discount(tin, index, place as usize);
        Some(slot)
    }
    /// Subtracts the packet in slot `place` from the backlogs and counts of flow `index` of `tin`.
    #[expect(clippy::inline_always, reason = "every departure calls it")]
    #[inline(always)]
    fn discount(&mut self, tin: usize, index: u16, place: usize) {
        let length = self.slots[place].packet.length + self.header;
        self.tins[tin].backlog -= u64::from(length);
        self.held -= 1;
        self.memory_used -= memory(length);
        self.backlogs.remove(tin * FLOWS + usize::from(index), length);
    }

    /// Stores `packet` in a free slot and returns the index of the slot.
    // The fields are written separately. If a temporary slot were copied, the processor could not forward the
    // stores of its fields to the loads of the copy.
    #[inline]
    fn occupy(&mut self, now: Time, packet: &Packet) -> u32 {
        let (place, counted) = (self.free, self.lengths.counted(packet.length));
        if let Some(slot) = self.slots.get_mut(place as usize) {
            self.free = std::mem::replace(&mut slot.next, NO_SLOT);
            (slot.packet, slot.since, slot.counted) = (*packet, now, counted);
            return place;
        }
        self.slots.push(Slot { packet: *packet, since: now, next: NO_SLOT, counted });
        (self.slots.len() - 1) as u32
    }
}
