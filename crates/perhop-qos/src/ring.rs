//! [`TransmitRing`]: the FIFO between the scheduler and the wire.
//!
//! Hardware empties the ring in order and drops no packets. The time at which the last bit of a packet leaves
//! is therefore known when the packet enters the ring. The scheduler has no control over packets in the ring,
//! so a long ring makes scheduling ineffective.

use std::collections::VecDeque;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{ByteSize, ConfigError, Time};

/// The capacity of the transmit ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum RingConfig {
    /// A number of packets, including the packet that is being sent.
    Packets(u32),
    /// A number of particles, which are buffers of fixed size. A packet fills one particle after the other.
    Particles {
        /// The number of particles in the ring.
        count: u32,
        /// The capacity of one particle, IP bytes.
        size: ByteSize,
        /// The condition for a packet that needs more particles than are free to enter the ring.
        #[serde(default)]
        admission: RingAdmission,
        /// The time at which a packet frees its particles.
        #[serde(default)]
        release: RingRelease,
    },
}

/// The condition for a packet that needs more particles than are free to enter the ring.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RingAdmission {
    /// All particles of the packet must fit.
    #[default]
    Strict,
    /// One particle must be free. The packet can then exceed the capacity of the ring by its other particles.
    Overshoot,
    /// Packets enter in batches of two particles, or of one longer packet. A batch is gathered while other
    /// packets precede it in the ring. The complete batch is handed over when the waiting particles leave
    /// room for two batches. No other packet can overtake a gathered packet.
    Batches,
}

/// The number of particles that are handed over together.
const BATCH: u32 = 2;

/// The time at which a packet in the ring frees its particles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RingRelease {
    /// The time at which the last bit of the packet has left. The packet that is being sent still uses its
    /// particles.
    #[default]
    LastBit,
    /// The time at which the first bit of the packet leaves. Other hardware, such as the cell memory of an
    /// ATM port adapter, stores the packet that is being sent. The ring contains only the packets after it.
    FirstBit,
}

impl Default for RingConfig {
    /// The default is one packet, the packet that is being sent, so that the scheduler decides as late as
    /// possible.
    fn default() -> RingConfig {
        RingConfig::Packets(1)
    }
}

