//! [`Profile`]: which generation of queueing code a router runs.

use serde::Serialize;

/// Which generation of queueing code a router runs; the rules of each stand side by side in `docs/ios.md`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Profile {
    /// Class-based weighted fair queueing before the hierarchical queueing framework: 12.4 mainline and
    /// everything before 12.4(20)T.
    PreHqf,
    /// The distributed form of it on the versatile interface processors of the 7500.
    #[serde(rename = "7500-vip")]
    Vip7500,
    /// The hierarchical queueing framework of software platforms: 12.4(20)T, 15.x, virtual IOS.
    Hqf,
    /// IOS-XE routers: the queueing hardware of the Quantum Flow Processor (QFP) and its software twin.
    IosXe,
}

impl Profile {
    /// Every profile, the oldest first.
    pub const ALL: [Profile; 4] = [Profile::PreHqf, Profile::Vip7500, Profile::Hqf, Profile::IosXe];

    /// Its name in scenarios and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Profile::PreHqf => "pre-hqf",
            Profile::Vip7500 => "7500-vip",
            Profile::Hqf => "hqf",
            Profile::IosXe => "ios-xe",
        }
    }
    /// Whether it queues by the hierarchical queueing framework's rules or those of the QFP.
    pub fn is_hierarchical(self) -> bool {
        matches!(self, Profile::Hqf | Profile::IosXe)
    }
}
