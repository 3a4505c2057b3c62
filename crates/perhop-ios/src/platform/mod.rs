//! [`Platform`]: properties of hardware and release. [`Recognition`]: detection of these properties from a
//! configuration.

mod profile;
mod recognition;
mod signs;
mod switch;
mod written;

use perhop_device::MemoryOptions;
use perhop_device::profile::{DefaultLimit, GuaranteeSum, ProfileRules};
use perhop_qos::ByteSize;
use perhop_qos::buffer::DropSpacing;
use perhop_qos::ring::{RingAdmission, RingRelease};
use serde::Serialize;

use crate::grammar::Grammar;
use crate::{mls, nexus, silicon_one, uadp};

pub use profile::Profile;
pub(crate) use profile::most_policy_levels;
pub use recognition::{Dialect, Recognition};
pub use signs::Evidence;
pub(crate) use signs::product;
pub(crate) use switch::SwitchHardware;

/// The setting for the memory of each port of a switch, units.
pub(crate) const PORT_UNITS: &str = "port-units";
/// The setting for the memory that the ports of a switch share, units.
pub(crate) const SHARED_UNITS: &str = "shared-units";
/// The setting for the number of neighboring ports of a switch that share one memory.
pub(crate) const POOL_PORTS: &str = "pool-ports";
/// The maximum number of units of a memory. The data plane has the same limit.
pub(crate) const MOST_UNITS: u64 = 1 << 30;

/// Properties of hardware and release that are not part of a configuration: a profile, and values that a
/// scenario can override.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Platform {
    /// The generation of the queueing code.
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
    /// The product and the memory of a switch, if the user names them.
    #[serde(skip)]
    pub memory: MemoryOptions,
}

impl Platform {
    /// The names of the platforms: profiles, two profiles in combination with a port adapter, and families of
    /// switches.
    pub const NAMES: [&'static str; 25] = [
        "pre-hqf",
        "7500-vip",
        "hqf",
        "iosv",
        "ios-xe",
        "asr-920",
        "catalyst-mls",
        "catalyst-uadp",
        "c3650",
        "c3850",
        "c9200",
        "c9300",
        "c9400",
        "c9500",
        "c9600",
        "catalyst-silicon-one",
        "c9350",
        "c9500x",
        "c9600x",
        "c9610",
        "nexus-9000",
        "asr-9000",
        "ncs-5500",
        "cisco-7200-pa-a3",
        "cisco-7500-vip",
    ];

    /// Returns the platform `name`, which is one of [`NAMES`](Platform::NAMES) or a product of a family in
    /// [`NAMES`](Platform::NAMES).
    pub fn named(name: &str) -> Option<Platform> {
        if silicon_one::has_silicon_one(name) && !name.contains(',') {
            let memory = MemoryOptions { model: Some(name.to_ascii_lowercase()), ..MemoryOptions::default() };
            return Some(Platform { memory, ..Platform::for_profile(Profile::CatalystSiliconOne) });
        }
        if let Some((profile, memory)) = switch_named(name) {
            return Some(Platform { memory, ..Platform::for_profile(profile) });
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

    /// Whether the queues of the platform share the packet memory of a switch.
    pub(crate) fn has_shared_memory(&self) -> bool {
        self.switch().is_some()
    }

    /// Returns the number of bytes that 100 % of `queue-limit percent` means; `None` if the platform has no
    /// such limits.
    pub(crate) fn percent_limit_bytes(&self) -> Option<u64> {
        match *self.rules().class_queue_limit {
            DefaultLimit::PortBytes { shared, .. } => Some(shared),
            _ => None,
        }
    }

    /// Returns the hardware of a switch; `None` for a router.
    pub(crate) fn switch(&self) -> Option<SwitchHardware> {
        match self.profile {
            Profile::CatalystMls => Some(SwitchHardware::Mls),
            Profile::CatalystUadp => Some(SwitchHardware::Uadp),
            Profile::Nexus9000 => Some(SwitchHardware::Nexus),
            _ => None,
        }
    }

    /// Returns `options` with the settings in the name of a product: `n9k-c93180yc-fx,shared-units=49152`.
    pub(crate) fn memory_options(options: &MemoryOptions) -> MemoryOptions {
        let named = options.model.as_deref().and_then(Platform::named).map(|platform| platform.memory);
        let Some(named) = named else { return options.clone() };
        MemoryOptions {
            model: named.model,
            port_units: options.port_units.or(named.port_units),
            shared_units: options.shared_units.or(named.shared_units),
            pool_ports: options.pool_ports.or(named.pool_ports),
        }
    }

    /// Returns the command language of the platform.
    pub(crate) fn grammar(&self) -> Grammar {
        self.profile.grammar()
    }

    /// Returns the rules of the profile.
    pub fn rules(&self) -> &'static ProfileRules {
        self.profile.rules()
    }
}

/// Returns the profile and the memory options of a name with settings: `c9300-24t,port-units=500`. If the
/// name is the name of the profile, the configuration determines the product.
fn switch_named(name: &str) -> Option<(Profile, MemoryOptions)> {
    let mut parts = name.split(',');
    let product = parts.next()?.trim();
    let profiles = [
        (Profile::CatalystUadp, uadp::is_product(product)),
        (Profile::CatalystMls, mls::is_product(product)),
        (Profile::Nexus9000, nexus::is_product(product)),
    ];
    let named = |profile: Profile| product == profile.name();
    let (profile, _) = profiles.into_iter().find(|(profile, is_own)| *is_own || named(*profile))?;
    let is_profile = named(profile);
    let model = (!is_profile).then(|| product.to_ascii_lowercase());
    let mut memory = MemoryOptions { model, ..MemoryOptions::default() };
    for part in parts {
        let (key, value) = part.split_once('=')?;
        let units = value.trim().parse().ok().filter(|units| (1..=MOST_UNITS).contains(units))?;
        match key.trim() {
            PORT_UNITS => memory.port_units = Some(units),
            SHARED_UNITS => memory.shared_units = Some(units),
            POOL_PORTS => memory.pool_ports = Some(units),
            _ => return None,
        }
    }
    Some((profile, memory))
}