impl RingConfig {
    /// Builds the ring.
    ///
    /// # Errors
    /// The ring has no room.
    pub fn build(&self) -> Result<TransmitRing, ConfigError> {
        let (capacity, particle, admission, release) = match *self {
            RingConfig::Packets(count) => (count, u32::MAX, RingAdmission::Strict, RingRelease::LastBit),
            RingConfig::Particles { count, size, admission, release } => {
                let size = u32::try_from(size.as_bytes()).unwrap_or(u32::MAX);
                if size == 0 {
                    return Err(ConfigError::new("particles.size", "a particle of 0 bytes stores nothing")
                        .help("for example 576B"));
                }
                (count, size, admission, release)
            }
        };
        if capacity == 0 {
            return Err(ConfigError::new("", "a transmit ring of 0 sends no packet").help("at least 1"));
        }
        let is_gathering = admission == RingAdmission::Batches;
        Ok(TransmitRing {
            // The packets that wait at a handover must leave room for the batch that is handed over and the
            // next one.
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

/// The packets that the scheduler has handed to the wire, and the times at which they free their particles.
#[derive(Clone, Debug)]
#[repr(C)] // fields that every packet reads come first
pub struct TransmitRing {
    /// The time at which the last packet leaves or has left.
    drained_at: Time,
    /// The length in IP bytes of the only packet in the ring, if it was added by
    /// [`push_alone`](TransmitRing::push_alone).
    alone: Option<u32>,
    /// The packet that will free its particles next, if there is one.
    first: Slot,
    /// The number of particles that are handed over and not yet free. If it is 0, no particles are gathered
    /// either.
    used: u32,
    /// The capacity of a particle, IP bytes.
    particle: u32,
    /// The number of used particles below which a packet may enter the ring, or a batch may be handed over.
    capacity: u32,
    admission: RingAdmission,
    release: RingRelease,
    /// The number of particles of gathered packets that are not yet handed over. It is 0 if packets are
    /// handed over at once.
    gathered: u32,
    /// The number of particles in a batch. It is 0 if the ring gathers no batches.
    batch: u32,
    /// The packets after the first one, including gathered packets.
    others: VecDeque<Slot>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    frees: Time,
    particles: u32,
}

impl TransmitRing {
    /// Whether the ring has room for only one packet, the packet that is being sent.
    pub fn is_single(&self) -> bool {
        self.capacity == 1 && self.batch == 0 && self.release == RingRelease::LastBit
    }
    /// Whether the last bit of every packet has left by `now`.
    #[inline]
    pub fn is_drained(&self, now: Time) -> bool {
        self.drained_at <= now
    }
    /// Frees the particles that are due by `now`. Call this function before you check whether the ring has
    /// room.
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
    /// Hands over the gathered packets, if the ring has room.
    #[inline]
    fn hand_over(&mut self) {
        if self.used < self.capacity {
            self.used += self.gathered;
            self.gathered = 0;
        }
    }
    /// Gathers a packet of `particles` particles.
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
    /// Whether a packet of one particle may enter the ring.
    #[inline]
    pub fn has_room(&self) -> bool {
        self.used() < self.capacity || self.gathered() < self.batch
    }
    /// Whether a packet of `length` IP bytes may enter. A packet that is larger than the whole ring may enter
    /// an empty ring.
    #[expect(clippy::inline_always, reason = "every waiting packet calls it")]
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
    /// Adds a packet of `length` IP bytes. Its first bit leaves at `starts`, which must not be before the
    /// last bit of the packet before it. Its last bit leaves at `ends`.
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
    /// Adds a packet of `length` IP bytes to a ring that is [drained](TransmitRing::is_drained) when the
    /// packet enters it, now or later. The first bit of the packet leaves when the packet enters, and the
    /// last bit at `ends`.
    #[inline]
    pub fn push_alone(&mut self, length: u32, ends: Time) {
        match self.release {
            RingRelease::LastBit => self.alone = Some(length),
            RingRelease::FirstBit => self.clear(),
        }
        self.drained_at = ends;
    }
    /// Returns the time at which the next particles are freed, or `None` if the ring is empty.
    #[inline]
    pub fn next_release(&self) -> Option<Time> {
        if self.alone.is_some() { Some(self.drained_at) } else { (self.used > 0).then_some(self.first.frees) }
    }
    /// The time at which the last packet leaves or has left.
    #[inline]
    pub fn free_at(&self) -> Time {
        self.drained_at
    }
    /// The number of packets that use particles in the ring.
    pub fn packets(&self) -> usize {
        if self.alone.is_some() { 1 } else { self.others.len() + usize::from(self.used > 0) }
    }

    /// The number of used particles at the last update.
    #[inline]
    fn used(&self) -> u32 {
        self.alone.map_or(self.used, |length| self.particles(length))
    }
    /// The number of gathered particles at the last update.
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
        // A packet of 1028 bytes needs two particles of 576 bytes, so a third packet would need a sixth
        // particle.
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
    fn the_packet_on_the_wire_can_have_freed_its_particles() {
        let (size, admission) = (ByteSize::from_bytes(512), RingAdmission::Overshoot);
        let config = RingConfig::Particles { count: 5, size, admission, release: RingRelease::FirstBit };
        let mut ring = config.build().unwrap();
        // A packet of 1028 bytes needs three particles of 512 bytes. One packet is being sent, and two
        // packets wait with six particles.
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
        // One packet is being sent and five wait: three are handed over, and two are gathered.
        send(&mut ring, Time::ZERO, 284, 1);
        assert_eq!(send(&mut ring, Time::ZERO, 284, 9), 5);
        assert!(!ring.has_room());
        // While two of the three packets remain, the gathered packets are not handed over. When one packet
        // remains, they are handed over, and the scheduler selects two other packets.
        assert_eq!(send(&mut ring, Time::from_milliseconds(1), 284, 9), 0);
        assert_eq!(send(&mut ring, Time::from_milliseconds(2), 284, 9), 2);
        assert_eq!((ring.packets(), ring.has_room()), (5, false));
        // In this case, each packet fills a batch, so only one packet waits before the gathered packet.
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
