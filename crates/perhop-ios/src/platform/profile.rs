//! [`Profile`]: the names of the profiles and their files.

use std::sync::LazyLock;

use perhop_device::profile::ProfileRules;

use serde::Serialize;

use crate::grammar::Grammar;

/// The generation of the queueing code. The rules of each profile are in `profiles/`, and `docs/ios.md`
/// compares them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Profile {
    /// Class-based weighted fair queueing before the hierarchical queueing framework: 12.4 mainline, and all
    /// releases before 12.4(20)T.
    PreHqf,
    /// The distributed form of `pre-hqf`, on the versatile interface processors of the 7500.
    #[serde(rename = "7500-vip")]
    Vip7500,
    /// The hierarchical queueing framework of software platforms: 12.4(20)T and 15.x.
    Hqf,
    /// A virtual IOS (`IOSv`): the hierarchical queueing framework without a default limit of queues with
    /// WRED.
    Iosv,
    /// IOS-XE routers: the queueing hardware of the Quantum Flow Processor (QFP) and its software twin.
    IosXe,
    /// ASR 920 (RSP2): IOS-XE with queues in forwarding hardware.
    Asr920,
    /// Catalyst switches with `mls qos` and shaped round robin: 2960, 3560, 3750.
    CatalystMls,
    /// Catalyst switches with UADP hardware, whose queues share a packet memory.
    CatalystUadp,
    /// Catalyst switches with Silicon One hardware, whose virtual output queues are in external memory.
    CatalystSiliconOne,
    /// Nexus 9300 and 3064 with NX-OS, whose queues share a packet memory and have dynamic limits.
    Nexus9000,
    /// IOS XR on the ASR 9000: network processors.
    Asr9000,
    /// IOS XR on the NCS 5500 and 540: Broadcom DNX hardware.
    Ncs5500,
}

/// The rules of all profiles in the order of [`Profile::ALL`], parsed at the first use.
static RULES: LazyLock<Vec<ProfileRules>> = LazyLock::new(|| Profile::ALL.into_iter().map(read).collect());

impl Profile {
    /// All profiles, oldest first.
    pub const ALL: [Profile; 12] = [
        Profile::PreHqf,
        Profile::Vip7500,
        Profile::Hqf,
        Profile::Iosv,
        Profile::IosXe,
        Profile::Asr920,
        Profile::CatalystMls,
        Profile::CatalystUadp,
        Profile::CatalystSiliconOne,
        Profile::Nexus9000,
        Profile::Asr9000,
        Profile::Ncs5500,
    ];

    /// Returns the name in scenarios and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Profile::PreHqf => "pre-hqf",
            Profile::Vip7500 => "7500-vip",
            Profile::Hqf => "hqf",
            Profile::Iosv => "iosv",
            Profile::IosXe => "ios-xe",
            Profile::Asr920 => "asr-920",
            Profile::CatalystMls => "catalyst-mls",
            Profile::CatalystUadp => "catalyst-uadp",
            Profile::CatalystSiliconOne => "catalyst-silicon-one",
            Profile::Nexus9000 => "nexus-9000",
            Profile::Asr9000 => "asr-9000",
            Profile::Ncs5500 => "ncs-5500",
        }
    }

    /// Returns the rules of the profile.
    pub fn rules(self) -> &'static ProfileRules {
        &RULES[self as usize]
    }

    /// Returns the profile `name`.
    pub fn named(name: &str) -> Option<Profile> {
        Profile::ALL.into_iter().find(|profile| profile.name() == name)
    }

    /// Returns the command language of devices with the profile.
    pub(crate) fn grammar(self) -> Grammar {
        match self {
            Profile::Asr9000 | Profile::Ncs5500 => Grammar::IosXr,
            Profile::Nexus9000 => Grammar::NxOs,
            Profile::PreHqf
            | Profile::Vip7500
            | Profile::Hqf
            | Profile::Iosv
            | Profile::IosXe
            | Profile::Asr920
            | Profile::CatalystMls
            | Profile::CatalystUadp
            | Profile::CatalystSiliconOne => Grammar::Ios,
        }
    }

    fn text(self) -> &'static str {
        match self {
            Profile::PreHqf => include_str!("../../profiles/pre-hqf.toml"),
            Profile::Vip7500 => include_str!("../../profiles/7500-vip.toml"),
            Profile::Hqf => include_str!("../../profiles/hqf.toml"),
            Profile::Iosv => include_str!("../../profiles/iosv.toml"),
            Profile::IosXe => include_str!("../../profiles/ios-xe.toml"),
            Profile::Asr920 => include_str!("../../profiles/asr-920.toml"),
            Profile::CatalystMls => include_str!("../../profiles/catalyst-mls.toml"),
            Profile::CatalystUadp => include_str!("../../profiles/catalyst-uadp.toml"),
            Profile::CatalystSiliconOne => include_str!("../../profiles/catalyst-silicon-one.toml"),
            Profile::Nexus9000 => include_str!("../../profiles/nexus-9000.toml"),
            Profile::Asr9000 => include_str!("../../profiles/asr-9000.toml"),
            Profile::Ncs5500 => include_str!("../../profiles/ncs-5500.toml"),
        }
    }
}

/// Returns the maximum number of policy levels, including the attached policy, that any profile allows.
pub(crate) fn most_policy_levels() -> usize {
    RULES.iter().map(|rules| *rules.policy_levels).max().unwrap_or(1)
}

fn read(profile: Profile) -> ProfileRules {
    let rules = ProfileRules::read(profile.text(), &|name| Profile::named(name).map(Profile::text));
    rules.unwrap_or_else(|error| panic!("profiles/{}.toml: {error}", profile.name()))
}
