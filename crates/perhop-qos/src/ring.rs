//! [`TransmitRing`]: the FIFO between the scheduler and the wire.
//!
//! Hardware drains the ring in order and nothing is dropped there, so the instant at which a
//! packet's last bit leaves is known when it enters the ring. What enters the ring has left the
//! scheduler's hands: a long ring undoes the scheduler's work.

use std::collections::VecDeque;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{ByteSize, ConfigError, Time};

/// How much the transmit ring holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum RingConfig {
    /// Whole packets, the one on the wire included.
    Packets(u32),
    /// Particles: buffers of fixed size that a packet fills one after the other.
    Particles {
        /// How many particles the ring has.
        count: u32,
        /// IP bytes that one particle holds.
        size: ByteSize,
        /// When a packet that needs more particles than are free may enter.
        #[serde(default)]
        admission: RingAdmission,
        /// When a packet gives its particles back.
        #[serde(default)]
        release: RingRelease,
    },
}

/// When a packet may enter a ring that has room, but not enough.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RingAdmission {
    /// Only when all its particles fit.
    #[default]
    Strict,
    /// As soon as one particle is free: the ring overshoots by the rest of that packet.
    Overshoot,
    /// In batches of two particles, or of one longer packet: one is gathered while others wait ahead of it,
    /// and is handed over as a whole once no more of them wait than the ring holds less two batches. What is
    /// gathered is chosen: nothing overtakes it.
    Batches,
}

/// Particles that are handed over together, if packets fill them.
const BATCH: u32 = 2;

/// When a packet in the ring gives its particles back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RingRelease {
    /// When its last bit has left: the packet on the wire counts.
    #[default]
    LastBit,
    /// When its first bit leaves: the packet on the wire has been taken over by other hardware, such as
    /// the cell memory of an ATM port adapter, and the ring holds only those that wait behind it.
    FirstBit,
}

impl Default for RingConfig {
    /// One packet: the one on the wire. Every decision stays with the scheduler until the last moment.
    fn default() -> RingConfig {
        RingConfig::Packets(1)
    }
}

impl RingConfig {
    /// The ring.
    ///
    /// # Errors
    /// Where the ring has no room at all.
    pub fn build(&self) -> Result<TransmitRing, ConfigError> {
        let (capacity, particle, admission, release) = match *self {
            RingConfig::Packets(count) => (count, u32::MAX, RingAdmission::Strict, RingRelease::LastBit),
            RingConfig::Particles { count, size, admission, release } => {
                let size = u32::try_from(size.as_bytes()).unwrap_or(u32::MAX);
                if size == 0 {
                    return Err(ConfigError::new("particles.size", "a particle of 0 bytes holds nothing")
                        .help("for example 576B"));
                }
                (count, size, admission, release)
            }
        };
        if capacity == 0 {
            return Err(ConfigError::new("", "a transmit ring of 0 lets nothing out").help("at least 1"));
        }
        let is_gathering = admission == RingAdmission::Batches;
        Ok(TransmitRing {
            // What waits when a batch is handed over leaves room for that batch and the next.
            capacity: if is_gathering { capacity.saturating_sub(2 * BATCH) + 1 } else { capacity },
            particle,
            admission,
            release,
            batch: if is_gathering { BATCH } else { 0 },
            gathered: 0,
            alone: None,
            used: 0,
            first: Slot::default(),
            others: VecDeque::with_capacity((capacity - 1).min(64) as usize),
            drained_at: Time::ZERO,
        })
    }
}

/// The packets committed to the wire: when each frees its particles.
#[derive(Clone, Debug)]
#[repr(C)] // what every packet asks comes first
pub struct TransmitRing {
    /// When the last of its packets will have left, or has left.
    drained_at: Time,
    /// Length in IP bytes of the packet that leaves next, where no other is in the ring and that is all that
    /// was noted of it.
    alone: Option<u32>,
    /// The packet that frees its particles next, while there is one.
    first: Slot,
    /// Particles that are handed over and not given back; none only while nothing is gathered either.
    used: u32,
    particle: u32,
    /// While fewer are in use something may enter, or what is gathered be handed over.
    capacity: u32,
    admission: RingAdmission,
    release: RingRelease,
    /// Particles of the packets that are gathered and not handed over; none where all that enters is.
    gathered: u32,
    /// Particles that are gathered before they are handed over; 0 where nothing is gathered.
    batch: u32,
    /// The packets behind the first, those gathered among them.
    others: VecDeque<Slot>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    frees: Time,
    particles: u32,
}

