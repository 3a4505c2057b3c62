//! [`Platform`]: what depends on the hardware and the release; [`Recognition`]: which one a configuration
//! belongs to.

mod profile;
mod recognition;
mod signs;

use perhop_qos::ByteSize;
use perhop_qos::buffer::DropSpacing;
use perhop_qos::ring::{RingAdmission, RingRelease};
use serde::Serialize;

pub use profile::Profile;
pub use recognition::{Dialect, Recognition};
pub use signs::Evidence;

/// What depends on the hardware and the release and stands in no configuration.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Platform {
    /// The generation of its queueing code, which decides every rule that is no number below.
    pub profile: Profile,
    /// IP bytes in a particle of the transmit ring of an ATM port adapter.
    pub particle: ByteSize,
    /// Particles of a circuit's transmit ring where `tx-ring-limit` does not say.
    pub circuit_ring: u32,
    /// When a packet may enter a ring that has room, but not enough.
    pub ring_admission: RingAdmission,
    /// When a packet gives the particles of a transmit ring back.
    pub ring_release: RingRelease,
    /// Packets in a class's queue where `queue-limit` does not say; `None` for the profile's rule.
    pub queue_limit: Option<u64>,
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
    /// The names of the platforms: the profiles, and two of them with their port adapter.
    pub const NAMES: [&'static str; 6] =
        ["pre-hqf", "7500-vip", "hqf", "ios-xe", "cisco-7200-pa-a3", "cisco-7500-vip"];

    /// The platform called `name`, one of [`NAMES`](Platform::NAMES).
    pub fn named(name: &str) -> Option<Platform> {
        let profile = match name {
            "cisco-7200-pa-a3" => Some(Profile::PreHqf),
            "cisco-7500-vip" => Some(Profile::Vip7500),
            other => Profile::ALL.into_iter().find(|profile| profile.name() == other),
        };
        profile.map(Platform::of)
    }

    /// A router of `profile`. The ATM port adapter is the PA-A3 on all of them. Its transmit ring counts the
    /// particles of the router's own pool, 512 bytes each, which go back once the payload has been handed to
    /// the adapter (Cisco document 6142, "Understanding and Tuning the tx-ring-limit Value"); the 576 bytes
    /// given there are the buffers in the adapter's memory. That the one in segmentation does not count, and
    /// that the others are handed over in batches, is inferred from delays and their variations measured on a
    /// router: the study ef-star, tables `router-wfq` and `router-priority`.
    pub fn of(profile: Profile) -> Platform {
        Platform {
            profile,
            particle: ByteSize::from_bytes(512),
            circuit_ring: 40,
            ring_admission: RingAdmission::Batches,
            ring_release: RingRelease::FirstBit,
            queue_limit: None,
            hold_queue: 40,
            // Cisco, "Low Latency Queueing" (12.0T): 75 %; "HQF behavioural changes" (c11-481499): the
            // command has no effect any more, and classes may reserve all but 1 %.
            reservable_percent: if profile.is_hierarchical() { 100 } else { 75 },
            least_default_percent: 1,
            drop_spacing: DropSpacing::Geometric,
            wred_maximum: 40,
        }
    }
}
