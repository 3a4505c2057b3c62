//! [`Platform`]: what depends on the hardware and the release; [`Recognition`]: which one a configuration
//! belongs to.

mod profile;
mod recognition;
mod signs;
mod written;

use perhop_device::profile::{GuaranteeSum, ProfileRules};
use perhop_qos::ByteSize;
use perhop_qos::buffer::DropSpacing;
use perhop_qos::ring::{RingAdmission, RingRelease};
use serde::Serialize;

pub use profile::Profile;
pub(crate) use profile::most_policy_levels;
pub use recognition::{Dialect, Recognition};
pub use signs::Evidence;

/// The properties of hardware and release that no configuration holds: a profile, and values that a scenario
/// may set in its place.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Platform {
    /// The generation of its queueing code.
    pub profile: Profile,
    /// IP bytes in a particle of the transmit ring of an ATM port adapter.
    pub particle: ByteSize,
    /// Particles of a circuit's transmit ring without `tx-ring-limit`.
    pub circuit_ring: u32,
    /// When a packet may enter a ring that has room, but not enough.
    pub ring_admission: RingAdmission,
    /// When a packet gives the particles of a transmit ring back.
    pub ring_release: RingRelease,
    /// Packets in a class's queue without `queue-limit`; `None` for the profile's rule.
    pub queue_limit: Option<u64>,
    /// Percent of the bandwidth that classes may reserve without `max-reserved-bandwidth`.
    pub reservable_percent: u64,
    /// The distances between random drops of WRED.
    pub drop_spacing: DropSpacing,
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
            other => Profile::named(other),
        };
        profile.map(Platform::of)
    }

    /// A router of `profile`.
    pub fn of(profile: Profile) -> Platform {
        let rules = profile.rules();
        Platform {
            profile,
            particle: ByteSize::from_bytes(*rules.ring_particle_bytes),
            circuit_ring: *rules.ring_particles,
            ring_admission: *rules.ring_admission,
            ring_release: *rules.ring_release,
            queue_limit: None,
            reservable_percent: match *rules.guarantee_sum {
                GuaranteeSum::Reservations { percent } => percent,
                GuaranteeSum::Promises { .. } => 100,
            },
            drop_spacing: *rules.wred_drop_spacing,
        }
    }

    /// Returns the name of its profile.
    pub fn name(&self) -> &'static str {
        self.profile.name()
    }

    /// The rules of its profile.
    pub fn rules(&self) -> &'static ProfileRules {
        self.profile.rules()
    }
}
