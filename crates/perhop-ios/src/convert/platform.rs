//! [`Platform`]: what depends on the hardware and the release and stands in no configuration.

use perhop_qos::ByteSize;
use perhop_qos::buffer::DropSpacing;
use perhop_qos::ring::RingAdmission;
use serde::Serialize;

/// What depends on the hardware and the release and stands in no configuration.
///
/// The default is a router of 1999 and 2000 with one processor and an ATM port adapter of that time.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Platform {
    /// IP bytes in a particle of the transmit ring of an ATM port adapter.
    pub particle: ByteSize,
    /// Particles of a circuit's transmit ring where `tx-ring-limit` does not say.
    pub circuit_ring: u32,
    /// When a packet may enter a ring that has room, but not enough.
    pub ring_admission: RingAdmission,
    /// Packets in a class's queue where `queue-limit` does not say.
    pub queue_limit: u64,
    /// Packets in an interface's or circuit's only queue where `hold-queue` does not say.
    pub hold_queue: u64,
    /// Percent of the bandwidth that classes may reserve where `max-reserved-bandwidth` does not say.
    pub reservable_percent: u64,
    /// Percent of the bandwidth that class-default weighs at least, however much the classes reserve.
    pub least_default_percent: u64,
    /// How WRED spreads its drops: unpublished; each packet is taken to be judged on its own.
    pub drop_spacing: DropSpacing,
    /// The maximum threshold of WRED where nothing is said, in packets.
    pub wred_maximum: u64,
}

impl Platform {
    /// The names of the profiles.
    pub const PROFILES: [&'static str; 2] = ["cisco-7200-pa-a3", "cisco-7500-vip"];

    /// The profile called `name`.
    ///
    /// The ATM port adapter PA-A3 is the same on both platforms. What a versatile interface processor
    /// computes by itself from its memory, the limits of queues, is published nowhere: it has the
    /// values of the other, and a scenario may say otherwise.
    pub fn profile(name: &str) -> Option<Platform> {
        Platform::PROFILES.contains(&name).then(Platform::default)
    }
}

impl Default for Platform {
    fn default() -> Platform {
        Platform {
            particle: ByteSize::from_bytes(576),
            circuit_ring: 40,
            ring_admission: RingAdmission::Strict,
            queue_limit: 64,
            hold_queue: 40,
            reservable_percent: 75,
            least_default_percent: 1,
            drop_spacing: DropSpacing::Geometric,
            wred_maximum: 40,
        }
    }
}
