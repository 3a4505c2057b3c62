//! [`Fragments`]: fragmentation of datagrams and their reassembly (RFC 791 §2.3 and §3.2).
//!
//! Flows count datagrams. A datagram has arrived when all its fragments have arrived. It is lost if one of
//! its fragments was dropped, and counts as lost when the fate of all its fragments is known. Ports count
//! fragments.

use perhop_capture::FragmentFields;
use perhop_qos::packet::Packet;
use perhop_qos::units::Time;
use perhop_qos::verdict::DropCause;

use crate::flow::{flow_of, payload, sequence_of};

/// IPv4 header without options, bytes (RFC 791 §3.1).
const HEADER: u32 = 20;
/// The unit of fragment offsets, bytes (RFC 791 §3.1).
const UNIT: u32 = 8;

/// The fragments in the network. The flow numbers of fragments are above the numbers of all flows, so that
/// other packets need no additional check.
#[derive(Debug, Default)]
pub(crate) struct Fragments {
    /// The first flow number of fragments.
    first: usize,
    /// By flow: whether its datagrams may be fragmented, and the flow number of the fragments.
    travels_as: Vec<Travel>,
    datagrams: Places<Datagram>,
    pieces: Places<Piece>,
}

/// Whether datagrams of a flow may be fragmented.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Travel {
    /// No interface fragments datagrams of the flow, for example because no interface has an MTU.
    #[default]
    Undecided,
    /// The sender of the flow forbids fragmentation (`dont-fragment`).
    Refused,
    /// Interfaces may fragment datagrams of the flow. The fragments have this flow number.
    As(u32),
}

/// A datagram that was fragmented.
#[derive(Clone, Copy, Debug, Default)]
struct Datagram {
    /// The datagram before fragmentation. When the fate of the first fragment is known, `whole` has the
    /// codepoint and the marks of this fragment.
    whole: Packet,
    /// The number of fragments whose fate is not known; 0 in a free place.
    awaited: u32,
    lost: Option<Loss>,
}

/// The loss of a datagram. It does not depend on the order in which the fates of the fragments become known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Loss {
    /// The cause. If several fragments were dropped, the first of their causes in the order of [`DropCause`].
    pub(crate) cause: DropCause,
    /// The time of the first drop.
    pub(crate) at: Time,
}

impl Loss {
    fn with(self, other: Loss) -> Loss {
        Loss { cause: self.cause.min(other.cause), at: self.at.min(other.at) }
    }
}

/// One fragment.
#[derive(Clone, Copy, Debug, Default)]
struct Piece {
    /// The place of the datagram in `datagrams`.
    datagram: u32,
    /// The offset in the datagram's payload, in units of eight bytes.
    offset: u16,
    /// Whether more fragments of the datagram follow.
    has_more: bool,
}

/// A datagram after the fate of all its fragments is known.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reassembled {
    pub(crate) datagram: Packet,
    pub(crate) lost: Option<Loss>,
}

/// The fragments of a packet, produced one after the other.
#[derive(Debug)]
pub(crate) struct Pieces {
    packet: Packet,
    datagram: u32,
    /// The flow number of the fragments.
    number: usize,
    /// The maximum number of payload bytes of a fragment.
    room: u32,
    /// The number of payload bytes that are not in a piece yet.
    left: u32,
    /// The offset of the next piece in the datagram, in units of eight bytes.
    offset: u16,
    /// Whether the packet is itself a fragment other than the last.
    has_more: bool,
}

impl Fragments {
    /// Reserves the flow numbers from `first` on for fragments.
    pub(crate) fn number_from(&mut self, first: usize) {
        self.first = first;
        self.travels_as.resize(first, Travel::Undecided);
    }
    /// Forbids fragmentation of datagrams of `flow`.
    pub(crate) fn refuse(&mut self, flow: usize) {
        self.travels_as.resize(self.travels_as.len().max(flow + 1), Travel::Undecided);
        self.travels_as[flow] = Travel::Refused;
    }
    /// Whether fragmentation is permitted for `flow`.
    pub(crate) fn is_allowed(&self, flow: usize) -> bool {
        self.travels_as.get(flow) != Some(&Travel::Refused)
    }
    /// Whether an interface may fragment datagrams of some flow.
    pub(crate) fn are_possible(&self) -> bool {
        self.travels_as.iter().any(|travel| matches!(travel, Travel::As(_)))
    }
    /// Assigns flow number `number` to fragments of `flow`.
    pub(crate) fn allow(&mut self, flow: usize, number: usize) {
        self.travels_as[flow] = Travel::As(number as u32);
    }