impl TransmitRing {
    /// Whether it holds one packet at a time, the one on the wire.
    pub fn is_single(&self) -> bool {
        self.capacity == 1 && self.batch == 0 && self.release == RingRelease::LastBit
    }
    /// Whether the last bit of every packet has left by `now`.
    #[inline]
    pub fn is_drained(&self, now: Time) -> bool {
        self.drained_at <= now
    }
    /// Frees the particles of every packet that gives them back by `now`: before anybody asks what has room.
    #[inline]
    pub fn advance(&mut self, now: Time) {
        if self.is_drained(now) {
            self.clear();
        } else if let Some(length) = self.alone.take() {
            self.others.clear();
            self.gathered = 0;
            self.first = Slot { frees: self.drained_at, particles: self.particles(length) };
            self.used = self.first.particles;
        } else if self.first.frees <= now {
            self.advance_one_by_one(now);
        }
    }
    #[inline(never)]
    fn advance_one_by_one(&mut self, now: Time) {
        while self.used > 0 && self.first.frees <= now {
            self.hand_over();
            self.used -= self.first.particles;
            self.first = self.others.pop_front().unwrap_or_default();
            self.hand_over();
        }
    }
    /// Hands over what is gathered, if there is room.
    #[inline]
    fn hand_over(&mut self) {
        if self.used < self.capacity {
            self.used += self.gathered;
            self.gathered = 0;
        }
    }
    /// A packet of so many particles enters behind others.
    fn gather(&mut self, particles: u32) {
        if self.gathered > 0 && self.gathered + particles > self.batch {
            self.hand_over();
        }
        self.gathered += particles;
    }
    #[inline]
    fn clear(&mut self) {
        self.alone = None;
        self.used = 0;
        self.gathered = 0;
        if !self.others.is_empty() {
            self.others.clear();
        }
    }
    /// Whether the smallest packet could enter.
    #[inline]
    pub fn has_room(&self) -> bool {
        self.used() < self.capacity || self.gathered() < self.batch
    }
    /// Whether a packet of `length` IP bytes may enter. A packet larger than the whole ring enters an empty
    /// one.
    #[expect(clippy::inline_always, reason = "what every packet that waits asks")]
    #[inline(always)]
    pub fn admits(&self, length: u32) -> bool {
        let used = self.used();
        used == 0
            || match self.admission {
                RingAdmission::Strict => used + self.particles(length) <= self.capacity,
                RingAdmission::Overshoot => used < self.capacity,
                RingAdmission::Batches => {
                    used < self.capacity
                        || self.gathered() == 0
                        || self.gathered() + self.particles(length) <= self.batch
                }
            }
    }
    /// A packet of `length` IP bytes enters; its first bit leaves at `starts`, no earlier than the last of
    /// its predecessor, and its last at `ends`.
    #[inline]
    pub fn push(&mut self, length: u32, starts: Time, ends: Time) {
        debug_assert!(self.alone.is_none(), "not brought up to date");
        let frees = if self.release == RingRelease::FirstBit { starts } else { ends };
        let slot = Slot { frees, particles: self.particles(length) };
        if self.used == 0 {
            self.first = slot;
            self.used = slot.particles;
        } else {
            self.others.push_back(slot);
            if self.batch == 0 {
                self.used += slot.particles;
            } else {
                self.gather(slot.particles);
            }
        }
        self.drained_at = ends;
    }
    /// A packet of `length` IP bytes enters a ring from which every packet before has
    /// [left](TransmitRing::is_drained), or will have when it enters; its first bit leaves then, and its last
    /// at `ends`.
    #[inline]
    pub fn push_alone(&mut self, length: u32, ends: Time) {
        match self.release {
            RingRelease::LastBit => self.alone = Some(length),
            RingRelease::FirstBit => self.clear(),
        }
        self.drained_at = ends;
    }
    /// When the next particles come free; `None` while the ring is empty.
    #[inline]
    pub fn next_release(&self) -> Option<Time> {
        if self.alone.is_some() { Some(self.drained_at) } else { (self.used > 0).then_some(self.first.frees) }
    }
    /// When everything in the ring will have left, or when it last ran empty.
    #[inline]
    pub fn free_at(&self) -> Time {
        self.drained_at
    }
    /// Packets that have particles in the ring.
    pub fn packets(&self) -> usize {
        if self.alone.is_some() { 1 } else { self.others.len() + usize::from(self.used > 0) }
    }

