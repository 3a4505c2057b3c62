//! [`Platform`]: properties of hardware and release; [`Recognition`]: their detection from a configuration.

mod profile;
mod recognition;
mod signs;
mod written;

use perhop_device::MemoryOptions;
use perhop_device::profile::{GuaranteeSum, ProfileRules};
use perhop_qos::ByteSize;
use perhop_qos::buffer::DropSpacing;
use perhop_qos::ring::{RingAdmission, RingRelease};
use serde::Serialize;

use crate::grammar::Grammar;
use crate::uadp;

pub use profile::Profile;
pub(crate) use profile::most_policy_levels;
pub use recognition::{Dialect, Recognition};
pub use signs::Evidence;
pub(crate) use signs::product;

/// Properties of hardware and release that are not part of a configuration: a profile, and values that a
/// scenario may replace.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Platform {
    /// The generation of its queueing code.
    pub profile: Profile,
    /// IP bytes in a particle of the tx-ring of an ATM port adapter.
    pub particle: ByteSize,
    /// Particles of a circuit's tx-ring without `tx-ring-limit`.
    pub circuit_ring: u32,
    /// Whether a packet may enter a ring with less room than it needs.
    pub ring_admission: RingAdmission,
    /// The instant at which a packet releases its particles of the tx-ring.
    pub ring_release: RingRelease,
    /// Queue limit of a class without `queue-limit`, packets; `None` for the profile's rule.
    pub queue_limit: Option<u64>,
    /// Reservable share of the bandwidth without `max-reserved-bandwidth`, percent.
    pub reservable_percent: u64,
    /// The distribution of the distances between random drops of WRED.
    pub drop_spacing: DropSpacing,
    /// The product and the memory of a switch, where the user names them.
    #[serde(skip)]
    pub memory: MemoryOptions,
}

impl Platform {
    /// The names of the platforms: the profiles, two of them with their port adapter, and families of
    /// switches.
    pub const NAMES: [&'static str; 16] = [
        "pre-hqf",
        "7500-vip",
        "hqf",
        "ios-xe",
        "catalyst-uadp",
        "c3650",
        "c3850",
        "c9200",
        "c9300",
        "c9400",
        "c9500",
        "c9600",
        "asr-9000",
        "ncs-5500",
        "cisco-7200-pa-a3",
        "cisco-7500-vip",
    ];

    /// Returns the platform `name`, one of [`NAMES`](Platform::NAMES), or a product of a family among them.
    pub fn named(name: &str) -> Option<Platform> {
        if uadp::is_product(name) {
            let memory = MemoryOptions { model: Some(name.to_ascii_lowercase()), ..MemoryOptions::default() };
            return Some(Platform { memory, ..Platform::for_profile(Profile::CatalystUadp) });
        }
        let profile = match name {
            "cisco-7200-pa-a3" => Some(Profile::PreHqf),
            "cisco-7500-vip" => Some(Profile::Vip7500),
            other => Profile::named(other),
        };
        profile.map(Platform::for_profile)
    }

    /// Creates the platform of `profile`.
    pub fn for_profile(profile: Profile) -> Platform {
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
            memory: MemoryOptions::default(),
        }
    }

    /// Returns the name of the profile.
    pub fn name(&self) -> &'static str {
        self.profile.name()
    }

    /// Whether its queues draw on the packet memory of a switch.
    pub(crate) fn has_shared_memory(&self) -> bool {
        self.profile == Profile::CatalystUadp
    }

    /// Returns the command language of its routers.
    pub(crate) fn grammar(&self) -> Grammar {
        self.profile.grammar()
    }

    /// Returns the rules of the profile.
    pub fn rules(&self) -> &'static ProfileRules {
        self.profile.rules()
    }
}