    /// Splits `packet` for an interface with an MTU of `mtu` bytes. Returns `None` if the packet must not be
    /// fragmented.
    pub(crate) fn split(&mut self, packet: &Packet, mtu: u16) -> Option<Pieces> {
        let (flow, left) = (flow_of(packet), packet.length.saturating_sub(HEADER));
        let room = (u32::from(mtu) - HEADER) / UNIT * UNIT;
        let count = left.div_ceil(room);
        if flow >= self.first {
            // A fragment that is split again is replaced by its pieces.
            let place = packet.payload as u32;
            let Piece { datagram, offset, has_more } = *self.pieces.at(place);
            self.pieces.give_back(place);
            self.datagrams.at(datagram).awaited += count - 1;
            return Some(Pieces { packet: *packet, datagram, number: flow, room, left, offset, has_more });
        }
        let Travel::As(number) = self.travels_as[flow] else { return None };
        let datagram = self.datagrams.take();
        *self.datagrams.at(datagram) = Datagram { whole: *packet, awaited: count, lost: None };
        let number = number as usize;
        Some(Pieces { packet: *packet, datagram, number, room, left, offset: 0, has_more: false })
    }

    /// Returns the fields of the IP header that identify the fragments of a datagram. Returns `None` if
    /// `packet` is not a fragment and cannot be fragmented.
    pub(crate) fn fields(&self, packet: &Packet) -> Option<FragmentFields> {
        if flow_of(packet) < self.first {
            let identification = sequence_of(packet) as u16;
            let fields =
                FragmentFields { identification, datagram: packet.length, ..FragmentFields::default() };
            return matches!(self.travels_as[flow_of(packet)], Travel::As(_)).then_some(fields);
        }
        let Piece { datagram, offset, has_more } = self.pieces.all[packet.payload as u32 as usize];
        let whole = self.datagrams.all[datagram as usize].whole;
        let identification = sequence_of(&whole) as u16;
        Some(FragmentFields { identification, offset, has_more, datagram: whole.length })
    }

    /// Records that `fragment` arrived at its host. Returns the datagram if the fate of all its fragments is
    /// now known.
    pub(crate) fn arrived(&mut self, fragment: &Packet) -> Option<Reassembled> {
        self.resolved(fragment, None)
    }
    /// Records that `fragment` was dropped. Returns the datagram if the fate of all its fragments is now
    /// known.
    pub(crate) fn dropped(&mut self, fragment: &Packet, loss: Loss) -> Option<Reassembled> {
        self.resolved(fragment, Some(loss))
    }
    fn resolved(&mut self, fragment: &Packet, lost: Option<Loss>) -> Option<Reassembled> {
        let place = fragment.payload as u32;
        let Piece { datagram: whose, offset, .. } = *self.pieces.at(place);
        self.pieces.give_back(place);
        let datagram = self.datagrams.at(whose);
        datagram.awaited -= 1;
        datagram.lost = datagram.lost.into_iter().chain(lost).reduce(Loss::with);
        if offset == 0 {
            (datagram.whole.dscp, datagram.whole.marks) = (fragment.dscp, fragment.marks);
        }
        if datagram.awaited > 0 {
            return None;
        }
        let resolved = Reassembled { datagram: datagram.whole, lost: datagram.lost };
        self.datagrams.give_back(whose);
        Some(resolved)
    }
    /// Returns the datagrams that still have fragments in the network.
    pub(crate) fn unresolved(&self) -> impl Iterator<Item = Reassembled> {
        let under_way = self.datagrams.all.iter().filter(|datagram| datagram.awaited > 0);
        under_way.map(|datagram| Reassembled { datagram: datagram.whole, lost: datagram.lost })
    }
}

impl Pieces {
    /// Returns the next piece and adds it to `fragments`.
    pub(crate) fn next(&mut self, fragments: &mut Fragments) -> Option<Packet> {
        if self.left == 0 {
            return None;
        }
        let carried = self.left.min(self.room);
        self.left -= carried;
        let place = fragments.pieces.take();
        let has_more = self.left > 0 || self.has_more;
        *fragments.pieces.at(place) = Piece { datagram: self.datagram, offset: self.offset, has_more };
        let mut piece =
            Packet { length: HEADER + carried, payload: payload(self.number, place), ..self.packet };
        if self.offset > 0 {
            // Only the first fragment contains the transport header with the ports.
            (piece.source_port, piece.destination_port) = (0, 0);
        }
        self.offset += (carried / UNIT) as u16;
        Some(piece)
    }
}