    /// Particles in use when it was last brought up to date.
    #[inline]
    fn used(&self) -> u32 {
        self.alone.map_or(self.used, |length| self.particles(length))
    }
    /// Particles that are gathered, likewise.
    #[inline]
    fn gathered(&self) -> u32 {
        if self.alone.is_some() { 0 } else { self.gathered }
    }
    #[inline]
    fn particles(&self, length: u32) -> u32 {
        if self.particle == u32::MAX { 1 } else { length.div_ceil(self.particle).max(1) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn particles(count: u32, admission: RingAdmission) -> TransmitRing {
        let (size, release) = (ByteSize::from_bytes(576), RingRelease::LastBit);
        RingConfig::Particles { count, size, admission, release }.build().unwrap()
    }

    #[test]
    fn five_particles_hold_two_packets_of_1028_bytes() {
        // 1028 bytes take two particles of 576: the third packet would need a sixth particle.
        let mut ring = particles(5, RingAdmission::Strict);
        for milliseconds in [5, 10] {
            assert!(ring.admits(1028));
            let ends = Time::from_milliseconds(milliseconds);
            ring.push(1028, ring.free_at(), ends);
        }
        assert!(!ring.admits(1028));
        assert!(ring.admits(500));
        ring.advance(Time::from_milliseconds(5));
        assert!(ring.admits(1028));
        assert_eq!(ring.next_release(), Some(Time::from_milliseconds(10)));
    }

    #[test]
    fn overshoot_lets_a_third_packet_in() {
        let mut ring = particles(5, RingAdmission::Overshoot);
        for milliseconds in [5, 10, 15] {
            assert!(ring.admits(1028));
            let ends = Time::from_milliseconds(milliseconds);
            ring.push(1028, ring.free_at(), ends);
        }
        assert!(!ring.admits(1));
    }

    #[test]
    fn the_packet_on_the_wire_may_have_given_its_particles_back() {
        let (size, admission) = (ByteSize::from_bytes(512), RingAdmission::Overshoot);
        let config = RingConfig::Particles { count: 5, size, admission, release: RingRelease::FirstBit };
        let mut ring = config.build().unwrap();
        // 1028 bytes take three particles of 512: one packet is sent and two wait, with six particles.
        for milliseconds in [5, 10, 15] {
            ring.advance(Time::ZERO);
            assert!(ring.admits(1028));
            let ends = Time::from_milliseconds(milliseconds);
            ring.push(1028, ring.free_at(), ends);
        }
        assert!(!ring.has_room());
        assert_eq!((ring.packets(), ring.next_release()), (2, Some(Time::from_milliseconds(5))));
        ring.advance(Time::from_milliseconds(5));
        assert!(ring.admits(1028));
        assert!(!ring.is_drained(Time::from_milliseconds(14)));
    }

    #[test]
    fn small_packets_are_handed_over_two_by_two() {
        let (size, release) = (ByteSize::from_bytes(512), RingRelease::FirstBit);
        let config = RingConfig::Particles { count: 5, size, admission: RingAdmission::Batches, release };
        let mut ring = config.build().unwrap();
        let send = |ring: &mut TransmitRing, now: Time, length: u32, most: usize| {
            ring.advance(now);
            let mut sent = 0;
            while sent < most && ring.admits(length) {
                let starts = ring.free_at().max(now);
                ring.push(length, starts, starts + Time::from_milliseconds(1));
                sent += 1;
            }
            sent
        };
        // One is sent and five wait: three handed over, two gathered.
        send(&mut ring, Time::ZERO, 284, 1);
        assert_eq!(send(&mut ring, Time::ZERO, 284, 9), 5);
        assert!(!ring.has_room());
        // The three become two: the gathered ones stay. They become one: the gathered ones follow, and two
        // others are chosen.
        assert_eq!(send(&mut ring, Time::from_milliseconds(1), 284, 9), 0);
        assert_eq!(send(&mut ring, Time::from_milliseconds(2), 284, 9), 2);
        assert_eq!((ring.packets(), ring.has_room()), (5, false));
        // Of packets that fill a batch each, one waits before the one that is gathered.
        let mut ring = config.build().unwrap();
        send(&mut ring, Time::ZERO, 1028, 1);
        assert_eq!(send(&mut ring, Time::ZERO, 1028, 9), 2);
        assert_eq!(send(&mut ring, Time::from_milliseconds(1), 1028, 9), 1);
    }

    #[test]
    fn a_packet_larger_than_the_ring_is_not_stuck() {
        assert!(particles(1, RingAdmission::Strict).admits(1500));
    }
}