/// A vector that reuses free places. Its length is the maximum number of values that existed at the same
/// time.
#[derive(Debug, Default)]
struct Places<T> {
    all: Vec<T>,
    free: Vec<u32>,
}

impl<T: Copy + Default> Places<T> {
    /// Takes a free place, whose value is the default or that of its previous user. Returns the index of the
    /// place.
    fn take(&mut self) -> u32 {
        self.free.pop().unwrap_or_else(|| {
            self.all.push(T::default());
            (self.all.len() - 1) as u32
        })
    }
    fn at(&mut self, place: u32) -> &mut T {
        &mut self.all[place as usize]
    }
    fn give_back(&mut self, place: u32) {
        self.free.push(place);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Fragments of flow 0, which travel as flow 1.
    fn fragments() -> Fragments {
        let mut fragments = Fragments::default();
        fragments.number_from(1);
        fragments.allow(0, 1);
        fragments
    }
    fn datagram(length: u32) -> Packet {
        Packet { length, source_port: 7, destination_port: 9, payload: payload(0, 5), ..Packet::default() }
    }
    fn cut(fragments: &mut Fragments, packet: &Packet, mtu: u16) -> Vec<Packet> {
        let mut pieces = fragments.split(packet, mtu).unwrap();
        std::iter::from_fn(|| pieces.next(fragments)).collect()
    }
    fn places(fragments: &mut Fragments, pieces: &[Packet]) -> Vec<(u32, u16, bool)> {
        let fields = |piece: &Packet| {
            let Piece { offset, has_more, .. } = *fragments.pieces.at(piece.payload as u32);
            (piece.length, offset, has_more)
        };
        pieces.iter().map(fields).collect()
    }

    /// RFC 791 §3.2: an MTU of 1500 bytes has room for 1480 bytes of payload. An MTU of 1000 bytes leaves 980
    /// bytes, which are 122.5 units, so a fragment has only 976 bytes.
    #[test]
    fn pieces_begin_at_multiples_of_eight_bytes() {
        let mut fragments = fragments();
        let pieces = cut(&mut fragments, &datagram(4000), 1500);
        assert_eq!(
            places(&mut fragments, &pieces),
            [(1500, 0, true), (1500, 185, true), (1040, 370, false)],
            "3980 bytes are 1480, 1480 and 1020"
        );
        assert_eq!(pieces.iter().map(|piece| piece.source_port).collect::<Vec<_>>(), [7, 0, 0]);
        let again = cut(&mut fragments, &pieces[1], 1000);
        assert_eq!(places(&mut fragments, &again), [(996, 185, true), (524, 307, true)]);
        assert_eq!(again[0].source_port, 0, "a piece of a fragment that is not the first");
        let last = cut(&mut fragments, &pieces[2], 1000);
        assert_eq!(places(&mut fragments, &last), [(996, 370, true), (64, 492, false)]);
        let all = [&pieces[..1], &again, &last].concat();
        let (last, others) = all.split_last().unwrap();
        assert!(others.iter().all(|piece| fragments.arrived(piece).is_none()));
        let Reassembled { datagram, lost } = fragments.arrived(last).unwrap();
        assert_eq!((datagram.length, datagram.payload, lost), (4000, payload(0, 5), None));
        assert_eq!(fragments.unresolved().count(), 0);
    }

    #[test]
    fn a_lost_fragment_loses_the_datagram_once() {
        for order in [[0, 1, 2], [2, 1, 0], [1, 2, 0]] {
            let mut fragments = fragments();
            let pieces = cut(&mut fragments, &datagram(3000), 1500);
            let loss = |cause, at| Some(Loss { cause, at: Time::from_picoseconds(at) });
            let losses = [loss(DropCause::Lost, 1), None, loss(DropCause::QueueFull, 2)];
            let mut resolved = None;
            for place in order {
                assert!(resolved.is_none());
                resolved = fragments.resolved(&pieces[place], losses[place]);
            }
            assert_eq!(resolved.unwrap().lost, loss(DropCause::QueueFull, 1), "whichever came first");
        }
    }

    #[test]
    fn slots_are_reused() {
        let mut fragments = fragments();
        for _ in 0..100 {
            for piece in cut(&mut fragments, &datagram(3000), 1500) {
                fragments.arrived(&piece);
            }
        }
        assert_eq!((fragments.datagrams.all.len(), fragments.pieces.all.len()), (1, 3));
    }

    #[test]
    fn packets_with_df_are_not_fragmented() {
        let mut fragments = Fragments::default();
        fragments.refuse(0);
        fragments.number_from(1);
        assert!(!fragments.is_allowed(0) && fragments.split(&datagram(3000), 1500).is_none());
    }
}
